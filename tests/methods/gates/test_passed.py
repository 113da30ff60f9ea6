"""`passed` sums verdicts up, and nothing judged is nothing passed."""

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor

ROWS = {"g": ["a"] * 4 + ["b"] * 4, "y": [1, 1, 0, 0] * 2, "p": [1, 1, 0, 0, 1, 0, 0, 0]}
BY = {"y_true": "y", "y_pred": "p", "by": "g"}


def verdicts(frame, rule="recall >= 0.5", **options):
    return bf.check(frame, **BY, rules=rule, **options)


@cases(
    ("statuses", "strictly", "leniently"),
    [
        (["pass", "pass"], True, True),
        (["pass", "inconclusive"], False, True),
        (["inconclusive"], False, True),
        (["pass", "fail"], False, False),
        (["fail", "inconclusive"], False, False),
        ([], False, False),
    ],
)
def test_passed_sums_up_statuses_with_and_without_allow_inconclusive(statuses, strictly, leniently):
    frame = pl.DataFrame({"status": statuses}, schema={"status": pl.String})

    for given in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), nw.from_native(frame)):
        assert bf.passed(given) is strictly
        assert bf.passed(given, allow_inconclusive=True) is leniently


@each_constructor
def test_passed_accepts_the_result_of_check_on_every_frame(constructor):
    frame = constructor(ROWS)

    assert bf.passed(verdicts(frame, level=None)) is True
    assert bf.passed(verdicts(frame, "recall >= 0.75", level=None)) is False
    assert bf.passed(verdicts(frame)) is False


def test_passed_is_false_for_a_frame_without_rows():
    empty = pd.DataFrame(ROWS).head(0)

    assert (verdicts(empty)["status"] == "pass").all()  # which is why there is `passed`
    assert bf.passed(verdicts(empty)) is False


CELLS = bf.confusion(pl.DataFrame(ROWS), **BY)
WITHOUT_ROWS = [  # what gives verdicts to segments that have no rows
    ("recall >= baseline - 0.1", {"baseline": CELLS}),
    ("recall >= 0.5", {"expect": {"g": ["a", "b"]}}),
    ("n >= 0", {"expect": {"g": ["a", "b"]}}),
    ("n_segments <= 5", {"expect": {"g": ["a", "b"]}}),
    ("difference(recall) <= 0.9", {"expect": {"g": ["a", "b"]}}),
    ({"rule": "recall >= 0.5", "severity": "warn"}, {"expect": {"g": ["a", "b"]}}),
]


@cases("detail", [False, True])
@cases(("rule", "options"), WITHOUT_ROWS)
@cases("make", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_verdicts_without_any_row_never_pass(make, rule, options, detail):
    out = verdicts(make(pl.DataFrame(ROWS).head(0)), [rule], detail=detail, **options)

    statuses = nw.from_native(out).lazy().collect()["status"].to_list()
    assert statuses
    assert set(statuses) == {"inconclusive"}
    assert bf.passed(out, allow_inconclusive=True) is False


@cases(("rule", "options"), WITHOUT_ROWS)
def test_one_row_is_enough_to_allow_inconclusive_verdicts(rule, options):
    rows = pl.DataFrame(ROWS)

    assert bf.passed(verdicts(rows, [rule], **options), allow_inconclusive=True)
    assert bf.require(rows, **BY, rules=[rule], allow_inconclusive=True, **options) is rows


@cases("allow_inconclusive", [False, True])
@cases(("rule", "options"), WITHOUT_ROWS)
def test_require_raises_for_a_frame_without_rows(rule, options, allow_inconclusive):
    empty = pl.DataFrame(ROWS).head(0)

    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(empty, **BY, rules=[rule], allow_inconclusive=allow_inconclusive, **options)

    if allow_inconclusive:
        assert str(raised.value).startswith("there is no row to judge, so no rule can pass.")


def test_an_undefined_score_of_rows_may_be_allowed():
    out = verdicts(pl.DataFrame({"g": ["a"], "y": [0], "p": [0]}), pos_label=1)

    assert out["estimate"].to_list() == [None]
    assert bf.passed(out, allow_inconclusive=True)


@cases("allow_inconclusive", [False, True])
@cases("rule", ["recall >= 0.5", "n >= 4", "n >= 5"])
def test_require_raises_where_passed_is_false(rule, allow_inconclusive):
    frame = pl.DataFrame(ROWS)
    allowed = {"allow_inconclusive": allow_inconclusive}
    try:
        bf.require(frame, **BY, rules=rule, **allowed)
        raised = False
    except bf.CheckFailed:
        raised = True

    assert bf.passed(verdicts(frame, rule), **allowed) is not raised


@cases(
    ("given", "error", "message"),
    [
        (pl.DataFrame({"g": [1]}), bf.UnknownNameError, "column 'status' not found"),
        (pl.DataFrame({"status": [1]}), bf.InvalidInputError, "holds 1; give a result of `check`"),
        (pl.DataFrame({"status": [None]}), bf.InvalidInputError, "holds None"),
        (["pass"], bf.UnsupportedTypeError, "got list of str"),
    ],
)
def test_passed_refuses_frames_that_are_not_results_of_check(given, error, message):
    with pytest.raises(error, match=message):
        bf.passed(given)
