# SPDX-License-Identifier: Apache-2.0
"""Where a peer answers otherwise than we do: each kind of difference has a class with a reason, told on a page.

A comparison makes Cases and gives each to `Tally.see`. Where the two answers differ, one of the page's classes must
hold, and the first that does is counted; a Case of several `parts` (an answer that differs in many ways) takes a class
for each, which is what `case.part` is while predicates are asked. `Tally.close` then checks the page
docs/why-not-<page>.md against the classes: the same ids, each with its own section, and in it the class's example as it
comes out today.
"""
import collections
import os
import re
from pathlib import Path

# `predicate(case)` says whether a difference is of this class; `example` is what its comparison makes a Case of.
Difference = collections.namedtuple("Difference", "id page predicate example")


class Case:
    """One question, both answers as texts, and whatever else a predicate looks at."""

    def __init__(self, asked, theirs, ours, parts=(None,), **more):
        self.asked, self.theirs, self.ours, self.parts, self.part = asked, theirs, ours, parts, None
        self.__dict__.update(more)

    def block(self):
        """How a page shows it."""
        return f"    asked   {self.asked}\n    theirs  {self.theirs}\n    ours    {self.ours}\n"


class Tally:
    """Counts the cases of one page by class, and keeps what is wrong."""

    def __init__(self, page, differences):
        self.page, self.differences = page, [d for d in differences if d.page == page]
        self.asked, self.differ, self.classes, self.failures = 0, 0, collections.Counter(), []

    def fail(self, text):
        self.failures.append(text)
        if len(self.failures) <= 20:
            print(f"FAIL {self.page}: {text}", flush=True)

    def classes_of(self, case):
        """One a part: its class, None where it has none."""
        found = []
        for case.part in case.parts:
            found.append(next((d.id for d in self.differences if d.predicate(case)), None))
        return found

    def see(self, case):
        self.asked += 1
        if case.theirs == case.ours:
            return
        self.differ += 1
        found = self.classes_of(case)
        self.classes.update(set(found))
        for part, name in zip(case.parts, found):
            if name is None:
                self.fail(f"a difference without a class{f' ({part})' if part else ''}:\n{case.block()}")

    def close(self, make_case):
        """Check the page; `make_case(example)` runs a class's example. Gives the failures."""
        file = Path(os.environ["TCS_SOURCE_DIR"], "docs", f"why-not-{self.page}.md")
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        sections = dict(re.findall(r"^## ([a-z0-9-]+): (.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
        for name in sorted(set(sections) ^ {d.id for d in self.differences}):
            self.fail(f"{name} is not both a class and a section of {file.name}")
        for difference in self.differences:
            case = make_case(difference.example)
            if case.theirs == case.ours or difference.id not in self.classes_of(case):
                self.fail(f"the example of {difference.id} is of class {self.classes_of(case)}:\n{case.block()}")
            if case.block() not in sections.get(difference.id, ""):
                self.fail(f"{file.name}, {difference.id}: the example is not as it comes out:\n{case.block()}")
        told = ", ".join(f"{self.classes[d.id]} {d.id}" for d in self.differences)
        print(f"{self.page}: {self.asked} asked, {self.differ} differ: {told}", flush=True)
        return self.failures
