#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CMAKE_CUDA_ARCHITECTURES as two CMakes read it, on generated questions.

What we write, read by CMake, is exactly the plan less what we say is left out. What the user wrote, read by CMake, is
what we plan, or one of the differences of docs/why-not-cmake.md; so are CMake's own lists of all architectures.

    cmake_test.py        environment: TCS_ANSWERS, TCS_SOURCE_DIR; TCS_SEED, TCS_COUNT. Exit 77 without the CMakes.
"""
import os
import random
import sys
import tempfile

import cmakes
import generate
import nvccs
import ours
from cmake_differences import DIFFERENCES
from differences import Case, Tally
from torch_test import parts_of, refusal, words

SAMPLE, FEW = 250, 40
LISTED = nvccs.Listed()


def sample(texts):
    """Each entry alone, some whole lists, and few with what separates nothing for CMake: it goes entry by entry."""
    entries = {entry for text in texts for entry in text.split(";") if entry}
    blanks = sorted(entry for entry in entries if not entry.isprintable() or " " in entry)
    lists = sorted(text for text in texts if ";" in text and text.isprintable() and " " not in text)
    rng = random.Random(len(lists))
    return (sorted(entries - set(blanks)) + rng.sample(blanks, min(FEW, len(blanks)))
            + rng.sample(lists, min(SAMPLE, len(lists))))


def make_case(release, nvcc, text, theirs, answer, theirs_word=""):
    parts, refused = parts_of(theirs, answer), refusal(answer)
    own = words(answer["pairs"]) if not refused else f"refused: {refused}"
    their_text = "refused" if isinstance(theirs, str) else theirs_word and f"-arch={theirs_word}" or words(theirs)
    if theirs_word == "native":
        parts = parts or [("accepts", None)]
    return Case(f"CMake {release}, nvcc {nvcc}, no GPU: {text!r}", their_text if parts else "", own if parts else "",
                parts, list=text, theirs_word=theirs_word, their_pairs=set() if isinstance(theirs, str) else theirs,
                nvcc_takes=lambda pair: LISTED.takes(nvcc, pair))


class Readers:
    """The CMakes with one nvcc; their answers by text."""

    def __init__(self, folder):
        own = nvccs.machines_own()
        self.path = own or next(iter(nvccs.at_hand().values()))[1]
        self.release, self.nvcc = nvccs.release_of(self.path), nvccs.Nvcc(self.path)
        self.folder, self.read = folder, {}
        self.tables = {release: cmakes.all_architectures(release, folder, generate.RELEASES)
                       for release in cmakes.RELEASES}

    def ask(self, release, texts):
        self.read[release] = cmakes.Project(release, self.path, self.folder).read(texts)

    def pairs(self, release, text, answer):
        """What comes out of it, and the word that CMake hands to nvcc where it does."""
        said = self.read[release][text]
        if isinstance(said, set) or said.startswith("refused"):
            return said, ""
        if said == "native":
            return set(), said
        made = self.nvcc.images([f"-arch={said}"])  # images alone; the way to each is our own where they agree
        same = made == {code for _, code in answer["pairs"]}
        return (answer["pairs"] if same else {("compute_" + code.split("_")[1], code) for code in made}), ""


def table_cases(readers, nvcc, release):
    """CMake's own variables for all architectures; none where that CMake has no such table."""
    for word, text in zip(("all", "all-major"), readers.tables[release].get(nvcc, ())):
        answer = ours.ask([{"nvcc": nvcc, "list": word}])[0]
        yield make_case(release, nvcc, f"the variable of {word}", cmakes.as_pairs(text), answer)


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # natives have to be the same everywhere
    tally = Tally("cmake", DIFFERENCES)
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(folder)
        questions = generate.questions()
        texts = sample({q["list"] for q in questions if q["dialect"] == "cmake" and "list" in q})
        examples = {difference.example["list"] for difference in DIFFERENCES}
        texts = sorted(set(texts) | {text for text in examples if not text.startswith("the ")})
        raw = dict(zip(texts, ours.ask([{"nvcc": readers.release, "dialect": "cmake", "list": text, "devices": [],
                                         "images": ["sm_80", "sm_90"]} for text in texts])))
        said = [a["cmake_architectures"] for a in ours.ask(questions)]
        written = sample({s["text"] for s in said} - {""})
        planned = dict(zip(written, ours.ask([{"nvcc": "13.5", "dialect": "cmake", "list": text, "devices": []}
                                              for text in written])))
        for release in cmakes.RELEASES:
            readers.ask(release, sorted(set(texts) | set(written)))
            for text in texts:
                tally.see(make_case(release, readers.release, text, *_both(readers, release, text, raw[text])))
            for text in written:
                got = readers.read[release][text]
                if got != cmakes.as_pairs(text):
                    tally.fail(f"CMake {release} reads {text!r}, which we wrote, as {got}")
            for nvcc in generate.RELEASES:
                for case in table_cases(readers, nvcc, release):
                    tally.see(case)
        for text, answer in planned.items():
            if not refusal(answer) and answer["pairs"] != cmakes.as_pairs(text):
                tally.fail(f"we read {text!r}, which we wrote, as {words(answer['pairs'])}")
        print(f"{len(texts)} texts of users, {len(written)} of ours, CMake {' and '.join(cmakes.RELEASES)}", flush=True)

        def example(given):
            release, text = given["release"], given["list"]
            if text.startswith("the "):
                return next(case for case in table_cases(readers, given["nvcc"], release) if case.list == text)
            return make_case(release, readers.release, text, *_both(readers, release, text, raw[text]))

        failures = tally.close(example)
    return 1 if failures else 0


def _both(readers, release, text, answer):
    theirs, word = readers.pairs(release, text, answer)
    return theirs, answer, word


if __name__ == "__main__":
    try:
        sys.exit(main())
    except cmakes.parts.Unavailable as reason:
        print(f"cmake_test.py: skip: {reason}", file=sys.stderr)
        sys.exit(cmakes.parts.SKIP)
