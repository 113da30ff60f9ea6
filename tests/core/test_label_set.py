"""Labels: what is none, and the default of the positive label."""

import pytest

from balframe.core.label_set import LabelSet, as_labels, standard_pair, why_no_default
from balframe.errors import InvalidInputError
from tests.support.cases import cases


@cases(
    ("labels", "pair"),
    [
        ((0, 1), (0, 1)),
        ((0,), (0, 1)),
        ((-1,), (-1, 1)),
        ((False, True), (0, 1)),
        (("no", "yes"), ("no", "yes")),
        (("YES", "No"), ("No", "YES")),
        (("n", "Y"), ("n", "Y")),
        (("False", "True"), ("False", "True")),
        (("NEGATIVE", "positive"), ("NEGATIVE", "positive")),
        (("no",), ("no", "yes")),
        (("No",), ("No", "Yes")),
        (("NO",), ("NO", "YES")),
        (("Y",), ("N", "Y")),
        (("positive",), ("negative", "positive")),
    ],
)
def test_labels_of_a_standard_pair_are_completed_in_their_case(labels, pair):
    assert standard_pair(labels) == pair


@cases(
    "labels",
    [
        (0, 1, 2),
        (-1, 0),
        ("Yes", "yes"),
        ("no", "Yes", "yes"),
        ("no", "y"),
        ("yes", "true"),
        ("0", "1"),
        ("",),
        ("yes ", "no"),
        ("maybe", "no", "yes"),
        (True, "no"),
    ],
)
def test_other_labels_have_no_default(labels):
    assert standard_pair(labels) is None


@cases(
    ("labels", "pos_label", "code"),
    [
        (("no", "yes"), None, 1),
        (("YES", "no"), None, 0),
        (("yes", "no"), None, 0),  # the order that a caller gave
        (("no",), None, -1),
        (("no",), "yes", -1),
        (("yes",), "no", -1),
        (("No",), "Yes", -1),
        (("NO",), "YES", -1),
        ((1,), -1, -1),
        (("no", "yes"), "no", 0),
        (("Yes", "yes"), None, None),
        (("Yes", "yes"), "Yes", 0),
    ],
)
def test_positive_returns_the_code_of_the_positive_word(labels, pos_label, code):
    assert LabelSet(labels).positive(pos_label) == code


@cases(
    ("labels", "pos_label", "message"),
    [
        (("no", "yes"), "Yes", "pos_label='Yes' is not a label; give one of 'no', 'yes'"),
        (("YES",), "yes", "pos_label='yes' is not a label; give one of 'YES'"),
        (("no",), "Yes", "pos_label='Yes' is not a label; give one of 'no'"),
        (("No",), "YES", "pos_label='YES' is not a label; give one of 'No'"),
        (("no",), "true", "pos_label='true' is not a label; give one of 'no'"),
        ((3, 1, 2), 0, "pos_label=0 is not a label; give one of 3, 1, 2"),
    ],
)
def test_a_positive_label_that_no_row_has_must_complete_the_pair(labels, pos_label, message):
    with pytest.raises(InvalidInputError) as raised:
        LabelSet(labels).positive(pos_label)

    assert str(raised.value) == f"{message}, or add it to labels= if it may be absent."


@cases("pos_label", ["Yes", "YES", "maybe"])
def test_declared_labels_decide_which_positive_label_may_be_absent(pos_label):
    labels = LabelSet(("no",), declared=frozenset({"no", "yes"}))

    assert labels.positive("yes") == -1
    with pytest.raises(
        InvalidInputError, match=f"'{pos_label}' is not a label; give one of 'no', 'yes'"
    ):
        labels.positive(pos_label)


def test_a_declared_label_without_rows_may_have_a_weight():
    labels = LabelSet(("no", "ok"), declared=frozenset({"yes"}))

    assert labels.weights({"no": 1, "ok": 4, "yes": 9}).tolist() == [1 / 4, 1]
    with pytest.raises(InvalidInputError, match="'Yes', which is not among the labels"):
        labels.weights({"no": 1, "ok": 4, "Yes": 9})


def test_numbers_that_are_not_whole_raise_with_a_way_to_labels():
    with pytest.raises(InvalidInputError) as raised:
        as_labels([1.0, 0.25], "column 'score'")

    assert str(raised.value) == (
        "column 'score' holds numbers that are not whole: scores are not labels. Turn them into "
        "labels first: `score >= 0.5`. `curve` evaluates every threshold; compare and audit take "
        "y_score=."
    )


def test_labels_that_differ_in_case_are_the_reason_for_no_default():
    for labels in (("Yes", "yes"), ("Yes", "no", "yes")):
        assert why_no_default(LabelSet(labels), "Several.").startswith(
            "Labels that differ only in case, such as 'Yes' and 'yes', are different labels"
        )
    assert why_no_default(LabelSet(("A", "a")), "Several.").startswith("It has a default only if")
    assert why_no_default(LabelSet(("a", "b", "c")), "Several.") == "Several."
