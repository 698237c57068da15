#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tcstack images --json` against two oracles: the table below, and NVIDIA's cuobjdump.

The table holds what the real libtorch_cuda files contain. cuobjdump prints 100f and 103f without the suffix, so an
`f` of tcstack is dropped before the two are compared; and each cuobjdump refuses the architectures that its release
no longer knows, so the newest one that can read a file is taken. A file that none can read is named and left to the
table. cuobjdump needs up to 6 GB for one file: they are read one after the other.

    images_oracle.py [--without-cuobjdump]

Environment: TCS_TOOL, the tcstack to test. Exit 77 when a part cannot be had.
"""
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import parts

# part -> file -> (fat binaries, {arch: images}); no PTX in any of them. An empty dict: no device code.
EACH_2_15 = "75 80 86 90 100 120"
EACH_2_7 = "50 60 70 75 80 86 90"


def each(count, archs, **more):
    """`count` images of each arch, and some more: each(2, "75 80", a90=1) = 2 sm_75, 2 sm_80, 1 sm_90a."""
    table = {f"sm_{arch}": count for arch in archs.split()}
    table.update({f"sm_{name[1:]}{name[0].replace('_', '')}": n for name, n in more.items()})
    return count, table


TABLE = {
    "torch-2.15.0": {"libtorch_cuda.so": each(476, EACH_2_15, a90=4, a100=59, f103=59, _89=1, a120=1, a121=1)},
    "torch-2.11.0": {"libtorch_cuda.so": each(444, EACH_2_15, a90=4, a100=59, a103=59, _89=1, a120=1, a121=1)},
    "torch-2.7.1": {"libtorch_cuda.so": each(378, EACH_2_7, _89=2, a90=3)},
    "torch-2.3.0": {"libtorch_cuda.so": each(332, EACH_2_7)},
    "torch-1.13.1": {
        "libtorch_cuda.so": (0, {}),
        "libtorch_cuda_cu.so": (302, {"sm_35": 50, "sm_37": 221, "sm_50": 271, "sm_60": 271, "sm_70": 274,
                                      "sm_75": 275, "sm_80": 287, "sm_86": 279}),
    },
    "torch-2.15.0-aarch64": {"libtorch_cuda.so": each(476, "80 90 100 110 120", a90=4, a100=59, f103=59, a110=59,
                                                      a120=1, a121=1)},
}
LIBRARIES = "libcublas.so.* libcublasLt.so.* libcudnn_*.so.* libnccl.so.* libcusparse.so.*".split()
CUOBJDUMPS = {"cuobjdump": "nvidia/cu13/bin/cuobjdump", "toolkit-12.4": "bin/cuobjdump",
              "toolkit-11.8": "bin/cuobjdump"}
TIMEOUT_S = 300

failures = []


def check(holds, text):
    """Say what is wrong, once, and go on."""
    if not holds:
        failures.append(text)
        print(f"FAIL {text}", flush=True)


def inventory(tool, files):
    """What tcstack says of each file; every one must be readable."""
    done = subprocess.run([tool, "images", "--json", *map(str, files)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    check(done.returncode == 0, f"tcstack images: exit {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    check(answer["schema"] == "torch-cuda-stack/images/1", f"schema {answer['schema']}")
    check([f["path"] for f in answer["files"]] == [str(f) for f in files], "files or their order")
    return answer["files"]


def check_table(file, expected):
    """One row of TABLE."""
    fat_binaries, images = expected
    found = {i["arch"]: i["count"] for i in file["images"]}
    check(file["fat_binaries"] == fat_binaries, f"{file['path']}: {file['fat_binaries']} fat binaries, not {fat_binaries}")
    check(found == images, f"{file['path']}: {found}, not {images}")
    check(sum(s["count"] for s in file["sets"]) == fat_binaries, f"{file['path']}: sets do not add up")


def cuobjdump_counts(program, file):
    """Counter of 'sm_90a' and 'compute_120', or the line in which cuobjdump says why it cannot read the file."""
    counts = collections.Counter()
    for option, kind in (("--list-elf", "sm_"), ("--list-ptx", "compute_")):
        done = subprocess.run([program, "-all", option, file], capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False)
        errors = re.findall(r"^cuobjdump (?:fatal|error).*", done.stdout + done.stderr, re.MULTILINE)
        if errors:
            return errors[0]
        names = re.findall(r"^ *(?:ELF|PTX) file +\d+: .*\.sm_(\d+[af]?)\.(?:cubin|ptx)$", done.stdout, re.MULTILINE)
        counts.update(kind + name.removesuffix("f") for name in names)
    return counts


def check_cuobjdump(programs, file):
    """tcstack's list of one file against the newest cuobjdump that can read it. True when one could."""
    ours = collections.Counter()
    for image in file["images"]:
        ours[image["arch"].removesuffix("f")] += image["count"]
    reasons = []
    for name, program in programs.items():
        theirs = cuobjdump_counts(program, file["path"])
        if isinstance(theirs, str):
            reasons.append(f"{name}: {theirs}")
            continue
        check(ours == theirs, f"{file['path']}: tcstack {dict(ours)}, {name} {dict(theirs)}")
        print(f"same {file['path']}: {sum(theirs.values())} images ({name})", flush=True)
        return True
    print(f"not read by cuobjdump: {file['path']}: {'; '.join(reasons)}", flush=True)
    return False


def main(arguments):
    tool = os.environ.get("TCS_TOOL")
    if not tool:
        print("images_oracle.py: TCS_TOOL names no tcstack", file=sys.stderr)
        return 2
    files = []
    for part, table in TABLE.items():
        folder = Path(parts.ensure(part)) / "torch/lib"
        expected = {folder / name: row for name, row in table.items()}
        for file in inventory(tool, sorted(folder.glob("libtorch_cuda*.so"))):
            files.append(file)
            if Path(file["path"]) in expected:
                check_table(file, expected.pop(Path(file["path"])))
        check(not expected, f"{part}: not found: {list(expected)}")
    libraries = Path(parts.ensure("nvidia-libs-cu13")) / "nvidia"
    found = [path for pattern in LIBRARIES for path in sorted(libraries.glob(f"*/lib/{pattern}"))]
    check(len(found) >= len(LIBRARIES), f"only {found}")
    files += inventory(tool, found)
    if "--without-cuobjdump" not in arguments:
        programs = {name: Path(parts.ensure(name)) / path for name, path in CUOBJDUMPS.items()}
        read = sum(check_cuobjdump(programs, file) for file in files)
        check(read >= len(files) / 2, f"cuobjdump could read only {read} of {len(files)} files")
        print(f"{read} of {len(files)} files compared with cuobjdump")
    print(f"{len(files)} files, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except parts.Unavailable as reason:
        print(f"images_oracle.py: skip: {reason}", file=sys.stderr)
        sys.exit(parts.SKIP)
