"""Which errors are made, and on whom they fall: each sentence with both outcomes."""

from dataclasses import replace

import pytest

from balframe.audit_page.groups import NOT_COMPARED, ColumnFigures, GroupFigures
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.rates import page_rates
from balframe.audit_page.request import Words
from balframe.audit_page.sections.errors_by_group import (
    column_distance,
    column_summary,
    distances,
    kinds,
    overall_summary,
    section,
)
from tests.support.audits.figures import (
    FNR,
    FPR,
    RATES,
    apart,
    audit,
    column,
    compare,
    difference,
    group,
    make_cells,
    make_request,
    model,
    percent,
    plain,
    with_request,
)
from tests.support.cases import cases

GROUPS = [group("A"), group("B")]
SHOWN = apart(15, 45, 21, 38)
OTHER = apart(28, 68, 26, 52, "B", "A")
OPEN = apart(30, 32, 0, 7)
OPEN_WIDE = apart(15, 45, 0, 38)
OPEN_TOO = apart(37, 39, 0, 10)


def summary(fpr, fnr):
    race = column(GROUPS, false_positive_rate=fpr, false_negative_rate=fnr)
    return plain(column_summary(race, "Race", RATES.errors))


def test_summary_states_two_significant_error_differences():
    assert summary(SHOWN, OTHER) == (
        "Race: of those not re-arrested, from 15% for A to 45% for B had been called high risk, 30 "
        "points apart (21 to 38); of those re-arrested, from 28% for B to 68% for A had not been "
        "called high risk, 40 points apart (26 to 52)."
    )


def test_summary_states_significant_and_nonsignificant_error():
    assert summary(SHOWN, OPEN_TOO) == (
        "Race: of those not re-arrested, from 15% for A to 45% for B had been called high risk, 30 "
        "points apart (21 to 38); of those re-arrested, no difference is established; it may be "
        "up to 10 points."
    )


def test_summary_states_that_neither_error_differs_significantly():
    assert summary(OPEN, OPEN_TOO) == (
        "Race: no difference in these errors is established; it may be up to 7 points for "
        "those not re-arrested and 10 points for those re-arrested."
    )


def test_summary_states_nonsignificance_of_the_only_comparable_error():
    assert summary(apart(30, 30.5, 0, 1), NOT_COMPARED) == (
        "Race: no difference in these errors is established; it may be up to 1 point."
    )


def test_summary_states_that_too_few_groups_are_comparable():
    assert summary(NOT_COMPARED, NOT_COMPARED) == (
        "Race: fewer than two groups are large enough to compare."
    )


def test_lower_limit_above_0_is_not_rounded_to_0():
    assert "30 points apart (0.3 to 38)" in summary(apart(15, 45, 0.3, 38), OPEN)


def test_summary_details_the_two_largest_of_many_error_differences():
    labels = tuple("abcd")
    rates = page_rates(make_cells({(one, one): 10 for one in labels}, labels, None)).errors
    numbers = [apart(10, 20, 5, 15), apart(10, 40, 20, 40), apart(10, 30, 10, 30), OPEN]
    race = column_of(dict(zip(rates, numbers, strict=True)))
    said = plain(column_summary(race, "Race", rates))
    assert said.count(" apart (") == 2
    assert "30 points apart (20 to 40)" in said
    assert "20 points apart (10 to 30)" in said
    assert "; in one more of the errors a difference is established; of those" in said
    assert said.endswith("no difference is established; it may be up to 7 points.")
    all_open = dict.fromkeys(rates, OPEN) | {rates[0]: OPEN_TOO}
    said = plain(column_summary(column_of(all_open), "Race", rates))
    assert said == "Race: no difference in these errors is established; it may be up to 10 points."


def column_of(extremes):
    """Make a column with the groups furthest apart by rate."""
    return ColumnFigures(0, GROUPS, GROUPS, {rate: compare({}, x) for rate, x in extremes.items()})


def test_a_group_that_differs_from_all_others_raises_the_lower_limit_of_the_distance():
    """Others of three groups lie between the two that are furthest apart."""
    differences = {"A": difference(-20, -24, -16, 0.001), "B": difference(12, 6, 18, 0.001)}
    race = column(
        [*GROUPS, group("C")], differences={FPR.metric: differences}, false_positive_rate=OPEN_WIDE
    )
    assert plain(column_distance("race", race.extremes(FPR))) == (
        "By race, 30 points (16 to 38), from 15% for A to 45% for B."
    )


@cases(
    ("found", "said"),
    [
        (SHOWN, "By race, 30 points (21 to 38), from 15% for A to 45% for B."),
        (apart(15, 16, 0.4, 3), "By race, 1 point (0.4 to 3), from 15% for A to 16% for B."),
        (OPEN, "By race, no difference is established; it may be up to 7 points."),
        (NOT_COMPARED, "By race, fewer than two groups are large enough to compare."),
    ],
)
def test_column_sentence_states_distance_between_furthest_groups(found, said):
    assert plain(column_distance("race", found)) == said


def test_distances_of_both_errors_are_stated_in_order():
    made = model([column(GROUPS, false_positive_rate=SHOWN, false_negative_rate=OPEN)])
    first, second = (plain(distances(made, rate)) for rate in (FPR, FNR))
    assert first.startswith(
        "How far apart are the groups in “called high risk, but not re-arrested”? By race, 30 "
        "points"
    )
    assert second.startswith(
        "How far apart are the groups in “not called high risk, but re-arrested”? By race, no "
        "difference is established;"
    )


def _whole(**rates):
    return group(None, 60, 40, 30, rates)


BOTH = _whole(false_positive_rate=percent(32, 31, 34), false_negative_rate=percent(37, 36, 39))
ONE = _whole(false_positive_rate=percent(32, 31, 34), false_negative_rate=percent(None))
NONE = _whole(false_positive_rate=percent(None), false_negative_rate=percent(None))


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        (
            BOTH,
            "32% (31 to 34) of those not re-arrested had been called high risk, and 37% (36 to "
            "39) of those re-arrested had not been called high risk.",
        ),
        (ONE, "32% (31 to 34) of those not re-arrested had been called high risk."),
        (NONE, "No error rate is defined: one of the outcomes does not occur."),
    ],
)
def test_overall_summary_states_each_defined_error_rate(whole, said):
    assert plain(overall_summary(model(overall=whole))) == said


def test_kinds_of_error_are_explained_with_overall_rates():
    assert plain(kinds(model(overall=BOTH))) == (
        "Predictions can be right equally often in two groups, and wrong in different ways. There "
        "are two errors: called high risk, but not re-arrested; and not called high risk, but "
        "re-arrested. 32% (31 to 34) of those not re-arrested had been called high risk. 37% (36 "
        "to 39) of those re-arrested had not been called high risk."
    )
    said = plain(kinds(with_request(model(overall=NONE), by=[])))
    assert said.startswith("Predictions can be wrong in different ways. There are two errors: ")
    assert said.endswith(
        " One of the outcomes does not occur, so one of the errors cannot be made."
    )


@pytest.mark.parametrize(
    ("favourable", "said"),
    [
        (None, " had not been called high risk."),
        (
            "not selected",
            " The favourable result for a person is “not called high risk”, as was stated for this "
            "audit. So the page counts “called high risk, but not re-arrested” as the error that "
            "harms: a group fares worse where it is more frequent. The other error may harm "
            "others.",
        ),
        (
            "selected",
            " The favourable result for a person is “called high risk”, as was stated for this "
            "audit. So the page counts “not called high risk, but re-arrested” as the error that "
            "harms: a group fares worse where it is more frequent. The other error may harm "
            "others.",
        ),
    ],
)
def test_the_error_that_harms_is_named_only_if_it_is_known(favourable, said):
    made = with_request(model(overall=BOTH), favourable=favourable)
    rates = page_rates(made.cells)
    overall = replace(made.overall, rates=dict(zip(rates.all, BOTH.rates.values(), strict=True)))
    assert plain(kinds(replace(made, rates=rates, overall=overall))).endswith(said)


def _of_labels(n):
    labels = tuple("abcdefghij"[:n])
    request = make_request(words=Words(None, None, "person", "people"))
    counts = {(label, label): 10 + i for i, label in enumerate(labels)}
    cells = make_cells(counts, labels, None, request=request)
    rates = page_rates(cells)
    estimates = {rate: Estimate(0.1, 0.05, 0.2, 10) for rate in rates.all}
    estimates[rates.errors[1]] = Estimate(0.3, 0.2, 0.4, 10)
    overall = GroupFigures(None, None, 100, {}, {}, estimates, None, 30)
    return model(overall=overall, cells=cells, rates=rates)


def test_the_label_missed_most_often_is_named():
    assert plain(overall_summary(_of_labels(3))) == (
        "The label missed most often: 30% (20 to 40) of those labelled b had not been predicted b."
    )


def test_several_labels_have_an_error_for_each_frequent_label():
    said = plain(kinds(_of_labels(3)))
    assert said.startswith(
        "Predictions can be right equally often in two groups, and wrong in different ways. For "
        "each label, an error is to miss it. 10% (5 to "
        "20) of those labelled a had not been predicted a; 30% (20 to 40) of those labelled b had "
        "not been predicted b;"
    )
    assert ", here the 8 most frequent, an error is to miss it." in plain(kinds(_of_labels(10)))


def test_the_heading_names_people_only_where_there_are_groups():
    with_groups = section(audit(model([column(GROUPS)], BOTH)))
    without = section(audit(model(overall=BOTH), by=[]))
    assert with_groups.question == "Which errors are made, and on whom do they fall?"
    assert without.question == "Which errors are made?"
    assert len(with_groups.brief) == 2
    assert len(without.blocks) == len(without.brief) == 1


def test_tables_list_each_error_by_group_and_mark_small_groups():
    small = group("C", 20, 100, 50, {"false_positive_rate": percent(9, 2, 27)})
    undefined = group("D", 0, 100, 50, {"false_positive_rate": percent(None)})
    errors = section(audit(model([column([*GROUPS, small, undefined])], BOTH)))
    first, _ = errors.blocks[-2].blocks
    assert plain(first.caption) == "Called high risk, but not re-arrested"
    assert plain(first.note) == "Share of those not re-arrested. False positive rate."
    rows = first.groups[0].rows
    assert [row.is_small for row in rows] == [False, False, True, True]
    assert [(row.cells[0].text, row.cells[1].text, row.cells[1].limits) for row in rows[2:]] == [
        ("20", "9%", "2 to 27"),
        ("0", "undefined", ""),
    ]


def test_undefined_error_rate_has_no_table():
    errors = section(audit(model([column(GROUPS)], ONE)))
    first = errors.blocks[-2]
    assert plain(first.caption) == "Called high risk, but not re-arrested"
