#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real user-mode drivers without a kernel module: 535.261.03, 550.163.01, the toolkit's link stub, each alone and
mixed as machines have them. Needs $TCS_TOOL; exit 77 and one line of reason where parts are missing, and on a machine
whose own driver is loaded (there cuInit answers something else).

Run by root, the real libcuda makes /dev/nvidiactl, which is taken away again.
"""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import parts  # noqa: E402  (it lies beside this file, not in a package)

TOOL = os.environ.get("TCS_TOOL", "")
RELEASES = {"driver-535": ("535.261.03", "12.2"), "driver-550": ("550.163.01", "12.4")}
OTHERS = {"driver-535": "driver-550", "driver-550": "driver-535"}
KERNEL_PART = ("/proc/driver/nvidia/version", "/sys/module/nvidia", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvmap")
NODE = Path("/dev/nvidiactl")
NVML_NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED of nvml.h
NOBODY = 65534
AARCH64 = 183  # e_machine, of elf.h
ran = set()


def at_its_name(folder, name, target):
    """A symlink `folder`/`name`, as a package lays it beside libcuda.so.<release>."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(target)
    return folder


class RealDrivers(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory(prefix="tcs drivers ")
        self.addCleanup(temp.cleanup)
        self.addCleanup(self.take_node_away)
        self.work = Path(temp.name)

    def take_node_away(self):
        """No module is loaded: the node serves nobody."""
        if os.geteuid() == 0 and NODE.exists():
            NODE.unlink()

    def folder(self, name):
        try:
            path = parts.ensure(name)
        except parts.Unavailable as reason:
            self.skipTest(str(reason))
        ran.add(name)
        if name != "cuda-stub":
            return path / "lib"
        stubs = self.work / "lib64/stubs"  # where a toolkit has it
        stubs.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, stubs / "libcuda.so.1")
        return stubs

    def library(self, name):
        return self.folder(name) / "libcuda.so.1"

    def copy(self, name, folder):
        """A copy of a driver's libcuda under its own release, with the link that is loaded."""
        real = self.library(name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(real, folder / real.name)
        (folder / "libcuda.so.1").symlink_to(real.name)
        return folder / real.name

    # ---- asking

    def tool(self, arguments, path, env=None, user=None, tool=TOOL):
        command = [tool, *map(str, arguments)]
        if user is not None:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        # dict order: what is asked for comes last
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.work), "LC_ALL": "C.UTF-8", "TORCH_CUDA_STACK_CACHE_DIR": "OFF",
               "LD_LIBRARY_PATH": os.pathsep.join(map(str, path)), **(env or {})}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)

    def probe(self, *path, **how):
        """(facts on the driver, the report) of this machine with these folders on the loader's path."""
        recorded = self.work / "machine.json"
        done = self.tool(["probe"], path, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded.write_text(done.stdout)
        live = json.loads(self.tool(["check", "--format", "json"], path, **how).stdout)
        replayed = json.loads(self.tool(["check", "--strict", "--facts", recorded, "--format", "json"], []).stdout)
        self.assertEqual(live, replayed)
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {self.id()}\n{self.tool(['check'], path, **how).stdout}", file=sys.stderr)
        facts = json.loads(done.stdout)
        self.assertNotEqual(facts["devices"].get("state"), "measured")
        return facts["driver"], live

    def said(self, report):
        return [f"{f['id']} {f['severity']}" for f in report["findings"]
                if f["layer"] in ("driver", "probe", "device") and f["severity"] != "unknown"]

    def loaded(self, driver):
        rows = [row for row in driver["libcuda"] if row["role"] == "loaded"]
        self.assertEqual(len(rows), 1, driver)
        return rows[0]

    def others(self, driver):
        rows = [row for row in driver.get("libcuda", []) if row["role"] == "other"]
        return {(str(Path(row["path"]).resolve()), row.get("version"), row["kind"]) for row in rows
                if Path(row["path"]).resolve().is_relative_to(parts.root().resolve())
                or self.work in Path(row["path"]).parents}

    def other(self, name):
        """How a part is named among those that do not load."""
        return (str(self.library(name).resolve()), RELEASES.get(name, (None,))[0],
                "stub" if name == "cuda-stub" else "driver")

    # ---- what is expected

    def not_loaded(self, name, *path, others=(), **how):
        release, cuda = RELEASES[name]
        driver, report = self.probe(*path, **how)
        self.assertEqual((driver["state"], driver["error"]["code"]), ("no-kernel-module", 100))
        self.assertEqual((driver["version"], driver["cuda"]), (release, cuda))
        row = self.loaded(driver)
        self.assertEqual((row["version"], row["kind"]), (release, "driver"))
        self.assertEqual(Path(row["path"]).name, "libcuda.so.1")
        self.assertEqual(self.others(driver), set(others))
        self.assertEqual(self.said(report), ["TCS203 note"])
        finding = next(f for f in report["findings"] if f["id"] == "TCS203")
        self.assertIn(f"libcuda {release}", str(finding["evidence"]))
        return driver

    def a_stub(self, stub, *path, others=(), **how):
        driver, report = self.probe(*path, **how)
        self.assertEqual((driver["state"], driver["error"]["code"]), ("stub", 34))
        row = self.loaded(driver)
        self.assertEqual((Path(row["path"]), row["kind"], row.get("version")), (stub, "stub", None))
        self.assertEqual(self.others(driver), set(others))
        self.assertEqual(self.said(report), ["TCS202 error"])
        self.assertIn(str(stub), str(report["findings"][0]["evidence"]))

    def absent(self, *path, others=(), **how):
        driver, report = self.probe(*path, **how)
        self.assertEqual(driver["state"], "absent")
        self.assertEqual(self.others(driver), set(others))
        self.assertNotIn("error", [f["severity"] for f in report["findings"] if f["layer"] == "driver"])
        self.assertIn("TCS201 note", self.said(report))

    def does_not_load(self, words, *path, kind="load", finding="TCS218"):
        driver, report = self.probe(*path)
        self.assertEqual((driver["state"], driver["failure"]["kind"]), ("error", kind))
        self.assertIn(words, driver["reason"])
        self.assertNotIn("code", driver.get("error", {}))
        found = [f for f in report["findings"] if f["layer"] in ("driver", "probe") and f["severity"] != "note"]
        self.assertEqual([f["id"] for f in found], [finding])
        self.assertIn(words, str(found))
        return driver

    # ---- one driver

    def test_a_driver_alone_is_not_loaded_and_has_its_own_release(self):
        for name in RELEASES:
            with self.subTest(name):
                self.not_loaded(name, self.folder(name))

    def test_a_driver_that_is_not_loaded_is_an_error_for_native_and_for_a_run(self):
        for arguments in (["--targets", "native"], ["--purpose", "run"]):
            with self.subTest(arguments):
                done = self.tool(["check", "--format", "json", *arguments], [self.folder("driver-550")])
                self.assertEqual(done.returncode, 1)
                self.assertIn("TCS203 error", self.said(json.loads(done.stdout)))

    def test_nvml_says_that_the_module_is_not_loaded(self):
        for name in RELEASES:
            with self.subTest(name):
                nvml = self.not_loaded(name, self.folder(name))["nvml"]
                self.assertEqual((nvml["state"], nvml["error_code"]), ("error", NVML_NOT_LOADED))
                self.assertEqual(Path(nvml["path"]).parent, self.folder(name))

    def test_a_driver_without_nvml_is_not_loaded_all_the_same(self):
        only = at_its_name(self.work / "only", "libcuda.so.1", self.library("driver-535"))
        driver = self.not_loaded("driver-535", only)
        self.assertEqual(driver["nvml"]["state"], "absent")

    # ---- parts of two drivers

    def test_of_two_drivers_on_the_path_the_first_loads(self):
        for first, second in OTHERS.items():
            with self.subTest(first):
                self.not_loaded(first, self.folder(first), self.folder(second), others=[self.other(second)])

    def test_libcuda_of_one_driver_beside_parts_of_the_other_has_libcuda_s_release(self):
        for ours, theirs in OTHERS.items():
            with self.subTest(ours):
                mixed = at_its_name(self.work / f"mixed {ours}", "libcuda.so.1", self.library(ours))
                for name in ("libnvidia-ptxjitcompiler.so.1", "libnvidia-ml.so.1", "libnvidia-nvvm.so.4"):
                    at_its_name(mixed, name, self.folder(theirs) / name)
                nvml = self.not_loaded(ours, mixed)["nvml"]
                self.assertEqual((nvml["state"], nvml["error_code"]), ("error", NVML_NOT_LOADED))
                self.assertEqual(Path(nvml["path"]), mixed / "libnvidia-ml.so.1")

    def test_nvml_of_another_folder_does_not_change_the_driver(self):
        only = at_its_name(self.work / "only", "libcuda.so.1", self.library("driver-550"))
        driver = self.not_loaded("driver-550", only, self.folder("driver-535"), others=[self.other("driver-535")])
        self.assertEqual(Path(driver["nvml"]["path"]).parent, self.folder("driver-535"))

    # ---- the stub

    def test_the_stub_alone_is_an_error(self):
        self.a_stub(self.library("cuda-stub"), self.folder("cuda-stub"))

    def test_the_stub_and_two_drivers_in_every_order(self):
        for order in itertools.permutations(["cuda-stub", *RELEASES]):
            with self.subTest(order):
                path = [self.folder(name) for name in order]
                others = [self.other(name) for name in order[1:]]
                if order[0] == "cuda-stub":
                    self.a_stub(self.library("cuda-stub"), *path, others=others)
                else:
                    self.not_loaded(order[0], *path, others=others)

    def test_a_stub_that_is_only_named_libcuda_so_never_loads(self):
        named = at_its_name(self.work / "stubs", "libcuda.so", self.library("cuda-stub"))
        self.absent(named)
        self.not_loaded("driver-535", named, self.folder("driver-535"))

    # ---- what is broken

    def test_a_torn_libcuda_is_an_error_that_quotes_the_loader(self):
        real = self.copy("driver-550", self.work / "torn")
        for size, words in ((100, "cannot read file data"), (40, "file too short"), (0, "file too short")):
            with self.subTest(size):
                os.truncate(real, size)
                driver = self.does_not_load(words, self.work / "torn")
                self.assertEqual(Path(driver["failure"]["text"].split(": ")[0]), self.work / "torn/libcuda.so.1")
                # and it hides the good one behind it
                self.does_not_load(words, self.work / "torn", self.folder("driver-535"))

    def test_a_libcuda_torn_in_its_code_kills_the_loader_and_that_is_a_finding(self):
        os.truncate(self.copy("driver-550", self.work / "torn"), 64 << 10)
        self.does_not_load("signal 7", self.work / "torn", kind="crash", finding="TCS217")

    def test_a_libcuda_of_another_machine_is_passed_over(self):
        real = self.copy("driver-550", self.work / "arm")
        with open(real, "r+b") as file:
            file.seek(18)
            file.write(AARCH64.to_bytes(2, "little"))
        self.not_loaded("driver-535", self.work / "arm", self.folder("driver-535"))

    def test_a_link_that_leads_nowhere_is_passed_over(self):
        dangling = at_its_name(self.work / "dangling", "libcuda.so.1", "libcuda.so.550.163.01")
        self.absent(dangling)
        self.not_loaded("driver-535", dangling, self.folder("driver-535"))

    def test_a_folder_without_permission_is_passed_over(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can be another user")
        self.work.chmod(0o755)
        tool = self.work / "tcstack"  # theirs may lie where nobody may look
        shutil.copy(TOOL, tool)
        shut, file, open_ = (self.work / name for name in ("shut", "file", "open"))
        self.copy("driver-550", shut)
        self.copy("driver-550", file).chmod(0)
        self.copy("driver-535", open_)
        shut.chmod(0o700)
        how = {"user": NOBODY, "tool": tool}
        for closed in (shut, file):
            with self.subTest(closed.name):
                driver, _ = self.probe(closed, **how)
                self.assertIn(driver["state"], ("absent", "error"))
                driver, _ = self.probe(closed, open_, **how)
                self.assertEqual((driver["state"], driver["version"]), ("no-kernel-module", RELEASES["driver-535"][0]))
        open_.chmod(0o711)  # may be entered, not listed: the loader asks by name
        self.not_loaded("driver-535", open_, **how)

    # ---- LD_PRELOAD

    def test_a_preloaded_libcuda_is_the_one_that_loads(self):
        self.not_loaded("driver-550", self.folder("driver-535"), others=[self.other("driver-535")],
                        env={"LD_PRELOAD": str(self.library("driver-550"))})

    def test_a_preloaded_stub_is_an_error_whatever_the_path_says(self):
        stub = self.library("cuda-stub")
        folder = tempfile.TemporaryDirectory(prefix="tcs-stub-")  # a space ends a name in LD_PRELOAD
        self.addCleanup(folder.cleanup)
        copy = Path(shutil.copy(stub, folder.name))
        self.a_stub(copy, self.folder("driver-535"), others=[self.other("driver-535")], env={"LD_PRELOAD": str(copy)})


def main():
    for path in KERNEL_PART:
        if os.path.exists(path):
            print(f"skipped: this machine has a kernel part of the driver ({path})")
            return 77
    result = unittest.main(verbosity=2, exit=False).result
    if result.wasSuccessful() and not ran:
        print("skipped: no driver can be had: " + "; ".join(sorted({why for _, why in result.skipped})))
        return 77
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
