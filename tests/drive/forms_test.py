#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has each form of `tcstack plan --emit` that carries a build's settings read by the program that it is for, with
paths that hold blanks, quotes, semicolons, dollars and UTF-8, and holds what arrives against what was meant.

From the environment: TCS_TOOL, TCS_CMAKE.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL, CMAKE = os.environ["TCS_TOOL"], os.environ["TCS_CMAKE"]
ROOT = "/opt/it's \"my\" cu;da $HOME ${x} \\ü"
COMPILER = "/opt/g++ ;'13'"
LIST, FLAGS = "9.0;12.0f", "-gencode=arch=compute_120f,code=sm_120f"
NAMES = ["CUDA_HOME", "CUDACXX", "CUDAHOSTCXX", "TORCH_CUDA_ARCH_LIST", "NVCC_APPEND_FLAGS", "FORCE_CUDA", "PATH"]
CACHE = {"CMAKE_CUDA_ARCHITECTURES": "90-real;120f-real", "TORCH_CUDA_ARCH_LIST": LIST, "CUDAToolkit_ROOT": ROOT,
         "CMAKE_CUDA_HOST_COMPILER": COMPILER}
MEANT = {"CUDA_HOME": ROOT, "CUDACXX": f"{ROOT}/bin/nvcc", "CUDAHOSTCXX": COMPILER, "TORCH_CUDA_ARCH_LIST": "9.0",
         "NVCC_APPEND_FLAGS": FLAGS, "FORCE_CUDA": "1", "PATH": f"{ROOT}/bin:/usr/bin:/bin:/a b"}
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/a b", "HOME": "/home/somebody"}
FACTS = {"schema": "torch-cuda-stack/facts/1", "host": {"cores": 4, "memory_mib": 65536},
         "devices": {"state": "none", "list": []}, "driver": {"state": "absent"},
         "toolkits": {"selected": 0, "list": [{"version": "13.0.88", "root": ROOT, "nvcc": f"{ROOT}/bin/nvcc",
                                               "fitting_host_compiler": COMPILER}]},
         "torch": {"state": "found", "flavour": "cuda", "version": "2.11.0+cu130", "cuda": "13.0",
                   "images": ["sm_90", "sm_120"]},
         "environment": {"PATH": "/recorded"}}
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(p NONE)
foreach(name IN ITEMS %s)
  file(APPEND "${CMAKE_BINARY_DIR}/cache" "${name}=${${name}}\\n")
endforeach()
foreach(name IN ITEMS %s)
  file(APPEND "${CMAKE_BINARY_DIR}/environment" "${name}=$ENV{${name}}\\n")
endforeach()
""" % (" ".join(CACHE), " ".join(NAMES))


def emit(form, folder, **environment):
    facts = folder / "facts.json"
    facts.write_text(json.dumps({**FACTS, "environment": {**FACTS["environment"], **environment}}), encoding="utf-8")
    done = subprocess.run([TOOL, "plan", "--facts", facts, "--arch-list", LIST, "--emit", form], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def same(where, got, meant):
    assert got == meant, f"{where}:\n  got   {got}\n  meant {meant}"


def lines_as_pairs(text):
    return dict(line.split("=", 1) for line in text.splitlines())


def make_project(folder):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    return folder


def run(command, **options):
    options["env"] = {**options.get("env", os.environ), "CMAKE_GENERATOR": "Ninja"}  # there may be no make
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def env(folder):
    text, _ = emit("env", folder)
    (folder / "env.sh").write_text(text, encoding="utf-8")
    printed = run(["sh", "-c", f'. "$0" && {sys.executable} -c "import json, os; print(json.dumps(dict(os.environ)))"',
                   folder / "env.sh"], env=ENVIRONMENT)
    got = json.loads(printed)
    same("env", {name: got.get(name) for name in NAMES}, MEANT)


def github_env(folder):
    """name<<DELIMITER, lines, DELIMITER: workflow commands, "Multiline strings"."""
    text, notes = emit("github-env", folder)
    got = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, delimiter = line.split("<<", 1)
        value = []
        for line in lines:
            if line == delimiter:
                break
            value.append(line)
        else:
            raise AssertionError(f"{name}: no end")
        got[name] = "\n".join(value)
    meant = {name: value for name, value in MEANT.items() if name != "PATH"}
    same("github-env", {name: got.get(name) for name in meant}, meant)
    assert "PATH" not in got
    added = folder / "path"
    command = re.search(r'PATH has a file of its own: (printf .*)', notes)[1]
    run(["sh", "-c", command], env={**ENVIRONMENT, "GITHUB_PATH": str(added)})
    same("GITHUB_PATH", added.read_text(encoding="utf-8"), f"{ROOT}/bin\n")


def initial_cache(folder):
    text, notes = emit("initial-cache", folder)
    (folder / "cache.cmake").write_text(text, encoding="utf-8")
    project = make_project(folder / "project-c")
    run([CMAKE, "-C", folder / "cache.cmake", "-S", project, "-B", project / "b"])
    same("initial-cache", lines_as_pairs((project / "b/cache").read_text(encoding="utf-8")), CACHE)
    assert f"export NVCC_APPEND_FLAGS='{FLAGS}'" in notes, notes


def cmake_args(folder):
    text, _ = emit("cmake-args", folder)
    assert text.count("\n") == 1, text
    project = make_project(folder / "project-d")
    run(["sh", "-c", f'"$0" -S "$1" -B "$1/b" {text}', CMAKE, project], env={**os.environ, "HOME": "/home/somebody"})
    same("cmake-args", lines_as_pairs((project / "b/cache").read_text(encoding="utf-8")), CACHE)


def cmake_args_variable(folder):
    """scikit-build-core cuts CMAKE_ARGS by shlex, vLLM's setup.py at blanks: both must get the same words."""
    text, notes = emit("env", folder, CMAKE_ARGS="-DOWN='a b'")
    printed = run(["sh", "-c", f'{text} printf %s "$CMAKE_ARGS"'], env=ENVIRONMENT)
    words = shlex.split(printed)
    assert words[-1] == "-DOWN=a b" and words[:-1] == printed.split()[:-2], printed
    odd = ("CUDAToolkit_ROOT", "CMAKE_CUDA_HOST_COMPILER")
    left = [name for name in odd if f"CMAKE_ARGS cannot hold {name}" in notes]
    assert len(left) == 2, notes
    project = make_project(folder / "project-a")
    run([CMAKE, "-S", project, "-B", project / "b", *words])
    got = lines_as_pairs((project / "b/cache").read_text(encoding="utf-8"))
    same("CMAKE_ARGS", got, {name: "" if name in left else value for name, value in CACHE.items()})


def preset(folder):
    text, _ = emit("preset", folder)
    project = make_project(folder / "project-p")
    (project / "CMakeUserPresets.json").write_text(text, encoding="utf-8")
    path = os.environ["PATH"]
    run([CMAKE, "--preset", "torch-cuda-stack"], cwd=project)
    build = project / "build"
    same("preset, cache", lines_as_pairs((build / "cache").read_text(encoding="utf-8")), CACHE)
    got = lines_as_pairs((build / "environment").read_text(encoding="utf-8"))
    same("preset, environment", got, {**MEANT, "PATH": f"{ROOT}/bin:{path}"})
    run([CMAKE, "--build", "--preset", "torch-cuda-stack", "--target", "help"], cwd=project)
    (project / "CMakePresets.json").write_text(json.dumps(
        {"version": 6, "configurePresets": [{"name": "own", "cacheVariables": {"X": "1"}}]}), encoding="utf-8")
    run([CMAKE, "--list-presets"], cwd=project)


def documented():
    """Each variable of the project table, and each that is set, is in docs/driving.md."""
    repository = Path(__file__).resolve().parents[2]
    page = (repository / "docs/driving.md").read_text(encoding="utf-8")
    table = (repository / "probe-src/drive/projects.def").read_text(encoding="utf-8")
    variables = set(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', table))
    assert len(variables) > 20, variables
    with tempfile.TemporaryDirectory() as folder:
        variables |= set(re.findall(r"^export (\w+)=", emit("env", Path(folder))[0], re.MULTILINE))
    missing = sorted(name for name in variables if f"`{name}" not in page)
    assert not missing, f"docs/driving.md has no {', '.join(missing)}"


def main():
    documented()
    for form in (env, github_env, initial_cache, cmake_args, cmake_args_variable, preset):
        with tempfile.TemporaryDirectory() as folder:
            form(Path(folder))
        print(form.__name__, "is understood")


if __name__ == "__main__":
    main()
