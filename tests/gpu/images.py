# SPDX-License-Identifier: Apache-2.0
"""Kernel images that were made on another machine: built by nvcc one by one, loaded and launched through ctypes.

Run as a program it tries one image on one device and prints what came of it: images.py FILE IMAGE INDEX. It shares no
code with tcstack's own probe, so that the two can disagree.
"""
import ctypes
import json
import os
import pathlib
import sys

NONCE = 0x5AFE1234
ANSWERS = "images.json"


def file_of(image):
    return f"{image}.{'cubin' if image.startswith('sm_') else 'ptx'}"


def code_of(image):
    """What the kernel's image for this architecture holds: tcs_image_code of probe-src/kernels/image_probe.cu."""
    digits = image.partition("_")[2]
    suffix = digits[-1] if digits[-1] in "af" else ""
    return int(digits.rstrip("af")) * 10 * 16 + {"": 0, "f": 1, "a": 2}[suffix]


def order(image):
    """For sorting: 75 before 90 before 90a before 100, machine code before PTX."""
    digits = image.partition("_")[2]
    return int(digits.rstrip("af")), digits[len(digits.rstrip("af")):], image.startswith("compute_")


# ---- --prepare

def build_all(nvcc, kernel, names, folder, clock):
    """[{image, result: built | refused, text}], and the files in the folder. `kernel`: as tcstack holds it, a string."""
    source = folder / kernel.name
    source.write_text(kernel.read_text(encoding="ascii").partition('R"CUDA(')[2].rpartition(')CUDA"')[0], encoding="ascii")
    builds = []
    for image in names:
        real = image.startswith("sm_")
        file = folder / file_of(image)
        digits = image.partition("_")[2]
        command = [nvcc, "-cubin" if real else "-ptx", f"-arch={image}" if real else f"-arch=compute_{digits}",
                   "-o", file, source]
        status, out, err = clock.run(60, command)
        builds.append({"image": image, "result": "built" if status == 0 and file.is_file() else "refused",
                       "text": "" if status == 0 else (err + out).strip()})
    return builds


def write(folder, toolkits, builds):
    pathlib.Path(folder, ANSWERS).write_text(json.dumps({"toolkits": toolkits, "builds": builds}, indent=1))


def read(folder):
    return json.loads(pathlib.Path(folder, ANSWERS).read_text(encoding="utf-8"))


# ---- --images

def try_all(folder, builds, index, clock):
    """A device's image_probe. Each image has a process of its own: one that crashes or hangs takes no other with it."""
    answers = []
    for build in builds:
        if build["result"] != "built" or clock.left() <= 0:
            continue
        image = build["image"]
        env = {**os.environ, "CUDA_CACHE_DISABLE": "1"}  # what was translated before says nothing of this driver
        status, out, _ = clock.run(30, [sys.executable, __file__, pathlib.Path(folder, file_of(image)), image, index], env=env)
        try:
            answer = json.loads(out.splitlines()[-1])
        except (ValueError, IndexError):
            answer = {"result": "hang" if status is None else "crash"}
        answers.append({"image": image, **answer})
    return answers


def try_one(file, image, index):
    """{result, error, step}, as in facts."""
    cuda = ctypes.CDLL("libcuda.so.1")
    pointer, address, answer = ctypes.c_void_p, ctypes.c_uint64(), ctypes.c_uint32()
    device, context, module, kernel = ctypes.c_int(), pointer(), pointer(), pointer()
    out, nonce = ctypes.c_uint64(), ctypes.c_uint32(NONCE)
    arguments = (pointer * 2)(ctypes.addressof(out), ctypes.addressof(nonce))
    text = pathlib.Path(file).read_bytes() + b"\0"
    ref = ctypes.byref
    steps = (("cuInit", 0), ("cuDeviceGet", ref(device), index), ("cuDevicePrimaryCtxRetain", ref(context), device),
             ("cuCtxSetCurrent", context), ("cuModuleLoadData", ref(module), text),
             ("cuModuleGetFunction", ref(kernel), module, b"tcs_image_probe"),
             ("cuMemAlloc_v2", ref(address), ctypes.c_size_t(4)), ("cuMemsetD32_v2", address, 0, ctypes.c_size_t(1)),
             ("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None), ("cuCtxSynchronize",),
             ("cuMemcpyDtoH_v2", ref(answer), address, ctypes.c_size_t(4)))
    for name, *values in steps:
        if name == "cuLaunchKernel":
            out.value = address.value
        error = getattr(cuda, name)(*values)
        if error != 0:
            return {"result": "refused", "error": error, "step": name}
    return {"result": "runs" if answer.value == NONCE ^ code_of(image) else "wrong"}


if __name__ == "__main__":
    print(json.dumps(try_one(sys.argv[1], sys.argv[2], int(sys.argv[3]))), flush=True)
    os._exit(0)  # a driver's exit handlers have hung processes that had their answer
