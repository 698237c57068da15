#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/ as a web site, by Sphinx with docs/requirements.txt: a warning is an error. Exit 77 where PyPI is not in reach."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        python = scratch / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
        fetched = subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", ROOT / "docs/requirements.txt"],
                                 capture_output=True, text=True, check=False)
        if fetched.returncode:
            print(f"skipped: Sphinx cannot be had: {fetched.stderr.strip().splitlines()[-1:]}")
            return 77
        built = subprocess.run([python, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", scratch / "site"],
                               capture_output=True, text=True, check=False)
        if built.returncode:
            sys.exit(f"the site cannot be built:\n{built.stdout}{built.stderr}")
        # What a warning would not tell: the modules' own blocks, a finding in either language, a tutorial.
        for page, text in (("reference/modules", "torch_cuda_stack_add_extension"), ("tutorials/wsl", "/usr/lib/wsl/lib"),
                           ("findings/TCS601-torch-lacks-device-image", "cubin"),
                           ("findings/zh/TCS601-torch-lacks-device-image", "cubin")):
            if text not in (scratch / f"site/{page}.html").read_text(encoding="utf-8"):
                sys.exit(f"the page {page} lacks {text}")
        print(f"{len(list((scratch / 'site').rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
