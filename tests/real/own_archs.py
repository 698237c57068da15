#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The architectures that each wheel is said to be built for, from the images in its libraries, are those that its
builders asked for (libtorch_cuda.so has them in every fat binary; libtorch_cuda_linalg.so has not): they are the plan
where nothing is asked for and there is no GPU.

    own_archs.py        environment: TCS_TOOL, the tcstack to test. Exit 77 when a part cannot be had.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import parts

# torch wheel -> the CUDA release of an nvcc that its users have, and what it was built for
WHEELS = {"torch-2.15.0": ("13.2", "7.5;8.0;8.6;9.0;10.0;12.0"), "torch-2.11.0": ("13.0", "7.5;8.0;8.6;9.0;10.0;12.0"),
          "torch-2.7.1": ("12.8", "5.0;6.0;7.0;7.5;8.0;8.6;9.0"),
          "torch-2.3.0": ("12.4", "5.0;6.0;7.0;7.5;8.0;8.6;9.0"),
          "torch-1.13.1": ("11.8", "3.7;5.0;6.0;7.0;7.5;8.0;8.6")}
TIMEOUT_S = 300


def tool(*arguments):
    done = subprocess.run([os.environ["TCS_TOOL"], *map(str, arguments)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"tcstack {arguments[0]}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def libraries_of(name):
    files = sorted((Path(parts.ensure(name)) / "torch/lib").glob("libtorch_cuda*.so"))
    return [{"name": Path(file["path"]).name, "images": [i["arch"] for i in file["images"]],
             "fat_binaries": file["fat_binaries"], "sets": file["sets"],
             "coverage": [{k: i[k] for k in ("arch", "count", "fat_binaries")} for i in file["images"]]}
            for file in json.loads(tool("images", "--json", *files))["files"]]


def planned(folder, name, cuda, libraries):
    facts = Path(folder) / "facts.json"
    facts.write_text(json.dumps({
        "schema": "torch-cuda-stack/facts/1", "origin": "declared", "devices": {"state": "none", "list": []},
        "toolkits": {"selected": 0, "list": [{"root": "/cuda", "nvcc": "/cuda/bin/nvcc", "version": cuda}]},
        "torch": {"state": "found", "version": name.removeprefix("torch-"), "flavour": "cuda",
                  "libraries": libraries}}), encoding="utf-8")
    return tool("plan", "--facts", facts, "--fail-on", "never", "--emit", "torch-list").strip()


def main():
    if not os.environ.get("TCS_TOOL"):
        print("own_archs.py: TCS_TOOL names no tcstack", file=sys.stderr)
        return 2
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (cuda, own) in WHEELS.items():
            libraries = libraries_of(name)
            for drop in ("none", "sets"):  # older recordings have counts only
                for library in libraries:
                    library.pop(drop, None)
                got = planned(folder, name, cuda, libraries)
                if got != own:
                    failures += 1
                    print(f"FAIL {name} without {drop}: {got}, not {own}")
    print(f"{2 * len(WHEELS)} plans, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"own_archs.py: skip: {reason}", file=sys.stderr)
        sys.exit(parts.SKIP)
