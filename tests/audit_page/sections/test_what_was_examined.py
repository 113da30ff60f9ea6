"""What was examined: each sentence with both outcomes."""

from dataclasses import replace

import pytest

from balframe.audit_page.scores import ScoreCounts
from balframe.audit_page.sections.what_was_examined import (
    called_summary,
    missing,
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

SCORES = ScoreCounts([1.0], [100], [100], None)

LABELLED = replace(WORDS, truth=None, call=None)


def overall(**changes):
    """Make 40 re-arrested of 100, 30 of them called."""
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


def test_the_brief_names_the_model_among_several():
    said = plain(summary(model(overall=overall(), name="p"), WORDS))
    assert said.endswith("and 30% had been called high risk by p.")
    assert plain(called_summary(model(overall=overall(), name="q"), WORDS)) == (
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
        "100 people, each with what happened (re-arrested, or not) and with the call that was made "
        "(called high risk, or not). 40 of them (40%) were re-arrested; 30 (30%) had been called "
        "high risk. No value of race, of the outcome or of the call is missing."
    )


def test_the_section_of_several_labels_names_the_most_frequent():
    examined = section(audit(of_three(), words=LABELLED, by=[]))
    assert plain(examined.blocks[0].text) == (
        "10 people, each with what happened and with the call that was made, one of 3 labels. The "
        "most frequent: 5 (50%) were labelled a. No value of the outcome or of the call is missing."
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
    return [plain(text) for text in missing(with_request(examined, by=by))]


def test_missing_group_values_are_counted_as_a_group_of_their_own():
    said = _missing([group("A"), group(None, 2, 1)])
    assert said == [
        "3 people have no value of race; they are a group of their own.",
        "No value of the outcome or of the call is missing.",
    ]


def test_single_missing_group_value_is_in_the_singular():
    assert _missing([group(None, 1, 0)])[0] == (
        "1 person has no value of race; they are a group of their own."
    )


def test_rows_left_out_are_counted():
    assert _missing([group("A")], n_missing=12) == [
        "12 people without a value of the outcome or of the call were left out."
    ]
    assert _missing([group("A")], n_missing=1, scores=SCORES) == [
        "1 person without a value of the outcome, of the call or of the score was left out."
    ]


def test_section_states_that_no_value_is_missing():
    assert _missing([group("A")], scores=SCORES) == [
        "No value of race, of the outcome, of the call or of the score is missing."
    ]
    assert _missing([], by=()) == ["No value of the outcome or of the call is missing."]


@pytest.mark.parametrize(("positives", "is_small"), [(29, True), (30, False)])
def test_group_with_29_rows_of_an_outcome_is_marked_small(positives, is_small):
    examined = section(audit(model([column([group("A", 100, positives)])], overall())))
    (row,) = examined.blocks[1].groups[0].rows
    assert row.is_small == is_small
    assert [cell.text for cell in row.cells[:1]] == [str(100 + positives)]
    note = plain(examined.blocks[2].text)
    assert note.startswith("In grey italics: groups with fewer than 30 people on one side of the ")


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
        "1 more column was examined in the same way and is not shown: column6. Their comparisons"
        in said(7)
    )
    assert "2 more columns were examined in the same way and are not shown: column6, column7" in (
        said(8)
    )


def test_without_columns_there_is_no_table():
    assert len(section(audit(model(overall=overall()), by=[])).blocks) == 1
