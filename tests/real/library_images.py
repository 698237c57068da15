#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which devices the real CUDA libraries of PyTorch 2.15 hold images for, and no false alarm about them.

Held against: cuobjdump (images), the library itself (what NVRTC compiles for). The devices are made up: there need be no
GPU. Needs TCS_TOOL. Fetches parts; exit 77 when one cannot be had.
"""
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = os.environ.get("TCS_TOOL", "")
MISSING = []

# All that PyTorch 2.15 for x86_64 serves: its own images, and newer minor releases of their majors.
SERVED = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1")
CALLED = ("libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12", "libcusparse.so.12", "libnccl.so.2",
          "libcudnn_adv.so.9", "libcudnn_cnn.so.9", "libcudnn_engines_precompiled.so.9",
          "libcudnn_engines_runtime_compiled.so.9", "libcudnn_ops.so.9")


def part(name):
    done = subprocess.run([sys.executable, str(HERE / "parts.py"), "get", name], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        MISSING.append(name)
        raise unittest.SkipTest(f"{name}: {done.stderr.strip()[-200:]}")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return Path(done.stdout.strip().splitlines()[-1])


def tool(*words):
    done = subprocess.run([TOOL, *words], env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


@unittest.skipUnless(platform.machine() == "x86_64", "x86_64 libraries")
class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        wheel, libraries = part("torch-2.15.0"), part("nvidia-libs-cu13")
        cls.temp = tempfile.TemporaryDirectory(dir=wheel.parent)
        site = Path(cls.temp.name)
        try:  # hard links: the loader follows a symbolic link before it goes up from $ORIGIN
            shutil.copytree(wheel / "torch/lib", site / "torch/lib", copy_function=os.link)
            shutil.copytree(libraries / "nvidia", site / "nvidia", copy_function=os.link)
        except OSError as error:
            raise unittest.SkipTest(f"no hard links here: {error}") from error
        for name in ("torch/version.py", "torch/share/cmake/Torch/TorchConfig.cmake",
                     "torch-2.15.0.dist-info/METADATA"):
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(wheel / name, site / name)
        (site / "torch/include/torch").mkdir(parents=True)
        cls.facts = tool("probe", "--set", f"CMAKE_PREFIX_PATH={site / 'torch'}")
        cls.rows = {row["soname"]: row for row in cls.facts["libraries"]}

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    def test_every_library_that_pytorch_calls_was_read(self):
        for name in CALLED:
            self.assertTrue(self.rows[name].get("images"), name)
        for name in ("libcudart.so.13", "libcudnn.so.9", "libcudnn_graph.so.9", "libnvrtc.so.13"):
            self.assertEqual(self.rows[name]["images"], [], name)
        self.assertNotIn("images", self.rows["libcufft.so.12"], "its kernels lie in its data")

    def test_images_are_those_that_cuobjdump_lists(self):
        program = part("cuobjdump") / "nvidia/cu13/bin/cuobjdump"
        for name in ("libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcublas.so.13"):
            said = subprocess.run([str(program), "--list-elf", "--list-ptx", self.rows[name]["path"]], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            theirs = {(kind, arch) for arch, kind in re.findall(r"\.sm_(\d+)[af]?\.(cubin|ptx)", said)}
            ours = {("ptx" if one.startswith("compute") else "cubin", re.sub(r"\D", "", one))
                    for one in self.rows[name]["images"]}
            self.assertEqual(ours, theirs, name)

    def test_nvrtc_answers_for_itself(self):
        row = self.rows["libnvrtc.so.13"]
        library, count = ctypes.CDLL(row["path"]), ctypes.c_int()
        self.assertEqual(library.nvrtcGetNumSupportedArchs(ctypes.byref(count)), 0)
        archs = (ctypes.c_int * count.value)()
        self.assertEqual(library.nvrtcGetSupportedArchs(archs), 0)
        self.assertEqual(row["archs"], [f"compute_{arch}" for arch in archs])
        self.assertEqual(row["from"]["archs"], "nvrtcGetSupportedArchs")

    def test_the_probe_compiles_alone_and_says_the_same(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        if not compiler:
            self.skipTest("no C++ compiler")
        source = Path(os.environ.get("TCS_SOURCE_DIR") or HERE.parent.parent, "probe-src/probes/nvrtc.cpp")
        program = Path(self.temp.name) / "nvrtc"
        subprocess.run([compiler, "-std=c++17", str(source), "-o", str(program), "-ldl"], check=True)
        path = self.rows["libnvrtc.so.13"]["path"]
        alone, inside = (json.loads(subprocess.run([*words, path], check=True, stdout=subprocess.PIPE).stdout)
                         for words in ((str(program),), (TOOL, "--nvrtc-probe")))
        self.assertEqual(alone, inside)
        self.assertEqual(alone["version"], "13.2")

    def check_device(self, *capabilities, change=None):
        facts = json.loads(json.dumps(self.facts))
        if change:
            change({row["soname"]: row for row in facts["libraries"]})
        facts["devices"] = {"state": "declared", "list": [
            {"index": index, "name": "a GPU", "cc": cc, "visible": True} for index, cc in enumerate(capabilities)]}
        file = Path(self.temp.name) / "machine.json"
        file.write_text(json.dumps(facts), encoding="utf-8")
        return {row["id"]: row for row in tool("check", "--facts", str(file), "--format", "json")["findings"]}

    def test_no_false_alarm_for_what_pytorch_serves(self):
        for cc in SERVED:
            with self.subTest(cc):
                found = self.check_device(cc)
                self.assertFalse({"TCS504", "TCS506", "TCS507"} & set(found), cc)
                lacks = [name for row in found.values() for name in row.get("missing", [])]
                self.assertNotIn("libraries[].images", lacks)
                self.assertNotIn("libraries[].archs", lacks)
        self.assertNotIn("TCS506", self.check_device(*SERVED), "all at once, NCCL too")

    def test_a_library_without_images_for_a_device_is_named(self):
        def cut(rows):
            images = rows["libcudnn_ops.so.9"]["images"]
            rows["libcudnn_ops.so.9"]["images"] = [one for one in images if not one.endswith("_75")]

        self.assertIn("libcudnn_ops.so.9", self.check_device("7.5", change=cut)["TCS506"]["message"])
        self.assertNotIn("TCS506", self.check_device("8.0", change=cut))

    def test_what_pytorch_does_not_serve_is_left_to_pytorch(self):
        for cc in ("7.0", "11.0"):
            found = self.check_device(cc)
            self.assertIn("TCS601", found)
            self.assertNotIn("TCS506", found)


if __name__ == "__main__":
    if not TOOL:
        sys.exit("TCS_TOOL is not set")
    result = unittest.main(exit=False, verbosity=2).result
    if MISSING and not result.failures and not result.errors:
        print(f"skipped: cannot be had here: {', '.join(sorted(set(MISSING)))}")
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)
