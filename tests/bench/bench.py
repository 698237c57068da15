#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The budgets of the design, measured in one run, each as a ratio to what it is held against.

    cmake --preset bench && cmake --build --preset bench --target bench
    bench.py --tool TCSTACK --launch BENCH_LAUNCH --torch-facts BENCH_TORCH_FACTS [--double FOLDER] [--only WORD]...

Takes real parts from the cache (tests/real/parts.py) and leaves out, with the reason, what needs one that is not there.
`--python` names an interpreter that can import torch, `--double` the folder of the libcuda.so.1 of tests/doubles. Nothing passes or fails here: figures depend on the machine, which
is why they are ratios, and why the time of an empty process is printed first.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/real"))
import parts  # noqa: E402

SIX = "7.5;8.0;8.6;9.0;10.0;12.0"
SEVEN = SIX + ";8.9"
TWELVE = SIX + ";8.7;8.9;9.0a;10.3;11.0;12.1"
EMPTY = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\n"
CUDA = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CUDA)\n"
OURS = EMPTY + "find_package(TorchCudaStack REQUIRED)\n"
# Torch alone needs help to get through CMake 3.25 at all; that costs no time.
CXX = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
TORCH = CXX + "set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)\nfind_package(Torch REQUIRED)\n"
OURS_TORCH = CXX + "find_package(TorchCudaStack REQUIRED)\n"


class Missing(Exception):
    """Why a figure is left out, in one line."""


class Bench:
    def __init__(self, options, temp):
        self.options, self.temp, self.count = options, temp, 0
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_CUDA", "CUDAARCHS"))}

    def time(self, times, *command, env=None, status=0):
        """(least seconds, largest MB) of a command."""
        done = subprocess.run([self.options.launch, str(times), *map(str, command)], capture_output=True, text=True,
                              env={**self.env, **(env or {})}, check=True)
        least, _, kilobytes, code, cpu = done.stdout.split()
        if self.options.cpu:
            least = cpu
        if status is not None and int(code) != status:
            raise Missing(f"{pathlib.Path(str(command[0])).name} ended with {code}")
        return float(least), int(kilobytes) / 1024

    def configure(self, text, *options, env=None, repeat=False, times=1):
        """Seconds of a configure of a project with this CMakeLists.txt; repeat = of an unchanged tree."""
        self.count += 1
        source, build = self.temp / f"s{self.count}", self.temp / f"b{self.count}"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(text, encoding="utf-8")
        command = [self.options.cmake, "-S", source, "-B", build, "-G", "Ninja", *options]
        env = {"TORCH_CUDA_STACK_CACHE_DIR": str(self.temp / "cache"), **(env or {})}
        first = self.time(1, *command, env=env)[0]
        if not repeat:
            return first
        return min(self.time(1, self.options.cmake, build, env=env)[0] for _ in range(times))

    def fresh_cache(self):
        shutil.rmtree(self.temp / "cache", ignore_errors=True)


def part(name):
    if not parts.present(name):
        raise Missing(f"{name} is not in the cache: tests/real/parts.py get {name}")
    return parts.path_of(name)


def ms(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def row(what, measured, against, ratio="", budget=""):
    print(f"{what:<44} {measured:>20}  {against:<38} {ratio:>10}  {budget}", flush=True)


def empty_process(b):
    row("an empty process", ms(b.time(200, "/bin/true")[0]), "")


def check(b):
    """The largest recorded machine as a whole process, against an empty one in the same run."""
    path = max((ROOT / "tests/machines").glob("*.json"), key=lambda p: (p.stat().st_size, p.name))
    machine = json.loads(path.read_text(encoding="utf-8"))
    files = {name: b.temp / f"{name}.json" for name in ("facts", "request")}
    for name, file in files.items():
        file.write_text(json.dumps(machine[name]), encoding="utf-8")
    empty = b.time(200, "/bin/true")[0]
    ours, megabytes = b.time(200, b.options.tool, "check", "--facts", files["facts"], "--request", files["request"],
                             status=int(machine["expect"]["outcome"] == "fail"))
    row(f"check of machine {path.stem[:3]}, the largest", f"{ms(ours)}, {megabytes:.1f} MB", f"an empty process {ms(empty)}",
        f"{ours / empty:.2f} x", "<= 5 ms")


def images(b):
    library = part("torch-2.15.0") / "torch/lib/libtorch_cuda.so"
    ours, megabytes = b.time(30, b.options.tool, "images", library)
    what, measured, budget = "images of torch 2.15's libtorch_cuda.so", f"{ms(ours)}, {megabytes:.1f} MB", "<= 6 ms, 6 MB"
    try:
        theirs, their_mb = b.time(1, part("cuobjdump") / "nvidia/cu13/bin/cuobjdump", "--list-elf", library)
        row(what, measured, f"cuobjdump {ms(theirs)}, {their_mb:.0f} MB", f"{ours / theirs:.5f} x", budget)
    except Missing as reason:
        row(what, measured, f"({reason})", "", budget)


def torch_facts(b):
    if not b.options.python:
        raise Missing("no interpreter that can import torch was named with --python")
    ours, megabytes = b.time(20, b.options.torch_facts, b.options.python)
    theirs, their_mb = min(b.time(1, b.options.python, "-c", "import torch") for _ in range(3))
    row("torch facts, without import torch", f"{ms(ours)}, {megabytes:.1f} MB",
        f"import torch {ms(theirs)}, {their_mb:.0f} MB", f"{ours / theirs:.4f} x", "<= 30 ms")


def cuda_language(b):
    """What all configure times are held against."""
    return b.configure(CUDA) - b.configure(EMPTY)


def compile_core(b, language):
    units = sorted((ROOT / "probe-src/unity").glob("*.cpp"))
    if not units:
        raise Missing("no probe-src/unity/*.cpp")
    module = (ROOT / "modules/TorchCudaStack/detail/_tcs_core.cmake").read_text(encoding="utf-8")
    flags = " ".join(re.search(r"TorchCudaStack_CORE_FLAGS\s+(-[^)]+)\)", module)[1].split())
    command = " & ".join(f"${{CXX:-c++}} {flags} -DTCS_VERSION='\"0\"' "
                         f"-I{ROOT}/probe-src -c {u} -o {b.temp}/{u.stem}.o" for u in units)
    seconds = min(b.time(1, "sh", "-c", command + " & wait")[0] for _ in range(2))
    row(f"compiling tcstack-core, {len(units)} units at once", ms(seconds), f"enable_language(CUDA) {ms(language)}",
        f"{seconds / language:.2f} x", "<= 1.5 x")


def places():
    """Our module, and a torch that lies there without its libraries, which is accepted."""
    torch = part("torch-2.15.0") / "torch/share/cmake/Torch"
    return f"-DCMAKE_MODULE_PATH={ROOT}/modules", (f"-DTorch_DIR={torch}", "-DTorchCudaStack_ALLOW=TCS501")


def configures(b, language):
    here, torch = places()
    held = f"enable_language(CUDA) {ms(language)}"
    six, seven = {"TORCH_CUDA_ARCH_LIST": SIX}, {"TORCH_CUDA_ARCH_LIST": SEVEN}

    b.fresh_cache()
    first = b.configure(OURS, here, *torch, env=six)
    row("first configure, six archs", ms(first), held, f"{first / language:.2f} x", "<= 3 x")
    next_project = b.configure(OURS, here, *torch, env=six)
    row("next project on the machine", ms(next_project), held, f"{next_project / language:.2f} x", "<= 0.15 x")

    def prebuilt(env):
        b.fresh_cache()
        return b.configure(OURS, here, *torch, f"-DTorchCudaStack_TOOL={b.options.tool}", env=env)
    with_six, with_seven = prebuilt(six), prebuilt(seven)
    row("first configure with a prebuilt tool", ms(with_six), held, f"{with_six / language:.2f} x", "<= 1 x")
    row("  each further architecture", ms(with_seven - with_six), "")

    nothing = b.configure(EMPTY, repeat=True, times=5)
    again = b.configure(OURS, here, *torch, env=six, repeat=True, times=5)
    row("unchanged reconfigure", ms(again), f"an empty project {ms(nothing)}", f"+{ms(again - nothing)}", "<= +25 ms")


def image_probe(b, language):
    """What it costs to have nvcc build an image of each architecture and, with a device, to load and launch them.

    `probe` keeps nothing: with images less without. `configure` keeps images per user: all of it, in a new folder each time.
    """
    held = f"enable_language(CUDA) {ms(language)}"

    def show(what, seconds):
        row(what, ms(seconds), held, f"{seconds / language:.3f} x")

    def probe(archs):
        given = ["--try", archs, "--work-dir", b.temp / "images"] if archs else []
        return b.time(4, b.options.tool, "probe", "--out", b.temp / "facts.json", *given)[0]

    def configure(archs, env=None):
        def once():
            b.count += 1
            return b.time(1, b.options.tool, "configure", "--dir", b.temp / f"p{b.count}", "--set",
                          f"TORCH_CUDA_ARCH_LIST={archs}", "--set", "FAIL_ON=never",
                          env={"TORCH_CUDA_STACK_CACHE_DIR": str(b.temp / "probe-cache"), **(env or {})})[0]
        once()
        return min(once() for _ in range(5))

    def both(what, six, twelve):
        show(f"{what}, six archs", six)
        show("  each further architecture", (twelve - six) / 6)

    none, six, twelve = (probe(archs) for archs in ("", SIX, TWELVE))
    both("image probe", six - none, twelve - none)
    without = configure(SIX)
    both("configure by the tool, images cached", without, configure(TWELVE))
    if not b.options.double:
        raise Missing("load and launch: the folder of a libcuda.so.1 was not named with --double")
    driver = {"LD_LIBRARY_PATH": b.options.double, "TCS_FAKE_CUDA": "device=9.0,NVIDIA H100;version=13000"}
    six, twelve = (configure(archs, driver) for archs in (SIX, TWELVE))
    row("  the same with a driver double, six archs", ms(six), f"without a device {ms(without)}", f"+{ms(six - without)}")
    show("  each further architecture, with the double", (twelve - six) / 6)


def with_torch(b):
    here, torch = places()
    six = {"TORCH_CUDA_ARCH_LIST": SIX}
    ours = b.configure(OURS_TORCH, here, *torch, repeat=True, times=3)
    alone = b.configure(TORCH, *torch, repeat=True, times=3)
    row("unchanged reconfigure with torch, no list", ms(ours), f"find_package(Torch) alone {ms(alone)}",
        f"{ours / alone:.2f} x", "<= 0.6 x")
    ours = b.configure(OURS_TORCH, here, *torch, env=six, repeat=True, times=3)
    alone = b.configure(TORCH, *torch, env=six, repeat=True, times=3)
    row("unchanged reconfigure with torch and a list", ms(ours), f"find_package(Torch) alone {ms(alone)}",
        f"{(ours - alone) * 1000:+.1f} ms", "<= +50 ms")


def lines(_):
    source, folders, total = ROOT / "probe-src", [], 0
    for folder in sorted(p for p in source.iterdir() if p.is_dir()):
        files = [f for f in folder.rglob("*") if f.suffix in (".cpp", ".h", ".cu")]
        count = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files)
        total += count
        folders.append(f"{folder.name} {count}")
    tables = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in source.rglob("*.def"))
    row("lines of the shipped C++", str(total), f"and {tables} in tables", "", "<= 4000")
    print("  " + ", ".join(folders))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--launch", required=True)
    parser.add_argument("--torch-facts", required=True)
    parser.add_argument("--python", default="", help="an interpreter that can import torch")
    parser.add_argument("--double", default="", help="the folder of a libcuda.so.1 that plays a driver")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock's: where other work runs")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--only", action="append", default=[], metavar="WORD",
                        help="process, check, images, facts, core, configure, probe, torch, lines; may be repeated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tcs-bench-") as temp:
        b = Bench(options, pathlib.Path(temp))
        wanted = set(options.only) or {"process", "check", "images", "facts", "core", "configure", "probe", "torch", "lines"}
        row("work", "measured", "held against", "ratio", "budget")
        language = cuda_language(b) if wanted & {"core", "configure", "probe"} else None
        for word, function, *arguments in (("process", empty_process), ("check", check), ("images", images), ("facts", torch_facts),
                                           ("core", compile_core, language), ("configure", configures, language),
                                           ("probe", image_probe, language), ("torch", with_torch), ("lines", lines)):
            if word in wanted:
                try:
                    function(b, *arguments)
                except Missing as reason:
                    row(word, "left out", str(reason))


if __name__ == "__main__":
    main()
