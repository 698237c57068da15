__all__ = ['__version__']
__version__ = '2.7.1+cu126'
debug = False
cuda: str | None = '12.6'
hip = None
