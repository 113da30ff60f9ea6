"""A default report of a million rows on pandas, beside what else is at hand."""

import time
import warnings
from statistics import median

from benchmarks.agreement import Reference, check
from benchmarks.cases import MILLION, Case
from benchmarks.data import generate
from benchmarks.peers import BALFRAME, FAIRLEARN, PANDAS_SIZE, SCIKIT_LEARN, Peer
from benchmarks.proofs.table import Figures

CASE = Case(rows=MILLION, frame="pandas")
QUICKER = 5  # times more rounds than a peer has, for what takes milliseconds


def seconds(peer: Peer, reference: Reference, rounds: int) -> float:
    """Return the median time of a peer whose result agrees with balframe's."""
    prepared = peer.prepare(reference.data)
    check(peer.run(prepared, CASE), peer, reference)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        peer.run(prepared, CASE)
        times.append(time.perf_counter() - start)
    return median(times)


def measure() -> Figures:
    """Compare times of the same scores of the same rows."""
    warnings.simplefilter("ignore")  # those of fairlearn and scikit-learn
    reference = Reference(generate(CASE))
    ours = seconds(BALFRAME, reference, QUICKER * BALFRAME.rounds)
    times = {BALFRAME.name: ours}
    for peer in (PANDAS_SIZE, SCIKIT_LEARN, FAIRLEARN):
        times[peer.name] = seconds(peer, reference, peer.rounds)
        print(f"{peer.name}: {times[peer.name] / ours:,.0f} times as long as balframe")
    _, size, loop, frame = (f"{1000 * of_peer:,.0f} ms" for of_peer in times.values())
    return Figures(
        f"A report of a million rows and 1,000 groups on pandas, two cores: {1000 * ours:.0f} ms. "
        f"`groupby(...).size()` alone: {size}. scikit-learn in a loop: {loop}. fairlearn's "
        f"`MetricFrame`: {frame}"
    )
