"""The grammar of rules against a baseline; every fault is an error that points at its place."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

FRAME = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 0, 0, 0], "q": [1, 1, 0, 0]})
READ = [
    ("recall >= baseline", 0),
    ("recall >= baseline - 0.02", -0.02),
    ("uar>baseline+.5", 0.5),
    ("  recall \t>=  baseline \n -  2e-2 ", -0.02),
    ("fpr <= baseline + 0", 0),
    ("recall<baseline-1.", -1),
]
A_NUMBER, NO_SIGN = "a number is expected", "a number without a sign is expected"
A_MARGIN = "a margin is expected, as in 'baseline - 0.02'"
NOT_WITH_IT = "is compared with a number, not with the baseline"
FAULTS = [  # the rule, the marks below it, and the words
    ("n >= baseline", "     ^^^^^^^^", f"the count 'n' {NOT_WITH_IT}"),
    ("n_labels < baseline + 1", "           ^^^^^^^^", f"the count 'n_labels' {NOT_WITH_IT}"),
    ("recall == baseline", "       ^^", "one of >=, >, <=, < is expected before 'baseline'"),
    ("recall == baseline - 0.1", "       ^^", "one of >=, >, <=, < is expected before 'baseline'"),
    (
        "difference(uar) <= baseline", "                   ^^^^^^^^",
        f"a difference of segments {NOT_WITH_IT}",
    ),
    ("ratio(uar) > baseline - 0.1", "             ^^^^^^^^", f"a ratio of segments {NOT_WITH_IT}"),
    ("recall >= baseline * 2", "                   ^", A_MARGIN),
    ("recall >= baseline 0.02", "                   ^", A_MARGIN),
    ("recall >= baseline, 0.02", "                  ^", A_MARGIN),
    ("recall >= baseline - - 1", "                     ^", NO_SIGN),
    ("recall >= baseline -+1", "                    ^", NO_SIGN),
    ("recall >= baseline -", "                    ^", A_NUMBER),
    ("recall >= baseline + x", "                     ^", A_NUMBER),
    ("recall >= baseline - baseline", "                     ^", A_NUMBER),
    ("recall >= baseline - 1e999", "                     ^^^^^", "the number is too large"),
    ("recall >= baseline - 2%", "                      ^", "unexpected '%'"),
    ("recall >= baseline - 0.1 + 1", "                         ^^^", "unexpected '+ 1'"),
    ("recall >= 0.1 + baseline", "              ^^^^^^^^^^", "unexpected '+ baseline'"),
    ("recall >= Baseline", "          ^", A_NUMBER),
    ("recall >= baselines - 0.1", "          ^", A_NUMBER),
    ("recall >= -baseline", "          ^", A_NUMBER),
    ("recall >=", "         ^", A_NUMBER),
    ("baseline >= recall", "^^^^^^^^", "metric 'baseline' not found. bf.list_metrics()"),
]  # fmt: skip


@cases(("rule", "bound"), READ)
def test_a_margin_is_the_bound_of_a_difference(rule, bound):
    out = bf.check(FRAME, "y", "p", baseline="q", rules=rule)

    assert out["rule"].item() == " ".join(rule.split())
    assert out["bound"].item() == bound


@cases(("rule", "marks", "words"), FAULTS)
@cases("baseline", ["q", None])
def test_a_syntax_error_in_a_rule_is_marked_at_its_position(rule, marks, words, baseline):
    with pytest.raises(bf.InvalidInputError) as raised:
        bf.check(FRAME, "y", "p", baseline=baseline, rules=rule)

    first, *below = str(raised.value).split("\n")
    position = marks.index("^") + 1
    assert first.startswith(f"the rule {rule!r} cannot be read at position {position}: {words}")
    assert below == [f"    {rule}", f"    {marks}"]


def test_rules_in_a_mapping_are_compared_with_a_baseline():
    rules = {"recall": [">= baseline - 0.1", "> 0.1"], "n": ">= 1"}

    out = bf.check(FRAME, "y", "p", baseline="q", rules=rules)

    assert out["rule"].to_list() == ["recall >= baseline - 0.1", "recall > 0.1", "n >= 1"]
    assert out["bound"].to_list() == [-0.1, 0.1, 1]


def test_the_same_margin_in_another_spelling_is_refused():
    rules = ["recall >= baseline - 0.1", "recall>=baseline-.1"]
    with pytest.raises(bf.InvalidInputError, match="rules= has the rule 'recall>=base"):
        bf.check(FRAME, "y", "p", baseline="q", rules=rules)


def test_a_margin_and_an_equal_bound_are_different_rules():
    rules = ["recall >= baseline - 0.1", "recall >= -0.1"]

    out = bf.check(FRAME, "y", "p", baseline="q", rules=rules)

    assert out["bound"].to_list() == [-0.1, -0.1]
    assert out["estimate"].to_list() == [0.0, 0.5]
