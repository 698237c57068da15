# SPDX-License-Identifier: Apache-2.0
"""The tool's JSON as types. Members that a later tool adds are passed over; ``raw`` holds all that was said."""
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple


def _texts(values: Any) -> Tuple[str, ...]:
    return tuple(str(v) for v in values)


@dataclass(frozen=True)
class Evidence:
    """What one layer has, which the finding is about."""
    layer: str
    has: str
    needs: str  #: "" where nothing is needed of it
    source: str  #: how it was learnt: a file, a variable, a command

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Evidence":
        return cls(d["layer"], d["has"], d.get("needs", ""), d.get("from", ""))


@dataclass(frozen=True)
class Finding:
    """One disagreement, or a fact that is not known. ``tcstack explain <id>`` says more."""
    id: str  #: "TCS601"
    slug: str  #: "torch-lacks-device-image"
    layer: str
    severity: str  #: "error", "warning", "unknown" or "note"
    message: str
    evidence: Tuple[Evidence, ...]
    notes: Tuple[str, ...]
    help: Tuple[str, ...]  #: ways out, the best first
    missing: Tuple[str, ...]  #: names of the facts that are not known
    consequences: Tuple[str, ...]  #: ids of findings that this one stands for

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Finding":
        return cls(d["id"], d["slug"], d["layer"], d["severity"], d["message"],
                   tuple(Evidence._of(e) for e in d.get("evidence", ())), _texts(d.get("notes", ())),
                   _texts(d.get("help", ())), _texts(d.get("missing", ())), _texts(d.get("consequences", ())))


@dataclass(frozen=True)
class PlannedImage:
    image: str  #: "sm_86" (a cubin) or "compute_90" (PTX)
    flag: str  #: nvcc's word for it, "-gencode=arch=compute_86,code=sm_86"
    reason: str

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "PlannedImage":
        return cls(d["image"], d["flag"], d["reason"])


@dataclass(frozen=True)
class Target:
    """A compute capability that is to be served."""
    capability: str  #: "8.6"
    label: str
    source: str

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Target":
        return cls(d["target"], d["label"], d.get("from", ""))


@dataclass(frozen=True)
class Dialect:
    """The plan in somebody's words."""
    text: str
    complete: bool  #: False: `left_out` cannot be said in these words
    left_out: Tuple[str, ...]  #: as nvcc flags

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Dialect":
        return cls(d["text"], d["complete"], _texts(d["left_out"]))


@dataclass(frozen=True)
class Plan:
    """Which images a build makes, and for whom."""
    complete: bool  #: False: something that it depends on is not known
    by_user: bool  #: the user's own list
    list_from: str
    images: Tuple[PlannedImage, ...]
    targets: Tuple[Target, ...]
    gencode_flags: Tuple[str, ...]
    torch_cuda_arch_list: Dialect  #: as find_package(Torch) reads TORCH_CUDA_ARCH_LIST
    torch_python_list: Dialect  #: as torch.utils.cpp_extension reads it
    cuda_architectures: Dialect  #: CMAKE_CUDA_ARCHITECTURES
    raw: Dict[str, Any]

    @classmethod
    def _of(cls, d: Dict[str, Any]) -> "Plan":
        return cls(d["complete"], d["by_user"], d["list_from"], tuple(PlannedImage._of(i) for i in d["images"]),
                   tuple(Target._of(t) for t in d["targets"]), _texts(d["gencode_flags"]),
                   Dialect._of(d["torch_cuda_arch_list"]), Dialect._of(d["torch_python_list"]),
                   Dialect._of(d["cuda_architectures"]), d)


@dataclass(frozen=True)
class Coverage:
    """How PyTorch and the plan serve one target: "cubin", "ptx", "cross-tegra", "none" or "unknown"."""
    target: str
    label: str
    torch: str
    plan: str

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Coverage":
        return cls(d["target"], d["label"], d["torch"], d["plan"])


@dataclass(frozen=True)
class Arch:
    """What nvcc, PyTorch and the devices can do with one image (docs/facts.md, `availability`)."""
    arch: str
    nvcc: str
    torch: str
    devices: Tuple[Dict[str, Any], ...]

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Arch":
        return cls(d["arch"], d.get("nvcc", "unknown"), d.get("torch", "unknown"), tuple(d.get("devices", ())))


@dataclass(frozen=True)
class Report:
    outcome: str  #: "ok", "warn" or "fail"
    complete: bool  #: False: a rule could not judge, for want of a fact
    findings: Tuple[Finding, ...]
    plan: Plan
    coverage: Tuple[Coverage, ...]
    availability: Tuple[Arch, ...]
    raw: Dict[str, Any]

    @property
    def ok(self) -> bool:
        """No finding reached ``fail_on``."""
        return self.outcome != "fail"

    def finding(self, id: str) -> Optional[Finding]:
        return next((f for f in self.findings if f.id == id), None)

    @classmethod
    def _of(cls, d: Dict[str, Any]) -> "Report":
        return cls(d["outcome"], d["complete"], tuple(Finding._of(f) for f in d["findings"]), Plan._of(d["plan"]),
                   tuple(Coverage._of(c) for c in d.get("coverage", ())),
                   tuple(Arch._of(a) for a in d.get("availability", ())), d)


@dataclass(frozen=True)
class Image:
    kind: str  #: "cubin" or "ptx"
    arch: str  #: "sm_86", "compute_90"
    count: int

    @classmethod
    def _of(cls, d: Mapping[str, Any]) -> "Image":
        return cls(d["kind"], d["arch"], d["count"])


@dataclass(frozen=True)
class BinaryFile:
    """The kernel images of an extension, a library, an archive, a cubin or a fat binary."""
    path: str
    fat_binaries: int
    images: Tuple[Image, ...]
    error: str  #: why it could not be read, "" otherwise
    raw: Dict[str, Any]

    @classmethod
    def _of(cls, d: Dict[str, Any]) -> "BinaryFile":
        return cls(d["path"], d.get("fat_binaries", 0), tuple(Image._of(i) for i in d.get("images", ())),
                   d.get("error", ""), d)
