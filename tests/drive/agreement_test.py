#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All forms of `tcstack plan --emit` mean the same plan: on each recorded machine of tests/machines, and on one whose
paths and variables hold what shells, GitHub, JSON and CMake give a meaning to. forms_test.py has CMake itself read some;
here the forms are read by their documented rules, env and cmake-args by a real sh.

From the environment: TCS_TOOL.
"""
import copy
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOL = os.environ["TCS_TOOL"]
MACHINES = Path(__file__).resolve().parents[1] / "machines"
FORMS = ("gencode", "env", "github-env", "preset", "initial-cache", "cmake-args")
CLEAN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
ODD = ("a b", "it's", 'q"q', "$HOME", "${x}", "$env{HOME}", "$penv{PATH}", "${dollar}", "`id`", "$(id)", "a;b", "a\\b",
       "a\\nb", "a\\", "a\nb", "a\nEND\nb", "\nEND_", "%d%s", "]=]", "]]", "]", "ü\U0001f600", "#c", "!x", "*", "~", "\t",
       "\r", "a\rb", "\x01\x1b[31m", "@X@", "X<<END", "a=b", "END", "\u2028", "\u00a0", "\u3000")
ODD_MACHINE = {
    "schema": "torch-cuda-stack/facts/1", "host": {"cores": 4, "memory_mib": 65536},
    "devices": {"state": "none", "list": []}, "driver": {"state": "absent"},
    "toolkits": {"selected": 0, "list": [{"version": "12.9.86", "root": "/cuda", "nvcc": "/cuda/bin/nvcc"}]},
    "torch": {"state": "found", "flavour": "cuda", "version": "2.11.0+cu129", "cuda": "12.9"},
    "environment": {"PATH": "/recorded"}}


def same(what, first, second):
    differ = [(name, first.get(name), second.get(name)) for name in sorted({*first, *second})
              if first.get(name) != second.get(name)]
    assert not differ, f"{what}: {differ}"


def once(pairs):
    pairs = list(pairs)
    assert len({name for name, _ in pairs}) == len(pairs), f"a name twice: {pairs}"
    return dict(pairs)


def shell(script, text):
    done = subprocess.run(["sh", "-euc", script], input=text, capture_output=True, env=CLEAN, check=False)
    assert done.returncode == 0 and not done.stderr, done
    return [word.decode("utf-8") for word in done.stdout.split(b"\0")[:-1]]


def from_env(text):
    after = once(pair.split("=", 1) for pair in shell('eval "$(cat)"; exec env -0', text))
    return {name: value for name, value in after.items() if name not in ("LC_ALL", "PWD", "SHLVL", "_")}


def from_github(text):
    """The runner's rules: lines end at LF alone, NAME<<DELIMITER, lines up to one that is the delimiter."""
    lines = iter(text.decode("utf-8").split("\n")[:-1])
    found = []
    for line in lines:
        name, end = re.fullmatch(r"(\w+)<<(.+)", line).groups()
        value = []
        while (line := next(lines)) != end:
            value.append(line)
        found.append((name, "\n".join(value)))
    return once(found)


def from_words(words):
    assert all(re.match(r"-D\w+=", word) for word in words), words
    return once(word[2:].split("=", 1) for word in words)


def from_cache(text):
    """cmake-language(7), bracket arguments: no escape and no reference, a newline at the start is dropped."""
    row = re.compile(r'set\((\w+) \[(=*)\[\n?(.*?)\]\2\] CACHE STRING "from tcstack plan"\)\n', re.DOTALL)
    text, at, found = text.decode("utf-8"), 0, []
    while at < len(text):
        match = row.match(text, at)
        assert match, text[at:]
        found.append((match[1], match[3]))
        at = match.end()
    return once(found)


def from_preset(text):
    """cmake-presets(7): the only macros are those that are written on purpose."""
    def meant(value):
        assert not re.search(r"\$(?!\{dollar\}|penv\{PATH\}$)", value), value
        return value.replace("$penv{PATH}", CLEAN["PATH"]).replace("${dollar}", "$")
    row, = json.loads(text.decode("utf-8"))["configurePresets"]
    return tuple({name: meant(value) for name, value in row[kind].items()} for kind in ("cacheVariables", "environment"))


def images(text, word, virtual):
    """The gencode flags of a list."""
    found = set()
    for entry in filter(None, text.split(";")):
        match = re.fullmatch(word, entry)
        assert match, f"a list has {entry!r}"
        digits = "".join(filter(None, match.groups()[:-1])).replace(".", "")
        kinds = virtual(match.groups()[-1])
        found |= {f"-gencode=arch=compute_{digits},code={kind}_{digits}" for kind in kinds}
    return found


def torch_images(text):
    return images(text, r"(\d+\.\d)([af]?)(\+PTX)?", lambda ptx: ("sm", "compute") if ptx else ("sm",))


def cmake_images(text):
    kinds = {None: ("sm", "compute"), "-real": ("sm",), "-virtual": ("compute",)}
    return set() if text == "OFF" else images(text, r"(\d+[af]?)(-real|-virtual)?", kinds.get)


def check_plan(plan, environment, cache, notes):
    """Each list, with what nvcc is given beside it, is the plan, but for the neighbour that a note tells of."""
    more = set(environment.get("NVCC_APPEND_FLAGS", "").split())
    for name, got in (("TORCH_CUDA_ARCH_LIST", torch_images(environment.get("TORCH_CUDA_ARCH_LIST", ""))),
                      ("CUDAARCHS", cmake_images(environment["CUDAARCHS"])),
                      ("CMAKE_CUDA_ARCHITECTURES", cmake_images(cache["CMAKE_CUDA_ARCHITECTURES"])),
                      ("TORCH_CUDA_ARCH_LIST of CMake", torch_images(cache.get("TORCH_CUDA_ARCH_LIST", "")))):
        beside = name == "TORCH_CUDA_ARCH_LIST" and "is built beside it" in " ".join(notes.split())
        assert got | more == plan or (beside and got | more > plan), f"{name} and {more} are not {plan}: {got}"


def check(folder, name, facts, request=None, options=()):
    """True where there is a plan."""
    path = Path(folder, re.sub(r"\W", "_", name))
    path.with_suffix(".json").write_text(json.dumps(facts), encoding="ascii")
    options = [*options, "--facts", path.with_suffix(".json")]
    if request is not None:
        path.with_suffix(".request").write_text(json.dumps(request), encoding="ascii")
        options += ["--request", path.with_suffix(".request")]
    done = {form: subprocess.run([TOOL, "plan", *options, "--emit", form], capture_output=True, env=CLEAN, check=False)
            for form in FORMS}
    codes = {form: one.returncode for form, one in done.items()}
    assert len(set(codes.values())) == 1, codes
    for form, one in done.items():
        assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", one.stderr), f"{form}: a terminal would obey {one.stderr}"
    if codes["env"] != 0:
        assert not any(one.stdout for one in done.values()), "a refused plan is printed"
        return False
    text = {form: one.stdout for form, one in done.items()}
    environment, github = from_env(text["env"]), from_github(text["github-env"])
    cache, preset = from_cache(text["initial-cache"]), from_preset(text["preset"])
    words = shell('eval "set -- $(cat)"; for word; do printf "%s\\0" "$word"; done', text["cmake-args"])
    assert words == shlex.split(text["cmake-args"].decode("utf-8")), "sh and Python cut cmake-args apart"
    same("env, github-env", {**environment, "PATH": ""}, {**github, "PATH": ""})
    assert not any("\n" in value for value in cache.values()), "CMake cuts an entry of several lines"
    same("initial-cache, cmake-args", cache, from_words(words))
    same("initial-cache, preset", cache, preset[0])
    same("env, preset", {**environment, "CMAKE_ARGS": ""}, {"PATH": CLEAN["PATH"], **preset[1], "CMAKE_ARGS": ""})
    notes = done["env"].stderr.decode("utf-8")
    if "CMAKE_ARGS" not in facts.get("environment", {}):
        own = environment.get("CMAKE_ARGS", "")
        assert shlex.split(own) == own.split(), f"CMAKE_ARGS is cut in two ways: {own}"
        given = from_words(own.split())
        left = {entry for entry in cache if own and f"CMAKE_ARGS cannot hold {entry}" in notes}
        same("CMAKE_ARGS", {entry: given.get(entry) for entry in cache if own and entry not in left},
             {entry: value for entry, value in cache.items() if own and entry not in left})
    users = facts.get("environment", {})
    if (request or {}).get("purpose") != "pytorch-source" and not {"TORCH_CUDA_ARCH_LIST", "CUDAARCHS",
                                                                   "NVCC_APPEND_FLAGS"} & set(users):
        check_plan(set(text["gencode"].decode("ascii").split()), environment, cache, notes)
    return True


def recorded(folder):
    for path in sorted(MACHINES.glob("*.json")):
        machine = json.loads(path.read_text(encoding="utf-8"))
        yield path.stem, lambda m=machine, n=path.stem: check(folder, n, m["facts"], m.get("request"),
                                                              ("--fail-on", "never"))


def odd(folder):
    places = {
        "root": lambda facts, text: facts["toolkits"]["list"][0].update(root=text, nvcc=f"{text}/bin/nvcc"),
        "compiler": lambda facts, text: facts["toolkits"]["list"][0].update(fitting_host_compiler=text),
        "torch": lambda facts, text: (facts["toolkits"]["list"][0].update(missing=["nvrtc"]),
                                      facts["torch"].update(root=f"{text}/torch")),
        "users": lambda facts, text: facts["environment"].update(
            CUDACXX=text, CUDA_PATH=text, LIBRARY_PATH=text, NVCC_PREPEND_FLAGS=text, CUDAToolkit_ROOT=text,
            CMAKE_ARGS=text, CUDAHOSTCXX=text)}
    for place, put in places.items():
        for number, text in enumerate(ODD):
            facts = copy.deepcopy(ODD_MACHINE)
            put(facts, text if place == "users" else f"/opt/{text}")
            name = f"{place} {number} {text!r}"
            yield name, lambda f=facts, n=name: check(folder, n, f, None, ("--arch-list", "9.0;12.0f", "--fail-on",
                                                                           "never"))


def main():
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        asked = [*recorded(folder), *odd(folder)]
        results = [(name, pool.submit(one)) for name, one in asked]
        faults, plans = [], 0
        for name, result in results:
            try:
                plans += result.result()
            except (AssertionError, ValueError, StopIteration, AttributeError) as fault:
                faults.append(f"{name}: {fault!r}")
    print("\n".join(faults) or f"{plans} plans of {len(asked)} machines are the same in all forms")
    assert plans > 200, f"only {plans} machines have a plan"
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
