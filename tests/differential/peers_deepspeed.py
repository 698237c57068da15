# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's op builder: flags from a list or from its own default, a list from the devices, and the CUDA pairing."""
import json
import os
import random
import re
import subprocess
import sys
import types
import typing

import peers_cut
from differences import Case, Difference
from peers_cut import parts

PAGE, RELEASE = "deepspeed", "deepspeed-0.19.8"
NVCCS = ["11.8", "12.4", "12.8", "12.9", "13.0", "13.2"]
NUMBERS = "6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1 8.0+PTX 9.0+PTX 12.0+PTX".split()
OTHERS = "9.0a 12.0f 10.0a+PTX Ampere Hopper 8.6(8.0) 90 sm_90 all 80-virtual".split()
SEPARATORS = [";"] * 6 + [" "] * 3 + ["  ", "\t", ";;"]


class Theirs:
    """Questions to its functions; nothing of DeepSpeed or torch is imported."""

    def __init__(self):
        self.nvcc, self.devices = "", []
        cuda = types.SimpleNamespace(device_count=lambda: len(self.devices),
                                     get_device_capability=lambda i: tuple(map(int, self.devices[i].split("."))))
        torch = types.SimpleNamespace(cuda=cuda, version=types.SimpleNamespace(cuda=""))
        torch.utils = types.SimpleNamespace(cpp_extension=types.SimpleNamespace(CUDA_HOME="/cuda"))
        for name, module in (("torch", torch), ("torch.utils", torch.utils),  # it imports them where it needs them
                             ("torch.utils.cpp_extension", torch.utils.cpp_extension)):
            sys.modules[name] = module
        self.space = peers_cut.cut(
            parts.ensure(RELEASE) / "op_builder/builder.py",
            ["DEFAULT_COMPUTE_CAPABILITIES", "WARNING", "CUDAMismatchException", "get_default_compute_capabilities",
             "cuda_minor_mismatch_ok", "assert_no_cuda_mismatch", "CUDAOpBuilder.compute_capability_args",
             "CUDAOpBuilder.filter_ccs"], os=os, List=typing.List, torch=torch, print=lambda *_: None, YELLOW="",
            END="", installed_cuda_version=lambda name="": tuple(map(int, self.nvcc.split("."))))

    def asked(self, jit):
        """The flags, or the list that it leaves for torch."""
        builder = types.SimpleNamespace(jit_mode=jit, name="op")
        builder.filter_ccs = lambda ccs: self.space["filter_ccs"](builder, ccs)
        flags = self.space["compute_capability_args"](builder)
        return os.environ.pop("TORCH_CUDA_ARCH_LIST") if jit else peers_cut.told(
            set(re.findall(r"arch=(\w+),code=(\w+)", " ".join(flags))))

    def flags(self, nvcc, arch_list):
        self.nvcc = nvcc
        os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
        if arch_list is not None:
            os.environ["TORCH_CUDA_ARCH_LIST"] = arch_list
        return peers_cut.answer_of(self.asked, False)

    def for_devices(self, nvcc, devices):
        self.nvcc, self.devices = nvcc, devices
        os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
        said = peers_cut.answer_of(self.asked, True)
        if said.endswith("Error"):
            return said
        return peers_cut.told({pair for cc in said.split(";") for pair in pairs_of(peers_cut.digits(cc))})

    def pairing(self, nvcc, torch_cuda):
        self.nvcc, self.space["torch"].version.cuda = nvcc, torch_cuda
        return "allowed" if peers_cut.answer_of(self.space["assert_no_cuda_mismatch"]) is True else "refused"


def pairs_of(number):
    """What torch makes of one entry: "90+PTX"."""
    name = number.removesuffix("+PTX")
    yield f"compute_{name}", f"sm_{name}"
    if name != number:
        yield f"compute_{name}", f"compute_{name}"


def questions(seed, count):
    chance = random.Random(seed)
    lists = [[(nvcc, None, None) for nvcc in NVCCS],
             [(nvcc, None, f"torch {torch}") for nvcc in NVCCS for torch in NVCCS]]
    for _ in range(count):
        tokens = [chance.choice(OTHERS if chance.random() < 0.08 else NUMBERS) for _ in range(chance.randint(1, 5))]
        text = "".join(token + chance.choice(SEPARATORS) for token in tokens[:-1]) + tokens[-1]
        lists.append([(chance.choice(NVCCS), text + chance.choice([""] * 9 + [";"]), None)])
        lists.append([(chance.choice(NVCCS), None, chance.sample(peers_cut.DEVICES, chance.randint(1, 3)))])
    return [question for some in lists for question in some]


def our_question(nvcc, arch_list, devices):
    if devices is not None:
        return {"nvcc": nvcc, "devices": devices, "targets": ["native"]}
    # Its default is for wherever the build goes: so is ours for an explicit list, word by word the same.
    return {"nvcc": nvcc, "list": arch_list if arch_list is not None else default_of(nvcc)}


def default_of(nvcc):
    """The list that its default amounts to, to be judged as if a user had written it."""
    peer = Theirs()
    peer.nvcc = nvcc
    return peer.space["get_default_compute_capabilities"]()


def our_pairing(nvcc, torch_cuda):
    """Whether `tcstack check` calls the pair an error."""
    facts = {"schema": "torch-cuda-stack/facts/1", "origin": "declared", "devices": {"state": "none", "list": []},
             "toolkits": {"selected": 0, "list": [{"root": "/cuda", "nvcc": "/cuda/bin/nvcc", "version": nvcc}]},
             "torch": {"state": "found", "version": "2.11.0", "flavour": "cuda", "cuda": torch_cuda},
             "request": {"arch_list": "9.0"}}
    done = subprocess.run([os.environ["TCS_TOOL"], "check", "--facts", "/dev/stdin", "--format", "json", "--fail-on",
                           "never"], input=json.dumps(facts), capture_output=True, text=True, check=False)
    found = [f for f in json.loads(done.stdout)["findings"] if f["id"] in ("TCS302", "TCS303")]
    return "refused" if any(f["severity"] == "error" for f in found) else "allowed"


def pairing_case(peer, nvcc, torch_cuda):
    return Case(f"nvcc {nvcc}, torch for CUDA {torch_cuda}", peer.pairing(nvcc, torch_cuda),
                our_pairing(nvcc, torch_cuda), arch_list=None, devices=None, said={"issues": []})


def cases(questions, ask):
    """A question is (nvcc, list, devices), or (nvcc, None, "torch 13.0") about a pair of CUDA releases."""
    peer, made = Theirs(), []
    pairings = [q for q in questions if isinstance(q[2], str)]
    questions = [q for q in questions if not isinstance(q[2], str)]
    for nvcc, _, torch in pairings:
        made.append(pairing_case(peer, nvcc, torch.split()[1]))
    for (nvcc, arch_list, devices), said in zip(questions, ask([our_question(*q) for q in questions])):
        where = repr(arch_list) if arch_list is not None else f"devices {' '.join(devices)}" if devices else "default"
        theirs = peer.for_devices(nvcc, devices) if devices else peer.flags(nvcc, arch_list)
        made.append(Case(f"{where}, nvcc {nvcc}", theirs, peers_cut.told_plan(said), arch_list=arch_list,
                         devices=devices, said=said, nvcc=nvcc))
    return made


def words(text):
    return set(text.partition(",")[0].split()) - {"nothing"}


def fails(case):
    return case.arch_list is not None and case.theirs in ("ValueError", "IndexError")


def beyond_nvcc(case):
    """Something is left in its flags that this nvcc does not build, and we refuse or replace it."""
    return any(issue["kind"] in peers_cut.REFUSALS + ("NearestArch", "NoArch") for issue in case.said["issues"])


DIFFERENCES = [
    Difference("default-of-cuda-13", PAGE, lambda c: c.arch_list is None and c.devices is None and beyond_nvcc(c)
               and "13." in c.asked, ("13.0", None, None)),
    Difference("only-numbers", PAGE, lambda c: fails(c) and any(
        re.search(r"[^\d.;\s]", token.removesuffix("+PTX")) or "." not in token
        for token in re.split(r"[;\s]+", c.arch_list) if token), ("13.0", "9.0a", None)),
    Difference("separators", PAGE, lambda c: fails(c) and re.search(r"\t|;;|  |;$|; | ;", c.arch_list),
               ("13.0", "8.0;8.6;", None)),
    Difference("tab-takes-an-entry", PAGE, lambda c: c.arch_list is not None and "+PTX\t" in c.arch_list
               and words(c.theirs) < words(c.ours), ("13.0", "9.0+PTX\t12.0", None)),
    Difference("nvcc-not-asked", PAGE, beyond_nvcc, ("12.4", "9.0;12.0", None)),
    Difference("ptx-nobody-asked-for", PAGE, lambda c: c.devices is not None and words(c.ours) < words(c.theirs),
               ("13.0", None, ["8.0", "9.0"])),
    Difference("minor-of-cuda-13", PAGE, lambda c: c.theirs == "refused" and c.ours == "allowed" and "13." in c.asked,
               ("13.2", None, "torch 13.0")),
]
