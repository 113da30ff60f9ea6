"""Evidence on weights, clusters, periods and the baseline is as the schema says, and as methods."""

import random
from datetime import date, timedelta

import polars as pl
import pytest

import balframe as bf
from tests.audit_page.evidence.test_schema import problems
from tests.support.cases import cases

RNG = random.Random(3)
N = 300
ROWS = pl.DataFrame(
    {
        "y": [RNG.choice([0, 1]) for _ in range(N)],
        "p": [RNG.choice([0, 1]) for _ in range(N)],
        "g": [RNG.choice("ab") for _ in range(N)],
        "w": [RNG.choice([0.5, 1.0]) for _ in range(N)],
        "id": [RNG.randrange(60) for _ in range(N)],
        "day": [date(2025, 1, 1) + timedelta(days=RNG.randrange(90)) for _ in range(N)],
    }
)
NOW, THEN = ROWS.head(180), ROWS.tail(120)
MONTHS = bf.period("day", "1mo")
DESIGNS = [{}, {"sample_weight": "w"}, {"cluster": "id"}]


@cases("options", DESIGNS)
def test_evidence_is_valid_and_names_the_columns(options):
    evidence = bf.audit(NOW, "y", "p", by=["g", MONTHS], baseline=THEN, **options).evidence()

    assert problems(evidence) == []
    columns = evidence["options"]["columns"]
    assert columns["time"] == "day"
    assert columns["sample_weight"] == options.get("sample_weight")
    assert columns["cluster"] == options.get("cluster")
    assert (evidence["options"]["every"], evidence["options"]["has_baseline"]) == ("1mo", True)


def test_periods_have_the_rates_of_report_and_a_test_each():
    evidence = bf.audit(NOW, "y", "p", by=MONTHS).evidence()

    rows = bf.report(NOW, "y", "p", metrics="accuracy", interval=True, by=MONTHS)
    figures = [
        figure
        for figure in evidence["figures"]
        if figure["section"] == "time" and figure["metric"] == "accuracy"
    ]
    found = [(one["group"]["period"], one["n"], one["estimate"], one["lower"]) for one in figures]
    expected = rows.select("period", "n", "accuracy", "accuracy_lower").rows()
    assert found == [(day.isoformat(), *values) for day, *values in expected]
    tests = [one for one in evidence["comparisons"] if one["section"] == "time"]
    assert [one["metric"] for one in tests] == [
        "accuracy",
        "false_positive_rate",
        "false_negative_rate",
    ]
    assert all(
        one["columns"] == ["period"] and one["p_adjusted"] >= one["p_value"] for one in tests
    )


def test_changes_have_the_rates_of_the_baseline_and_differences_from_it():
    evidence = bf.audit(NOW, "y", "p", by="g", baseline=THEN).evidence()

    then = {
        (figure["metric"], None if figure["group"] is None else figure["group"]["g"]): figure
        for figure in evidence["figures"]
        if figure["kind"] == "baseline rate"
    }
    changes = [one for one in evidence["comparisons"] if one["section"] == "changes"]
    assert len(changes) == len(then) == 6 + 2 * 2
    for change in changes:
        group = None if change["group"] is None else change["group"]["g"]
        own_now, own_then = (
            rows if group is None else rows.filter(g=group) for rows in (NOW, THEN)
        )
        now, before = (
            bf.report(rows, "y", "p", metrics=change["metric"])[change["metric"]].item()
            for rows in (own_now, own_then)
        )
        assert then[change["metric"], group]["estimate"] == before
        assert change["estimate"] == pytest.approx(now - before)
        assert change["compared_with"] == {"kind": "baseline", "group": None, "model": None}


@cases(("options", "reason"), [({"sample_weight": "w"}, "weight"), ({"cluster": "id"}, "cluster")])
def test_rows_without_a_weight_or_a_cluster_are_counted(options, reason):
    (column,) = options.values()
    holes = NOW.with_columns(
        pl.when(pl.int_range(pl.len()) >= 11).then(column).alias(column),
        y=pl.when(pl.int_range(pl.len()) >= 4).then("y"),
    )
    page = bf.audit(holes, "y", "p", missing="drop", **options)
    (left_out,) = page.evidence()["left_out"]

    assert problems(page.evidence()) == []
    assert left_out["n_left_out"] == 11
    assert left_out["n_without_outcome"] == 4
    assert left_out[f"n_without_{reason}"] == 7
    assert f"their outcome (4) or {reason} (7) is missing" in page.markdown()
