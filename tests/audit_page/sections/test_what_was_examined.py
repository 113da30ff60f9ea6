"""What was examined: each sentence with both outcomes."""

from dataclasses import replace

import pytest

import balframe as bf
from balframe.audit_page.scores import ScoreCounts
from balframe.audit_page.sections.missing_values import bins_sentence, without_group
from balframe.audit_page.sections.what_was_examined import (
    nothing_missing,
    predicted_summary,
    section,
    summary,
)
from tests.support.audits.figures import (
    THREE,
    TWO,
    WORDS,
    audit,
    column,
    group,
    make_cells,
    model,
    plain,
    texts,
    with_request,
)
from tests.support.cases import cases

SCORES = ScoreCounts([1.0], [100], [100], None)

LARGE, SMALL = group("A", 30, 30), group("B", 29, 30)
WITHHELD = replace(LARGE, value="W", is_withheld=True)
LABELLED = replace(WORDS, truth=None, selected=None)


def overall(**changes):
    """Make 40 re-arrested of 100, 30 of them selected."""
    return replace(group(None, 60, 40, 30), **changes)


def of_three(n=10):
    return model(cells=THREE, overall=overall(n=n, n_true={"a": 5, "b": 3, "c": 2}))


def test_summary_counts_rows_outcomes_and_predicted_positives():
    said = plain(summary(model(overall=overall()), WORDS))
    assert (
        said == "100 people were examined; 40% were re-arrested, and 30% had been called high risk."
    )


def test_summary_of_one_row_is_in_the_singular():
    one = group(None, 0, 1, 0)
    said = plain(summary(model(overall=one), WORDS))
    assert said == "1 person was examined; 100% were re-arrested, and 0% had been called high risk."


@cases(
    ("groups", "said"),
    [
        ([LARGE, LARGE], " called high risk."),
        ([SMALL], " called high risk; the only group is too small to compare."),
        ([SMALL, LARGE], " called high risk; 1 of 2 groups is too small to compare."),
        ([SMALL, LARGE, SMALL], " called high risk; 2 of 3 groups are too small to compare."),
        ([WITHHELD, LARGE], " called high risk; 1 of 2 groups is withheld."),
        (
            [WITHHELD, LARGE, SMALL],
            " called high risk; 2 of 3 groups are too small to compare or withheld.",
        ),
    ],
)
def test_summary_counts_groups_that_are_too_small_to_compare(groups, said):
    assert plain(summary(model([column(groups)], overall()), WORDS)).endswith(f"30% had been{said}")


def test_the_brief_names_the_model_among_several():
    said = plain(summary(model(overall=overall(), name="p"), WORDS))
    assert said.endswith("and 30% had been called high risk by p.")
    assert plain(predicted_summary(model(overall=overall(), name="q"), WORDS)) == (
        "30% of 100 people had been called high risk."
    )


def test_summary_names_the_labels_if_no_words_are_passed():
    said = plain(summary(with_request(model(overall=overall()), words=LABELLED), LABELLED))
    assert said == "100 people were examined; 40% were labelled 1, and 30% had been predicted 1."


def test_the_brief_of_several_labels_counts_them():
    assert plain(summary(of_three(), LABELLED)) == "10 people were examined, with 3 labels."
    one = make_cells({("a", "a"): 5}, labels=("a",), positive=None)
    said = plain(summary(model(cells=one, overall=overall(n=5)), LABELLED))
    assert said == "5 people were examined, with 1 label."


def test_section_counts_outcomes_and_predicted_positives():
    examined = section(audit(model([column([group("A")])], overall())))
    assert plain(examined.blocks[0].text) == (
        "100 people, each with what happened (re-arrested, or not) and the prediction (called "
        "high risk, or not). 40 of them (40%) were re-arrested; 30 (30%) had been called high "
        "risk. No value of race, of the outcome or of the prediction is missing."
    )


def test_the_section_of_several_labels_names_the_most_frequent():
    examined = section(audit(of_three(), words=LABELLED, by=[]))
    assert plain(examined.blocks[0].text) == (
        "10 people, each with what happened and the prediction, one of 3 labels. The "
        "most frequent: 5 (50%) were labelled a. No value of the outcome or of the prediction is "
        "missing."
    )


def test_summary_has_a_sentence_for_each_further_model():
    first, second = model(overall=overall(), name="p"), model(overall=overall(), name="q")
    examined = section(audit(first, second))
    assert plain(examined.brief[1]) == "q: 30% of 100 people had been called high risk."
    assert len(examined.brief) == 2


def test_section_states_how_scores_were_rounded():
    few = section(audit(model(overall=overall(), cells=TWO)))
    many = section(audit(model(overall=overall(), cells=replace(TWO, step=0.001))))
    said = "There are very many different scores; they were rounded down to multiples of 0.001."
    assert said not in plain(few.blocks[0].text)
    assert said in plain(many.blocks[0].text)


def _missing(groups, n_missing=0, by=("race",), scores=None):
    columns, cells = [column(groups)] if by else [], replace(TWO, n_missing=n_missing)
    examined = model(columns, overall(), cells=cells, scores=scores)
    examined = with_request(examined, by=by)
    said = [without_group(examined), nothing_missing(audit(examined, by=by))]
    return [plain(text) for text in said if text]


def test_missing_group_values_are_counted_as_a_group_of_their_own():
    said = _missing([group("A"), group(None, 2, 1)])
    assert said == [
        "3 people have no value of race; they are a group of their own.",
        "No value of the outcome or of the prediction is missing.",
    ]


def test_single_missing_group_value_is_in_the_singular():
    assert _missing([group(None, 1, 0)])[0] == (
        "1 person has no value of race; they are a group of their own."
    )


def test_page_with_rows_left_out_does_not_say_that_nothing_is_missing():
    assert _missing([group("A")], n_missing=12) == []


def test_section_states_that_no_value_is_missing():
    assert _missing([group("A")], scores=SCORES) == [
        "No value of race, of the outcome, of the prediction or of the score is missing."
    ]
    assert _missing([], by=()) == ["No value of the outcome or of the prediction is missing."]


@pytest.mark.parametrize(
    ("bins", "said"),
    [
        ({}, ""),
        ({0: bf.bins("age", [3])}, "Age is cut into bins."),
        (
            {0: bf.bins("age", [3]), 1: bf.bins("income", [-5, 3])},
            "Age and income are cut into bins; “-5 to 3” includes -5 and excludes 3.",
        ),
    ],
)
def test_section_states_which_columns_were_cut_into_bins(bins, said):
    cells = replace(TWO, bins=bins)
    made = with_request(model(overall=overall(), cells=cells), by=["age", "income"])
    assert plain(bins_sentence(made)) == said


@pytest.mark.parametrize(("positives", "is_small"), [(29, True), (30, False)])
def test_group_with_29_rows_of_an_outcome_is_marked_small(positives, is_small):
    examined = section(audit(model([column([group("A", 100, positives)])], overall())))
    (row,) = examined.blocks[1].groups[0].rows
    assert row.is_small == is_small
    assert [cell.text for cell in row.cells[:1]] == [str(100 + positives)]
    note = plain(examined.blocks[2].text)
    assert note == (
        "In italics: groups with fewer than 30 people on one side of the outcome. They are in no "
        "comparison, and no sentence on rates is about them."
        if is_small
        else "Every group has at least 30 people on each side of the outcome, so all are compared."
    )


def test_note_on_small_groups_names_those_withheld():
    notes = [
        plain(section(audit(model([column(groups)], overall()))).blocks[2].text)
        for groups in ([LARGE, WITHHELD], [SMALL, WITHHELD])
    ]
    said = (
        "In italics: groups with fewer than 30 people on one side of the outcome, and groups "
        "whose figures are withheld. They are in no comparison, and no sentence on rates is about "
        "them."
    )
    assert notes == [said, said]


def test_table_has_shares_of_all_rows_and_of_group_rows():
    made = model([column([group("A", 30, 10, 10)])], group(None, 60, 40, 30))
    (row,) = section(audit(made)).blocks[1].groups[0].rows
    assert [cell.text for cell in row.cells] == ["40", "40%", "10", "25%", "10", "25%"]


def test_columns_past_the_sixth_are_counted():
    def said(n):
        made = model([column([group("A")], at) for at in range(n)], overall())
        names = [f"column{at}" for at in range(n)]
        return " ".join(texts(section(audit(made, by=names)).blocks))

    assert "more column" not in said(6)
    assert (
        "1 more column is only searched for combinations of groups, and not shown on its own: "
        in (said(7))
    )
    assert said(8).endswith(" and not shown on their own: column6, column7.")


def test_without_columns_there_is_no_table():
    assert len(section(audit(model(overall=overall()), by=[])).blocks) == 1
