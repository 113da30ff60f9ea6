"""Where errors are most frequent: each sentence with both outcomes."""

from dataclasses import replace
from itertools import product

import polars as pl
import pytest

import balframe as bf
from balframe.api.value_naming import ValueNaming
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import worst_slices
from balframe.audit_page.sections.worst_slices import (
    ONE_COLUMN,
    SELECTION,
    Search,
    count_searches,
    search_sentence,
    section,
    summary,
)
from tests.support.audits.figures import FNR, FPR, audit, group, make_request, model, percent, plain
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases


def found(n_tests=54, difference=(0.23, 0.18, 0.27), **values):
    """Make a row of `slices`."""
    values = values or {"by0": "A", "by1": "F"}
    row = dict(zip(("difference", "lower", "upper"), difference, strict=True))
    row |= {"on": ", ".join(values), "by0": None, "by1": None, "by2": None, **values}
    row |= {"n": 80, "min_support": 60, "estimate": 0.45, "rest": 0.22, "p_adjusted": 0.0001}
    return row | {"n_tests": n_tests}


REQUEST = make_request(["race", "sex"])
START = "Combinations of groups with more errors than their single groups explain: "


def test_conditions_are_joined_in_the_order_of_the_columns():
    two, request = found(by2="under 25", by0="Female"), make_request(["sex", "race", "age"])
    said = plain(summary([Search(FPR, [two])], 1, request))
    assert said.startswith(f"{START}Female and “under 25”: 45% of")
    unknown = Search(FPR, [found(by0=None, by1="F")])
    assert ": (missing) and F: 45% of" in plain(summary([unknown], 1, REQUEST))


def test_groups_whose_value_may_be_of_any_column_are_named_with_it():
    naming = ValueNaming.of({"by0": ["no", "yes"], "by1": ["F", None], "by2": [25, 35]})
    rows = [found(by0="yes", by1="F"), found(by1=None, by2=25), found(by0="no", by2="35")]
    searches = [Search(FPR, rows, naming=naming), Search(FNR, rows[1:], naming=naming)]
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    page = section(audit(model(overall=whole), by=["smoker", "sex", "age"]), [searches])

    assert ": smoker=yes and F: 45% of" in plain(page.brief[0])
    assert "; sex=(missing) and age=25: 45% of" in plain(page.brief[0])
    table = next(block for block in page.blocks if type(block).__name__ == "Table")
    assert [plain(row.heading) for row in table.groups[0].rows] == [
        "smoker=yes, F",
        "sex=(missing), age=25",
        "smoker=no, age=35",
    ]


def rows_of_smokers():
    """Make rows of which half are smokers; smokers without insurance are missed most often."""
    rows = [
        {"smoker": smoker, "insured": insured, "sex": sex, "y": y, "p": p, "n": n}
        for smoker, insured, sex in product(["yes", "no"], ["yes", "no"], "FM")
        for y, p, n in (
            [(1, 1, 5), (1, 0, 70)]
            if (smoker, insured) == ("yes", "no")
            else [(1, 1, 68), (1, 0, 7)]
        )
        + [(0, 0, 40)]
    ]
    return pl.DataFrame(rows)


def combinations(data, **changes):
    audited = audit_of(data, by=("smoker", "insured", "sex"), options={"counts": "n"}, **changes)
    (searches,) = audited.of(worst_slices)
    table = next(
        block for block in audited.section(worst_slices).blocks if type(block).__name__ == "Table"
    )
    return searches, [plain(row.heading) for row in table.groups[0].rows]


def test_a_search_names_groups_by_the_values_of_all_columns():
    """Recall is 5 of 75 smokers without insurance, and 68 of 75 others, of each sex."""
    searches, headings = combinations(rows_of_smokers())

    assert headings[0] == "smoker=yes, insured=no"
    (first, *_) = searches[1].slices
    assert first["estimate"] == pytest.approx(140 / 150)
    assert first["rest"] == pytest.approx(42 / 450)


def test_single_groups_are_in_no_search_result(compas_audit):
    (searches,) = compas_audit.of(worst_slices)
    slices = [row for search in searches for row in search.slices]
    assert slices
    assert all("," in row["on"] for row in slices)
    for search in searches:
        rows = bf.slices(
            bf.datasets.compas_by_age_and_sex(),
            "reoffended",
            "high_risk",
            over=["sex", "race", "age"],
            metrics=search.rate.metric,
            depth=3,
            counts="n",
            detail=True,
            top=1000,
        ).to_dicts()
        expected = [row for row in rows if ", " in row["on"]][:6]
        assert [row["estimate"] for row in search.slices] == pytest.approx(
            [row["estimate"] for row in expected]
        )


def test_combinations_of_a_small_group_are_left_out():
    """Smokers among "none" are missed, but only 20 of "none" are not positive."""
    none = pl.DataFrame(
        {"smoker": ["yes", "no", "no"], "y": [1, 1, 0], "p": [0, 1, 0], "n": [60, 300, 20]}
    ).with_columns(insured=pl.lit("none"), sex=pl.lit("F"))
    data = pl.concat([rows_of_smokers(), none], how="diagonal_relaxed")
    _, headings = combinations(data, min_support=20)
    assert "none" in " ".join(headings)
    searches, headings = combinations(data, min_support=21)
    assert searches[1].slices
    assert "none" not in " ".join(headings)


def test_the_worst_of_each_error_is_named_with_limits():
    said = plain(summary([Search(FPR, [found(), found()]), Search(FNR, [])], 2, REQUEST))
    assert said == (
        f"{START}A and F: 45% of those not re-arrested had been called high risk, against 22% of "
        "all others together, +23 points (18 to 27) (also in the table: A and F)."
    )
    said = plain(
        summary(
            [Search(FPR, [found()]), Search(FNR, [found(difference=(0.01, 0.001, 0.02))])],
            2,
            REQUEST,
        )
    )
    assert "; A and F: 45% of those re-arrested had not been called high risk, against" in said
    assert said.endswith(", +1 point (0.1 to 2).")


def test_only_the_error_that_harms_is_worse():
    harm = replace(FPR, is_harm=True)
    searches = [Search(harm, [found(), found(), found()]), Search(FNR, [found()])]
    said = plain(summary(searches, 2, replace(REQUEST, favourable="not selected")))
    assert (
        ", +23 points (18 to 27), which is worse for them (also in the table: A and F; A and F); A "
        "and F: 45% of those re-arrested"
    ) in said
    assert said.endswith(", +23 points (18 to 27), an error in their favour.")
    assert plain(summary(searches[1:], 2, REQUEST)).endswith(", +23 points (18 to 27).")


def test_summary_states_that_no_slice_is_significantly_worse():
    said = (
        "Combinations of groups: none is established to have more errors than its single groups "
        "explain."
    )
    none = [Search(FPR, []), Search(FNR, [], "too few rows")]
    assert summary(none, 1, REQUEST) == summary([], 0, REQUEST) == said


def test_the_clearest_of_all_searches_is_named_where_it_passes_their_number():
    clear, unclear = found() | {"p_adjusted": 0.025}, found() | {"p_adjusted": 0.0251}
    searches = [Search(FPR, [unclear]), Search(FNR, [clear])]
    assert plain(summary(searches, 2, REQUEST)).startswith(
        f"{START}A and F: 45% of those re-arrested had not "
    )
    assert "; " not in plain(summary(searches, 2, REQUEST))
    assert plain(summary(searches, 1, REQUEST)).count("against") == 2
    assert summary(searches, 3, REQUEST) == (
        "Combinations of groups: two searches list some with more errors than all others; none is "
        "clear enough to stand out from the three searches of this page."
    )
    assert "one search lists some" in summary(searches[:1], 3, REQUEST)
    assert summary(searches, 3, replace(REQUEST, level=0.9)).startswith(START)


def test_searches_of_all_models_count():
    """One of four searches of two models lists a combination, which stays in its table."""
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    own = [Search(FPR, [found() | {"p_adjusted": 0.02}]), Search(FNR, [])]
    alone = section(audit(model(overall=whole), by=BOTH), [own])
    (said,) = alone.brief
    assert said.startswith(START)
    both = section(
        audit(model(overall=whole), model(overall=whole), by=BOTH),
        [own, [Search(FPR, []), Search(FNR, [])]],
    )
    assert "four searches of this page" in both.brief[0]
    tables = [block for block in both.blocks if type(block).__name__ == "Table"]
    assert [len(table.groups[0].rows) for table in tables] == [1]


def test_only_searches_that_were_made_are_counted():
    assert count_searches([]) == 0
    made = [Search(FPR, []), Search(FNR, [], "too few rows")]
    assert count_searches([made, made]) == 2


CAPTION = "“called high risk, but not re-arrested”"
NOT_EXPLAINED = (
    "established to have a higher rate than all others, and not explained by the ones listed "
    "before or by a single group."
)


@cases(
    ("search", "said"),
    [
        (
            Search(FPR, [found(54), found(54)]),
            f"For {CAPTION}, 54 groups and combinations with at least 30 people of that outcome "
            f"were searched. Two combinations are {NOT_EXPLAINED}",
        ),
        (
            Search(FPR, [found(54)]),
            f"For {CAPTION}, 54 groups and combinations with at least 30 people of that outcome "
            f"were searched. One combination is {NOT_EXPLAINED}",
        ),
        (
            Search(FPR, []),
            f"For {CAPTION}, no combination with at least 30 people of that outcome, inside and "
            "outside of it, is established to have a higher rate than its single groups explain.",
        ),
        (
            Search(FPR, [], "too few rows"),
            f"For {CAPTION}, nothing could be searched: too few rows.",
        ),
    ],
)
def test_search_sentence_counts_listed_slices(search, said):
    assert plain(search_sentence(search, REQUEST)) == said


BOTH = ["race", "sex"]


def test_section_is_left_out_without_two_group_columns():
    without = section(audit(model(), by=[]), [[]])
    assert (without.reason, without.is_listed) == ("no columns of groups were given", True)
    alone = section(audit(model(), by=["race"]), [[]])
    assert isinstance(alone, LeftOut)
    assert (alone.reason, alone.is_listed) == (ONE_COLUMN, False)


def test_only_errors_with_slices_have_tables():
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    searches = [Search(FPR, [found()]), Search(FNR, [])]
    some = section(audit(model(overall=whole), by=BOTH), [searches])
    names = [type(block).__name__ for block in some.blocks]
    assert names == ["Paragraph", "Paragraph", "Table"]
    assert some.blocks[2].note == (
        "Confidence intervals and p allow for all combinations that were searched: each limit "
        "holds for all of them together with 95%, both limits with 90%."
    )
    assert some.blocks[1].text == SELECTION
    (row,) = some.blocks[2].groups[0].rows
    assert plain(row.heading) == "A, F"
    assert [(cell.text, cell.limits) for cell in row.cells] == [
        ("60", ""),
        ("45%", ""),
        ("", ""),
        ("22%", ""),
        ("+23", "18 to 27"),
        ("<.001", ""),
    ]
    none = section(audit(model(overall=whole), by=BOTH), [[Search(FPR, []), Search(FNR, [])]])
    assert [type(block).__name__ for block in none.blocks] == ["Paragraph"]


def test_search_of_few_rows_reports_too_few_rows():
    data = pl.DataFrame(
        {"g": ["a", "b"] * 3, "h": [*"cccddd"], "y": [0, 0, 1, 1, 0, 1], "p": [0, 1, 0, 1, 1, 1]}
    )
    (searches,) = audit_of(data, by=("g", "h")).of(worst_slices)
    assert [(search.slices, search.problem) for search in searches] == [([], "too few rows")] * 2
