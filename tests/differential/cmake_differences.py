# SPDX-License-Identifier: Apache-2.0
"""Where CMake reads an architecture list otherwise than we do; each class has a section in docs/why-not-cmake.md.

Parts of a difference are as in torch_differences.py.
"""
import re

from differences import Difference
from nvccs import family_twice


def own_table(case):
    """Not a property of a target, but CMAKE_CUDA_ARCHITECTURES_ALL and _ALL_MAJOR."""
    return case.list in ("the variable of all", "the variable of all-major")


def native(case):
    return case.list == "native" and case.theirs_word == "native"


def off(case):
    return case.list.lower() in ("off", "0")


def separators(case):
    return not own_table(case) and re.search(r"[ \t,|/:]", case.list) is not None


def word_in_list(case):
    entries = case.list.split(";")
    return len(entries) > 1 and any(word in entries for word in ("all", "All", "all-major", "native")) and (
        case.part[0] != "extra" or not case.nvcc_takes(case.part[1]))


def spelling(case):
    """8.6, sm_86, Ampere, 8.6(8.0), 86+PTX: taken as they stand, and nothing is called so."""
    return case.part[0] == "lacks" and any(not re.fullmatch(r"\d+[af]?(-real|-virtual)?", entry)
                                           for entry in case.list.split(";") if entry) and not own_table(case)


def unbuildable(case):
    if case.part[0] == "extra":
        return not own_table(case) and not case.nvcc_takes(case.part[1])
    return case.part[0] == "accepts" and (family_twice(case.their_pairs)
                                          or any(not case.nvcc_takes(pair) for pair in case.their_pairs))


def ptx_of_all(case):
    return own_table(case) and case.part[1] is not None and case.part[1][0] == case.part[1][1]


def frozen_table(case):
    return own_table(case) and case.part[0] == "lacks"


def row(name, predicate, text, release="4.4", nvcc="13.0"):
    return Difference(name, "cmake", predicate, {"release": release, "nvcc": nvcc, "list": text})


DIFFERENCES = [
    row("native", native, "native"),
    row("off", off, "OFF"),
    row("separators", separators, "86 90"),
    row("word-in-list", word_in_list, "all;90"),
    row("spelling", spelling, "8.6"),
    row("unbuildable", unbuildable, "61;86"),
    row("ptx-of-all", ptx_of_all, "the variable of all"),
    row("frozen-table", frozen_table, "the variable of all", nvcc="13.5"),
]
