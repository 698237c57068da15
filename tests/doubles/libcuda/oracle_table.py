#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle_table.py ORACLE.json OUT: which cubins a device takes, as rows of C++ {release, sm, " 80 86 ", known}.

A device's row is the union of its rows X, Xa and Xf (the oracle is about linking: from 13.2 its row 90 leaves out
90a, which the device loads). `known`: every cubin that the release was asked about. Releases from old to new.
"""
import json
import re
import sys
from pathlib import Path


def rows(oracle):
    for release in sorted(oracle["releases"], key=lambda r: [int(n) for n in r.split(".")]):
        devices, known = {}, " ".join(oracle["releases"][release])
        for target, cubins in oracle["releases"][release].items():
            devices.setdefault(int(re.match(r"\d+", target)[0]), set()).update(cubins)
        for sm, cubins in sorted(devices.items()):
            yield f'{{"{release}", {sm}, " {" ".join(sorted(cubins))} ", " {known} "}},\n'


if __name__ == "__main__":
    source, out = map(Path, sys.argv[1:])
    out.write_text("".join(rows(json.loads(source.read_text()))))
