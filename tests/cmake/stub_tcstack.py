#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands for tcstack in tests of the CMake side: writes the plan.cmake that STUB_PLAN (a JSON object) asks for, over a
healthy one, logs its arguments as JSON lines to STUB_LOG, and ends with STUB_EXIT."""
import json
import os
import sys

COMPONENTS = "Device Driver Toolkit HostCompiler Runtime Torch Python".split()
HEALTHY = {
    "TorchCudaStack_STATUS": "ok",
    "TorchCudaStack_TORCH_CUDA_ARCH_LIST": "8.0;9.0",
    "TorchCudaStack_GENCODE_FLAGS": "-gencode=arch=compute_80,code=sm_80;-gencode=arch=compute_90,code=sm_90",
    "TorchCudaStack_FINDINGS": "",
    "_tcs_outcome": "ok",
    "_tcs_summary": "TorchCudaStack: 8.0 9.0; a healthy machine",
    "_tcs_fatal": "",
    "_tcs_notices": "",
    "_tcs_notes": "",
    "_tcs_nvcc": "",
    "_tcs_root": "",
    "_tcs_host_compiler": "",
    "_tcs_torch_dir": "",
    "_tcs_cxx_standard": "17",
    "_tcs_python": sys.executable,
}
for component in COMPONENTS:
    HEALTHY[f"TorchCudaStack_{component}_FOUND"] = "TRUE"
    HEALTHY[f"TorchCudaStack_{component}_STATUS"] = "ok"


def main():
    arguments = sys.argv[1:]
    with open(os.environ["STUB_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps(arguments) + "\n")
    status = int(os.environ.get("STUB_EXIT", "0"))
    if arguments[:1] == ["configure"] and status in (0, 1):
        folder = arguments[arguments.index("--dir") + 1]
        os.makedirs(folder, exist_ok=True)
        facts = {"TorchCudaStack_FACTS_JSON": os.path.join(folder, "facts.json")}
        plan = {**HEALTHY, **facts, **json.loads(os.environ.get("STUB_PLAN", "{}"))}
        with open(os.path.join(folder, "plan.cmake"), "w", encoding="utf-8") as out:
            out.writelines(f"set({name} [====[{value}]====])\n" for name, value in plan.items())
        with open(os.path.join(folder, "plan.json"), "w", encoding="utf-8") as out:
            out.write("{}")
    sys.stderr.write(os.environ.get("STUB_STDERR", ""))
    return status


sys.exit(main())
