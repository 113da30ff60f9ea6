"""Segments, metrics and models of `monitor`, each of which has its share of false alarms.

A share of a half is that of twice the looks, which leave the level of limits as it is.
"""

import polars as pl
import pytest

from tests.support.frames.weekly_cells import MONDAY, draw_rows, monitor_rows

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")


def without(out, **columns):
    """Take the rows with these values, without the columns that say so."""
    for name, value in columns.items():
        out = out.filter(pl.col(name) == value).drop(name)
    return out


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"metrics": ["recall", "accuracy", "fpr"]}])
def test_a_segment_equals_a_separate_stream_with_its_share(options):
    frame = draw_rows()

    both, each = (
        monitor_rows(frame, by="g", adjust=one, **options) for one in ("bonferroni", None)
    )

    for g in ("a", "b"):
        own = frame.filter(pl.col("g") == g)
        assert without(both, g=g).equals(monitor_rows(own, looks=208, **options))
        assert without(each, g=g).equals(monitor_rows(own, adjust=None, **options))


def test_a_metric_equals_a_separate_stream_with_its_share():
    frame, metrics = draw_rows(), ["accuracy", "recall", "false_positive_rate", "balanced_accuracy"]

    out = monitor_rows(frame, metrics=metrics)

    assert out["metric"].to_list() == metrics * 16
    for metric in metrics:
        own = monitor_rows(frame, metrics=metric, looks=416)
        assert out.filter(pl.col("metric") == metric).equals(own)


def test_a_model_equals_a_separate_stream_with_its_share():
    frame = draw_rows(models=("p", "q"))

    out = monitor_rows(frame, ["q", "p"], by="g")

    keys = out.select("g", "period", "model").rows()
    assert keys == sorted(keys, key=lambda row: (row[0], row[1], "qp".index(row[2])))
    for model in ("p", "q"):
        own = monitor_rows(frame, model, by="g", looks=208)
        assert without(out, model=model).equals(own)


def test_a_new_segment_is_inconclusive_and_takes_no_share():
    frame = draw_rows()
    new = frame.filter(pl.col("day") >= MONDAY).with_columns(g=pl.lit("c"))

    out = monitor_rows(pl.concat([frame, new]), by="g")

    assert out.filter(pl.col("g") != "c").equals(monitor_rows(frame, by="g"))
    rows = out.filter(pl.col("g") == "c")
    assert rows["status"].unique().to_list() == ["inconclusive"]
    assert rows["n"].min() > 0
    nulls = ("estimate", "baseline_estimate", "difference", "window_upper", "since")
    assert rows.select(nulls).null_count().row(0) == (rows.height,) * len(nulls)


def test_an_ended_segment_is_inconclusive_and_keeps_its_share():
    frame = draw_rows()
    ended = frame.filter(pl.col("day") < MONDAY).with_columns(g=pl.lit("c"))

    out = monitor_rows(pl.concat([frame, ended]), by="g")

    rows = out.filter(pl.col("g") == "c")
    assert rows["n"].to_list() == [0] * 16
    assert rows["status"].to_list() == ["inconclusive"] * 16
    assert out.filter(pl.col("g") != "c").equals(monitor_rows(frame, by="g", looks=156))


def test_a_null_segment_is_monitored_like_any_other():
    frame = draw_rows()
    nulls = frame.with_columns(g=pl.when(pl.col("g") == "a").then(pl.col("g")))

    out, expected = monitor_rows(nulls, by="g"), monitor_rows(frame, by="g")

    assert out.drop("g").equals(expected.drop("g"))
    assert out["g"].to_list() == ["a"] * 16 + [None] * 16
