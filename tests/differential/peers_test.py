#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated questions to the peers' own functions, which are cut out of their packages and run: each difference from us
is of a class that is told on the peer's page, docs/why-not-<peer>.md.

    peers_test.py       environment: TCS_ANSWERS, TCS_TOOL, TCS_SOURCE_DIR; TCS_SEED, TCS_COUNT (20000)

Exit 77 when a package cannot be had.
"""
import json
import os
import sys
import time
from pathlib import Path

import nvccs
import ours
import peers_cut
import peers_deepspeed
import peers_flash_attention
import peers_kernels
import peers_torch_cuda
import peers_vllm
from differences import Tally
from peers_cut import parts

SEED = int(os.environ.get("TCS_SEED", "20261130"))
# Random questions or sets of each; what is asked in all stands beside it and may not become less.
PEERS = [(peers_kernels, 1000, 23000), (peers_torch_cuda, 600, 59000), (peers_deepspeed, 4000, 8000),
         (peers_flash_attention, 3000, 3000), (peers_vllm, 6000, 5500)]


def untrue(case, listed):
    """Where flags are compared: what nvcc refuses of ours, and what it takes of theirs that we leave out."""
    if hasattr(case, "said") and hasattr(case, "nvcc"):
        own, other = case.said["pairs"], set(peers_cut.pairs_told(case.theirs))
        yield from (f"nvcc refuses our {pair}" for pair in own if not listed.takes(case.nvcc, pair))
        yield from (f"nvcc takes {pair}, which we leave out" for pair in other - own
                    if pair[1].startswith("sm_") and listed.takes(case.nvcc, pair))


def against_nvlink():
    """The truth of what runs where: each machine code on each device that nvlink of a release knows."""
    file = Path(os.environ["TCS_SOURCE_DIR"], "tests/oracles/nvlink-cubin-compat.json")
    releases, asked, wrong = json.loads(file.read_text(encoding="utf-8"))["releases"], 0, []
    pairs = [([arch], cc) for arch in peers_cut.DEVICES + peers_cut.SUFFIXED for cc in peers_cut.DEVICES]
    for case in peers_kernels.cases(pairs, ours.ask):
        arch, device = peers_cut.digits(case.archs[0]), peers_cut.digits(case.device)
        said = {any(arch in rows.get(device + suffix, []) for suffix in ("", "a", "f"))
                for rows in releases.values() if device in rows and arch in rows}
        asked += bool(said)
        if said and said != {"runs": {True}, "does not run": {False}}.get(case.ours, said):
            wrong.append(f"nvlink says {said}:\n{case.block()}")
    print(f"nvlink: {asked} asked, {len(wrong)} otherwise", "\n".join(wrong))
    return len(wrong) + (asked < 500)


def compare(peer, count):
    """The questions of one peer; gives its Tally, closed."""
    tally, listed = Tally(peer.PAGE, peer.DIFFERENCES), nvccs.Listed()
    for case in peer.cases(peer.questions(SEED, count), ours.ask):
        tally.see(case)
        for wrong in untrue(case, listed):
            tally.fail(f"{wrong}:\n{case.block()}")
        untold = peer.untold(case) if hasattr(peer, "untold") else ()
        if untold:
            tally.fail(f"we serve not {' '.join(untold)} and do not say so:\n{case.block()}")
    tally.close(lambda example: next(iter(peer.cases([example], ours.ask))))
    for difference in peer.DIFFERENCES:
        if not tally.classes[difference.id]:
            print(f"{peer.PAGE}: {difference.id} did not occur; its example shows it")
    return tally


def main():
    more, failures, asked = float(os.environ.get("TCS_COUNT", "20000")) / 20000, against_nvlink(), 0
    for peer, count, least in PEERS:
        started = time.monotonic()
        tally = compare(peer, int(count * more))
        if more >= 1 and tally.asked < least:
            tally.fail(f"only {tally.asked} asked, not {least}")
        failures, asked = failures + len(tally.failures), asked + tally.asked
        print(f"{peer.PAGE}: {time.monotonic() - started:.1f} s", flush=True)
    print(f"peers: {asked} asked, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"peers_test.py: skip: {reason}", file=sys.stderr)
        sys.exit(parts.SKIP)
