"""The differences of a page beside those that the methods return for the same rows."""

import pytest

import balframe as bf


def check_differences(audited, rows, **options):
    """Compare the differences between the groups of `g` with `gaps` and `disparity`.

    `options` say how the rows count. All limits are those of the level of the page.
    """
    column, level = audited.model.columns[0], audited.audit.adjustment.level
    rates = {rate.metric: rate for rate in audited.model.rates.compared}
    options = {"by": "g", "detail": True, "level": level, **options}
    gaps = bf.gaps(rows, "y", "p", metrics=list(rates), adjust=None, **options)
    tested = 0
    for row in gaps.iter_rows(named=True):
        differences = column.comparisons[rates[row["metric"]]].differences
        assert len(differences) == (1 if rows["g"].n_unique() == 2 else 3)
        if row["g"] in differences:
            difference, tested = differences[row["g"]], tested + 1
            expected = [row[name] for name in ("difference", "lower", "upper", "p_value")]
            assert [*difference.estimate[:3], difference.p] == pytest.approx(expected, rel=1e-8)
    assert tested == len(rates)
    accuracy = audited.model.rates.by_metric("accuracy")
    row = bf.disparity(rows, "y", "p", metrics="accuracy", **options).row(0, named=True)
    furthest = column.comparisons[accuracy].furthest
    assert (furthest.lowest, furthest.highest) == (row["lowest_g"], row["highest_g"])
    expected = [row[name] for name in ("difference", "lower", "upper")]
    assert furthest.distance[:3] == pytest.approx(expected, rel=1e-8)
