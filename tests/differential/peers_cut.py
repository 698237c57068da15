# SPDX-License-Identifier: Apache-2.0
"""Functions of other packages, cut out of their files and run alone, with stubs for what they call."""
import ast
import itertools
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "real"))
import parts  # noqa: E402  (it lies beside this folder, not in a package)

DESKTOP = "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 10.7 12.0 12.1".split()
TEGRA = "5.3 6.2 7.2 8.7 8.8 10.1 11.0".split()
DEVICES = DESKTOP + TEGRA
SUFFIXED = ["9.0a"] + [cc + suffix for cc in "10.0 10.1 10.3 10.7 11.0 12.0 12.1".split() for suffix in "af"]
FITS = {"native": "runs", "jit": "runs", "across": "only across the desktop/Tegra border", "none": "does not run"}


def named(node):
    """The name that a statement of a file gives to something."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign):
        return getattr(node.targets[0], "id", None)
    return getattr(node.target, "id", None) if isinstance(node, ast.AnnAssign) else None


def cut(file, names, **space):
    """The namespace in which the named parts of a file were run; "Class.method" gives the method as a function."""
    nodes, wanted = ast.parse(Path(file).read_text(encoding="utf-8")).body, []
    for name in names:
        owner, _, method = name.partition(".")
        node = next((n for n in nodes if named(n) == owner), None)
        if node is not None and method:
            node = next((n for n in node.body if named(n) == method), None)
        if node is not None:  # releases differ in what they have
            wanted.append(node)
    source = "from __future__ import annotations\n" + "\n".join(ast.unparse(node) for node in wanted)
    exec(compile(source, str(file), "exec"), space)  # pylint: disable=exec-used
    return space


def answer_of(function, *arguments):
    """What a function gives, or the name of what it raises."""
    try:
        return function(*arguments)
    except Exception as error:  # pylint: disable=broad-except
        return type(error).__name__


def digits(cc):
    return cc.replace(".", "")


def subsets(items, seed, count, most):
    """All the singles, then as many random subsets."""
    chance = random.Random(seed)
    yield from ([item] for item in items)
    for _ in itertools.repeat(None, count):
        yield chance.sample(items, chance.randint(2, most))


REFUSALS = ("Malformed", "Nonsense", "NoSuchSuffix", "Removed", "NotYetKnown", "Renamed", "UnknownName", "NoMember",
            "NoVisibleDevice")


def told(pairs):
    """Pairs as words: `sm_80`, `compute_80` (PTX), `compute_80>sm_86`."""
    words = [code if code[code.index("_"):] == virtual[virtual.index("_"):] else f"{virtual}>{code}"
             for virtual, code in pairs]
    return " ".join(sorted(words, key=lambda w: (w.rstrip("af").zfill(40), w))) or "nothing"


def told_plan(answer):
    """Our plan as words, with what it refuses."""
    refused = [issue["token"] for issue in answer["issues"] if issue["kind"] in REFUSALS]
    return told(answer["pairs"]) + (f", refused: {' '.join(refused)}" if refused else "")


def pairs_told(text):
    """The pairs in such words."""
    for word in re.findall(r"(?:compute_\w+>)?(?:sm|compute)_[\w()]+", text):
        virtual, _, code = word.rpartition(">")
        yield virtual or "compute_" + code.partition("_")[2], code
