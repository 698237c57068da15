#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The double of libcuda.so.1 and the product against NVIDIA's answers, with real images of real toolkits.

    images_test.py CLASS...    exit 0 good, 1 not, 77 when nothing could be tried (says why)

What is compared: the double's answer to a real cubin against tests/oracles/nvlink-cubin-compat.json (it must read the
image for that), and `tcstack check`'s prediction for the same pair. Needs TCS_TOOL, TCS_DOUBLES, TCS_ASK, TCS_SOURCE_DIR.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import toolkits
from toolkits import RELEASES, build_images, code_of, devices_of, nvcc_of, row, split_arch

TOOL = os.environ["TCS_TOOL"]
DOUBLES = Path(os.environ["TCS_DOUBLES"])
WORK = DOUBLES / "images"
# Whose cubins are given, "" the machine's own; 13.2 builds nothing that the others do not.
TOOLKITS = ("toolkit-13.5", "", "toolkit-12.4", "toolkit-11.8")

# Where prediction and oracle differ, by design: between desktop and Tegra the product answers neither yes nor no (a
# warning; a device that is present is asked). nvlink takes these from 13.2 on and refuses them before.
ACROSS_TEGRA = {53: {"50", "52"}, 62: {"60", "61"}, 72: {"70"}, 75: {"72"}, 87: {"80", "86"}, 88: {"80", "86", "87"},
                89: {"87", "88"}}


def capability(number):
    return f"{number // 10}.{number % 10}"


def boards(numbers, cuda=13050):
    return ";".join([f"version={cuda}", *(f"device={capability(n)},NVIDIA {n}" for n in numbers)])


def ask(numbers, files, oracle="", cuda=13050, **env):
    """{(device, file): "runs" or "load 209", value} from the double alone."""
    env = {**os.environ, "TCS_FAKE_CUDA": boards(numbers, cuda), "LD_LIBRARY_PATH": str(DOUBLES / "full"), **env}
    env.pop("CUDA_VISIBLE_DEVICES", None)
    if oracle:
        env["TCS_DOUBLE_ORACLE"] = oracle
    done = subprocess.run([os.environ["TCS_ASK"], *map(str, files)], env=env, capture_output=True, text=True,
                          timeout=60)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    answers = {}
    for line in done.stdout.splitlines():
        device, file, step, error, value = line.split(" ")
        answers[numbers[int(device)], Path(file)] = (step if step == "runs" else f"{step} {error}", int(value))
    return answers


def cubins():
    """{"90a": {"13.0": (cubin, PTX)}} of each toolkit that is here; its archs are those of the oracle's rows."""
    found = {}
    for name in TOOLKITS:
        try:
            nvcc = nvcc_of(name)
            full = toolkits.oracle_release(toolkits.release_of(nvcc))
            if full is None:
                continue
            archs = sorted(toolkits.ORACLE[full], key=split_arch)
            for arch, pair in build_images(nvcc, archs, WORK).items():
                found.setdefault(arch, {})[full] = pair
        except unittest.SkipTest:
            continue
    if not found:
        raise unittest.SkipTest("none of the oracle's toolkits is here")
    return found


class Double(unittest.TestCase):
    """The double alone."""

    @classmethod
    def setUpClass(cls):
        cls.images = cubins()

    def test_each_device_takes_the_real_cubins_that_nvlink_takes_in_each_release(self):
        pairs, kinds = 0, set()
        for release in RELEASES:
            archs = [a for a in toolkits.ORACLE[release] if a in self.images]
            # Of the same release where that is here: cubins of CUDA 12 and 13 are different ELF files.
            of = {a: self.images[a].get(release) or next(iter(self.images[a].values())) for a in archs}
            answers = ask(devices_of(release), [of[a][0] for a in archs], release)
            for device in devices_of(release):
                for arch in archs:
                    answer, value = answers[device, of[arch][0]]
                    with self.subTest(release=release, device=device, cubin=arch):
                        taken = arch in row(release, device)
                        self.assertEqual(answer, "runs" if taken else "load 209")
                        if taken:
                            self.assertEqual(value, code_of(arch))
                    pairs += 1
            kinds |= {of[a][0].read_bytes()[7] for a in archs}
        print(f"{pairs} pairs of device and cubin; ELF forms {sorted(map(hex, kinds))}", file=sys.stderr)
        self.assertGreater(pairs, 200)

    def test_cubins_of_one_architecture_are_the_same_to_a_device_whichever_release_made_them(self):
        devices = devices_of(RELEASES[-1])
        for arch, made in self.images.items():
            answers = ask(devices, [pair[0] for pair in made.values()])
            for device in devices:
                with self.subTest(device=device, cubin=arch):
                    self.assertEqual(len({answers[device, pair[0]] for pair in made.values()}), 1)

    def test_an_orin_takes_desktop_code_by_the_newer_releases_only(self):
        images = [self.images[a] for a in ("80", "87")]
        files = [next(iter(made.values()))[0] for made in images]
        for release, expected in (("13.0.88", "load 209"), ("13.2.78", "runs")):
            self.assertEqual(ask([87], files, release)[87, files[0]][0], expected)
            self.assertEqual(ask([87], files, release)[87, files[1]][0], "runs")

    def test_ptx_goes_up_and_a_suffix_binds_it(self):
        made = [(arch, pair) for arch, of in self.images.items() for pair in list(of.values())[:1]]
        devices = devices_of(RELEASES[-1])
        answers = ask(devices, [pair[1] for _, pair in made])
        for arch, pair in made:
            number, suffix = split_arch(arch)
            for device in devices:
                fits = {"": device >= number, "a": device == number,
                        "f": device >= number and device // 10 == number // 10}[suffix]
                with self.subTest(device=device, ptx=arch):
                    self.assertEqual(answers[device, pair[1]], ("runs", code_of(arch)) if fits else ("load 218", 0))

    def test_ptx_of_a_newer_cuda_than_the_driver_s_is_222(self):
        for release, pair in self.images["90"].items():
            major, minor = map(int, release.split(".")[:2])
            own = major * 1000 + minor * 10
            self.assertEqual(ask([90], [pair[1]], cuda=own)[90, pair[1]][0], "runs")
            self.assertEqual(ask([90], [pair[1]], cuda=own - 10)[90, pair[1]][0], "load 222")
            self.assertEqual(ask([90], [pair[0]], cuda=own - 10)[90, pair[0]][0], "runs")

    def test_what_is_no_image_is_200_and_switches_of_the_jit_are_obeyed(self):
        WORK.mkdir(exist_ok=True)
        garbage = WORK / "garbage"
        garbage.write_bytes(b"\x7fEL not an image")
        cubin, ptx = next(iter(self.images["90"].values()))
        files = [garbage, cubin, ptx]
        self.assertEqual([ask([90], files)[90, f][0] for f in files], ["load 200", "runs", "runs"])
        forced = ask([90], files, CUDA_FORCE_PTX_JIT="1")
        self.assertEqual([forced[90, f][0] for f in files], ["load 200", "load 209", "runs"])
        off = ask([90], files, CUDA_DISABLE_PTX_JIT="1")
        self.assertEqual([off[90, f][0] for f in files], ["load 200", "runs", "load 223"])

    def test_of_a_fat_binary_the_nearest_cubin_is_taken_else_its_ptx(self):
        nvcc = nvcc_of("")
        fat = WORK / "several.fatbin"
        subprocess.run([nvcc, "-fatbin", "-gencode=arch=compute_80,code=[sm_80,compute_80]",
                        "-gencode=arch=compute_86,code=sm_86", toolkits.HERE / "image.cu", "-o", fat], check=True)
        answers = ask([75, 80, 89, 90], [fat])
        self.assertEqual([answers[d, fat] for d in (75, 80, 89)],
                         [("load 209", 0), ("runs", code_of("80")), ("runs", code_of("86"))])
        self.assertIn(answers[90, fat], [("runs", code_of("80")), ("load 209", 0)])  # 209: no libzstd here


class Prediction(unittest.TestCase):
    """`tcstack check` beside the double."""

    @classmethod
    def setUpClass(cls):
        cls.images = cubins()

    def predicted(self, arch, devices):
        """{device: cubin, none, cross-tegra} for a PyTorch with this image alone."""
        facts = {"schema": "torch-cuda-stack/facts/1", "torch": {
            "state": "found", "version": "2.15.0+cu130", "flavour": "cuda", "cuda": "13.0", "images": [f"sm_{arch}"]}}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "facts.json"
            file.write_text(json.dumps(facts))
            done = subprocess.run([TOOL, "check", "--format", "json", "--facts", file, "--targets",
                                   ";".join(map(capability, devices))], capture_output=True, text=True, timeout=60)
        coverage = json.loads(done.stdout)["coverage"]
        return {int(float(c["target"]) * 10 + 0.5): c["torch"] for c in coverage}

    def test_what_is_predicted_is_what_runs_with_a_driver_double(self):
        """Each device by the newest release that knows it, with a real cubin of each architecture."""
        devices = sorted({d for release in RELEASES for d in devices_of(release)})
        of = {arch: next(iter(made.values()))[0] for arch, made in self.images.items()}
        answers = ask(devices, of.values())
        pairs, across, differ = 0, 0, []
        for arch, file in of.items():
            said = self.predicted(arch, devices)
            self.assertEqual(sorted(said), devices)
            for device in devices:
                pairs += 1
                runs = answers[device, file][0] == "runs"
                if arch in ACROSS_TEGRA.get(device, ()):
                    across += 1
                    self.assertEqual(said[device], "cross-tegra", f"sm_{arch} on {device}")
                elif said[device] != ("cubin" if runs else "none"):
                    differ.append(f"sm_{arch} on {device}: predicted {said[device]}, the double {answers[device, file]}")
        print(f"{pairs} pairs predicted, {across} across Tegra", file=sys.stderr)
        self.assertEqual(differ, [])


def main(names):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names, sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    if result.testsRun == 0 or result.skipped:
        print("skipped: " + "; ".join(sorted({reason for _, reason in result.skipped})))
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["Double", "Prediction"]))
