#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/findings tells people to run can be run: the shell and Python read it, and tcstack has the verbs, options
and forms. `commands_test.py TCSTACK`"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = sys.argv[1]
SETTINGS = (ROOT / "docs/settings.md").read_text()
faults = []


def commands_of(page):
    """The lines of 'See it yourself' without the remarks beside them, and the ways out that begin with a command."""
    text = page.read_text()
    for line in text.split("## See it yourself\n\n```text\n")[1].split("```")[0].splitlines():
        yield re.split(r"\s{2,}", line)[0]
    for way in re.findall(r"^\| (.*?) \| ", text.split("## Ways out")[1].split("## ")[0], re.M):
        way = way.replace("\\", "")
        if re.match(r"(sudo|tcstack|docker|pip|conda|export|unset|env) ", way):
            yield re.split(r", | \.\.\.|: ", way)[0]


def helped(verb, seen={}):
    if verb not in seen:
        done = subprocess.run([TOOL, verb, "--help"], capture_output=True, text=True)
        seen[verb] = done.stdout if done.returncode == 0 else ""
    return seen[verb]


def check_tcstack(where, command):
    for verb, rest in re.findall(r"\btcstack (\w+)((?: [^|;]+)?)", command):
        text = helped(verb)
        if not text:
            faults.append(f"{where}: no verb {verb}: {command}")
        for option in re.findall(r" (--[\w-]+)", rest):
            if option not in text:
                faults.append(f"{where}: {verb} has no {option}: {command}")
        for form in re.findall(r"--emit ([\w-]+)", rest):
            if not re.search(rf"one of .*\b{form}\b", text):
                faults.append(f"{where}: there is no form {form}: {command}")


def check(where, command):
    plain = re.sub(r"<([^<>]*)>", lambda m: re.sub(r"\W", "_", m[1]), command)  # <torch>/lib: a placeholder
    done = subprocess.run(["bash", "-n", "-c", plain], capture_output=True, text=True)
    if done.returncode != 0:
        faults.append(f"{where}: no shell command: {command}: {done.stderr.strip()}")
    for code in re.findall(r"python3? -c \"([^\"]*)\"", command) + re.findall(r"python3? -c '([^']*)'", command):
        try:
            compile(code, command, "exec")
        except SyntaxError as error:
            faults.append(f"{where}: no Python: {command}: {error}")
    check_tcstack(where, command)


pages = sorted((ROOT / "docs/findings").glob("TCS*.md"))
count = 0
for page in pages:
    for command in commands_of(page):
        check(page.name[:6], command)
        count += 1
    for name in re.findall(r"-DTorchCudaStack_([A-Z]+)", page.read_text()):
        if not re.search(rf"\b(TorchCudaStack)?_{name}\b", SETTINGS):
            faults.append(f"{page.name[:6]}: docs/settings.md knows no TorchCudaStack_{name}")
for fault in faults:
    print(fault)
print(f"{count} commands of {len(pages)} pages")
sys.exit(1 if faults or count < len(pages) else 0)
