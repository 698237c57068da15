#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's two readers of an arch list, of five releases, on generated questions.

What we write for each of them, read by them, is exactly the plan less what we say is left out. What the user wrote,
read by them, is what we plan, or one of the differences of docs/why-not-torch.md.

    torch_test.py        environment: TCS_ANSWERS, TCS_SOURCE_DIR; TCS_SEED, TCS_COUNT. Exit 77 without the wheels.
"""
import concurrent.futures
import sys
import tempfile

import generate
import nvccs
import ours
import torches
from differences import Case, Tally
from torch_differences import DIFFERENCES

REFUSALS = ("Malformed", "Nonsense", "NoSuchSuffix", "Removed", "NotYetKnown", "Renamed", "UnknownName",
            "NoVisibleDevice", "NoMember", "NoArch", "Empty", "FamilyTwice")
LISTED = nvccs.Listed()
WORDS = ("Auto", "Common", "All")


def refusal(answer):
    """What we refuse of a question, "" where nothing is."""
    issues = [issue for issue in answer["issues"] if issue["kind"] in REFUSALS]
    told = [f"{issue['kind']} {issue['token']}".strip() for issue in issues if issue["kind"] != "Empty"]
    return ", ".join(told or [issue["kind"] for issue in issues])


def show(pair):
    virtual, code = pair
    same = virtual.removeprefix("compute_") == code.removeprefix("sm_") or virtual == code
    return code if same else f"{code}({virtual})"


def words(pairs):
    return " ".join(map(show, sorted(pairs, key=lambda pair: (len(pair[1]), pair)))) or "nothing"


def parts_of(theirs, answer):
    pairs, refused = answer["pairs"], refusal(answer)
    if isinstance(theirs, str):
        return [] if refused else [("refuses", None)]
    extra, lacks = sorted(theirs - pairs), sorted(pairs - theirs)
    return [("accepts", None)] * bool(refused) + [("extra", p) for p in extra] + [("lacks", p) for p in lacks]


class Readers:
    """All releases of both readers."""

    def __init__(self, folder):
        self.python = {release: torches.Python(release) for release in torches.RELEASES}
        self.cmake = {release: torches.CMake(release, folder) for release in torches.RELEASES}
        self.kept, self.kept_alone = {}, {}

    @staticmethod
    def cmake_key(nvcc, arch_list, devices):
        """Only where they detect or choose do release and devices matter."""
        chooses = arch_list is None or arch_list.strip(";") in WORDS
        return (nvcc, arch_list, tuple(devices)) if chooses else ("13.0", arch_list, ())

    def ask_cmake(self, release, questions):
        """Keep their answers to [(nvcc, list, devices)], asked in one go."""
        keys = {self.cmake_key(*q) for q in questions}
        new = sorted((key for key in keys if (release, *key) not in self.kept), key=str)
        for key, answer in zip(new, self.cmake[release].read(new)):
            self.kept[(release, *key)] = answer

    def read(self, reader, release, question):
        arch_list, devices = question.get("list"), question["devices"]
        if reader == "python":
            return self.python[release].read(arch_list, devices, question["images"])
        if (release, *self.cmake_key(question["nvcc"], arch_list, devices)) not in self.kept:
            self.ask_cmake(release, [(question["nvcc"], arch_list, devices)])
        return self.kept[(release, *self.cmake_key(question["nvcc"], arch_list, devices))]

    def alone(self, release, entry):
        """Does their Python refuse this entry by itself?"""
        key = (release, entry)
        if key not in self.kept_alone:
            self.kept_alone[key] = isinstance(self.python[release].read(entry), str)
        return self.kept_alone[key]


def make_case(readers, reader, release, question, answer):
    theirs = readers.read(reader, release, question)
    parts, refused = parts_of(theirs, answer), refusal(answer)
    set_to = question.get("list")
    gpus = f", GPUs {' '.join(question['devices']) or 'none'}" if set_to is None or set_to in (*WORDS, "native") else ""
    asked = (f"{'CMake' if reader == 'cmake' else 'Python'} of PyTorch {release}, nvcc {question['nvcc']}: "
             f"{'no list' if set_to is None else repr(set_to)}{gpus}")
    own = words(answer["pairs"]) if not refused else f"refused: {refused}"
    their_text = "refused" if isinstance(theirs, str) else words(theirs)
    return Case(asked, their_text if parts else "", own if parts else "", parts, reader=reader, release=release,
                list=set_to, devices=question["devices"], images=question["images"],
                their_pairs=set() if isinstance(theirs, str) else theirs,
                alone=lambda entry: readers.alone(release, entry),
                nvcc_takes=lambda pair: LISTED.takes(question["nvcc"], pair, question.get("archs")))


def check_written(readers, release, number, asked, tally):
    """What we write for a reader says to it what is planned. Gives how many were read."""
    read = 0
    for question, answer in asked:
        for reader, dialect in (("python", "torch_python_list"), ("cmake", "torch_list")):
            said = answer["readers"][number][dialect]
            if not said["text"]:
                continue
            read += 1
            got = readers.read(reader, release, {**question, "list": said["text"], "devices": []})
            if got != answer["pairs"] - said["left_out"] or not said["left_out"] <= answer["pairs"]:
                tally.fail(f"{reader} {release} reads {said['text']!r} of {question.get('list')!r} as {got}, planned "
                           f"is {words(answer['pairs'])}, left out {words(said['left_out'])}")
    return read


def main():
    questions = [q for q in generate.questions() if q["dialect"] == "torch" or "list" not in q]
    for question in questions:
        question["readers"] = list(torches.RELEASES)
    asked = list(zip(questions, ours.ask(questions)))
    raw = [(q, a) for q, a in asked if "targets" not in q]
    tally = Tally("torch", DIFFERENCES)
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(folder)

        def prepare(number):
            release = torches.RELEASES[number]
            texts = {a["readers"][number]["torch_list"]["text"] for _, a in asked} - {""}
            readers.ask_cmake(release, [(q["nvcc"], q.get("list"), q["devices"]) for q, _ in raw]
                              + [("13.0", text, []) for text in texts])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(prepare, range(len(torches.RELEASES))))
        for number, release in enumerate(torches.RELEASES):
            read = check_written(readers, release, number, asked, tally)
            for reader in ("python", "cmake"):
                for question, answer in raw:
                    tally.see(make_case(readers, reader, release, question, answer))
            print(f"PyTorch {release}: {read} of our lists read back, {len(raw)} of the user's by each", flush=True)

        def example(given):
            question = {key: given[key] for key in ("nvcc", "list", "devices", "images") if given[key] is not None}
            question["torch"] = given["release"]
            return make_case(readers, given["reader"], given["release"], question, ours.ask([question])[0])

        failures = tally.close(example)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except torches.parts.Unavailable as reason:
        print(f"torch_test.py: skip: {reason}", file=sys.stderr)
        sys.exit(torches.parts.SKIP)
