#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/first-extension.md, docs/tool.md and README.md, typed as they stand, with a real PyTorch and nvcc of its CUDA. From the environment: TCS_TOOL, a built tcstack.
Exit 77 where they cannot be had."""
import os
import subprocess
import sys
from pathlib import Path

import packages
import parts

ROOT = Path(__file__).resolve().parents[2]


def main():
    try:
        python = packages.environment()
        toolkit = parts.ensure("toolkit-13.2") / "nvidia/cu13"
    except parts.Unavailable as error:
        print(f"skipped: {error}")
        return 77
    words = [sys.executable, ROOT / "tests/docs/tutorials_test.py", os.environ["TCS_TOOL"], "first-extension.md", "../tool.md", "../../README.md"]
    env = {**os.environ, "TCS_TUTORIALS_PYTHON": str(python), "TCS_TUTORIALS_TOOLKIT": str(toolkit)}
    return subprocess.run(words, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
