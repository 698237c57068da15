#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Facts of real PyTorch wheels, without importing torch.

Held against: the wheels' own labels (version, CUDA), counts taken with cuobjdump, and for the libraries the real
dynamic loader (ldd). Needs TCS_TOOL; TCS_SOURCE_DIR is not used. Fetches parts; exit 77 when one cannot be had.
"""
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = os.environ.get("TCS_TOOL", "")
MISSING = []

# name: version, CUDA, new ABI, C++ level, fat binaries of the library with the operators, its images.
WHEELS = {
    "torch-2.15.0": ("2.15.0+cu132", "13.2", True, 20, "libtorch_cuda.so", 476,
                     {"sm_75": 476, "sm_80": 476, "sm_86": 476, "sm_89": 1, "sm_90": 476, "sm_90a": 4, "sm_100": 476,
                      "sm_100a": 59, "sm_103f": 59, "sm_120": 476, "sm_120a": 1, "sm_121a": 1}),
    "torch-2.11.0": ("2.11.0+cu130", "13.0", True, 17, "libtorch_cuda.so", 444,
                     {"sm_75": 444, "sm_80": 444, "sm_86": 444, "sm_89": 1, "sm_90": 444, "sm_90a": 4, "sm_100": 444,
                      "sm_100a": 59, "sm_103a": 59, "sm_120": 444, "sm_120a": 1, "sm_121a": 1}),
    "torch-2.7.1": ("2.7.1+cu126", "12.6", True, 17, "libtorch_cuda.so", 378,
                    {"sm_50": 378, "sm_60": 378, "sm_70": 378, "sm_75": 378, "sm_80": 378, "sm_86": 378, "sm_89": 2,
                     "sm_90": 378, "sm_90a": 3}),
    "torch-2.3.0": ("2.3.0+cu121", "12.1", False, 17, "libtorch_cuda.so", 332,
                    dict.fromkeys(("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"), 332)),
    "torch-1.13.1": ("1.13.1+cu117", "11.7", False, 14, "libtorch_cuda_cu.so", 302,
                     {"sm_35": 50, "sm_37": 221, "sm_50": 271, "sm_60": 271, "sm_70": 274, "sm_75": 275, "sm_80": 287,
                      "sm_86": 279}),
    "torch-2.15.0-aarch64": ("2.15.0+cu132", "13.2", True, 20, "libtorch_cuda.so", 476,
                             dict.fromkeys(("sm_80", "sm_90", "sm_100", "sm_110", "sm_120"), 476)),
}
CUDA_STEMS = ("libcuda.", "libcudart", "libnvrtc", "libcupti", "libcublas", "libcudnn", "libcufft", "libcufile",
              "libcurand", "libcusolver", "libcusparse", "libcudss", "libnccl", "libnvJitLink", "libnvToolsExt",
              "libnvshmem_host")
# What a process that imports torch loads first to last.
ROOTS = ("libtorch_global_deps.so", "libtorch_python.so", "libtorch_cuda.so", "libcaffe2_nvrtc.so",
         "libtorch_cuda_linalg.so")


def part(name):
    done = subprocess.run([sys.executable, str(HERE / "parts.py"), "get", name], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        MISSING.append(name)
        raise unittest.SkipTest(f"{name}: {done.stderr.strip()[-200:]}")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return Path(done.stdout.strip().splitlines()[-1])


def probe(inputs, **environment):
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment}
    words = [word for pair in inputs.items() for word in ("--set", "=".join(pair))]
    done = subprocess.run([TOOL, "probe", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def loader_says(folder, **environment):
    """name -> real path or "" of each library, by the loader itself, in the order torch's process loads them."""
    found = {}
    for root in ROOTS:
        if not (folder / root).exists():
            continue
        done = subprocess.run(["ldd", str(folder / root)], env={"PATH": "/usr/bin:/bin", **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        for line in done.stdout.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow:
                path = path.rpartition(" (0x")[0]  # "not found" has no address
                found.setdefault(name, os.path.realpath(path) if path else "")
    return found


class Wheels(unittest.TestCase):
    def check_wheel(self, name):
        version, cuda, abi, standard, library, fat, images = WHEELS[name]
        folder = part(name)
        facts = probe({"CMAKE_PREFIX_PATH": str(folder / "torch")})
        torch = facts["torch"]
        self.assertEqual((torch["state"], torch["version"], torch["flavour"], torch["cuda"]),
                         ("found", version, "cuda", cuda))
        self.assertEqual((torch["cxx11_abi"], torch["cxx_standard"], torch["python_tag"]), (abi, standard, "cp311"))
        self.assertEqual(torch["root"], str((folder / "torch").resolve()))
        row = next(row for row in torch["libraries"] if row["name"] == library)
        self.assertEqual(row["fat_binaries"], fat)
        counts = {one["arch"]: one["count"] for one in row["coverage"]}
        self.assertEqual({arch: counts.get(arch) for arch in images}, images)
        self.assertEqual(sum(one["count"] for one in row["sets"]), fat)
        self.assertFalse([arch for arch in counts if arch.startswith("compute_")], "these wheels hold no PTX")
        self.assertEqual(torch["images"], [one["arch"] for one in row["coverage"]])
        return folder, facts

    def check_libraries(self, facts, folder, **environment):
        said = loader_says(folder, **environment)
        # What cuDNN opens by itself, and Triton's programs, no loader names beforehand.
        ours = {row["soname"]: row for row in facts["libraries"]
                if not row["needed_by"].startswith(("libcudnn.", "triton"))}
        for name, path in said.items():
            if name.startswith(CUDA_STEMS):
                self.assertIn(name, ours)
        for name, row in ours.items():
            self.assertIn(name, said)
            path = os.path.realpath(row["path"]) if "path" in row else ""
            self.assertEqual(path, said[name], name)
            self.assertEqual(row["state"] == "missing", said[name] == "", name)

    def test_x86_64_wheels(self):
        for name in WHEELS:
            if name.endswith("aarch64"):
                continue
            with self.subTest(name):
                folder, facts = self.check_wheel(name)
                if platform.machine() == "x86_64":
                    self.check_libraries(facts, folder / "torch/lib")

    def test_aarch64_wheel(self):
        _, facts = self.check_wheel("torch-2.15.0-aarch64")
        self.assertNotIn("sm_75", facts["torch"]["images"])
        if platform.machine() == "x86_64":
            for row in facts["libraries"]:
                self.assertNotIn("state", row, "another machine's loader cannot be asked")

    def test_found_by_the_python_that_holds_it(self):
        """A site-packages folder on PYTHONPATH, and a Torch_DIR, name the same torch."""
        folder = part("torch-2.15.0")
        facts = probe({}, PYTHONPATH=str(folder))
        self.assertEqual(facts["torch"]["version"], "2.15.0+cu132")
        facts = probe({"Torch_DIR": str(folder / "torch/share/cmake/Torch")})
        self.assertEqual(facts["torch"]["version"], "2.15.0+cu132")

    @unittest.skipUnless(platform.machine() == "x86_64", "x86_64 libraries")
    def test_libraries_beside_the_wheel_as_pip_lays_them(self):
        wheel, libraries = part("torch-2.15.0"), part("nvidia-libs-cu13")
        # Hard links: the loader follows a symbolic link before it goes up from $ORIGIN.
        with tempfile.TemporaryDirectory(dir=wheel.parent) as temp:
            site = Path(temp) / "site packages"
            try:
                shutil.copytree(wheel / "torch/lib", site / "torch/lib", copy_function=os.link)
                shutil.copytree(libraries / "nvidia", site / "nvidia", copy_function=os.link)
            except OSError as error:
                self.skipTest(f"no hard links here: {error}")
            for name in ("torch/version.py", "torch/share/cmake/Torch/TorchConfig.cmake",
                         "torch-2.15.0.dist-info/METADATA"):
                (site / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(wheel / name, site / name)
            for entry in libraries.glob("*.dist-info"):
                (site / entry.name).mkdir()
            facts = probe({"CMAKE_PREFIX_PATH": str(site / "torch")})
            self.check_libraries(facts, site / "torch/lib")
            rows = {row["soname"]: row for row in facts["libraries"]}
            self.assertEqual([n for n, row in rows.items() if row["state"] != "found"], ["libcuda.so.1"])
            self.assertEqual(rows["libcudnn.so.9"]["version"], "9.26.0.51")
            self.assertEqual(rows["libcudnn.so.9"]["built_against"], "9.26.0.51")
            self.assertTrue(rows["libcudart.so.13"]["version"].startswith("13.2."))
            self.assertEqual(rows["libnccl.so.2"]["version"], "2.30.7")
            self.assertIn("libnvJitLink.so.13", rows)

    @unittest.skipUnless(platform.machine() == "x86_64", "x86_64 libraries")
    def test_libraries_by_ld_library_path(self):
        wheel, libraries = part("torch-2.15.0"), part("nvidia-libs-cu13")
        path = ":".join(str(folder) for folder in sorted(libraries.glob("nvidia/*/lib")))
        facts = probe({"CMAKE_PREFIX_PATH": str(wheel / "torch")}, LD_LIBRARY_PATH=path)
        self.check_libraries(facts, wheel / "torch/lib", LD_LIBRARY_PATH=path)
        rows = {row["soname"]: row for row in facts["libraries"]}
        self.assertEqual(rows["libcudart.so.13"]["via"], "LD_LIBRARY_PATH")
        self.assertEqual(rows["libcudart.so.13"]["state"], "found")


class Pythons(unittest.TestCase):
    """What the files tell of an interpreter, against the interpreter itself."""

    def check_python(self, executable, inputs=None, **environment):
        facts = probe(inputs or {"Python_EXECUTABLE": str(executable)}, **environment)
        question = ("import importlib.util as u, platform, sys; s = u.find_spec('torch');"
                    "print(sys.prefix, platform.python_version(), s.origin if s else '', sep='\\n')")
        said = subprocess.run([str(executable), "-c", question], env={"HOME": "/nonexistent", **environment}, check=True,
                              stdout=subprocess.PIPE, text=True, cwd="/").stdout.split("\n")
        python = facts["python"]
        self.assertEqual((python["state"], os.path.realpath(python["prefix"])), ("found", os.path.realpath(said[0])))
        # Without headers the layout tells X.Y only; never another release than the interpreter's own.
        self.assertEqual(python["version"].split("."), said[1].split(".")[:len(python["version"].split("."))])
        self.assertGreaterEqual(python["version"].count("."), 1)
        self.assertEqual(facts["torch"].get("root", ""), os.path.dirname(os.path.realpath(said[2])) if said[2] else "")
        return python

    def test_interpreters_and_their_venvs(self):
        wheel = part("torch-2.15.0").resolve()
        for base in {os.path.realpath(sys.executable), os.path.realpath(shutil.which("python3", path="/usr/bin:/bin"))}:
            with self.subTest(base), tempfile.TemporaryDirectory() as temp:
                self.check_python(base)
                for options, name in (([], "plain"), (["--system-site-packages"], "with \u00fcml system"),
                                      (["--copies"], "copies")):
                    venv = Path(temp) / name
                    made = subprocess.run([base, "-m", "venv", "--without-pip", *options, str(venv)], check=False,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    if made.returncode != 0:
                        self.skipTest("this Python makes no venv")
                    site = next(venv.glob("lib/python3*/site-packages"))
                    python = self.check_python(venv / "bin/python")
                    self.assertEqual(python["kind"], "venv")
                    (site / "development.pth").write_text(f"# comment\n{wheel}\n", encoding="utf-8")
                    self.check_python(venv / "bin/python")
                    # Activated, it is what FindPython takes.
                    self.check_python(venv / "bin/python", {"TIMEOUT": "30"}, VIRTUAL_ENV=str(venv))


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if MISSING:
        print("skipped, parts that cannot be had: " + ", ".join(sorted(set(MISSING))))
        sys.exit(77)
