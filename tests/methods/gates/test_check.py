"""Verdicts on segments, with limits that the tests compute by themselves."""

import itertools

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import balframe as bf
from balframe.methods.comparisons.extremes import ExtremesSearch
from tests.support.cases import cases
from tests.support.constructors import each_constructor
from tests.support.frames.segment_counts import FOUR, JUDGED, check, letters

# Recalls of 0.1, 0.5 and 0.9 of 40 rows; one of no rows and one of 3 rows. With the limits of three
# segments at once these are about 0.02 to 0.27, 0.31 to 0.69 and 0.73 to 0.98.
SEGMENTS = {"a": (4, 36), "b": (20, 20), "c": (36, 4), "d": (0, 0, 9, 9), "e": (3, 0, 2, 2)}
VERDICTS = [  # by confidence, by the estimate
    ("recall >= 0.5", "F-P--", "FPP--"),
    ("recall > 0.5", "F-P--", "FFP--"),
    ("recall <= 0.5", "P-F--", "PPF--"),
    ("recall < 0.5", "P-F--", "PFF--"),
    ("recall == 0.5", "F-F--", "FPF--"),
    ("recall == 0.1", "-FF--", "PFF--"),
    ("recall == 0.2", "-FF--", "FFF--"),
    ("recall >= 0.2", "-PP--", "FPP--"),
    ("recall >= 0.7", "FFP--", "FFP--"),
    ("recall <= 0.7", "PPF--", "PPF--"),
    ("recall <= 0.95", "PP---", "PPP--"),
    ("recall < 0.2", "-FF--", "PFF--"),
    ("recall >= 0", "PPP--", "PPP--"),
    ("recall <= 1", "PPP--", "PPP--"),
    ("recall > 0", "PPP--", "PPP--"),
    ("recall < 0", "FFF--", "FFF--"),
    ("recall > 1", "FFF--", "FFF--"),
    ("recall == -1", "FFF--", "FFF--"),
]


@cases(("rule", "confident", "estimate"), VERDICTS)
def test_every_comparison_passes_fails_or_is_inconclusive(rule, confident, estimate):
    assert letters(check(SEGMENTS, rule, min_support=5)) == confident
    assert letters(check(SEGMENTS, rule, min_support=5, level=None)) == estimate


@pytest.mark.parametrize(("end", "verdicts"), [("lower", "P--F-"), ("upper", "-FP--")])
def test_a_limit_equal_to_the_bound_satisfies_inclusive_comparisons(end, verdicts):
    limit = repr(check({"a": (20, 20)}, "recall >= 0.5")[end].item())
    rules = [f"recall {operator} {limit}" for operator in (">=", ">", "<=", "<", "==")]
    assert letters(check({"a": (20, 20)}, rules)) == verdicts


def test_few_rows_without_an_error_are_inconclusive():
    right, wrong = {"a": (4, 0)}, {"a": (0, 4)}
    rules = [f"recall {operator} 1" for operator in (">=", "==", "<", "<=")]
    assert letters(check(right, rules)) == "---P"
    assert letters(check(right, rules, level=None)) == "PPFP"
    rules = [f"recall {operator} 0" for operator in ("<=", "==", ">", ">=")]
    assert letters(check(wrong, rules)) == "---P"
    assert letters(check(wrong, rules, level=None)) == "PPFP"


def test_a_score_without_limits_is_inconclusive():
    segments = {"a": (0, 0, 3, 3), "b": (400, 50, 50, 400)}  # kappa is 0 of a
    rules = ["kappa >= 0.5", "difference(kappa) <= 0.1"]
    assert letters(check(segments, rules)) == "-P-"
    assert letters(check(segments, rules, level=None)) == "FPF"


def test_min_support_is_the_smallest_denominator_of_the_metric():
    segments = {"a": (50, 0, 0, 9), "b": (50, 0, 0, 10), "c": (50, 0)}
    rules = [f"{name} >= 0.1" for name in ("recall", "specificity", "uar", "accuracy")]
    for level in (0.95, None):
        out = check(segments, rules, min_support=10, level=level)
        found = {rule: letters(out.filter(pl.col("rule") == rule)) for rule in rules}
        assert [*found.values()] == ["PPP", "-P-", "-P-", "PPP"]


def test_rules_on_counts_are_exact():
    segments = {"a": (6, 2, 3, 1), "b": (5, 0), "c": (0, 0, 1, 0)}
    rules = ["n >= 5", "n < 12", "n == 5", "n > 4.5", "n <= 1e300", "n_labels == 2"]
    rules += ["min_support >= 5", "n >= -1"]
    expected = ["PPF", "FPP", "FPF", "PPF", "PPP", "PFF", "FPF", "PPP"]
    for level, min_support in itertools.product((0.95, None), (0, 1000)):
        out = check(segments, rules, level=level, min_support=min_support)
        found = [letters(out.filter(pl.col("rule") == rule)) for rule in rules]
        assert found == expected
        assert out["lower"].equals(out["estimate"])
        assert out["upper"].equals(out["estimate"])
        counted = out.filter(pl.col("rule").is_in(["n >= 5", "min_support >= 5"]))
        assert counted["estimate"].to_list() == [12, 4, 5, 5, 1, 1]


def test_large_counts_are_compared_exactly():
    frame = pl.DataFrame({"y": [1], "p": [1], "n": [2**53 + 1]})
    rules = [f"n {operator} {2**53}" for operator in (">", "==", "<=")]
    assert letters(bf.check(frame, "y", "p", counts="n", rules=rules)) == "PFF"


RECALLS = {"a": (30, 70), "b": (60, 40), "c": (90, 10)}


@cases("level", [0.95, None])
@cases("left_out", [(0, 0, 5, 5), (4, 0, 2, 2)])
def test_a_difference_without_a_left_out_segment_can_fail_but_not_pass(level, left_out):
    rules = {"difference(recall) <= 0.99": "-", "difference(recall) <= 0.01": "F"}
    rules |= {"ratio(recall) >= 0.01": "-", "ratio(recall) >= 0.99": "F"}
    rules |= {"difference(recall) >= 0.99": "-", "ratio(recall) <= 0.01": "-"}
    out = check({**RECALLS, "d": left_out}, [*rules], level=level, min_support=10)
    assert letters(out) == "".join(rules.values())
    assert out["estimate"].to_list() == pytest.approx([0.6, 0.6, 1 / 3, 1 / 3, 0.6, 1 / 3])


def test_rules_on_the_same_extremes_search_them_once(monkeypatch):
    searches = []
    find = ExtremesSearch.find
    monkeypatch.setattr(
        ExtremesSearch, "find", lambda *args: searches.append(args[1]) or find(*args)
    )
    rules = ["difference(recall) <= 0.99", "ratio(recall) >= 0.01", "difference(accuracy) <= 0.99"]
    where = {"difference(recall) <= 0.2": ["a", "b"], "ratio(recall) >= 0.2": ["b", "c"]}
    rules += [{"rule": rule, "where": {"g": segments}} for rule, segments in where.items()]

    out = check(RECALLS, rules)

    assert searches == ["recall", "accuracy", "recall", "recall"]
    assert out["estimate"].to_list() == pytest.approx([0.6, 1 / 3, 0.6, 0.3, 2 / 3])


@cases("level", [0.95, None])
@cases(
    "segments",
    [
        {"a": (30, 10)},
        {"a": (0, 0, 3, 3), "b": (0, 0, 1, 2)},
        {"a": (30, 10), "b": (0, 0, 1, 2)},
    ],
)
def test_fewer_than_two_scores_have_no_difference(level, segments):
    rules = ["difference(recall) <= 1", "ratio(recall) >= 0", "difference(recall) > 1"]
    out = check(segments, rules, level=level)
    assert letters(out) == "---"
    assert out.select(JUDGED[:3]).rows() == [(None, None, None)] * 3


def test_the_ratio_of_scores_below_0_is_undefined():
    segments = {"a": (8, 2, 2, 8), "b": (2, 8, 8, 2)}
    out = check(segments, ["ratio(mcc) <= 1", "ratio(mcc) > 1"])
    assert (letters(out), out["estimate"].to_list()) == ("--", [None, None])


def test_a_rule_on_a_difference_without_by_is_refused():
    for by, over in itertools.product((None, []), ("difference", "ratio")):
        with pytest.raises(bf.InvalidInputError, match="by= is missing, but a rule on a diff"):
            check(SEGMENTS, ["recall >= 0", f"{over}(recall) <= 1"], by=by)


RANK = {"fail": 0, "inconclusive": 1, "pass": 2}
COUNTS = st.tuples(*[st.integers(0, 30)] * 4).filter(any)
QUANTITIES = ["accuracy", "recall", "precision", "uar", "f1", "mcc", "geometric_mean", "n"]
QUANTITIES += [f"{over}({name})" for over in ("difference", "ratio") for name in QUANTITIES[:6]]
BOUNDS = st.sampled_from([-0.2, 0.0, 0.25, 0.5, 2 / 3, 1.0, 20.0]) | st.floats(-0.5, 1.5)


@settings(deadline=None, max_examples=30)
@given(
    counts=st.lists(COUNTS, min_size=1, max_size=4),
    quantity=st.sampled_from(QUANTITIES),
    bounds=st.tuples(BOUNDS, BOUNDS).map(sorted),
    min_support=st.sampled_from([0, 8]),
    level=st.sampled_from([0.5, 0.95]),
)
def test_verdicts_never_contradict_the_estimate_and_are_monotone_in_the_bound(
    counts, quantity, bounds, min_support, level
):
    """A limit never lies on the far side of its estimate, so that neither verdict contradicts."""
    assume(bounds[0] < bounds[1])
    assume(bounds[1] <= 1 or quantity == "n" or "(" in quantity)  # other rules are refused
    segments = dict(zip("abcd", counts, strict=False))
    operators = (">=", ">", "<=", "<", "==")
    rules = [f"{quantity} {operator} {bound!r}" for operator in operators for bound in bounds]
    found = [check(segments, rules, min_support=min_support, level=at) for at in (level, None)]
    for sure, seen in zip(*(out.to_dicts() for out in found), strict=True):
        assert {sure["status"], seen["status"]} != {"pass", "fail"}
        assert sure["status"] == "inconclusive" or sure["status"] == seen["status"]
        if sure["estimate"] is None:
            assert sure["status"] == seen["status"] == "inconclusive"
    for out in found:
        status = dict(zip(zip(out["g"], out["rule"], strict=True), out["status"], strict=True))
        for (g, rule), verdict in status.items():
            if rule.endswith(f" {bounds[0]!r}") and "==" not in rule:
                above = status[g, rule.removesuffix(repr(bounds[0])) + repr(bounds[1])]
                change = RANK[above] - RANK[verdict]
                assert change <= 0 if ">" in rule else change >= 0


def test_a_score_that_equals_the_bound_but_for_rounding_does_not_fail():
    rows = pl.DataFrame({"g": ["a"] * 20, "y": [0, 1] * 10, "p": [1, 0] * 10})

    out = bf.check(rows, "y", "p", by="g", rules=["accuracy == -1e-300"])

    assert (out["estimate"].item(), out["status"].item()) == (0, "inconclusive")


def test_a_verdict_that_limits_do_not_explain_says_why_it_is_inconclusive():
    frame = pl.DataFrame(
        {"g": ["a"] * 20 + ["b"] * 4, "y": [0, 1] * 10 + [0] * 4, "p": [0, 1] * 12}
    )
    rules = ["recall >= 0.95", "recall >= 0.1", "difference(specificity) <= 1", "n >= 3"]

    out = bf.check(frame, "y", "p", by="g", rules=rules, min_support=6, detail=True)

    why = dict(zip(zip(out["g"], out["rule"], strict=True), out["undecided"], strict=True))
    assert why == {
        ("a", "recall >= 0.95"): None,  # the bound is between the limits
        ("a", "recall >= 0.1"): None,  # it passes
        ("b", "recall >= 0.95"): "the score is undefined",
        ("b", "recall >= 0.1"): "the score is undefined",
        (None, "difference(specificity) <= 1"): "the score is undefined",
        ("a", "n >= 3"): None,
        ("b", "n >= 3"): None,
    }
    few = bf.check(frame, "y", "p", by="g", rules="specificity >= 0", min_support=6, detail=True)
    assert few["undecided"].to_list() == [None, "fewer rows than min_support"]


def test_a_metric_without_limits_is_refused_unless_the_estimate_decides():
    for rule in ("no_information_rate >= 0.5", "ratio(no_information_rate) >= 0.5"):
        with pytest.raises(
            bf.InvalidInputError, match=r"interval.*a maximum is not smooth. Give level=None"
        ):
            check(FOUR, ["recall >= 0.5", rule])
    assert letters(check(FOUR, "f1_macro >= 0.65", level=None)) == "PPFP"


@cases(
    ("options", "words"),
    [
        ({"adjust": "holm"}, "adjust='holm'.*'bonferroni', None"),
        ({"level": 95}, "level=95 is not a confidence level; give a number"),
        ({"min_support": -1}, "min_support=-1 is not a number of rows; give"),
        ({"rules": "baw >= 0.5"}, "'baw' needs class_weight="),
        (
            {"rules": "balanced_accuracy >= 0.5", "class_weight": {0: 1, 1: 3}},
            "class_weight= is given, but 'balanced_accuracy' does not read it",
        ),
        ({"rules": []}, "rules= is empty"),
        ({"rules": ["n >= 1"], "by": "status"}, "more than one column named 'status'"),
    ],
)
@each_constructor
def test_options_that_cannot_be_used_raise_at_once(constructor, options, words):
    frame = constructor({"y": [0, 1], "p": [0, 1], "status": ["a", "b"]})
    with pytest.raises(bf.InvalidInputError, match=words):
        bf.check(frame, "y", "p", **{"rules": "n >= 1", **options})
