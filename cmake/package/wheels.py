#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheels that are published, and the sdist.

    wheels.py --out DIR [--arch x86_64 --arch aarch64] [--no-sdist]

Run it with the Python of a venv: what it needs (build, scikit-build-core, ziglang, wheel, auditwheel, at the releases below)
is installed there with pip. The tool is compiled by zig against glibc 2.17, with its C++ runtime inside, so that the wheels
run wherever a PyTorch wheel does. Two builds of one commit are equal byte by byte: times are the commit's.
"""
import argparse
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDS = ["build==1.3.0", "scikit-build-core==1.1.2", "ziglang==0.14.1", "wheel==0.45.1", "auditwheel==6.4.2", "ninja"]
GLIBC = "2.17"
# What auditwheel grants; the newer names are for installers that do not know the older.
TAGS = "manylinux_2_17_{arch}.manylinux2014_{arch}.manylinux_2_28_{arch}"
LIMIT = 3 * 1024 * 1024


def run(*words, **more):
    print("+", shlex.join(map(str, words)), flush=True)
    subprocess.run([str(w) for w in words], check=True, **more)


def commit_time():
    """Seconds since 1970 of the last commit; of a tree without git, of its VERSION file."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return os.environ["SOURCE_DATE_EPOCH"]
    asked = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return asked.stdout.strip() or str(int((ROOT / "VERSION").stat().st_mtime))


def wrappers(folder, arch):
    """zig's tools by the names that CMake wants, for one architecture."""
    folder.mkdir()
    for name in ("cc", "c++", "ar", "ranlib", "strip"):
        words = [sys.executable, "-m", "ziglang", "objcopy" if name == "strip" else name]
        if name in ("cc", "c++"):
            words += ["-target", f"{arch}-linux-gnu.{GLIBC}", f"-ffile-prefix-map={ROOT}=."]
        path = folder / name
        path.write_text(f"#!/bin/sh\nexec {shlex.join(words)} \"$@\"\n")
        path.chmod(0o755)


def wheel(arch, out, epoch):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        wrappers(scratch / "zig", arch)
        env = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "CXXFLAGS", "LDFLAGS", "CMAKE_ARGS")}
        env.update(SOURCE_DATE_EPOCH=epoch, TCS_WHEEL_ARCH=arch, TCS_WHEEL_ZIG=str(scratch / "zig"),
                   PATH=f"{Path(sys.executable).parent}:{env['PATH']}")
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", scratch / "made",
            f"-Ccmake.define.CMAKE_TOOLCHAIN_FILE={ROOT}/cmake/package/zig.cmake", f"-Cbuild-dir={scratch}/build",
            "-Cinstall.strip=false", "-Ccmake.define.CMAKE_EXE_LINKER_FLAGS=-s", ROOT, env=env)
        [made] = (scratch / "made").glob("*.whl")
        run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", TAGS.format(arch=arch), made, env=env)
        [tagged] = (scratch / "made").glob("*.whl")
        check(tagged, arch)
        return Path(tagged.rename(out / tagged.name))


def check(path, arch):
    """auditwheel's word on the tags; nothing of this machine inside; the size that is promised."""
    said = subprocess.run([sys.executable, "-m", "auditwheel", "show", path], capture_output=True, text=True)
    granted = re.search(r'platform tag:?\s*"(\w+)"', said.stdout)
    if said.returncode or granted is None or granted[1] not in TAGS.format(arch=arch):
        sys.exit(f"wheels.py: auditwheel does not grant {TAGS.format(arch=arch)}:\n{said.stdout}{said.stderr}")
    if path.stat().st_size > LIMIT:
        sys.exit(f"wheels.py: {path.name} has {path.stat().st_size} bytes, more than {LIMIT}")
    with zipfile.ZipFile(path) as opened:
        for name in opened.namelist():
            if str(ROOT).encode() in opened.read(name):
                sys.exit(f"wheels.py: {name} holds the path {ROOT}")
    print(f"auditwheel grants {granted[1]}")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", required=True, type=Path)
    asked.add_argument("--arch", action="append", choices=["x86_64", "aarch64"])
    asked.add_argument("--no-sdist", action="store_true")
    asked = asked.parse_args()
    if sys.prefix == sys.base_prefix:
        sys.exit("wheels.py: run it with the Python of a venv, since it installs what it needs there")
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDS)
    epoch = commit_time()
    made = [wheel(arch, out, epoch) for arch in asked.arch or ["x86_64", "aarch64"]]
    if not asked.no_sdist:
        run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, ROOT,
            env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
        made += sorted(out.glob("*.tar.gz"))
    for path in made:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.stat().st_size:>8}  {path.name}")


if __name__ == "__main__":
    main()
