"""Options of rules: labels that segments lack, named methods of limits, least supports."""

import inspect
import math
from typing import get_args

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.core.safe_divide import ratio
from balframe.stats.base import Interval, IntervalMethod
from balframe.stats.metric_intervals import Proportion
from tests.support.cases import cases
from tests.support.frames.segment_counts import FOUR, JUDGED, check, letters, table
from tests.support.oracles.mean_recalls import clopper_pearson, gate

METHODS = get_args(IntervalMethod)
LIMITS = ["lower", "upper"]


def frame_of(counts):
    """Write right and wrong rows of each label of each segment; wrong ones are called 9."""
    rows = [
        {"g": g, "y": label, "p": p, "n": n}
        for g, labels in counts.items()
        for label, (right, wrong) in labels.items()
        for p, n in ((label, right), (9, wrong))
    ]
    return pl.DataFrame(rows)


LACKING = {
    "a": {0: (18, 2), 1: (27, 3), 2: (40, 10), 9: (5, 0)},
    "b": {0: (30, 10), 1: (45, 5)},
    "c": {1: (24, 6)},
}


def judged(counts, rules="uar >= 0.5", **options):
    return bf.check(frame_of(counts), "y", "p", by="g", counts="n", rules=rules, **options)


def of_gate(labels, level):
    """Find the limits of the mean recall of labels, all of the same weight."""
    x, rows = zip(*((right, right + wrong) for right, wrong in labels.values()), strict=True)
    return np.array(gate(x, rows, [1 / len(x)] * len(x), level))


def test_a_mean_over_labels_is_null_in_a_segment_that_lacks_a_label():
    out = judged(LACKING)
    assert out["estimate"].to_list() == [pytest.approx(0.9), None, None]
    assert letters(out) == "P--"
    # one segment is judged, so that its limits need not allow for others
    expected = [*of_gate(LACKING["a"], 0.95)]
    assert out.select(LIMITS).row(0) == pytest.approx(expected, abs=1e-9)
    assert out.equals(judged(LACKING, labels=bf.label_set(absent="null")))


def test_labels_that_a_segment_lacks_are_skipped_or_count_zero():
    level, skipped = 1 - 0.05 / 3, judged(LACKING, labels=bf.label_set(absent="skip"))
    limits = [of_gate(labels, level) for labels in LACKING.values()]
    assert limits[2] == pytest.approx(clopper_pearson(24, 30, level), abs=1e-12)
    assert skipped["estimate"].to_list() == pytest.approx([0.9, 0.825, 0.8])
    assert skipped.select(LIMITS).to_numpy() == pytest.approx(np.array(limits), abs=1e-9)
    assert letters(skipped) == "PPP"
    shares = np.array([1, 2 / 4, 1 / 4])
    zero = judged(LACKING, labels=bf.label_set(absent="zero"))
    assert zero["estimate"].to_list() == pytest.approx(shares * [0.9, 0.825, 0.8])
    expected = shares[:, None] * limits
    assert zero.select(LIMITS).to_numpy() == pytest.approx(expected, abs=1e-9)
    assert letters(zero) == "PFF"


def test_a_label_that_is_only_predicted_is_absent_from_every_segment():
    counts = {g: LACKING[g] for g in "bc"}  # whose wrong rows are called 9
    assert judged(counts)["estimate"].to_list() == [None, None]
    assert letters(judged(counts)) == "--"
    skipped, zero = (
        judged(counts, labels=bf.label_set(absent=absent)) for absent in ("skip", "zero")
    )
    assert skipped["estimate"].to_list() == pytest.approx([0.825, 0.8])
    assert zero["estimate"].to_list() == pytest.approx([0.825 * 2 / 3, 0.8 / 3])


@pytest.mark.parametrize("absent", ["null", "skip", "zero"])
def test_absent_does_not_change_metrics_that_are_not_means_over_labels(absent):
    rules = ["accuracy >= 0.5", "kappa >= -1", "n_labels >= 2"]
    out = judged(LACKING, rules, labels=bf.label_set(absent=absent), level=None)
    assert out.filter(rule=rules[0])["estimate"].to_list() == pytest.approx(
        [0.85714, 5 / 6, 0.8], 1e-4
    )
    assert out.filter(rule=rules[2])["estimate"].to_list() == [4, 2, 1]


@pytest.mark.parametrize("absent", ["null", "skip", "zero"])
def test_means_over_different_labels_are_not_compared(absent):
    counts = LACKING | {"d": {0: (20, 0), 1: (30, 0), 2: (40, 10), 9: (5, 0)}}
    rules = [f"difference(uar) {comparison}" for comparison in ("<= 0.9", "<= 0.01", ">= 0.01")]
    out = judged(counts, rules, labels=bf.label_set(absent=absent), level=None)
    assert out["estimate"].to_list() == pytest.approx([0.05] * 3, abs=1e-12)  # of a and d
    assert letters(out) == "-F-"
    out = judged(counts, rules[0], labels=bf.label_set(absent=absent), level=None, min_support=0)
    expected = {"null": (0.05, "-"), "skip": (0.95 - 0.8, "P"), "zero": (0.95 - 0.2, "P")}
    assert (out["estimate"].item(), letters(out)) == (
        pytest.approx(expected[absent][0]),
        expected[absent][1],
    )


def test_an_unknown_value_of_absent_raises():
    with pytest.raises(bf.InvalidInputError, match="absent='drop' is not one of the options"):
        judged(LACKING, labels=bf.label_set(absent="drop"))


@cases("method", [bf.check, bf.require])
def test_gates_have_no_other_limits_than_theirs(method):
    with pytest.raises(bf.UnsupportedTypeError, match="option 'interval' not found"):
        method(pl.DataFrame(table(**FOUR)), "y", "p", rules="n >= 1", interval="wilson")


def test_require_takes_the_options_of_check():
    frame = frame_of(LACKING)
    options = {"by": "g", "counts": "n", "rules": "uar >= 0.5"}
    with pytest.raises(bf.CheckFailed, match="2 of 3 verdicts are inconclusive"):
        bf.require(frame, "y", "p", **options)
    assert bf.require(frame, "y", "p", labels=bf.label_set(absent="skip"), **options) is frame
    few = pl.DataFrame({"y": [1] * 9 + [0], "p": [1] * 9 + [0]})
    bf.require(few, "y", "p", rules="recall >= 0.69", level=0.9)
    with pytest.raises(bf.CheckFailed, match=r"inconclusive: recall >= 0.69: 1 \[0.66"):
        bf.require(few, "y", "p", rules="recall >= 0.69")


@cases("method", [bf.check, bf.require])
def test_min_support_is_1_by_default(method):
    assert inspect.signature(method).parameters["min_support"].default == 1


def test_min_support_of_a_mean_counts_the_rarest_label_present():
    counts = {"a": {0: (900, 0), 1: (1, 0)}, "b": {0: (900, 0)}}
    skip = bf.label_set(absent="skip")
    found = {
        n: letters(judged(counts, "uar >= 0.1", labels=skip, min_support=n))
        for n in (0, 1, 2, 900, 901)
    }
    assert found == {0: "PP", 1: "PP", 2: "-P", 900: "-P", 901: "--"}
    assert letters(judged(counts, "uar >= 0.1", labels=skip)) == "PP"


class WithinATenth(Interval):
    """Limits a tenth below and above the estimate, whatever is asked for."""

    def method_of(self, asked):
        return "tenth"

    def limits(self, sample, estimate, request):
        return estimate - 0.1, estimate + 0.1


@pytest.fixture
def own_metrics():
    def parts(c):
        return c.total_correct, c.total

    @bf.metric(range=(0, 1), interval=WithinATenth())
    def share_right(c):
        """Share of rows that are right: sum_k TP_k / n."""
        return ratio(c.total_correct, c.total)

    @bf.metric(range=(0, 1), interval=Proportion(parts))
    def part_right(c):
        """Share of rows that are right: sum_k TP_k / n."""
        return ratio(c.total_correct, c.total)


@pytest.mark.usefixtures("own_metrics")
@pytest.mark.parametrize("options", [{}, {"adjust": None}], ids=str)
def test_a_custom_kind_of_metric_is_decided_by_its_own_limits(options):
    rules = ["share_right >= 0.65", "difference(share_right) <= 0.3"]
    out = check({"a": (50, 50), "b": (80, 20), "c": (70, 30)}, rules, **options)
    assert letters(out) == "FP--"
    half = math.hypot(0.1, 0.1)
    expected = [(0.4, 0.6), (0.7, 0.9), (0.6, 0.8), (0.3 - half, 0.3 + half)]
    assert out.select(LIMITS).rows() == [pytest.approx(pair) for pair in expected]


@pytest.mark.usefixtures("own_metrics")
def test_a_custom_proportion_has_the_verdicts_of_a_built_in_metric():
    own, shipped = (check(FOUR, f"{name} >= 0.6") for name in ("part_right", "accuracy"))
    assert own.select(JUDGED).equals(shipped.select(JUDGED))
