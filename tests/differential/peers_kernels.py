# SPDX-License-Identifier: Apache-2.0
"""Hugging Face `kernels`: may a build with these architectures be loaded on this device?"""
import peers_cut
from differences import Case, Difference
from peers_cut import parts

PAGE, RELEASE = "kernels", "kernels-0.17.2"


def theirs():
    space = peers_cut.cut(parts.ensure(RELEASE) / "kernels/archs.py",
                          ["_parse_cuda_arch", "_cuda_arch_supports", "_supports_cuda_capability"])
    return lambda archs, cc: "runs" if space["_supports_cuda_capability"](
        archs, tuple(map(int, cc.split(".")))) else "does not run"


def images(archs):
    """What a build for these architectures holds."""
    for arch in archs:
        name = peers_cut.digits(arch.removesuffix("+PTX"))
        yield f"sm_{name}"
        if arch.endswith("+PTX"):
            yield f"compute_{name}"


def cases(questions, ask):
    function = theirs()
    ours = ask([{"images": list(images(archs)), "device": cc} for archs, cc in questions])
    return [Case(f"a build for {' '.join(archs)}, device {cc}", function(archs, cc), peers_cut.FITS[said["fit"]],
                 archs=archs, device=cc) for (archs, cc), said in zip(questions, ours)]


def questions(seed, count):
    archs = peers_cut.DEVICES + peers_cut.SUFFIXED
    archs += [arch + "+PTX" for arch in archs]
    return [(chosen, cc) for chosen in peers_cut.subsets(archs, seed, count, 5) for cc in peers_cut.DEVICES]


def outside_family(case):
    """An `f` of the device's major whose family the device is not in; nothing else serves it."""
    return case.ours == "does not run" and any(
        arch.removesuffix("+PTX").endswith("f") and arch.split(".")[0] == case.device.split(".")[0]
        for arch in case.archs)


DIFFERENCES = [
    Difference("tegra-border", PAGE, lambda case: case.theirs == "runs" and "border" in case.ours,
               (["8.0"], "8.7")),
    Difference("outside-the-family", PAGE, lambda case: case.theirs == "runs" and outside_family(case),
               (["10.0f"], "10.1")),
]
