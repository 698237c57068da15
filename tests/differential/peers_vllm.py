# SPDX-License-Identifier: Apache-2.0
"""vLLM's CMake: the architectures of a build, read back out of its flags, and those of one kernel file in them."""
import random
import re
import subprocess
import tempfile
from pathlib import Path

import nvccs
import peers_cut
from differences import Case, Difference
from peers_cut import parts

PAGE, RELEASE = "vllm", "vllm-0.33.0"
NVCCS = ["12.8", "12.9", "13.0", "13.2"]
TARGETS = "7.5 8.0 8.6 8.7 8.9 9.0 9.0a 10.0 10.0a 10.0f 10.3 10.3a 11.0 12.0 12.0a 12.0f 12.1 12.1a".split()
FILES = ["9.0a", "9.0a;10.0f;11.0f;12.0f", "9.0a;10.0a;10.1a;10.3a;12.0a;12.1a", "8.0+PTX", "8.0;8.9;9.0+PTX",
         "7.5;8.0;8.7;8.9+PTX", "12.0f", "10.0f;11.0f", "12.0a;12.1a", "7.5;8.0;8.6;8.9;9.0"]
SOURCES = TARGETS + [arch + "+PTX" for arch in TARGETS]
FAMILIES = {"100": "100 103 107", "103": "103 107", "107": "107", "101": "101", "110": "110", "120": "120 121",
            "121": "121"}
TIMEOUT_S = 300


def questions(seed, count):
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        plan = chance.sample(TARGETS, chance.randint(1, 4))
        plan[-1] += chance.choice(["", "", "+PTX"])
        file = chance.choice(FILES) if chance.random() < 0.5 else ";".join(
            chance.sample(SOURCES, chance.randint(1, 4)))
        made.append((chance.choice(NVCCS), ";".join(plan), file))
    return made


def theirs(asked):
    """[(archs read back, archs of the file)] for (pairs of the plan, file), by one run of CMake."""
    lines = ["cmake_minimum_required(VERSION 3.25)", f'include("{parts.ensure(RELEASE)}/cmake/utils.cmake")']
    for number, (pairs, file) in enumerate(asked):
        flags = ";".join(f"-gencode arch={virtual},code={code}" for virtual, code in sorted(pairs))
        lines += [f'extract_unique_cuda_archs_ascending(archs "{flags}")',
                  f'cuda_archs_loose_intersection(file "{file}" "${{archs}}")',
                  f'message(NOTICE "@{number} ${{archs}} | ${{file}}")']
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "s.cmake"
        script.write_text("\n".join(lines), encoding="ascii")
        done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    found = re.findall(r"^@\d+ (.*) \| (.*)$", done.stderr, re.MULTILINE)
    assert len(found) == len(asked), done.stderr[-2000:]
    return found


def images_of(archs):
    """What its set_gencode_flags_for_srcs makes of a list."""
    for arch in filter(None, archs.split(";")):
        name = peers_cut.digits(arch.removesuffix("+PTX"))
        yield f"sm_{name}"
        if arch.endswith("+PTX"):
            yield f"compute_{name}"


def needs(pairs):
    """What a plan is for: the capabilities of its machine code, all of a family's, and plain PTX for GPUs to come."""
    found = set()
    for virtual, code in pairs:
        number = code.partition("_")[2].rstrip("af")
        if code.endswith("f"):
            found |= {f"{member[:-1]}.{member[-1]}" for member in FAMILIES[number].split()}
        elif code.startswith("sm_"):
            found.add(f"{number[:-1]}.{number[-1]}")
        elif virtual[-1].isdigit():
            found.add(code)
    return sorted(found, key=lambda name: (name[0] == "c", name.zfill(9)))


class Judge:
    """Which needs a set of images serves; asked of `answers` in one go."""

    def __init__(self, ask):
        self.ask, self.listed = ask, nvccs.Listed()

    def builds(self, nvcc, images):
        return all(self.listed.takes(nvcc, (re.sub("^sm", "compute", image), image)) for image in images)

    def verdicts(self, rows):
        """For each (nvcc, images, needs): a text."""
        fits = self.ask([{"images": images, "device": need} for _, images, wanted in rows for need in wanted
                         if need[0] != "c"])
        fits.reverse()
        for nvcc, images, wanted in rows:
            served = [need for need in wanted if self.ptx_serves(images, need)
                      or (need[0] != "c" and fits.pop()["fit"] in ("native", "jit"))]
            text = " ".join(images) or "nothing"
            if not self.builds(nvcc, images):
                text += ", which nvcc refuses"
                served = []
            yield text, served

    @staticmethod
    def ptx_serves(images, need):
        return need[0] == "c" and any(re.fullmatch(r"compute_\d+", image) and int(image[8:]) <= int(need[8:])
                                      for image in images)


def cases(questions, ask):
    said = ask([{"nvcc": nvcc, "list": plan, "files": [file]} for nvcc, plan, file in questions])
    kept = [(q, a) for q, a in zip(questions, said) if a["pairs"]]
    found = theirs([(answer["pairs"], file) for (_, _, file), answer in kept])
    judge, rows = Judge(ask), []
    for ((nvcc, _, _), answer), (_, archs) in zip(kept, found):
        wanted = needs(answer["pairs"])
        rows += [(nvcc, sorted(set(images_of(archs))), wanted), (nvcc, sorted(answer["files"][0]["images"]), wanted)]
    verdicts = list(judge.verdicts(rows))
    for at, ((nvcc, plan, file), answer) in enumerate(kept):
        (text, served), (our_text, our_served) = verdicts[2 * at:2 * at + 2]
        yield Case(f"a file for {file}, plan {plan}, nvcc {nvcc}", f"{text}: serves {' '.join(served) or 'nothing'}",
                   f"{our_text}: serves {' '.join(our_served) or 'nothing'}", served=set(served),
                   our_served=set(our_served), images=set(text.split()), our_images=set(our_text.split()),
                   plan=plan.split(";"), file=file.split(";"), read=found[at][0].split(";"),
                   unserved=answer["files"][0]["unserved"], needs=set(rows[2 * at][2]))


def entries(case):
    return {entry.removesuffix("+PTX") for entry in case.file}


def suffix_lost(case):
    """Compiled with less than the file's entry says: plain where it has a suffix alone, `f` where it has `a`."""
    own = entries(case)
    for digits, suffix in re.findall(r"\bsm_(\d+)([af]?)\b", case.theirs.partition(":")[0]):
        cc = f"{digits[:-1]}.{digits[-1]}"
        if cc + suffix not in own and not (suffix and cc in own) and (not suffix or cc + "a" in own):
            return suffix != "a"
    return False


def names(images):
    return {image for image in images if re.match("sm_|compute_", image)}


def devices(needs):
    return {need for need in needs if need[0] != "c"}


def the_plans_entry(case):
    """An entry of the plan with its suffix, which the file has not so."""
    own, plan = entries(case), {entry.removesuffix("+PTX") for entry in case.plan}
    found = {f"{d[:-1]}.{d[-1]}{suffix}" for d, suffix in re.findall(r"\bsm_(\d+)([af])\b", case.theirs)}
    return case.served == case.our_served and bool((found - own) & plan)


def untold(case):
    """A need that we neither serve nor name."""
    return case.needs - case.our_served - set(case.unserved)


DIFFERENCES = [
    Difference("nvcc-refuses-it", PAGE, lambda c: "which nvcc refuses" in c.theirs, ("12.8", "12.0", "12.0f")),
    Difference("suffix-lost", PAGE, suffix_lost, ("13.2", "10.3;12.0", "9.0a;10.0f;11.0f;12.0f")),
    Difference("devices-lost", PAGE, lambda c: devices(c.our_served) > devices(c.served),
               ("13.0", "8.7;9.0", "8.0;9.0+PTX;7.5+PTX")),
    Difference("ptx-lost", PAGE, lambda c: c.our_served > c.served, ("13.0", "8.0;9.0+PTX", "8.0;9.0")),
    Difference("entry-of-the-plan", PAGE, the_plans_entry, ("13.0", "12.1a", "12.0f")),
    Difference("more-than-needed", PAGE, lambda c: c.our_served == c.served and names(c.images) > names(c.our_images),
               ("13.0", "10.0", "8.0+PTX")),
    Difference("older-code", PAGE, lambda c: c.our_served == c.served and names(c.our_images) - names(c.images),
               ("13.2", "8.9;10.0f", "8.0+PTX;10.3")),
]
