# SPDX-License-Identifier: Apache-2.0
"""Say which PyTorch this Python has, without importing it: "VERSION CUDA", CUDA being - for a build without it.

Prints nothing where there is none.
"""
import importlib.util
import pathlib
import re

spec = importlib.util.find_spec("torch")
file = pathlib.Path(spec.origin).with_name("version.py") if spec and spec.origin else None
if file and file.is_file():
    text = file.read_text(encoding="utf-8")
    found = dict(re.findall(r"^(__version__|cuda)\b.*= *'([^']*)'", text, re.MULTILINE))
    print(found.get("__version__", "unknown"), found.get("cuda", "-"))
