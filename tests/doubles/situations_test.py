#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is said of each state of a driver: one row a situation.

    situations_test.py CLASS...    exit 0 good, 1 not, 77 when nothing could be tried (says why)

Nothing here has seen a GPU: a double of libcuda.so.1 and of NVML plays it (README.md), and what a kernel would show
lies in a mount namespace (lay.sh). The names of those rows end with "with a driver double". Where something hangs,
nothing takes longer than the deadline and a second, beside what the same machine takes when all is well: a limit on
a hang, no measure of speed.

Needs TCS_TOOL, TCS_DOUBLES, TCS_SOURCE_DIR (ctest sets them).
"""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

import chain_test
from chain_test import DOUBLES, LAY, NAMESPACE, TOOL, WORK, Machine, fake_torch, machine_toolkit

H100 = "device=9.0,NVIDIA H100 80GB HBM3"
A100 = "device=8.0,NVIDIA A100-SXM4-40GB"
GEFORCE = "device=12.0,NVIDIA GeForce RTX 5060"
CUDA = "version=13000"
RELEASE = "580.95.05"
# What a machine with a loaded driver shows besides.
KERNEL = (f"kernel={RELEASE},open", "module=nvidia", "pci=10de:2330")
NODES = ("dev", "node=/dev/nvidia0:0666", "node=/dev/nvidiactl:0666", "node=/dev/nvidia-uvm:0666")
LOADED = (*KERNEL, *NODES)
BARE = ("empty=/proc/driver", "module=none", "pci=10de:2330", "dev")  # a board, and no module
NO_BOARD = ("empty=/proc/driver", "module=none", "pci=none", "dev")
DEFAULT = "TCS910 arch note"  # the default targets are told
GPU0, GPU1 = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"
MIG0, MIG1 = "MIG-a0010203-0405-0607-0809-0a0b0c0d0e0f", "MIG-a1010203-0405-0607-0809-0a0b0c0d0e0f"
DEADLINE = 3  # where something hangs, in seconds
NO_DEADLINE = 60
TRIES = 3  # of a machine that is too busy to be judged by the clock
SETUP_FAILED = 99


class Row:
    """One situation.

    name: a sentence. says, nvml: the scripts (nvml None: there is no NVML). want: "TCS601 torch error: text in the
    message" of each finding, in their order. outcome, plan: None = whatever. lay: words of lay.sh. library: folder of
    the double, None = there is none. user: who runs it. also: texts that the findings hold elsewhere (notes, help,
    evidence). tolerated: ids that may stand beside them. double: False where no double is loaded. env: what is set.
    """

    def __init__(self, name, says, want, outcome, plan=None, *, nvml=None, lay=LOADED, arguments=(), library="full",
                 release=RELEASE, user=None, also=(), tolerated=(), container="none",
                 double=True, **env):
        self.name = name + (" with a driver double" if double else "")
        self.says, self.want, self.outcome, self.plan, self.nvml = says, want, outcome, plan, nvml
        self.arguments, self.library, self.release, self.user, self.env = arguments, library, release, user, env
        self.also = also
        self.tolerated = tolerated
        self.deadline = DEADLINE if "hang" in f"{says} {nvml}" else NO_DEADLINE
        self.lay = (*lay, f"container={container}")


NATIVE = ("--targets", "native")
ELSEWHERE = ("--targets", "9.0")


def healthy():
    return [
        Row("a driver that works is no finding", f"{H100};{CUDA}", [], "ok", ["sm_90"], nvml=""),
        Row("a driver without NVML is no finding", f"{H100};{CUDA}", [], "ok", ["sm_90"]),
    ]


STATES = [
    Row("no driver is a note", "", ["TCS201 driver note: no NVIDIA driver", DEFAULT], "ok", lay=NO_BOARD,
        library=None, double=False),
    Row("no driver is an error for native", "", ["TCS201 driver error: no NVIDIA driver"], "fail", [], lay=NO_BOARD,
        library=None, arguments=NATIVE, double=False),
    Row("a driver that is not loaded is a note", "init=100", ["TCS203 driver note: kernel module is not loaded", DEFAULT],
        "ok", lay=BARE),
    Row("a driver that is not loaded is an error for native", "init=999", ["TCS203 driver error: not loaded"], "fail",
        [], lay=BARE, arguments=NATIVE),
    Row("nouveau holds the board", "init=100", ["TCS222 driver note: nouveau", DEFAULT], "ok",
        lay=("empty=/proc/driver", "module=nouveau", "pci=10de:2330", "dev")),
    Row("two releases of one driver are 803", "init=803", ["TCS206 driver error: 580.95.05, the kernel module of 570.195.03"],
        "fail", lay=("kernel=570.195.03,open", "module=nvidia", "pci=10de:2330", *NODES)),
    Row("two releases of one driver are a warning for other machines", "init=803", ["TCS206 driver warning: 580.95.05"],
        "warn", ["sm_90"], arguments=ELSEWHERE,
        lay=("kernel=570.195.03,open", "module=nvidia", "pci=10de:2330", *NODES)),
    Row("a compat library that the board does not take is 804", "init=804", ["TCS207 driver error: error 804"], "fail",
        library="compat", also=("out of LD_LIBRARY_PATH",)),
    Row("the link stub is 34", "", ["TCS202 driver error: link stub"], "fail", library="stubs"),
    Row("a driver of CUDA 12 is too old for CUDA 13", f"{H100};version=12020", ["TCS204 driver error: too old for CUDA 13"],
        "fail", ["sm_90"], release="535.261.03", lay=("kernel=535.261.03,proprietary", "module=nvidia", "pci=10de:2330",
                                                     *NODES)),
    Row("GPUs that are not ready are 802", "init=802", ["TCS212 driver error: cuInit answers 802"], "fail"),
    *[Row(f"a Multi-Process Service that does not serve is {code}", f"init={code}",
          [f"TCS213 driver error: cuInit answers {code}"], "fail") for code in range(805, 811)],
    Row("MPS is a warning for other machines", "init=805", ["TCS213 driver warning: 805"], "warn", ["sm_90"],
        arguments=ELSEWHERE),
    Row("an error without a name of its own is 999", "init=999", ["TCS208 driver error: cuInit answers 999"], "fail"),
    Row("a driver that counts no devices is named with its call", f"{H100};{CUDA};fail=cuDeviceGetCount:999",
        ["TCS208 driver error: cuDeviceGetCount answers 999"], "fail"),
    Row("a count that cannot be is no answer", f"count=2000000000;{CUDA}", ["TCS920 probe unknown: ", DEFAULT], "ok"),
    Row("a board on the bus that the driver does not show", f"init=100;{CUDA}", ["TCS219 driver note: shows no GPU"], "ok"),
    Row("a board on the bus that the driver does not show is an error for native", f"init=100;{CUDA}",
        ["TCS219 driver error: shows no GPU"], "fail", [], arguments=NATIVE),
    Row("a machine without a board whose driver is loaded", f"init=100;{CUDA}", ["TCS102 device note: no GPU here", DEFAULT], "ok",
        lay=(f"kernel={RELEASE},open", "module=nvidia", "pci=none", *NODES)),
    Row("a proprietary module does not drive a board of Blackwell", f"init=100;{CUDA}", ["TCS223 driver error: open kernel module"], "fail",
        lay=(f"kernel={RELEASE},proprietary", "module=nvidia", "pci=10de:2d04", *NODES)),
    Row("a node that is missing", "init=999", ["TCS221 driver error: /dev/nvidia-uvm"], "fail",
        lay=(*KERNEL, *NODES[:-1])),
    Row("nodes that this user may not open", f"init=100;{CUDA}", ["TCS220 driver note: may not open"], None, user=65534,
        tolerated=("TCS602", "TCS702", "TCS910"),  # the tests' Python may be out of that user's reach
        lay=(*KERNEL, "dev", "node=/dev/nvidia0:0600", "node=/dev/nvidiactl:0600", "node=/dev/nvidia-uvm:0600")),
    Row("a container that was started without its GPUs", "", ["TCS813 environment note: without it", DEFAULT], "ok",
        library=None, lay=(*KERNEL, "dev"), container="docker", NVIDIA_VISIBLE_DEVICES="all", double=False),
    Row("a container that was started without its GPUs is an error for native", "init=100",
        ["TCS813 environment error: without it"], "fail", [], lay=(*KERNEL, "dev"), container="podman",
        arguments=NATIVE),
    Row("a library that is no library", "", ["TCS218 driver error: the loader refuses it"], "fail", library="torn"),
    Row("a library without a function", "", ["TCS218 driver error: the loader refuses it"], "fail", library="empty"),
]

BREAKS = [
    Row("a hang in cuInit", "hang", ["TCS216 driver unknown: did not answer in time", DEFAULT], "ok"),
    Row("a hang in cuInit is an error for native", "hang", ["TCS216 driver error: did not answer"], "fail", [],
        arguments=NATIVE),
    Row("a hang in cuDeviceGetCount", f"{H100};{CUDA};hang=cuDeviceGetCount",
        ["TCS216 driver unknown: did not answer in time", DEFAULT], "ok"),
    Row("a hang at one board of two", f"{H100};{GEFORCE};{CUDA};hang=cuDeviceGetName@1",
        ["TCS216 driver unknown: did not answer", DEFAULT], "ok"),
    Row("a hang in NVML leaves the driver's answer", f"{H100};{CUDA}", [], "ok", ["sm_90"], nvml="hang"),
    Row("hangs of both", "hang", ["TCS216 driver unknown: ", DEFAULT], "ok", nvml="hang"),
    Row("a driver that is slow is waited for", f"{H100};{CUDA};slow=cuInit:700", [], "ok", ["sm_90"]),
    Row("a segmentation fault in cuInit", "crash", ["TCS217 driver unknown: crashes", DEFAULT], "ok",
        also=("about to read address 0 in cuInit", "killed by signal 11 (SIGSEGV)", '"from": "loaded"')),
    Row("a segmentation fault is an error for native", "crash", ["TCS217 driver error: crashes"], "fail", [],
        arguments=NATIVE),
    Row("an abort in cuDeviceGetCount", f"{H100};abort=cuDeviceGetCount", ["TCS217 driver unknown: crashes", DEFAULT],
        "ok", also=("assertion failed in cuDeviceGetCount",)),
    Row("an exit in the middle of a line", f"{H100};partial=cuDeviceGetCount:0", ["TCS920 probe unknown: ", DEFAULT], "ok"),
    Row("an exit with a status", f"{H100};exit=cuInit:7", ["TCS920 probe unknown: ", DEFAULT], "ok",
        also=("giving up in cuInit", "exit status 7", '"from": "loaded"')),
    Row("garbage before the answer", f"{H100};{CUDA};garbage=cuInit", ["TCS920 probe unknown: ", DEFAULT], "ok"),
    Row("a crash in NVML leaves the driver's answer", f"{H100};{CUDA}", [], "ok", ["sm_90"], nvml="crash"),
    Row("an NVML of another release leaves the driver's answer", f"{H100};{CUDA}", [], "ok", ["sm_90"], nvml="init=18"),
    Row("an NVML without its newer functions", f"{H100};{CUDA}", [], "ok", ["sm_90"], nvml="old"),
    Row("a driver that prints beside the answer", f"noise;{H100};{CUDA}", [], "ok", ["sm_90"], nvml="noise"),
]

BOARDS = [
    Row("two unlike boards get a cubin each", f"device=8.6,NVIDIA A10;{GEFORCE};{CUDA}", [], "ok", ["sm_86", "sm_120"],
        nvml=""),
    Row("a lost board beside a healthy one is a warning", f"{H100};{GEFORCE};{CUDA};fail=cuDeviceGetAttribute@1:999",
        ["TCS105 device warning: "], "warn", ["sm_90"], nvml=f"{H100};{GEFORCE},lost"),
    Row("a lost board alone is an error", "init=999", ["TCS105 device error: "], "fail", nvml=f"{H100},lost"),
    Row("a board that wants a reset", f"{H100};{CUDA};fail=cuDeviceGetAttribute:999", ["TCS105 device error: ", DEFAULT], "fail",
        nvml=f"{H100},reset"),
    Row("a board that nobody may use is told", f"{H100},prohibited;{CUDA}", ["TCS106 device warning: "], "warn", ["sm_90"],
        nvml=""),
    Row("a board for one process that is free is no finding", f"{H100},exclusive;{CUDA}", [], "ok", ["sm_90"], nvml=""),
    Row("a MIG instance is named and served", f"{A100},mig=1g.5gb;{CUDA}", [], "ok", ["sm_80"], nvml=""),
    Row("one process sees one MIG instance of two", f"{A100},mig=1g.5gb+2g.10gb;{CUDA}", [], "ok", ["sm_80"], nvml="",
        CUDA_VISIBLE_DEVICES=MIG1),
    Row("two MIG instances are asked for and one is seen", f"{A100},mig=1g.5gb+2g.10gb;{CUDA}",
        [f"TCS801 environment warning: up to its entry '{MIG1}'"], "warn", ["sm_80"], nvml="",
        also=("a process uses one MIG instance",), CUDA_VISIBLE_DEVICES=f"{MIG0},{MIG1}"),
]

MASKS = [
    Row("a mask by index", f"{H100};{GEFORCE};{CUDA}", ["TCS802 environment note: fastest GPU first"], "ok", ["sm_120"],
        nvml="", CUDA_VISIBLE_DEVICES="1"),
    Row("a mask by index in the order of the bus", f"{H100};{GEFORCE};{CUDA}", [], "ok", ["sm_120"], nvml="",
        CUDA_VISIBLE_DEVICES="1", CUDA_DEVICE_ORDER="PCI_BUS_ID"),
    Row("a mask by UUID", f"{H100};{GEFORCE};{CUDA}", [], "ok", ["sm_120"], nvml="", CUDA_VISIBLE_DEVICES=GPU1),
    Row("a mask by the beginning of a UUID", f"{H100};{GEFORCE};{CUDA}", [], "ok", ["sm_90"], nvml="",
        CUDA_VISIBLE_DEVICES=GPU0[:8]),
    Row("an entry that names nothing hides what is behind it", f"{H100};{GEFORCE};{CUDA}",
        ["TCS801 environment warning: only up to its entry '7'", "TCS802 environment note"], "warn", ["sm_90"], nvml="",
        CUDA_VISIBLE_DEVICES="0,7,1"),
    Row("an entry of another form hides what is behind it", f"{H100};{GEFORCE};{CUDA}",
        ["TCS801 environment warning: up to its entry '1'"], "warn", ["sm_90"], nvml="",
        CUDA_VISIBLE_DEVICES=f"{GPU0},1"),
    Row("an entry that stands there twice hides all", f"{H100};{GEFORCE};{CUDA}", ["TCS801 environment warning: ", DEFAULT],
        "warn", nvml="", CUDA_VISIBLE_DEVICES=f"{GPU0},{GPU0}"),
    Row("a MIG instance of an older name", f"{A100},mig=1g.5gb+2g.10gb;{CUDA}", [], "ok", ["sm_80"], nvml="",
        CUDA_VISIBLE_DEVICES=f"MIG-{GPU0}/2/0"),
    Row("a mask that hides all", f"{H100};{CUDA}", ["TCS102 device note: hides the only GPU", DEFAULT], "ok", nvml="",
        CUDA_VISIBLE_DEVICES=""),
    Row("a mask that hides all is an error for native", f"{H100};{CUDA}", ["TCS101 device error: hides the only GPU"], "fail", [],
        nvml="", arguments=NATIVE, CUDA_VISIBLE_DEVICES="-1"),
]

OTHER_MACHINES = [
    Row("an Orin", "device=8.7,Orin (nvgpu),integrated;version=13020", ["TCS611 torch warning: 8.7"], "warn", ["sm_87"],
        lay=("empty=/proc/driver", "module=nvgpu", "pci=none", "dev", "node=/dev/nvmap:0666",
             "node=/dev/nvhost-ctrl:0666", "node=/dev/nvhost-gpu:0666",
             "file=/etc/nv_tegra_release=# R39 (release), REVISION: 2.0, GCID: 38968081, BOARD: generic")),
    Row("WSL", f"{GEFORCE};{CUDA}", [], "ok", ["sm_120"],
        lay=("empty=/proc/driver", "module=none", "pci=none", "dev", "node=/dev/dxg:0666"),
        LD_PRELOAD=str(DOUBLES / "libfake_uname.so"), TCS_FAKE_KERNEL="6.6.87.2-microsoft-standard-WSL2",
        ASAN_OPTIONS="verify_asan_link_order=0"),
]


def rows_of(rows):
    """A test for each row, whose name is the row's."""
    def decorate(test):
        for row in rows:
            name = "test_" + "".join(c if c.isalnum() else "_" for c in row.name)
            assert not hasattr(test, name), name
            setattr(test, name, lambda self, row=row: self.one(row))
        return test
    return decorate


class Situations(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.toolkit = machine_toolkit()
        cls.venv = fake_torch(cls.toolkit, ["75", "80", "86", "90", "100", "120"], "120")
        for folder in (WORK, cls.venv):
            folder.chmod(0o755)
        check_namespaces()
        cls.usual_s = min(run_row(cls, row)[1] for row in healthy())

    def one(self, row):
        if row.user is not None and not may_become(row.user):
            self.skipTest("this user cannot become another that can run tcstack")
        for _ in range(TRIES):
            done, seconds = run_row(self, row)
            if row.deadline != DEADLINE or seconds < self.usual_s + DEADLINE + 1:
                break
        self.assertEqual(done.stderr, "")
        report = json.loads(done.stdout)
        said = [f for f in report["findings"] if f["id"] not in row.tolerated]
        if os.environ.get("TCS_SHOW"):
            print(f"\n==== {row.name} ({seconds:.1f} s, {report['outcome']}, "
                  f"{[i['image'] for i in report['plan']['images']]})", file=sys.stderr)
            for f in said:
                print(f"  {f['id']} {f['layer']} {f['severity']}: {f['message']}", file=sys.stderr)
        self.assertEqual([f"{f['id']} {f['layer']} {f['severity']}" for f in said],
                         [want.split(":")[0] for want in row.want], done.stdout)
        for finding, want in zip(said, row.want):
            self.assertIn(want.partition(": ")[2], finding["message"])
        for text in row.also:
            self.assertIn(text, json.dumps(said))
        if row.outcome is not None:
            self.assertEqual(report["outcome"], row.outcome)
            self.assertEqual(done.returncode, row.outcome == "fail")
        if row.plan is not None:
            self.assertEqual([image["image"] for image in report["plan"]["images"]], row.plan)
        if row.deadline == DEADLINE:
            self.assertLess(seconds, self.usual_s + DEADLINE + 1)


def library_folder(row):
    if row.library == "torn":
        folder = WORK / "driver-torn"
        folder.mkdir(exist_ok=True)
        (folder / "libcuda.so.1").write_bytes((DOUBLES / "full/libcuda.so.1").read_bytes()[:100])
        return folder
    return Machine("", release=row.release, library=row.library).folder()


def environment(test, row):
    libraries = [] if row.library is None else [library_folder(row)]
    if row.library == "compat":
        libraries = [DOUBLES / "compat"]
    if row.library == "stubs":
        libraries = [DOUBLES / "stubs"]
    if row.nvml is not None:
        libraries.append(DOUBLES / ("nvml-old" if row.nvml == "old" else "nvml"))
    for folder in libraries:
        folder.chmod(0o755)
    env = {"PATH": f"{test.toolkit.nvcc.parent}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
           "VIRTUAL_ENV": str(test.venv), "TCS_FAKE_CUDA": row.says, "TORCH_CUDA_STACK_CACHE_DIR": "OFF",
           "TORCH_CUDA_STACK_TIMEOUT": str(row.deadline)}
    if libraries:
        env["LD_LIBRARY_PATH"] = ":".join(map(str, libraries))
    if row.nvml not in (None, "", "old"):
        env["TCS_FAKE_NVML"] = row.nvml
    env.update(row.env)
    return env


def run_row(test, row, command=("check", "--format", "json")):
    """The process and how long it took."""
    user = ["setpriv", f"--reuid={row.user}", f"--regid={row.user}", "--clear-groups"] if row.user is not None else []
    words = [*NAMESPACE, "sh", LAY, *row.lay, "--", *user, TOOL, *command, *row.arguments]
    begin = time.monotonic()
    done = subprocess.run(list(map(str, words)), env=environment(test, row), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    seconds = time.monotonic() - begin
    if done.returncode == SETUP_FAILED:
        raise unittest.SkipTest(done.stderr.strip())
    return done, seconds


def check_namespaces():
    words = [*NAMESPACE, "sh", LAY, *LOADED, "container=none", "--", "true"]
    if not shutil.which("unshare") or subprocess.run(words, capture_output=True).returncode:
        raise unittest.SkipTest("no mount namespace to lay a machine's files in")


def may_become(user):
    command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", TOOL, "--version"]
    return shutil.which("setpriv") and subprocess.run(command, capture_output=True).returncode == 0


@rows_of(healthy())
class Healthy(Situations):
    pass


@rows_of(STATES)
class States(Situations):
    pass


@rows_of(BREAKS)
class Breaks(Situations):
    pass


@rows_of(BOARDS)
class Boards(Situations):
    pass


@rows_of(MASKS)
class Masks(Situations):
    pass


@rows_of(OTHER_MACHINES)
class OtherMachines(Situations):
    pass


if __name__ == "__main__":
    sys.exit(chain_test.main(sys.argv[1:] or ["Healthy", "States", "Breaks", "Boards", "Masks", "OtherMachines"],
                             sys.modules[__name__]))
