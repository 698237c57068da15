#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages from PyPI that nobody edits, built from source by `tcstack run -- pip install` on a machine without a GPU.

    packages.py [--targets LIST] [--today] [--keep] NAME...    names: see PACKAGES, and `refused`

Each package is installed into a folder of its own beside PyTorch 2.15, imported, and its images, as NVIDIA's cuobjdump
tells them, are those of the plan. --today installs it without tcstack run first and prints how that ends. `refused`
asks for builds that cannot work: they end with their finding before pip is started.

From the environment: TCS_TOOL, a built tcstack; TCS_QUICKSTART_VENV, an environment whose PyTorch 2.15 is used where
parts.py has none yet. Exit 77 where something cannot be had here. docs/packages.md has the record.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import parts

TORCH = "2.15.0"
ENVIRONMENT = f"env-torch-{TORCH}"
# name: (requirement, modules that must import, files of which each holds the plan's images)
PACKAGES = {
    "torchsort": ("torchsort==0.1.10", "torchsort torchsort.isotonic_cuda", "torchsort/isotonic_cuda*.so"),
    "torch_spline_conv": ("torch_spline_conv==1.2.2", "torch_spline_conv", "torch_spline_conv/_[bw]*_cuda.so"),
    "torch_scatter": ("torch_scatter==2.1.2", "torch_scatter", "torch_scatter/_s*_cuda.so"),
    "isoext": ("isoext==1.0.0", "isoext_ext", "isoext/isoext_ext*.so"),  # all of it would want a viewer, too
}
# What cannot work, and the finding that says so. {PART} is a part's folder.
REFUSED = [
    (["--targets", "6.1"], "TCS601"),
    (["--arch-list", "6.1"], "TCS901"),
    (["--targets", "8.0", "-DTorchCudaStack_TOOLKIT={toolkit-12.4}"], "TCS302"),
]


def environment():
    """The Python of an environment with PyTorch: of the parts, else of the quickstart, else of the parts, fetched."""
    own = Path(os.environ.get("TCS_QUICKSTART_VENV", ""), "bin/python")
    if not parts.present(ENVIRONMENT) and own.is_file():
        ask = "import importlib.metadata as m; print(m.version('torch'))"
        told = subprocess.run([own, "-c", ask], capture_output=True, text=True, check=False).stdout
        if told.startswith(TORCH):
            return own
    return parts.ensure(ENVIRONMENT) / "bin/python"


class World:
    def __init__(self, tool, scratch):
        self.tool, self.scratch = tool, scratch
        self.python = environment()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("TORCH_CUDA", "FORCE_CUDA", "CUDA", "CMAKE_", "MAX_JOBS", "PYTHONPATH"))}
        self.env.update(TMPDIR=str(scratch), PATH=f"{self.python.parent}:{os.environ['PATH']}")
        self.bring_build_tools()

    def bring_build_tools(self):
        """What --no-build-isolation leaves to the environment, where it is not one of the parts."""
        if self.python.is_relative_to(parts.root()):
            return
        tools = self.scratch / "tools"
        parts.run("build tools", [self.python, "-m", "pip", "install", "--quiet", "--target", tools,
                                  *parts.ENVIRONMENTS[ENVIRONMENT].split()[1:]])
        self.env.update(PYTHONPATH=str(tools), PATH=f"{tools}/bin:{self.env['PATH']}")

    def install(self, requirement, target):
        name = requirement.split("==")[0]
        return [self.python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-cache-dir",
                f"--no-binary={name}", "--verbose", "--target", target, requirement]

    def run(self, command, log):
        """Exit status and output; the output goes to a file as it comes."""
        with open(log, "w", encoding="utf-8") as out:
            status = subprocess.run(list(map(str, command)), env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, cwd=self.scratch, check=False).returncode
        return status, Path(log).read_text(encoding="utf-8", errors="replace")

    def images(self, file):
        cuobjdump = parts.ensure("cuobjdump") / "nvidia/cu13/bin/cuobjdump"
        told = {}
        for kind, option in (("sm", "--list-elf"), ("ptx", "--list-ptx")):
            done = subprocess.run([cuobjdump, option, file], capture_output=True, text=True, check=False)
            told[kind] = sorted(set(re.findall(r"\.(sm_\w+)\." + ("cubin" if kind == "sm" else "ptx"), done.stdout)))
        return told


def planned(world, targets):
    text = parts.run("plan", [world.tool, "plan", "--emit", "gencode", "--targets", targets,
                              f"-DPython_EXECUTABLE={world.python}"], env=world.env)
    return {"sm": sorted(set(re.findall(r"code=(sm_\w+)", text))),
            "ptx": sorted(set(re.sub("compute", "sm", word) for word in re.findall(r"code=(compute_\w+)", text)))}


def tail(text, lines=25):
    return "\n".join("    " + line[:200] for line in text.rstrip().splitlines()[-lines:])


def say_today(world, name):
    target = world.scratch / f"{name}-today"
    start = time.monotonic()
    status, output = world.run(world.install(PACKAGES[name][0], target), world.scratch / f"{name}-today.log")
    errors = re.findall(r"^ *(\w+Error: .*)$", output, re.MULTILINE)
    cuda = [file.name for file in target.rglob("*.so") if world.images(file)["sm"]]
    print(f"{name} today: exit {status} after {time.monotonic() - start:.0f} s; "
          f"{errors[-1] if errors else 'no error'}; device code in {cuda or 'no file'}", flush=True)


def try_package(world, name, targets):
    """What went wrong, '' when nothing did."""
    requirement, modules, files = PACKAGES[name]
    target = world.scratch / name
    start = time.monotonic()
    status, output = world.run([world.tool, "run", "--targets", targets, "--verify", f"{target}/{files}", "--",
                                *world.install(requirement, target)], world.scratch / f"{name}.log")
    if status != 0:
        return f"tcstack run exited with {status}:\n{tail(output)}"
    if "verified: " not in output:
        return f"nothing says that it was verified:\n{tail(output)}"
    plan = planned(world, targets)
    built = sorted(target.glob(files))
    if not built:
        return f"no file {files}: {sorted(file.name for file in target.rglob('*.so'))}"
    for file in built:
        if world.images(file) != plan:
            return f"{file.name} holds {world.images(file)}, the plan is {plan}"
    code = "; ".join(["import torch", *(f"import {module}" for module in modules.split())])
    path = os.pathsep.join(filter(None, [str(target), str(target / name), world.env.get("PYTHONPATH")]))
    done = subprocess.run([world.python, "-c", code], env={**world.env, "PYTHONPATH": path}, cwd=world.scratch,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"does not import:\n{tail(done.stderr)}"
    print(f"{name}: {requirement} for {targets} in {time.monotonic() - start:.0f} s, imported; "
          f"{', '.join(file.name for file in built)}: {' '.join(plan['sm'])}", flush=True)
    return ""


def try_refused(world):
    faults = []
    for options, finding in REFUSED:
        options = [re.sub(r"\{(.*)\}", lambda part: str(parts.ensure(part[1])), option) for option in options]
        started = world.scratch / "started"
        start = time.monotonic()
        status, output = world.run([world.tool, "run", *options, f"-DPython_EXECUTABLE={world.python}", "--",
                                    "touch", started], world.scratch / "refused.log")
        took = time.monotonic() - start
        errors = re.findall(r"^ *error\[(TCS\d+) ", output, re.MULTILINE)
        print(f"refused {' '.join(options)}: {took:.1f} s: {' '.join(errors)}", flush=True)
        if status != 1 or started.exists() or errors != [finding]:
            faults.append(f"{options}: exit {status}, command started: {started.exists()}:\n{tail(output)}")
    return "\n".join(faults)


def main():
    parser = argparse.ArgumentParser(prog="packages.py", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=[*PACKAGES, "refused"], metavar="NAME")
    parser.add_argument("--targets", default="8.0")
    parser.add_argument("--today", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the folders of what was built")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="tcs-packages-"))
    faults = 0
    try:
        world = World(os.environ["TCS_TOOL"], scratch)
        if shutil.which("nvcc", path=world.env["PATH"]) is None and not Path("/usr/local/cuda/bin/nvcc").exists():
            raise parts.Unavailable("no nvcc on this machine")
        for name in options.names:
            if options.today and name in PACKAGES:
                say_today(world, name)
            fault = try_refused(world) if name == "refused" else try_package(world, name, options.targets)
            if fault:
                faults += 1
                print(f"{name}: {fault}", flush=True)
    finally:
        if options.keep:
            print(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(parts.SKIP)
