# SPDX-License-Identifier: Apache-2.0
"""Tests of parts.py: its own rules on made-up input, and each part that the cache holds put to use. Fetches nothing."""
import ctypes
import multiprocessing
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import parts  # noqa: E402  (it lies beside this file, not in a package)

DEB822 = """Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
# comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/example.gpg
"""
ONE_LINE = """deb http://other.example/apt bookworm stable
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib
"""
KERNEL = "#include <cuda/std/type_traits>\n__global__ void k(float *x) { x[threadIdx.x] *= 2; }\n"


def count_and_build(name, part, temp):
    with open(parts.root() / "built", "a", encoding="ascii") as log:
        log.write(f"{name} {temp.name}\n")
    (part / "proof").touch()
    return "proof"


def ensure_counted(name):
    with mock.patch.object(parts, "build", count_and_build):
        return parts.ensure(name)


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        environment = mock.patch.dict(os.environ, {"TCS_REAL_PARTS": folder.name})
        environment.start()
        self.addCleanup(environment.stop)

    def source_of(self, file, text):
        (self.root / "sources.list.d").mkdir()
        (self.root / file).write_text(text, encoding="utf-8")
        (self.root / "os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n', encoding="utf-8")
        return parts.debian_source(self.root, self.root / "os-release")

    def test_debian_source_in_stanzas(self):
        self.assertEqual(self.source_of("sources.list.d/debian.sources", DEB822),
                         ("http://mirror.example/debian", "/usr/share/keyrings/example.gpg"))

    def test_debian_source_on_one_line(self):
        self.assertEqual(self.source_of("sources.list", ONE_LINE), ("http://mirror.example/debian", "/k.gpg"))

    def test_no_debian_source(self):
        self.assertRaises(parts.Unavailable, self.source_of, "sources.list", "# nothing\n")

    def test_cuda_requirements(self):
        info = self.root / "torch-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Requires-Dist: filelock\nRequires-Dist: cuda-toolkit[nvtx,cudart]==1.2; os\n"
                                       "Requires-Dist: nvidia-a-cu13==3\n", encoding="utf-8")
        self.assertEqual(parts.cuda_requirements(self.root), ["cuda-toolkit[nvtx,cudart]==1.2", "nvidia-a-cu13==3"])

    def test_many_processes_build_a_part_once(self):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            paths = set(pool.map(ensure_counted, ["gxx-11"] * 8))
        self.assertEqual(paths, {self.root / "gxx-11"})
        self.assertEqual(len((self.root / "built").read_text(encoding="ascii").splitlines()), 1)
        self.assertEqual(sorted(file.name for file in self.root.iterdir()), [".gxx-11.lock", "built", "gxx-11"])

    def test_failure_leaves_nothing_and_the_rest_of_a_killed_process_goes(self):
        (self.root / ".gxx-11.tmp-killed").mkdir()
        with mock.patch.object(parts, "build", lambda *_: "no-such-file"):
            self.assertRaisesRegex(parts.Unavailable, "holds no no-such-file", parts.ensure, "gxx-11")
        self.assertEqual([file.name for file in self.root.iterdir()], [".gxx-11.lock"])

    def test_the_scripts_of_an_environment_name_the_folder_that_it_gets(self):
        def stand_in(_, command, **__):
            if "venv" in command:
                (command[-1] / "bin").mkdir()
                (command[-1] / "bin/ninja").write_bytes(b"\x7fELF")
                (command[-1] / "bin/pip").write_text(f"#!{command[-1]}/bin/python3\n", encoding="ascii")

        with mock.patch.object(parts, "run", stand_in):
            place = parts.ensure("env-torch-2.15.0")
        self.assertEqual((place / "bin/pip").read_text(encoding="ascii"), f"#!{place}/bin/python3\n")
        self.assertEqual((place / "bin/ninja").read_bytes(), b"\x7fELF")

    def command(self, *arguments, **environment):
        return subprocess.run([sys.executable, HERE / "parts.py", *arguments], env={**os.environ, **environment},
                              capture_output=True, text=True, check=False)

    def test_exit_codes(self):
        self.assertEqual(self.command("path", "cmake-4.4").returncode, 1)
        self.assertEqual(self.command("get", "no-such-part").returncode, 2)
        self.assertIn("cmake-4.4\tabsent\n", self.command("list").stdout)
        (self.root / "cmake-4.4").mkdir()
        self.assertEqual(self.command("path", "cmake-4.4").stdout, f"{self.root}/cmake-4.4/cmake/data\n")

    def test_a_part_that_cannot_be_had_is_a_skip_with_a_reason(self):
        done = self.command("get", "cmake-3.25", PIP_NO_INDEX="1", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("parts.py: skip: cmake-3.25: ", done.stderr)
        self.assertEqual(self.command("get", "cmake-3.25", TCS_REAL_PARTS="/dev/null/cache").returncode, 77)


class PartsInTheCache(unittest.TestCase):
    def part(self, name):
        if not parts.present(name):
            self.skipTest(f"{name} is not in the cache")
        return parts.path_of(name)

    def test_toolkits_compile(self):
        for name in [name for name in parts.NAMES if name.startswith("toolkit-") and parts.present(name)]:
            root = self.part(name) / ("nvidia/cu13" if name in parts.WHEELS else "")
            options = ["-ccbin", self.part("gxx-11") / "bin/g++-11"] if name == "toolkit-11.8" else []
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "kernel.cu")
                source.write_text(KERNEL, encoding="ascii")
                subprocess.run([root / "bin/nvcc", *options, "-arch=sm_80", "-c", source, "-o", "k.o"],
                               cwd=folder, env={"PATH": "/usr/bin:/bin"}, check=True)

    @unittest.skipIf(os.path.exists("/proc/driver/nvidia/version"), "a kernel module is loaded: cuInit answers otherwise")
    def test_cuinit(self):
        for name, library, answer in [("driver-535", "lib/libcuda.so.1", 100), ("driver-550", "lib/libcuda.so.1", 100),
                                      ("cuda-stub", "", 34)]:
            with self.subTest(name):
                path = self.part(name) / library
                with multiprocessing.get_context("spawn").Pool(1) as pool:  # a driver never enters this process
                    self.assertEqual(pool.apply(cuinit, (str(path),)), answer)


def cuinit(library):
    return ctypes.CDLL(library).cuInit(0)


if __name__ == "__main__":
    unittest.main()
