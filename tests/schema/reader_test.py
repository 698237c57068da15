#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What no facts or request file can be is refused: exit status 2, one line with the file, the place and what was expected.

Needs TCS_TOOL (ctest sets it).
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

TOOL = os.environ["TCS_TOOL"]
SCHEMA = '"schema": "torch-cuda-stack/facts/1"'
FULL = "{" + SCHEMA + "}"


def bounded():
    """A reader that takes in all it is given would need more than this."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def check(*arguments, data=None, seconds=60):
    return subprocess.run([TOOL, "check", *map(str, arguments)], input=data, capture_output=True, timeout=seconds,
                          preexec_fn=BOUND)


# AddressSanitizer needs terabytes of addresses.
BOUND = bounded if subprocess.run([TOOL, "--version"], capture_output=True, preexec_fn=bounded).returncode == 0 else None


class Reader(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "machine.json"

    def refused(self, path, *parts, option="--facts"):
        done = check(option, path)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (2, b""), said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith(f"tcstack check: {path}: "), said)
        self.assertRegex(said, r"^[\x20-\x7e]*\n$")
        self.assertLess(len(said), 400)
        for part in parts:
            self.assertIn(part, said)
        return said

    def refused_text(self, text, *parts, option="--facts"):
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with self.subTest(text[:60]):
            self.refused(self.path, *parts, option=option)

    def test_what_is_not_json(self):
        for text, *parts in (
                ("{" + SCHEMA + ",}", "line 1, column 39: expected a member name in quotes, found '}'"),
                ('{"a": NaN}', "line 1, column 7: expected a value, found 'N'"),
                ('{"a": Infinity}', "expected a value, found 'I'"),
                ('{"a": -Infinity}', "expected a value, found 'I'"),
                ('{"a": 012}', "a number with a leading zero"),
                ('{"a": .5}', "expected a value, found '.'"),
                ('{"a": +5}', "expected a value, found '+'"),
                ('{"a": 1.}', "expected a digit after '.'"),
                ('{"a": 0x10}', "expected ',' or '}', found 'x'"),
                ("// facts\n{}", "line 1, column 1: expected a value, found '/'"),
                ("{ /* no */ }", "found '/'"),
                ("{'a': 1}", "expected a member name in quotes"),
                ("{a: 1}", "expected a member name in quotes"),
                (FULL + FULL, "line 1, column 39: text after the end"),
                (FULL + "\n" + FULL, "line 2, column 1: text after the end"),
                ('{"a": "x', "a string without its closing quote"),
                ('{"a": [1, 2', "expected ',' or ']', found the end of the text"),
                ('{"a": "\\ud800"}', "a lone high surrogate"),
                ('{"a": "\\udc00 "}', "a lone low surrogate"),
                ('{"a": "\\x41"}', "no such escape"),
                ('{"a": "\t"}', "control character 9 in a string"),
                ('{"a": "\x00"}', "control character 0 in a string"),
                (b'{"a": "\xff"}', "not UTF-8: byte 255"),
                (b'{"a": "\xc0\x80"}', "not UTF-8: byte 192"),
                (b'{"a": "\xed\xa0\x80"}', "not UTF-8: byte 237"),
                (b"\xef\xbb\xbf" + FULL.encode(), "is UTF-8 with a byte order mark; expected plain UTF-8"),
                (FULL.encode("utf-16"), "is UTF-16; expected plain UTF-8"),
                (FULL.encode("utf-16-le"), "is UTF-16; expected plain UTF-8"),
                (FULL.encode("utf-16-be"), "is UTF-16; expected plain UTF-8"),
                ("", "is empty; expected JSON"),
                (" \n\t", "is empty; expected JSON"),
        ):
            self.refused_text(text, *parts)
            self.refused_text(text, *parts, option="--request")

    def test_what_is_json_but_no_facts(self):
        start = "{" + SCHEMA + ",\n "
        for text, *parts in (
                ("[]", "line 1, column 1: the document: found array, expected an object"),
                ("3", "the document: found number, expected an object"),
                ("{}", "line 1, column 1: schema: missing, expected 'torch-cuda-stack/facts/1'"),
                ('{"schema": null}', "schema: found '', expected"),
                ('{"schema": 1}', "line 1, column 12: schema: found number, expected a string"),
                ('{"schema": "torch-cuda-stack/facts/2"}', "line 1, column 12: schema: found 'torch-cuda-stack/facts/2', "
                                                           "expected 'torch-cuda-stack/facts/1'"),
                (start + '"torch": {"version": 2.3}}', "line 2, column 23: torch.version: found number, expected a string"),
                (start + '"torch": {"version": "1", "version": "2"}}', 'line 2, column 28: the member "version" stands twice'),
                (start + '"torch": [], "torch": 1}', 'the member "torch" stands twice in this object'),
                (start + '"\\u001b[31m\\n": 1, "\\u001b[31m\\n": 1}', r'the member "\x1b[31m\x0a" stands twice'),
                (start + '"driver": {"state": "\\u001b[31m"}}', r"found '\x1b[31m', expected one of ok, absent"),
                (start + '"driver": {"state": "' + "x" * 100000 + '"}}', "xxx...', expected one of ok, absent"),
                (start + '"' + "y" * 100000 + '": 1, "' + "y" * 100000 + '": 1}', 'yyy..." stands twice'),
                (start + '"toolkits": {"selected": 1' + "0" * 5000 + "}}", "000..., expected a whole number from 0"),
                (start + '"toolkits": {"selected": 1e999}}', "found 1e999, expected a whole number"),
                (start + '"toolkits": {"selected": -1}}', "found -1, expected a whole number"),
                (start + '"toolkits": {"selected": 0.0}}', "found 0.0, expected a whole number"),
                (start + '"toolkits": {"list": [], "selected": 0}}', "found 0, but toolkits.list has 0 entries"),
                (start + '"devices": {"list": [{}, {"cc": "86"}]}}', "devices.list[1].cc: '86' is not a compute capability"),
                (start + '"environment": {"PATH": ["/bin"]}}', "environment.PATH: found array, expected a string"),
        ):
            self.refused_text(text, *parts)
        self.refused_text('{"purpose": "fun"}', "purpose: found 'fun', expected one of extension", option="--request")
        self.refused_text('{"targets": "native"}', "targets: found string, expected an array", option="--request")

    def test_deep_nesting_is_refused_at_its_depth(self):
        for opens in ("[", '{"a":'):
            self.refused_text("{" + SCHEMA + ', "x": ' + opens * 1000000, "nested deeper than 64 levels")
        self.path.write_text("{" + SCHEMA + ', "x": ' + "[" * 60 + "]" * 60 + "}")
        self.assertEqual(check("--facts", self.path).returncode, 0)

    def test_many_values_and_many_members_are_no_wait(self):
        many = ", ".join(f'"m{i}": 1' for i in range(200000))
        self.path.write_text("{" + SCHEMA + ", " + many + ', "m7": 1}')
        start = time.monotonic()
        self.refused(self.path, 'the member "m7" stands twice in this object')
        self.refused_text("{" + SCHEMA + ', "x": [' + "1," * 2000000 + "1]}", "more than 1048576 values")
        self.assertLess(time.monotonic() - start, 30)  # quadratic: minutes

    def test_a_large_file_is_refused_by_its_size(self):
        with open(self.path, "wb") as out:
            out.write(b"{")
            out.truncate(100_000_000)
        self.refused(self.path, "has 100000000 bytes; at most 16777216 are taken")
        os.truncate(self.path, 1 << 40)
        self.refused(self.path, "at most 16777216 are taken")

    def test_what_is_no_file(self):
        self.refused("/dev/zero", "larger than 16777216 bytes")
        self.refused("/dev/null", "is empty; expected JSON")
        self.refused(self.folder.name, "is a directory; expected a file")
        self.refused(self.path, "No such file or directory")
        self.refused(f"{self.path}/x/y", "No such file or directory")
        os.symlink(self.path, self.path)
        self.refused(self.path, "Too many levels of symbolic links")
        os.unlink(self.path)
        if os.geteuid() != 0:
            self.path.write_text(FULL)
            self.path.chmod(0)
            self.refused(self.path, "Permission denied")

    def test_a_pipe_without_a_writer_is_empty(self):
        os.mkfifo(self.path)
        self.refused(self.path, "is empty; expected JSON")

    def test_a_pipe_that_never_ends(self):
        os.mkfifo(self.path)
        flood = subprocess.Popen(["sh", "-c", 'exec yes "[" > "$0"', self.path], stderr=subprocess.DEVNULL)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.kill)
        time.sleep(0.2)
        self.refused(self.path, "larger than 16777216 bytes")

    def test_a_pipe_that_says_nothing(self):
        os.mkfifo(self.path)
        silent = os.open(self.path, os.O_RDWR)
        self.addCleanup(os.close, silent)
        self.refused(self.path, "is a pipe that does not end")

    def test_a_slow_pipe_and_standard_input_are_read(self):
        os.mkfifo(self.path)

        def write():
            with open(self.path, "w") as out:
                for part in (FULL[:10], FULL[10:]):
                    out.write(part)
                    out.flush()
                    time.sleep(0.4)

        writer = threading.Thread(target=write)
        holder = os.open(self.path, os.O_RDWR)
        writer.start()
        time.sleep(0.1)
        reader = subprocess.Popen([TOOL, "check", "--facts", self.path], stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        time.sleep(0.2)
        os.close(holder)
        said = reader.communicate(timeout=60)
        writer.join()
        self.assertEqual(reader.returncode, 0, said)
        self.assertEqual(check("--facts", "-", data=FULL.encode()).returncode, 0)
        done = check("--facts", "-", data=b"{")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(b"tcstack check: -: line 1, column 2"), done.stderr)

    def test_an_odd_name_of_a_file_is_one_line(self):
        odd = Path(self.folder.name) / "a\n\x1b[31m b.json"
        odd.write_text("{")
        done = check("--facts", odd)
        self.assertEqual(done.returncode, 2)
        self.assertIn(rb"a\x0a\x1b[31m b.json: line 1, column 2: expected a member name", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_unknown_members_are_noted_and_with_strict_refused(self):
        self.path.write_text("{" + SCHEMA + ',\n "x\\u001b": 1, "torch": {"colour": 1}}')
        done = check("--facts", self.path)
        self.assertEqual(done.returncode, 0)
        said = done.stderr.decode().splitlines()
        self.assertEqual(len(said), 2)
        self.assertIn(r"unknown member torch.colour (line 2, column 36) is ignored", "\n".join(said))
        self.assertIn(r"unknown member x\x1b (line 2, column", "\n".join(said))
        done = check("--facts", self.path, "--strict")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.count(b"\n"), 1)
        request = Path(self.folder.name) / "request.json"
        request.write_text('{"target": ["native"]}')
        self.path.write_text(FULL)
        done = check("--facts", self.path, "--request", request)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"unknown member target (line 1, column 12) is ignored", done.stderr)
        self.assertEqual(check("--facts", self.path, "--request", request, "--strict").returncode, 2)


class Several(unittest.TestCase):
    """Many machines in one call, and the exit status."""

    GOOD = FULL
    BAD = "{" + SCHEMA + ', "toolkits": {"list": [{"version": "13.0"}], "selected": 0}}'

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.good, self.bad, self.broken = (Path(self.folder.name) / n for n in ("good", "bad", "broken"))
        self.good.write_text(self.GOOD)
        self.bad.write_text(self.BAD)
        self.broken.write_text("{")

    def test_each_machine_is_named_and_the_worst_counts(self):
        old = ["--arch-list", "6.1"]  # not for CUDA 13
        done = check("--facts", self.good, "--facts", self.bad, *old)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{self.good}:\n".encode(), done.stdout)
        self.assertIn(f"{self.bad}:\n".encode(), done.stdout)
        done = check("--facts", self.bad, "--facts", self.good, *old, "--format", "json")
        self.assertEqual(done.returncode, 1)
        reports = json.loads(done.stdout)
        self.assertEqual([r["facts"] for r in reports], [str(self.bad), str(self.good)])
        self.assertEqual([r["outcome"] == "fail" for r in reports], [True, False])
        self.assertEqual(check("--facts", self.bad, "--facts", self.bad, *old, "--fail-on", "never").returncode, 0)
        self.assertEqual(check("--facts", self.good).returncode, 0)

    def test_one_broken_file_is_bad_input(self):
        done = check("--facts", self.good, "--facts", self.broken, "--facts", self.bad)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(str(self.broken).encode(), done.stderr)

    def test_an_answer_that_cannot_be_written_is_3(self):
        for out in ("/nowhere/at/all", "/dev/full", self.folder.name):
            self.assertEqual(check("--facts", self.good, "--out", out).returncode, 3, out)

    def test_a_request_that_stands_alone_is_no_machine(self):
        self.assertEqual(check("--facts", self.good, "--request", self.broken).returncode, 2)
        self.assertEqual(check("--facts", self.good, "--purpose", "fun").returncode, 2)
        self.assertEqual(check("--facts", self.good, "--fail-on", "fun").returncode, 2)
        self.assertEqual(check("--facts", self.good, "--format", "fun").returncode, 2)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
