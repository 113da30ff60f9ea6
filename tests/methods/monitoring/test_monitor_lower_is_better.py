"""Metrics of which lower is better: `monitor` mirrors those of which higher is better."""

import polars as pl
import pytest

from tests.support.cases import cases
from tests.support.frames.weekly_cells import draw_rows, monitor_rows

CLOSE = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")


@cases(
    ("lower", "higher"),
    [
        ("false_positive_rate", "specificity"),
        ("false_negative_rate", "recall"),
        ("hamming_loss", "accuracy"),
        ("false_discovery_rate", "precision"),
    ],
)
def test_an_error_rate_mirrors_the_results_of_its_complement(lower, higher):
    frame = draw_rows()

    one, other = (monitor_rows(frame, by="g", metrics=metric) for metric in (lower, higher))

    same = ("g", "period", "n", "n_labels", "min_support", "since", "window_n", "status")
    assert one.select(same).equals(other.select(same))
    assert "alarm" in one["status"]
    of = {"estimate": 1, "baseline_estimate": 1, "control_limit": 1}
    of |= {"difference": 0, "window_difference": 0}
    for name, whole in of.items():
        assert one[name].to_list() == pytest.approx((whole - other[name]).to_list(), abs=CLOSE)
    for stem, whole in (("", 1), ("window_", 0)):
        for end, opposite in (("lower", "upper"), ("upper", "lower")):
            expected = (whole - other[stem + opposite]).to_list()
            assert one[stem + end].to_list() == pytest.approx(expected, abs=CLOSE)


def test_false_negative_rate_equals_the_recall_of_flipped_predictions():
    frame = draw_rows()
    flipped = frame.with_columns(p=1 - pl.col("p"))

    one = monitor_rows(frame, metrics="false_negative_rate")
    other = monitor_rows(flipped, metrics="recall")

    same = ["n", "estimate", "lower", "upper", "baseline_estimate", "difference"]
    for name in same:
        assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=CLOSE)
    assert "alarm" in one["status"]
    assert "alarm" not in other["status"]
