#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own source tree, 2.6.0 as Debian packs it, under the plan: with the gate, and by each form of `plan --emit`.

    pytorch_source.py [TEXT]      the cases whose name contains TEXT

It is configured in a Debian root of its own (the part pytorch-source-2.6: nvcc 12.4, g++ 14 and g++-13, no GPU). What a
case writes goes to a layer over the part, in a temporary folder, which stays as it is. The optional libraries of PyTorch
are off; each .cu that is left counts.

From the environment: TCS_TOOL, a built tcstack. Exit 0: as expected; 77: cannot be had here; 1: not as expected (the
log is printed).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import parts

CHECKOUT = Path(__file__).resolve().parent.parent.parent
TREE = "/root/pytorch-2.6.0+dfsg"
OFF = ("USE_CUDNN USE_NCCL USE_DISTRIBUTED USE_KINETO USE_MKLDNN USE_FBGEMM USE_XNNPACK USE_NNPACK USE_PYTORCH_QNNPACK"
       " USE_ITT USE_MAGMA USE_NUMPY USE_CUSPARSELT USE_CUFILE USE_FLASH_ATTENTION USE_MEM_EFF_ATTENTION BUILD_TEST"
       " BUILD_PYTHON").split()
OPTIONS = ["-DUSE_SYSTEM_LIBS=ON", "-DUSE_CUDA=ON", *(f"-D{name}=OFF" for name in OFF)]
GATE = "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/checkout/modules/TorchCudaStackGate.cmake"
PREBUILT = "-DTorchCudaStack_TOOL=/tool/tcstack"
LIST = "8.0;8.6+PTX"
FLAGS = ["arch=compute_80,code=sm_80", "arch=compute_86,code=compute_86", "arch=compute_86,code=sm_86"]
PLAIN = ["arch=compute_50,code=sm_50", "arch=compute_80,code=sm_80", "arch=compute_86,code=sm_86",
         "arch=compute_89,code=sm_89", "arch=compute_90,code=sm_90", "arch=compute_90a,code=sm_90a"]
HOPPER = "arch=compute_90a,code=sm_90a"
STATEMENTS = 240  # of this release with OPTIONS
OBJECT = "caffe2/CMakeFiles/torch_cuda.dir/__/aten/src/ATen/cuda/Sleep.cu.o"

ENTER = """mount -t overlay overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" "$1/root"
mkdir -p "$1/root/checkout" "$1/root/tool"
mount -t proc proc "$1/root/proc"
mount --bind -o ro "$2" "$1/root/checkout"
mount --bind -o ro "$3" "$1/root/tool"
root=$1/root; shift 3
exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 GENERIC_BLAS_LIBRARIES=blas "$@"
"""


class Layer:
    """A layer over the part: what is written in it, and how to run something in it."""

    def __init__(self, folder):
        self.folder, self.log, self.seconds = Path(folder), "", 0.0
        self.part = parts.ensure("pytorch-source-2.6")
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()
        if self.inside("true", check=False):
            raise parts.Unavailable(f"no layer can be mounted over a folder here: {self.log.strip().splitlines()[-1]}")

    def inside(self, *command, check=True, **variables):
        tool = Path(os.environ["TCS_TOOL"]).resolve().parent
        start = time.monotonic()
        done = subprocess.run(
            [*parts.ALONE, "sh", "-ec", ENTER, self.part, self.folder,
             CHECKOUT, tool, *(f"{k}={v}" for k, v in variables.items()), *map(str, command)],
            text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False)
        self.seconds, self.log = time.monotonic() - start, done.stdout
        assert not check or done.returncode == 0, f"{command[0]} ended with {done.returncode}"
        return done.returncode

    def configure(self, build, *options, check=True, **variables):
        return self.inside("cmake", "-G", "Ninja", "-S", TREE, "-B", f"/root/{build}", *OPTIONS, *options, check=check,
                           **variables)

    def file(self, path):
        """A file below /root that a case made."""
        return self.folder / "upper/root" / path

    def statements(self, build):
        """(source, gencode flags) of each CUDA compile statement."""
        found, current = [], ""
        for line in self.file(f"{build}/build.ninja").read_text(encoding="utf-8").splitlines():
            if line.startswith("build "):
                current = line.split(".cu.o:")[0].rsplit("/", 1)[-1] if ": CUDA_COMPILER" in line else ""
            elif current and line.startswith("  FLAGS = "):
                found.append((f"{current}.cu", gencodes(line)))
        return found

    def holds(self, build, flags, more=""):
        """Each .cu has these gencode flags, no more and no less, but for what the tree's Codegen.cmake adds by itself to
        RowwiseScaledMM.cu where it takes 9.0 to be in the list."""
        found = self.statements(build)
        assert len(found) == STATEMENTS, f"{len(found)} CUDA statements"
        odd = {name: entry for name, entry in found if entry != sorted(flags)}
        expected = {"RowwiseScaledMM.cu": sorted([*flags, more])} if more else {}
        assert odd == expected, f"other flags: {odd}"
        print(f"    {len(found)} CUDA statements, {len(odd)} with more, configured in {self.seconds:.0f} s:"
              f" {' '.join(sorted(flags))}")

    def compilers(self, build):
        """(nvcc, host compiler) that the CUDA statements call."""
        rules = self.file(f"{build}/CMakeFiles/rules.ninja").read_text(encoding="utf-8")
        found = set(re.findall(r"\$\{CODE_CHECK\}(\S+/nvcc) .*?-ccbin=(\S+)", rules))
        assert len(found) == 1, f"compilers: {found}"
        return found.pop()

    def stops(self, build, finding, *options, **variables):
        """The gate stops the configure with a finding, and no language is enabled."""
        assert self.configure(build, GATE, PREBUILT, *options, check=False, **variables), "it configures"
        self.says(f"error[{finding} ")
        assert "compiler identification" not in self.log, "a language was enabled first"
        assert not list(self.file(build).glob("CMakeFiles/*/CMake*Compiler.cmake")), "a compiler was looked at"
        print(f"    {finding} after {self.seconds:.2f} s")

    def refuses(self, finding, *options, **variables):
        """`check` says the same, and `run` does not start the command."""
        for command in (["check"], ["run"]):
            tail = ["--", "touch", "/root/started"] if command == ["run"] else []
            status = self.inside("/tool/tcstack", *command, "--tree", TREE, *options, *tail, check=False, **variables)
            assert status == 1, f"tcstack {command[0]} ended with {status}"
            self.says(f"error[{finding} ")
            assert not self.file("started").exists(), "the command was started"
            print(f"    {finding} by tcstack {command[0]} after {self.seconds:.2f} s")

    def says(self, text):
        assert text in self.log, f"does not say: {text}"


def gencodes(text):
    return sorted(re.findall(r"(?:-gencode|--generate-code)[ =](\S+)", text))


def case_alone_it_makes_up_a_list(layer):
    """What the others are held against: without a GPU and a list PyTorch chooses by itself."""
    layer.configure("plain")
    layer.holds("plain", PLAIN, HOPPER)


def case_arch_that_nvcc_lacks(layer):
    layer.stops("a", "TCS902", "-DTORCH_CUDA_ARCH_LIST=12.0")
    layer.refuses("TCS902", "--arch-list", "12.0")


def case_nothing_is_asked_for(layer):
    layer.stops("a", "TCS908")
    layer.refuses("TCS908")


def case_host_compiler_refused(layer):
    layer.stops("a", "TCS401", f"-DTORCH_CUDA_ARCH_LIST={LIST}", CUDAHOSTCXX="g++-14")
    layer.refuses("TCS401", "--arch-list", LIST, CUDAHOSTCXX="g++-14")


def case_nvcc_that_the_tree_refuses(layer):
    """There is no nvcc before 11.0 to be had: a script stands for one, and knows nothing but its release."""
    nvcc = layer.file("old/bin/nvcc")
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text('#!/bin/sh\necho "Cuda compilation tools, release 10.2, V10.2.89"\n', encoding="ascii")
    nvcc.chmod(0o755)
    layer.stops("a", "TCS323", "-DTORCH_CUDA_ARCH_LIST=7.0", CUDACXX="/root/old/bin/nvcc")
    layer.refuses("TCS323", "--arch-list", "7.0", CUDACXX="/root/old/bin/nvcc")


def case_build_folder_of_another_list(layer):
    """A cache that has a list is all that counts: TORCH_CUDA_ARCH_LIST of the environment is silently ignored."""
    cache = layer.file("a/CMakeCache.txt")
    cache.parent.mkdir(parents=True)
    cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={TREE}\nCMAKE_CACHEFILE_DIR:INTERNAL=/root/a\n"
                     f"CMAKE_GENERATOR:INTERNAL=Ninja\nTORCH_CUDA_ARCH_LIST:STRING={LIST}\n", encoding="ascii")
    layer.stops("a", "TCS924", TORCH_CUDA_ARCH_LIST="9.0")
    layer.refuses("TCS924", "--set", "BINARY_DIR=/root/a", TORCH_CUDA_ARCH_LIST="9.0")


def case_gate_and_one_object(layer):
    """A list is what each .cu gets, by the plan's compilers; one is built, and its images are the plan's."""
    layer.configure("gated", GATE, PREBUILT, f"-DTORCH_CUDA_ARCH_LIST={LIST}", CUDAHOSTCXX="g++-13")
    layer.holds("gated", planned(layer))
    nvcc, host = layer.compilers("gated")
    assert (nvcc, host) == ("/usr/bin/nvcc", "/usr/bin/g++-13"), f"{nvcc} with {host}"
    layer.inside("ninja", "-C", "/root/gated", OBJECT)
    print(f"    {OBJECT.rsplit('/', 1)[1]} built in {layer.seconds:.0f} s")
    layer.inside("/tool/tcstack", "verify", f"/root/gated/{OBJECT}", "--plan",
                 "/root/gated/TorchCudaStack/gate/plan.json")
    other = layer.inside("/tool/tcstack", "verify", f"/root/gated/{OBJECT}", "--targets", "9.0", check=False)
    assert other == 1, "an image that is not there is verified"


def planned(layer):
    plan = json.loads(layer.file("gated/TorchCudaStack/gate/plan.json").read_text(encoding="utf-8"))
    flags = gencodes(" ".join(plan["gencode_flags"]))
    assert flags == FLAGS, f"the plan is {flags}"
    return flags


def case_targets_through_the_gate(layer):
    """The tree's Dependencies.cmake sets its list anew from the environment; Codegen.cmake, which asks for it after that,
    finds the plan's."""
    layer.configure("gated", GATE, PREBUILT, f"-DTorchCudaStack_TARGETS={LIST}")
    layer.holds("gated", planned(layer))


def case_gate_that_compiles_its_tool(layer):
    layer.configure("gated", GATE, f"-DTORCH_CUDA_ARCH_LIST={LIST}")
    assert os.path.lexists(layer.file("gated/TorchCudaStack/tcstack")), "another tool was found"
    layer.holds("gated", FLAGS)


def emitted(layer, form):
    layer.inside("sh", "-c", f'/tool/tcstack plan --purpose pytorch-source --tree {TREE} --targets "{LIST}" '
                             f"--emit {form} >/root/{form}")


def case_environment_file(layer):
    emitted(layer, "env")
    layer.inside("sh", "-c", f". /root/env; cmake -G Ninja -S {TREE} -B /root/told {' '.join(OPTIONS)}")
    layer.holds("told", FLAGS)


def case_initial_cache(layer):
    emitted(layer, "initial-cache")
    layer.configure("told", "-C", "/root/initial-cache")
    layer.holds("told", FLAGS)


def case_user_preset(layer):
    emitted(layer, "preset")
    layer.inside("sh", "-c", f"cp /root/preset {TREE}/CMakeUserPresets.json; cd {TREE}; "
                             f"cmake --preset torch-cuda-stack -G Ninja -B /root/told {' '.join(OPTIONS)}")
    layer.holds("told", FLAGS)


def main():
    cases = {name[5:]: f for name, f in globals().items() if name.startswith("case_")}
    chosen = [name for name in cases if len(sys.argv) < 2 or sys.argv[1] in name]
    bad, start = 0, time.monotonic()
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="tcs-pytorch-") as folder:
            layer = None
            try:
                layer = Layer(folder)
                cases[name](layer)
                verdict = "good"
            except parts.Unavailable as reason:
                print(f"skipped: {reason}")
                return 77
            except (AssertionError, OSError) as wrong:
                bad, verdict = bad + 1, f"BAD: {wrong!r}"
                print(layer.log if layer else "")
        print(f"{name}: {verdict}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} cases good, {time.monotonic() - start:.0f} s")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
