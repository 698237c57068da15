#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tcstack configure` with a driver double: images that are built and tried, cuInit once, one cache for many.

    configure_test.py CLASS...    exit 0 good, 1 not, 77 when nothing could be tried (says why)

Images are compiled by a real nvcc and judged by the double, which reads them. Needs TCS_TOOL, TCS_DOUBLES, TCS_SOURCE_DIR.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import chain_test
import toolkits
from chain_test import NAMESPACE, TOOL, WORK, fake_torch, machine_toolkit
from situations_test import (A100, CUDA, DEADLINE, GEFORCE, GPU1, H100, LAY, SETUP_FAILED, TRIES, Row, check_namespaces,
                             environment)

ORIN = "device=8.7,Orin (nvgpu),integrated"
WARM = "8.0+PTX;8.6;8.7;9.0+PTX;9.0a;12.0+PTX"  # every image that the rows below ask for
KINDS = ("images", "answers")


class Configure(unittest.TestCase):
    laid = True

    @classmethod
    def setUpClass(cls):
        cls.toolkit = machine_toolkit()
        cls.venv = fake_torch(cls.toolkit, ["75", "80", "86", "90", "100", "120"], "120")
        check_namespaces()

    def setUp(self):
        self.scratch = Path(tempfile.mkdtemp(dir=WORK))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.log = self.scratch / "calls"

    def command(self, row, directory, arch_list=""):
        sets = [f"--set=TORCH_CUDA_ARCH_LIST={arch_list}"] if arch_list else []
        lay = [*NAMESPACE, "sh", LAY, *row.lay, "--"] if self.laid else []
        return [*lay, TOOL, "configure", "--dir", directory, *sets, *row.arguments]

    def environment(self, row, cache, deadline=60):
        return {**environment(self, row), "TORCH_CUDA_STACK_CACHE_DIR": str(cache), "TCS_DOUBLE_LOG": str(self.log),
                "TORCH_CUDA_STACK_TIMEOUT": str(deadline), **row.env}

    def configure(self, row, cache, directory="build", arch_list="", deadline=60):
        """The process, its report and facts."""
        directory = self.scratch / directory
        done = subprocess.run(list(map(str, self.command(row, directory, arch_list))),
                              env=self.environment(row, cache, deadline), capture_output=True, text=True, timeout=300)
        if done.returncode == SETUP_FAILED:
            self.skipTest(done.stderr.strip())
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done, *(json.loads((directory / name).read_text()) for name in ("report.json", "facts.json"))

    def calls(self, name):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.split(" ")[0] == name]


def tried(facts):
    """{"0 sm_90": "runs", "refused 209", or "open 2": not answered}"""
    return {f"{device['index']} {image['image']}": " ".join([image.get("result", "open"), *map(str, filter(None, [image.get("error")]))])
            for device in facts["devices"]["list"] for image in device.get("image_probe", [])}


class Tried:
    """One row: what becomes of each image, beside the findings."""

    def __init__(self, name, says, arch_list, images, want, outcome, also=(), **more):
        self.row = Row(name, says, want, outcome, also=also, **more)
        self.arch_list, self.images = arch_list, images


IMAGES = [
    Tried("a cubin of the device's own runs", f"{H100};{CUDA}", "", {"0 sm_90": "runs"}, [], "ok"),
    Tried("an image of another major is refused and its device is left out", f"{H100};{CUDA}", "8.6",
          {"0 sm_86": "refused 209"}, ["TCS909 arch warning: NVIDIA H100"], "warn"),
    Tried("code of one architecture runs on its device alone", f"{H100};{GEFORCE};{CUDA}", "9.0a;12.0",
          {"0 sm_90a": "runs", "0 sm_120": "refused 209", "1 sm_90a": "refused 209", "1 sm_120": "runs"}, [], "ok"),
    Tried("two unlike boards run each its own", f"device=8.6,NVIDIA A10;{GEFORCE};{CUDA}", "",
          {"0 sm_86": "runs", "0 sm_120": "refused 209", "1 sm_86": "refused 209", "1 sm_120": "runs"}, [], "ok"),
    Tried("an older cubin of the same major runs", f"device=8.9,NVIDIA L4;{CUDA}", "8.6", {"0 sm_86": "runs"}, [], "ok"),
    Tried("PTX is compiled by the driver", f"device=13.0,NVIDIA Future;version=13040", "12.0+PTX",
          {"0 sm_120": "refused 209", "0 compute_120": "runs"}, ["TCS912 arch warning: only PTX serves it"], "warn"),
    Tried("a driver that lies about its CUDA is found out by PTX",
          f"device=13.0,NVIDIA Future;version=13040;fail=cuModuleLoadData@compute_120:222", "12.0+PTX",
          {"0 sm_120": "refused 209", "0 compute_120": "refused 222"}, ["TCS922 probe warning: compute_120"], "warn",
          also=("222",)),
    Tried("a driver without its PTX compiler is 221", f"{H100};{CUDA};nojit", "8.0+PTX",
          {"0 sm_80": "refused 209", "0 compute_80": "refused 221"}, ["TCS922 probe warning: compute_80"], "warn",
          also=("221",)),
    Tried("a hang in the PTX compiler leaves what cubins do known", f"{H100};{CUDA};hang=cuModuleLoadData@compute_90",
          "9.0+PTX", {"0 sm_90": "runs", "0 compute_90": "hang"}, ["TCS922 probe warning: compute_90 hangs"], "warn"),
    Tried("PTX of a newer CUDA than the driver's is 222", f"{GEFORCE};version=12090", "12.0+PTX",
          {"0 sm_120": "runs", "0 compute_120": "refused 222"}, ["TCS204 driver warning: too old for CUDA 13"], "warn"),
    Tried("a board that refuses its own cubin is an error", f"{H100};{CUDA};fail=cuModuleLoadData@sm_90:209", "",
          {"0 sm_90": "refused 209"}, ["TCS922 probe error: sm_90"], "fail"),
    Tried("a kernel that answers wrong is an error", f"{H100};{CUDA};wrong=@sm_90", "", {"0 sm_90": "wrong"},
          ["TCS922 probe error: sm_90"], "fail"),
    Tried("a kernel that fails is an error", f"{H100};{CUDA};fail=cuCtxSynchronize:719", "", {"0 sm_90": "refused 719"},
          ["TCS922 probe error: sm_90"], "fail"),
    Tried("one image crashes and the others are answered", f"{H100};{CUDA};crash=cuModuleLoadData@sm_90a", "9.0;9.0a;8.0",
          {"0 sm_90": "runs", "0 sm_90a": "crash", "0 sm_80": "refused 209"}, ["TCS922 probe warning: sm_90a crashes"], "warn"),
    Tried("the image of one board crashes and the other's runs", f"{A100};{GEFORCE};{CUDA};abort=cuLaunchKernel@sm_120", "",
          {"0 sm_80": "runs", "0 sm_120": "refused 209", "1 sm_80": "refused 209", "1 sm_120": "crash"},
          ["TCS922 probe error: sm_120"], "fail"),
    Tried("a hang in cuModuleLoadData ends at the deadline", f"{H100};{CUDA};hang=cuModuleLoadData", "",
          {"0 sm_90": "hang"}, ["TCS922 probe error: sm_90"], "fail"),
    Tried("a kernel that is not in the image is an error", f"{H100};{CUDA};fail=cuModuleGetFunction:500", "",
          {"0 sm_90": "refused 500"}, ["TCS922 probe error: 500"], "fail"),
    Tried("a board without memory left is not blamed on the image", f"{H100};{CUDA};fail=cuMemAlloc_v2:2", "",
          {"0 sm_90": "open 2"}, ["TCS190 device unknown: image_probe"], "ok", also=("CUDA_ERROR_OUT_OF_MEMORY",)),
    Tried("a board that another program has is not blamed on the image", f"{H100},exclusive,busy;{CUDA}", "", {"0 sm_90": "open 46"},
          ["TCS214 driver warning: cuDevicePrimaryCtxRetain answers 46"], "warn"),
    Tried("an image on a MIG instance", f"{A100},mig=1g.5gb+2g.10gb;{CUDA}", "", {"0 sm_80": "runs"}, [], "ok", nvml=""),
    Tried("a board that fell off the bus leaves the other its images",
          f"{H100};{GEFORCE};{CUDA};fail=cuDevicePrimaryCtxRetain@1:999", "9.0;12.0",
          {"0 sm_90": "runs", "0 sm_120": "refused 209", "1 sm_90": "open 999", "1 sm_120": "open 999"}, ["TCS105 device warning: (lost)"], "warn",
          nvml=f"{H100};{GEFORCE},lost"),
    Tried("a mask by UUID is tried on that board alone", f"{H100};{GEFORCE};{CUDA}", "", {"0 sm_120": "runs"}, [], "ok",
          CUDA_VISIBLE_DEVICES=GPU1),
    Tried("an Orin that takes desktop code is asked, not predicted", f"{ORIN};{CUDA}", "8.0", {"0 sm_80": "runs"}, [], "ok"),
    Tried("an Orin that refuses desktop code is asked, not predicted", f"{ORIN};{CUDA}", "8.0", {"0 sm_80": "refused 209"},
          ["TCS611 torch warning: 8.7", "TCS909 arch warning: Orin"], "warn", TCS_DOUBLE_ORACLE="13.0.88"),
]


def rows_of(rows):
    def decorate(test):
        for tried_row in rows:
            name = "test_" + re.sub(r"\W", "_", tried_row.row.name)
            assert not hasattr(test, name), name
            setattr(test, name, lambda self, tried_row=tried_row: self.one(tried_row))
        return test
    return decorate


@rows_of(IMAGES)
class Images(Configure):
    """Each image on each device, one row a situation."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = Path(tempfile.mkdtemp(dir=WORK))
        cls.addClassCleanup(shutil.rmtree, cls.cache)
        warm = cls("warm")
        warm.setUp()
        try:  # with all images in the cache a row's deadline is the driver's alone
            warm.configure(Row("", f"{H100};{CUDA}", [], "ok"), cls.cache, arch_list=WARM)
            begin = time.monotonic()
            warm.configure(Row("", f"{H100};{CUDA}", [], "ok"), cls.cache, "again", arch_list=WARM)
            cls.usual_s = time.monotonic() - begin
        finally:
            warm.doCleanups()

    def warm(self):
        """Not a test: the instance that warms the cache."""

    def one(self, wanted):
        row = wanted.row
        for attempt in range(TRIES):
            self.log.unlink(missing_ok=True)
            begin = time.monotonic()
            done, report, facts = self.configure(row, self.cache, f"build{attempt}", wanted.arch_list, row.deadline)
            seconds = time.monotonic() - begin
            if row.deadline != DEADLINE or seconds < self.usual_s + DEADLINE + 1:
                break
        said = report["findings"]
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {row.name} ({seconds:.1f} s, {report['outcome']}, {tried(facts)})", file=sys.stderr)
            for f in said:
                print(f"  {f['id']} {f['layer']} {f['severity']}: {f['message']}", file=sys.stderr)
        self.assertEqual(tried(facts), wanted.images, facts["devices"])
        if row.want is not None:
            self.assertEqual([f"{f['id']} {f['layer']} {f['severity']}" for f in said],
                             [want.split(":")[0] for want in row.want], json.dumps(said))
            for finding, want in zip(said, row.want):
                self.assertIn(want.partition(": ")[2], finding["message"])
        if row.outcome is not None:
            self.assertEqual(report["outcome"], row.outcome)
        for text in row.also:
            self.assertIn(text, json.dumps(said))
        if row.deadline == DEADLINE:
            self.assertLess(seconds, self.usual_s + DEADLINE + 1)
        crashes = [result for result in tried(facts).values() if result == "crash"]
        self.assertEqual(len(self.calls("cuInit")), 1 + len(crashes))


class Once(Configure):
    """What cuInit costs is paid once. On the machine as it is: files that are laid anew are no unchanged machine."""
    laid = False

    def test_cuInit_is_called_once_for_devices_and_images_and_not_again_where_nothing_changed_with_a_driver_double(self):
        row = Row("", f"{H100};{GEFORCE};{CUDA}", [], "ok", nvml="")
        cache = self.scratch / "cache"
        done, report, facts = self.configure(row, cache)
        self.assertEqual(report["findings"], [])
        self.assertEqual(len(tried(facts)), 4)
        self.assertEqual((len(self.calls("cuInit")), len(self.calls("nvmlInit_v2"))), (1, 1))
        self.assertEqual(len(self.calls("cuModuleLoadData")), 4)
        self.log.unlink()
        done, again, facts_again = self.configure(row, cache)
        self.assertEqual((again, facts_again), (report, facts))
        self.assertEqual([self.calls(name) for name in ("cuInit", "nvmlInit_v2", "cuModuleLoadData")], [[], [], []])
        row.env["CUDA_VISIBLE_DEVICES"] = "0"  # something changed
        done, _, facts = self.configure(row, cache)
        self.assertEqual(tried(facts), {"0 sm_90": "runs"})
        self.assertEqual(len(self.calls("cuInit")), 1)

    def test_an_image_of_the_cache_is_tried_as_a_new_one_with_a_driver_double(self):
        row = Row("", f"{H100};{CUDA}", [], "ok")
        cache = self.scratch / "cache"
        _, first, _ = self.configure(row, cache, "one")
        _, second, facts = self.configure(row, cache, "two")
        self.assertEqual(first, second)
        self.assertEqual(tried(facts), {"0 sm_90": "runs"})
        self.assertEqual(len(self.calls("cuInit")), 2)
        for file in (cache / "images").iterdir():  # a torn one is no image
            file.write_bytes(file.read_bytes()[:-100])
        _, third, facts = self.configure(row, cache, "three")
        self.assertEqual(tried(facts), {"0 sm_90": "runs"})
        self.assertEqual(third, first)


class Together(Configure):
    """Eight configures that know nothing of each other."""

    def whole(self, file):
        """Every file of the cache is what its own form says."""
        data = file.read_bytes()
        if file.parent.name == "answers":
            json.loads(data)
        elif file.parent.name == "images":
            head, _, rest = data.partition(b"\n")
            words = head.split(b" ")
            self.assertEqual(words[0], b"torch-cuda-stack/image/1")
            self.assertEqual(len(rest), int(words[1]) + int(words[2]), file)
            image = rest[int(words[1]):]
            self.assertTrue(image[:4] == b"\x7fELF" or b".version" in image, file)
        else:
            self.fail(f"what is {file}?")

    def test_eight_at_once_share_a_cold_cache_without_a_torn_file_with_a_driver_double(self):
        row = Row("", f"{H100};{GEFORCE};{CUDA}", [], "ok", nvml="")
        cache = self.scratch / "cache"
        env = self.environment(row, cache, 120)
        children = [subprocess.Popen(list(map(str, self.command(row, self.scratch / f"build{i}", "9.0;12.0+PTX"))), env=env,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i in range(8)]
        said = [child.communicate(timeout=400) for child in children]
        self.assertEqual([child.returncode for child in children], [0] * 8, said)
        self.assertEqual(said, [("", "")] * 8)
        self.assertEqual(len(self.calls("cuInit")), 8)
        reports = [json.loads((self.scratch / f"build{i}/report.json").read_text()) for i in range(8)]
        facts = [json.loads((self.scratch / f"build{i}/facts.json").read_text()) for i in range(8)]
        self.assertEqual(reports, [reports[0]] * 8)
        for one in facts:
            one["host"].pop("memory_mib")  # of the moment
        self.assertEqual(facts, [facts[0]] * 8)
        self.assertEqual(len(tried(facts[0])), 6)
        files = [file for file in cache.rglob("*") if file.is_file()]
        self.assertEqual({file.parent.name for file in files} & set(KINDS), set(KINDS))
        for file in files:
            self.whole(file)
            self.assertRegex(file.name, r"^[\w-]+\.(json|image)$")  # no leftover of a write
        for i in range(8):
            left = [p.name for p in (self.scratch / f"build{i}").rglob("*") if "try" in p.name or "tmp" in p.name]
            self.assertEqual(left, [])


class Oracle(Configure):
    """`tcstack probe --try all` on each device that the oracle knows: what runs is its row."""

    def try_all(self, toolkit, release):
        """The devices, and the facts of a machine that has them all."""
        devices = toolkits.devices_of(release)
        says = ";".join(["version=13050", *(f"device={n // 10}.{n % 10},NVIDIA {n}" for n in devices)])
        row = Row("", says, [], "ok", TCS_DOUBLE_ORACLE=release, PATH=f"{toolkit.nvcc.parent}:/usr/bin:/bin",
                  TORCH_CUDA_STACK_TOOLKIT=str(toolkit.nvcc.parent.parent))
        done = subprocess.run([*NAMESPACE, "sh", LAY, *row.lay, "--", TOOL, "probe", "--try", "all", "--work-dir",
                               str(self.scratch / "work")], env=self.environment(row, self.scratch / "cache", 120),
                              capture_output=True, text=True, timeout=400)
        if done.returncode == SETUP_FAILED:
            self.skipTest(done.stderr.strip())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return devices, json.loads(done.stdout)

    def compare(self, toolkit):
        release = toolkits.oracle_release(toolkit.release)
        if release is None:
            self.skipTest(f"the oracle was not asked about CUDA {toolkit.release}")
        devices, facts = self.try_all(toolkit, release)
        chosen = facts["toolkits"]["list"][facts["toolkits"]["selected"]]
        self.assertTrue(chosen["version"].startswith(toolkit.release), chosen["version"])
        built = {b["image"] for b in chosen["builds"] if b["result"] == "built"}
        self.assertEqual([b for b in chosen["builds"] if b["result"] != "built"], [])
        self.assertLessEqual({f"sm_{n}" for n in devices}, built)
        said, differ = tried(facts), []
        for index, device in enumerate(devices):
            for image in sorted(built):
                runs = said.get(f"{index} {image}") == "runs"
                if runs != self.takes(release, device, image):
                    differ.append(f"{image} on {device}: {said.get(f'{index} {image}')}")
        print(f"nvcc {chosen['version']}: {len(said)} pairs, {len(devices)} devices, {len(built)} images", file=sys.stderr)
        self.assertEqual(differ, [])
        self.assertEqual(len(said), len(devices) * len(built))
        self.assertEqual(len(self.calls("cuInit")), 1)

    def takes(self, release, device, image):
        kind, arch = image.split("_")
        if kind == "sm":
            return arch in toolkits.row(release, device)
        number, suffix = toolkits.split_arch(arch)
        return {"": device >= number, "a": device == number,
                "f": device >= number and device // 10 == number // 10}[suffix]

    def test_what_runs_is_what_nvlink_takes_on_each_device_with_a_driver_double(self):
        self.compare(self.toolkit)

    def test_the_same_of_cuda_12_4_and_its_older_form_of_cubins_with_a_driver_double(self):
        self.compare(chain_test.part_toolkit("toolkit-12.4"))

    def test_the_same_of_cuda_13_5_when_orin_takes_desktop_code_with_a_driver_double(self):
        self.compare(chain_test.part_toolkit("toolkit-13.5"))


if __name__ == "__main__":
    sys.exit(chain_test.main(sys.argv[1:] or ["Images", "Once", "Together", "Oracle"], sys.modules[__name__]))
