"""No expected segment vanishes from a gate, whatever the request."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.support.strategies.requests import METHOD_CASES, VALUES, method_requests

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # of segments not expected
]

ABSENT, UNEXPECTED = "expected, but without rows", "not expected"
CHECK = replace(
    METHOD_CASES["check"],
    options=[
        {"rules": ["recall >= 0", "n >= 0"], "absent_segments": "inconclusive"},
        {"rules": ["accuracy <= 1", "n <= 999999"], "absent_segments": "fail"},
    ],
    needs_segments=True,
)
TEXTS = st.sampled_from([*VALUES["g"], "z"])
SEGMENTS = {
    1: st.tuples(TEXTS),
    2: st.tuples(st.sampled_from([*VALUES["h"], 7]), TEXTS),
}


@given(data=st.data())
def test_every_expected_segment_has_verdicts_and_none_without_rows_passes(data):
    request = data.draw(method_requests(CHECK))
    by = request.options["by"]
    expect = data.draw(st.lists(SEGMENTS[len(by)], min_size=1, max_size=4))
    request = replace(request, options=without_periods(request.options))
    request = request.having(in_narrow_types(request.frame, data.draw(st.booleans())))
    present = {model: segments_with_rows(request, model) for model in request.models}
    forms = [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas]
    request = request.having(data.draw(st.sampled_from(forms))(request.frame))
    without = request.result()
    if isinstance(without, type):
        event("refused")
        return

    out = request.having(request.frame, expect=pl.DataFrame(expect, by, orient="row")).result()

    verdicts = by_segment(out, by, request.models)
    expected = {(model, segment) for model in request.models for segment in expect}
    others = by_segment(without, by, request.models)
    assert verdicts.keys() == expected | others.keys()
    for (model, segment), rows in verdicts.items():
        if segment in present[model]:
            note = None if segment in expect else UNEXPECTED
            assert rows == [(status, note) for status, _ in others[model, segment]]
        elif segment in expect:
            status = request.options["absent_segments"]
            assert rows == [(status, ABSENT)] * len(request.options["rules"])


def in_narrow_types(frame, are_levels):
    """Give by-columns types that hold their own values, and perhaps no expected one."""
    if are_levels:
        frame = frame.with_columns(g=frame["g"].cast(pl.Enum(sorted({*frame["g"]} - {None}))))
    types = [pl.Int8, pl.Int16] if are_levels else [pl.Int64]
    h = next(
        h
        for h in (frame["h"].cast(dtype, strict=False) for dtype in types)
        if h.null_count() == frame["h"].null_count()
    )
    return frame.with_columns(h)


def without_periods(options):
    left_out = {"time", "every"}
    kept = {name: value for name, value in options.items() if name not in left_out}
    return kept | {"margins": False}


def segments_with_rows(request, model):
    """List the segments of the rows that are counted."""
    counts = request.options["counts"]
    used = {*request.used} - {*request.models} | {model}
    rows = request.frame.drop_nulls([*used])
    if counts is not None:
        rows = rows.filter(pl.col(counts) > 0)
    return {*rows.select(request.options["by"]).iter_rows()}


def by_segment(result, by, models):
    """List the statuses and notes of each model and segment."""
    n = len(result["status"])
    notes, names = result.get("note", [None] * n), result.get("model", models[:1] * n)
    segments = zip(*(result[name] for name in by), strict=True)
    found = {}
    rows = zip(names, segments, result["status"], notes, strict=True)
    for model, segment, status, note in rows:
        found.setdefault((model, segment), []).append((status, note))
    return found
