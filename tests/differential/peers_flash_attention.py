# SPDX-License-Identifier: Apache-2.0
"""flash-attention's setup.py: gencode flags from FLASH_ATTN_CUDA_ARCHS and the release of nvcc."""
import ast
import os
import random
import re

import peers_cut
from differences import Case, Difference
from peers_cut import parts

PAGE, RELEASE = "flash-attention", "flash-attn-2.8.3.post2"
NVCCS = ["11.7", "11.8", "12.3", "12.4", "12.8", "12.9", "13.0", "13.2"]
OWN = "80 90 100 120".split()
OTHERS = "75 86 89 103 110 121 90a 100f 8.0 9.0+PTX 99".split()


class Version(tuple):
    """Enough of packaging's, for two numbers."""

    def __new__(cls, text):
        return super().__new__(cls, map(int, text.split(".")))


def theirs():
    """The statements that fill cc_flag, in the order in which setup.py has them, as one function."""
    tree = ast.parse((parts.ensure(RELEASE) / "setup.py").read_text(encoding="utf-8"))
    archs = next(n for n in tree.body if getattr(n, "name", "") == "cuda_archs")
    archs.decorator_list = []  # it remembers the first answer
    block = next(n for n in tree.body if isinstance(n, ast.If) and "cc_flag = []" in ast.unparse(n)).body
    ladder = [n for n in block if isinstance(n, ast.If) and "cc_flag.append(" in ast.unparse(n)]
    source = "\n".join(ast.unparse(n) for n in [archs, *ladder])

    def flags(arch_list, nvcc):
        os.environ.pop("FLASH_ATTN_CUDA_ARCHS", None)
        if arch_list is not None:
            os.environ["FLASH_ATTN_CUDA_ARCHS"] = arch_list
        space = {"os": os, "cc_flag": [], "CUDA_HOME": "/cuda", "Version": Version, "bare_metal_version": Version(nvcc)}
        exec(source, space)  # pylint: disable=exec-used
        return peers_cut.told(set(re.findall(r"arch=(\w+),code=(\w+)", " ".join(space["cc_flag"]))))
    return flags


def questions(seed, count):
    chance = random.Random(seed)
    made = [(nvcc, None) for nvcc in NVCCS]
    made += [(nvcc, arch) for nvcc in NVCCS for arch in OWN + OTHERS]
    for _ in range(count):
        archs = [chance.choice(OTHERS if chance.random() < 0.15 else OWN) for _ in range(chance.randint(1, 4))]
        made.append((chance.choice(NVCCS), ";".join(archs)))
    return made


def cases(questions, ask):
    peer = theirs()
    ours = ask([{"nvcc": nvcc, "list": arch_list or "80;90;100;120"} for nvcc, arch_list in questions])
    return [Case(f"{arch_list or 'default'}, nvcc {nvcc}", peer(arch_list, nvcc), peers_cut.told_plan(said),
                 archs=(arch_list or "80;90;100;120").split(";"), said=said, nvcc=nvcc)
            for (nvcc, arch_list), said in zip(questions, ours)]


def dropped(case, known):
    """Its flags are ours less entries that its ladder knows (or does not), and nothing tells the user."""
    lost = set(case.ours.partition(",")[0].split()) - set(case.theirs.split())
    refused = {issue["token"] for issue in case.said["issues"] if issue["kind"] in peers_cut.REFUSALS}
    return any((name in OWN) == known for name in
               {word.partition("_")[2] for word in lost if word != "nothing"} | refused)


DIFFERENCES = [
    Difference("entries-it-does-not-know", PAGE, lambda c: any(a not in OWN for a in c.archs) and dropped(c, False),
               ("13.0", "86;90a")),
    Difference("entries-nvcc-does-not-know", PAGE, lambda c: dropped(c, True), ("12.4", None)),
]
