# SPDX-License-Identifier: Apache-2.0
"""CUDA_ARCHITECTURES as real CMakes read it: one target for each text, their flags read in build.ninja."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
import parts  # noqa: E402
import torches  # noqa: E402

RELEASES = {"3.25": "cmake-3.25", "4.4": "cmake-4.4"}
TIMEOUT_S = 300


class Project:
    """A tiny project with a CMake and an nvcc."""

    def __init__(self, release, nvcc, folder):
        if not shutil.which("ninja"):
            raise parts.Unavailable("ninja is not there")
        self.cmake, self.nvcc = Path(parts.ensure(RELEASES[release])) / "bin/cmake", nvcc
        self.source = Path(folder) / f"cmake-{release}"
        self.source.mkdir()
        (self.source / "t.cu").write_text("__global__ void k() {}\n", encoding="ascii")

    def configure(self, numbered):
        lines = ["cmake_minimum_required(VERSION 3.25)", "project(t LANGUAGES CUDA)"]
        for number, text in numbered:
            folder = self.source / f"q{number}"
            folder.mkdir(exist_ok=True)
            (folder / "CMakeLists.txt").write_text(
                f"add_library(t{number} OBJECT ../t.cu)\n"
                f"set_target_properties(t{number} PROPERTIES CUDA_ARCHITECTURES [==[{text}]==])\n", encoding="utf-8")
            lines.append(f"add_subdirectory(q{number})")
        (self.source / "CMakeLists.txt").write_text("\n".join(lines), encoding="ascii")
        return subprocess.run(
            [self.cmake, "-S", self.source, "-B", self.source / "b", "-G", "Ninja",
             f"-DCMAKE_CUDA_COMPILER={self.nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90"], capture_output=True, text=True,
            timeout=TIMEOUT_S, check=False)

    def read(self, texts):
        """{text: set of (virtual, real), a word given to nvcc -arch ("all"), or what CMake says against it}."""
        numbered = list(enumerate(texts))
        errors = {}
        for number, said in re.findall(r"CMake Error in q(\d+)/CMakeLists.txt:\n(.*?)\n\n",
                                       self.configure(numbered).stderr, re.DOTALL):
            errors.setdefault(int(number), "refused: " + " ".join(said.split()))
        done = self.configure([(number, text) for number, text in numbered if number not in errors])
        if done.returncode != 0:
            sys.exit(f"CMake: {done.stderr}")
        found = {texts[number]: said for number, said in errors.items()}
        for block in re.split(r"\n(?=build )", (self.source / "b/build.ninja").read_text(encoding="utf-8")):
            target = re.match(r"build q(\d+)/CMakeFiles/t\d+\.dir/__/t\.cu\.o:", block)
            if target:
                flags = re.search(r"FLAGS = (.*)", block)
                word = re.search(r"-arch[= ](\S+)", flags[1]) if flags else None
                found[texts[int(target[1])]] = word[1] if word else torches.pairs_in(flags[1] if flags else "")
        return found


def all_architectures(cmake_release, folder, releases):
    """{nvcc release: (all, all-major)} as CMake's own table has them; empty where that CMake asks nvcc alone."""
    script = Path(folder) / f"all-{cmake_release}.cmake"
    lines = ["set(CMAKE_CUDA_COMPILER_ID NVIDIA)",
             "include(Internal/CMakeCUDAArchitecturesAll OPTIONAL RESULT_VARIABLE found)",
             "if(NOT found)", "  return()", "endif()"]
    for release in releases:
        lines += [f"set(CMAKE_CUDA_COMPILER_TOOLKIT_VERSION {release})",
                  "cmake_cuda_architectures_all(CUDA CMAKE_CUDA_COMPILER_)",
                  f'message(NOTICE "{release} = ${{CMAKE_CUDA_ARCHITECTURES_ALL}} = '
                  '${CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR}")']
    script.write_text("\n".join(lines), encoding="ascii")
    done = subprocess.run([Path(parts.ensure(RELEASES[cmake_release])) / "bin/cmake", "-P", script],
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return {release: (every, majors)
            for release, every, majors in re.findall(r"^([\d.]+) = (\S*) = (\S*)$", done.stderr, re.MULTILINE)}


def as_pairs(text):
    """What CMake documents a list of architectures to mean."""
    found = set()
    for entry in text.split(";"):
        number = entry.removesuffix("-real").removesuffix("-virtual")
        if not entry.endswith("-virtual"):
            found.add((f"compute_{number}", f"sm_{number}"))
        if not entry.endswith("-real"):
            found.add((f"compute_{number}", f"compute_{number}"))
    return found
