#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tcstack probe` says of real toolkits: releases, architectures, host compiler limits, a real compile, and the
link farm of a pip toolkit put to use by nvcc. Needs $TCS_TOOL; exit 77 and one line of reason where parts are missing.

The expected architectures were read off the tools themselves: --list-gpu-arch, --list-gpu-code, and for the suffixed
ones `nvcc -gencode arch=compute_Xs,code=sm_Xs --dryrun`, one by one. The limits are those of crt/host_config.h.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import parts  # noqa: E402  (it lies beside this file, not in a package)

TOOL = os.environ.get("TCS_TOOL", "")
SM_12 = "50 52 53 60 61 62 70 72 75 80 86 87 89 90"
SM_13 = ("75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f")
# part -> root in it, nvcc, cudart, gcc and clang majors taken, architectures
TOOLKITS = {
    "toolkit-11.8": (".", "11.8.89", "11.8.89", 11, 14, "35 37 " + SM_12),
    "toolkit-12.4": (".", "12.4.131", "12.4.127", 13, 17, SM_12 + " 90a"),
    "toolkit-13.0": ("nvidia/cu13", "13.0.88", "13.0.96", 15, 20, SM_13),
    "toolkit-13.2": ("nvidia/cu13", "13.2.78", "13.2.75", 15, 21, SM_13),
    "toolkit-13.5": ("nvidia/cu13", "13.5.37", "13.5.37", 16, 22, SM_13 + " 107 107a 107f"),
}
KERNEL = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void k() {}
int main() { int v = 0; k<<<1, 1>>>(); cudaRuntimeGetVersion(&v); std::printf("%d", v); }
"""
ran = set()


def environment(path=()):
    """Ours without anything that names another toolkit or compiler."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
    return {**kept, "PATH": os.pathsep.join([*map(str, path), "/usr/bin", "/bin"])}


def tool(arguments, env, status=0):
    done = subprocess.run([TOOL, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, f"tcstack {arguments}: {done.returncode}: {done.stderr}"
    return done.stdout


class RealToolkits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tcs toolkit ")
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)

    def part(self, name):
        try:
            path = parts.ensure(name)
        except parts.Unavailable as reason:
            self.skipTest(str(reason))
        ran.add(name)
        return path

    def probe(self, *sets, path=()):
        options = [word for value in sets for word in ("--set", value)]
        facts = json.loads(tool(["probe", "--work-dir", self.work, *options], environment(path)))
        return facts, facts["toolkits"]["list"][facts["toolkits"]["selected"]]

    def check(self, name, path=()):
        inside, nvcc, cudart, gcc, clang, archs = TOOLKITS[name]
        root = self.part(name) / inside
        facts, toolkit = self.probe(f"TOOLKIT={root}", path=path)
        self.assertEqual(Path(toolkit["root"]).resolve(), root.resolve())
        self.assertEqual((toolkit["version"], toolkit["ptxas"], toolkit["cudart"]), (nvcc, nvcc, cudart))
        self.assertEqual(toolkit["headers"], nvcc[:4])
        self.assertEqual((toolkit["gcc_max"], toolkit["clang_max"]), (gcc, clang))
        expected = {f"{kind}_{arch}" for arch in archs.split() for kind in ("sm", "compute")}
        self.assertEqual(set(toolkit["archs"]), expected)
        self.assertEqual(len(toolkit["archs"]), len(expected))
        self.assertEqual(list(self.work.iterdir()), [], "the test compile leaves nothing behind")
        return facts, toolkit

    def check_pip(self, name):
        facts, toolkit = self.check(name)
        self.assertIs(toolkit["works"], True, toolkit.get("failure"))
        self.assertEqual(toolkit["cicc"], toolkit["version"])
        self.assertEqual(toolkit["layout"], "pip")
        self.assertEqual(set(toolkit["missing"]), {"lib64", "libcudart.so", "nvrtc"})
        self.assertEqual(facts["host_compiler"]["id"], "GNU")

    def test_13_0(self):
        self.check_pip("toolkit-13.0")

    def test_13_2(self):
        self.check_pip("toolkit-13.2")

    def test_13_5(self):
        self.check_pip("toolkit-13.5")

    def test_12_4_takes_the_machine_s_gcc(self):
        facts, toolkit = self.check("toolkit-12.4")
        self.assertEqual(toolkit["layout"], "distribution")
        if int(facts["host_compiler"]["version"].split(".")[0]) <= 13:
            self.assertIs(toolkit["works"], True, toolkit.get("failure"))
            self.assertEqual(toolkit["cicc"], "12.4.131")

    def test_11_8_takes_gcc_11(self):
        facts, toolkit = self.check("toolkit-11.8", path=[self.part("gxx-11") / "bin"])
        self.assertIs(toolkit["works"], True, toolkit.get("failure"))
        self.assertEqual(facts["host_compiler"]["version"].split(".")[0], "11")

    def test_11_8_refuses_a_newer_gcc_that_the_user_named(self):
        compiler = next((c for c in ("/usr/bin/g++-14", "/usr/bin/g++-13", "/usr/bin/g++-12") if os.path.exists(c)), "")
        if not compiler:
            self.skipTest("no g++-12 or newer under /usr/bin")
        facts, toolkit = self.probe(f"TOOLKIT={self.part('toolkit-11.8')}", f"CMAKE_CUDA_HOST_COMPILER={compiler}")
        self.assertIs(toolkit["works"], False)
        self.assertEqual(toolkit["failure"]["kind"], "host-compiler")
        self.assertIn("unsupported GNU version! gcc versions later than 11", toolkit["failure"]["text"])
        self.assertNotIn("fitting_host_compiler", toolkit)
        self.assertEqual(facts["host_compiler"]["path"], compiler)

    def test_11_8_names_a_compiler_that_it_takes(self):
        fits = self.part("gxx-11") / "bin"
        (self.work / "bin").mkdir()
        (self.work / "bin/g++-11").symlink_to(fits / "g++-11")
        # nvcc's own choice is the machine's gcc: the wrapper that looks for gcc 11 is not asked.
        env = {**environment([self.work / "bin"]), "NVCC_APPEND_FLAGS": ""}
        root = self.part("toolkit-11.8")
        if subprocess.run([root / "bin/nvcc", "-c", "-x", "cu", "/dev/null", "-o", self.work / "o"], env=environment(),
                          capture_output=True, check=False).returncode == 0:
            self.skipTest("this machine's own gcc is taken by 11.8")
        out = tool(["probe", "--work-dir", self.work, "--set", f"TOOLKIT={root}"], env)
        toolkit = json.loads(out)["toolkits"]["list"][0]
        self.assertTrue(toolkit["works"] or toolkit["fitting_host_compiler"].endswith("g++-11"), toolkit)

    def test_the_machine_s_own(self):
        nvcc = Path("/usr/local/cuda/bin/nvcc")
        if not nvcc.exists():
            self.skipTest("no toolkit in /usr/local/cuda")
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        facts, toolkit = self.probe(path=[nvcc.parent])
        self.assertIn(f"V{toolkit['version']}", said)
        self.assertEqual(facts["toolkits"]["on_path"], toolkit["version"])
        self.assertEqual(len({entry["root"] for entry in facts["toolkits"]["list"]}), len(facts["toolkits"]["list"]))
        ran.add("machine")

    def test_farm_is_a_root_that_nvcc_and_the_linker_use(self):
        root = self.part("toolkit-13.2") / "nvidia/cu13"
        build = self.work / "build"
        # The build tree's path holds a blank, at which CMake would cut it: the farm lies in the user's cache.
        cache = tempfile.TemporaryDirectory(prefix="tcs-cache-")
        self.addCleanup(cache.cleanup)
        for _ in range(2):  # laid twice: the second time nothing changes
            tool(["configure", "--dir", build, "--set", f"TOOLKIT={root}", "--set", "FAIL_ON=never",
                  "--set", "TORCH_CUDA_ARCH_LIST=9.0", "--set", f"CACHE_DIR={cache.name}"], environment())
            self.assertFalse((build / "toolkit").exists())
            farm, = Path(cache.name, "toolkits").iterdir()
            self.assertEqual((farm / "lib64/libcudart.so").resolve(), root / "lib/libcudart.so.13")
        source = self.work / "k.cu"
        source.write_text(KERNEL, encoding="ascii")
        dry = subprocess.run([farm / "bin/nvcc", "--dryrun", "-c", source], env=environment(), capture_output=True,
                             text=True, check=True).stderr
        self.assertIn(f"#$ TOP={farm}/bin/..\n", dry)
        subprocess.run([farm / "bin/nvcc", "--cudart=shared", source, "-o", self.work / "k"], env=environment(), check=True)
        shown = subprocess.run([self.work / "k"], env={"LD_LIBRARY_PATH": str(farm / "lib64")}, capture_output=True,
                               text=True, check=True).stdout
        self.assertEqual(shown, "13020")


if __name__ == "__main__":
    if not TOOL:
        print("toolkit_facts.py: skip: TCS_TOOL does not name the tool")
        sys.exit(77)
    program = unittest.main(exit=False)
    if program.result.wasSuccessful() and not ran:
        print("toolkit_facts.py: skip: no real toolkit could be had")
        sys.exit(77)
    sys.exit(0 if program.result.wasSuccessful() else 1)
