"""How often predictions are right: each sentence with both outcomes."""

from dataclasses import replace

import pytest

from balframe.audit_page.numbers import Estimate
from balframe.audit_page.sections.overall_accuracy import (
    assessment,
    majority_share,
    section,
    summary,
)
from tests.support.audits.figures import (
    BALANCED,
    audit,
    group,
    make_cells,
    many_labels,
    model,
    percent,
    plain,
)

HALVES = make_cells({(0, 0): 30, (0, 1): 20, (1, 0): 10, (1, 1): 40})
SIXTY = make_cells({(0, 0): 50, (0, 1): 10, (1, 0): 20, (1, 1): 20})


def made(accuracy, cells=SIXTY, **rates):
    negatives, positives = (
        sum(n for label, n in cells.n_true.items() if label == k) for k in (0, 1)
    )
    whole = group(None, negatives, positives, 30, {"accuracy": accuracy, **rates})
    return model(overall=whole, cells=cells)


def test_majority_share_equals_60_percent_for_60_and_40_rows():
    assert majority_share(made(percent(70, 65, 75))) == 0.6


def test_summary_states_accuracy_above_the_majority_share():
    assert plain(summary(made(percent(70, 65, 75)))) == (
        "70% (65 to 75) of the predictions were right; always giving the more frequent answer "
        "would have been right for 60%."
    )


def test_summary_states_accuracy_not_significantly_above_majority_share():
    assert plain(summary(made(percent(62, 57, 67)))) == (
        "62% (57 to 67) of the predictions were right; always giving the more frequent answer "
        "would have been right for 60%, and the predictions are not established to be right more "
        "often."
    )


def test_summary_states_accuracy_below_the_majority_share():
    assert plain(summary(made(percent(50, 45, 55)))) == (
        "50% (45 to 55) of the predictions were right; always giving the more frequent answer "
        "would have been right for 60%, more often than the predictions."
    )


def test_limit_just_above_majority_share_is_not_rounded_onto_it():
    assert plain(summary(made(percent(70, 60.3, 75)))).startswith(
        "70.0% (60.3 to 75.0) of the predictions were right; always giving the more frequent "
        "answer would have been right for 60.0%."
    )


def test_assessment_compares_balanced_accuracy_with_guessing():
    shown = made(percent(70, 65, 75), balanced_accuracy=percent(66, 61, 71))
    said = plain(assessment(shown, shown.overall.rates[BALANCED]))
    assert said == (
        "70% must be compared with a simple rule: always giving the more frequent answer would be "
        "right for 60%. The balanced accuracy gives each outcome the same weight, however many "
        "people it is about: it is the mean of the second and the third number above. It is 66% "
        "(61 to 71); guessing has 50%, and being always right 100%."
    )


@pytest.mark.parametrize("lower", [45, 50])
def test_assessment_states_predictions_not_significantly_above_guessing(lower):
    not_shown = made(percent(70, 65, 75), balanced_accuracy=percent(52, lower, 59))
    said = plain(assessment(not_shown, not_shown.overall.rates[BALANCED]))
    assert said.endswith(" 100%. That this is more than guessing is not established.")


def test_limit_just_above_guessing_is_not_rounded_onto_it():
    shown = made(percent(70, 65, 75), balanced_accuracy=percent(55, 50.04, 60))
    said = plain(assessment(shown, shown.overall.rates[BALANCED]))
    assert "It is 55.00% (50.04 to 60.00); guessing has 50.00%, and" in said
    assert said.endswith("being always right 100%.")


def test_single_outcome_has_no_assessment_of_balanced_accuracy():
    one = make_cells({(0, 0): 90, (0, 1): 10})
    rates = {"balanced_accuracy": percent(90, 82, 94), "recall": percent(None)}
    said = plain(assessment(made(percent(90, 82, 94), one, **rates), Estimate(0.9, 0.8, 1)))
    assert said == (
        "90% must be compared with a simple rule: always giving the more frequent answer would be "
        "right for 100%. All people have the same outcome, so nothing can be said of how well the "
        "predictions separate outcomes."
    )


def test_facts_omit_undefined_rates():
    all_known = section(audit(made(percent(70, 65, 75))))
    assert [fact.about for fact in map(_plain_fact, all_known.blocks[0].items)] == [
        "of all predictions are right",
        "of those re-arrested had been called high risk",
        "of those not re-arrested had not been called high risk",
        "of those called high risk were re-arrested",
    ]
    nobody = section(
        audit(made(percent(70, 65, 75), precision=percent(None), recall=percent(50, 40, 60)))
    )
    assert len(nobody.blocks[0].items) == 3
    assert (nobody.blocks[0].items[0].number, nobody.blocks[0].items[0].limits) == (
        "70%",
        "65 to 75",
    )


def _plain_fact(fact):
    return type(fact)(fact.number, fact.limits, plain(fact.about))


def test_matrix_has_row_shares_and_marks_wrong_predictions():
    matrix = section(audit(made(percent(70, 65, 75)))).blocks[2]
    assert [plain(one) for one in matrix.predictions] == [
        "Not called high risk",
        "Called high risk",
    ]
    (no, noes), (yes, yeses) = matrix.rows
    assert (plain(no), plain(yes)) == ("Not re-arrested", "Re-arrested")
    assert [(one.n, one.share, one.is_wrong) for one in noes] == [
        ("50", "83%", False),
        ("10", "17%", True),
    ]
    assert [(one.n, one.share, one.is_wrong) for one in yeses] == [
        ("20", "50%", True),
        ("20", "50%", False),
    ]


def test_several_labels_have_a_most_frequent_label_and_a_table():
    right = section(audit(many_labels(3)))
    assert "always giving the most frequent answer" in right.brief[0]
    said = right.blocks[1].text
    assert "it is the mean of the share of each label that was found. It is" in said
    assert "; guessing has 33%, and" in said
    assert [type(one).__name__ for one in right.blocks] == [
        "Facts",
        "Paragraph",
        "Matrix",
        "Table",
    ]
    assert right.blocks[3].note == ""


def test_many_labels_have_no_matrix_and_a_table_of_eight():
    right = section(audit(many_labels(13)))
    assert [type(one).__name__ for one in right.blocks] == ["Facts", "Paragraph", "Table"]
    assert right.blocks[2].note == "The 8 most frequent of 13 labels."
    assert len(right.blocks[2].groups[0].rows) == 8


def test_summary_sentence_of_a_further_model_has_its_name():
    first = made(percent(70, 65, 75))
    right = section(audit(first, replace(first, name="q")))
    assert not right.brief[0].startswith("q")
    assert right.brief[1].startswith("q: 70% (65 to 75) of the predictions were right")


def test_majority_share_equals_one_half_for_equal_class_counts():
    assert majority_share(made(percent(70, 65, 75), HALVES)) == 0.5
