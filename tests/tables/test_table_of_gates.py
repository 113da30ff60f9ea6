"""Tables of rules against a baseline, and of their power."""

import polars as pl
import pytest

import balframe as bf
from tests.support.html_tables import page

ROWS = pl.DataFrame(
    {
        "g": ["a", "a", "b", "b"],
        "y": [1] * 4,
        "new": [1, 0, 1, 0],
        "n": [180, 20, 120, 80],
    }
)
BEFORE = pl.DataFrame({"g": ["a", "a"], "y": [1, 1], "new": [1, 0], "n": [160, 40]})
ASKED = {"by": "g", "counts": "n", "baseline": BEFORE}


def test_differences_from_a_baseline_have_bars_around_zero():
    rules = ["recall >= baseline - 0.15", "recall >= 0.5"]

    parsed = page(bf.check(ROWS, "y", "new", rules=rules, detail=True, level=None, **ASKED))

    details = ["n", "Labels", "Baseline n", "Score", "Baseline score", "Undecided"]
    why = "the score is undefined"
    assert parsed.texts == [
        ["g", "Estimate", "Bound", "Status", *details],
        ["a", "0.100", "\N{MINUS SIGN}0.15", "✓ pass", "200", "1", "200", "0.900", "0.800", ""],
        ["b", "—", "\N{MINUS SIGN}0.15", "? inconclusive", "200", "0", "—", "0.600", "—", why],
        ["a", "0.900", "0.5", "✓ pass", "—", "—", "—", "—", "—", ""],
        ["b", "0.600", "0.5", "✓ pass", "—", "—", "—", "—", "—", ""],
    ]
    assert parsed.alone[-2].startswith(
        "Bars run from \N{MINUS SIGN}0.15 to 0.15 (recall >= baseline - 0.15), "
        "from 0 to 1 (recall >= 0.5)."
    )
    assert parsed.alone[-1] == "—: undefined, or not part of the rule."
    bar = parsed.column("Estimate")[0]
    assert bar.at("circle", "cx") == pytest.approx([(0.1 + 0.15) / 0.3], abs=0.01)


def test_limits_of_verdicts_are_named_decision_limits_and_those_of_scores_are_not():
    verdicts = page(
        bf.check(ROWS, "y", "new", rules="recall >= 0.5", by="g", counts="n", detail=True)
    )
    scores = page(bf.report(ROWS, "y", "new", metrics="recall", by="g", counts="n", interval=True))

    assert "Brackets: decision limits." in verdicts.alone
    assert "Brackets: confidence interval." in scores.alone


def test_table_of_power_lists_the_rows_needed():
    parsed = page(
        bf.power(ROWS, "y", "new", rules="recall >= 0.5", by="g", counts="n", detail=True)
    )

    assert parsed.texts[0] == [
        *("g", "Power", "Estimate", "Detectable difference", "Probability to pass"),
        *("Rows needed", "n", "Smallest support", "Bound", "Rows needed per label"),
        "Reliability",
    ]
    for name, expected in {
        "Power": ["0.8", "0.8"],
        "Estimate": ["0.900", "0.600"],
        "n": ["200", "200"],
        "Smallest support": ["200", "200"],
        "Bound": ["0.5", "0.5"],
        "Reliability": ["exact", "exact"],
    }.items():
        assert parsed.text_of(name) == expected
