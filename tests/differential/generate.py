#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions for the differential tests: arch lists of the whole grammar x nvcc x devices x PyTorch.

    generate.py        print them, one a line, as `answers` reads them (its protocol stands at the head of answers.cpp)

TCS_SEED and TCS_COUNT in the environment: the same seed gives the same questions, whatever the machine and the
Python. Each question also says on which device its images are asked for: device_of(question).
"""
import json
import os
import random
import re
import sys
from pathlib import Path

SEED, COUNT = 20261130, 20000
HERE = Path(__file__).resolve().parent
TABLES = HERE.parents[1] / "probe-src/tables"
RELEASES = ("11.7 11.8 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5").split()
AT_HAND = ("11.8", "12.4", "13.0", "13.2", "13.5")  # real nvccs of tests/real/parts.py: asked more often
BASES = ("3.0 3.2 3.5 3.7 5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.8 8.9 9.0 10.0 10.1 10.3 10.7 11.0 12.0"
         " 12.1").split()
COMMON = "7.5 8.0 8.6 8.9 9.0 10.0 12.0".split()
STRANGE = "2.0 4.0 8.1 8.5 9.1 9.9 12.4 12.7 13.0 14.0 16.2 31.4 99.9 120.0 0.0 1.2".split()
NAMES = ("Kepler Kepler+Tesla Maxwell Maxwell+Tegra Pascal Volta Volta+Tegra Turing Ampere Ampere+Tegra Ada Hopper"
         " Blackwell Blackwell+Tegra Rubin").split()
NO_NAMES = "Kepler+Tegra Fermi Lovelace ampere HOPPER Blackwel RTX4090 H100 Feynman".split()
KEYWORDS = "native all All all-major Auto Common".split()
MALFORMED = ("8.0,8.6 8,6 8.6+ptx 8.6+PTX+PTX 8.6- 8.6+ +PTX 8..6 .86 8. sm86 sm_8.6 SM_86 compute_86 compute_86a"
             " 86real 86-Real 8.6-real 8.6-virtual (8.0) 8.6( 8.6() 8.6(8.0 8.6[8.0] v8.6 8_6 8.6f+PTX 86-real+PTX"
             " 86-real-virtual 08.6 8.06 -8.6 8.6;,;9.0 $ARCH ${ARCH} `id` x off OFF 0 8.6|9.0 8.6/9.0 8.6:9.0"
             " 9.0A 9.0b 9.0af 1e3 0x56 9.0+ptx,8.0 5.0(9.0)+PTX all-minor nativ").split()
SEPARATORS = [";", ";", ";", ";", " ", " ", "\t", ";;", "; ", "  "]
TEGRA = "5.3 6.2 7.2 8.7 8.8 10.1 11.0".split()
FUTURE = "9.1 10.7 12.2 12.6 13.0 14.0 15.3".split()
BOARDS = "3.5 3.7 5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1".split()


# Asked of every nvcc at hand, whatever the seed.
ALWAYS = ["8.0", "8.6+PTX", "8.0;8.6;8.9;9.0+PTX", "9.0 8.0", "9.0a;9.0", "9.0a+PTX", "8.6(8.0)", "8.6(8.0)+PTX",
          "8.0+PTX;8.6(8.0)", "80-virtual;8.6", "Ampere", "Ampere+PTX", "Turing;Hopper", "Blackwell", "Blackwell+PTX",
          "Blackwell+Tegra", "10.0;12.0", "10.0a;12.0a", "12.0f;10.0f", "12.0f(9.0)", "12.0;12.0f", "9.0(9.0a)", "12.1",
          "10.1", "10.3", "11.0", "8.7", "8.8", "12.1 9.0 8.0 10.0+PTX", "all", "all-major", "All", "Common",
          "Kepler;Maxwell;Pascal;Volta", "Kepler+Tesla;3.5+PTX", "6.1;7.0;7.5", "7.5;8.0;8.6;9.0;10.0;12.0"]


def torch_rows():
    """(version, CUDA release, images) of PyTorch's own builds, from the table; x86_64 only."""
    text = (TABLES / "torch_releases.def").read_text(encoding="utf-8")
    rows = re.findall(r'^TCS_TORCH\("([\d.]+)", "\w+", (\d+), [01], "([^"]+)"', text, re.MULTILINE)
    return [(version, f"{int(cuda) // 100}.{int(cuda) % 100}", images.split()) for version, cuda, images in rows]


def suffixed(rng, base):
    return base + rng.choices(["", "a", "f"], [14, 3, 3])[0]


def arch(rng):
    pool = rng.choices([BASES, COMMON, STRANGE], [10, 8, 2])[0]
    return suffixed(rng, rng.choice(pool))


def plain_digits(arch_text):
    return arch_text.replace(".", "")


def torch_token(rng):
    """One entry of a list as torch.utils.cpp_extension and our grammar have them; now and then a wrong one."""
    kind = rng.choices(["arch", "ptx", "pair", "name", "name ptx", "sm", "digits", "cmake", "keyword", "no name",
                        "malformed"], [30, 12, 6, 9, 3, 4, 4, 4, 3, 1, 5])[0]
    if kind == "arch":
        return arch(rng)
    if kind == "ptx":
        return arch(rng) + "+PTX"
    if kind == "pair":
        return f"{arch(rng)}({arch(rng)})" + rng.choice(["", "", "+PTX"])
    if kind == "name":
        return rng.choice(NAMES)
    if kind == "name ptx":
        return rng.choice(NAMES) + "+PTX"
    if kind == "sm":
        return "sm_" + plain_digits(arch(rng)) + rng.choice(["", "", "+PTX"])
    if kind == "digits":
        return plain_digits(arch(rng)) + rng.choice(["", "", "+PTX"])
    if kind == "cmake":
        return plain_digits(arch(rng)) + rng.choice(["-real", "-virtual"])
    return rng.choice({"keyword": KEYWORDS, "no name": NO_NAMES, "malformed": MALFORMED}[kind])


def tame_token(rng):
    """One entry that every reader of a list has some meaning for."""
    kind = rng.choices(["arch", "ptx", "name", "suffix"], [60, 20, 12, 8])[0]
    if kind == "name":
        return rng.choice(NAMES)
    if kind == "suffix":
        return rng.choice(["9.0a", "9.0a+PTX", "10.0a", "12.0a", "10.0f", "12.0f", "10.3a", "8.6(8.0)", "8.9(8.0)"])
    return rng.choice(COMMON if rng.random() < 0.6 else BASES) + ("+PTX" if kind == "ptx" else "")


def cmake_token(rng):
    """One entry of CMAKE_CUDA_ARCHITECTURES."""
    kind = rng.choices(["number", "keyword", "dotted", "malformed"], [40, 4, 3, 2])[0]
    if kind == "number":
        return plain_digits(arch(rng)) + rng.choice(["", "-real", "-virtual"])
    if kind == "keyword":
        return rng.choice(["all", "all-major", "native"])
    return arch(rng) if kind == "dotted" else rng.choice(MALFORMED)


def arch_list(rng, token):
    tokens = [token(rng) for _ in range(rng.choices([1, 2, 3, 4, 6, 9], [30, 25, 20, 12, 8, 5])[0])]
    if rng.random() < 0.15:
        tokens.append(rng.choice(tokens))  # a repeat
    one = rng.choice(SEPARATORS if token is not tame_token else ";;; ")
    separators = [one if rng.random() < 0.9 else rng.choice(SEPARATORS) for _ in tokens[1:]]
    text = tokens[0] + "".join(s + t for s, t in zip(separators, tokens[1:]))
    return rng.choices(["", rng.choice(SEPARATORS)], [24, 1])[0] + text + rng.choices(
        ["", rng.choice(SEPARATORS)], [14, 1])[0]


def target(rng):
    return rng.choices([rng.choice(BOARDS + TEGRA), rng.choice(FUTURE), rng.choice(NAMES), "native", "torch",
                        arch(rng) + "+PTX", suffixed(rng, rng.choice(BOARDS))], [30, 6, 8, 10, 10, 10, 10])[0]


def devices(rng):
    kind = rng.choices(["none", "one", "several", "tegra", "future"], [35, 25, 25, 7, 8])[0]
    if kind == "several":
        return [rng.choice(BOARDS) for _ in range(rng.randint(2, 4))]
    if kind == "future":
        return [rng.choice(FUTURE)] + [rng.choice(BOARDS) for _ in range(rng.randint(0, 1))]
    return {"none": [], "one": [rng.choice(BOARDS)], "tegra": [rng.choice(TEGRA)]}[kind]


def images(rng):
    """Of a PyTorch release, or any set: what somebody's own build may hold."""
    if rng.random() < 0.5:
        return list(rng.choice(torch_rows_once())[2])
    made = []
    for _ in range(rng.randint(1, 7)):
        name = plain_digits(suffixed(rng, rng.choice(BASES if rng.random() < 0.7 else COMMON)))
        made.append(("compute_" if rng.random() < 0.25 else "sm_") + name)
    return sorted(set(made))


def torch_rows_once(kept=[]):  # pylint: disable=dangerous-default-value
    if not kept:
        kept.extend(torch_rows())
    return kept


def told_archs(rng, release, oracle):
    """What an nvcc answers that is not quite its release: cut, or with an architecture to come."""
    names = [f"sm_{name}" for name in oracle[release] if rng.random() > 0.15] or ["sm_80"]
    if rng.random() < 0.3:
        names += [rng.choice(["sm_130", "sm_122", "sm_91"])]
    return names


def question(rng, oracle):
    asked = {"nvcc": rng.choice(AT_HAND if rng.random() < 0.5 else RELEASES)}
    if rng.random() < 0.05:
        asked["archs"] = told_archs(rng, asked["nvcc"], oracle)
    asked["dialect"] = rng.choices(["torch", "cmake"], [8, 2])[0]
    kind = rng.choices(["list", "targets", "nothing"], [84, 8, 8])[0]
    if kind == "list":
        token = rng.choice([torch_token, tame_token]) if asked["dialect"] == "torch" else cmake_token
        asked["list"] = arch_list(rng, token)
    if kind == "targets":
        asked["targets"] = [target(rng) for _ in range(rng.randint(1, 3))]
    asked["devices"] = devices(rng)
    asked["torch"] = rng.choice(torch_rows_once())[0]
    asked["images"] = images(rng)
    if rng.random() < 0.1:
        asked["purpose"] = "pytorch-source"
    return asked


def device_of(asked):
    """The device on which the images of a question are asked for: one of its own, else one by its list's length."""
    pool = BOARDS + TEGRA + FUTURE
    return asked["devices"][0] if asked["devices"] else pool[len(json.dumps(asked)) % len(pool)]


def ptxas_archs():
    """What each release builds: {"13.0": ["75", "80", ... "90a"]}."""
    text = (HERE.parent / "oracles/toolkit-archs.json").read_text(encoding="utf-8")
    return {".".join(release.split(".")[:2]): names.split() for release, names in json.loads(text)["ptxas"].items()}


def questions():
    seed, count = int(os.environ.get("TCS_SEED") or SEED), int(os.environ.get("TCS_COUNT") or COUNT)
    rng, oracle = random.Random(seed), ptxas_archs()
    always = [{"nvcc": nvcc, "dialect": "torch", "list": text, "devices": [], "torch": "2.15.0", "images": ["sm_90"]}
              for nvcc in AT_HAND for text in ALWAYS]
    return always + [question(rng, oracle) for _ in range(count)]


if __name__ == "__main__":
    for row in questions():
        sys.stdout.write(json.dumps(row) + "\n")
