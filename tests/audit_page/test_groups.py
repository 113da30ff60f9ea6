"""What an audit measures, beside published figures and independent formulas."""

import re
from math import sqrt

import polars as pl
import pytest
from scipy.stats import norm

import balframe as bf
from balframe.audit_page.groups import NOT_COMPARED
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of, eight_rows
from tests.support.cases import cases

FPR, FNR = "false_positive_rate", "false_negative_rate"


def group_of(audited, number, value):
    return next(one for one in audited.model.columns[number].groups if one.value == value)


def rate(audited, metric, number=None, value=None):
    model = audited.model
    group = model.overall if number is None else group_of(audited, number, value)
    return group.rates[model.rates.by_metric(metric)]


def wilson(k, n, level=0.95):
    """Return the limits of Wilson (1927)."""
    z = norm.ppf((1 + level) / 2)
    middle, half = (k + z * z / 2), z * sqrt(k * (n - k) / n + z * z / 4)
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


def test_compas_has_the_published_rates(compas_audit):
    """Larson et al. (ProPublica 2016): accuracy, and false positive rates by race."""
    audited = compas_audit
    assert rate(audited, "accuracy").value == pytest.approx(0.65, abs=0.005)
    black = rate(audited, "false_positive_rate", 1, "African-American")
    white = rate(audited, "false_positive_rate", 1, "Caucasian")
    assert black.value == pytest.approx(0.4485, abs=0.00005)
    assert white.value == pytest.approx(0.2345, abs=0.00005)
    assert (black.n, white.n) == (1795, 1488)


@cases(
    ("metric", "k", "n"),
    [
        ("false_positive_rate", 1282, 3963),
        ("false_negative_rate", 1216, 3251),
        ("accuracy", 2681 + 2035, 7214),
        ("precision", 2035, 3317),
        ("prevalence", 3251, 7214),
        ("selection_rate", 3317, 7214),
    ],
)
def test_limits_are_those_of_wilson(compas_audit, metric, k, n):
    """The counts are those of the confusion matrix that ProPublica published."""
    found = rate(compas_audit, metric)
    assert (found.value, found.n) == (pytest.approx(k / n), n)
    assert (found.lower, found.upper) == pytest.approx(wilson(k, n))


def test_the_balanced_accuracy_is_the_mean_of_recall_and_specificity(compas_audit):
    found = rate(compas_audit, "balanced_accuracy")
    assert found.value == pytest.approx((2035 / 3251 + 2681 / 3963) / 2)
    assert found.n == 3251


def test_small_groups_of_compas_are_never_lowest_or_highest(compas_audit):
    model = compas_audit.model
    race = model.columns[1]
    small = {one.value for one in race.groups if one.n_rarest < 30}
    assert small == {"Asian", "Native American"}
    for rate in race.comparisons:
        extremes = race.extremes(rate)
        assert not {extremes.lowest, extremes.highest} & small


def frame(*cells):
    """Make rows of (group, truth, call, n)."""
    return pl.DataFrame(cells, schema=["g", "y", "p", "n"], orient="row")


def of_counts(data, **changes):
    return audit_of(data, options={"counts": "n"}, **changes)


LARGE = [("a", 0, 0, 40), ("a", 0, 1, 10), ("a", 1, 1, 40), ("b", 0, 0, 45), ("b", 1, 0, 50)]


def test_group_without_one_of_the_outcomes_is_small():
    audited = of_counts(frame(*LARGE, ("c", 0, 0, 90), ("c", 0, 1, 10)))
    found = rate(audited, "balanced_accuracy", 0, "c")
    assert found.n == 0
    only = group_of(audited, 0, "c")
    assert only.n_rarest == 0
    assert all(only.is_small(one) for one in audited.model.rates.compared)
    assert rate(audited, "false_negative_rate", 0, "c").value is None
    assert rate(audited, "false_positive_rate", 0, "c").n == 100


def test_group_without_one_of_three_labels_is_small():
    rows = [(g, y, y, 50) for g in "ab" for y in "xyz"] + [("c", "x", "x", 50), ("c", "y", "x", 50)]
    audited = of_counts(frame(*rows))
    model = audited.model
    balanced = model.rates.by_metric("balanced_accuracy")
    assert [one.rates[balanced].n for one in model.columns[0].groups] == [50, 50, 0]
    assert [one.is_small(balanced) for one in model.columns[0].groups] == [False, False, True]


@pytest.mark.parametrize("min_support", [1, 30])
def test_column_of_small_groups_has_no_lowest_or_highest(min_support):
    audited = of_counts(frame(("a", 0, 0, 20), ("b", 1, 1, 20)), min_support=min_support)
    column = audited.model.columns[0]
    assert {column.extremes(rate) for rate in column.comparisons} == {NOT_COMPARED}


def test_single_group_is_not_compared():
    audited = of_counts(frame(("a", 0, 0, 40), ("a", 1, 1, 40)))
    column = audited.model.columns[0]
    assert not any(column.extremes(rate).is_compared for rate in column.comparisons)
    assert list(audited.model.tests) == []


SMALL = ("c", 0, 0, 5), ("c", 0, 1, 15)  # without a positive
THIRD = *SMALL, ("c", 1, 1, 30), ("c", 1, 0, 20)


def differences(audited, metric):
    """Return the differences of a column by value, and its groups furthest apart."""
    comparison = audited.model.columns[0].comparisons[audited.model.rates.by_metric(metric)]
    return comparison.differences, comparison.extremes


def test_differences_compare_a_group_with_all_other_large_groups():
    false_positives, _ = differences(of_counts(frame(*LARGE, *THIRD), min_support=20), FPR)
    assert {value: test.estimate.value for value, test in false_positives.items()} == {
        "a": pytest.approx(10 / 50 - 15 / 65),
        "b": pytest.approx(0 / 45 - 25 / 70),
        "c": pytest.approx(15 / 20 - 10 / 95),
    }


def test_a_small_group_is_in_no_comparison():
    """Two groups remain, of which the one with the higher rate is compared with the other."""
    audited = of_counts(frame(*LARGE, *SMALL))
    (column,), errors = audited.model.columns, audited.model.rates.errors
    for rate, value in ((FPR, "a"), (FNR, "b"), ("balanced_accuracy", "a")):
        compared, _ = differences(audited, rate)
        assert [*compared] == [value]
    false_positives, extremes = differences(audited, FPR)
    assert false_positives["a"].estimate.value == pytest.approx(10 / 50)
    assert (extremes.lowest, extremes.highest) == ("b", "a")
    assert {group.value: column.difference(group, errors[0]) for group in column.groups} == {
        "a": false_positives["a"],
        "b": None,
        "c": None,
    }


def test_differences_and_extremes_equal_those_of_gaps_and_disparity(compas_audit):
    """Groups are those of at least 30 with each outcome, and limits have the page's own level."""
    people = bf.datasets.compas_by_age_and_sex()
    level, model = compas_audit.audit.adjustment.level, compas_audit.model
    assert 0.95 < level < 0.99
    for number, name in enumerate(["sex", "race", "age"]):
        kept = people.filter(~pl.col(name).is_in(["Asian", "Native American"]))
        options = {"by": name, "counts": "n", "level": level, "detail": True}
        for rate in model.rates.errors:
            arguments = (kept, "reoffended", "high_risk")
            rows = bf.gaps(*arguments, metrics=rate.metric, adjust=None, **options).to_dicts()
            (spread,) = bf.disparity(*arguments, metrics=rate.metric, **options).to_dicts()
            comparison = model.columns[number].comparisons[rate]
            rows = [row for row in rows if row[name] in comparison.differences]
            assert len(rows) == (1 if name == "sex" else kept[name].n_unique())
            for row in rows:
                test = comparison.differences[row[name]]
                limits = row["difference"], row["lower"], row["upper"]
                assert test.estimate[:3] == pytest.approx(limits)
                assert test.p == pytest.approx(row["p_value"])
            extremes = comparison.extremes
            names = spread[f"lowest_{name}"], spread[f"highest_{name}"]
            assert (extremes.lowest, extremes.highest) == names
            assert extremes.distance.value == pytest.approx(spread["difference"])
            nearer = [max(row["lower"], -row["upper"], 0.0) for row in rows]
            assert extremes.distance.lower == pytest.approx(max(*nearer, spread["lower"], 0.0))
            assert extremes.distance.upper == pytest.approx(spread["upper"])
            if name != "sex":
                assert comparison.spread.p == pytest.approx(spread["p_value"])


@pytest.mark.any_version
def test_groups_furthest_apart_agree_with_all_differences(compas_audit, random_audits):
    """Where a group differs from all others, the furthest are established to be apart as well."""
    large = [("large", y, p, 200) for y in (0, 1) for p in (0, 1)]
    others = [(g, y, p, n) for g in "abcdef" for y, p, n in ((0, 0, 21), (0, 1, 9), (1, 1, 30))]
    n_raised = n_established = 0
    for audited in (compas_audit, of_counts(frame(*large, *others)), *random_audits):
        for model in audited.audit.models:
            for column in model.columns:
                for comparison in column.comparisons.values():
                    extremes, tests = comparison.extremes, list(comparison.tests)
                    if extremes.distance.upper is None:
                        continue
                    is_any = any(test.is_significant for test in tests)
                    assert extremes.is_significant == is_any
                    distance = extremes.distance
                    assert distance.lower <= distance.value + 1e-12 <= distance.upper + 2e-12
                    n_established += is_any
                    n_raised += distance.lower > (comparison.furthest.distance.lower or 0.0)
    assert n_established > 8
    assert n_raised > 0


def test_two_groups_have_the_same_limits_in_all_places():
    audited = audit_of(eight_rows(), by=["group"], y_pred=["yhat"], options={"counts": "n"})
    compared, extremes = differences(audited, FNR)
    ((value, test),) = compared.items()
    assert value == extremes.highest == "no"
    assert test.estimate.value == pytest.approx(107 / 189 - 37 / 96)
    assert extremes.distance[:3] == pytest.approx(test.estimate[:3])


def regions():
    """Make 40 regions of 10 to 49 rows with each outcome; those with an even number err more."""
    rows = []
    for number in range(40):
        name, n = f"region{number:02}", 10 + number
        wrong = n // 2 if number % 2 == 0 else n // 10
        rows += [(name, y, p, n - wrong if y == p else wrong) for y in (0, 1) for p in (0, 1)]
    return pl.DataFrame(rows, schema=["g", "y", "p", "n"], orient="row").with_columns(
        half=pl.when(pl.col("n") % 2 == 0).then(pl.lit("x")).otherwise(pl.lit("z")),
        s=pl.col("p") * 0.5 + 0.25,
    )


def test_the_same_20_of_40_regions_are_in_all_tables_and_sentences():
    audited = of_counts(regions(), by=["g", "half"], y_score="s", min_support=5)
    names = {f"region{number:02}" for number in range(20, 40)}
    tables = list(tables_of(audited.document))
    with_groups = [
        [{*re.findall(r"region\d\d", plain(row.heading))} for row in group.rows]
        for table in tables
        for group in table.groups
        if plain(group.heading) == "G"
    ]
    assert len(with_groups) >= 7
    n_equal = sum(set().union(*rows) == names for rows in with_groups)
    assert n_equal == len(with_groups) - 1  # named criteria have no row for each group
    # all regions have 2% of the rows, and so a ratio
    sections = [part for part in audited.document.sections if part.key != "selections"]
    assert {*re.findall(r"region\d\d", " ".join(texts(sections)))} == names
    more = [
        plain(group.rows[-1].heading)
        for table in tables
        for group in table.groups
        if "more group" in group.rows[-1].heading
    ]
    assert {*more} == {"20 more groups, 780 rows"}


def tables_of(document):
    blocks = [block for section in document.sections for block in section.blocks]
    while blocks:
        block = blocks.pop(0)
        if type(block).__name__ == "SideBySide":
            blocks = [*block.blocks, *blocks]
        elif type(block).__name__ == "Table":
            yield block
