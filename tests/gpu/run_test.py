#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/run where there is no GPU: it skips, and a double of libcuda.so.1 plays what it is for.

    run_test.py CLASS...    exit 0 good, 1 not, 77 when nothing could be tried (says why)

Needs TCS_TOOL and TCS_DOUBLES (ctest sets them). Nothing here has seen a GPU: the tests' names say "with a driver double".
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOL, DOUBLES = os.environ["TCS_TOOL"], pathlib.Path(os.environ["TCS_DOUBLES"])
FEW = "sm_80;compute_80;sm_86;sm_90;sm_90a;compute_90;sm_100;compute_100;sm_120f"
H100 = "device=9.0,NVIDIA H100 80GB HBM3;version=13000"


def find_nvcc():
    """This machine's, else the one that run-tests brings; a path that is not there where there is neither."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if os.path.exists(nvcc):
        return nvcc
    done = subprocess.run([sys.executable, HERE.parent / "real/parts.py", "path", "toolkit-13.0"], capture_output=True,
                          text=True, check=False)
    return f"{done.stdout.strip()}/nvidia/cu13/bin/nvcc" if done.returncode == 0 else nvcc


NVCC = find_nvcc()


class Runs(unittest.TestCase):
    before = ()  # of the command

    @classmethod
    def setUpClass(cls):
        temp = tempfile.TemporaryDirectory(prefix="tcs gpu ")
        cls.addClassCleanup(temp.cleanup)
        cls.work = pathlib.Path(temp.name)
        cls.out = cls.work / "out"

    def run_it(self, *arguments, says=None, **env):
        kept = {name: os.environ[name] for name in ("CXX", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([os.path.dirname(NVCC), "/usr/bin", "/bin"])
        env = {**kept, "PATH": path, "HOME": str(self.work), "LC_ALL": "C.UTF-8", "OUT": str(self.out), **env}
        if says is not None:
            env.update(TCS_FAKE_CUDA=says, LD_LIBRARY_PATH=str(DOUBLES / "full"))
        done = subprocess.run([*self.before, sys.executable, HERE / "run", "--tool", TOOL, *map(str, arguments)], env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {self.id()}\n{done.stdout}", file=sys.stderr)
        self.assertEqual(done.stderr, "")
        done.stdout.encode("ascii")
        return done

    def rows(self):
        """{image: the rest of its row}; of one device only."""
        return {row.split()[0]: " ".join(row.split()[1:]) for row in (self.out / "table.txt").read_text().splitlines()}


class NoGpu(Runs):
    def test_it_says_that_it_skipped_and_why(self):
        if any(os.path.exists(p) for p in ("/proc/driver/nvidia", "/dev/dxg", "/dev/nvmap")):
            self.skipTest("this machine has a driver")
        done = self.run_it()
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertRegex(done.stdout, r"\nskipped: no NVIDIA GPU here \(\S.*\)\n$")

    def test_a_driver_without_a_device_is_skipped_with_its_words_with_a_driver_double(self):
        done = self.run_it(says="init=803")
        self.assertEqual(done.returncode, 77)
        self.assertIn("skipped: no NVIDIA GPU here (parts of the driver are of different releases", done.stdout)

    def test_a_place_that_cannot_be_written_is_named_with_what_to_do(self):
        done = self.run_it("--out", "/dev/null/results")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("FAILED: no results can be written to /dev/null/results", done.stdout)
        self.assertIn("--out FOLDER", done.stdout)

    def test_an_option_it_does_not_know_is_bad_usage(self):
        done = subprocess.run([sys.executable, HERE / "run", "--imagse"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


class NoNvcc(Runs):
    """/usr/local is empty, in a mount namespace."""

    before = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /usr/local && exec "$@"', "sh")

    def test_a_gpu_without_nvcc_is_skipped_and_recorded_with_a_driver_double(self):
        if NVCC.endswith("nvidia/cu13/bin/nvcc"):
            self.before = ()  # it is out of sight as it is
        elif (subprocess.run([*self.before, "true"], capture_output=True, check=False).returncode != 0
              or not os.path.realpath(NVCC).startswith("/usr/local/")):
            self.skipTest("nvcc cannot be hidden on this machine")
        done = self.run_it(says=H100, PATH="/usr/bin:/bin")
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn("skipped: the GPU is there, and nvcc is not: put one on PATH", done.stdout)
        recorded = json.loads((self.out / "machine.json").read_text())
        self.assertEqual([d["cc"] for d in recorded["devices"]["list"]], ["9.0"])


class Prepared(Runs):
    """Images that --prepare made, loaded by the run's own loader."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(NVCC):
            raise unittest.SkipTest("there is no nvcc on this machine")
        cls.images = cls.work / "images"
        done = cls("check").run_it("--prepare", cls.images, "--archs", FEW)
        if done.returncode != 0:
            raise unittest.SkipTest(f"this nvcc does not build all of {FEW}: {done.stdout}")

    def check(self, says=H100, status=0, **env):
        done = self.run_it("--images", self.images, says=says, **env)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def test_every_image_is_as_predicted_with_a_driver_double(self):
        said = self.check()
        self.assertIn("9 images: 9 answers as predicted, 0 not", said)
        self.assertIn("== all agree", said)
        rows = self.rows()
        self.assertEqual(rows["sm_90a"], "built 0: 9.0 runs runs yes")
        self.assertEqual(rows["compute_80"], "built 0: 9.0 runs runs yes")
        self.assertEqual(rows["sm_86"], "built 0: 9.0 refused refused (209 of cuModuleLoadData) yes")
        self.assertEqual(rows["compute_100"], "built 0: 9.0 refused refused (218 of cuModuleLoadData) yes")

    def test_the_machine_is_recorded_redacted_with_a_driver_double(self):
        said = self.check()
        self.assertIn(f"the machine, redacted: {self.out / 'machine.json'}\n", said)
        text = (self.out / "machine.json").read_text()
        device = json.loads(text)["devices"]["list"][0]
        self.assertEqual(device["uuid"], "GPU-a0000001-0000-0000-0000-000000000000")
        self.assertEqual([a["result"] for a in device["image_probe"] if a["image"] in ("sm_86", "sm_90")], ["refused", "runs"])
        self.assertNotIn(str(self.work), text)
        strict = subprocess.run([TOOL, "check", "--strict", "--facts", self.out / "machine.json"], capture_output=True,
                                text=True, check=False)
        self.assertIn(strict.returncode, (0, 1), strict.stderr)

    def test_across_tegra_both_eras_agree_with_a_driver_double(self):
        for era, result in (("12.4.131", "refused (209 of cuModuleLoadData)"), ("13.5.37", "runs")):
            with self.subTest(era):
                self.check("device=8.7,Orin (nvgpu),integrated;version=13000", TCS_DOUBLE_ORACLE=era)
                self.assertEqual(self.rows()["sm_80"], f"built 0: 8.7 either {result} yes")

    def test_ptx_newer_than_the_driver_is_predicted_with_a_driver_double(self):
        self.check("device=9.0,NVIDIA H100;version=12080")
        if "222" in self.rows()["compute_90"]:
            self.assertEqual(self.rows()["compute_90"], "built 0: 9.0 refused refused (222 of cuModuleLoadData) yes")

    def test_each_answer_that_was_not_predicted_fails_with_a_driver_double(self):
        for word, row in (("fail=cuLaunchKernel@sm_90:98", "runs refused (98 of cuLaunchKernel) NO"),
                          ("crash=cuModuleLoadData@sm_86", "refused crash NO"), ("wrong=@sm_90a", "runs wrong NO"),
                          ("nojit", "runs refused (221 of cuModuleLoadData) NO")):
            with self.subTest(word):
                said = self.check(f"{H100};{word}", status=1)
                image = word.partition("@")[2].partition(":")[0] or "compute_90"
                self.assertEqual(self.rows()[image], f"built 0: 9.0 {row}")
                self.assertIn("== NOT AS PREDICTED", said)
                self.assertIn(f"{image} on device 0 (9.0): predicted ", said)

    def test_a_hang_ends_with_the_budget_with_a_driver_double(self):
        done = self.run_it("--images", self.images, "--minutes", "0.25", says=f"{H100};hang=cuModuleLoadData@sm_100")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.rows()["sm_100"], "built 0: 9.0 refused hang NO")
        self.assertEqual(self.rows()["sm_120f"], "built 0: 9.0 refused not measured NO")  # it comes after it

    def test_two_gpus_have_a_row_each_with_a_driver_double(self):
        said = self.check(f"{H100};device=8.6,NVIDIA RTX A4000")
        self.assertIn("9 images: 18 answers as predicted, 0 not", said)


class Whole(Runs):
    """nvcc builds every architecture it knows, and tcstack's own probe tries them."""

    def test_every_architecture_of_nvcc_is_as_predicted_with_a_driver_double(self):
        if not os.path.exists(NVCC):
            self.skipTest("there is no nvcc on this machine")
        done = self.run_it("--no-extension", says=f"{H100};device=12.0,NVIDIA GeForce RTX 5090")
        self.assertEqual(done.returncode, 0, done.stdout)
        listed = subprocess.run([NVCC, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout.split()
        rows = self.rows()
        for image in listed:
            self.assertIn(image, rows)
            self.assertIn(image.replace("sm_", "compute_"), rows)
        self.assertIn("== all agree", done.stdout)
        self.assertIn("skipped: --no-extension", done.stdout)

    def test_what_is_not_as_predicted_fails_with_a_driver_double(self):
        if not os.path.exists(NVCC):
            self.skipTest("there is no nvcc on this machine")
        done = self.run_it("--no-extension", says=f"{H100};wrong=@sm_90;fail=cuModuleLoadData@sm_90a:209")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.rows()["sm_90"], "built 0: 9.0 runs wrong NO")
        self.assertEqual(self.rows()["sm_90a"], "built 0: 9.0 runs refused (209 of cuModuleLoadData) NO")
        self.assertEqual(self.rows()["sm_80"], "built 0: 9.0 refused refused (209 of cuModuleLoadData) yes")
        self.assertIn("answers as predicted, 2 not", done.stdout)


def main(names):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names, sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    if result.testsRun <= len([s for s in result.skipped if hasattr(s[0], "_testMethodName")]):
        print("skipped: " + "; ".join(sorted({reason for _, reason in result.skipped})))
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["NoGpu", "NoNvcc", "Prepared", "Whole"]))
