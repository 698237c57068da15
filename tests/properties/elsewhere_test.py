#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No text depends on the machine that replays: the same facts and request give the same bytes from another folder,
home, terminal, language and set of CUDA variables. TCS_TOOL names tcstack, TCS_SOURCE_DIR the repository."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TCS_SOURCE_DIR"])
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C"}
# What rules, searches and texts of the tool read elsewhere, each with a value that would change a verdict.
OTHER = {
    "PATH": "/opt/cuda/bin:/usr/local/cuda/bin", "HOME": "/", "USER": "somebody", "LOGNAME": "somebody", "HOSTNAME": "other",
    "HOST": "other", "LANG": "de_DE.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "de", "COLUMNS": "40", "LINES": "7",
    "TERM": "xterm-256color", "CLICOLOR_FORCE": "1", "FORCE_COLOR": "1", "TZ": "Pacific/Auckland", "TMPDIR": "/",
    "TORCH_CUDA_ARCH_LIST": "3.5;99.9", "CUDAARCHS": "52", "CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void",
    "CUDA_HOME": "/nowhere/bin", "CUDA_PATH": "/nowhere:/else", "CUDACXX": "clang++", "CUDAHOSTCXX": "/no/g++",
    "NVCC_APPEND_FLAGS": "-arch=sm_35", "NVCC_PREPEND_FLAGS": "-ccbin /no/g++", "CUDAFLAGS": "-arch=sm_35",
    "CUDA_FORCE_PTX_JIT": "1", "CUDA_DISABLE_PTX_JIT": "1", "LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs",
    "CC": "ccache gcc", "CXX": "no-such-compiler", "CXXFLAGS": "-D_GLIBCXX_USE_CXX11_ABI=0", "PYTHONPATH": "/nowhere",
    "VIRTUAL_ENV": "/nowhere", "CONDA_PREFIX": "/nowhere", "FORCE_CUDA": "1", "USE_CUDA": "0", "MAX_JOBS": "1",
    "TORCH_CUDA_STACK_TARGETS": "3.5", "TORCH_CUDA_STACK_TOOLKIT": "/nowhere", "TORCH_CUDA_STACK_FACTS": "/nowhere",
}


def machines():
    for path in sorted((ROOT / "tests/machines").glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


class Elsewhere(unittest.TestCase):
    def said(self, folder, verb, env, cwd, *options):
        done = subprocess.run([os.environ["TCS_TOOL"], verb, "--facts", folder / "facts.json", "--request", folder / "request.json",
                               *options], env=env, cwd=cwd, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_the_same_bytes_elsewhere(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            other = folder / "another folder"
            other.mkdir()
            (other / "nvcc").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            (other / "nvcc").chmod(0o755)
            seen = 0
            for stem, machine in machines():
                (folder / "facts.json").write_text(json.dumps(machine["facts"]), encoding="utf-8")
                (folder / "request.json").write_text(json.dumps(machine.get("request", {})), encoding="utf-8")
                for verb, *options in (("check", "--format", "text"), ("check", "--format", "json"), ("plan", "--emit", "json")):
                    with self.subTest(machine=stem, verb=verb, options=options):
                        here = self.said(folder, verb, PLAIN, "/", *options)
                        there = self.said(folder, verb, {**OTHER, "PATH": f"{other}:{OTHER['PATH']}"}, other, *options)
                        self.assertEqual(here, there)
                        self.assertIn(here[0], (0, 1))
                        self.assertNotIn(name.encode(), here[1], "a text names where the recording lies")
                        seen += 1
            self.assertGreater(seen, 300)

    def test_the_same_bytes_with_next_to_no_environment(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            machine = dict(machines())["601-torch-lacks-device-image-hit"]
            (folder / "facts.json").write_text(json.dumps(machine["facts"]), encoding="utf-8")
            (folder / "request.json").write_text(json.dumps(machine["request"]), encoding="utf-8")
            first = self.said(folder, "check", PLAIN, "/")
            for env in ({}, {**PLAIN, "NO_COLOR": "1"}, {**PLAIN, "PATH": ""}, {"HOME": ""}):
                self.assertEqual(first, self.said(folder, "check", env, "/"))


if __name__ == "__main__":
    unittest.main()
