#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What our answers to generated questions are held against without any tool: NVIDIA's answers that are recorded here,
and themselves.

    nvlink of five releases (tests/oracles/nvlink-cubin-compat.json): which of a set of cubins runs on a device, and
    that the whole set runs where one of it does
    ptxas and nvcc of 17 releases (tests/oracles/toolkit-archs.json): what each release builds, and each plan
    round trips: each dialect of a plan, planned again, is that plan

    own_test.py        environment: TCS_ANSWERS; TCS_SEED, TCS_COUNT
"""
import collections
import json
import re
import sys

import generate
import nvccs
import ours
from nvcc_test import raw_pairs, refused_entries

ORACLES = generate.HERE.parent / "oracles"
counts = collections.Counter()
failures = []


def check(holds, kind, text):
    counts[kind] += 1
    if not holds:
        failures.append(text)
        if len(failures) < 30:
            print(f"FAIL {kind}: {text}", flush=True)


def check_generator(questions):
    again = generate.questions()
    check(questions == again, "generator", "the same seed gives other questions")
    if not generate.os.environ.get("TCS_COUNT"):
        check(len(questions) >= 20000, "generator", f"only {len(questions)} questions")


def nvlink():
    """{release: {device: what nvlink links for it}}: a device's row is that of X, Xa and Xf together."""
    releases = json.loads((ORACLES / "nvlink-cubin-compat.json").read_text(encoding="utf-8"))["releases"]
    found = {}
    for release, rows in releases.items():
        found[release] = collections.defaultdict(set), set(rows)
        for target, cubins in rows.items():
            found[release][0][target.rstrip("af")].update(cubins)
    return found


def check_nvlink(questions):
    """Image sets of the questions, on the device of each, by every release that knows the device and a cubin of it."""
    rows = nvlink()
    asked = [{"images": q["images"], "device": generate.device_of(q)} for q in questions]
    for question, answer in zip(asked, ours.ask(asked)):
        fit = dict(zip(question["images"], answer["each"]))
        best = next((word for word in ("native", "jit", "across", "none") if word in answer["each"]), "none")
        check(answer["fit"] == best, "image sets", f"{question}: {answer}")
        device = question["device"].replace(".", "")
        for release, (taken, known) in rows.items():
            if device not in known:
                continue
            unified = tuple(map(int, release.split(".")[:2])) >= (13, 2)
            for image, word in fit.items():
                cubin = image.removeprefix("sm_")
                if cubin not in known:  # PTX, or not of this release
                    continue
                takes = cubin in taken[device]
                expected = unified if word == "across" else word == "native"
                check(takes == expected, "nvlink", f"nvlink {release}: {image} on {device}: {takes}, we say {word}")


def check_releases():
    """Every architecture and suffix that could be asked for, with every release."""
    listed = nvccs.Listed()
    archs = [f"{major}{minor}{suffix}" for major in range(3, 16) for minor in range(10) for suffix in ("", "a", "f")]
    questions = [{"nvcc": release, "list": f"sm_{arch}"} for release in generate.RELEASES for arch in archs]
    for question, answer in zip(questions, ours.ask(questions)):
        arch = question["list"][3:]
        builds = listed.takes(question["nvcc"], (f"compute_{arch}", f"sm_{arch}"))
        check(bool(answer["pairs"]) == builds, "releases", f"CUDA {question['nvcc']}: {arch}: ptxas {builds}")
        refused = any(issue["kind"] not in ("Empty", "SuffixPtx") for issue in answer["issues"])
        check(builds or refused, "releases", f"CUDA {question['nvcc']}: {arch} is left out in silence")


def check_by_way_of():
    """Code by way of the PTX of another, with every release."""
    listed = nvccs.Listed()
    archs = "8.0 8.7 9.0 9.0a 10.0 10.0a 10.0f 10.3 10.3f 11.0 12.0 12.0a 12.0f 12.1".split()
    asked = [(release, real, virtual) for release in generate.RELEASES for real in archs for virtual in archs]
    questions = [{"nvcc": release, "list": f"{real}({virtual})"} for release, real, virtual in asked]
    for (release, real, virtual), answer in zip(asked, ours.ask(questions)):
        builds = listed.takes(release, (f"compute_{virtual.replace('.', '')}", f"sm_{real.replace('.', '')}"))
        check(bool(answer["pairs"]) == builds, "by way of", f"CUDA {release}: {real}({virtual}): nvcc {builds}")


def check_pairs(questions, answers):
    """By what each release's tools listed: all that is planned is built, and of a refused entry something is not."""
    listed = nvccs.Listed()
    for question, answer in zip(questions, answers):
        def takes(pair, asked=question):
            return listed.takes(asked["nvcc"], pair, asked.get("archs"))
        check(all(map(takes, answer["pairs"])), "planned", f"{question}: {answer['pairs']}")
        refused = refused_entries(answer) if question["dialect"] == "torch" and "list" in question else []
        for token in refused:
            check(not all(map(takes, raw_pairs(token))), "refused", f"{question}: {token}")


def again(question, dialect, text):
    kept = {key: question[key] for key in ("nvcc", "archs", "torch") if key in question}
    return {**kept, "dialect": dialect, "list": text, "devices": []}


def check_round_trips(questions, answers):
    """A dialect says the plan less what it leaves out; and it is said without any fault of its own."""
    rows = []
    for question, answer in zip(questions, answers):
        for dialect, said in [("cmake", answer["cmake_architectures"]),
                              *(("torch", said) for said in answer["readers"][0].values())]:
            check(said["left_out"] <= answer["pairs"], "round trips", f"{question}: left out what was not planned")
            if said["text"]:
                rows.append((question, again(question, dialect, said["text"]), answer["pairs"] - said["left_out"]))
    for (question, asked, pairs), answer in zip(rows, ours.ask([asked for _, asked, _ in rows])):
        check(answer["pairs"] == pairs, "round trips", f"{question} as {asked['list']!r}: {answer['pairs']}")


def place(name):
    """compute_90 comes before sm_100a: by number, then suffix."""
    digits, suffix = re.fullmatch(r"(?:sm|compute)_(\d+)([af]?)", name).groups()
    return int(digits), suffix


def check_order(questions, answers):
    """Neither the order of a list nor repeats in it matter: a plan goes by its numbers, PTX behind its machine code,
    and one that nvcc refuses as a whole is told."""
    rows = []
    for question, answer in zip(questions, answers):
        pairs = answer["in_order"]
        wanted = sorted(pairs, key=lambda pair: (place(pair[0]), place(pair[1]), pair[0] == pair[1]))
        check(pairs == wanted, "order", f"{question}: {pairs}")
        twice = any(issue["kind"] == "FamilyTwice" for issue in answer["issues"])
        check(twice == nvccs.family_twice(answer["pairs"]), "families twice", f"{question}: {twice}")
        numbers = [int(number) for number in re.findall(r"(\d+)[af]?-", answer["cmake_architectures"]["text"])]
        check(numbers == sorted(numbers), "order", f"{question}: {answer['cmake_architectures']}")
        entries = re.split(r"[; \t]+", question.get("list", "").strip("; \t"))
        if len(entries) > 1 and "+PTX" not in entries and not any("RTX" in entry for entry in entries):
            rows.append(({**question, "list": ";".join(reversed(entries)) + ";" + entries[0]}, answer["pairs"]))
    for (question, pairs), answer in zip(rows, ours.ask([question for question, _ in rows])):
        check(answer["pairs"] == pairs, "order", f"{question}: {answer['pairs']}, not {pairs}")


def main():
    questions = generate.questions()
    answers = ours.ask(questions)
    check_generator(questions)
    check_nvlink(questions)
    check_releases()
    check_by_way_of()
    check_pairs(questions, answers)
    check_round_trips(questions, answers)
    check_order(questions, answers)
    print(f"{len(questions)} questions, {dict(counts)}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
