"""The p-value that the periods of a baseline score the same, compared with 50-digit arithmetic."""

from datetime import date, timedelta

import polars as pl
import pytest

import balframe as bf
from tests.support.oracles.constrained_likelihood import equality

WEEKS = [((60, 51), (40, 30)), ((55, 49), (61, 60)), ((70, 52), (30, 21)), ((20, 20), (90, 81))]


def make_cells(weeks):
    return pl.DataFrame(
        {"day": date(2026, 1, 5) + timedelta(7 * i), "y": y, "p": p, "n": n}
        for i, week in enumerate(weeks)
        for y, (rows, correct) in enumerate(week)
        for p, n in ((y, correct), (1 - y, rows - correct))
    )


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:scores vary between:balframe.BalframeWarning")
@pytest.mark.parametrize("labels", [[0, 1], [1]])
def test_dispersion_p_value_of_monitor_equals_50_digit_arithmetic(labels):
    live, baseline = make_cells(WEEKS[:1]), make_cells(WEEKS)
    of = pl.col("y").is_in(labels)

    out = bf.monitor(
        live.filter(of),
        "y",
        "p",
        time=bf.period("day", "1w"),
        baseline=baseline.filter(of),
        dispersion=None,
        detail=True,
    )

    segments = [([week[y][1] for y in labels], [week[y][0] for y in labels]) for week in WEEKS]
    expected = equality(segments, [1 / len(labels)] * len(labels)).p_value
    assert out["dispersion_p_value"].to_list() == pytest.approx([float(expected)], abs=1e-9)
