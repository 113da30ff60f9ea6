"""Totals: of the invented applicants as they were drawn, of COMPAS deciles as published."""

import pandas as pd
import polars as pl
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

import balframe as bf

BY_SEX = {"Female": (1300, 286), "Male": (1428, 376), None: (65, 17)}  # people, selected
BY_RACE = {
    "American Indian or Alaska Native": (30, 6),
    "Asian": (277, 81),
    "Black or African American": (627, 101),
    "Hispanic or Latino": (408, 90),
    "Native Hawaiian or Pacific Islander": (14, 5),
    "Two or More Races": (57, 16),
    "White": (1182, 333),
    None: (198, 47),
}
BY_SCORE = {  # people, selected
    10: (59, 0),
    20: (124, 0),
    30: (304, 3),
    40: (420, 24),
    50: (590, 89),
    60: (519, 127),
    70: (420, 185),
    80: (243, 157),
    90: (84, 66),
    100: (30, 28),
}


@pytest.mark.parametrize(
    ("column", "expected"), [("sex", BY_SEX), ("race", BY_RACE), ("score", BY_SCORE)]
)
def test_applicants_have_the_expected_totals(column, expected):
    people = bf.datasets.applicants()

    out = people.group_by(column).agg(
        pl.col("n").sum(), n_selected=pl.col("n").filter(pl.col("selected") == 1).sum()
    )

    assert {value: tuple(counts) for value, *counts in out.iter_rows()} == expected


@pytest.mark.parametrize("expected", [BY_SEX, BY_RACE, BY_SCORE])
def test_expected_totals_of_each_breakdown_are_equal(expected):
    assert sum(people for people, _ in expected.values()) == 2793
    assert sum(selected for _, selected in expected.values()) == 679


@pytest.mark.parametrize("backend", ["polars", "pandas"])
def test_expanded_applicants_are_the_counts_repeated(backend):
    counted = bf.datasets.applicants(backend=backend)
    expanded = bf.datasets.applicants(backend=backend, expand=True)
    columns = ["sex", "race", "score", "selected"]

    assert list(counted.columns) == [*columns, "n"]
    assert list(expanded.columns) == columns
    assert len(expanded) == 2793
    if backend == "polars":
        assert min(counted["n"]) > 0
        assert expanded.equals(counted.select(pl.col(columns).repeat_by("n").explode()))
    else:
        repeated = counted.loc[counted.index.repeat(counted["n"]), columns]
        pd.testing.assert_frame_equal(expanded, repeated.reset_index(drop=True))


def test_both_libraries_have_the_same_applicants():
    in_polars, in_pandas = (bf.datasets.applicants(backend=name) for name in ("polars", "pandas"))

    assert [
        tuple(row) for row in in_pandas.astype(object).where(in_pandas.notna(), None).values
    ] == (in_polars.rows())


PEOPLE = {  # of the 6,172 of ProPublica (2016), as its notebook prints them
    "African-American": 3175,
    "Asian": 31,
    "Caucasian": 2103,
    "Hispanic": 509,
    "Native American": 11,
    "Other": 343,
}
RISKS = {"low": 3421, "medium": 1607, "high": 1144}  # deciles 1 to 4, 5 to 7 and 8 to 10


def test_deciles_have_the_totals_that_propublica_printed():
    people = bf.datasets.compas_deciles()
    is_high, is_low = pl.col("decile") > 7, pl.col("decile") < 5
    risk = (
        pl.when(is_high)
        .then(pl.lit("high"))
        .when(is_low)
        .then(pl.lit("low"))
        .otherwise(pl.lit("medium"))
    )

    by_race = people.group_by("race").agg(pl.col("n").sum())
    by_risk = people.group_by(risk=risk).agg(pl.col("n").sum())

    assert people["n"].sum() == 6172
    assert people.filter(reoffended=1)["n"].sum() == 2809
    assert dict(by_race.iter_rows()) == PEOPLE
    assert dict(by_risk.iter_rows()) == RISKS


def test_deciles_have_the_rates_of_recidivism_that_were_published():
    """Those of S. Corbett-Davies and others (The Washington Post, 2016), in percent."""
    people = bf.datasets.compas_deciles(expand=True)

    rates = dict(people.group_by("race").agg(pl.col("reoffended").mean()).iter_rows())

    assert round(100 * rates["African-American"]) == 52
    assert round(100 * rates["Caucasian"]) == 39


def test_deciles_have_the_mantel_haenszel_statistic_of_r():
    """That of mantelhaen.test(correct=FALSE) in R 4.2.2, over the deciles in ProPublica's file."""
    people = bf.datasets.compas_deciles(expand=True).to_pandas()
    two = people[people["race"].isin(["African-American", "Caucasian"])]
    tables = [
        pd.crosstab(people["race"], people["reoffended"]) for _, people in two.groupby("decile")
    ]

    test = StratifiedTable([table.to_numpy() for table in tables]).test_null_odds()

    assert test.statistic == pytest.approx(4.01922701038151, rel=1e-12)
    assert test.pvalue == pytest.approx(0.0449843266525693, rel=1e-10)


def test_expanded_deciles_are_the_counts_repeated():
    counted, expanded = (bf.datasets.compas_deciles(expand=expand) for expand in (False, True))

    assert counted.columns == ["race", "decile", "reoffended", "n"]
    assert counted.height == 100
    assert expanded.equals(counted.select(pl.exclude("n").repeat_by("n").explode()))
