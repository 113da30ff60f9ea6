"""What cannot be said: each sentence with both outcomes."""

from dataclasses import replace

from balframe.audit_page.request import Words
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.limitations import (
    caution,
    error_rate,
    section,
    small_groups,
    small_groups_sentence,
)
from tests.support.audits.figures import THREE, audit, column, group, make_request, model, plain
from tests.support.cases import cases

LARGE, SMALL = group("A"), group("C", 3, 2)
MISSED = LeftOut("Are the agreed rules met?", "no rules were given")


def items(made, left_out=(), n_searches=0, **changes):
    (bullets,) = section(audit(made, **changes), left_out, n_searches).blocks
    return {plain(start): plain(text) for start, text in bullets.items}


def test_limitation_on_outcomes_says_that_they_may_be_known_for_some_only():
    assert items(model())["How the outcome of everybody is known."] == (
        "The data have an outcome for each person examined, also for those who were not selected. "
        "This page cannot say how it became known."
    )


def test_small_groups_are_counted_and_not_named():
    limits = items(model([column([LARGE, SMALL])]))
    assert limits["Anything about small groups."] == (
        "One group has fewer than 30 people with one of the outcomes, or in a rate. That no "
        "sentence is about it does not mean that all is well."
    )
    assert "Anything about small groups." not in items(model([column([LARGE])]))


def test_several_small_groups_are_in_the_plural():
    assert small_groups_sentence(2, make_request()) == (
        "Two groups have fewer than 30 people with one of the outcomes, or in a rate. That no "
        "sentence is about them does not mean that all is well."
    )
    assert "fewer than 1 person with" in small_groups_sentence(2, make_request(min_support=1))


def test_group_with_29_rows_of_an_outcome_is_small():
    assert small_groups(model([column([group("A", 30, 30)])])) == 0
    assert small_groups(model([column([group("A", 29, 30)])])) == 1
    assert small_groups(model([column([group("A", 29, 30), group("B", 90, 2)]) for _ in "xy"])) == 4


def test_withheld_groups_are_not_counted_as_small():
    assert small_groups(model([column([LARGE, replace(SMALL, is_withheld=True)])])) == 0


def test_groups_that_are_not_shown_are_not_counted_as_small():
    not_shown = replace(column([LARGE, SMALL]), largest_groups=[LARGE])
    assert small_groups(model([not_shown])) == 0


def test_equality_of_groups_is_a_limitation_only_with_groups():
    assert "That groups are equal." in items(model([column([LARGE])]))
    assert "That groups are equal." not in items(model(), by=[])


def test_sections_left_out_are_listed_with_their_reasons():
    assert items(model(), [MISSED, MISSED])["What is left out."] == (
        "Left out of this page: “Are the agreed rules met?” (no rules were given); “Are the agreed "
        "rules met?” (no rules were given)."
    )
    assert "What is left out." not in items(model())


def test_limitation_on_the_outcome_names_the_outcome():
    assert "Whether “re-arrested” is what it is taken for." in items(model())
    assert "Whether “the outcome” is what it is taken for." in items(model(cells=THREE))


def test_limitation_on_repeated_rows_names_the_unit():
    assert (
        "several rows are about the same person, or"
        in items(model())["More than the rows can show."]
    )
    rows = Words(None, None, "row", "rows")
    found = items(model(), words=rows)
    assert "about the same person or thing, or" in found["More than the rows can show."]
    assert "about these 100 rows," in found["Anything about those who are not in the data."]


SEARCHES = (
    "This page makes comparisons, which are adjusted together, and two searches for combinations "
    "of groups. If no groups differed at all, each of these would still report a difference in at "
    "most "
)


@cases(
    ("level", "n_models", "said"),
    [
        (
            0.95,
            1,
            "5% of audits. Together, in simulated audits, they do in 7 to 10 of 100.",
        ),
        (0.99, 1, "1% of audits. Together they do so more often."),
        (0.95, 2, "5% of audits. Together they do so more often."),
    ],
)
def test_section_states_how_often_comparisons_and_searches_err(level, n_models, said):
    page = audit(*[model()] * n_models, level=level)
    assert error_rate(page, 2) == SEARCHES + said
    assert "and one search for combinations" in error_rate(page, 1)
    real = items(model(), n_searches=2)["That every difference is real."]
    assert real == error_rate(audit(model()), 2)


def test_without_searches_only_comparisons_err():
    assert error_rate(audit(model()), 0) == (
        "If no groups differed at all, the comparisons on this page together would still report a "
        "difference in at most 5% of audits."
    )
    assert "That every difference is real." not in items(model(), by=[])


def test_the_caution_explains_intervals_and_what_is_established():
    audited = audit(model([column([LARGE, SMALL])]))
    assert caution(audited, 0) == (
        "In brackets: the 95% confidence interval. Of a difference or a ratio it is wider, because "
        "it allows for all comparisons on this page. A difference is established where chance "
        "alone would rarely produce it. Numbers are rounded after differences are computed. The "
        "page shows whether rates differ, not why, nor whether that is lawful or fair. Its terms "
        "are explained at its end."
    )
    assert "; that of a combination of groups allows for its search. A" in caution(audited, 2)
    assert caution(audit(model(), level=0.995), 0).startswith(
        "In brackets: the 99.5% confidence interval."
    )
