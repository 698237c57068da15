#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/facts.schema.json and tcstack's reader and writer hold the same members, types and words: checked both ways.

    exit 0 good, 1 not, 77 when there is no jsonschema (pip install jsonschema): what needs none is tried all the same

What the schema cannot say, and is left out here: toolkits.selected is an index into toolkits.list; JSON Schema counts
1.0 as a whole number; `from` names members of its object; no member stands twice.

Needs TCS_TOOL, TCS_EVERY_MEMBER, TCS_SOURCE_DIR (ctest sets them).
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

TOOL = os.environ["TCS_TOOL"]
SOURCE = Path(os.environ["TCS_SOURCE_DIR"])
SCHEMA = json.loads((SOURCE / "docs/facts.schema.json").read_text())
KNOWN = json.loads(subprocess.check_output([os.environ["TCS_EVERY_MEMBER"]]))
EMPTY = {"schema": "torch-cuda-stack/facts/1"}
EMPTY_FILE = ""  # a file that holds it
KINDS = ("text", "flag", "number", "texts", "capability", "images")  # $defs that are no objects


def resolved(node):
    """The node with what its $ref names, and that name."""
    name = node["$ref"].rpartition("/")[2] if "$ref" in node else None
    return (SCHEMA["$defs"][name] if name else node), name


def tree(node):
    """A node of the schema in the words of every_member.cpp."""
    target, name = resolved(node)
    if name in KINDS:
        return name
    if name == "environment":
        return "map"
    if "enum" in target:
        return [word for word in target["enum"] if word is not None]
    if "items" in target:
        return {"[]": tree(target["items"])}
    return {member: tree(inner) for member, inner in target["properties"].items() if member not in ("schema", "from")}


def tcstack(*arguments, document=None):
    text = None if document is None else json.dumps(document).encode()
    return subprocess.run([TOOL, *arguments], input=text, capture_output=True, timeout=120)


def read_facts(document):
    return tcstack("probe", "--facts", "-", "--strict", document=document)


def read_request(document):
    return tcstack("check", "--strict", "--facts", EMPTY_FILE, "--request", "-", document=document)


def complete(node, path=""):
    """A value of the schema with every member known."""
    target, name = resolved(node)
    sample = {"text": "12.4", "flag": True, "number": 1, "texts": ["some text"], "capability": "8.6",
              "images": ["sm_86", "compute_90a"], "environment": {"CUDA_HOME": "/x"}}
    if name in sample:
        return sample[name]
    if "const" in target:
        return target["const"]
    if "enum" in target:
        return target["enum"][0]
    if "items" in target:
        return [complete(target["items"], path + "[]")]
    return {member: 0 if f"{path}.{member}" == ".toolkits.selected" else complete(inner, f"{path}.{member}")
            for member, inner in target["properties"].items() if member != "from"}


def kept(node, value):
    """Without the reasons that are not written back (the schema's $comment says where)."""
    target, name = resolved(node)
    if isinstance(value, list) and "items" in target:
        return [kept(target["items"], v) for v in value]
    if not isinstance(value, dict) or name == "environment":
        return value
    out = {m: kept(target["properties"][m], v) for m, v in value.items()}
    if "not written back" in target.get("$comment", ""):
        out.pop("reason", None)
    return out


def places(value, path=()):
    """The path of each member and element."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, v in inner:
        yield from places(v, (*path, key))


def put(document, path, value):
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def value_at(document, path):
    for key in path:
        document = document[key]
    return document


class Members(unittest.TestCase):
    maxDiff = None

    def objects(self, node):
        target, name = resolved(node)
        if "items" in target:
            yield from self.objects(target["items"])
        elif "properties" in target:
            yield name, target
            for member, inner in target["properties"].items():
                yield from self.objects(inner)

    def test_reader_writer_and_schema_have_the_same_members_and_words(self):
        """To add a member: visit() in facts_io.cpp, docs/facts.md, docs/facts.schema.json."""
        for document in ("facts", "request"):
            ours = KNOWN[document]
            theirs = tree({"$ref": f"#/$defs/{document}"})
            self.same(ours, theirs, document)

    def same(self, ours, theirs, path):
        """`reason` may stand in every object, kept or not."""
        if not (isinstance(ours, dict) and isinstance(theirs, dict)):
            self.assertEqual(ours, theirs, path)
            return
        self.assertEqual(sorted({*ours, *(() if "[]" in ours else ["reason"])}), sorted(theirs),
                         f"members of {path}: tcstack's, then the schema's")
        for member in ours:
            self.same(ours[member], theirs[member], f"{path}.{member}")

    def test_every_object_is_closed_and_may_say_reason_and_from(self):
        for document in ("facts", "request"):
            for name, target in self.objects({"$ref": f"#/$defs/{document}"}):
                with self.subTest(name):
                    self.assertIs(target["additionalProperties"], False)
                    self.assertEqual(target["properties"]["reason"], {"$ref": "#/$defs/text"})
                    self.assertEqual(target["properties"]["from"], {"$ref": "#/$defs/from"})

    def test_no_definition_is_left_over(self):
        used = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA))) | {"request"}
        self.assertEqual(used, set(SCHEMA["$defs"]))

    def test_a_document_with_every_member_is_read_and_written_back_whole(self):
        document = complete(SCHEMA)
        done = read_facts(document)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout), kept(SCHEMA, document))

    def test_what_the_writer_writes_is_read_back_the_same(self):
        done = read_facts(KNOWN["example"])
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout), KNOWN["example"])

    def test_a_request_with_every_member_is_read(self):
        done = read_request(complete({"$ref": "#/$defs/request"}))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn(b"unknown member", done.stderr)

    def test_each_member_of_the_schema_is_described(self):
        page = (SOURCE / "docs/facts.md").read_text()
        for document in ("facts", "request"):
            for name, target in self.objects({"$ref": f"#/$defs/{document}"}):
                for member in target["properties"]:
                    told = f"`{member}`" in page or member == "schema"
                    self.assertTrue(told, f"{name}.{member} is missing in docs/facts.md")


@unittest.skipUnless(Draft202012Validator, "there is no jsonschema")
class Validated(unittest.TestCase):
    def setUp(self):
        self.facts = Draft202012Validator(SCHEMA)
        self.request = Draft202012Validator({**SCHEMA, "$ref": "#/$defs/request"})

    def valid(self, document, validator=None):
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in (validator or self.facts).iter_errors(document)]
        self.assertEqual(errors, [])

    def test_the_schema_is_one(self):
        Draft202012Validator.check_schema(SCHEMA)

    def test_every_recorded_machine_is_valid(self):
        machines = sorted((SOURCE / "tests/machines").glob("*.json"))
        self.assertGreater(len(machines), 50)
        for path in machines:
            with self.subTest(path.name):
                machine = json.loads(path.read_text())
                self.valid(machine["facts"])
                self.valid(machine["request"], self.request)

    def test_the_example_of_the_page_is_valid(self):
        page = (SOURCE / "docs/facts.md").read_text()
        examples = re.findall(r"```json\n(.*?)```", page, re.S)
        self.assertTrue(examples)
        for example in examples:
            self.valid(json.loads(example))

    def test_this_machine_is_valid_redacted_or_not(self):
        for options in ([], ["--redact"]):
            done = tcstack("probe", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.valid(json.loads(done.stdout))

    def test_what_is_complete_is_valid(self):
        self.valid(complete(SCHEMA))
        self.valid(KNOWN["example"])
        self.valid(complete({"$ref": "#/$defs/request"}), self.request)

    WRONG = (None, True, 0, 7, -1, 2147483647, 2147483648, 1.5, "", "words", [], [1], [None], ["x"], ["sm_90"], {},
             {"a": 1}, {"a": "b"})

    ONE_OF_EACH = (None, True, -1, 1.5, "words", ["x"], {"a": 1})

    def both(self, document, validator, read, what):
        valid = validator.is_valid(document)
        done = read(document)
        self.assertIn(done.returncode, (0, 1, 2), what)
        self.assertEqual(valid, done.returncode != 2, f"{what}: schema {valid}, reader: {done.stderr.decode()}")

    def test_what_the_schema_refuses_the_reader_refuses_and_the_other_way_round(self):
        for schema, validator, read in ((SCHEMA, self.facts, read_facts),
                                        ({"$ref": "#/$defs/request"}, self.request, read_request)):
            document = complete(schema)
            if "toolkits" in document:
                del document["toolkits"]["selected"]
            tried = []
            for path in places(document):
                kind = value_at(document, path)
                values = self.ONE_OF_EACH if kind in tried else self.WRONG
                tried.append(kind)
                for value in values:
                    self.both(put(document, path, value), validator, read, f"{path} = {value!r}")
                if isinstance(path[-1], str):
                    self.both(put(document, (*path[:-1], path[-1] + "x"), "y"), validator, read, f"{path}x is unknown")

    def test_indices_are_whole_numbers_for_both(self):
        document = {**EMPTY, "toolkits": {"selected": 0}}
        for value in self.WRONG:
            self.both(put(document, ("toolkits", "selected"), value), self.facts, read_facts, value)

    def test_capabilities_and_images_are_spelt_alike(self):
        for text in ("8.6", "12.0", "086.5", "999.9", "1000.0", "8.60", "8", ".6", "8.", "9.0a", "8,6", " 8.6", "8.6 ",
                     "-8.6", "", "native"):
            document = {**EMPTY, "devices": {"list": [{"cc": text}]}}
            self.both(document, self.facts, read_facts, text)
        for text in ("sm_86", "sm_90a", "sm_120f", "compute_90", "compute_90a", "sm_9", "sm_9a", "sm_", "sm_09", "sm_9999",
                     "sm_10000", "sm_00090", "sm_90b", "sm_90af", "SM_90", "sm90", "90", "lto_90", "sm_90 ", "compute_9.0"):
            self.both({**EMPTY, "torch": {"images": [text]}}, self.facts, read_facts, text)

    def test_origins_and_reasons_are_texts_for_both(self):
        for value in self.WRONG[:-1]:
            for place in ({"from": value}, {"from": {"version": value}}, {"reason": value}):
                self.both({**EMPTY, "torch": {"version": "1", **place}}, self.facts, read_facts, place)


def main():
    global EMPTY_FILE
    with tempfile.TemporaryDirectory() as folder:
        EMPTY_FILE = os.path.join(folder, "empty.json")
        Path(EMPTY_FILE).write_text(json.dumps(EMPTY))
        suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
        good = unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()
    if not good:
        return 1
    if Draft202012Validator is None:
        print("skipped in part: there is no jsonschema (pip install jsonschema): no document was held against the schema")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
