#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch wheels x real nvcc x real CMake: each pair of one CUDA major configures, builds and verifies an
extension; each pair of two majors stops with TCS302 before anything is compiled.

    matrix.py [--all | --third N] [--rows TEXT] [--allow IDS] [--keep] [--out FOLDER]

--third N takes every third row (N = 0, 1, 2), so that three runs in turn hold all of them. --rows TEXT takes the rows
whose name contains it. The images of each built module are also read by NVIDIA's cuobjdump and compared with the plan.
A toolkit other than the machine's own is tried where no other one is in reach: in a mount namespace in which the
default prefixes are empty, without CUDA_HOME and the like, with a PATH that leads to no nvcc.

Exit 0: every row as expected; rows whose parts cannot be had here (parts.py ends with 77) are skipped and those parts
named. 1: some rows are not as expected (their logs are named), or --all and one was skipped for another reason.
77: no row could be tried.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE / "project"
CMAKES = ["3.25", "3.31", "4.4"]
MAJORS = {"2.15.0": 13, "2.11.0": 13, "2.7.1": 12, "2.3.0": 12, "1.13.1": 11}  # torch: its CUDA


def machine_major():
    """CUDA major of the machine's own nvcc; 13 where there is none (its rows are skipped)."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout if Path(nvcc).exists() else ""
    found = re.search(r"release (\d+)\.", text)
    return int(found.group(1)) if found else 13


TOOLKITS = {"machine": machine_major(), "13.2": 13, "13.5": 13, "12.4": 12, "11.8": 11}
MISSING = {}  # parts that are not here: why
BROKEN = set()  # those among them that could be had, and were not
SAME = [(t, k, c) for t, tm in MAJORS.items() for k, km in TOOLKITS.items() if tm == km for c in CMAKES]
CROSS = [(t, k, CMAKES[n % 3]) for n, (t, k) in enumerate(
    (t, k) for t, tm in MAJORS.items() for k, km in TOOLKITS.items() if tm != km)]
LIMIT_S = 900
# Masks what would leak in. Arguments: empty folder, then the command.
ISOLATE = """
empty=$1; shift
for d in /usr/local/cuda-* /usr/local/cuda; do
  [ -d "$d" ] && [ ! -L "$d" ] && { mount --bind "$empty" "$d" || exit 77; }
done
for f in /usr/local/bin/nvcc /usr/bin/nvcc; do
  [ -e "$f" ] && { mount --bind /dev/null "$f" || exit 77; }
done
exec "$@"
"""


def part(name):
    """The path of a real part, or None with the reason printed."""
    done = subprocess.run([sys.executable, HERE / "parts.py", "get", name], capture_output=True, text=True)
    if done.returncode:
        MISSING[name] = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "not available"
        print(f"  {name}: {MISSING[name]}")
        if done.returncode != 77:
            BROKEN.add(name)
        return None
    return Path(done.stdout.split("\n")[0])


def toolkit_root(name):
    """Root folder of a toolkit part; '' for the machine's own."""
    if name == "machine":
        found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if Path(found).exists():
            return ""
        MISSING["nvcc of this machine"] = "none in PATH or /usr/local/cuda"
        return None
    root = part(f"toolkit-{name}")
    pip = root and root / "nvidia" / "cu13"
    return root and (pip if pip.is_dir() else root)


def can_isolate():
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "true"]
    return shutil.which("unshare") and subprocess.run(command, capture_output=True).returncode == 0


def environment(toolkit):
    env = {k: v for k, v in os.environ.items() if not k.startswith("TORCH_CUDA_ARCH_LIST")}
    if env.get("TCS_TOOL"):  # what the build of this repository made; else the module compiles its own
        env.setdefault("TORCH_CUDA_STACK_TOOL", env["TCS_TOOL"])
    if toolkit != "machine":
        for name in ("CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAToolkit_ROOT", "LIBRARY_PATH", "CPATH"):
            env.pop(name, None)
        folders = [d for d in env["PATH"].split(":") if d == "/usr/bin" or not Path(d, "nvcc").exists()]
        env["PATH"] = ":".join(folders)
    if toolkit == "11.8" and (gxx := part("gxx-11")):
        env["PATH"] = f"{gxx}/bin:{env['PATH']}"
    return env


def run(command, toolkit, log, scratch):
    """Runs a command as a row needs it; its output goes to the log. Returns the exit status."""
    if toolkit != "machine" and can_isolate():
        empty = scratch / "empty"
        empty.mkdir(exist_ok=True)
        flags = "-m" if os.geteuid() == 0 else "-rm"
        command = ["unshare", flags, "sh", "-c", ISOLATE, "sh", str(empty), *command]
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(map(str, command))}\n")
        out.flush()
        try:
            done = subprocess.run(command, env=environment(toolkit), stdout=out, stderr=out, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            out.write(f"\nno end after {LIMIT_S} s\n")
            return 124
    return done.returncode


def compiled(build):
    """What a build folder holds of compiled things that are the project's or CMake's CUDA ones."""
    found = [p for p in build.glob("CMakeFiles/*.dir/**/*.o")]
    return found + list(build.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"))


def images_of(module):
    """Architectures in a built module, as cuobjdump tells; None where it is not here or reads nothing (13.5 cannot read
    what nvcc 11.8 wrote)."""
    root = part("cuobjdump")
    tool = root and next(root.glob("**/bin/cuobjdump"), None)
    if not tool:
        return None
    text = subprocess.run([tool, "--list-elf", module], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"\.(sm_\d+[af]?)\.cubin", text))) or None


def planned(build):
    plan = (build / "TorchCudaStack" / "plan.cmake").read_text()
    return sorted(set(re.findall(r"code=(sm_\d+[af]?)", plan)))


def try_row(row, scratch, allow):
    """What went wrong in a row, '' when nothing did, None when a part is missing."""
    torch, toolkit, cmake = row
    name = "-".join(row)
    build, log = scratch / name, scratch / f"{name}.log"
    shutil.rmtree(build, ignore_errors=True)
    log.unlink(missing_ok=True)
    wheel, root, program = part(f"torch-{torch}"), toolkit_root(toolkit), part(f"cmake-{cmake}")
    if None in (wheel, root, program):
        return None
    program = program / "bin" / "cmake"
    arguments = [f"-DTorch_DIR={wheel}/torch/share/cmake/Torch", f"-DTorchCudaStack_ALLOW={allow}"]
    if root:
        arguments.append(f"-DTorchCudaStack_TOOLKIT={root}")
    status = run([program, "-S", PROJECT, "-B", build, "-G", "Ninja", *arguments], toolkit, log, scratch)
    text = log.read_text(encoding="utf-8", errors="replace")
    if row not in SAME:
        if status == 0:
            return "it configured, although the CUDA majors differ"
        if "TCS302" not in text:
            return "it stopped, but not with TCS302"
        return f"it compiled {compiled(build)[0].name} first" if compiled(build) else ""
    if status:
        first = re.search(r"error\[.*", text) or re.search(r"CMake Error.*\n.*", text)
        return "configure: " + (first.group(0).replace("\n", " ") if first else f"exit {status}")
    if status := run([program, "--build", build, "-j2"], toolkit, log, scratch):
        return f"build: exit {status}"
    if "verified: " not in log.read_text(encoding="utf-8", errors="replace"):
        return "nothing was verified"
    module = next(build.glob("tcs_matrix.*.so"), None)
    if not module:
        return "no module was built"
    have, want = images_of(module), planned(build)
    if have is not None and have != want:
        return f"cuobjdump reads {' '.join(have)}, planned were {' '.join(want)}"
    return ""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--all", action="store_true", help="every row (default: --third 0)")
    options.add_argument("--third", type=int, choices=[0, 1, 2])
    options.add_argument("--rows", default="", metavar="TEXT", help="rows whose name contains TEXT")
    options.add_argument("--out", type=Path, default=Path("tcs-matrix"), metavar="FOLDER")
    # The wheels lie unpacked alone: their dependencies are not beside them.
    options.add_argument("--allow", default="TCS501", metavar="IDS", help="findings that are accepted (TCS501)")
    options.add_argument("--keep", action="store_true", help="keep the build folders of good rows")
    given = options.parse_args()
    rows = SAME + CROSS
    if not (given.all or given.rows):
        rows = rows[given.third or 0::3]
    rows = [row for row in rows if given.rows in "-".join(row)]
    scratch = given.out.absolute()
    scratch.mkdir(parents=True, exist_ok=True)
    if not can_isolate():
        print("no mount namespaces here: another toolkit of this machine may be in reach")

    bad, tried, table = 0, 0, []
    for n, row in enumerate(rows, 1):
        start = time.time()
        problem = try_row(row, scratch, given.allow)
        verdict = "skipped" if problem is None else problem or ("built" if row in SAME else "stopped: TCS302")
        tried += problem is not None
        bad += bool(problem)
        print(f"[{n}/{len(rows)}] torch {row[0]} nvcc {row[1]} cmake {row[2]}: {verdict} ({time.time() - start:.0f} s)",
              flush=True)
        if problem:
            print(f"    log: {scratch / '-'.join(row)}.log")
        elif not given.keep:
            shutil.rmtree(scratch / "-".join(row), ignore_errors=True)
        table.append({"torch": row[0], "nvcc": row[1], "cmake": row[2], "verdict": verdict, "good": not problem})
    (scratch / "matrix.json").write_text(json.dumps(table, indent=1))
    skipped = len(rows) - tried
    print(f"{tried - bad} of {tried} rows as expected, {skipped} skipped")
    if skipped:
        print("NOT every row was tried; missing: " + "; ".join(f"{name} ({why})" for name, why in MISSING.items()))
    if not tried:
        return 77
    return 1 if bad or (given.all and BROKEN) else 0


if __name__ == "__main__":
    sys.exit(main())
