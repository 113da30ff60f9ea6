"""The benchmarks' peers give what balframe gives, on small versions of all cases."""

from dataclasses import replace
from functools import cache

import polars as pl
import pytest

from benchmarks import memory, page
from benchmarks.agreement import Disagreement, Reference, check
from benchmarks.cases import CASES, GROUPS
from benchmarks.data import generate
from benchmarks.importing import Imports
from benchmarks.measurements import Measurements, Timing
from benchmarks.peers import BALFRAME, PEERS, peers_of
from benchmarks.targets import TARGETS

pytest.importorskip("polars", minversion="1.32", reason="older ones do not stream categories")
SMALL = 20_000  # times fewer rows than where speed is measured


@cache
def reference(case):
    return Reference(generate(case.shrunk(SMALL)))


def answer(peer, case):
    data = reference(case).data
    return peer.run(peer.prepare(data), data.case)


@pytest.mark.filterwarnings("ignore")  # of fairlearn and scikit-learn
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_agrees_with_balframe(peer):
    pytest.importorskip(peer.package)
    cases = [case for case in CASES if peer in peers_of(case)]
    assert cases
    for case in cases:
        check(answer(peer, case), peer, reference(case))


@pytest.mark.parametrize(
    "change", [pl.col("accuracy") + 1e-9, pl.lit(None, pl.Float64), pl.lit(float("nan"))]
)
def test_a_score_that_differs_is_found(change):
    found = answer(BALFRAME, CASES[0]).with_columns(accuracy=change)
    with pytest.raises(Disagreement, match="in accuracy"):
        check(found, BALFRAME, reference(CASES[0]))


def test_a_count_that_is_missing_is_found():
    counts = replace(BALFRAME, gives="counts")
    found = reference(CASES[0]).data.frame.bal.confusion("y", "yhat", by="segment")
    check(found, counts, reference(CASES[0]))
    with pytest.raises(Disagreement, match="other segments or labels"):
        check(found.head(-1), counts, reference(CASES[0]))
    with pytest.raises(Disagreement, match=r"differs by 1\.0 in n"):
        check(found.with_columns(pl.col("n") + 1), counts, reference(CASES[0]))


@pytest.fixture
def measured():
    """One second for everything."""
    timing = Timing(1.0, 5, 1_000)
    return Measurements(
        {(case, peer.name): timing for case in CASES for peer in peers_of(case)},
        dict.fromkeys(memory.CASES, 2e6),
        Imports(1.0, 2.0, 0.4),
        divisor=1,
    )


def test_every_target_is_about_something_measured(measured):
    ratios = [target.found(measured) for target in TARGETS if hasattr(target, "peers")]
    assert set(ratios) == {1.0}
    (importing,) = (target for target in TARGETS if "import" in target.about[0])
    assert importing.found(measured) == 0.5
    assert page.target_row(importing, measured)[2:] == ("0.50", "1.30", "yes")
    (process,) = (target for target in TARGETS if target.about[1] == "time of the process")
    assert page.target_row(process, measured)[2:] == ("0.40 s", "0.50 s", "yes")


def test_the_page_has_every_group(measured, monkeypatch):
    monkeypatch.setattr(page, "PACKAGES", ["numpy"])  # the others need not be installed
    written = page.page(measured)
    assert all(f"### {title}" in written for title in GROUPS)
    assert "1,000,000 (1x)" in written
    assert "2 MB" in written
