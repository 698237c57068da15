#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds probe-src/drive/projects.def against the projects themselves: each variable occurs in the file of the release
that its row names, and what `tcstack plan --emit env` writes is read as it was meant by the project's own code.

Rows of a commit on GitHub are held to their form alone. From the environment: TCS_TOOL, TCS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import parts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "differential"))
import peers_cut  # noqa: E402  (it lies beside this folder, not in a package)

TABLE = Path(os.environ["TCS_SOURCE_DIR"], "probe-src/drive/projects.def")
COMMIT = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
faults = []


def check(good, text):
    if not good:
        faults.append(text)


def rows():
    """(kind, project, variable or None, source, file, known or None)"""
    text = "\n".join(line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("//"))
    for kind, body in re.findall(r"TCS_(\w+)\((.*?)\)(?:  //[^\n]*)?(?=\n)", text, re.DOTALL):
        words = re.findall(r'"([^"]*)"', body)
        variable = words[1] if kind in ("ARCHS", "SWITCH", "COUNT") else None
        yield kind, words[0], variable, words[-2], words[-1], words[2] if kind == "ARCHS" else None


def file_of(source, file):
    """The named file of a release, None where the source is a commit."""
    if COMMIT.fullmatch(source):
        return None
    for name, (requirement, _, files) in parts.FILES.items():
        if requirement == source and file in files:
            return parts.ensure(name) / file
    faults.append(f"{source} {file}: neither a commit nor in parts.py")
    return None


def environment(arch_list):
    """What env says for a list, on a machine with nvcc 13.0."""
    facts = {"schema": "torch-cuda-stack/facts/1", "devices": {"state": "none", "list": []},
             "toolkits": {"selected": 0, "list": [{"version": "13.0.88", "root": "/cuda", "nvcc": "/cuda/bin/nvcc"}]},
             "torch": {"state": "found", "flavour": "cuda", "version": "2.11.0+cu130", "cuda": "13.0",
                       "images": ["sm_75", "sm_80", "sm_90"]}, "host": {"cores": 3, "memory_mib": 65536}}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="ascii") as file:
        json.dump(facts, file)
        file.flush()
        done = subprocess.run([os.environ["TCS_TOOL"], "plan", "--facts", file.name, "--arch-list", arch_list, "--emit",
                               "env", "--fail-on", "never"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^export (\w+)='([^']*)'$", done.stdout, re.MULTILINE))


def flash_attention_knows():
    text = (parts.ensure("flash-attn-2.8.3.post2") / "setup.py").read_text(encoding="utf-8")
    return set(re.findall(r'"(\d+)" in cuda_archs\(\)', text))


def natten_reads(value):
    space = peers_cut.cut(parts.ensure("natten-0.21.7") / "setup.py", ["_check_cuda_arch", "get_cuda_arch_list"])
    return space["get_cuda_arch_list"](value)


def flashinfer_reads(value):
    """The 0.5.3 CompilationContext, with the list in an environment of its own."""
    space = peers_cut.cut(parts.ensure("flashinfer-0.5.3") / "flashinfer/compilation_context.py",
                          ["CompilationContext"],
                          os=types.SimpleNamespace(environ={"FLASHINFER_CUDA_ARCH_LIST": value}))
    return sorted(space["CompilationContext"]().TARGET_CUDA_ARCHS)


def cupy_reads(value):
    space = peers_cut.cut(parts.ensure("cupy-14.2.0") / "install/cupy_builder/_compiler.py", ["_nvcc_gencode_options"],
                          os=types.SimpleNamespace(getenv=lambda name, default=None: value),
                          sys=types.SimpleNamespace(argv=["setup.py", "bdist_wheel"]))
    return space["_nvcc_gencode_options"](13000)


def check_rows():
    seen = 0
    for kind, project, variable, source, file, known in rows():
        path = file_of(source, file)
        if path is None:
            continue
        text = path.read_text(encoding="utf-8")
        seen += 1
        if variable is not None:
            check(re.search(rf"\b{variable}\b", text), f"{project}: {source} {file} has no {variable}")
        if kind == "SAYS" and project in ("causal-conv1d", "mamba-ssm"):
            check("arch=compute_75,code=sm_75" in text, f"{project}: {source} {file} writes no list of its own")
        if kind == "THREADS":
            check(re.search(r"""["']--threads["'=]""", text) and "NVCC_THREADS" not in text,
                  f"{project}: {source} {file} writes no --threads of its own")
        if kind == "SAYS" and project == "minkowskiengine":
            check('"--force_cuda"' in text, f"{project}: {source} {file} has no --force_cuda")
        if project == "flash-attn" and known is not None:
            check(set(known.split()) == flash_attention_knows(),
                  f"flash-attn knows {flash_attention_knows()}, the table {known}")
    check(seen >= 30, f"only {seen} rows were read: is the table's form another?")
    print(seen, "rows were held against their sources")


def check_words():
    for listed in ("7.5", "8.0;8.6", "8.6;8.9;9.0", "8.7;10.3;12.1", "11.0;9.0a", "9.0;12.0+PTX"):
        said = environment(listed)
        plain = [word.replace("+PTX", "") for word in listed.split(";")]
        by_number = sorted(plain, key=lambda word: float(word.rstrip("af")))
        digits = [int(word.rstrip("af").replace(".", "")) for word in by_number]
        check(natten_reads(said["NATTEN_CUDA_ARCH"]) == digits, f"natten reads {said['NATTEN_CUDA_ARCH']}")
        meant = sorted({(int(word.split(".")[0]), word.split(".")[1] + ("a" if int(word.split(".")[0]) >= 9
                                                                        and not word.endswith("a") else ""))
                        for word in plain})
        got = flashinfer_reads(said["FLASHINFER_CUDA_ARCH_LIST"])
        check(got == meant, f"flashinfer reads {got}, meant {meant}")
        options = cupy_reads(said["CUPY_NVCC_GENERATE_CODE"])
        check(len(options) == len(plain) + listed.count("+PTX")
              and all(re.fullmatch(r"--generate-code=arch=compute_\w+,code=(sm|compute)_\w+", one) for one in options),
              f"cupy reads {options}")
        check(set(said.get("FLASH_ATTN_CUDA_ARCHS", "80").split(";")) <= flash_attention_knows(),
              f"flash-attn is told {said.get('FLASH_ATTN_CUDA_ARCHS')}")


def main():
    check_rows()
    check_words()
    print("\n".join(faults) or "all as the table has it")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skip: {reason}")
        sys.exit(parts.SKIP)
