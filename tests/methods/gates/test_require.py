"""A frame passes as it is, or an error says which rules it breaks, the worst first."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.oracles.mean_recalls import clopper_pearson


def rows_of(recalls):
    """Write hits and misses of each segment as counted rows."""
    g = [name for name in recalls for _ in range(2)]
    n = [count for pair in recalls.values() for count in pair]
    return {"g": g, "y": [1] * len(n), "p": [1, 0] * len(recalls), "n": n}


OPTIONS = {"y_true": "y", "y_pred": "p", "by": "g", "counts": "n", "labels": [0, 1]}
THREE = rows_of({"a": (900, 100), "b": (100, 900), "c": (300, 700)})
ESTIMATE = {"level": None}


def lines(recalls, rules, **options):
    """Give the lines of the message."""
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(pl.DataFrame(rows_of(recalls)), **{**OPTIONS, "rules": rules, **options})
    return str(raised.value).split("\n")


@each_constructor
def test_require_returns_the_same_frame_if_all_rules_pass(constructor):
    frame = constructor(THREE)
    rules = ["recall >= 0.05", "n >= 1000", "difference(recall) <= 0.9"]
    assert bf.require(frame, rules=rules, **OPTIONS) is frame


@each_constructor
def test_failed_rules_raise_at_once_on_every_kind_of_frame(constructor):
    frame, rules = constructor(THREE), ["recall >= 0.5", "difference(recall) <= 0.9"]
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(frame, rules=rules, **OPTIONS)
    error = raised.value
    assert isinstance(error, AssertionError)
    assert isinstance(error, bf.BalframeError)
    assert (error.n_failed, error.n_inconclusive) == (2, 0)
    assert not isinstance(error.frame, pl.LazyFrame)
    assert_table(error.frame, plain(bf.check(frame, rules=rules, detail=True, **OPTIONS)))
    first, *below = str(error).split("\n")
    assert first == "2 of 4 verdicts fail:"
    starts = ["fail: recall >= 0.5: 0.1 [0.07", "fail: recall >= 0.5: 0.3 [0.2"]
    for line, start, g in zip(below, starts, "bc", strict=True):
        assert line.startswith(f"  {start}")
        assert line.endswith(f"] where g is {g}")


def test_require_returns_its_frame_in_a_method_chain():
    frame = pl.DataFrame(THREE).drop("n")  # each row counts once
    assert frame.bal.require("y", "p", rules="n >= 6").group_by("g").len().height == 3
    frame = frame.to_pandas()
    assert frame.bal.require("y", "p", rules="n >= 6") is frame
    with pytest.raises(bf.CheckFailed):
        pl.LazyFrame(THREE).drop("n").bal.require("y", "p", rules="n >= 7")


def test_the_message_lists_at_most_ten_failures_worst_first():
    recalls = {f"s{hits:02}": (hits, 100 - hits) for hits in (50, 41, 60, 30, 45)}
    found = lines(recalls, "recall >= 0.5", **ESTIMATE)
    assert found[0] == "3 of 5 verdicts fail:"
    assert found[1:] == [
        f"  fail: recall >= 0.5: {recall} where g is {g}"
        for recall, g in (("0.3", "s30"), ("0.41", "s41"), ("0.45", "s45"))
    ]
    for n, rest in ((10, []), (11, ["  and 1 more"]), (13, ["  and 3 more"])):
        many = {f"s{hits:02}": (hits, 100 - hits) for hits in range(20, 20 + n)}
        found = lines(many, "recall >= 0.5", **ESTIMATE)
        assert found[0] == f"{n} of {n} verdicts fail:"
        assert [line[-3:] for line in found[1:11]] == [f"s{hits}" for hits in range(20, 30)]
        assert found[11:] == rest


def test_failures_of_counts_are_ranked_relative_to_their_bound():
    rules = ["n >= 1000", "recall >= 0.9", "recall <= 0.2"]
    found = lines({"a": (450, 450), "b": (5, 995)}, rules, **ESTIMATE)
    assert found == [
        "4 of 6 verdicts fail:",
        "  fail: recall >= 0.9: 0.005 where g is b",
        "  fail: recall >= 0.9: 0.5 where g is a",
        "  fail: recall <= 0.2: 0.5 where g is a",
        "  fail: n >= 1000: 900 where g is a",
    ]


def test_inconclusive_verdicts_raise_unless_allowed():
    recalls, rules = {"a": (3, 1), "b": (0, 0), "c": (90, 10)}, "recall >= 0.7"
    frame = pl.DataFrame(rows_of(recalls) | {"y": [1, 1, 0, 0, 1, 1]})
    frame = frame.with_columns(n=pl.Series([3, 1, 5, 5, 90, 10]))
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(frame, rules=rules, **OPTIONS)
    first, *below = str(raised.value).split("\n")
    assert first == "2 of 3 verdicts are inconclusive (too few rows, or undefined):"
    low, high = clopper_pearson(3, 4, 0.975)  # with c the two that can be judged
    limits = f"[{low:.4g}, {high:.4g}]"
    assert below[0] == f"  inconclusive: recall >= 0.7: 0.75 {limits} where g is a"
    assert below[1] == "  inconclusive: recall >= 0.7: undefined where g is b"
    assert (raised.value.n_failed, raised.value.n_inconclusive) == (0, 2)
    assert bf.require(frame, rules=rules, allow_inconclusive=True, **OPTIONS) is frame


def test_the_message_uses_singular_and_plural_and_omits_allowed_verdicts():
    one, both = {"a": (3, 1)}, {"a": (3, 1), "b": (10, 90)}
    assert lines(one, "recall >= 0.7")[0] == "1 of 1 verdicts is inconclusive (too few rows):"
    first, *below = lines(both, "recall >= 0.7")
    assert first == "1 of 2 verdicts fails and 1 is inconclusive (too few rows):"
    assert [line.split(":")[0].strip() for line in below] == ["fail", "inconclusive"]
    first, *below = lines(both, "recall >= 0.7", allow_inconclusive=True)
    assert (first, len(below)) == ("1 of 2 verdicts fails:", 1)
    both |= {"c": (10, 90), "d": (3, 2)}
    first, *below = lines(both, "recall >= 0.7")
    assert first == "2 of 4 verdicts fail and 2 are inconclusive (too few rows):"


@cases("allow_inconclusive", [False, True])
@each_constructor
def test_a_frame_without_rows_is_refused(constructor, allow_inconclusive):
    frame = constructor(THREE)[:0]
    options = OPTIONS | {"rules": "recall >= 0", "allow_inconclusive": allow_inconclusive}
    with pytest.raises(bf.CheckFailed, match=r"^there is no row to judge, so"):
        bf.require(frame, **options)


def test_the_message_does_not_round_numbers_to_their_bound():
    assert lines({"a": (99_999, 0)}, "n >= 1e5")[1] == "  fail: n >= 1e5: 99999 where g is a"
    found = lines({"a": (79_999, 20_001)}, "recall >= 0.8", **ESTIMATE)
    assert found[1] == "  fail: recall >= 0.8: 0.79999 where g is a"
    found = lines({"a": (1, 2)}, "recall > 0.5", **ESTIMATE)
    assert found[1] == "  fail: recall > 0.5: 0.3333 where g is a"
    found = lines({"a": (1, 1)}, "recall > 0.5", **ESTIMATE)
    assert found[1] == "  fail: recall > 0.5: 0.5 where g is a"


def test_message_lines_on_differences_name_no_segment():
    frame = pl.DataFrame(THREE).rename({"g": "model"})
    options = OPTIONS | ESTIMATE | {"by": "model", "rules": "ratio(recall) >= 0.8"}
    with pytest.raises(bf.CheckFailed, match=r"\n  fail: ratio\(recall\) >= 0.8: 0.1111$"):
        bf.require(frame, **options)


@each_constructor
def test_message_lines_name_segment_model_and_reason(constructor):
    data = {"g": ["a", None], "reason": ["x", "y"], "y": [1, 1], "p": [0, 0], "q": [1, 1]}
    rules = [
        {"rule": "accuracy >= 0.5", "reason": "law"},
        "difference (accuracy) >= 0.5",
    ]
    options = {"by": "g", "level": None, "rules": rules}
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(constructor(data), "y", ["p", "q"], **options)
    assert str(raised.value).split("\n") == [
        "4 of 6 verdicts fail:",
        "  fail: accuracy >= 0.5: 0 where g is a, model is p (law)",
        "  fail: accuracy >= 0.5: 0 where g is null, model is p (law)",
        "  fail: difference (accuracy) >= 0.5: 0 where model is p",
        "  fail: difference (accuracy) >= 0.5: 0 where model is q",
    ]
    with pytest.raises(bf.CheckFailed, match=r"0 where reason is x\n.*0 where reason is y$"):
        bf.require(constructor(data), "y", "p", by="reason", rules="accuracy > 0", **ESTIMATE)
    with pytest.raises(bf.CheckFailed, match=r"\n  fail: accuracy > 0: 0$"):
        bf.require(constructor(data), "y", "p", rules="accuracy > 0", **ESTIMATE)


def _failing(frame):
    bf.require(frame, rules="recall >= 0.5", **OPTIONS)


def _same(error, other):
    assert type(error) is type(other) is bf.CheckFailed
    assert str(error) == str(other)
    assert (
        (error.n_failed, error.n_inconclusive) == (other.n_failed, other.n_inconclusive) == (2, 0)
    )
    assert type(error.frame) is type(other.frame)
    assert_table(error.frame, plain(other.frame))


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_the_error_can_be_copied_and_pickled(make):
    with pytest.raises(bf.CheckFailed) as raised:
        _failing(make(THREE))
    raised.value.add_note("of the nightly run")
    for other in (
        copy.copy(raised.value), copy.deepcopy(raised.value),
        pickle.loads(pickle.dumps(raised.value)),
    ):  # fmt: skip
        _same(other, raised.value)
        assert other.__notes__ == ["of the nightly run"]


@pytest.mark.processes
@pytest.mark.any_version
def test_the_error_is_unchanged_by_transfer_from_another_process():
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        error = pool.submit(_failing, pl.DataFrame(THREE)).exception(timeout=60)
    with pytest.raises(bf.CheckFailed) as raised:
        _failing(pl.DataFrame(THREE))
    _same(error, raised.value)


@each_constructor
def test_invalid_options_and_metrics_raise_invalid_input_error(constructor):
    frame = constructor(THREE)
    with pytest.raises(
        bf.InvalidInputError, match="allow_inconclusive=1 is not one of the options"
    ):
        bf.require(frame, rules="recall >= 0", allow_inconclusive=1, **OPTIONS)
    with pytest.raises(bf.InvalidInputError, match=r"'recal' not found; did you mean 'recall'"):
        bf.require(frame, rules="recal >= 0", **OPTIONS)
