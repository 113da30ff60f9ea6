"""Who is called how often: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import asked, audited, counted, model, plain
from balframe.audit_page.groups import Difference
from balframe.audit_page.measured_criteria import Selected, Selections
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.selection_rates import beside_bound, in_brief, selections, written


def selected(value, ratio=(None, None, None), adjusted=None, role="compared", n=100):
    of = Estimate(*ratio, n)
    return Selected(
        value, role, 30, Estimate(0.3, 0.2, 0.4, n), of, Difference(of, adjusted, adjusted)
    )


TOP = selected("Top", (1.0, 1.0, 1.0))
LOW = selected("Low", (0.36, 0.29, 0.45), 0.0001)
ABOVE = selected("Above", (0.9, 0.8, 0.97), 0.005)
OPEN = selected("Open", (0.85, 0.7, 1.02), 0.09)
SMALL = selected("Small", role="small", n=2)
UNKNOWN = selected(None, role="unknown")


def found(*categories, bound=0.8):
    return Selections(0, list(categories), "Top", bound)


def made(*of):
    return model(selections=list(of))


def test_the_lowest_ratio_is_named_with_limits():
    said = [plain(one) for one in in_brief(made(None, found(TOP, OPEN, LOW, SMALL)), asked())]
    assert said == [
        "The lowest ratio: Low (race) had been called high risk 0.36 (0.29 to 0.45) times as often "
        "as Top."
    ]


def test_a_difference_that_is_not_shown_is_said_not_to_be():
    said = [plain(one) for one in in_brief(made(found(TOP, OPEN)), asked())]
    assert said == [
        "The lowest ratio: Open (race) had been called high risk 0.85 (0.70 to 1.02) times as "
        "often as Top; a difference is not shown."
    ]


def test_without_ratios_nothing_is_said_in_brief():
    assert in_brief(made(found(TOP, SMALL, UNKNOWN)), asked()) == []
    assert in_brief(made(None), asked()) == []


def test_no_limit_of_a_ratio_is_rounded_onto_the_bound():
    assert written(Estimate(0.75, 0.7, 0.7996), 0.8) == "0.75 (0.70 to 0.7996)"
    assert written(Estimate(0.85, 0.8004, 0.9), 0.8) == "0.85 (0.8004 to 0.90)"
    assert written(Estimate(0.85, 0.8, 0.9996), 0.8) == "0.85 (0.80 to 0.9996)"


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        ([TOP, LOW], "the limits of one ratio lie below 0.8."),
        ([TOP, LOW, LOW, LOW], "the limits of three ratios lie below 0.8."),
        ([TOP, ABOVE], "the limits of one ratio lie at or above 0.8."),
        ([TOP, OPEN], "the limits of one ratio include 0.8."),
        (
            [TOP, LOW, ABOVE, OPEN, OPEN, SMALL],
            "the limits of one ratio lie below 0.8, of one lie at or above 0.8 and of two include "
            "0.8.",
        ),
        ([TOP, SMALL, UNKNOWN], "no ratio has limits."),
        ([TOP, selected("Just", (0.75, 0.7, 0.8), 0.01)], "the limits of one ratio include 0.8."),
    ],
)
def test_ratios_are_counted_beside_the_bound(categories, said):
    assert beside_bound(found(*categories)) == said


def test_the_section_needs_columns_two_calls_and_a_ratio():
    assert isinstance(selections(audited(model(), by=[])), LeftOut)
    many = counted({(one, one): 5 for one in "abc"}, tuple("abc"), None)
    assert isinstance(selections(audited(model(read=many))), LeftOut)
    nobody = selections(audited(made(None)))
    assert isinstance(nobody, LeftOut)
    assert (
        nobody.why == "no two groups could be compared: nobody was called, or all are of one group"
    )


def test_a_model_that_calls_nobody_beside_another_says_so():
    section = selections(audited(made(found(TOP, LOW)), made(None)))
    assert section.blocks[-1].text == (
        "Nobody was called, or all are of one group: there is nothing to compare."
    )
    assert len(section.brief) == 1


def test_the_table_has_ratios_of_those_compared():
    rows = selections(audited(made(found(TOP, LOW, SMALL, UNKNOWN)))).blocks[-1].groups[0].rows
    assert [plain(row.heading) for row in rows] == ["Top", "Low", "Small", "(missing)"]
    assert [(row.cells[3].text, row.cells[3].limits) for row in rows] == [
        ("1.00", ""),
        ("0.36", "0.29 to 0.45"),
        ("\N{EN DASH}", ""),
        ("\N{EN DASH}", ""),
    ]
    assert [row.is_small for row in rows] == [False, False, True, True]
    assert [row.differs for row in rows] == [False, True, False, False]
