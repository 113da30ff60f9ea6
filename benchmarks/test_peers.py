"""Time of balframe and of its peers, one group for each case, after a check that they agree.

Run with `python -m pytest benchmarks -n 0`, after installing the extra `bench`. The variable
BALFRAME_BENCHMARKS_SHRINK divides the numbers of rows, for a look at less.
"""

import os
from collections.abc import Callable
from typing import Protocol

import pytest

from benchmarks.agreement import Reference, check
from benchmarks.cases import CASES, Case
from benchmarks.data import generate
from benchmarks.peers import Answer, Peer, peers_of

SHRINK = "BALFRAME_BENCHMARKS_SHRINK"
QUICKEST = 20  # times more rounds where a round takes about a millisecond

divisor = int(os.environ.get(SHRINK, "1"))
measured = [(case, peer) for case in CASES for peer in peers_of(case)]
held: dict[Case, Reference] = {}


class Benchmark(Protocol):
    """What is used of pytest-benchmark's fixture."""

    group: str
    extra_info: dict[str, object]
    pedantic: Callable[..., Answer]


def reference_of(case: Case) -> Reference:
    """Make the data of a case, and drop those of the one before first."""
    if case not in held:
        held.clear()
        held[case] = Reference(generate(case.shrunk(divisor)))
    return held[case]


@pytest.mark.filterwarnings("ignore")  # of fairlearn and scikit-learn
@pytest.mark.parametrize(
    ("case", "peer"), measured, ids=[f"{case.title}: {peer.name}" for case, peer in measured]
)
def test_peer(benchmark: Benchmark, case: Case, peer: Peer) -> None:
    reference = reference_of(case)
    data = reference.data
    given = peer.prepare(data)
    check(peer.run(given, data.case), peer, reference)  # compiles what is to be compiled, too
    benchmark.group = data.case.title
    benchmark.extra_info.update(case=case.title, peer=peer.name, rows=data.case.rows)

    rounds = peer.rounds if divisor == 1 else min(peer.rounds, 3)
    many = QUICKEST if case.rows < 100_000 else 1
    warmups = int(divisor == 1 and peer.rounds > 1)
    benchmark.pedantic(peer.run, (given, data.case), rounds=rounds * many, warmup_rounds=warmups)
