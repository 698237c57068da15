#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole chain on machines that a double of libcuda.so.1 plays: driver and devices -> facts -> plan -> findings.

    chain_test.py CLASS...    exit 0 good, 1 not, 77 when nothing could be tried (says why)

Each machine is checked live, recorded with `tcstack probe --out`, replayed with `tcstack check --facts`, and both
reports must be the same; from the redacted recording come the same findings. Nothing here has seen a GPU: the tests' names say "with a driver double". The toolkit is real:
the machine's nvcc, or a part of tests/real that is already there (none is fetched). What a loaded kernel module shows
in /proc/driver/nvidia and /dev is laid there in a mount namespace (lay.sh); where that is not allowed such machines are
skipped.

Needs TCS_TOOL, TCS_DOUBLES, TCS_SOURCE_DIR (ctest sets them).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

TOOL = os.environ["TCS_TOOL"]
DOUBLES = Path(os.environ["TCS_DOUBLES"])
SOURCE = Path(os.environ["TCS_SOURCE_DIR"])
WORK = DOUBLES / "chain"
KERNEL_PART = any(Path(p).exists() for p in
                  ("/proc/driver/nvidia/version", "/sys/module/nvidia", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvmap"))
LAY = SOURCE / "tests/doubles/lay.sh"
NAMESPACE = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
CHECKED = ("id", "slug", "layer", "severity", "message", "evidence", "notes", "help")


def loaded(release, command):
    """`command` on a machine whose kernel module has this release."""
    nodes = [f"node=/dev/nvidia{name}:0666" for name in ("0", "ctl", "-uvm")]
    return [*NAMESPACE, "sh", LAY, f"kernel={release}", "module=nvidia", "dev", *nodes, "container=none", "--",
            *map(str, command)]


def can_load():
    return shutil.which("unshare") and subprocess.run(loaded("1.2.3", ["true"]), capture_output=True).returncode == 0


CAN_LOAD = can_load()


def part(name):
    """A part of tests/real that is present, else skip."""
    done = subprocess.run([sys.executable, SOURCE / "tests/real/parts.py", "path", name], capture_output=True,
                          text=True)
    if done.returncode:
        raise unittest.SkipTest(f"the part {name} is not here (tests/real/parts.py get {name})")
    return Path(done.stdout.split("\n")[0])


class Toolkit:
    """A real nvcc; `release` "13.0"."""

    def __init__(self, nvcc):
        self.nvcc = Path(nvcc)
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        self.release = re.search(r"release (\d+\.\d+)", said).group(1)
        self.major, self.minor = map(int, self.release.split("."))
        listed = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout
        self.codes = listed.split()


def machine_toolkit():
    """This machine's where it knows all the devices of these tests, else the part that run-tests brings."""
    nvcc = Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    toolkit = Toolkit(nvcc) if nvcc.exists() else None
    return toolkit if toolkit and "sm_121" in toolkit.codes else Toolkit(whole("toolkit-13.0") / "bin/nvcc")


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def whole(name):
    """A toolkit of pip packages as an installer lays it: nothing has to be said of its parts."""
    place = WORK / name
    if place.exists():
        return place
    WORK.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=WORK)) / "toolkit"
    shutil.copytree(part(name) / "nvidia/cu13", made, symlinks=True, copy_function=link_or_copy)
    release = next(part(name).glob("nvidia_cuda_runtime-*.dist-info")).name.split("-")[1].split(".dist")[0]
    (made / "lib64").symlink_to("lib")
    (made / "lib/libcudart.so.13").rename(made / f"lib/libcudart.so.{release}")
    for link in ("libcudart.so.13", "libcudart.so"):
        (made / "lib" / link).symlink_to(f"libcudart.so.{release}")
    for stand_in in ("include/nvrtc.h", "lib/libnvrtc.so"):
        (made / stand_in).touch()
    try:
        made.rename(place)
    except OSError:  # another test was faster
        shutil.rmtree(made)
    made.parent.rmdir()
    return place


def part_toolkit(name):
    root = part(name)
    nvcc = root / "nvidia/cu13/bin/nvcc"
    return Toolkit(nvcc if nvcc.exists() else root / "bin/nvcc")


def fake_torch(toolkit, codes, ptx, needs_driver=False):
    """The smallest Python environment that holds a PyTorch for this CUDA, with these kernel images.

    needs_driver: one of its libraries names libcuda.so.1, as libcaffe2_nvrtc.so of the real one does.
    """
    place = WORK / f"environment-{toolkit.release}-{'-'.join(codes)}-{ptx}{'-driver' if needs_driver else ''}"
    if place.exists():
        return place
    WORK.mkdir(exist_ok=True)
    build = Path(tempfile.mkdtemp(dir=WORK))
    release = "%d.%d" % sys.version_info[:2]
    torch = build / f"lib/python{release}/site-packages/torch"
    for folder in ("lib", "share/cmake/Torch", "include/torch"):
        (torch / folder).mkdir(parents=True)
    (build / "bin").mkdir()
    (build / "bin/python3").symlink_to(os.path.realpath(sys.executable))
    version = ".".join(map(str, sys.version_info[:3]))
    (build / "pyvenv.cfg").write_text(
        f"home = {Path(os.path.realpath(sys.executable)).parent}\ninclude-system-site-packages = false\n"
        f"version = {version}\n")
    local = toolkit.release.replace(".", "")
    (torch / "__init__.py").write_text("")
    (torch / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(b"")  # tells for which Python it is
    (torch / "version.py").write_text(f"__version__ = '2.15.0+cu{local}'\ncuda = '{toolkit.release}'\nhip = None\n")
    (torch / "share/cmake/Torch/TorchConfig.cmake").write_text("")
    source = build / "kernel.cu"
    source.write_text("__global__ void kernel(int* out) { *out = 1; }\n")
    flags = [f"-gencode=arch=compute_{c},code=sm_{c}" for c in codes]
    if ptx:
        flags.append(f"-gencode=arch=compute_{ptx},code=compute_{ptx}")
    subprocess.run([toolkit.nvcc, "-shared", "-cudart", "none", "-Xcompiler", "-fPIC", "-c", *flags, source, "-o",
                    build / "kernel.o"], check=True)
    for name, objects in (("torch_cuda", [build / "kernel.o"]), ("torch_cpu", []), ("torch", []), ("c10", [])):
        subprocess.run(["c++", "-shared", "-nostdlib", "-o", torch / f"lib/lib{name}.so",
                        *(objects or ["-x", "c++", "/dev/null"])], check=True)
    if needs_driver:
        subprocess.run(["c++", "-shared", "-nostdlib", "-o", torch / "lib/libcaffe2_nvrtc.so", "-x", "c++", "/dev/null",
                        "-x", "none", "-Wl,--no-as-needed", DOUBLES / "full/libcuda.so.1"], check=True)
    move(build, place)
    return place


def move(made, place):
    """Puts a finished folder in its place, unless another test was faster."""
    try:
        made.rename(place)
    except OSError:
        shutil.rmtree(made)


class Machine:
    """What the driver's double plays.

    says: its script. release: of libcuda. kernel: of the loaded kernel module, None = whatever is here. library: of
    the doubles. env: what else is set.
    """

    def __init__(self, says, release="580.95.05", kernel="580.95.05", library="full", **env):
        self.says, self.release, self.kernel, self.library, self.env = says, release, kernel, library, env

    def folder(self):
        built = (DOUBLES / self.library / "libcuda.so.1").stat().st_mtime_ns  # not the double of an earlier build
        folder = WORK / f"driver-{self.library}-{self.release}-{built}"
        if not folder.exists():
            WORK.mkdir(exist_ok=True)
            new = Path(tempfile.mkdtemp(dir=WORK))
            shutil.copy(DOUBLES / self.library / "libcuda.so.1", new / f"libcuda.so.{self.release}")
            (new / "libcuda.so.1").symlink_to(f"libcuda.so.{self.release}")
            move(new, folder)
        return folder


class Chain(unittest.TestCase):
    toolkit = None

    @classmethod
    def setUpClass(cls):
        cls.toolkit = machine_toolkit()
        cls.venv = fake_torch(cls.toolkit, ["75", "80", "86", "90", "100", "120"], "120")

    def setUp(self):
        self.scratch = Path(tempfile.mkdtemp(dir=WORK))
        self.addCleanup(shutil.rmtree, self.scratch)

    def environment(self, machine):
        env = {"PATH": f"{self.toolkit.nvcc.parent}:/usr/bin:/bin", "HOME": str(self.scratch), "LC_ALL": "C.UTF-8",
               "VIRTUAL_ENV": str(self.venv), "LD_LIBRARY_PATH": str(machine.folder()), "TCS_FAKE_CUDA": machine.says,
               "TORCH_CUDA_STACK_CACHE_DIR": "OFF"}
        env.update(machine.env)
        return env

    def call(self, machine, *command):
        command = [str(word) for word in command]
        if machine.kernel:
            if not CAN_LOAD:
                self.skipTest("no mount namespace to lay a kernel module's files in")
            command = loaded(machine.kernel, command)
        elif KERNEL_PART and machine.kernel is None:
            self.skipTest("this machine has a kernel part of the driver")
        return subprocess.run(command, env=self.environment(machine), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300)

    def tcstack(self, machine, *arguments):
        done = self.call(machine, TOOL, *arguments)
        self.assertEqual(done.stderr, "")
        return done

    def expect(self, machine, findings, plan=None, status=0, arguments=(), tolerated=()):
        """Both reports: live and replayed. `findings`: "TCS601 torch error: text in message", in their order.

        `tolerated`: ids that may stand beside them.
        """
        live = self.tcstack(machine, "check", "--format", "json", *arguments)
        report = json.loads(live.stdout)
        text = self.tcstack(machine, "check", *arguments)
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {self.id()}\n{text.stdout}", file=sys.stderr)
        said = [(f["id"], f["layer"], f["severity"], f["message"]) for f in report["findings"]
                if f["id"] not in tolerated]
        self.assertEqual([f"{i} {layer} {severity}" for i, layer, severity, _ in said],
                         [want.split(":")[0] for want in findings], text.stdout)
        for (_, _, _, message), want in zip(said, findings):
            self.assertIn(want.partition(": ")[2], message)
        self.assertEqual(live.returncode, status)
        self.assertEqual(text.returncode, status)
        self.assertEqual(report["outcome"] == "fail", status == 1)
        self.assertEqual(report["complete"], not any(severity == "unknown" for _, _, severity, _ in said))
        if plan is not None:
            self.assertEqual([image["image"] for image in report["plan"]["images"]], plan)
        self.same_when_replayed(machine, report, live.returncode, arguments)
        return report

    def same_when_replayed(self, machine, live, status, arguments):
        recorded = self.scratch / "facts.json"
        done = self.tcstack(machine, "probe", "--out", recorded)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        elsewhere = Machine("crash", CUDA_VISIBLE_DEVICES="9", TORCH_CUDA_ARCH_LIST="9.9")
        replay = self.tcstack(elsewhere if CAN_LOAD else machine, "check", "--format", "json", "--strict", "--facts",
                              recorded, *arguments)
        report = json.loads(replay.stdout)
        for ours, theirs in zip(live["findings"], report["findings"]):
            for member in CHECKED:
                self.assertEqual(ours[member], theirs[member], f"replayed {ours['id']}: {member}")
        self.assertEqual(report, live)
        self.assertEqual(replay.returncode, status)
        self.same_when_redacted(elsewhere if CAN_LOAD else machine, recorded, live, status, arguments)

    def same_when_redacted(self, machine, recorded, live, status, arguments):
        redacted = self.scratch / "redacted.json"
        done = self.tcstack(machine, "probe", "--facts", recorded, "--redact", "--out", redacted)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertNotIn(str(self.scratch), redacted.read_text())
        done = self.tcstack(machine, "check", "--format", "json", "--strict", "--facts", redacted, *arguments)
        said, wanted = ([(f["id"], f["severity"]) for f in r["findings"]] for r in (json.loads(done.stdout), live))
        self.assertEqual(said, wanted)
        self.assertEqual(done.returncode, status)

    def reasons(self, report):
        return {image["image"]: image["reason"] for image in report["plan"]["images"]}


class Devices(Chain):
    def test_a_9_0_device_gets_its_cubin_with_a_driver_double(self):
        report = self.expect(Machine("device=9.0,NVIDIA H100 80GB HBM3;version=13000"), [], ["sm_90"])
        self.assertEqual(self.reasons(report), {"sm_90": "device 0 (NVIDIA H100 80GB HBM3) is 9.0"})
        self.assertEqual(report["plan"]["torch_cuda_arch_list"]["text"], "9.0")
        self.assertEqual(report["plan"]["list_from"], "targets native (default: a GPU is visible)")
        self.assertEqual(report["coverage"][0]["torch"], "cubin")

    def test_two_unlike_cards_get_a_cubin_each_with_a_driver_double(self):
        machine = Machine("device=8.6,NVIDIA RTX A4000;device=12.0,NVIDIA GeForce RTX 5060;version=13000")
        report = self.expect(machine, [], ["sm_86", "sm_120"])
        self.assertEqual(self.reasons(report), {"sm_86": "device 0 (NVIDIA RTX A4000) is 8.6",
                                                "sm_120": "device 1 (NVIDIA GeForce RTX 5060) is 12.0"})

    def test_a_mask_leaves_the_second_card_with_a_driver_double(self):
        machine = Machine("device=8.6,NVIDIA RTX A4000;device=12.0,NVIDIA GeForce RTX 5060;version=13000",
                          CUDA_VISIBLE_DEVICES="1")
        self.expect(machine, [], ["sm_120"])

    def test_two_like_cards_are_one_architecture_with_a_driver_double(self):
        report = self.expect(Machine("device=9.0,NVIDIA H100;device=9.0,NVIDIA H100;version=13000"), [], ["sm_90"])
        self.assertIn("device 0 (NVIDIA H100)", self.reasons(report)["sm_90"])
        self.assertIn("device 1 (NVIDIA H100)", self.reasons(report)["sm_90"])

    def test_a_12_1_device_runs_torch_s_12_0_code_with_a_driver_double(self):
        report = self.expect(Machine("device=12.1,NVIDIA GB10,integrated;version=13000"), [], ["sm_121"])
        self.assertEqual(report["coverage"][0]["torch"], "cubin")

    def test_an_orin_is_warned_of_desktop_images_with_a_driver_double(self):
        self.expect(Machine("device=8.7,Orin (nvgpu),integrated;version=13000"),
                    ["TCS611 torch warning: only images from across the desktop/Tegra border for 8.7"], ["sm_87"])

    def test_a_device_of_the_future_gets_the_newest_ptx_with_a_driver_double(self):
        report = self.expect(Machine("device=13.0,NVIDIA Future;version=13040"), ["TCS912 arch warning: "])
        image = report["plan"]["images"][-1]
        self.assertEqual(len(report["plan"]["images"]), 1)
        self.assertRegex(image["image"], r"^compute_12\d$")
        self.assertIn("which nvcc", image["reason"])

    def test_a_device_whose_capability_is_refused_is_an_error_with_a_driver_double(self):
        self.expect(Machine("device=9.0,NVIDIA H100,error;version=13000"),
                    ["TCS105 device error: ", "TCS910 arch note: "], None, 1)

    def test_a_count_that_cannot_be_is_unknown_with_a_driver_double(self):
        self.expect(Machine("count=2000000000;version=13000"), ["TCS920 probe unknown: ", "TCS910 arch note: "])

    def test_a_device_that_does_not_exist_is_no_crash_with_a_driver_double(self):
        self.expect(Machine("device=9.0,NVIDIA H100;count=2;version=13000"), ["TCS105 device warning: "], ["sm_90"])

    def test_what_a_driver_prints_changes_nothing_with_a_driver_double(self):
        self.expect(Machine("noise;device=9.0,NVIDIA H100;version=13000"), [], ["sm_90"])

    def test_a_name_is_never_markup_with_a_driver_double(self):
        machine = Machine('device=9.0,"}]\\ $(id) \x1b[31m\u00fc;version=13000')
        report = self.expect(machine, [], ["sm_90"])
        self.assertNotRegex(self.reasons(report)["sm_90"], r"[\x00-\x1f\x7f-\uffff]")


class DriverLibrary(Chain):
    """libcuda.so.1 is a link to libcuda.so.<release of the driver>, and a real PyTorch has a library that needs it."""

    @classmethod
    def setUpClass(cls):
        cls.toolkit = machine_toolkit()
        cls.venv = fake_torch(cls.toolkit, ["80", "90"], "90", needs_driver=True)

    def test_the_driver_s_release_is_no_wrong_version_of_libcuda_with_a_driver_double(self):
        report = self.expect(Machine("device=9.0,NVIDIA H100;version=13000"), [], ["sm_90"])
        self.assertNotIn("TCS502", str(report))


class Hidden(Chain):
    BOARD = "device=9.0,NVIDIA H100;version=13000"

    def test_hidden_devices_are_a_note_with_a_driver_double(self):
        for mask in ("", "-1", "7"):
            report = self.expect(Machine(self.BOARD, CUDA_VISIBLE_DEVICES=mask),
                                 ["TCS102 device note: ", "TCS910 arch note: "])
            self.assertIn(f"CUDA_VISIBLE_DEVICES='{mask}'", str(report["findings"][0]["evidence"]))

    def test_hidden_devices_are_an_error_for_native_with_a_driver_double(self):
        report = self.expect(Machine(self.BOARD, CUDA_VISIBLE_DEVICES=""), ["TCS101 device error: "], [], 1,
                             ["--targets", "native"])
        self.assertIn("unset CUDA_VISIBLE_DEVICES", report["findings"][0]["help"][0])

    def test_hidden_devices_are_an_error_to_run_with_a_driver_double(self):
        self.expect(Machine(self.BOARD, CUDA_VISIBLE_DEVICES=""), ["TCS101 device error: "], None, 1,
                    ["--purpose", "run"])

    def test_a_redacted_probe_tells_no_uuid_and_hides_what_is_hidden_with_a_driver_double(self):
        boards = Machine("device=9.0,NVIDIA H100;device=8.6,NVIDIA A10;version=13000")
        done = self.tcstack(boards, "probe")
        uuids = [device["uuid"] for device in json.loads(done.stdout)["devices"]["list"]]
        self.assertEqual(len(set(uuids)), 2)
        full, redacted = self.scratch / "facts.json", self.scratch / "redacted.json"
        facts = json.loads(done.stdout)
        for mask in (uuids[1], uuids[1][:15], f"{uuids[1]},{uuids[0]}"):
            facts["environment"]["CUDA_VISIBLE_DEVICES"] = mask
            full.write_text(json.dumps(facts))
            self.tcstack(boards, "probe", "--redact", "--facts", full, "--out", redacted)
            said = json.loads(redacted.read_text())
            ours, theirs = ([d["uuid"] for d in f["devices"]["list"]] for f in (facts, said))
            wanted = [[uuid.startswith(n) for uuid in ours] for n in mask.split(",")]
            named = said["environment"]["CUDA_VISIBLE_DEVICES"].split(",")
            self.assertEqual([[uuid.startswith(n) for uuid in theirs] for n in named], wanted)
            reports = [json.loads(self.tcstack(boards, "check", "--format", "json", "--facts", f).stdout)
                       for f in (full, redacted)]
            ids = [[f["id"] for f in report["findings"]] for report in reports]
            self.assertEqual(ids[0], ids[1])
        machine = Machine(boards.says, CUDA_VISIBLE_DEVICES=uuids[1], HOME="/home/mallory")
        text = self.tcstack(machine, "probe", "--redact").stdout
        for secret in (*uuids, uuids[1][4:12], "mallory"):
            self.assertNotIn(secret, text)


class Lists(Chain):
    BOARD = Machine("device=9.0,NVIDIA H100;version=13000")

    def test_a_list_that_misses_the_device_is_a_warning_with_a_driver_double(self):
        self.expect(self.BOARD, ["TCS909 arch warning: NVIDIA H100"], ["sm_86"], 0, ["--arch-list", "8.6"])

    def test_a_list_that_misses_the_asked_device_is_an_error_with_a_driver_double(self):
        self.expect(self.BOARD, ["TCS909 arch error: NVIDIA H100"], ["sm_86"], 1,
                    ["--arch-list", "8.6", "--targets", "native"])

    def test_targets_for_elsewhere_are_the_plan_with_a_driver_double(self):
        self.expect(self.BOARD, [], ["sm_86"], 0, ["--targets", "8.6"])

    def test_a_torch_without_the_device_s_image_is_an_error_with_a_driver_double(self):
        self.expect(Machine("device=11.0,NVIDIA Thor,integrated;version=13000"),
                    ["TCS601 torch error: sm_110"], ["sm_110"], 1)

    def test_the_list_of_the_environment_is_recorded_and_replayed_with_a_driver_double(self):
        machine = Machine(self.BOARD.says, TORCH_CUDA_ARCH_LIST="8.6")
        recorded, request = self.scratch / "facts.json", self.scratch / "request.json"
        live = json.loads(self.tcstack(machine, "check", "--format", "json").stdout)
        self.assertEqual([f["id"] for f in live["findings"]], ["TCS909"])
        self.assertEqual(live["plan"]["torch_cuda_arch_list"]["text"], "8.6")
        self.tcstack(machine, "probe", "--out", recorded)
        replay = ("check", "--format", "json", "--facts", recorded)
        self.assertEqual(json.loads(self.tcstack(self.BOARD, *replay).stdout), live)
        request.write_text("{}")
        plain = json.loads(self.tcstack(machine, *replay, "--request", request).stdout)
        self.assertEqual(plain["plan"]["torch_cuda_arch_list"]["text"], "9.0")


class Driver(Chain):
    def test_not_loaded_is_a_note_with_a_driver_double(self):
        for code in (3, 100, 999):
            self.expect(Machine(f"init={code}", kernel=None), ["TCS203 driver note: ", "TCS910 arch note: "])

    def test_not_loaded_is_an_error_for_native_with_a_driver_double(self):
        self.expect(Machine("init=100", kernel=None), ["TCS203 driver error: "], [], 1, ["--targets", "native"])

    def test_a_stub_is_an_error_with_a_driver_double(self):
        self.expect(Machine("init=34"), ["TCS202 driver error: link stub"], None, 1)

    def test_a_stub_is_a_warning_when_other_machines_are_named_with_a_driver_double(self):
        self.expect(Machine("init=34"), ["TCS202 driver warning: link stub"], ["sm_90"], 0, ["--targets", "9.0"])

    def test_803_names_both_releases_with_a_driver_double(self):
        self.expect(Machine("init=803", kernel="570.195.03"),
                    ["TCS206 driver error: libcuda.so.1 is of driver 580.95.05, the kernel module of 570.195.03"], None, 1)

    def test_803_without_a_kernel_file_is_an_error_with_a_driver_double(self):
        self.expect(Machine("init=803", kernel=None),
                    ["TCS206 driver error: libcuda.so.1 is of driver 580.95.05"], None, 1)

    def test_803_is_a_warning_for_a_list_with_a_driver_double(self):
        self.expect(Machine("init=803", kernel="570.195.03"), ["TCS206 driver warning: "], ["sm_90"], 0,
                    ["--arch-list", "9.0"])

    def test_804_is_an_error_with_a_driver_double(self):
        report = self.expect(Machine("init=804", kernel="535.261.03"),
                             ["TCS207 driver error: error 804"], None, 1)
        self.assertIn("out of LD_LIBRARY_PATH", report["findings"][0]["help"][0])

    def test_another_error_is_named_with_a_driver_double(self):
        self.expect(Machine("init=999"), ["TCS208 driver error: 999"], None, 1)

    def test_a_hang_is_ended_at_the_deadline_with_a_driver_double(self):
        report = self.expect(Machine("hang", TORCH_CUDA_STACK_TIMEOUT="3"),
                             ["TCS216 driver unknown: ", "TCS910 arch note: "])
        self.assertIn("no answer in 3 s", report["findings"][0]["notes"][0])

    def test_a_hang_is_an_error_for_native_with_a_driver_double(self):
        self.expect(Machine("hang", TORCH_CUDA_STACK_TIMEOUT="3"), ["TCS216 driver error: "], [], 1,
                    ["--targets", "native"])

    def test_a_crash_is_a_finding_with_a_driver_double(self):
        report = self.expect(Machine("crash"), ["TCS217 driver unknown: ", "TCS910 arch note: "])
        self.assertIn("in cuInit", report["findings"][0]["notes"][0])

    def test_a_crash_fails_only_when_asked_to_with_a_driver_double(self):
        self.expect(Machine("crash"), ["TCS217 driver unknown: ", "TCS910 arch note: "], None, 1,
                    ["--fail-on", "unknown"])

    def test_a_libcuda_without_functions_is_an_error_with_a_driver_double(self):
        self.expect(Machine("", library="empty"), ["TCS218 driver error: "], None, 1)

    def test_a_libcuda_that_tells_no_devices_is_unknown_with_a_driver_double(self):
        self.expect(Machine("", library="minimal"),
                    ["TCS190 device unknown: ", "TCS290 driver unknown: driver.cuda", "TCS910 arch note: "])

    def test_a_driver_a_major_too_old_is_an_error_with_a_driver_double(self):
        major = self.toolkit.major - 1
        machine = Machine(f"device=9.0,NVIDIA H100;version={major}080", release="570.195.03", kernel="570.195.03")
        report = self.expect(machine, [f"TCS204 driver error: driver 570.195.03 is too old for CUDA {major + 1}"],
                             ["sm_90"], 1)
        self.assertIn("580.65.06 or newer", report["findings"][0]["help"][0])

    def test_a_driver_a_major_too_old_is_a_warning_for_a_list_with_a_driver_double(self):
        major = self.toolkit.major - 1
        machine = Machine(f"device=9.0,NVIDIA H100;version={major}080", release="570.195.03", kernel="570.195.03")
        self.expect(machine, ["TCS204 driver warning: "], ["sm_90"], 0, ["--arch-list", "9.0"])


class OlderToolkit(Chain):
    """CUDA 12.4, where it is."""

    @classmethod
    def setUpClass(cls):
        cls.toolkit = part_toolkit("toolkit-12.4")
        cls.venv = fake_torch(cls.toolkit, ["70", "80", "86", "90"], "90")

    def test_12_4_on_a_driver_of_11_8_is_below_the_floor_with_a_driver_double(self):
        machine = Machine("device=8.6,NVIDIA A10;version=11080", release="520.61.05", kernel="520.61.05")
        report = self.expect(machine, ["TCS204 driver error: driver 520.61.05 is too old for CUDA 12"], ["sm_86"], 1)
        self.assertIn("525.60.13 or newer", report["findings"][0]["help"][0])

    def test_12_4_cubins_run_on_a_driver_of_12_2_with_a_driver_double(self):
        machine = Machine("device=8.6,NVIDIA A10;version=12020", release="535.261.03", kernel="535.261.03")
        self.expect(machine, [], ["sm_86"])

    def test_ptx_newer_than_the_driver_is_an_error_with_a_driver_double(self):
        machine = Machine("device=9.0,NVIDIA H100;version=12020", release="535.261.03", kernel="535.261.03")
        self.expect(machine, ["TCS205 driver error: PTX of CUDA 12.4 is all that fits NVIDIA H100"],
                    ["sm_80", "compute_80"], 1, ["--arch-list", "8.0+PTX", "--targets", "native"])

    def test_a_device_newer_than_all_gets_the_newest_ptx_with_a_driver_double(self):
        machine = Machine("device=12.0,NVIDIA GeForce RTX 5060;version=12080", release="570.195.03",
                          kernel="570.195.03")
        self.expect(machine, ["TCS912 arch warning: "], ["compute_90"])


class Configure(Chain):
    """The module in CMake, with a real PyTorch."""
    def configure(self, machine, torch, languages, body="", *arguments):
        project = self.scratch / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES {languages})\n"
            f"find_package(TorchCudaStack 0.1 REQUIRED)\nmessage(STATUS \"plan=${{TORCH_CUDA_ARCH_LIST}}\")\n{body}")
        self.build = self.scratch / "build"
        done = self.call(machine, shutil.which("cmake"), "-S", project, "-B", self.build,
                         f"-DCMAKE_MODULE_PATH={SOURCE / 'modules'}", f"-DTorchCudaStack_TOOL={TOOL}",
                         f"-DTorch_DIR={torch / 'torch/share/cmake/Torch'}", *arguments)
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {self.id()}\n{done.stdout}{done.stderr}", file=sys.stderr)
        return done

    def compiled(self):
        return [p for p in self.build.rglob("*")
                if p.suffix in (".o", ".a", ".so") or p.name == "CMakeCUDACompiler.cmake"]

    def test_a_9_0_device_is_planned_without_a_language_with_a_driver_double(self):
        done = self.configure(Machine("device=9.0,NVIDIA H100;version=13020"), part("torch-2.15.0"), "NONE", "",
                              "-DTorchCudaStack_ALLOW=TCS501")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("plan=9.0\n", done.stdout)
        plan = json.loads((self.build / "TorchCudaStack/plan.json").read_text())
        self.assertEqual([i["image"] for i in plan["images"]], ["sm_90"])
        self.assertEqual(self.compiled(), [])

    def test_a_9_0_device_is_what_torch_s_cmake_builds_for_with_a_driver_double(self):
        body = ("get_target_property(_flags TorchCudaStack::Archs INTERFACE_COMPILE_OPTIONS)\n"
                "message(STATUS \"flags=${CMAKE_CUDA_FLAGS} ${_flags}\")\n"
                "message(STATUS \"torch=${TORCH_FOUND} ${CMAKE_CUDA_ARCHITECTURES}\")\n")
        done = self.configure(Machine("device=9.0,NVIDIA H100;version=13020"), part("torch-2.15.0"), "CXX", body,
                              "-DTorchCudaStack_ALLOW=TCS501")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("plan=9.0\n", done.stdout)
        flags = re.search(r"flags=(.*)", done.stdout).group(1)
        self.assertEqual(set(re.findall(r"sm_\d+\w?|code=compute_\d+", flags)), {"sm_90"})
        self.assertIn("torch=TRUE OFF", done.stdout)

    def test_a_device_that_torch_2_3_cannot_serve_stops_before_compiling_with_a_driver_double(self):
        toolkit = part_toolkit("toolkit-12.4")
        done = self.configure(Machine("device=12.0,NVIDIA GeForce RTX 5060;version=13000"), part("torch-2.3.0"), "CXX",
                              "", "-DTorchCudaStack_ALLOW=TCS501",
                              f"-DTorchCudaStack_TOOLKIT={toolkit.nvcc.parent.parent}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("error[TCS601 torch-lacks-device-image]: PyTorch 2.3.0+cu121 has no kernel image that runs on "
                      "sm_120", " ".join(done.stderr.split()))
        self.assertEqual(re.findall(r"error\[(TCS\d+)", done.stderr), ["TCS601"])
        self.assertEqual(self.compiled(), [])
        report = json.loads((self.build / "TorchCudaStack/report.json").read_text())
        self.assertEqual(report["outcome"], "fail")

    def test_driver_trouble_stops_the_configure_with_a_driver_double(self):
        done = self.configure(Machine("init=803", kernel="570.195.03"), part("torch-2.15.0"), "NONE", "",
                              "-DTorchCudaStack_ALLOW=TCS501")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("error[TCS206 driver-mismatch]", done.stderr)

    def test_a_hanging_driver_does_not_hang_the_configure_with_a_driver_double(self):
        done = self.configure(Machine("hang", TORCH_CUDA_STACK_TIMEOUT="4"), part("torch-2.15.0"), "NONE", "",
                              "-DTorchCudaStack_ALLOW=TCS501")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("TCS216", done.stdout + done.stderr)


def main(names, module):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names, module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    tried = result.testsRun - len([s for s in result.skipped if hasattr(s[0], "_testMethodName")])
    if tried <= 0:
        print("skipped: " + "; ".join(sorted({reason for _, reason in result.skipped})))
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["Devices", "DriverLibrary", "Hidden", "Lists", "Driver",
                                   "OlderToolkit", "Configure"], sys.modules[__name__]))
