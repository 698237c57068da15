#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`check --format` of each recorded machine, read by the rules of each form, and held against `--format json`.

JUnit XML by an XML parser; SARIF 2.1.0 by the members that the standard requires; GitHub's workflow commands and Markdown tables by
readers written from their public descriptions. From the environment: TCS_TOOL, TCS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOL = os.environ["TCS_TOOL"]
MACHINES = sorted((Path(os.environ["TCS_SOURCE_DIR"]) / "tests/machines").glob("*.json"))
ODD = "a \"b\" <c> & d|e,f:g%h ü.json"
LEVELS = {"error": "error", "warning": "warning", "note": "note", "unknown": "none"}


def ask(form, *words, cwd=None, status=(0, 1)):
    done = subprocess.run([TOOL, "check", "--format", form, "--lang", "en", *map(str, words)], capture_output=True, check=False, cwd=cwd)
    assert done.returncode in status, (form, words, done)
    return done.returncode, done.stdout.decode("utf-8")


def junit(text, report, name):
    suites = ET.fromstring(text)
    assert suites.tag == "testsuites"
    [suite] = suites
    cases = suite.findall("testcase")
    assert len({case.get("name") for case in cases}) == len(cases) == int(suite.get("tests")) > 100
    assert all(re.fullmatch(r"TCS\d{3} [a-z0-9-]+", c.get("name")) and c.get("classname").startswith("tcstack.") for c in cases)
    state = {c.get("name")[:6]: [child.tag for child in c] for c in cases}
    for tag in ("failure", "skipped"):
        assert int(suite.get({"failure": "failures"}.get(tag, tag))) == sum([tag] == tags for tags in state.values())
    for finding in report["findings"]:
        fails = report["outcome"] == "fail" and finding["severity"] == "error"
        want = "failure" if fails else "skipped" if finding["severity"] == "unknown" else "system-out"
        assert state[finding["id"]] == [want], (finding["id"], state[finding["id"]], want)
        [case] = [c for c in cases if c.get("name").startswith(finding["id"])]
        assert finding["id"] in case[0].text
        if want != "system-out":
            assert case[0].get("message"), name
    quiet = {i for i, tags in state.items() if not tags}
    assert len(quiet) == len(cases) - len({f["id"] for f in report["findings"]})


def sarif(text, report, name):
    log = json.loads(text)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    rules = [rule["id"] for rule in driver["rules"]]
    assert driver["name"] == "tcstack" and len(set(rules)) == len(rules)
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in driver["rules"])
    assert len(run["results"]) == len(report["findings"])
    prints = set()
    for result, finding in zip(run["results"], report["findings"]):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding["id"]
        assert result["level"] == LEVELS[finding["severity"]], (name, result)
        assert (result.get("kind") == "open") == (finding["severity"] == "unknown")
        assert result["message"]["text"] and result["properties"]["machine"].endswith(name)
        [place] = result["locations"]
        assert place["physicalLocation"] == {"artifactLocation": {"uri": "a%20b/CMakeLists.txt"}, "region": {"startLine": 7}}
        prints.add(result["partialFingerprints"]["tcstack/v1"])
    assert len(prints) == len(report["findings"]), name


def unescaped(text, more=()):
    for code, char in (*more, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def github(text, report, name):
    found = []
    *lines, summary = text.splitlines()
    assert summary.startswith("TorchCudaStack: ")
    for line in lines:
        command = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert command, line
        properties = dict(pair.split("=", 1) for pair in command[2].split(","))
        properties = {k: unescaped(v, (("%3A", ":"), ("%2C", ","))) for k, v in properties.items()}
        assert properties["file"] == "a b/CMakeLists.txt" and properties["line"] == "7", line
        found.append((command[1], properties["title"][:6], unescaped(command[3]).splitlines()[0]))
    kinds = {"error": "error", "warning": "warning", "unknown": "notice"}
    wanted = [(kinds[f["severity"]] if report["outcome"] == "fail" or f["severity"] != "error" else "warning", f["id"])
              for f in report["findings"] if f["severity"] != "note"]
    if all([k for k, _ in wanted].count(kind) <= 10 for kind in kinds.values()):
        assert sorted((kind, code) for kind, code, _ in found) == sorted(wanted), (name, found)


def cells(line):
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1


def markdown(text, report, name):
    lines = text.splitlines()
    assert lines[0].startswith("## ") and lines[0].endswith(f" - {'warning' if report['outcome'] == 'warn' else report['outcome']}") or \
        "not all of it checked" in lines[0], lines[0]
    heads = [line for line in lines if line.startswith("### ")]
    assert len(heads) == sum(f["severity"] != "note" for f in report["findings"])
    for at, line in enumerate(lines):
        if line.startswith("| ---"):
            while at < len(lines) and lines[at].startswith("|"):
                assert cells(lines[at]) == 4, lines[at]
                at += 1
    assert not re.search(r"(?<!\\)<", text), text


def machine(path, folder):
    file = folder / f"{path.stem}.json"
    file.write_text(json.dumps(json.loads(path.read_text())["facts"]), encoding="utf-8")
    words = ("--facts", file, "--at", "a b/CMakeLists.txt:7")
    status, answer = ask("json", *words)
    report = json.loads(answer)
    for form, read in (("junit", junit), ("sarif", sarif), ("github", github), ("markdown", markdown)):
        again, text = ask(form, *words)
        assert again == status, (path.name, form)
        read(text, report, file.name)
    return 1


def odd_names(folder):
    """A recording with a name that each form gives a meaning to, beside another one; and what is no place."""
    facts = json.dumps(json.loads(MACHINES[0].read_text())["facts"])
    (folder / ODD).write_text(facts, encoding="utf-8")
    (folder / "b.json").write_text(facts, encoding="utf-8")
    words = ("--facts", ODD, "--facts", "b.json")
    suites = ET.fromstring(ask("junit", *words, cwd=folder)[1])
    assert [s.get("name") for s in suites] == [ODD.replace("ü", "\\xc3\\xbc"), "b.json"], [s.get("name") for s in suites]
    json.loads(ask("sarif", *words, cwd=folder)[1])
    for line in ask("github", *words, cwd=folder)[1].splitlines():
        assert line.startswith(("::", "TorchCudaStack: ")), line
    text = ask("markdown", *words, cwd=folder)[1]
    assert "\\<c\\> \\& d\\|e" in text, text
    for place in ("", ":3", "x:0", "x:-1", "x:y", "x:99999999999"):
        done = subprocess.run([TOOL, "check", "--format", "sarif", "--facts", "b.json", "--at", place], cwd=folder, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 2 and "--at" in done.stderr, (place, done)
    # Where nothing is named, the file that builds are made of; where there is none, no place.
    locations = [r["locations"] for r in json.loads(ask("sarif", "--facts", "b.json", cwd=folder)[1])["runs"][0]["results"]]
    assert locations and not any(locations)
    (folder / "pyproject.toml").touch()
    result = json.loads(ask("sarif", "--facts", "b.json", cwd=folder)[1])["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "pyproject.toml"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            count = sum(pool.map(lambda path: machine(path, Path(scratch)), MACHINES))
        (Path(scratch) / "odd").mkdir()
        odd_names(Path(scratch) / "odd")
    print(f"{count} machines in 4 forms")
    return 0 if count > 100 else 1


if __name__ == "__main__":
    sys.exit(main())
