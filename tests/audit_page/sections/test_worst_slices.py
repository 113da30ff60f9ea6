"""Where it is worst: each sentence with both outcomes."""

from itertools import product

import polars as pl
import pytest

from balframe.api.value_naming import ValueNaming
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import worst_slices
from balframe.audit_page.sections.worst_slices import (
    SELECTION,
    Search,
    error_rate,
    search_sentence,
    section,
    summary,
)
from tests.support.audits.figures import FNR, FPR, audit, group, make_request, model, percent, plain
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases


def found(n_tests=54, n_explained=0, difference=(0.23, 0.18, 0.27), **values):
    """Make a row of `slices`."""
    values = values or {"by0": "A"}
    row = dict(zip(("difference", "lower", "upper"), difference, strict=True))
    row |= {"on": ", ".join(values), "by0": None, "by1": None, "by2": None, **values}
    row |= {"n": 80, "min_support": 60, "estimate": 0.45, "rest": 0.22, "p_adjusted": 0.0001}
    return row | {"n_tests": n_tests, "n_explained": n_explained}


REQUEST = make_request()


def test_conditions_are_joined_in_the_order_of_the_columns():
    two, request = found(by2="under 25", by0="Female"), make_request(["sex", "race", "age"])
    assert ", Female and “under 25”: 45% of" in plain(summary([Search(FPR, [two])], 1, request))
    unknown = Search(FPR, [found(by0=None)])
    assert ", (missing): 45% of" in plain(summary([unknown], 1, REQUEST))


def test_groups_whose_value_may_be_of_any_column_are_named_with_it():
    naming = ValueNaming.of({"by0": ["no", "yes"], "by1": ["F", None], "by2": [25, 35]})
    rows = [found(by0="yes", by1="F"), found(by1=None), found(by2=25), found(by0="no", by2="35")]
    searches = [Search(FPR, rows, naming=naming), Search(FNR, rows[1:], naming=naming)]
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    page = section(audit(model(overall=whole), by=["smoker", "sex", "age"]), [searches])

    assert ", smoker=yes and F: 45% of" in plain(page.brief[0])
    assert "; sex=(missing): 45% of" in plain(page.brief[0])
    table = next(block for block in page.blocks if type(block).__name__ == "Table")
    assert [plain(row.heading) for row in table.groups[0].rows] == [
        "smoker=yes, F",
        "sex=(missing)",
        "age=25",
        "smoker=no, age=35",
    ]


def test_a_search_names_groups_by_the_values_of_all_columns():
    """Recall is 0.2 of 100 smokers, insured or not, and 0.9 of 300 others."""
    rows = [
        {"smoker": smoker, "insured": insured, "sex": sex, "y": y, "p": p, "n": n}
        for smoker, insured, sex in product(["yes", "no"], ["yes", "no"], "FM")
        for y, p, n in ([(1, 1, 5), (1, 0, 20)] if smoker == "yes" else [(1, 1, 68), (1, 0, 7)])
        + [(0, 0, 40)]
    ]
    audited = audit_of(pl.DataFrame(rows), by=("smoker", "insured", "sex"), options={"counts": "n"})
    heading = audited.section(worst_slices).blocks[-2].groups[0].rows[0].heading

    assert plain(heading) == "smoker=yes"


def test_the_worst_of_each_error_is_named_with_limits():
    said = plain(summary([Search(FPR, [found(), found()]), Search(FNR, [])], 2, REQUEST))
    assert said == (
        "Most clearly shown to fare worse than all others, A: 45% of those not re-arrested had "
        "been called high risk, against 22% of all others, +23 points (18 to 27)."
    )
    said = plain(
        summary(
            [Search(FPR, [found()]), Search(FNR, [found(difference=(0.01, 0.001, 0.02))])],
            2,
            make_request(),
        )
    )
    assert "; A: 45% of those re-arrested had not been called high risk, against" in said
    assert said.endswith(", +1 point (0.1 to 2).")


def test_summary_states_that_no_slice_is_significantly_worse():
    said = "No combination of groups is shown to fare worse than all others together."
    none = [Search(FPR, []), Search(FNR, [], "too few rows")]
    assert summary(none, 1, REQUEST) == summary([], 0, REQUEST) == said


def test_the_clearest_of_all_searches_is_named_where_it_passes_their_number():
    clear, unclear = found() | {"p_adjusted": 0.025}, found() | {"p_adjusted": 0.0251}
    searches = [Search(FPR, [unclear]), Search(FNR, [clear])]
    assert plain(summary(searches, 2, REQUEST)).startswith(
        "Most clearly shown to fare worse than all others, A: 45% of those re-arrested had not "
    )
    assert "; " not in plain(summary(searches, 2, REQUEST))
    assert plain(summary(searches, 1, REQUEST)).count("against") == 2
    assert summary(searches, 3, REQUEST) == (
        "A search for one error lists combinations that fare worse than all others; none is clear "
        "enough to stand out from the three searches of this page."
    )
    assert summary(searches, 3, make_request(level=0.9)).startswith("Most clearly shown")


def test_searches_of_all_models_count():
    """One of four searches of two models lists a combination, which stays in its table."""
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    listed = found() | {"p_adjusted": 0.02}
    own = [Search(FPR, [listed]), Search(FNR, [])]
    alone = section(audit(model(overall=whole)), [own])
    (said,) = alone.brief
    assert said.startswith("Most clearly shown")
    both = section(
        audit(model(overall=whole), model(overall=whole)), [own, [Search(FPR, []), Search(FNR, [])]]
    )
    assert "four searches of this page" in both.brief[0]
    tables = [block for block in both.blocks if type(block).__name__ == "Table"]
    assert [len(table.groups[0].rows) for table in tables] == [1]


SEARCHES = (
    "This page searches more than once: for groups that differ, and for the worst combinations in "
    "each error. Each search errs in at most "
)


@cases(
    ("level", "n_models", "said"),
    [
        (
            0.95,
            1,
            "5% of audits in which nothing differs; together they do in 7 to 10%, as measured.",
        ),
        (0.99, 1, "1% of audits in which nothing differs; together they do so more often."),
        (0.95, 2, "5% of audits in which nothing differs; together they do so more often."),
    ],
)
def test_the_page_states_how_often_its_searches_err(level, n_models, said):
    page = audit(*[model()] * n_models, level=level)
    assert error_rate(page) == SEARCHES + said
    blocks = section(page, [[Search(FPR, [])]] * n_models).blocks
    assert blocks[-1].text == SEARCHES + said


def test_a_page_without_searches_does_not_state_how_often_they_err():
    (block,) = section(audit(model()), [[Search(FPR, [], "too few rows")]]).blocks
    assert plain(block.text).endswith("nothing could be searched: too few rows.")


TESTED = "54 combinations of groups with at least 30 people to count were tested;"
CAPTION = "“Called high risk, but not re-arrested”"


@cases(
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
def test_search_sentence_counts_listed_and_omitted_slices(search, said):
    assert plain(search_sentence(search, REQUEST)) == said


def test_section_is_left_out_without_group_columns():
    assert isinstance(section(audit(model(), by=[]), [[]]), LeftOut)


def test_only_errors_with_slices_have_tables():
    whole = group(None, 60, 40, 30, {"false_positive_rate": percent(32, 31, 34)})
    searches = [Search(FPR, [found()]), Search(FNR, [])]
    some = section(audit(model(overall=whole)), [searches])
    names = [type(one).__name__ for one in some.blocks]
    assert names == ["Paragraph", "Paragraph", "Table", "Paragraph"]
    assert some.blocks[2].note == (
        "Each of the two limits holds for all combinations tested together with 95%, both together "
        "with 90%. p is adjusted for their number."
    )
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
    none = section(audit(model(overall=whole)), [[Search(FPR, []), Search(FNR, [])]])
    assert [type(one).__name__ for one in none.blocks] == ["Paragraph", "Paragraph"]


def test_the_first_slice_of_compas_is_a_group_with_its_published_rate(compas_audit):
    ((search, _),) = compas_audit.of(worst_slices)
    first = search.slices[0]
    assert (first["on"], first["by1"]) == ("by1", "African-American")
    assert (first["min_support"], first["estimate"]) == (1795, pytest.approx(805 / 1795))
    rest = (1282 - 805) / (3963 - 1795)
    assert first["rest"] == pytest.approx(rest)
    assert first["difference"] == pytest.approx(805 / 1795 - rest)
    assert first["lower"] > 0
    assert first["p_adjusted"] < 0.001


def test_search_of_few_rows_reports_too_few_rows():
    data = pl.DataFrame({"g": ["a", "b"] * 3, "y": [0, 0, 1, 1, 0, 1], "p": [0, 1, 0, 1, 1, 1]})
    (searches,) = audit_of(data).of(worst_slices)
    assert [(search.slices, search.problem) for search in searches] == [([], "too few rows")] * 2
