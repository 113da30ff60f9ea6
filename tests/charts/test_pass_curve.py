"""The chart of pass@k and pass^k over k."""

import polars as pl
import pytest

import balframe as bf

RUNS = pl.DataFrame(
    {
        "item": [i // 4 for i in range(80)],
        "category": ["a", "a", "b", "c"] * 20,
        "passed": [i % 5 != 0 and i % 7 != 3 for i in range(80)],
    }
)


def points(chart):
    (rows,) = chart.to_dict()["datasets"].values()
    return rows


def test_points_are_those_of_report():
    rows = points(bf.plot.pass_curve(RUNS, "passed", cluster="item", trials=4))
    metrics = [f"{name}({k})" for k in (1, 2, 3, 4) for name in ("pass_at", "pass_all")]
    out = bf.report(RUNS, outcome="passed", cluster="item", metrics=metrics, interval=True)

    assert [row["k"] for row in rows] == [1, 2, 3, 4]
    for row in rows:
        for name in ("pass_at", "pass_all"):
            metric = f"{name}({row['k']})"
            assert row[name] == pytest.approx(out[metric].item())
            assert row[f"{name}_lower"] == pytest.approx(out[f"{metric}_lower"].item())


def test_more_trials_than_any_item_has_are_left_out():
    rows = points(bf.plot.pass_curve(RUNS, "passed", cluster="item"))

    assert [row["k"] for row in rows] == [1, 2, 3, 4]


def test_each_segment_has_two_lines():
    chart = bf.plot.pass_curve(RUNS, "passed", cluster="item", by="category", trials=1)

    assert {row["segment"] for row in points(chart)} == {"a", "b", "c"}
    dashes = [layer["mark"].get("strokeDash") for layer in chart.to_dict()["layer"]]
    assert [1, 0] in dashes
    assert [4, 3] in dashes


@pytest.mark.parametrize("trials", [0, 1.5, "3", 101])
def test_other_numbers_of_trials_are_refused(trials):
    with pytest.raises(bf.InvalidInputError, match="is not a number of trials; give a whole"):
        bf.plot.pass_curve(RUNS, "passed", cluster="item", trials=trials)
