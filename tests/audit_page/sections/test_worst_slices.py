"""Where it is worst: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import FNR, FPR, asked, audited, group, model, of, plain
from balframe.audit_page.measured_slices import Search, Slice
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.worst_slices import (
    SELECTION,
    conditions,
    in_brief,
    searched,
    worst,
)


def found(n_tests=54, n_explained=0, conditions=((0, "A"),), difference=(0.23, 0.18, 0.27)):
    return Slice(conditions, 60, 0.45, 0.22, Estimate(*difference), 0.0001, n_tests, n_explained)


def test_conditions_are_joined():
    assert plain(conditions(found(conditions=((0, "Female"), (2, "under 25"))))) == (
        "Female and “under 25”"
    )
    assert plain(conditions(found(conditions=((0, None),)))) == "(missing)"


def test_the_worst_of_each_error_is_named_with_limits():
    said = plain(in_brief([Search(FPR, [found(), found()]), Search(FNR, [])]))
    assert said == (
        "Most clearly shown to fare worse than all others, A: 45% of those not re-arrested had "
        "been called high risk, against 22% of all others, +23 points (18 to 27)."
    )
    said = plain(
        in_brief([Search(FPR, [found()]), Search(FNR, [found(difference=(0.01, 0.001, 0.02))])])
    )
    assert "; A: 45% of those re-arrested had not been called high risk, against" in said
    assert said.endswith(", +1 point (0.1 to 2).")


def test_nothing_is_shown_to_fare_worse():
    said = "No combination of groups is shown to fare worse than all others together."
    assert in_brief([Search(FPR, []), Search(FNR, [], "too few rows")]) == in_brief([]) == said


TESTED = "54 combinations of groups with at least 30 people to count were tested;"
CAPTION = "“Called high risk, but not re-arrested”"


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (
            Search(FPR, [found(54, 9), found(54, 1)]),
            f"For {CAPTION} {TESTED} two are listed that are shown to be worse than all others. 10 "
            "more are left out, whose errors these explain.",
        ),
        (
            Search(FPR, [found(54, 1)]),
            f"For {CAPTION} {TESTED} one is listed that is shown to be worse than all others. One "
            "more is left out, whose errors these explain.",
        ),
        (
            Search(FPR, [found(1)]),
            f"For {CAPTION} 1 combination of groups with at least 30 people to count was tested; "
            "one is listed that is shown to be worse than all others.",
        ),
        (
            Search(FPR, []),
            f"For {CAPTION} no combination of groups with at least 30 people to count, inside and "
            "outside of it, is shown to be worse than all others. Nothing here says that all is "
            "well with smaller ones.",
        ),
        (
            Search(FPR, [], "too few rows"),
            f"For {CAPTION} nothing could be searched: too few rows.",
        ),
    ],
)
def test_a_search_says_what_it_found(search, said):
    assert plain(searched(search, asked())) == said


def test_the_section_needs_columns():
    assert isinstance(worst(audited(model(), by=[])), LeftOut)


def test_only_errors_with_slices_have_tables():
    whole = group(None, 60, 40, 30, {"false_positive_rate": of(32, 31, 34)})
    some = worst(audited(model(overall=whole, searches=[Search(FPR, [found()]), Search(FNR, [])])))
    assert [type(one).__name__ for one in some.blocks] == ["Paragraph", "Paragraph", "Table"]
    assert some.blocks[1].text == SELECTION
    (row,) = some.blocks[2].groups[0].rows
    assert plain(row.heading) == "A"
    assert [(cell.text, cell.limits) for cell in row.cells] == [
        ("60", ""),
        ("45%", ""),
        ("", ""),
        ("22%", ""),
        ("+23", "18 to 27"),
        ("<.001", ""),
    ]
    none = worst(audited(model(overall=whole, searches=[Search(FPR, []), Search(FNR, [])])))
    assert [type(one).__name__ for one in none.blocks] == ["Paragraph"]
