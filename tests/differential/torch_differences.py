# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch's readers of an arch list differ from us; each class has a section in docs/why-not-torch.md.

A predicate sees a case with one part of the difference: ("refuses", None) they refuse the list and we do not,
("accepts", None) the other way round, ("extra", pair) they build it and we do not, ("lacks", pair) the other way round.
"""
import re

from differences import Difference
from nvccs import family_twice

NAMES = {"Kepler": "35", "Kepler+Tesla": "37", "Maxwell": "50 52", "Maxwell+Tegra": "53", "Pascal": "60 61",
         "Volta": "70", "Volta+Tegra": "72", "Turing": "75", "Ampere": "80 86", "Ampere+Tegra": "87", "Ada": "89",
         "Hopper": "90", "Blackwell": "100 103 120 121", "Blackwell+Tegra": "101 110", "Rubin": "107"}
KEYWORDS = ("native", "all", "All", "all-major", "Auto", "Common")


def entries(case):
    return [entry for entry in re.split(r"[; \t]+", case.list or "") if entry]


def digits(pair):
    return re.sub(r"^(sm|compute)_", "", pair[1])


def is_ptx(pair):
    return pair[0] == pair[1]


def names_of(case):
    """The architectures' names in the list, each with whether +PTX was written after it."""
    found = []
    for entry in entries(case):
        name = entry.removesuffix("+PTX")
        if name in NAMES:
            found.append((name, name != entry))
    return found


def of_name(case, pair):
    return any(digits(pair) in NAMES[name].split() for name, _ in names_of(case))


def word(case):
    """What their CMake takes for the whole list: empty elements go on the way."""
    return case.list and case.list.strip(";")


def detects(case):
    """They ask the machine for its devices."""
    if case.reader == "python":
        return case.list is None or (case.list == "native" and case.release in ("2.11.0", "2.15.0"))
    return case.list is None or word(case) == "Auto"


def number(capability):
    return tuple(map(int, capability.split(".")))


def most_of(case):
    """The newest machine code of that PyTorch, above which no device is taken to be."""
    numbers = [re.search(r"\d+", name)[0] for name in case.images if "sm_" in name]
    return max(((int(sm) // 10, int(sm) % 10) for sm in numbers), default=(0, 0))


def refuses(reader=None):
    """A predicate for lists that they refuse."""
    def wrap(predicate):
        def whole(case):
            return case.part[0] == "refuses" and reader in (None, case.reader) and predicate(case)
        return whole
    return wrap


def differs(reader=None, kind=None):
    def wrap(predicate):
        def whole(case):
            return (case.part[1] is not None and reader in (None, case.reader) and kind in (None, case.part[0])
                    and predicate(case, case.part[1]))
        return whole
    return wrap


@refuses("python")
def no_gpu(case):
    return detects(case) and not case.devices


@refuses("python")
def own_images(case):
    suffixed = case.release in ("2.3.0", "1.13.1") and any(re.search(r"^sm_\d+[af]", name) for name in case.images)
    return detects(case) and case.devices and (suffixed or not any("sm_" in name for name in case.images))


@refuses("python")
def empty_entry(case):
    return not detects(case) and "" in re.split("[; ]", case.list)


@refuses("python")
def tab(case):
    return "\t" in (case.list or "")


@refuses("python")
def name_and_ptx(case):
    return any(ptx and case.alone(f"{name}+PTX") for name, ptx in names_of(case))


@refuses()
def keyword(case):
    return any(entry in KEYWORDS for entry in entries(case))


@refuses()
def spelling(case):
    return any(re.fullmatch(r"sm_\d+[af]?(\+PTX)?|\d+[af]?(\+PTX|-real|-virtual)?", entry) for entry in entries(case))


@refuses("python")
def by_way_of(case):
    return any("(" in entry for entry in entries(case))


@refuses("cmake")
def suffix_by_way_of(case):
    return any(re.fullmatch(r"[\d.]+[af]?\([\d.]+[af]?\)(\+PTX)?", entry) and re.search("[af]", entry)
               for entry in entries(case))


def unread_by_cmake(entry, release):
    """An architecture or a name that this release's CMake has no word for."""
    name = entry.removesuffix("+PTX")
    if name in NAMES:
        return {"2.7.1": name == "Rubin", "2.11.0": name == "Rubin", "2.15.0": False}.get(
            release, name in ("Rubin", "Blackwell", "Blackwell+Tegra") or release == "1.13.1")
    two, suffix = re.search(r"\d\d\.", name), re.search("[af]", name)
    return {"2.15.0": False, "2.11.0": False, "2.7.1": "f" in name}.get(release, bool(two or suffix))


@refuses()
def closed_table(case):
    plain = [entry for entry in entries(case)
             if re.fullmatch(r"\d+\.\d[af]?(\(\d+\.\d[af]?\))?(\+PTX)?", entry) or entry.removesuffix("+PTX") in NAMES]
    if case.reader == "python":
        detected = [*case.devices, ".".join(map(str, most_of(case)))] if detects(case) else []
        return any("(" not in entry and case.alone(entry) for entry in [*plain, *detected])
    return any(unread_by_cmake(entry, case.release) for entry in [*plain, *(case.devices if detects(case) else [])])


@differs("cmake")
def two_point_one(case, pair):
    hit = detects(case) and any("2.1" in device for device in case.devices)
    return hit and case.release != "2.15.0" and digits(pair) in ("121", "21")


@differs("cmake")
def parentheses(case, pair):
    """9.0a(8.6) falls into 90a and (86) where the suffix is."""
    cut = [re.findall(r"[\d.]+[af]?", entry) for entry in entries(case) if re.search(r"[af]\(", entry)]
    return any(digits(pair).strip("()") in [number.replace(".", "") for number in found] for found in cut)


def unbuildable(case):
    """nvcc refuses what they build."""
    if case.part[0] == "extra":
        return not case.nvcc_takes(case.part[1])
    return case.part[0] == "accepts" and (family_twice(case.their_pairs)
                                          or any(not case.nvcc_takes(pair) for pair in case.their_pairs))


def common(case):
    return case.reader == "cmake" and ((detects(case) and not case.devices) or word(case) == "Common")


def all_known(case):
    return case.reader == "cmake" and word(case) == "All"


@differs("cmake")
def limit(case, pair):
    return detects(case) and case.devices and (digits(pair) in {device.replace(".", "") for device in case.devices}
                                               or case.part[0] == "extra")


@differs("python")
def clamp(case, pair):
    if not detects(case):
        return False
    most = most_of(case)
    above = {device.replace(".", "") for device in case.devices if number(device) > most}
    return bool(above) and (digits(pair) == f"{most[0]}{most[1]}" or (
        case.part[0] == "lacks" and digits(pair) not in {d.replace(".", "") for d in case.devices} - above))


@differs("python", "extra")
def sorted_as_text(case, pair):
    newest = max(case.devices, key=number, default="0.0").replace(".", "")
    return detects(case) and is_ptx(pair) and digits(pair) != newest


@differs("python", "extra")
def ptx_of_detected(case, pair):
    return detects(case) and is_ptx(pair)


@differs(None, "lacks")
def nearest(case, _):
    return detects(case) and any(
        not case.nvcc_takes((f"compute_{d}", f"sm_{d}")) for d in (x.replace(".", "") for x in case.devices))


@differs("cmake", "extra")
def ptx_of_both(case, pair):
    return is_ptx(pair) and any(re.fullmatch(r"(\d+)\.(\d)[af]?\([\d.af]+\)\+PTX", entry) for entry in entries(case))


@differs()
def blackwell_tegra(case, pair):
    return any(name == "Blackwell+Tegra" for name, _ in names_of(case)) and digits(pair) in ("101", "110")


@differs()
def members(case, pair):
    names = [name for name, _ in names_of(case)]
    if case.reader == "cmake" and case.release == "1.13.1":
        return "Ampere" in names and digits(pair) == "86"
    lacking = {"cmake": ("103", "121"), "python": ("103", "121", "120") if case.release == "2.7.1" else ()}
    return "Blackwell" in names and digits(pair) in lacking[case.reader]


@differs("python", "lacks")
def name_cut(case, pair):
    return is_ptx(pair) and of_name(case, pair) and any(not case.nvcc_takes(p) for p in case.their_pairs)


@differs("cmake")
def ptx_of_name(case, pair):
    return is_ptx(pair) and of_name(case, pair)


def row(name, predicate, arch_list, reader="python", release="2.15.0", nvcc="13.0", devices=(),
        images=("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")):
    return Difference(name, "torch", predicate, {
        "reader": reader, "release": release, "nvcc": nvcc, "list": arch_list, "devices": list(devices),
        "images": list(images)})


# The first one that holds is the class.
DIFFERENCES = [
    row("no-gpu", no_gpu, None),
    row("own-images", own_images, None, devices=["9.0"], images=["compute_90"]),
    row("empty-entry", empty_entry, "8.0;8.6;"),
    row("tab", tab, "8.0\t8.6"),
    row("name-and-ptx", name_and_ptx, "Ampere+PTX"),
    row("common", common, None, reader="cmake", nvcc="12.8"),
    row("keyword", keyword, "all-major", reader="cmake"),
    row("spelling", spelling, "sm_86"),
    row("by-way-of", by_way_of, "8.6(8.0)"),
    row("suffix-by-way-of", suffix_by_way_of, "9.0a(9.0a)", reader="cmake"),
    row("closed-table", closed_table, "12.0f"),
    row("two-point-one", two_point_one, None, reader="cmake", release="2.11.0", devices=["12.1"]),
    row("parentheses", parentheses, "9.0a(9.0)", reader="cmake"),
    row("unbuildable", unbuildable, "6.1;8.6"),
    row("all-known", all_known, "All", reader="cmake", nvcc="12.4"),
    row("limit", limit, None, reader="cmake", devices=["12.1"]),
    row("clamp", clamp, None, devices=["12.1"]),
    row("sorted-as-text", sorted_as_text, None, devices=["9.0", "10.0"]),
    row("ptx-of-detected", ptx_of_detected, None, devices=["9.0"]),
    row("nearest", nearest, None, nvcc="12.4", devices=["12.0"]),
    row("ptx-of-both", ptx_of_both, "8.6(8.0)+PTX", reader="cmake"),
    row("blackwell-tegra", blackwell_tegra, "Blackwell+Tegra", reader="cmake"),
    row("members", members, "Blackwell", reader="cmake"),
    row("name-cut", name_cut, "Blackwell", nvcc="12.8"),
    row("ptx-of-name", ptx_of_name, "Ampere", reader="cmake"),
]
