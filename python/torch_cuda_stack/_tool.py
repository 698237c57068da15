# SPDX-License-Identifier: Apache-2.0
"""Calls the tool that lies in this package, and reads what it answers."""
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ._answers import BinaryFile, Plan, Report

# An editable install has what was built in another folder of the package than its Python files.
_HERE = next((Path(folder) for folder in sys.modules[__package__].__path__ if (Path(folder) / "bin" / "tcstack").is_file()),
             Path(__file__).resolve().parent)
_PathLike = Union[str, "os.PathLike[str]"]
_Words = Union[str, Iterable[str], None]


class ToolError(RuntimeError):
    """The tool refused the question (exit status 2) or could not work (3); the text is its own."""

    def __init__(self, text: str, status: int):
        super().__init__(text)
        self.status = status


class ToolNotFoundError(ToolError):
    """There is no tcstack in this package, or it does not run on this machine."""

    def __init__(self, text: str):
        super().__init__(text, 3)


class StackError(RuntimeError):
    """A build could not work: the text is the report as a terminal shows it, ``report`` the same as data."""

    def __init__(self, text: str, report: Report):
        super().__init__(text)
        self.report = report


def prefix() -> Path:
    """The prefix that holds everything, for CMAKE_PREFIX_PATH."""
    return _HERE


def cmake_dir() -> Path:
    """The folder of FindTorchCudaStack.cmake and TorchCudaStackGate.cmake, for CMAKE_MODULE_PATH."""
    return _HERE / "share" / "cmake" / "TorchCudaStack" / "modules"


def tool() -> Path:
    """The tcstack of this package; TORCH_CUDA_STACK_TOOL names another, as it does for CMake."""
    return Path(os.environ.get("TORCH_CUDA_STACK_TOOL") or _HERE / "bin" / "tcstack")


def version() -> str:
    """The tool's, which is this package's."""
    return _ask(["--version"]).stdout.split()[-1]


def _ask(words: List[str], good: Tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    path = tool()
    try:
        done = subprocess.run([str(path), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape", check=False)
    except OSError as error:
        raise ToolNotFoundError(f"{path}: {error.strerror}. Install torch-cuda-stack again with pip; or name a tcstack "
                                "with TORCH_CUDA_STACK_TOOL") from error
    if done.returncode not in good:
        text = done.stderr.strip() or f"{path} ended with {done.returncode}"
        raise ToolError(text, done.returncode)
    return done


def _joined(words: _Words) -> str:
    if isinstance(words, str):
        return words
    return ";".join(words or ())


def _question(targets: _Words, arch_list: _Words, purpose: Optional[str], fail_on: Optional[str], allow: _Words,
              tree: Optional[_PathLike], facts: Optional[_PathLike], settings: Optional[Mapping[str, str]]) -> List[str]:
    words: List[str] = []
    for name, value in (("--targets", _joined(targets)), ("--arch-list", _joined(arch_list)), ("--purpose", purpose),
                        ("--fail-on", fail_on), ("--allow", ",".join(allow) if not isinstance(allow, str) and allow else allow),
                        ("--tree", tree), ("--facts", facts)):
        if value:
            words += [name, os.fspath(value)]  # type: ignore[arg-type]
    given = dict(settings or {})
    if facts is None and not any(name in given for name in ("Python_EXECUTABLE", "Python3_EXECUTABLE", "FACTS")):
        given["Python_EXECUTABLE"] = sys.executable
    for name, value in given.items():
        words += ["--set", f"{name}={value}"]
    return words


def check(targets: _Words = None, arch_list: _Words = None, *, purpose: Optional[str] = None, fail_on: Optional[str] = None,
          allow: _Words = (), tree: Optional[_PathLike] = None, facts: Optional[_PathLike] = None,
          settings: Optional[Mapping[str, str]] = None) -> Report:
    """What fits and what does not. A finding is no exception here; :class:`ToolError` is for a question that was refused.

    :param targets: what must be served: ``"8.6;9.0"``, ``["RTX 4090", "A100"]``, ``"native"``, ``"torch"``.
    :param arch_list: what is built, as in TORCH_CUDA_ARCH_LIST; it is the plan then.
    :param purpose: ``extension``, ``pytorch-source`` or ``run``.
    :param fail_on: the least severity that makes the outcome "fail": ``error``, ``warning``, ``unknown``, ``never``.
    :param allow: ids of findings that are only noted.
    :param tree: a source tree of PyTorch, which is to be built.
    :param facts: a recorded machine instead of this one.
    :param settings: inputs by their CMake names, as ``{"TorchCudaStack_TOOLKIT": "/usr/local/cuda-13.2"}``.
    """
    question = _question(targets, arch_list, purpose, fail_on, allow, tree, facts, settings)
    return Report._of(json.loads(_ask(["check", "--format", "json", *question], (0, 1)).stdout))


def plan(targets: _Words = None, arch_list: _Words = None, *, purpose: Optional[str] = None, fail_on: Optional[str] = None,
         allow: _Words = (), tree: Optional[_PathLike] = None, facts: Optional[_PathLike] = None,
         settings: Optional[Mapping[str, str]] = None) -> Plan:
    """Which images to build, or :class:`StackError` where a finding says that a build could not work. As :func:`check`."""
    question = _question(targets, arch_list, purpose, fail_on, allow, tree, facts, settings)
    report = Report._of(json.loads(_ask(["check", "--format", "json", *question], (0, 1)).stdout))
    if not report.ok:
        raise StackError(_ask(["check", *question], (0, 1)).stdout.strip(), report)
    return report.plan


def build_environment(targets: _Words = None, arch_list: _Words = None, *, purpose: Optional[str] = None,
                      fail_on: Optional[str] = None, allow: _Words = (), tree: Optional[_PathLike] = None,
                      facts: Optional[_PathLike] = None, settings: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """The variables that ``tcstack run`` would set for a build, PATH aside, without those that are set already."""
    question = _question(targets, arch_list, purpose, fail_on, allow, tree, facts, settings)
    return _github_variables(_ask(["plan", "--emit", "github-env", *question]).stdout)


def _github_variables(text: str) -> Dict[str, str]:
    """NAME<<END, lines, END: the form that GitHub Actions documents for GITHUB_ENV."""
    out: Dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        name, is_one, end = line.partition("<<")
        if is_one:
            value: List[str] = []
            for part in lines:
                if part == end:
                    break
                value.append(part)
            out[name] = "\n".join(value)
    return out


def images(*files: _PathLike) -> Tuple[BinaryFile, ...]:
    """The kernel images in each file. One that cannot be read has its reason in ``error``."""
    if not files:
        return ()
    done = _ask(["images", "--json", "--", *(os.fspath(f) for f in files)], (0, 2))
    if not done.stdout:
        raise ToolError(done.stderr.strip(), done.returncode)
    answer: Dict[str, Any] = json.loads(done.stdout)
    return tuple(BinaryFile._of(f) for f in answer["files"])
