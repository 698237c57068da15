#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nvcc decides: what a plan holds, nvcc takes; what the planner refuses, nvcc refuses.

Of each real nvcc: every distinct (virtual, real) pair of the plans for generated questions, every distinct entry that
was refused, a sample of whole plans by the images they make, every architecture and suffix alone, -arch=all and
-arch=all-major. The rule that stands for the releases that are not at hand is held against the same answers.

    nvcc_test.py        environment: TCS_ANSWERS; TCS_SEED, TCS_COUNT. Exit 77 when a part cannot be had.
"""
import collections
import random
import re
import sys

import generate
import nvccs
import ours

SAMPLE = 150
counts = collections.Counter()
failures = []


def check(holds, kind, text):
    counts[kind] += 1
    if not holds:
        failures.append(text)
        print(f"FAIL {kind}: {text}", flush=True)


def raw_pairs(token):
    """What an entry says, read as it stands: its pairs; none where it is no architecture."""
    end = re.fullmatch(r"(.*?)(\+PTX|-real|-virtual)?", token)
    ending, text = end[2] or "", end[1]
    dotted = re.fullmatch(r"(\d+)\.(\d[af]?)(?:\((\d+)\.(\d[af]?)\))?", text)
    digits = re.fullmatch(r"(?:sm_)?(\d{2,}[af]?)", text)
    if dotted:
        real = dotted[1] + dotted[2]
        virtual = dotted[3] + dotted[4] if dotted[3] else real
    elif digits:
        real = virtual = digits[1]
    if not (dotted or digits) or (dotted and ending in ("-real", "-virtual")):
        return set()
    made = {(f"compute_{virtual}", f"sm_{real}")} if ending != "-virtual" else set()
    return made | ({(f"compute_{virtual}", f"compute_{virtual}")} if ending in ("+PTX", "-virtual") else set())


def refused_entries(answer):
    kinds = ("Malformed", "Nonsense", "NoSuchSuffix", "Removed", "NotYetKnown", "Renamed")
    return [issue["token"] for issue in answer["issues"] if issue["kind"] in kinds and raw_pairs(issue["token"])]


def check_pairs(name, release, nvcc, asked, listed):
    planned, refused = set(), {}
    for question, answer in asked:
        planned |= answer["pairs"]
        if question.get("list"):
            for token in refused_entries(answer):
                refused[token] = raw_pairs(token)
    others = set().union(*refused.values()) - planned
    takes = nvcc.accepts(planned | others, planned)
    for pair in sorted(planned):
        check(takes[pair], "planned pairs", f"nvcc {name} refuses {pair}, which is planned")
    for token, pairs in sorted(refused.items()):
        check(not all(takes[pair] for pair in pairs), "refused entries", f"nvcc {name} takes {token}, which is refused")
    for pair in sorted(planned | others):
        check(takes[pair] == listed.takes(release, pair), "rule", f"nvcc {name}: {pair}: {takes[pair]}, by rule not")


def as_named(pair):
    """What nvcc calls the image: code that was made for a family has its letter."""
    virtual, code = pair
    return code + "f" if virtual.endswith("f") and code[-1].isdigit() else code


def check_plans(name, nvcc, asked):
    """Whole plans, by the images they make; those that hold a family beside its plain code are refused."""
    twice, plans = set(), set()
    for _, answer in asked:
        refused = any(issue["kind"] == "FamilyTwice" for issue in answer["issues"])
        (twice if refused else plans).add(tuple(sorted(answer["pairs"])))
    rng = random.Random(len(plans))
    for plan in rng.sample(sorted(plans - {()}), min(SAMPLE, len(plans) - 1)):
        made = nvcc.images([nvccs.flag(pair) for pair in plan])
        check(made == {as_named(pair) for pair in plan}, "whole plans", f"nvcc {name}: {plan}: {made}")
    for plan in rng.sample(sorted(twice), min(SAMPLE, len(twice))):
        made = nvcc.images([nvccs.flag(pair) for pair in plan])
        check("same GPU code" in str(made), "families twice", f"nvcc {name} makes {made} of {plan}")


def check_each(name, release, nvcc):
    archs = [generate.plain_digits(base) + suffix for base in generate.BASES for suffix in ("", "a", "f")]
    answers = ours.ask([{"nvcc": release, "list": f"sm_{arch}"} for arch in archs])
    planned = {arch for arch, answer in zip(archs, answers) if answer["pairs"]}
    takes = nvcc.accepts({(f"compute_{arch}", f"sm_{arch}") for arch in archs},
                         {(f"compute_{arch}", f"sm_{arch}") for arch in planned})
    for arch in archs:
        check(takes[f"compute_{arch}", f"sm_{arch}"] == (arch in planned), "one architecture", f"nvcc {name}: {arch}")
    for word in ("all", "all-major"):
        answer = ours.ask([{"nvcc": release, "list": word}])[0]
        made = nvcc.images([f"-arch={word}"])
        check(made == {code for _, code in answer["pairs"]}, "all", f"nvcc {name}: -arch={word} makes {made}")


def main():
    questions = [q for q in generate.questions() if "archs" not in q]
    answers, listed, asked = ours.ask(questions), nvccs.Listed(), 0
    for name, (release, path) in nvccs.at_hand().items():
        nvcc = nvccs.Nvcc(path)
        mine = [(q, a) for q, a in zip(questions, answers) if q["nvcc"] == release]
        asked += len(mine)
        check_pairs(name, release, nvcc, mine, listed)
        check_plans(name, nvcc, mine)
        check_each(name, release, nvcc)
        print(f"nvcc {name}: {len(mine)} questions, {len(nvcc.known)} pairs, {nvcc.calls} calls", flush=True)
    print(f"{asked} questions, {dict(counts)}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except nvccs.parts.Unavailable as reason:
        print(f"nvcc_test.py: skip: {reason}", file=sys.stderr)
        sys.exit(nvccs.parts.SKIP)
