#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record, then replay: the report of this machine, whatever it has, is the same byte for byte from its recording.

The lists and targets of the environment are recorded with it. From a redacted recording come the same findings, ids
and severities, and it names neither user nor machine.

Needs TCS_TOOL (ctest sets it).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = os.environ["TCS_TOOL"]
ASKED = ("TORCH_CUDA_ARCH_LIST", "CUDAARCHS")
REQUESTS = ([], ["--arch-list", "8.0;9.0+PTX"], ["--targets", "native"], ["--purpose", "run"],
            ["--purpose", "pytorch-source", "--fail-on", "warning"])


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.env = {k: v for k, v in os.environ.items() if k not in ASKED and not k.startswith("TORCH_CUDA_STACK_")}

    def tcstack(self, *arguments, env=None):
        return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, timeout=250,
                              env=self.env if env is None else env)

    def judged(self, *arguments, env=None):
        done = self.tcstack("check", *arguments, "--format", "json", env=env)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, done.stdout

    def recorded(self, *options):
        path = self.folder / "facts.json"
        done = self.tcstack("probe", *options, "--out", path)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return path

    def compare(self):
        full = self.recorded()
        elsewhere = {"PATH": "/nowhere", "HOME": "/nowhere", "CUDA_VISIBLE_DEVICES": "7", "TORCH_CUDA_ARCH_LIST": "3.5"}
        for request in REQUESTS:
            with self.subTest(request):
                live = self.judged(*request)
                self.assertEqual(self.judged("--facts", full, "--strict", *request, env=elsewhere), live)
        again = self.tcstack("probe", "--facts", full, "--strict")
        self.assertEqual(again.stdout, full.read_bytes())
        self.redacted(full)

    def redacted(self, full):
        facts = self.folder / "redacted.json"
        done = self.tcstack("probe", "--redact", "--facts", full, "--out", facts)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for request in REQUESTS:
            with self.subTest(f"redacted {request}"):
                (status, report), (other, theirs) = (self.judged("--facts", f, *request) for f in (full, facts))
                self.assertEqual(status, other)
                said = [[(f["id"], f["severity"]) for f in json.loads(r)["findings"]] for r in (report, theirs)]
                self.assertEqual(said[0], said[1])
        self.nameless(facts.read_text())
        self.nameless(self.recorded("--redact").read_text())

    def nameless(self, text):
        home = self.env.get("HOME", "")
        if home.count("/") > 1 or home == "/root":
            self.assertNotIn(home + "/", text)
        for name in (os.uname().nodename, self.env.get("USER", "")):
            if len(name) > 5 and name not in ("runner", "localhost", "ubuntu", "debian"):
                self.assertNotRegex(text, rf"\b{name}\b")

    def test_this_machine(self):
        self.compare()

    def test_with_the_tests_python_first(self):
        self.env["PATH"] = f"{Path(sys.executable).parent}:{self.env.get('PATH', '')}"
        self.compare()

    def test_with_lists_and_targets_in_the_environment(self):
        self.env.update(TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX", CUDAARCHS="75", TORCH_CUDA_STACK_TARGETS="9.0;12.0")
        self.compare()
        plan = json.loads(self.judged("--facts", self.folder / "facts.json")[1])["plan"]
        self.assertEqual(plan["list_from"], "TORCH_CUDA_ARCH_LIST (environment)")

    def test_with_nothing_in_reach(self):
        self.env = {"PATH": "/nowhere", "HOME": self.env.get("HOME", "/")}
        self.compare()

    def test_below_a_home_with_secrets_around(self):
        home = self.folder / "home" / "mallory.hacker"
        (home / "cuda" / "bin").mkdir(parents=True)
        shutil.copy("/bin/true", home / "cuda/bin/nvcc")
        self.env |= {"HOME": str(home), "USER": "mallory.hacker", "CUDA_HOME": str(home / "cuda"),
                     "LD_LIBRARY_PATH": f"{home}/cuda/lib64:/srv/mallory.hacker/lib",
                     "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
                     "TORCH_HUB_TOKEN": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456",
                     "CMAKE_ARGS": "-DX=https://mallory:hunter2@wheels.acme.com/simple -DK=ghp_0123456789abcdefghijABC"}
        self.compare()
        full = self.recorded().read_text()
        self.assertIn("mallory.hacker", full)
        self.assertNotIn("TORCH_HUB_TOKEN", full)
        text = self.recorded("--redact").read_text()
        for secret in ("mallory", "hacker", "hunter2", "acme", "8932f937", "ghp_", "hf_", str(self.folder)):
            self.assertNotIn(secret, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
