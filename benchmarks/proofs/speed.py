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
    ratios = []
    for peer in (PANDAS_SIZE, SCIKIT_LEARN, FAIRLEARN):
        theirs = seconds(peer, reference, peer.rounds)
        ratios.append(round(theirs / ours, -1 if theirs > 30 * ours else 0))
        print(f"{peer.name}: {theirs:.2f} s, balframe {1000 * ours:.1f} ms")
    size, loop, frame = (f"{ratio:,.0f}" for ratio in ratios)
    return Figures(
        "A report of a million rows and 1,000 groups takes "
        f"{1000 * ours:.0f} ms on pandas, two cores: {size} times faster than "
        f"`groupby(...).size()` alone, {loop} times than a loop over scikit-learn, {frame} times "
        "than fairlearn's `MetricFrame`"
    )
