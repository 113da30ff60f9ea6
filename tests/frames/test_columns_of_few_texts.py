"""Columns of few texts are compared with each of these, and no text is taken for another."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf

N = 1_000
TEXTS = ["", "no", "yes, but longer than fits into the view of a text"]


@pytest.fixture
def queries(monkeypatch):
    """Say of each query of polars whether it groups rows; few rows count as many."""
    grouped, collect = [], pl.LazyFrame.collect

    def counting(query, *args, **kwargs):
        grouped.append("AGGREGATE" in query.explain())
        return collect(query, *args, **kwargs)

    monkeypatch.setattr(pl.LazyFrame, "collect", counting)
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_HASH", 1)
    return grouped


def frame_of(*texts):
    texts = texts or TEXTS
    return pl.DataFrame(
        {
            "by": [texts[i % len(texts)] for i in range(N)],
            "y": [texts[i * i % len(texts)] for i in range(N)],
            "yhat": [texts[i // 7 % len(texts)] for i in range(N)],
        }
    )


def by_group(frame):
    keys = ["by", "y", "yhat"]
    return frame.group_by(keys).len("n").sort(keys, nulls_last=True)


def test_few_texts_are_counted_without_a_group_by(queries):
    frame = frame_of()
    out = bf.confusion(frame, "y", "yhat", by="by", complete=False)
    assert queries
    assert not any(queries)
    assert_frame_equal(out, by_group(frame), check_dtypes=False)


def test_a_text_absent_from_the_sample_is_counted_separately(queries, monkeypatch):
    monkeypatch.setattr("balframe.core.counting_strategy.SAMPLE", 10)
    frame = frame_of().with_columns(
        y=pl.when(pl.int_range(N) == 998).then(pl.lit("rare")).otherwise("y")
    )
    out = bf.confusion(frame, "y", "yhat", by="by", complete=False)
    assert any(queries)
    assert_frame_equal(out, by_group(frame), check_dtypes=False)


def test_nulls_of_few_texts_are_a_segment_of_their_own(queries):
    frame = frame_of().with_columns(by=pl.when(pl.int_range(N) % 5 > 0).then("by"))
    out = bf.confusion(frame, "y", "yhat", by="by", complete=False)
    assert queries
    assert not any(queries)
    assert_frame_equal(out, by_group(frame), check_dtypes=False)


def test_nulls_among_few_labels_are_refused_or_dropped(queries):
    frame = frame_of().with_columns(y=pl.when(pl.int_range(N) % 5 > 0).then("y"))
    with pytest.raises(bf.BalframeError, match="column 'y' has 200 null values"):
        bf.report(frame, "y", "yhat")
    assert bf.report(frame, "y", "yhat", missing="drop")["n_missing"].to_list() == [200]


def test_many_texts_are_grouped_by_polars(queries):
    frame = frame_of(*(f"text {i}" for i in range(10)))
    bf.report(frame, "y", "yhat", by="by")
    assert sum(queries) == 1
