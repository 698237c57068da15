# SPDX-License-Identifier: Apache-2.0
"""python -m torch_cuda_stack: where the package's parts lie, a copy of them, and the tool."""
import os
import shutil
import sys
from pathlib import Path
from typing import List

from . import _tool

USAGE = """usage: python -m torch_cuda_stack --cmake-dir      the modules, for CMAKE_MODULE_PATH
       python -m torch_cuda_stack --prefix         the prefix, for CMAKE_PREFIX_PATH
       python -m torch_cuda_stack --tool           the path of tcstack
       python -m torch_cuda_stack vendor DIR       copy the modules and the tool's sources into DIR
       python -m torch_cuda_stack VERB ...         as `tcstack VERB ...`
"""


def tcstack() -> None:
    """The console script: becomes the tool, so that signals, terminal and exit status are the tool's."""
    _become(sys.argv[1:])


def _become(words: List[str]) -> None:
    path = str(_tool.tool())
    environment = dict(os.environ)
    if _has_torch():
        environment.setdefault("TORCH_CUDA_STACK_PYTHON", sys.executable)
    try:
        if sys.stdout is not None:  # a closed one
            sys.stdout.flush()
        os.execve(path, ["tcstack", *words], environment)
    except OSError as error:
        _fail(f"{path}: {error.strerror}. Install torch-cuda-stack again with pip; or name a tcstack with "
              "TORCH_CUDA_STACK_TOOL", 3)


def _has_torch() -> bool:
    """Whether a PyTorch lies beside this package; it is not imported."""
    return any((Path(folder) / "torch" / "version.py").is_file() for folder in sys.path if folder)


def _fail(text: str, status: int = 2) -> None:
    print(f"torch_cuda_stack: {text}", file=sys.stderr)
    sys.exit(status)


def vendor(target: Path) -> None:
    """Copies modules/ and probe-src/ side by side into `target`; of an older copy nothing is left."""
    source = _tool.prefix() / "share" / "cmake" / "TorchCudaStack"
    if target.exists() and not target.is_dir():
        _fail(f"{target} is no folder")
    for part in ("modules", "probe-src"):
        there = target / part
        mark = there / ("FindTorchCudaStack.cmake" if part == "modules" else "tool/main/main.cpp")
        if there.exists() and not mark.is_file():
            _fail(f"{there} is there and is no copy of ours: name another folder")
    target.mkdir(parents=True, exist_ok=True)
    for part in ("modules", "probe-src"):
        # Whole before the old one goes: a copy that is interrupted leaves that as it was.
        whole = target / f".{part}.new"
        shutil.rmtree(whole, ignore_errors=True)
        # The tool of an installation is not part of a copy: it compiles its own.
        shutil.copytree(source / part, whole, ignore=shutil.ignore_patterns("_tcs_installed.cmake", "__pycache__"))
        if (target / part).exists():
            shutil.rmtree(target / part)
        whole.rename(target / part)
    print(f"copied modules/ and probe-src/ into {target}\n\n"
          f"    list(APPEND CMAKE_MODULE_PATH \"${{CMAKE_CURRENT_SOURCE_DIR}}/{target.name}/modules\")\n"
          "    find_package(TorchCudaStack REQUIRED)")


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    places = {"--cmake-dir": _tool.cmake_dir, "--prefix": _tool.prefix, "--tool": _tool.tool}
    if words[0] in places:
        if len(words) > 1:
            _fail(f"{words[0]} takes nothing after it")
        print(places[words[0]]())
    elif words[0] == "vendor":
        if len(words) != 2 or words[1].startswith("-"):
            _fail("vendor takes one folder: python -m torch_cuda_stack vendor third_party/TorchCudaStack")
        try:
            vendor(Path(words[1]))
        except OSError as error:
            _fail(f"vendor: {error}")
    else:
        _become(words)


if __name__ == "__main__":
    main()
