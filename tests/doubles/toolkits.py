# SPDX-License-Identifier: Apache-2.0
"""Real toolkits for tests with doubles, and the images that they build of image.cu."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TCS_SOURCE_DIR"])
HERE = SOURCE / "tests/doubles"
ORACLE = json.loads((SOURCE / "tests/oracles/nvlink-cubin-compat.json").read_text())["releases"]
RELEASES = sorted(ORACLE, key=lambda r: [int(n) for n in r.split(".")])
SUFFIX_BIT = {"": 0, "f": 1, "a": 2}


def part(name):
    """A part of tests/real that is present, else skip. Nothing is fetched."""
    done = subprocess.run([sys.executable, SOURCE / "tests/real/parts.py", "path", name], capture_output=True,
                          text=True)
    if done.returncode:
        raise unittest.SkipTest(f"the part {name} is not here (tests/real/parts.py get {name})")
    return Path(done.stdout.split("\n")[0])


def nvcc_of(name):
    """"" is the machine's own, else the one that run-tests brings."""
    if not name:
        nvcc = Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
        if nvcc.exists():
            return nvcc
        name = "toolkit-13.0"
    root = part(name)
    nvcc = root / "nvidia/cu13/bin/nvcc"
    return nvcc if nvcc.exists() else root / "bin/nvcc"


def split_arch(arch):
    """"90a" -> (90, "a")"""
    digits = re.match(r"\d+", arch)[0]
    return int(digits), arch[len(digits):]


def code_of(arch):
    """The value that tcs_image_code has in the image for "90a"."""
    number, suffix = split_arch(arch)
    return number * 160 + SUFFIX_BIT[suffix]


def release_of(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"release (\d+\.\d+)", said).group(1)


def oracle_release(release):
    """"13.0" -> "13.0.88"; None where the oracle was not asked."""
    return next((r for r in RELEASES if r.startswith(release + ".")), None)


def row(release, number):
    """Which cubins a device takes: the union of its rows X, Xa, Xf."""
    rows = ORACLE[release]
    return {cubin for suffix in SUFFIX_BIT for cubin in rows.get(f"{number}{suffix}", [])}


def devices_of(release):
    return sorted({split_arch(arch)[0] for arch in ORACLE[release]})


def build_images(nvcc, archs, work):
    """{"90a": (cubin, PTX)} of image.cu; kept in `work` for the next test."""
    place = work / f"images-{release_of(nvcc)}"
    if not place.exists():
        work.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=work))
        options = ["-ccbin", part("gxx-11") / "bin/g++-11"] if release_of(nvcc) == "11.8" else []
        for suffix in SUFFIX_BIT:  # plain and family code of one architecture are not built together
            chosen = [arch for arch in archs if split_arch(arch)[1] == suffix]
            if chosen:
                folder = made / f"set{suffix}"
                folder.mkdir()
                flags = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in chosen]
                subprocess.run([nvcc, "-w", "-t", "2", *options, "-fatbin", "--keep", "--keep-dir", folder, *flags,
                                HERE / "image.cu", "-o", made / f"all{suffix}.fatbin"], check=True)
        try:
            made.rename(place)
        except OSError:  # another test was faster
            shutil.rmtree(made)
    images = {}
    for arch in archs:
        folder = place / f"set{split_arch(arch)[1]}"
        images[arch] = (folder / f"image.compute_{arch}.cubin", folder / f"image.compute_{arch}.ptx")
        if not images[arch][0].exists():  # a single one is named otherwise
            images[arch] = (folder / "image.cubin", folder / "image.ptx")
    return images
