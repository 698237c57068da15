# SPDX-License-Identifier: Apache-2.0
"""torch.cuda's own check, at its first use of a device: are there kernels for it in this build of PyTorch?"""
import re
import types
import typing
import warnings

import peers_cut
from differences import Case, Difference
from peers_cut import parts

PAGE = "torch-cuda"
NAMES = ["_CompatInterval", "_CompatSet", "DEVICE_REQUIREMENT", "DEVICE_REQUIREMENT_POST_JETSON_SBSA_UNIFICATION",
         "PYTORCH_RELEASES_CODE_CC", "_extract_arch_version", "_device_requirement", "_host_arch_key",
         "_code_compatible_with_device", "_warn_unsupported_code", "_check_capability", "_check_cubins"]
# release of torch -> the CUDA releases that it is asked as
RELEASES = {"2.15.0": ["13.0", "13.2"], "2.11.0": ["13.0"], "2.7.1": ["12.6"]}


class Theirs:
    """The check of one release, built for one CUDA."""

    def __init__(self, release, cuda):
        self.archs, self.device = [], ""
        version = types.SimpleNamespace(cuda=cuda)
        torch = types.SimpleNamespace(version=version, __version__=release, cuda=types.SimpleNamespace(
            get_arch_list=lambda: self.archs), _C=types.SimpleNamespace(_cuda_getCompiledVersion=lambda: 12060))
        self.space = peers_cut.cut(
            parts.ensure(f"torch-{release}") / "torch/cuda/__init__.py", NAMES, torch=torch, warnings=warnings,
            Optional=typing.Optional, Union=typing.Union, platform=types.SimpleNamespace(machine=lambda: "x86_64"),
            get_arch_list=lambda: self.archs, device_count=lambda: 1, get_device_name=lambda _: "GPU",
            get_device_capability=lambda _: tuple(map(int, self.device.split("."))))

    def one(self, name, archs, device):
        """What one of the two functions says: "quiet", "warns", "unknown" (code) or an exception's name."""
        self.archs, self.device = archs, device
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.space[name]()
            except (ValueError, KeyError) as error:
                return type(error).__name__
        texts = [str(warning.message) for warning in caught]
        if any("unknown compute capability" not in text for text in texts):
            return "warns"
        return "unknown" if texts else "quiet"

    def __call__(self, archs, device):
        said = {self.one(name, archs, device) for name in ("_check_capability", "_check_cubins")}
        raised = sorted(word for word in said if word.endswith("Error"))
        if raised:
            return raised[0]
        return "does not run" if "warns" in said else "asks for an issue" if "unknown" in said else "runs"


def cases(questions, ask):
    peers = {(release, cuda): Theirs(release, cuda) for release, cudas in RELEASES.items() for cuda in cudas}
    ours = ask([{"images": archs, "device": cc} for _, archs, cc in questions])
    return [Case(f"torch {peer[0]} for CUDA {peer[1]} with {' '.join(archs) or 'no images'}, device {cc}",
                 peers[peer](archs, cc), peers_cut.FITS[said["fit"]], release=peer[0], cuda=peer[1], archs=archs,
                 device=cc, each=said["each"]) for (peer, archs, cc), said in zip(questions, ours)]


def questions(seed, count):
    names = list(map(peers_cut.digits, ["3.7"] + peers_cut.DEVICES + peers_cut.SUFFIXED))
    images = [kind + name for kind in ("sm_", "compute_") for name in names]
    chosen = [[]] + list(peers_cut.subsets(images, seed, count, 6))
    return [((release, cuda), archs, cc) for release, cudas in RELEASES.items() for cuda in cudas
            for archs in chosen for cc in peers_cut.DEVICES]


def suffixed(case):
    return any(re.search("[af]$", arch) for arch in case.archs)


def served_by_ptx_alone(case):
    """Where any machine code that would run is of another major in torch's eyes, or there is none."""
    return case.ours == "runs" and "jit" in case.each and "native" not in case.each


def by_halves(case):
    """One check is content with Thor's other number, the other with any machine code of the device's major."""
    other = {"10.1": "110", "11.0": "101"}.get(case.device)
    return any(arch.endswith(f"_{other}") for arch in case.archs)


def no_reader(case):
    return case.theirs == "ValueError" and case.release == "2.7.1" and any(a.endswith("f") for a in case.archs)


DIFFERENCES = [
    Difference("no-images", PAGE, lambda c: not c.archs, (("2.15.0", "13.2"), [], "9.0")),
    Difference("f-is-not-read", PAGE, no_reader, (("2.7.1", "12.6"), ["sm_100f"], "10.0")),
    Difference("code-without-a-row", PAGE, lambda c: c.theirs in ("asks for an issue", "KeyError"),
               (("2.15.0", "13.2"), ["sm_107"], "10.7")),
    Difference("tegra-border", PAGE, lambda c: "border" in c.ours, (("2.15.0", "13.2"), ["sm_80"], "8.7")),
    Difference("ptx-taken-for-machine-code", PAGE, lambda c: c.theirs == "does not run" and served_by_ptx_alone(c),
               (("2.15.0", "13.2"), ["sm_90", "compute_90"], "12.0")),
    Difference("suffix-cut-off", PAGE, lambda c: c.theirs == "runs" and c.ours == "does not run" and suffixed(c),
               (("2.15.0", "13.2"), ["sm_100a"], "10.3")),
    Difference("thor-by-halves", PAGE, lambda c: c.theirs == "runs" and c.release != "2.7.1" and by_halves(c),
               (("2.15.0", "13.2"), ["sm_103", "compute_110"], "10.1")),
    Difference("minor-not-asked", PAGE, lambda c: c.theirs == "runs" and c.release == "2.7.1",
               (("2.7.1", "12.6"), ["sm_50", "sm_86"], "8.0")),
]
