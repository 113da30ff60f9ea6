"""Selection rates and impact ratios: which side is measured, of which columns, at which level."""

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.sections import impact_figures, selection_rates
from tests.support.audits.impact_tables import audit_of_models, model_of
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

PEOPLE = (  # sex, race, selected, number
    ("F", "a", 1, 20), ("F", "a", 0, 80), ("F", "b", 1, 30), ("F", "b", 0, 70),
    ("M", "a", 1, 60), ("M", "a", 0, 40), ("M", "b", 1, 50), ("M", "b", 0, 50),
    ("F", None, 1, 5), ("F", None, 0, 5), (None, "b", 0, 6), (None, None, 1, 4),
    ("M", "rare", 1, 2), ("M", "rare", 0, 2),
)  # fmt: skip


def people():
    """Make a row for each person; the outcome alternates."""
    rows = [(*values, i % 2) for *values, n in PEOPLE for i in range(n)]
    return pl.DataFrame(rows, schema=["sex", "race", "p", "y"], orient="row")


def figures_of(frame, **request):
    """Return the figures of the only model."""
    (own,) = audit_of(frame, **request).of(selection_rates)
    return own


def rates(table):
    """Return the counts of the categories of a table."""
    return {one.values: (one.n_measured, one.n) for one in table.categories}


def test_each_column_and_each_intersection_has_a_table():
    by_sex, by_race, joint = figures_of(people(), by=("sex", "race"), intersections=[(0, 1)]).tables

    assert [by_sex.columns, by_race.columns, joint.columns] == [(0,), (1,), (0, 1)]
    assert rates(by_sex) == {("F",): (55, 210), ("M",): (112, 204)}
    assert rates(by_race) == {("a",): (80, 200), ("b",): (80, 206), ("rare",): (2, 4)}
    assert rates(joint) == {
        ("F", "a"): (20, 100),
        ("F", "b"): (30, 100),
        ("M", "a"): (60, 100),
        ("M", "b"): (50, 100),
        ("M", "rare"): (2, 4),
    }
    assert [table.highest.values for table in (by_sex, by_race, joint)] == [
        ("M",), ("a",), ("M", "a"),
    ]  # fmt: skip
    ratios = {one.values: one.ratio.value for one in joint.categories if one.is_compared}
    assert ratios == pytest.approx(
        {("F", "a"): 20 / 60, ("F", "b"): 30 / 60, ("M", "a"): 1, ("M", "b"): 50 / 60}
    )


def test_rows_of_unknown_category_are_counted_apart():
    tables = figures_of(people(), by=("sex", "race"), intersections=[(0, 1)]).tables

    assert [(table.n_measured_unknown, table.n_unknown) for table in tables] == [
        (4, 10), (9, 14), (9, 20),
    ]  # fmt: skip


def test_bounds_of_unknown_categories_count_the_worst_and_the_best_case_together():
    by_sex, *_ = figures_of(people(), by=("sex",)).tables
    women, men = by_sex.categories

    # 4 of the 10 unknown are selected: in the worst case for women, these are men
    worst = (55 / (210 + 6)) / ((112 + 4) / (204 + 4))
    best = ((55 + 4) / (210 + 4)) / (112 / (204 + 6))
    assert women.unknown_bounds == pytest.approx((worst, best))
    assert men.unknown_bounds == pytest.approx((1, 1))


def test_not_selected_measures_the_rows_that_are_not_selected():
    audited = audit_of(people(), by=("race",), favourable="not selected")
    ((table,),) = [own.tables for own in impact_figures.measure(audited.audit, 0.95)]
    expected = bf.impact(people(), "p", favourable="selected", by="race", pos_label=0, detail=True)

    assert rates(table) == {("a",): (120, 200), ("b",): (126, 206), ("rare",): (2, 4)}
    assert table.highest.values == ("b",)
    first = table.categories[0]
    assert first.ratio.value == pytest.approx((120 / 200) / (126 / 206))
    row = expected.row(by_predicate=pl.col("race") == "a", named=True)
    assert first.ratio[1:3] == (row["lower"], row["upper"])
    assert first.rate[1:3] == (row["rate_lower"], row["rate_upper"])
    assert first.difference.p == row["p_value"]


def test_exchanged_labels_and_sides_have_the_same_figures():
    mirrored = people().with_columns(p=1 - pl.col("p"))
    options = {"by": ("sex", "race"), "intersections": [(0, 1)]}

    chosen = figures_of(people(), favourable="selected", **options)
    others = figures_of(mirrored, favourable="not selected", **options)

    assert chosen.tables == others.tables


def test_measure_computes_limits_of_ratios_at_the_level_and_the_same_rates():
    audited = audit_of(people(), by=("sex",), favourable="selected")

    def low(level):
        ((table,),) = [one.tables for one in impact_figures.measure(audited.audit, level)]
        return table.categories[0]

    wide, narrow = low(0.999), low(0.8)
    expected = bf.impact(
        people(), "p", favourable="selected", by="sex", level=0.999, detail=True
    ).row(0, named=True)
    assert wide.ratio[1:3] == (expected["lower"], expected["upper"])
    assert wide.rate == narrow.rate
    assert wide.ratio.value == narrow.ratio.value
    assert wide.ratio.lower < narrow.ratio.lower < narrow.ratio.upper < wide.ratio.upper
    assert wide.difference.p == narrow.difference.p


@cases("level", [0.8, 0.95, 0.99, 0.999, 0.9999])
def test_upper_limit_is_below_one_exactly_where_p_is_at_most_one_minus_level(level):
    audited = audit_of(people(), by=("sex", "race"), intersections=[(0, 1)])

    (own,) = impact_figures.measure(audited.audit, level)

    tested = [
        one for table in own.tables for one in table.categories if one.difference.p is not None
    ]
    assert len(tested) == 5
    for one in tested:
        assert (one.ratio.upper < 1) == (one.difference.p <= 1 - level)


def test_differences_are_those_of_all_tables_and_of_scoring_rates():
    frame = people().with_columns(s=pl.int_range(pl.len()) % 7)
    options = {"by": ("sex", "race"), "intersections": [(0, 1)], "y_score": "s"}

    neutral = [*impact_figures.differences([figures_of(frame, **options)])]
    own = figures_of(frame, favourable="selected", **options)
    together = [*impact_figures.differences([own])]

    assert sum(one.p is not None for one in neutral) == 1 + 1 + 3
    assert sum(one.p is not None for one in together) == 2 * (1 + 1 + 3)
    assert all(one.p_adjusted is not None for one in together if one.p is not None)


SCORES = pl.DataFrame(
    {
        "g": ["a"] * 8 + ["b"] * 8 + [None] * 2,
        "s": [1, 1, 1, 2, 2, 3, 3, 4, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4],
        "y": [0, 1] * 9,
        "p": [0, 1] * 9,
    }
)


def test_scoring_rate_is_the_share_above_the_median_of_all_with_a_score():
    scoring = figures_of(SCORES, y_score="s", favourable="selected").scoring

    # of 18 scores, 4 are 1, 3 are 2, 5 are 3 and 6 are 4: the ninth and the tenth are 3
    assert (scoring.median, scoring.n_above, scoring.n) == (3, 6, 18)
    (table,) = scoring.tables
    assert rates(table) == {("a",): (1, 8), ("b",): (3, 8)}
    expected = bf.impact(SCORES, score="s", favourable="selected", by="g", detail=True)
    assert [one.ratio.value for one in table.categories] == expected["impact_ratio"].to_list()[:2]


def test_the_other_side_of_the_scoring_rate_is_at_or_below_the_median():
    scoring = figures_of(SCORES, y_score="s", favourable="not selected").scoring

    (table,) = scoring.tables
    assert rates(table) == {("a",): (7, 8), ("b",): (5, 8)}
    assert table.highest.values == ("a",)


def test_median_between_two_scores_is_their_mean():
    frame = SCORES.with_columns(s=pl.Series([0.1] * 9 + [0.3] * 9))
    scoring = figures_of(frame, y_score="s", favourable="selected").scoring

    assert (scoring.median, scoring.n_above) == (pytest.approx(0.2), 9)


def test_scores_of_which_none_is_above_the_median_have_no_table():
    frame = SCORES.with_columns(s=pl.Series([1] * 4 + [2] * 14))
    scoring = figures_of(frame, y_score="s", favourable="selected").scoring

    assert (scoring.tables, scoring.median, scoring.n_above) == ([], 2, 0)


def test_scoring_rates_need_scores_and_a_favourable_side():
    assert figures_of(SCORES, y_score="s").scoring is None
    assert figures_of(SCORES, favourable="selected").scoring is None


def test_columns_without_two_categories_to_compare_are_listed():
    frame = people().with_columns(same=pl.lit("x"))
    own = figures_of(frame, by=("sex", "same"), intersections=[(0, 1)])

    assert [table.columns for table in own.tables] == [(0,), (0, 1)]
    assert own.not_compared == [(1,)]


def test_more_than_two_labels_have_no_table():
    audit = audit_of_models(model_of(labels=("a", "b", "c")))
    (own,) = impact_figures.measure(audit, 0.95)

    assert (own.tables, own.not_compared, own.scoring) == ([], [], None)


def test_no_predicted_positives_leave_nothing_to_compare():
    data = pl.DataFrame({"g": ["a", "b"] * 40, "y": [0, 0, 1, 1] * 20, "p": [0] * 80})

    assert figures_of(data).not_compared == [(0,)]
    everybody = figures_of(data, favourable="not selected")
    assert [one.rate.value for one in everybody.tables[0].categories] == [1, 1]


def test_categories_are_large_enough_for_a_sentence_from_min_support_on():
    (table,) = figures_of(people(), by=("race",), min_support=206).tables
    assert table.highest.values == ("a",)
    assert [one.values for one in table.others(206)] == [("b",)]
    assert table.others(207) == []
    assert [one.values for one in table.excluded] == [("rare",)]


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
DROP = {"missing": "drop"}


@cases("make", FRAMES)
@cases("scored", [False, True])
def test_rows_without_an_outcome_or_a_score_are_counted(make, scored):
    scores = {"s": [None, 0.25] * 100} if scored else {}
    options = {"y_score": "s" if scored else None, "options": DROP}

    (table,) = figures_of(without_outcomes(make, **scores), **options).tables

    assert rates(table) == {("a",): (30, 100), ("b",): (59, 99)}  # "b" has a null prediction
    assert table.highest.values == ("b",)
    assert table.categories[0].ratio.value == pytest.approx((30 / 100) / (59 / 99))


def test_stored_cells_without_an_outcome_are_counted():
    counted = without_outcomes(pl.DataFrame.clone).group_by("g", "y", "p").len("n")

    for options in ({"counts": "n"}, {"cells": True}):
        (table,) = figures_of(counted, options=DROP | options).tables
        assert [one.n for one in table.categories] == [100, 99]


@cases(("favourable", "measured"), [(None, (30, 59)), ("not selected", (70, 40))])
def test_a_prediction_that_occurs_only_without_an_outcome_is_not_selected(favourable, measured):
    data = without_outcomes(pl.DataFrame.clone).with_columns(
        pl.col("y").replace_strict({0: "no", 1: "yes"}),
        pl.when(pl.col("y").is_null() & (pl.col("p") == 0))
        .then(pl.lit("later"))
        .otherwise(pl.col("p").replace_strict({0: "no", 1: "yes"}))
        .alias("p"),
    )

    options = {"options": DROP | {"pos_label": "yes"}, "favourable": favourable}
    (table,) = figures_of(data, **options).tables

    assert [(one.n_measured, one.n) for one in table.categories] == [
        (measured[0], 100),
        (measured[1], 99),
    ]


@cases(
    "convert",
    [
        lambda column: column.cast(pl.Boolean),
        lambda column: column.cast(pl.Float64),
        lambda column: column.cast(pl.String).cast(pl.Enum(["0", "1"])),
        lambda column: column.cast(pl.String),
    ],
)
@cases("favourable", ["selected", "not selected"])
def test_labels_of_every_type_are_measured_alike(convert, favourable):
    frame = people().with_columns(convert(pl.col("y")), convert(pl.col("p")))
    is_text = frame["p"].dtype in (pl.String, pl.Enum)
    options = {"options": {"pos_label": "1"}} if is_text else {}

    own = figures_of(frame, by=("sex",), favourable=favourable, **options)

    assert own.tables == figures_of(people(), by=("sex",), favourable=favourable).tables
