"""Who is called how often: each sentence with both outcomes."""

import polars as pl
import pytest

from balframe.audit_page.groups import Difference
from balframe.audit_page.numbers import Estimate, bounded_scale
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import selection_rates
from balframe.audit_page.sections.selection_rates import (
    Category,
    ImpactRatios,
    bound_comparison,
    section,
    summary,
)
from tests.support.audits.figures import THREE, audit, model, plain
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases


def selected(value, ratio=(None, None, None), p_adjusted=None, role="compared", n=100):
    """Make a category with its row of `impact`."""
    rate = {"rate": 0.3, "rate_lower": 0.2, "rate_upper": 0.4}
    row = {"role": role, "n": n, "n_selected": 30, **rate}
    return Category(value, row, Difference(Estimate(*ratio, n), p_adjusted, p_adjusted, 0.05))


TOP = selected("Top", (1.0, 1.0, 1.0))
LOW = selected("Low", (0.36, 0.29, 0.45), 0.0001)
ABOVE = selected("Above", (0.9, 0.8, 0.97), 0.005)
OPEN = selected("Open", (0.85, 0.7, 1.02), 0.09)
SMALL = selected("Small", role="small", n=2)
UNKNOWN = selected(None, role="unknown")


def ratios(*categories):
    return ImpactRatios(0, list(categories), "Top", 0.8)


def test_the_lowest_ratio_is_named_with_limits():
    (said,) = summary(model(), [ratios(TOP, OPEN, LOW, SMALL)])
    assert plain(said) == (
        "The lowest ratio: Low (race) had been called high risk 0.36 (0.29 to 0.45) times as often "
        "as Top."
    )


def test_summary_states_that_the_lowest_ratio_is_not_significant():
    (said,) = summary(model(), [ratios(TOP, OPEN)])
    assert plain(said) == (
        "The lowest ratio: Open (race) had been called high risk 0.85 (0.70 to 1.02) times as "
        "often as Top; a difference is not shown."
    )


def test_summary_is_empty_without_ratios():
    assert summary(model(), [ratios(TOP, SMALL, UNKNOWN)]) == []
    assert summary(model(), []) == []


def test_no_limit_of_a_ratio_is_rounded_onto_the_bound():
    scale = bounded_scale(0.8)
    assert scale.with_limits(Estimate(0.75, 0.7, 0.7996)) == "0.75 (0.70 to 0.7996)"
    assert scale.with_limits(Estimate(0.85, 0.8004, 0.9)) == "0.85 (0.8004 to 0.90)"
    assert scale.with_limits(Estimate(0.85, 0.8, 0.9996)) == "0.85 (0.80 to 0.9996)"


@cases(
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
def test_ratios_are_counted_below_above_and_across_the_bound(categories, said):
    assert bound_comparison(ratios(*categories)) == said


def test_section_is_left_out_without_groups_two_outcomes_or_ratios():
    assert isinstance(section(audit(model(), by=[]), [[]]), LeftOut)
    assert isinstance(section(audit(model(cells=THREE)), [[]]), LeftOut)
    nobody = section(audit(model()), [[]])
    assert isinstance(nobody, LeftOut)
    assert (
        nobody.reason
        == "no two groups could be compared: nobody was called, or all are of one group"
    )


def test_model_without_predicted_positives_has_a_notice():
    selected = section(audit(model(), model()), [[ratios(TOP, LOW)], []])
    assert selected.blocks[-1].text == (
        "Nobody was called, or all are of one group: there is nothing to compare."
    )
    assert len(selected.brief) == 1


def test_table_has_ratios_only_of_compared_groups():
    table = section(audit(model()), [[ratios(TOP, LOW, SMALL, UNKNOWN)]]).blocks[-1]
    rows = table.groups[0].rows
    assert [plain(row.heading) for row in rows] == ["Top", "Low", "Small", "(missing)"]
    assert [(row.cells[3].text, row.cells[3].limits) for row in rows] == [
        ("1.00", ""),
        ("0.36", "0.29 to 0.45"),
        ("\N{EN DASH}", ""),
        ("\N{EN DASH}", ""),
    ]
    assert [row.is_small for row in rows] == [False, False, True, True]
    assert [row.differs for row in rows] == [False, True, False, False]


def test_compas_ratios_refer_to_the_highest_selection_rate(compas_audit):
    ((_, race, _),) = compas_audit.of(selection_rates)
    assert (race.highest, race.bound) == ("African-American", 0.8)
    by_value = {one.value: one for one in race.categories}
    assert by_value["Other"].ratio.value == pytest.approx((79 / 377) / (2174 / 3696))
    assert by_value["Other"].row["n_selected"] == 79
    assert {one.value for one in race.categories if one.row["role"] == "small"} == {
        "Asian",
        "Native American",
    }
    assert by_value["Native American"].ratio.value is None


def test_ratios_are_empty_without_predicted_positives():
    data = pl.DataFrame({"g": ["a", "b"] * 40, "y": [0, 0, 1, 1] * 20, "p": [0] * 80})
    assert audit_of(data).of(selection_rates) == [[]]


def without_outcomes(make, **columns):
    """Make two groups; all rows of "b" that are selected lack an outcome but one."""
    data = {
        "g": ["a"] * 100 + ["b"] * 100,
        "y": [0, 1] * 50 + [0, 1] * 20 + [None] * 60,
        "p": [1] * 30 + [0] * 70 + [0] * 39 + [1] + [1] * 58 + [None, 0],
        **columns,
    }
    return make(pl.DataFrame(data, strict=False))


FRAMES = [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


@cases("make", FRAMES)
@cases("scored", [False, True])
def test_rows_without_an_outcome_or_a_score_are_counted(make, scored):
    scores = {"s": [None, 0.25] * 100} if scored else {}
    options = {"y_score": "s" if scored else None, "options": {"missing": "drop"}}

    audited = audit_of(without_outcomes(make, **scores), **options)

    ((column,),) = audited.of(selection_rates)
    counts = {one.value: (one.row["n_selected"], one.row["n"]) for one in column.categories}
    assert counts == {"a": (30, 100), "b": (59, 99)}  # a row of "b" has no call
    assert column.highest == "b"
    by_value = {one.value: one.ratio.value for one in column.categories}
    assert by_value["a"] == pytest.approx((30 / 100) / (59 / 99))
    text = plain(audited.section(selection_rates).blocks[0].text)
    missing = "129 rows without outcome or score" if scored else "59 rows without outcome"
    assert text.endswith(f"whether the calls are right. {missing} are counted here too.")


def test_stored_cells_without_an_outcome_are_counted():
    rows = without_outcomes(pl.DataFrame.clone)
    counted = rows.group_by("g", "y", "p").len("n")

    for options in ({"counts": "n"}, {"cells": True}):
        audited = audit_of(counted, options={"missing": "drop", **options})
        ((column,),) = audited.of(selection_rates)
        assert [one.row["n"] for one in column.categories] == [100, 99]


def test_a_call_that_occurs_only_without_an_outcome_is_counted():
    data = without_outcomes(pl.DataFrame.clone).with_columns(
        pl.col("y").replace_strict({0: "no", 1: "yes"}),
        pl.when(pl.col("y").is_null() & (pl.col("p") == 0))
        .then(pl.lit("later"))
        .otherwise(pl.col("p").replace_strict({0: "no", 1: "yes"}))
        .alias("p"),
    )

    audited = audit_of(data, options={"missing": "drop", "pos_label": "yes"})

    ((column,),) = audited.of(selection_rates)
    assert [(one.row["n_selected"], one.row["n"]) for one in column.categories] == [
        (30, 100),
        (59, 99),
    ]


def test_nothing_is_added_where_all_rows_have_an_outcome():
    data = without_outcomes(pl.DataFrame.clone).drop_nulls()
    dropped = audit_of(data, options={"missing": "drop"})

    assert dropped.document == audit_of(data).document
    assert dropped.model.cells.n_only_selected == 0
