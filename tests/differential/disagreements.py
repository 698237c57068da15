#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inputs on which others disagree with each other or with the truth: docs/peers.md, each answer asked for anew.

    disagreements.py            compare with the page; environment: TCS_ANSWERS, TCS_TOOL, TCS_SOURCE_DIR
    disagreements.py --write    write the page

The truth of a row is written here, with what settles it; where it is about building, the real nvcc of CUDA 13.0 must
take ours and refuse what is said to be refused. Ours must be the truth in every row. Exit 77 when a part cannot be had.
"""
import collections
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import typing
from pathlib import Path

import nvccs
import ours
import peers_cut
import peers_deepspeed
import peers_flash_attention
import peers_kernels
import peers_torch_cuda
from peers_cut import parts

TORCH = "torch-2.15.0"
TORCH_ARCHS = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120".split()
TIMEOUT_S = 300
ANSWERS = 87  # of peers, at least (one is asked of a whole toolkit of the machine's own)
UNASKED = "..."  # a peer that cannot be asked on this machine
RECORDED = "(recorded) "  # an answer that no released package gives here: as it was measured once

# asked: as the page has it; ours: a question to `answers`, or a function of Ours; truth: what ours must be, and why;
# peers: {name: what is asked of it}. `refused`: pairs that nvcc 13.0 must not take.
Row = collections.namedtuple("Row", "asked ours truth why peers refused", defaults=((),))


def listed(text, nvcc="13.0", **more):
    return {"nvcc": nvcc, "list": text, **more}


def native(*devices, nvcc="13.0"):
    return {"nvcc": nvcc, "devices": list(devices), "targets": ["native"]}


def runs(image, device):
    return {"images": [image], "device": device}


def both(text):
    """torch's two parsers, asked for one list."""
    return {"torch Python": text, "torch CMake": text}


def on(image, device, hf):
    """torch.cuda for two CUDA releases, and Hugging Face's kernels."""
    asked = ([image], device)
    return {"torch.cuda 13.0": asked, "torch.cuda 13.2": asked, "kernels": ([hf], device)}


def pair(virtual, code):
    return (f"compute_{virtual}", code)


NVCC = "nvcc builds these"
REFUSES = "nvcc refuses it"
BORDER = ("only across the desktop/Tegra border",
          "no guide promises it; nvlink refuses up to 13.1 and links Orin's from 13.2")
DEFAULT = listed("80;90;100;110;120", nvcc="12.3")

ROWS = [
    Row("`Ampere`", listed("Ampere"), "sm_80 sm_86 compute_86", NVCC + "; of two readings PyTorch's documented one",
        both("Ampere")),
    Row("`Ampere+PTX`", listed("Ampere+PTX"), "sm_80 sm_86 compute_86", NVCC, both("Ampere+PTX")),
    Row("`Blackwell`", listed("Blackwell"), "sm_100 sm_103 sm_120 sm_121 compute_121", NVCC, both("Blackwell")),
    Row("`Blackwell+PTX`", listed("Blackwell+PTX"), "sm_100 sm_103 sm_120 sm_121 compute_121", NVCC,
        both("Blackwell+PTX")),
    Row("`Blackwell+Tegra`", listed("Blackwell+Tegra"), "sm_110", NVCC, both("Blackwell+Tegra"),
        [pair("101", "sm_101")]),
    Row("`12.0f`", listed("12.0f"), "sm_120f", NVCC, both("12.0f")),
    Row("`10.0f+PTX`", listed("10.0f+PTX"), "sm_100f compute_100f", NVCC, both("10.0f+PTX")),
    Row("`9.0f`", listed("9.0f"), "nothing, refused: 9.0f", REFUSES, both("9.0f"), [pair("90f", "sm_90f")]),
    Row("`8.8`", listed("8.8"), "sm_88", NVCC, both("8.8")),
    Row("`10.1`", listed("10.1"), "nothing, refused: 10.1", REFUSES + ": 11.0 from 13.0 on", both("10.1"),
        [pair("101", "sm_101")]),
    Row("`10.1`, nvcc 12.8", listed("10.1", nvcc="12.8"), "sm_101", "its ptxas lists it", both("10.1")),
    Row("`native`, no GPU", listed("native", devices=[]), "nothing, refused: native", "there is no device",
        both("native")),
    Row("`Auto`, no GPU, torch 2.15.0", listed("Auto", devices=[], torch="2.15.0", images=TORCH_ARCHS),
        " ".join(TORCH_ARCHS), NVCC + ": what torch was built for", {"torch Python": "Auto", "torch CMake": "Common"},
        [pair("50", "sm_50")]),
    Row("`Common`, torch 2.15.0", listed("Common", devices=[], torch="2.15.0", images=TORCH_ARCHS),
        " ".join(TORCH_ARCHS), NVCC + ": what torch was built for", both("Common"), [pair("50", "sm_50")]),
    Row("`All`", listed("All"), "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121 "
        "compute_120", "nvcc -arch=all", both("All"), [pair("35", "sm_35"), pair("50", "sm_50")]),
    Row("`8.6(8.0)`", listed("8.6(8.0)"), "compute_80>sm_86", NVCC, both("8.6(8.0)")),
    Row("`8.6(8.0)+PTX`", listed("8.6(8.0)+PTX"), "compute_80 compute_80>sm_86", NVCC, both("8.6(8.0)+PTX")),
    Row("`9.0a(9.0)`", listed("9.0a(9.0)"), "compute_90>sm_90a", NVCC + ": plain PTX compiled for 9.0a",
        both("9.0a(9.0)")),
    Row("`99.9`", listed("99.9"), "nothing, refused: 99.9", REFUSES, both("99.9"), [pair("999", "sm_999")]),
    Row("`8.0;8.6;`", listed("8.0;8.6;"), "sm_80 sm_86", NVCC, both("8.0;8.6;")),
    Row("`8.0<TAB>8.6`", listed("8.0\t8.6"), "sm_80 sm_86", NVCC, both("8.0\t8.6")),
    Row("`8.0,8.6`", listed("8.0,8.6"), "nothing, refused: 8.0,8.6", "no list; the help line has 8.0;8.6",
        both("8.0,8.6")),
    Row("`3.5`", listed("3.5"), "nothing, refused: 3.5", REFUSES, both("3.5"), [pair("35", "sm_35")]),
    Row("devices 9.0 and 10.0", native("9.0", "10.0"), "sm_90 sm_100", "each its own; PTX, if any, is of the newest",
        {"torch Python": ["9.0", "10.0"], "torch CMake": ["9.0", "10.0"]}),
    Row("device 12.1", native("12.1"), "sm_121", NVCC,
        {"torch Python": ["12.1"], "torch CMake": ["12.1"], "torch 2.7.1 CMake": ["12.1(2.0)"]},
        [pair("20", "sm_121")]),
    Row("device 10.3, nvcc 12.8", native("10.3", nvcc="12.8"), "sm_100", "12.8 lacks 103; sm_100 runs on 10.3",
        {"torch Python": ["10.3"], "torch CMake": ["10.3"]}),
    Row("device 11.0, nvcc 12.8", native("11.0", nvcc="12.8"), "compute_101", "12.8 calls it 101; its PTX runs on 11.0",
        {"torch Python": ["11.0"], "torch CMake": ["11.0"]}),
    Row("device 6.1", native("6.1"), "nothing", "13.0 builds nothing that runs there",
        {"torch Python": ["6.1"], "torch CMake": ["6.1"]}, [pair("61", "sm_61")]),
    Row("no device, no list", {"nvcc": "13.0", "devices": [], "torch": "2.15.0", "images": TORCH_ARCHS},
        " ".join(TORCH_ARCHS), NVCC + ": what torch was built for", {"torch Python": [], "torch CMake": "Common"},
        [pair("50", "sm_50")]),
    Row("`CMAKE_CUDA_ARCHITECTURES=native`, no GPU", listed("native", dialect="cmake", devices=[]),
        "nothing, refused: native", "there is no device", {"CMake 3.25": "native", "CMake 4.4": "native"}),
    Row("`CMAKE_CUDA_ARCHITECTURES=86`, find_package(Torch)", listed("86", dialect="cmake"), "sm_86 compute_86",
        "what CMake makes of it without Torch", {"CMake 4.4": "86", "torch CMake": "CMAKE_CUDA_ARCHITECTURES"}),
    Row("`9.0` and the flag `-I/home/me/research`", "cflag", "sm_90", NVCC + ", the flag or no flag",
        {"torch Python": ("9.0", "-I/home/me/research")}),
    Row("flash-attention's default, nvcc 12.3", DEFAULT, "sm_80 sm_90, refused: 100 110 120",
        "its ptxas lists no more", {"flash-attention": None, "flash-attention's main branch":
                                    RECORDED + "sm_80 sm_90 compute_120"},
        [pair("100", "sm_100"), pair("110", "sm_110"), pair("120", "sm_120"), pair("120", "compute_120")]),
    Row("DeepSpeed's default, nvcc 13.0", listed("6.0;6.1;7.0"), "nothing, refused: 6.0 6.1 7.0", REFUSES,
        {"DeepSpeed": None}, [pair("60", "sm_60"), pair("61", "sm_61"), pair("70", "sm_70")]),
    Row("nvcc 13.1, torch for CUDA 13.0", "pairing", "allowed", "minor versions of one major fit",
        {"DeepSpeed": ("13.1", "13.0")}),
    Row("`8.0;9.0` as FlashInfer's list", listed("8.0;9.0"), "sm_80 sm_90", NVCC, {"FlashInfer": "8.0;9.0"}),
    Row("sm_87 on 8.9", runs("sm_87", "8.9"), *BORDER, on("sm_87", "8.9", "8.7")),
    Row("sm_80 on 8.7", runs("sm_80", "8.7"), *BORDER, on("sm_80", "8.7", "8.0")),
    Row("sm_100a on 10.3", runs("sm_100a", "10.3"), "does not run", "an `a` is exact; nvlink refuses",
        on("sm_100a", "10.3", "10.0a")),
    Row("compute_90 alone on 12.0", runs("compute_90", "12.0"), "runs", "nvcc makes sm_120 of compute_90",
        {"torch.cuda 13.2": (["compute_90"], "12.0"), "kernels": (["9.0+PTX"], "12.0")}),
    Row("sm_101 on 11.0", runs("sm_101", "11.0"), "does not run", "another major; no tool knows both numbers",
        {**on("sm_101", "11.0", "10.1"), "_check_capability 13.2": (["sm_101"], "11.0"),
         "_check_cubins 13.2": (["sm_101"], "11.0")}),
    Row("sm_70 on 7.2", runs("sm_70", "7.2"), BORDER[0], "no guide promises it; nvlink 11.8 and 12.4 refuse",
        on("sm_70", "7.2", "7.0")),
]


def pairs_in(text):
    return set(re.findall(r"arch=(compute_[\w()]+),code=([\w()]+)", text))


class TorchPython:
    """_get_cuda_arch_flags of a wheel."""

    def __init__(self, name):
        self.devices = []
        cuda = types.SimpleNamespace(device_count=lambda: len(self.devices), get_arch_list=lambda: TORCH_ARCHS,
                                     get_device_capability=lambda i: tuple(map(int, self.devices[i].split("."))))
        torch = types.SimpleNamespace(cuda=cuda, distributed=types.SimpleNamespace(is_available=lambda: False))
        self.function = peers_cut.cut(parts.ensure(name) / "torch/utils/cpp_extension.py", ["_get_cuda_arch_flags"],
                                      os=os, re=re, collections=collections, torch=torch, List=typing.List,
                                      Optional=typing.Optional, logger=logging.getLogger("torch"))[
                                          "_get_cuda_arch_flags"]

    def __call__(self, asked, _):
        """A list, a list and a flag, or devices."""
        text, flag = asked if isinstance(asked, tuple) else (asked, "-O2")
        os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
        if isinstance(text, str):
            os.environ["TORCH_CUDA_ARCH_LIST"] = text
        self.devices = text if isinstance(text, list) else []
        said = peers_cut.answer_of(self.function, [flag])
        os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
        return said if isinstance(said, str) else peers_cut.told(pairs_in(" ".join(said)))


def cmake_script(cmake, text, *options):
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "s.cmake"
        script.write_text(text, encoding="utf-8")
        return subprocess.run([cmake, *options, "-P", script], capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False, cwd=folder).stderr


def torch_cmake(name):
    """cuda_select_nvcc_arch_flags of a wheel: for a list, or for devices that it is told of."""
    def ask(asked, nvcc):
        if asked == "CMAKE_CUDA_ARCHITECTURES":
            return after_find_torch(name)
        module = next((parts.ensure(name) / "torch/share/cmake").rglob("select_compute_arch.cmake"))
        devices = f'set(CUDA_GPU_DETECT_OUTPUT "{" ".join(asked)}")\n' if isinstance(asked, list) else ""
        text = "Auto" if isinstance(asked, list) else asked
        said = cmake_script("cmake", f'include("{module}")\n{devices}set(list [[{text}]])\n'
                            'cuda_select_nvcc_arch_flags(flags ${list})\nmessage(NOTICE "@${flags}")\n',
                            f"-DCUDA_VERSION={nvcc}")
        return "an error" if "CMake Error" in said else peers_cut.told(pairs_in(said.partition("@")[2]))
    return ask


def nvcc_13_0():
    """The machine's own, where it is of 13.0: more of a toolkit lies around it than pip brings."""
    own = nvccs.machines_own()
    if own and nvccs.release_of(own) == "13.0":
        return own
    return Path(parts.ensure("toolkit-13.0")) / parts.PIP_NVCC


def configured(cmake, lines, archs):
    """A project of these lines, configured with a real nvcc; (its output, its folder's build.ninja)."""
    if not shutil.which("ninja"):
        raise parts.Unavailable("ninja is not there")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "t.cu").write_text("__global__ void k() {}\n", encoding="ascii")
        (source / "CMakeLists.txt").write_text("\n".join(lines), encoding="utf-8")
        nvcc = nvcc_13_0()
        done = subprocess.run([parts.ensure(cmake) / "bin/cmake", "-S", source, "-B", source / "b", "-G", "Ninja",
                               f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCMAKE_CUDA_ARCHITECTURES={archs}"],
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        ninja = source / "b/build.ninja"
        return done, ninja.read_text(encoding="utf-8") if ninja.is_file() else ""


def cmake(name):
    """CMake itself: the flags of one object."""
    def ask(asked, _):
        done, ninja = configured(name, ["cmake_minimum_required(VERSION 3.25)", "project(t LANGUAGES CUDA)",
                                        "add_library(t OBJECT t.cu)"], asked)
        if done.returncode != 0:
            return "an error"
        flags = re.search(r"FLAGS = (.*)", ninja)[1]
        return "-arch=native" if "-arch=native" in flags else peers_cut.told(pairs_in(re.sub(
            r"code=\[(\w+),(\w+)\]", r"code=\1 arch=compute_86,code=\2", flags)))
    return ask


def after_find_torch(name):
    """What is left of CMAKE_CUDA_ARCHITECTURES=86 when torch's cuda.cmake has run without a GPU."""
    public = next((parts.ensure(name) / "torch/share/cmake").rglob("public/cuda.cmake")).parent
    done, _ = configured("cmake-4.4", [
        "cmake_minimum_required(VERSION 3.25)", "project(t LANGUAGES CXX CUDA)", "set(CAFFE2_USE_CUDA ON)",
        f'include("{public}/utils.cmake")', f'include("{public}/cuda.cmake")',
        'message(NOTICE "@${CMAKE_CUDA_ARCHITECTURES} ${CMAKE_CUDA_FLAGS}")'], "86")
    said = done.stderr.partition("@")[2]
    if not said:
        return None  # no whole toolkit here
    return f"{said.split()[0]}, and {peers_cut.told(pairs_in(said.replace('-gencode;', '')))}"


def flashinfer(asked, _):
    def flags():
        space = peers_cut.cut(parts.ensure("flashinfer-0.5.3") / "flashinfer/compilation_context.py",
                              ["CompilationContext"], os=os)
        return space["CompilationContext"]().get_nvcc_flags_list()
    os.environ["FLASHINFER_CUDA_ARCH_LIST"] = asked
    said = peers_cut.answer_of(flags)
    return said if isinstance(said, str) else peers_cut.told(pairs_in(" ".join(said)))


def deepspeed(asked, nvcc):
    peer = peers_deepspeed.Theirs()
    return peer.pairing(*asked) if asked else peer.flags(nvcc, None)


def torch_cuda(cuda, check=None):
    peer = peers_torch_cuda.Theirs("2.15.0", cuda)
    return lambda asked, _: peer.one(check, *asked) if check else peer(*asked)


def peers():
    flash = peers_flash_attention.theirs()
    hugging = peers_kernels.theirs()
    return {"torch Python": TorchPython(TORCH), "torch CMake": torch_cmake(TORCH),
            "torch 2.7.1 CMake": torch_cmake("torch-2.7.1"), "CMake 3.25": cmake("cmake-3.25"),
            "CMake 4.4": cmake("cmake-4.4"), "flash-attention": lambda asked, nvcc: flash(asked, nvcc),
            "flash-attention's main branch": lambda asked, _: asked.removeprefix(RECORDED), "DeepSpeed": deepspeed,
            "FlashInfer": flashinfer, "kernels": lambda asked, _: hugging(*asked),
            "torch.cuda 13.0": torch_cuda("13.0"), "torch.cuda 13.2": torch_cuda("13.2"),
            "_check_capability 13.2": torch_cuda("13.2", "_check_capability"),
            "_check_cubins 13.2": torch_cuda("13.2", "_check_cubins")}


def with_flag():
    """Our plan for 9.0 where nvcc is given a flag with "arch" in it."""
    facts = {"schema": "torch-cuda-stack/facts/1", "origin": "declared", "devices": {"state": "none", "list": []},
             "environment": {"NVCC_APPEND_FLAGS": "-I/home/me/research"},
             "toolkits": {"selected": 0, "list": [{"root": "/cuda", "nvcc": "/cuda/bin/nvcc", "version": "13.0"}]}}
    done = subprocess.run([os.environ["TCS_TOOL"], "plan", "--facts", "/dev/stdin", "--arch-list", "9.0", "--emit",
                           "gencode"], input=json.dumps(facts), capture_output=True, text=True, check=True)
    return peers_cut.told(pairs_in(done.stdout)), pairs_in(done.stdout)


def our_answers():
    """(text, pairs) for each row."""
    said = ours.ask([row.ours for row in ROWS if isinstance(row.ours, dict)])
    for row in ROWS:
        if row.ours == "cflag":
            yield with_flag()
        elif row.ours == "pairing":
            yield peers_deepspeed.our_pairing("13.1", "13.0"), set()
        else:
            answer = said.pop(0)
            yield ((peers_cut.FITS[answer["fit"]], set()) if "fit" in answer else
                   (peers_cut.told_plan(answer), answer["pairs"]))


def nvcc_of(row):
    return row.ours.get("nvcc", "13.0") if isinstance(row.ours, dict) else "13.0"


class Table:
    """All answers, checked, and the page made of them."""

    def __init__(self):
        self.nvcc = nvccs.Nvcc(Path(parts.ensure("toolkit-13.0")) / parts.PIP_NVCC)
        self.listed = nvccs.Listed()
        oracle = Path(os.environ["TCS_SOURCE_DIR"], "tests/oracles/nvlink-cubin-compat.json")
        self.nvlink = json.loads(oracle.read_text(encoding="utf-8"))["releases"]
        self.peers, self.failures, self.lines, self.counts = peers(), [], [], collections.Counter()

    def fail(self, row, text):
        self.failures.append(f"{row.asked}: {text}")
        print(f"FAIL {self.failures[-1]}", flush=True)

    def taken(self, pairs):
        """What nvcc 13.0 says of each; one that mixes two architectures is compiled too."""
        self.counts["pairs asked of nvcc"] += len(pairs)
        return self.nvcc.accepts(pairs, {p for p in pairs if p[0].split("_")[1] == p[1].split("_")[1]})

    def check_ours(self, row, text, pairs):
        self.counts["rows"] += 1
        if text != row.truth:
            self.fail(row, f"ours is {text}, not the truth: {row.truth}")
        for asked, wanted in ((pairs, True), (row.refused, False)):
            took = self.taken(asked) if nvcc_of(row) == "13.0" else {
                one: self.listed.takes(nvcc_of(row), one) for one in asked}
            for one, said in took.items():
                if said != wanted:
                    self.fail(row, f"nvcc {nvcc_of(row)} {'takes' if said else 'refuses'} {one}")
        if row.asked == "`All`" and self.nvcc.images(["-arch=all"]) != {code for _, code in pairs}:
            self.fail(row, "nvcc -arch=all is otherwise")
        if isinstance(row.ours, dict) and "device" in row.ours:
            self.check_fit(row, text)

    def check_fit(self, row, text):
        """What nvlink of five releases said of it, and for PTX what nvcc does."""
        image, device = row.ours["images"][0], peers_cut.digits(row.ours["device"])
        if image.startswith("compute"):
            said = {all(self.taken([(image, f"sm_{device}")]).values())}
        else:
            said = {any(image[3:] in rows.get(device + suffix, []) for suffix in ("", "a", "f"))
                    for rows in self.nvlink.values() if device in rows}
        self.counts["verdicts of nvlink"] += len(said)
        if (text == "runs" and False in said) or (text == "does not run" and True in said):
            self.fail(row, f"nvlink or nvcc say {said}")

    def peer(self, row, name, asked):
        """A peer's answer for the page; where it is flags, with the first that nvcc 13.0 refuses."""
        said = self.peers[name](asked, nvcc_of(row))
        if said is None:
            return None
        self.counts["answers of peers"] += 1
        words = re.findall(r"\b(?:sm|compute)_[\w()]+", said)
        if nvcc_of(row) == "13.0" and words and not isinstance(asked, tuple):
            took = self.taken(list(peers_cut.pairs_told(said)))
            said += next((f" (nvcc refuses {code})" for (_, code), ok in sorted(took.items()) if not ok), "")
        return ("recorded: " if str(asked).startswith(RECORDED) else "") + said

    def fill(self):
        for row, (text, pairs) in zip(ROWS, our_answers()):
            self.check_ours(row, text, pairs)
            cells = []
            for name, asked in row.peers.items():
                cells.append(f"{name}: {self.peer(row, name, asked) or UNASKED}")
                if name == "CMake 4.4" and asked == "86" and cells[-1] != f"{name}: {row.truth}":
                    self.fail(row, f"{cells[-1]}, not the truth")
            self.lines.append(f"| {row.asked} | {'<br>'.join(cells)} | {row.truth} ({row.why}) | {text} |")
        return self


def page():
    return Path(os.environ["TCS_SOURCE_DIR"], "docs/peers.md")


def compare(lines):
    """The rows of the page against those of now; a cell that could not be asked for is any."""
    on_page = [line for line in page().read_text(encoding="utf-8").splitlines() if line.startswith("| ")][2:]
    if len(on_page) != len(lines):
        yield f"docs/peers.md has {len(on_page)} rows, not {len(lines)}"
    for old, new in zip(on_page, lines):
        if not re.fullmatch(re.escape(new).replace(re.escape(UNASKED), "[^|]*"), old):
            yield f"docs/peers.md is otherwise:\n  now  {new}\n  page {old}"


def write(lines):
    """Put the rows in place of those of the page."""
    kept = page().read_text(encoding="utf-8").splitlines()
    first = next(at for at, line in enumerate(kept) if line.startswith("| ---"))
    after = [line for line in kept[first:] if not line.startswith("| ")]
    page().write_text("\n".join([*kept[:first + 1], *lines, *after]) + "\n", encoding="utf-8")


def main(arguments):
    table = Table().fill()
    if arguments == ["--write"]:
        write(table.lines)
    table.failures += compare(table.lines)
    for failure in table.failures:
        print(f"FAIL {failure}")
    counts = dict(table.counts)
    print(f"disagreements: {counts}, {len(table.failures)} failures")
    if counts["rows"] != len(ROWS) or counts["answers of peers"] < ANSWERS:
        print(f"FAIL fewer answers than {ANSWERS}")
        return 1
    return 1 if table.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except parts.Unavailable as reason:
        print(f"disagreements.py: skip: {reason}", file=sys.stderr)
        sys.exit(parts.SKIP)
