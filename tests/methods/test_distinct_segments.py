"""Segments with equal counts are scored once, and that changes no result."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.core.unique_rows import unique_segments

N_SEGMENTS = 300


def rows(n_labels):
    random = np.random.default_rng(n_labels)
    n = 6 * N_SEGMENTS
    y = random.integers(0, n_labels, n)
    return pl.DataFrame(
        {
            "segment": np.char.mod("%03d", random.integers(0, N_SEGMENTS, n)),
            "half": random.integers(0, 2, n),
            "y": y,
            "yhat": np.where(random.random(n) < 0.8, y, random.integers(0, n_labels, n)),
        }
    )


def mean_of_all_segments(c):
    """How often labels are right in all segments together."""
    return np.full(c.n_segments, c.n_correct.sum() / c.n_segments)


CALLS = {
    "report": lambda frame: bf.report(
        frame, "y", "yhat", by="segment", metrics="all", interval=True, pos_label=1, detail=True
    ),
    "margins": lambda frame: bf.report(
        frame, "y", "yhat", by=["segment", "half"], margins="all", class_weight="balanced"
    ),
    "long": lambda frame: bf.report(
        frame, "y", "yhat", by="segment", interval=True, layout="long", missing="drop"
    ),
    **{
        f"gaps, {reference}": lambda frame, reference=reference: bf.gaps(
            frame, "y", "yhat", by=["segment", "half"], margins="overall", reference=reference
        )
        for reference in ("rest", "overall", "largest", "best")
    },
    "gaps, one segment": lambda frame: bf.gaps(
        frame, "y", "yhat", by="segment", metrics="all", reference="007", pos_label=1
    ),
}


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_scoring_equal_segments_once_does_not_change_the_result(call, n_labels, monkeypatch):
    expected = call(rows(n_labels))
    used = []
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_SEGMENTS", 1)
    monkeypatch.setattr("balframe.core.unique_rows._MOST_DIFFERENT", 1)
    monkeypatch.setattr(
        "balframe.methods.scores.distinct_segments.unique_segments",
        lambda *given: used.append(unique_segments(*given)) or used[-1],
    )

    assert_frame_equal(call(rows(n_labels)), expected, check_exact=True)
    assert any(equal is not None and len(equal[0]) < len(equal[1]) for equal in used)


def test_metrics_of_users_are_computed_from_all_segments(monkeypatch):
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_SEGMENTS", 1)
    monkeypatch.setattr("balframe.core.unique_rows._MOST_DIFFERENT", 1)
    bf.metric(range=(0, 1000))(mean_of_all_segments)
    frame = rows(2)

    found = bf.report(frame, "y", "yhat", by="segment", metrics="mean_of_all_segments")

    n_correct = frame.select((pl.col("y") == pl.col("yhat")).sum()).item()
    n_segments = frame["segment"].n_unique()
    assert found["mean_of_all_segments"].unique().to_list() == [n_correct / n_segments]
