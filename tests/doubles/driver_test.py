#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every state of the driver, with a double of libcuda.so.1 that answers as it is told (see README.md).

Needs TCS_DOUBLES, TCS_DRIVER_PROBE, TCS_DRIVER_FACTS, TCS_TOOL (ctest sets them).
The machine's own driver, if any, is hidden by LD_LIBRARY_PATH; what its kernel shows is not, so the two
states that depend on it are asserted only where there is none.
"""
import json
import os
import subprocess
import unittest
from pathlib import Path

DOUBLES = Path(os.environ["TCS_DOUBLES"])
KERNEL_PART = any(Path(p).exists() for p in
                  ("/proc/driver/nvidia/version", "/sys/module/nvidia", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvmap"))


def environment(script, folder):
    env = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    env["TCS_FAKE_CUDA"] = script
    env["LD_LIBRARY_PATH"] = str(DOUBLES / folder)
    return env


def facts(script, folder="full", timeout_ms=20000):
    done = subprocess.run([os.environ["TCS_DRIVER_FACTS"], str(timeout_ms)], env=environment(script, folder),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, timeout=60)
    answer = json.loads(done.stdout)
    return answer["driver"], answer.get("devices", {})


class Driver(unittest.TestCase):
    def test_two_devices_are_described(self):
        driver, devices = facts("device=12.0,NVIDIA GeForce RTX 5060;device=8.7,Orin \"nvgpu\",integrated;version=13020")
        self.assertEqual(driver["state"], "ok")
        self.assertEqual(driver["cuda"], "13.2")
        self.assertEqual(driver["error"]["code"], 0)
        self.assertEqual(driver["libcuda"][0]["version"], "999.10.01")
        self.assertEqual(driver["libcuda"][0]["path"], str(DOUBLES / "full" / "libcuda.so.1"))
        self.assertEqual(devices["state"], "measured")
        first, second = devices["list"]
        self.assertEqual((first["cc"], first["name"], first["integrated"], first["visible"]),
                         ("12.0", "NVIDIA GeForce RTX 5060", False, True))
        self.assertEqual(first["uuid"], "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f")
        self.assertEqual((second["index"], second["cc"], second["name"], second["integrated"]),
                         (1, "8.7", 'Orin "nvgpu"', True))

    def test_a_device_that_does_not_answer_has_no_capability(self):
        _, devices = facts("device=9.0,H100,error;device=9.0,H100")
        self.assertNotIn("cc", devices["list"][0])
        self.assertIn("error 999", devices["list"][0]["reason"])
        self.assertEqual(devices["list"][1]["cc"], "9.0")

    def test_no_device(self):
        driver, devices = facts("")
        self.assertEqual(driver["state"], "ok")
        self.assertEqual((devices["state"], devices["list"]), ("none", []))

    def test_states_of_cuinit(self):
        for code, state in ((34, "stub"), (803, "mismatch"), (804, "error"), (36, "error")):
            driver, devices = facts(f"init={code};device=9.0,H100")
            self.assertEqual((driver["state"], driver["error"]["code"]), (state, code))
            self.assertNotIn("list", devices)

    @unittest.skipIf(KERNEL_PART, "this machine has a kernel part of the driver")
    def test_not_loaded(self):
        for code in (3, 100, 999):
            driver, devices = facts(f"init={code}")
            self.assertEqual((driver["state"], driver["error"]["code"]), ("no-kernel-module", code))
            self.assertNotIn("state", devices)

    def test_a_hang_is_ended_at_the_deadline(self):
        driver, _ = facts("hang", timeout_ms=500)
        self.assertEqual(driver["state"], "error")
        self.assertIn("no answer in", driver["reason"])

    def test_a_crash_is_a_state(self):
        driver, _ = facts("crash")
        self.assertEqual(driver["state"], "error")
        self.assertIn("signal 11", driver["reason"])

    def test_what_the_driver_prints_is_not_taken_for_the_answer(self):
        driver, devices = facts("noise;device=8.0,A100")
        self.assertEqual(driver["state"], "ok")
        self.assertEqual(devices["list"][0]["cc"], "8.0")

    def test_missing_functions_are_no_crash(self):
        driver, devices = facts("device=8.0,A100", folder="minimal")
        self.assertEqual(driver["state"], "ok")
        self.assertNotIn("state", devices)
        driver, _ = facts("", folder="empty")
        self.assertEqual(driver["state"], "error")
        self.assertIn("no cuInit", driver["reason"])

    def test_a_path_with_a_space_quotes_and_utf_8(self):
        folder = DOUBLES / "a 'b\" \u00fc"
        folder.mkdir(exist_ok=True)
        (folder / "libcuda.so.535.1.2").write_bytes((DOUBLES / "full" / "libcuda.so.1").read_bytes())
        if not (folder / "libcuda.so.1").exists():
            (folder / "libcuda.so.1").symlink_to("libcuda.so.535.1.2")
        driver, _ = facts("", folder=folder.name)
        self.assertEqual(driver["libcuda"][0]["path"], str(folder / "libcuda.so.1"))
        self.assertEqual(driver["version"], "535.1.2")

    def test_a_libcuda_that_does_not_load(self):
        folder = DOUBLES / "torn"
        folder.mkdir(exist_ok=True)
        (folder / "libcuda.so.1").write_bytes((DOUBLES / "full" / "libcuda.so.1").read_bytes()[:100])
        driver, _ = facts("", folder="torn")
        self.assertEqual(driver["state"], "error")
        self.assertIn("does not load", driver["reason"])

    def test_the_probe_stands_alone(self):
        done = subprocess.run([os.environ["TCS_DRIVER_PROBE"]], env=environment("noise;device=9.0,H100", "full"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, timeout=60)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["devices"][0]["cc"], "9.0")
        self.assertIn("No CUDA devices found.", done.stderr)

    def test_tcstack_probe_reports_the_device(self):
        done = subprocess.run([os.environ["TCS_TOOL"], "probe"], env=environment("device=8.6,NVIDIA A10", "full"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, timeout=100)
        self.assertEqual(json.loads(done.stdout)["devices"]["list"][0]["cc"], "8.6")


if __name__ == "__main__":
    unittest.main()
