#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real toolkits build an image of the probe's kernel for every architecture that they list, `a`, `f` and PTX too: each is
built, has the architecture and suffix asked for, and holds the number that its kernel answers with. The images are read
out of the cache. Needs $TCS_TOOL; exit 77 and one line of reason where no toolkit can be had.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import parts  # noqa: E402  (it lies beside this file, not in a package)

TOOL = os.environ.get("TCS_TOOL", "")
# part -> root in it, a part whose bin holds its host compiler
TOOLKITS = {
    "toolkit-11.8": (".", "gxx-11"),
    "toolkit-12.4": (".", None),
    "toolkit-13.0": ("nvidia/cu13", None),
    "toolkit-13.2": ("nvidia/cu13", None),
    "toolkit-13.5": ("nvidia/cu13", None),
}
ran = set()


def environment(path=(), **more):
    """Ours without anything that names another toolkit or compiler."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
    return {**kept, "PATH": os.pathsep.join([*map(str, path), "/usr/bin", "/bin"]), **more}


def code_of(virtual):
    """__CUDA_ARCH__ * 16, + 2 for `a`, + 1 for `f`."""
    digits, suffix = re.fullmatch(r"compute_(\d+)([af]?)", virtual).groups()
    return int(digits) * 160 + {"": 0, "f": 1, "a": 2}[suffix]


def code_in_cubin(elf):
    """The initial value of the symbol tcs_image_code of an ELF64 file."""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    for kind, offset, length, link in ((s[1], s[4], s[5], s[6]) for s in sections):
        if kind != 2:  # SHT_SYMTAB
            continue
        for at in range(offset, offset + length, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
            start = sections[link][4] + name
            if elf[start:elf.index(b"\0", start)] == b"tcs_image_code":
                return struct.unpack_from("<I", elf, sections[section][4] + value)[0]
    raise AssertionError("no symbol tcs_image_code")


def cached(folder):
    """gencode flag -> image, of the files of a cache."""
    images = {}
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        head, rest = data.split(b"\n", 1)
        word, key, size, _ = head.decode().split(" ")
        assert word == "torch-cuda-stack/image/1", file
        assert len(rest) == int(key) + int(size), f"{file} is torn"
        flag = re.search(rb"^-gencode=arch=(\w+),code=(\w+)$", rest[:int(key)], re.M)
        images[tuple(word.decode() for word in flag.groups())] = rest[int(key):]
    return images


class ImageBuild(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tcs images ")
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)

    def part(self, name):
        try:
            path = parts.ensure(name)
        except parts.Unavailable as reason:
            self.skipTest(str(reason))
        ran.add(name)
        return path

    def configure(self, root, archs, path=(), where="build", **more):
        words = [TOOL, "configure", "--dir", self.work / where]
        for value in (f"TOOLKIT={root}", f"TORCH_CUDA_ARCH_LIST={archs}", f"CACHE_DIR={self.work / 'cache'}",
                      "FAIL_ON=never"):
            words += ["--set", value]
        return subprocess.Popen(words, env=environment(path, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def finish(self, process, where="build"):
        said = process.communicate(timeout=600)[0].decode(errors="replace")
        self.assertEqual(process.returncode, 0, said)
        facts = json.loads((self.work / where / "facts.json").read_text())
        return facts["toolkits"]["list"][facts["toolkits"]["selected"]]

    def listed(self, root, path):
        done = subprocess.run([TOOL, "probe", "--set", f"TOOLKIT={root}"], env=environment(path), capture_output=True,
                              check=True)
        facts = json.loads(done.stdout)
        return facts["toolkits"]["list"][facts["toolkits"]["selected"]]["archs"]

    def check_all(self, root, path=()):
        archs = self.listed(root, path)
        asked = ";".join(re.sub(r"sm_(\d+)(\d)([af]?)", r"\1.\2\3+PTX", a) for a in archs if a.startswith("sm_"))
        toolkit = self.finish(self.configure(root, asked, path))
        self.assertIs(toolkit["works"], True, toolkit.get("failure"))
        self.assertEqual(toolkit["cicc"], toolkit["version"])
        self.assertEqual({b["image"]: b["result"] for b in toolkit["builds"]}, {a: "built" for a in archs})
        images = cached(self.work / "cache/images")
        # Two architectures may meet in a place of the cache; most are there.
        self.assertGreater(len(images), len(archs) * 3 // 4)
        for (virtual, name), image in images.items():
            with self.subTest(name):
                if name.startswith("compute_"):
                    self.assertIn(f".target {name.replace('compute', 'sm')}\n", image.decode("ascii"))
                    code = int(re.search(rb"tcs_image_code = (\d+)", image)[1])
                else:
                    code = code_in_cubin(image)
                    self.assertEqual(self.inventory(image), [name])
                self.assertEqual(code, code_of(virtual))
        ran.add(str(root))

    def inventory(self, image):
        file = self.work / "one.cubin"
        file.write_bytes(image)
        done = subprocess.run([TOOL, "images", "--json", file], capture_output=True, check=True)
        return [row["arch"] for row in json.loads(done.stdout)["files"][0]["images"]]

    def test_every_architecture(self):
        had = 0
        for name, (inside, compiler) in TOOLKITS.items():
            with self.subTest(name):
                try:
                    root = parts.ensure(name) / inside
                    path = [parts.ensure(compiler) / "bin"] if compiler else []
                except parts.Unavailable as reason:
                    print(f"image_build.py: {name} is left out: {reason}")
                    continue
                had += 1
                self.setUp()
                self.check_all(root, path)
        if not had:
            self.skipTest("no real toolkit")

    def test_an_architecture_by_way_of_an_older_one(self):
        root = self.part("toolkit-13.2") / "nvidia/cu13"
        toolkit = self.finish(self.configure(root, "9.0(8.0);8.6"))
        self.assertEqual([(b["image"], b["result"]) for b in toolkit["builds"]], [("sm_86", "built"), ("sm_90", "built")])
        images = cached(self.work / "cache/images")
        self.assertEqual(code_in_cubin(images["compute_80", "sm_90"]), code_of("compute_80"))

    def test_flags_of_the_user_s_add_nothing_and_take_nothing_away(self):
        root = self.part("toolkit-13.2") / "nvidia/cu13"
        for n, flags in enumerate(("-gencode=arch=compute_75,code=sm_75", "-rdc=true", "-t 4 -O1", "-compress-mode=size")):
            with self.subTest(flags):
                toolkit = self.finish(self.configure(root, "8.6;9.0a", where=f"b{n}", NVCC_APPEND_FLAGS=flags), f"b{n}")
                self.assertIs(toolkit["works"], True, toolkit.get("failure"))
                self.assertEqual([(b["image"], b["result"]) for b in toolkit["builds"]],
                                 [("sm_86", "built"), ("sm_90a", "built")])

    def test_eight_configures_at_once_share_one_cache(self):
        root = self.part("toolkit-13.2") / "nvidia/cu13"
        names = [f"p{n}" for n in range(8)]
        running = [self.configure(root, "8.0;8.6;9.0a;12.0+PTX", where=name) for name in names]
        for process, name in zip(running, names):
            toolkit = self.finish(process, name)
            self.assertEqual({b["result"] for b in toolkit["builds"]}, {"built"}, name)
            self.assertEqual(len(toolkit["builds"]), 5)
        images = cached(self.work / "cache/images")
        self.assertEqual(len(images), 5)
        self.assertEqual(code_in_cubin(images["compute_90a", "sm_90a"]), code_of("compute_90a"))

    def test_an_old_nvcc_refuses_a_new_architecture_and_builds_the_others(self):
        root = self.part("toolkit-12.4")
        done = subprocess.run([TOOL, "probe", "--work-dir", self.work / "w", "--set", f"TOOLKIT={root}", "--try",
                               "8.0;12.0;9.0a"], env=environment(), capture_output=True, check=True)
        facts = json.loads(done.stdout)
        builds = facts["toolkits"]["list"][facts["toolkits"]["selected"]]["builds"]
        self.assertEqual([(b["image"], b["result"]) for b in builds],
                         [("sm_80", "built"), ("sm_90a", "built"), ("sm_120", "refused")])
        self.assertIn("Unsupported gpu architecture 'compute_120'", builds[2]["text"])


if __name__ == "__main__":
    if not TOOL:
        print("image_build.py: skip: TCS_TOOL does not name the tool")
        sys.exit(77)
    program = unittest.main(exit=False)
    if program.result.wasSuccessful() and not ran:
        print("image_build.py: skip: no real toolkit could be had")
        sys.exit(77)
    sys.exit(0 if program.result.wasSuccessful() else 1)
