#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel as it is published: built by cmake/package/wheels.py, installed into fresh environments, used.

    wheel.py                 for this machine's architecture
    wheel.py --all           also for aarch64 under qemu-user, and twice, which must give equal bytes

What is looked at: what auditwheel grants, size and paths (wheels.py ends where they are wrong); the console script and
`python -m`; a project whose build-system.requires is all that it knows of us; the copy that `vendor` makes; the sdist.
Exit 77 where PyPI is not in reach.
"""
import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import parts

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = """[build-system]
requires = ["scikit-build-core", "torch-cuda-stack"]
build-backend = "scikit_build_core.build"
[project]
name = "asks-for-us"
version = "1"
"""
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(asks_for_us LANGUAGES NONE)
find_package(TorchCudaStack 0.1 REQUIRED)
file(WRITE "${CMAKE_BINARY_DIR}/plan.txt" "${TorchCudaStack_GENCODE_FLAGS}")
install(FILES "${CMAKE_BINARY_DIR}/plan.txt" DESTINATION asks_for_us)
"""
PLAN = "-gencode=arch=compute_86,code=sm_86"


def run(*words, status=0, **more):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **more)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}, not {status}:\n{done.stdout}")
    return done.stdout


def holds(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"this lacks {part!r}:\n{text}")


class World:
    def __init__(self, scratch):
        self.scratch, self.out = scratch, scratch / "dist"
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("TORCH_", "CUDA", "CMAKE_", "VIRTUAL_ENV", "CONDA", "PYTHON", "SOURCE_DATE"))}
        self.env.update(XDG_CACHE_HOME=str(scratch / "cache"), CMAKE_GENERATOR="Ninja")  # there may be no make
        self.builder = self.venv("builder")
        facts = json.loads((ROOT / "tests/machines/601-torch-lacks-device-image-near.json").read_text())["facts"]
        self.facts = scratch / "facts.json"
        self.facts.write_text(json.dumps(facts))
        self.replayed = {**self.env, "TORCH_CUDA_STACK_FACTS": str(self.facts), "TORCH_CUDA_STACK_TARGETS": "8.6",
                         "TORCH_CUDA_STACK_ALLOW": "TCS601"}

    def venv(self, name):
        run(sys.executable, "-m", "venv", self.scratch / name, env=self.env)
        return self.scratch / name / "bin/python"

    def build(self, *words, out=None):
        return run(self.builder, ROOT / "cmake/package/wheels.py", "--out", out or self.out, *words, env=self.env)


def installed_wheel(world, wheel):
    python = world.venv("user")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel, env=world.env)
    scripts = python.parent
    version = (ROOT / "VERSION").read_text().strip()
    for name in ("tcstack", "torch-cuda-stack"):
        holds(run(scripts / name, "--version", env=world.env), f"tcstack {version}")
    holds(run(scripts / "tcstack", "no-such-verb", status=2, env=world.env), "no such verb")
    # The whole tool, which a configure does not compile.
    holds(run(scripts / "tcstack", "run", "--help", env=world.env), "--verify")
    prefix = run(python, "-m", "torch_cuda_stack", "--prefix", env=world.env).strip()
    modules = run(python, "-m", "torch_cuda_stack", "--cmake-dir", env=world.env).strip()
    source = world.scratch / "by hand"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    for name, option in (("module", f"-DCMAKE_MODULE_PATH={modules}"), ("config", f"-DCMAKE_PREFIX_PATH={prefix}")):
        build = world.scratch / name
        run("cmake", "-S", source, "-B", build, option, env=world.replayed)
        holds((build / "plan.txt").read_text(), PLAN)
    if list((world.scratch / "cache").rglob("tcstack-core*")):
        sys.exit("a tool was compiled although the wheel has one")
    return python, source


def vendored_copy(world, python, source):
    """It names no tool of an installation: its own sources are compiled."""
    copy = world.scratch / "third party"
    run(python, "-m", "torch_cuda_stack", "vendor", copy, env=world.env)
    build = world.scratch / "vendored"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_MODULE_PATH={copy}/modules", env=world.replayed)
    holds((build / "plan.txt").read_text(), PLAN)
    if not list((world.scratch / "cache").rglob("tcstack-core*")):
        sys.exit("the vendored copy compiled no tool of its own")


def required_by_a_project(world, dist, config=()):
    project = world.scratch / f"requires-{len(config)}"
    project.mkdir()
    (project / "pyproject.toml").write_text(PYPROJECT)
    (project / "CMakeLists.txt").write_text(PROJECT)
    run(world.builder, "-m", "pip", "wheel", "--quiet", "--no-deps", "--find-links", dist, "--wheel-dir", project / "dist",
        *config, project, env=world.replayed)
    [made] = (project / "dist").glob("*.whl")
    with zipfile.ZipFile(made) as opened:
        holds(opened.read("asks_for_us/plan.txt").decode(), PLAN)


def source_archive(world):
    [archive] = world.out.glob("*.tar.gz")
    if archive.stat().st_size > 1024 * 1024:
        sys.exit(f"the sdist has {archive.stat().st_size} bytes: something is in it that a build does not need")
    run(world.builder, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", world.scratch / "from-sdist", archive,
        env=world.env)
    [made] = (world.scratch / "from-sdist").glob("*.whl")
    python = world.venv("from-source")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", made, env=world.env)
    holds(run(python.parent / "tcstack", "explain", "TCS601", env=world.env), "torch-lacks-device-image")


def foreign(world):
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if qemu is None:
        print("skipped: no qemu-user here (package qemu-user-static): the aarch64 wheel was built and not run")
        return
    libc = parts.ensure("glibc-aarch64")  # all that the tool needs beside itself
    place = world.scratch / "aarch64"
    [wheel] = world.out.glob("*aarch64*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(place)
    tool = place / "torch_cuda_stack/bin/tcstack"
    tool.chmod(0o755)
    emulated = [qemu, "-L", libc, tool]
    holds(run(*emulated, "--version"), "tcstack")
    answer = run(*emulated, "check", "--facts", world.facts, "--targets", "8.6", "--allow", "TCS601", "--format", "json")
    here = run(world.scratch / "user/bin/tcstack", "check", "--facts", world.facts, "--targets", "8.6", "--allow", "TCS601",
               "--format", "json")
    if answer != here:
        sys.exit(f"aarch64 answers otherwise:\n{answer}\n{here}")


def digests(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--all", action="store_true")
    every = asked.parse_args().all
    here = platform.machine()
    if here != "x86_64":
        print(f"skipped: the emulated one is aarch64, and this machine is {here}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        world = World(Path(scratch))
        if subprocess.run([world.builder, "-m", "pip", "download", "--quiet", "--no-deps", "-d", Path(scratch) / "try",
                           "scikit-build-core"], capture_output=True, check=False).returncode:
            print("skipped: PyPI is not in reach")
            return 77
        archs = ["x86_64", "aarch64"] if every else ["x86_64"]
        print(world.build(*(w for a in archs for w in ("--arch", a))).splitlines()[-1])
        [wheel] = world.out.glob("*x86_64*.whl")
        python, source = installed_wheel(world, wheel)
        required_by_a_project(world, world.out)
        vendored_copy(world, python, source)
        if every:
            source_archive(world)
            foreign(world)
            again = Path(scratch) / "again"
            world.build(*(w for a in archs for w in ("--arch", a)), out=again)
            if digests(again) != digests(world.out):
                sys.exit(f"two builds differ: {digests(again)} {digests(world.out)}")
    print("good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
