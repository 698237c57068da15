#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of probe-src/tables: held against each other, measured anew, made anew.

    tables.py check                         offline: rows, order, sources, and what one table says of another
    tables.py measure RELEASE... [--write]  online: 13.5 is fetched from PyPI, asked, and held against its rows
    tables.py regenerate [--pci-ids FILE] [--readme FILE] [--write]
                                            the GPU names of pci.ids (Debian's package, fetched where no file
                                            is given) and of the README of NVIDIA's open kernel modules
    tables.py wheels [--write]              online: PyPI's pins and digests of the updates in toolkit_wheels.def, nothing
                                            is downloaded; newer updates are told, and written

Exit status: 0 all is the same, 1 something differs, 77 what is needed cannot be had. Nothing but Python >= 3.9, and
for the online parts pip and apt-get.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "probe-src/tables"
SKIP = 77


class Row(tuple):
    """The arguments of one row, as Python values; .file, .line (its number) and .letters after the row."""


def arguments(text):
    """'"RTX 4090", 8, \\'a\\'' -> ["RTX 4090", 8, "a"]."""
    words = re.findall(r'"(?:[^"\\]|\\.)*"|\'.\'|[^\s,]+|,', text)
    out = [""]
    for word in words:
        if word == ",":
            out.append("")
        elif word[0] in "\"'":  # literals beside each other are one
            out[-1] = str(out[-1]) + word[1:-1].replace('\\"', '"')
        else:
            out[-1] = int(word)
    return out


def read(file, macro):
    rows = []
    for number, line in enumerate((TABLES / file).read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(rf"{macro}\((.*)\)\s*(?://\s*(.*))?$", line)
        if not match:
            continue
        row = Row(arguments(match[1]))
        row.file, row.line, row.letters = file, number, match[2] or ""
        rows.append(row)
    return rows


def version(text):
    return tuple(int(part) for part in text.split("."))


def release(text):
    """ "12.8.93" -> 1208."""
    return version(text)[0] * 100 + version(text)[1]


def dotted(number):
    return f"{number // 100}.{number % 100}"


def natural(text):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in re.findall(r"\d+|\D+", text)]


def digits(major, minor, suffix=0):
    return f"{major}{minor}{suffix or ''}"


# file, macro, number of arguments, what a row is sorted by (None: another order), what no two rows share, and the
# letters for sources that end each row ("" = the head of the file names them)
def arch_key(row):
    return row[0], row[1], row[2] or ""


def first_of(row):
    return row[0]


LAYOUT = [
    ("gpus.def", "TCS_GPU", 3, lambda r: (r[1], r[2], natural(r[0]), r[0]), tuple, "KPCLRS"),
    ("architectures.def", "TCS_ARCH", 9, arch_key, arch_key, "MD"),
    ("torch_names.def", "TCS_TORCH_NAME", 5, None, lambda r: (r[0], r[3]), ""),
    ("cuda_releases.def", "TCS_CUDA", 3, lambda r: r[:2], lambda r: r[:2], ""),
    ("cuda_releases.def", "TCS_DRIVER_FLOOR", 4, first_of, first_of, ""),
    ("cuda_releases.def", "TCS_DRIVER_BRANCH", 2, first_of, first_of, ""),
    ("cuda_toolkits.def", "TCS_CUDA_TOOLKIT", 7, lambda r: version(r[0]), first_of, "AJTUMBR"),
    ("toolkit_wheels.def", "TCS_WHEEL", 5, lambda r: (version(r[0]), WHEELS.index(r[1])), lambda r: r[:2], ""),
    ("ptx.def", "TCS_PTX", 2, first_of, first_of, ""),
    ("torch_releases.def", "TCS_TORCH", 10, lambda r: (version(r[0]), r[2]), lambda r: r[:2], "BCW"),
    ("host_compilers.def", "TCS_HOST_LIMIT", 6, lambda r: version(r[0]), first_of, ""),
    ("host_compilers.def", "TCS_KNOWN_BAD", 8, None, tuple, ""),
    ("driver_errors.def", "TCS_DRIVER_ERROR", 5, first_of, first_of, ""),
    ("driver_errors.def", "TCS_NVML_ERROR", 2, first_of, first_of, ""),
    ("jetpack.def", "TCS_JETPACK", 5, lambda r: version(r[0]), first_of, ""),
]


# What nvcc on PyPI is made of, in the order of the rows.
WHEELS = ["nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime", "nvidia-cuda-cccl"]


class Check:
    """Collects what is wrong, each with its place."""

    def __init__(self):
        self.wrong = []
        self.count = 0

    def that(self, holds, row, text):
        self.count += 1
        if not holds:
            self.wrong.append(f"{row.file}:{row.line}: {text}" if isinstance(row, Row) else f"{row}: {text}")


def check_layout(check):
    for file, macro, count, order, key, letters in LAYOUT:
        text = (TABLES / file).read_text(encoding="utf-8")
        rows = read(file, macro)
        check.that(
            len(rows) == len(re.findall(rf"^{macro}\(", text, re.M)), file, f"a row of {macro} is not on one line"
        )
        check.that(len(rows) > 0, file, f"no row of {macro}")
        check.that(re.search(r"^//.*\b[Ss]ources?\b", text, re.M), file, "names no source")
        seen = set()
        for before, row in itertools.zip_longest([None, *rows[:-1]], rows):
            check.that(len(row) == count, row, f"{len(row)} arguments in place of {count}")
            check.that(key(row) not in seen, row, f"comes twice: {key(row)}")
            seen.add(key(row))
            if order and before:
                check.that(order(before) < order(row), row, "is not in order")
            if letters:
                words = row.letters.split(";")[0].split()
                check.that(words and all(w in letters for w in words), row, f"ends with no letter of {letters}")
    for file in sorted(TABLES.glob("*.def")):
        text = file.read_text(encoding="utf-8")
        check.that(text.startswith("// SPDX-License-Identifier: Apache-2.0\n"), file.name, "has no SPDX line")


def built_by(arch, cuda):
    return cuda >= arch[3] and (arch[4] == 0 or cuda <= arch[4])


def check_archs(check):
    archs = read("architectures.def", "TCS_ARCH")
    known = {digits(*row[:3]) for row in archs}
    oracle = json.loads((ROOT / "tests/oracles/toolkit-archs.json").read_text(encoding="utf-8"))
    for nvcc, text in oracle["ptxas"].items():
        measured = set(text.split())
        if nvcc in oracle["nvcc_code"]:  # what ptxas reads and nvcc writes no longer: 70 in 13.0
            listed = set(oracle["nvcc_code"][nvcc].split())
            measured = {name for name in measured if name[-1] in "af" or name in listed}
        table = {digits(*row[:3]) for row in archs if built_by(row, release(nvcc))}
        check.that(
            table == measured,
            "architectures.def",
            f"nvcc {nvcc}: {sorted(table ^ measured)} differ from what it said",
        )
    for row in archs:
        for minor in row[6].split():
            check.that(
                digits(row[0], minor) in known and row[2] == "f",
                row,
                f"family member {row[0]}.{minor} is no architecture",
            )
    for row in read("gpus.def", "TCS_GPU"):
        check.that(digits(row[1], row[2]) in known, row, "capability is no architecture")
    for row in read("torch_names.def", "TCS_TORCH_NAME"):
        for member in row[1].split():
            check.that(member.replace(".", "") in known, row, f"{member} is no architecture")
    for row in read("jetpack.def", "TCS_JETPACK"):
        for board in row[3].split():
            tegra = [a for a in archs if digits(*a[:3]) == board.replace(".", "")]
            check.that(tegra and tegra[0][5] == 1, row, f"{board} is no architecture of Tegra")


def check_cuda(check):
    archs = read("architectures.def", "TCS_ARCH")
    minors = {row[0] * 100 + row[1]: row[2] for row in read("cuda_releases.def", "TCS_CUDA")}
    branches = dict(read("cuda_releases.def", "TCS_DRIVER_BRANCH"))
    ptx = dict(read("ptx.def", "TCS_PTX"))
    toolkits = read("cuda_toolkits.def", "TCS_CUDA_TOOLKIT")
    check.that(
        {release(row[0]) for row in toolkits} == set(minors),
        "cuda_toolkits.def",
        "has other minor releases than TCS_CUDA",
    )
    for cuda, isa in minors.items():
        check.that(
            isa in ptx and ptx[isa] <= cuda,
            "cuda_releases.def",
            f"{dotted(cuda)}: its PTX {dotted(isa)} is no older CUDA's",
        )
        check.that(
            any(built_by(row, cuda) for row in archs), "architectures.def", f"nothing is built by CUDA {dotted(cuda)}"
        )
    for isa, cuda in ptx.items():
        check.that(
            minors.get(cuda, isa) == isa, "ptx.def", f"CUDA {dotted(cuda)} writes another PTX than {dotted(isa)}"
        )
    for row in toolkits:
        cuda = release(row[0])
        check.that(re.fullmatch(r"(20\d\d-[01]\d(-[0-3]\d)?)?", row[1]), row, f"no date: {row[1]}")
        check.that(not row[2] or release(row[2]) == cuda, row, f"nvcc {row[2]} is of another release")
        check.that(
            bool(row[2]) == bool(set(row.letters) & set("MB")),
            row,
            "the letters do not say how nvcc's number is known",
        )
        check.that(
            bool(row[1]) == bool(set(row.letters) & set("AJTU")), row, "the letters do not say where the date is from"
        )
        default = row[6].replace("sm_", "")
        check.that(
            any(built_by(a, cuda) and digits(*a[:3]) == default for a in archs), row, f"{row[6]} is not built by it"
        )
        for driver in (row[3], row[5]):
            branch = int(driver.split(".")[0]) if driver else 0
            check.that(
                branches.get(branch, cuda) == cuda,
                row,
                f"driver {driver} speaks CUDA {dotted(branches.get(branch, 0))}",
            )
    for before, row in zip(toolkits, toolkits[1:]):
        if release(before[0]) == release(row[0]) and before[3] and row[3]:
            check.that(
                version(before[3]) <= version(row[3]), row, "asks for an older driver than the update before it"
            )
        if release(before[0]) == release(row[0]) and before[1] and row[1]:
            check.that(before[1][:7] <= row[1][:7], row, "is older than the update before it")
    for row in read("cuda_releases.def", "TCS_DRIVER_FLOOR"):
        spoken = branches.get(int(row[1].split(".")[0]), 0)
        check.that(spoken // 100 == row[0], row, f"driver {row[1]} speaks CUDA {dotted(spoken)}")
    for row in read("jetpack.def", "TCS_JETPACK"):
        check.that(row[2] in minors or row[2] == 0, row, f"there is no CUDA {row[2]}")


def check_torch(check):
    archs = {digits(*row[:3]): row for row in read("architectures.def", "TCS_ARCH")}
    minors = {row[0] * 100 + row[1] for row in read("cuda_releases.def", "TCS_CUDA")}
    floors = {row[0] for row in read("cuda_releases.def", "TCS_DRIVER_FLOOR")}
    defaults = []
    for row in read("torch_releases.def", "TCS_TORCH"):
        cuda = row[2]
        check.that(row[1] == f"cu{cuda // 100}{cuda % 100}", row, f"{row[1]} is another CUDA than {dotted(cuda)}")
        check.that(cuda in minors, row, f"there is no CUDA {dotted(cuda)}")
        check.that(cuda < 1100 or cuda // 100 in floors, row, f"CUDA {cuda // 100} has no driver floor")
        check.that(row[6] <= row[7], row, "its last Python is older than its first")
        for images in (row[4].split(), row[5].split()):
            order = [natural(name) for name in images]
            check.that(order == sorted(order), row, "its images are not in order")
            for image in images:
                arch = archs.get(image.split("_")[1])
                check.that(arch and built_by(arch, cuda), row, f"CUDA {dotted(cuda)} builds no {image}")
        if row[3]:
            defaults.append(row[0])
            check.that(defaults.count(row[0]) == 1, row, "PyPI has another build of it already")


def check_compilers(check):
    rows = read("host_compilers.def", "TCS_HOST_LIMIT")
    oldest = {}  # nvcc's own number -> the first toolkit that has it
    for toolkit in read("cuda_toolkits.def", "TCS_CUDA_TOOLKIT"):
        oldest.setdefault(toolkit[2], toolkit[0])
    # A toolkit's own numbers are small, nvcc's are not: 12.2.1 and 12.2.128.
    limits = [row for row in rows if version(row[0])[2] < 40 or version(row[0]) < (11,)]
    for before, row in zip(limits, limits[1:]):
        check.that(
            all(a <= b or b == 0 or a == 0 for a, b in zip(before[1:], row[1:])),
            row,
            "takes less than the release before it",
        )
    for row in rows:
        if row in limits or row[0] not in oldest:
            continue
        same = [limit for limit in limits if version(limit[0]) <= version(oldest[row[0]])][-1]
        check.that(row[1:] == same[1:], row, f"is nvcc of {oldest[row[0]]}, and has other limits than {same[0]}")


def check_errors(check):
    known = set()
    for file in (ROOT / "probe-src/findings/table").glob("*.def"):
        known |= {int(number) for number in re.findall(r"TCS_FINDING\((\d+)", file.read_text(encoding="utf-8"))}
    names = set()
    for row in read("driver_errors.def", "TCS_DRIVER_ERROR"):
        check.that(row[1] in known, row, f"there is no finding {row[1]}")
        check.that(re.fullmatch(r"CUDA_ERROR_[A-Z_]+|cudaError\w+", row[2]), row, f"{row[2]} is no name of an error")
        check.that(row[2] not in names, row, f"{row[2]} comes twice")
        names.add(row[2])


def check_wheels(check):
    rows = read("toolkit_wheels.def", "TCS_WHEEL")
    numbers = {row[0]: row[2] for row in read("cuda_toolkits.def", "TCS_CUDA_TOOLKIT")}
    updates = sorted({row[0] for row in rows}, key=version)
    check.that(len({release(update) for update in updates}) == len(updates), rows[0], "a release has two updates")
    for update in updates:
        own = [row for row in rows if row[0] == update]
        check.that([row[1] for row in own] == WHEELS, own[0], f"{update} has other packages than {' '.join(WHEELS)}")
        check.that(own[0][2] == numbers.get(update), own[0], f"cuda_toolkits.def has another nvcc of {update}")
        for row in own[:3]:
            check.that(row[2] == own[0][2], row, "nvcc, crt and nvvm are of one number")
    digests = [digest for row in rows for digest in row[3:]]
    check.that(len(set(digests)) == len(digests), rows[0], "two wheels have one digest")
    for row in rows:
        check.that(all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in row[3:]), row, "has what is no sha256")


def check_page(check):
    tool = (ROOT / "probe-src/tool/tables.cpp").read_text(encoding="utf-8")
    page = (ROOT / "docs/tables.md").read_text(encoding="utf-8")
    names = re.findall(r'^ +\{\s*"([a-z-]+)",', tool, re.M)
    check.that(len(names) >= len(LAYOUT) - 1, "tool/tables.cpp", "lists fewer tables than there are")
    for name in names:
        check.that(f"`{name}`" in page, "docs/tables.md", f"does not name the table {name}")
    for file in {row[0] for row in LAYOUT}:
        check.that(f"`{file}`" in page, "docs/tables.md", f"does not name {file}")


def run_check():
    check = Check()
    for part in (check_layout, check_archs, check_cuda, check_torch, check_compilers, check_errors, check_wheels, check_page):
        part(check)
    date = re.search(r'kTablesDate = "(20\d\d-\d\d-\d\d)"', (TABLES / "tables.h").read_text(encoding="utf-8"))
    check.that(date, "tables.h", "kTablesDate is no date")
    print("\n".join(check.wrong) or f"{check.count} checks hold")
    return 1 if check.wrong else 0


# --- measure


def fetch(requirements, folder):
    """Wheels of PyPI, unpacked; their packages' versions."""
    versions = {}
    for requirement in requirements:
        wheels = folder / "wheels"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--only-binary",
                ":all:",
                "-d",
                str(wheels),
                requirement,
            ],
            capture_output=True,
            text=True,
            timeout=1200,
        )
        if done.returncode != 0:
            print(f"{requirement} cannot be had: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
            sys.exit(SKIP)
    for wheel in wheels.glob("*.whl"):
        versions[wheel.name.split("-")[0]] = wheel.name.split("-")[1]
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        wheel.unlink()
    return versions


def one(folder, pattern):
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    if not found:
        print(f"the packages have no {pattern}")
        sys.exit(SKIP)
    found[0].chmod(0o755)
    return found[0]


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300).stdout


def reads_ptx(ptxas, isa, target, folder):
    (folder / "t.ptx").write_text(
        f".version {dotted(isa)}\n.target sm_{target}\n.address_size 64\n" ".visible .entry f() { ret; }\n",
        encoding="utf-8",
    )
    command = [str(ptxas), f"-arch=sm_{target}", str(folder / "t.ptx"), "-o", str(folder / "t.cubin")]
    return subprocess.run(command, capture_output=True, timeout=300).returncode == 0


def newest_ptx(ptxas, target, folder):
    """The newest that it reads is the one that its nvcc writes."""
    newest = 0
    for major in range(6, 13):
        for minor in range(0, 10):
            if reads_ptx(ptxas, major * 100 + minor, target, folder):
                newest = major * 100 + minor
    return newest


def host_limits(text):
    text = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#if"))

    def numbers(pattern):
        return [int(number) for number in re.findall(pattern, text)]

    return (
        max(numbers(r"__GNUC__ > (\d+)")),
        max(numbers(r"__clang_major__ >= (\d+)")) - 1,
        min(numbers(r"_MSC_VER < (\d+)")),
        max(numbers(r"_MSC_VER >= (\d+)")) - 1,
    )


def measured(name, folder):
    """What the packages of one minor release say."""
    old = {"11": "-cu11", "12": "-cu12"}.get(name.split(".")[0], "")
    packages = ["nvidia-cuda-nvcc", "nvidia-cuda-runtime"] + ([] if old else ["nvidia-cuda-crt"])
    fetch([f"{package}{old}=={name}.*" for package in packages], folder)
    ptxas = one(folder, "ptxas")
    text = output(ptxas, "--help")
    archs = re.findall(r"'sm_(\d+[af]?)'", text.split("--gpu-name <gpu name>")[1].split("Default value")[0])
    nvcc = list(folder.rglob("bin/nvcc"))
    listed = output(one(folder, "bin/nvcc"), "--list-gpu-code") if nvcc else ""
    if listed:
        archs = [arch for arch in archs if arch[-1] in "af" or f"sm_{arch}\n" in listed]
    headers = "".join(
        one(folder, header).read_text(encoding="utf-8", errors="replace") for header in ("cuda.h", "driver_types.h")
    )
    return {
        "nvcc": re.search(r"V(\d+\.\d+\.\d+)", output(ptxas, "--version"))[1],
        "default": re.search(r"Default value:\s+'(sm_\d+)'", text.split("--gpu-name <gpu name>")[1])[1],
        "archs": set(archs),
        "ptx": newest_ptx(ptxas, "80", folder),
        "limits": host_limits(one(folder, "crt/host_config.h").read_text(encoding="utf-8", errors="replace")),
        "errors": {
            name: int(number, 0)
            for name, number in re.findall(r"\b(CUDA_ERROR_\w+|cudaError\w+)\s*=\s*(0x[0-9a-f]+|\d+)", headers)
        },
    }


def quoted(value):
    return json.dumps(value) if isinstance(value, str) else str(value)


class Edits:
    """Differences, and the lines that would make them go away."""

    def __init__(self):
        self.different = 0
        self.lines = []  # file, number of the line that goes (0: none), the line, the macro it is sorted among

    def compare(self, what, table, real, file=None, line=0, text=None, macro=None):
        if table == real:
            print(f"  same       {what}: {real}")
            return
        self.different += 1
        print(f"  different  {what}: the table has {table}, measured is {real}")
        if text:
            self.lines.append((file, line, text, macro))

    def write(self):
        for file, line, text, macro in sorted(self.lines, key=lambda edit: -edit[1]):
            lines = (TABLES / file).read_text(encoding="utf-8").splitlines()
            if line:
                lines[line - 1] = text
            else:  # below the last row of its kind; check says where it is out of order
                lines.insert(read(file, macro)[-1].line, text)
            (TABLES / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"  written    {file}: {text}")


def compare_archs(edits, cuda, real):
    rows = {digits(*row[:3]): row for row in read("architectures.def", "TCS_ARCH")}
    table = {name for name, row in rows.items() if built_by(row, cuda)}
    for name in sorted(real - table):
        if name in rows:
            edits.compare(f"sm_{name}", "not built", "built")
            continue
        suffix = name[-1] if name[-1] in "af" else ""
        number = name.rstrip("af")
        text = f'TCS_ARCH({number[:-1]}, {number[-1]}, {repr(suffix) if suffix else 0}, {cuda}, 0, 0, "", 0, 0)  // M'
        edits.compare(f"sm_{name}", "no row", "built", "architectures.def", 0, text, "TCS_ARCH")
    for name in sorted(table - real):
        edits.compare(f"sm_{name}", "built", "not built")
    if table == real:
        edits.compare("architectures", len(table), len(real))


def compare_release(name, edits, folder):
    cuda = release(name)
    real = measured(name, folder)
    print(f"CUDA {name}, nvcc {real['nvcc']}")
    toolkits = [row for row in read("cuda_toolkits.def", "TCS_CUDA_TOOLKIT") if row[2] == real["nvcc"]]
    edits.compare(
        "nvcc",
        toolkits[0][2] if toolkits else "no row",
        real["nvcc"],
        "cuda_toolkits.def",
        0,
        f'TCS_CUDA_TOOLKIT("{name}.?", "", "{real["nvcc"]}", "", "", "", "{real["default"]}")  // M',
        "TCS_CUDA_TOOLKIT",
    )
    for row in toolkits:
        text = f"TCS_CUDA_TOOLKIT({', '.join(quoted(v) for v in (*row[:6], real['default']))})  // {row.letters}"
        edits.compare(f"default architecture of {row[0]}", row[6], real["default"], row.file, row.line, text)
    compare_archs(edits, cuda, real["archs"])
    ptx = [row for row in read("cuda_releases.def", "TCS_CUDA") if row[0] * 100 + row[1] == cuda]
    text = f"TCS_CUDA({cuda // 100}, {cuda % 100}, {real['ptx']})"
    edits.compare(
        "PTX",
        ptx[0][2] if ptx else "no row",
        real["ptx"],
        "cuda_releases.def",
        ptx[0].line if ptx else 0,
        text,
        "TCS_CUDA",
    )
    rows = [row for row in read("host_compilers.def", "TCS_HOST_LIMIT") if version(row[0]) <= version(real["nvcc"])]
    limits = ", ".join(str(number) for number in real["limits"])
    edits.compare(
        "gcc, clang, _MSC_VER from and to",
        rows[-1][2:],
        real["limits"],
        "host_compilers.def",
        0,
        f'TCS_HOST_LIMIT("{name}.0", {rows[-1][1]}, {limits})',
        "TCS_HOST_LIMIT",
    )
    ours = {row[2]: row for row in read("driver_errors.def", "TCS_DRIVER_ERROR") if row[2] in real["errors"]}
    for error, row in ours.items():
        if row[0] != real["errors"][error]:
            edits.compare(error, row[0], real["errors"][error])
    edits.compare("error codes", len(ours), sum(row[0] == real["errors"][error] for error, row in ours.items()))


def run_measure(names, write):
    edits = Edits()
    for name in names:
        if not re.fullmatch(r"\d+\.\d+", name):
            print(f"a release is written 13.5, not {name}")
            return 2
        with tempfile.TemporaryDirectory() as folder:
            compare_release(name, edits, Path(folder))
    if write:
        edits.write()
    return 1 if edits.different else 0


# --- regenerate

# Chips by the start of their name in pci.ids, and their capability (NVIDIA's pages; meson modules/cuda.py).
CHIPS = [
    ("GK20A", "3.2"),
    ("GK208", "3.5"),
    ("GK210", "3.7"),
    ("GK110", "3.5"),
    ("GK180", "3.5"),
    ("GK10", "3.0"),
    ("GM10", "5.0"),
    ("GM20B", "5.3"),
    ("GM20", "5.2"),
    ("GP100", "6.0"),
    ("GP10B", "6.2"),
    ("GP10", "6.1"),
    ("GV100", "7.0"),
    ("GV11B", "7.2"),
    ("TU1", "7.5"),
    ("GA100", "8.0"),
    ("GA10B", "8.7"),
    ("GA10", "8.6"),
    ("AD10", "8.9"),
    ("GH100", "9.0"),
]


def capability(chip):
    for start, cc in CHIPS:
        if chip.startswith(start):
            return cc
    return ""


def read_pci_ids(file):
    """(chip, product name) by device id, of NVIDIA's."""
    out, inside = {}, False
    for line in Path(file).read_text(encoding="utf-8", errors="replace").splitlines():
        if line[:1] not in "#\t":
            inside = line.startswith("10de ")
        match = re.match(r"\t([0-9a-f]{4})  (\w+) \[([^\]]+)\]", line)
        if inside and match:
            out[match[1].upper()] = (match[2], match[3])
    return out


def fetch_pci_ids(folder):
    done = subprocess.run(["apt-get", "download", "pci.ids"], cwd=folder, capture_output=True, text=True)
    debs = list(Path(folder).glob("pci.ids_*.deb"))
    if done.returncode or not debs:
        print("the Debian package pci.ids cannot be had")
        sys.exit(SKIP)
    subprocess.run(["dpkg-deb", "-x", debs[0], folder], check=True)
    return Path(folder, "usr/share/misc/pci.ids")


def read_readme(file):
    """Product name by device id, of the table of compatible GPUs."""
    out = []
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        match = re.match(r"\|\s*(NVIDIA [^|]+|[^|]+?)\s*\|\s*([0-9A-Fa-f]{4})\b", line)
        if match:
            out.append((match[1].strip(), match[2].upper()))
    return out


def run_regenerate(pci_ids, readme, write):
    with tempfile.TemporaryDirectory() as folder:
        ids = read_pci_ids(pci_ids or fetch_pci_ids(folder))
    found = set()
    for chip, name in ids.values():
        cc = capability(chip)
        if cc and version(cc) < (7, 5):  # newer ones have the README's names, which are nvidia-smi's
            found.add((re.sub(r"^NVIDIA ", "", name), *version(cc), "P"))
    named, unknown = set(), set()  # in the README; of them, those whose chip pci.ids does not tell
    for name, device in read_readme(readme) if readme else []:
        cc = capability(ids[device][0]) if device in ids else ""
        name = re.sub(r"^NVIDIA ", "", name)
        named.add(name)
        if cc:
            found.add((name, *version(cc), "K"))
        else:
            unknown.add(name)
    rows = read("gpus.def", "TCS_GPU")
    have = {tuple(row) for row in rows}
    letters = "PK" if readme else "P"
    new = sorted(row for row in found if row[:3] not in have)
    gone = [
        row
        for row in rows
        if row.letters in letters and row[0] not in named and tuple(row) not in {f[:3] for f in found}
    ]
    unknown -= {row[0] for row in rows}
    for row in new:
        print(f"new   TCS_GPU({quoted(row[0])}, {row[1]}, {row[2]})  // {row[3]}")
    for row in gone:
        print(f"gone  TCS_GPU({quoted(row[0])}, {row[1]}, {row[2]})  // {row.letters}")
    for name in sorted(unknown):
        print(f"of no known chip: {name}")
    print(f"{len(found)} names, {len(new)} of them new; {len(gone)} rows that the sources do not have")
    if write and new:
        file = TABLES / "gpus.def"
        head = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("TCS_GPU(")]
        every = [(*row, row.letters) for row in rows] + new
        every.sort(key=lambda r: (r[1], r[2], natural(r[0]), r[0]))
        file.write_text(
            "\n".join(head + [f"TCS_GPU({quoted(n)}, {a}, {b})  // {s}" for n, a, b, s in every]) + "\n",
            encoding="utf-8",
        )
    return 1 if new or gone or unknown else 0


# --- wheels

ARCHS = ("x86_64", "aarch64")


def pip_that_asks(folder):
    """A pip that takes metadata and digests from the index alone; older ones download to tell them."""
    python = folder / "pip/bin/python"
    for command in ([sys.executable, "-m", "venv", folder / "pip"], [python, "-m", "pip", "install", "-q", "-U", "pip"]):
        if subprocess.run(command, capture_output=True, text=True, timeout=600).returncode != 0:
            print("a new pip cannot be had")
            sys.exit(SKIP)
    return python


def newest_updates(pip):
    """13.2 -> 13.2.2"""
    said = output(pip, "-m", "pip", "index", "versions", "cuda-toolkit")
    match = re.search(r"Available versions: (.*)", said)
    if not match:
        print("PyPI cannot be asked")
        sys.exit(SKIP)
    updates = {}
    for text in sorted(match[1].split(", "), key=version):
        if version(text) >= (13,):
            updates[release(text)] = ".".join(text.split(".")[:3])
    return updates


def wheels_of(pip, update):
    """The rows that PyPI gives for an update."""
    found = {}
    for arch in ARCHS:
        tags = [f"--platform=manylinux_2_{minor}_{arch}" for minor in (17, 12, 5)] + [f"--platform=manylinux2014_{arch}"]
        command = [pip, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--only-binary=:all:",
                   "--no-cache-dir", "--target=unused", "--python-version=3.11", "--report=-", *tags,
                   f"cuda-toolkit[nvcc,cccl]=={update}"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            print(f"{update} for {arch}: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
            continue
        for item in json.loads(done.stdout)["install"]:
            digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
            found.setdefault(item["metadata"]["name"], {})[arch] = (item["metadata"]["version"], digest)
    found.pop("cuda-toolkit", None)
    if sorted(found) != sorted(WHEELS) or any(len(of) != 2 for of in found.values()):
        return []
    return [(update, name, found[name][ARCHS[0]][0], *(found[name][arch][1] for arch in ARCHS)) for name in WHEELS]


def run_wheels(write):
    rows = read("toolkit_wheels.def", "TCS_WHEEL")
    with tempfile.TemporaryDirectory() as folder:
        pip = pip_that_asks(Path(folder))
        newest = newest_updates(pip)
        own = sorted({row[0] for row in rows}, key=version)
        for update in newest.values():
            if update not in own:
                print(f"PyPI has CUDA {update}, which the table has not")
        new = [row for update in (newest.values() if write else own) for row in wheels_of(pip, update)]
    different = set(map(tuple, rows)) ^ set(new)
    for row in sorted(different):
        print("table" if row in set(map(tuple, rows)) else "PyPI ", *row)
    print(f"{len(rows)} rows, {len(different)} differences")
    if write and different:
        file = TABLES / "toolkit_wheels.def"
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("TCS_WHEEL(")]
        lines[-1:-1] = [f"TCS_WHEEL({', '.join(map(quoted, row))})" for row in new]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check")
    measure = verbs.add_parser("measure")
    measure.add_argument("releases", nargs="+")
    measure.add_argument("--write", action="store_true")
    again = verbs.add_parser("regenerate")
    again.add_argument("--pci-ids")
    again.add_argument("--readme")
    again.add_argument("--write", action="store_true")
    wheels = verbs.add_parser("wheels")
    wheels.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.verb == "check":
        return run_check()
    if options.verb == "wheels":
        return run_wheels(options.write)
    if options.verb == "measure":
        return run_measure(options.releases, options.write)
    return run_regenerate(options.pci_ids, options.readme, options.write)


if __name__ == "__main__":
    sys.exit(main())
