#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real compilers in the place of one that nvcc 11.8 refuses (it takes GCC up to 11): tried in order, the first that works
is used and said, what the user named stays. nvcc 12.4 takes this machine's own.

From the environment: TCS_TOOL, a built tcstack. Exit 77 where a part cannot be had, or the machine's gcc is not 12 or
13.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import parts


def failing(place):
    """A compiler that is there and does not compile."""
    place.write_text("#!/bin/sh\necho 'cc1plus: broken' >&2\nexit 1\n", encoding="ascii")
    place.chmod(0o755)


class World:
    def __init__(self, scratch):
        self.scratch, self.bin = scratch, scratch / "bin"
        self.bin.mkdir()
        self.old = parts.ensure("toolkit-11.8")
        for program in Path("/usr/bin").iterdir():  # all but the compilers that could be taken in its place
            if not re.match(r"(.*-)?(g\+\+|clang\+\+)-\d+$", program.name):
                (self.bin / program.name).symlink_to(program)

    def probe(self, *sets, toolkit=None, **variables):
        """The toolkit, the findings' text."""
        # As gcc is found on PATH, not as the distribution's wrapper of nvcc looks for gcc 11.
        env = {"PATH": str(self.bin), "HOME": str(self.scratch), "TORCH_CUDA_STACK_CACHE_DIR": "OFF",
               "NVCC_APPEND_FLAGS": "", **variables}
        words = [w for s in (f"TOOLKIT={toolkit or self.old}", "TARGETS=8.0", "FAIL_ON=never", *sets) for w in ("--set", s)]
        folder = tempfile.mkdtemp(dir=self.scratch)
        done = subprocess.run([os.environ["TCS_TOOL"], "configure", "--dir", folder, *words], env=env,
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode > 1:
            sys.exit(f"configure ended with {done.returncode}: {done.stderr}")
        facts = json.loads(Path(folder, "facts.json").read_text(encoding="utf-8"))
        report = " ".join(Path(folder, "report.txt").read_text(encoding="utf-8").split())
        plan = Path(folder, "plan.cmake").read_text(encoding="utf-8")
        return facts["toolkits"]["list"][facts["toolkits"]["selected"]], report, plan


def equal(have, want, report=""):
    if have != want:
        sys.exit(f"{have!r}, expected {want!r}\n{report}")


def holds(report, *texts):
    for text in texts:
        if text not in report:
            sys.exit(f"'{text}' is not in: {report}")


def main():
    with tempfile.TemporaryDirectory(prefix="tcs-compilers-") as scratch:
        world = World(Path(scratch))
        # nvcc's own: this distribution's asks PATH for one that it takes.
        toolkit, report, _ = world.probe()
        gcc = int(subprocess.check_output(["gcc", "-dumpversion"], text=True).split(".")[0])
        if not 11 < gcc < 14:
            print(f"this machine's gcc is {gcc}, not 12 or 13")
            return parts.SKIP
        equal(toolkit["works"], False, report)
        holds(report, "error[TCS402", "install it and name it: -DCMAKE_CUDA_HOST_COMPILER=g++-11")
        own = f"{world.bin}/g++-11"
        (world.bin / "g++-11").symlink_to(parts.ensure("gxx-11") / "bin/g++-11")
        (world.bin / "gcc-11").symlink_to(parts.ensure("gxx-11") / "bin/gcc-11")
        toolkit, report, _ = world.probe()
        equal(toolkit["works"], True, report)
        equal(toolkit.get("fitting_host_compiler"), None, report)

        # That one does not work: the next does, is used, and is said.
        (world.bin / "g++-11").rename(world.bin / "g++-10")
        for name in ("g++-11", "gcc-11"):
            (world.bin / name).unlink(missing_ok=True)
            failing(world.bin / name)
        toolkit, report, plan = world.probe()
        equal(toolkit.get("tried_host_compilers"), [f"{world.bin}/g++", own], report)
        equal(toolkit.get("fitting_host_compiler"), f"{world.bin}/g++-10", report)
        holds(report, "note[TCS401", f"{world.bin}/g++-10 is used in its place")
        holds(plan, f"{world.bin}/g++-10")

        # The user's own stays, and what would do is advised.
        toolkit, report, plan = world.probe("CMAKE_CUDA_HOST_COMPILER=/usr/bin/g++")
        equal(toolkit.get("fitting_host_compiler"), None, report)
        equal(toolkit.get("spare_host_compiler"), f"{world.bin}/g++-10", report)
        holds(report, "error[TCS401", f"name one that is here: -DCMAKE_CUDA_HOST_COMPILER={world.bin}/g++-10")

        # None works.
        (world.bin / "g++-10").unlink()
        toolkit, report, plan = world.probe()
        equal(toolkit.get("fitting_host_compiler"), None, report)
        holds(report, "error[TCS402", f"tried in its place, and failed too: {world.bin}/g++, {own}",
              "install it and name it: -DCMAKE_CUDA_HOST_COMPILER=g++-10")

        # 12.4 takes the machine's own: as g++-12, which its nvcc finds by itself, and as g++, which it does not look for.
        newer = parts.ensure("toolkit-12.4")
        toolkit, report, plan = world.probe(toolkit=newer)
        equal(toolkit.get("fitting_host_compiler"), f"{world.bin}/g++", report)
        holds(plan, f"{world.bin}/g++")
        toolkit, report, plan = world.probe(toolkit=newer, PATH="/usr/bin:/bin")
        equal(toolkit["works"], True, report)
        equal(toolkit.get("fitting_host_compiler"), None, report)
    print("each as expected")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skip: {reason}")
        sys.exit(parts.SKIP)
