# SPDX-License-Identifier: Apache-2.0
"""Our own answers, from the program `answers`: TCS_ANSWERS names it, its protocol stands at the head of answers.cpp."""
import json
import os
import subprocess
import sys

TIMEOUT_S = 300


def ask(questions):
    """One answer a question, as dicts; pairs are tuples."""
    if not os.environ.get("TCS_ANSWERS"):
        sys.exit("TCS_ANSWERS does not name the program `answers`")
    text = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run([os.environ["TCS_ANSWERS"]], input=text, capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(questions):
        wrong = next((f"{q}: {a}" for q, a in zip(questions, answers) if "error" in a), "it stopped early")
        sys.exit(f"answers: exit {done.returncode}: {wrong} {done.stderr}")
    for answer in answers:
        if "pairs" in answer:
            answer["in_order"] = [tuple(row) for row in answer["pairs"]]
            answer["pairs"] = as_pairs(answer["pairs"])
            for dialect in [answer["cmake_architectures"], *(d for r in answer["readers"] for d in r.values())]:
                dialect["left_out"] = as_pairs(dialect["left_out"])
    return answers


def as_pairs(rows):
    """A set of (virtual, real): {("compute_80", "sm_86"), ("compute_80", "compute_80")}."""
    return {tuple(row) for row in rows}
