"""The numbers of the evidence are those of the methods, called by themselves."""

import math

import polars as pl
import pytest

import balframe as bf
from tests.audit_page.evidence.conftest import people

COUNTED = {"counts": "n"}
LABELS = ("reoffended", "high_risk")


def rows_of(evidence, name, **fields):
    """Return the records of a list that have some values."""
    return [
        record
        for record in evidence[name]
        if all(record[field] == value for field, value in fields.items())
    ]


def only(evidence, name, **fields):
    (record,) = rows_of(evidence, name, **fields)
    return record


def limits(record):
    return record["estimate"], record["lower"], record["upper"]


def test_overall_figures_equal_those_of_report_and_of_counting(compas):
    metrics = ["accuracy", "balanced_accuracy", "recall", "specificity", "precision"]
    metrics += ["false_positive_rate", "false_negative_rate", "selection_rate", "prevalence"]
    (row,) = bf.report(people(), *LABELS, metrics=metrics, interval=True, **COUNTED).to_dicts()

    for metric in metrics:
        figure = only(compas, "figures", metric=metric, group=None)
        assert limits(figure) == (row[metric], row[f"{metric}_lower"], row[f"{metric}_upper"])
        assert figure["interval_level"] == 0.95

    frame = people()
    wrong = frame.filter(pl.col("reoffended") == 0, pl.col("high_risk") == 1)["n"].sum()
    negatives = frame.filter(pl.col("reoffended") == 0)["n"].sum()
    figure = only(compas, "figures", metric="false_positive_rate", group=None)
    assert (figure["estimate"], figure["n"]) == (wrong / negatives, negatives)


def test_figures_of_groups_equal_those_of_report(compas):
    metrics = ["accuracy", "false_positive_rate", "precision", "balanced_accuracy"]
    rows = bf.report(
        people(), *LABELS, by="race", metrics=metrics, interval=True, **COUNTED
    ).to_dicts()

    assert len(rows) == 6
    for row in rows:
        for metric in metrics:
            figures = rows_of(compas, "figures", metric=metric, group={"race": row["race"]})
            figure = next(one for one in figures if one["section"] != "selections")
            assert limits(figure) == (row[metric], row[f"{metric}_lower"], row[f"{metric}_upper"])


def test_small_groups_are_marked_and_in_no_difference(compas):
    (asian,) = rows_of(compas, "figures", metric="false_negative_rate", group={"race": "Asian"})
    others = rows_of(compas, "comparisons", kind="difference", group={"race": "Asian"})

    assert asian["n"] == 9  # below the 10 of min_support
    assert asian["is_small"]
    assert others == []


def test_differences_equal_those_of_gaps_at_the_adjusted_level(compas):
    level = compas["adjustment"]["interval_level"]
    large = people().filter(~pl.col("race").is_in(["Asian", "Native American"]))
    rows = bf.gaps(
        large,
        *LABELS,
        by="race",
        metrics="false_positive_rate",
        adjust=None,
        level=level,
        detail=True,
        **COUNTED,
    ).to_dicts()

    assert len(rows) == 4
    for row in rows:
        record = only(
            compas,
            "comparisons",
            section="chance",
            metric="false_positive_rate",
            group={"race": row["race"]},
        )
        assert limits(record) == (row["difference"], row["lower"], row["upper"])
        assert record["p_value"] == row["p_value"]
        assert record["interval_level"] == level > 0.95
        assert record["compared_with"]["kind"] == "all others"


def test_of_two_groups_the_higher_is_compared_with_the_other(compas):
    record = only(
        compas, "comparisons", section="chance", metric="false_positive_rate", columns=["sex"]
    )
    rates = {
        figure["group"]["sex"]: figure["estimate"]
        for figure in compas["figures"]
        if figure["metric"] == "false_positive_rate" and "sex" in (figure["group"] or {})
    }
    (group,), (other,) = record["group"].values(), record["compared_with"]["group"].values()

    assert record["compared_with"]["kind"] == "group"
    assert rates[group] > rates[other]
    assert record["estimate"] == pytest.approx(rates[group] - rates[other], abs=1e-12)


def test_adjusted_p_values_are_those_of_benjamini_and_hochberg_over_all_comparisons(
    compas, random_evidence
):
    for evidence in (compas, *random_evidence):
        tested = [one for one in evidence["comparisons"] if one["p_value"] is not None]
        adjustment = evidence["adjustment"]
        assert len(tested) == adjustment["n_tests"]
        assert sum(one["established"] for one in tested) == adjustment["n_significant"]
        ordered = sorted(one["p_value"] for one in tested)
        for one in tested:
            expected = min(
                [
                    1.0,
                    *(
                        p * len(tested) / (rank + 1)
                        for rank, p in enumerate(ordered)
                        if p >= one["p_value"]
                    ),
                ]
            )
            assert one["p_adjusted"] == pytest.approx(expected, rel=1e-9)


def test_established_agrees_with_the_p_value_and_with_the_limits(random_evidence, compas):
    n_established, kinds = 0, set()
    for evidence in (compas, *random_evidence):
        for record in evidence["comparisons"]:
            has_limits = None not in (record["lower"], record["upper"])
            excludes = has_limits and not (
                record["lower"] <= record["null_value"] <= record["upper"]
            )
            if record["p_adjusted"] is not None:
                is_small = record["p_adjusted"] < evidence["adjustment"]["alpha"]
                assert record["established"] == is_small, record
            if has_limits:
                assert record["established"] == excludes, record
            n_established += record["established"]
            kinds |= {record["kind"]} if record["established"] else set()
    assert n_established > 100
    assert {"difference", "spread", "furthest", "criterion", "ratio", "same scores"} <= kinds


def test_estimates_lie_within_their_limits(random_evidence, compas):
    n = 0
    for evidence in (compas, *random_evidence):
        for name in ("figures", "comparisons", "combinations", "thresholds"):
            for record in evidence[name]:
                if None not in limits(record):
                    estimate, lower, upper = limits(record)
                    assert lower <= estimate <= upper, record
                    n += 1
    assert n > 3_000


def test_furthest_groups_are_those_of_disparity(compas):
    large = people().filter(~pl.col("race").is_in(["Asian", "Native American"]))
    (row,) = bf.disparity(
        large, *LABELS, by="race", metrics="false_positive_rate", min_support=1, **COUNTED
    ).to_dicts()
    record = only(
        compas,
        "comparisons",
        kind="furthest",
        metric="false_positive_rate",
        columns=["race"],
    )
    spread = only(
        compas, "comparisons", kind="spread", metric="false_positive_rate", columns=["race"]
    )

    assert record["estimate"] == spread["estimate"] == row["difference"]
    assert record["group"] == {"race": row["highest_race"]}
    assert record["compared_with"]["group"] == {"race": row["lowest_race"]}
    assert spread["p_value"] == row["p_value"]
    assert record["lower"] >= spread["lower"]


def test_criteria_are_the_largest_distances_of_their_rates(compas):
    distances = {
        record["metric"]: record
        for record in compas["comparisons"]
        if record["kind"] == "furthest" and record["columns"] == ["age"]
    }
    odds, opportunity = (
        only(compas, "comparisons", kind="criterion", metric=name, columns=["age"])
        for name in ("equalized_odds", "equal_opportunity")
    )
    errors = [distances["false_positive_rate"], distances["false_negative_rate"]]

    assert odds["estimate"] == max(one["estimate"] for one in errors)
    assert odds["upper"] == max(one["upper"] for one in errors)
    assert limits(opportunity) == limits(distances["false_negative_rate"])
    # Those with the highest recall are those with the lowest false negative rate.
    missed = distances["false_negative_rate"]
    assert opportunity["group"] == missed["compared_with"]["group"]


def test_combinations_equal_those_of_slices(compas):
    rows = bf.slices(
        people(),
        *LABELS,
        over=["sex", "race", "age"],
        metrics="false_positive_rate",
        counts="n",
        detail=True,
        top=1_000,
    ).to_dicts()
    listed = rows_of(compas, "combinations", metric="false_positive_rate")
    expected = [row for row in rows if row["depth"] > 1]

    assert len(listed) == len(expected) > 0
    for record, row in zip(listed, expected, strict=True):
        group = {name: row[name] for name in ("sex", "race", "age") if row[name] is not None}
        assert record["group"] == group
        assert limits(record) == (row["difference"], row["lower"], row["upper"])
        assert (record["rate"], record["rate_of_others"]) == (row["estimate"], row["rest"])
        assert record["p_adjusted"] == row["p_adjusted"] < 0.05
        assert (record["n"], record["n_tests"]) == (row["min_support"], row["n_tests"])
    search = only(compas, "searches", metric="false_positive_rate")
    assert (search["problem"], search["n_listed"]) == (None, len(listed))


def test_rules_equal_those_of_check(compas):
    rule = "recall >= 0.6"
    rows = bf.check(people(), *LABELS, by="age", rules=rule, counts="n", min_support=10).to_dicts()
    verdicts = {"pass": "met", "fail": "not met", "inconclusive": "undecided"}

    assert len(rows) == 3
    for row in rows:
        record = only(compas, "rules", rule=rule, group={"age": row["age"]})
        assert limits(record) == (row["estimate"], row["lower"], row["upper"])
        assert (record["verdict"], record["bound"]) == (verdicts[row["status"]], 0.6)
    together = rows_of(compas, "rules", rule="difference(accuracy) <= 0.1")
    assert [record["columns"] for record in together] == [["sex"], ["race"], ["age"]]
    assert [record["group"] for record in together] == [None] * 3


def test_thresholds_equal_those_of_curve_and_the_area_that_of_ranking():
    deciles = bf.datasets.compas_deciles().with_columns(
        called=(pl.col("decile") >= 5).cast(pl.Int64)
    )
    evidence = bf.audit(
        deciles, "reoffended", "called", by="race", y_score="decile", counts="n"
    ).evidence()
    rows = bf.curve(
        deciles,
        "reoffended",
        "decile",
        metrics=["false_positive_rate"],
        interval=True,
        counts="n",
        thresholds=[5.0, 8.0],
    ).to_dicts()
    (ranking,) = bf.ranking(deciles, "reoffended", "decile", counts="n").to_dicts()

    for row in rows:
        record = only(
            evidence,
            "thresholds",
            metric="false_positive_rate",
            group=None,
            threshold=row["threshold"],
        )
        name = "false_positive_rate"
        assert limits(record) == (row[name], row[f"{name}_lower"], row[f"{name}_upper"])
        assert record["in_use"] == (row["threshold"] == 5)
        n = deciles.filter(pl.col("decile") >= row["threshold"])["n"].sum()
        assert record["n_selected"] == n
    (score,) = evidence["scores"]
    assert score["in_use"] == {"threshold": 5.0, "reason": "score", "above": None, "up_to": None}
    never = rows_of(evidence, "thresholds", threshold=None, group=None)
    assert {record["n_selected"] for record in never} == {0}
    area = only(evidence, "figures", metric="roc_auc")
    assert limits(area) == tuple(ranking[f"roc_auc{end}"] for end in ("", "_lower", "_upper"))

    # The charts: of the rows of a group in the denominator.
    record = only(
        evidence,
        "thresholds",
        metric="false_positive_rate",
        group={"race": "Other"},
        threshold=5.0,
    )
    other = deciles.filter(pl.col("race") == "Other", pl.col("reoffended") == 0)
    n, wrong = other["n"].sum(), other.filter(pl.col("decile") >= 5)["n"].sum()
    assert (record["n"], record["estimate"]) == (n, wrong / n)


def test_calibration_equals_that_of_the_methods():
    frame = bf.datasets.compas_deciles().with_columns(
        called=(pl.col("decile") >= 5).cast(pl.Int64), score=pl.col("decile") / 10 - 0.05
    )
    evidence = bf.audit(
        frame, "reoffended", "called", by="race", y_score="score", counts="n"
    ).evidence()
    (overall,) = bf.calibration(
        frame, "reoffended", "score", counts="n", level=0.975, detail=True
    ).to_dicts()
    rows = bf.calibration(
        frame, "reoffended", "score", by="race", counts="n", detail=True
    ).to_dicts()

    record = only(evidence, "calibration", kind="probabilities", group=None)
    assert (record["observed"], record["expected"]) == (overall["observed"], overall["mean_score"])
    assert limits(record["slope"]) == tuple(
        overall[f"slope{end}"] for end in ("", "_lower", "_upper")
    )
    assert record["slope"]["interval_level"] == record["ratio"]["interval_level"] == 0.975
    for row in rows:
        record = only(evidence, "calibration", kind="probabilities", group={"race": row["race"]})
        assert limits(record["ratio"]) == tuple(
            row[f"oe_ratio{end}"] for end in ("", "_lower", "_upper")
        )
        assert record["slope"] is None
    crossing = only(evidence, "comparisons", kind="crossing")
    assert (crossing["estimate"], crossing["columns"]) == (None, ["race"])
    same = rows_of(evidence, "comparisons", kind="same scores")
    for comparison in same:
        pair = only(evidence, "calibration", kind="same scores", group=comparison["group"])
        difference = pair["observed"] - pair["expected"]
        assert math.copysign(1, difference) == math.copysign(1, comparison["estimate"])


def test_selection_rates_equal_those_of_impact(compas):
    rows = bf.impact(
        people(), "high_risk", favourable="selected", by="race", counts="n", detail=True
    ).to_dicts()

    for row in rows:
        group = {"race": row["race"]}
        figure = only(compas, "figures", section="selections", group=group)
        assert (figure["estimate"], figure["n"]) == (row["rate"], row["n"])
        ratios = rows_of(compas, "comparisons", kind="ratio", group=group)
        assert [one["estimate"] for one in ratios] == (
            [] if row["impact_ratio"] is None else [row["impact_ratio"]]
        )
        for one in ratios:
            assert one["compared_with"]["group"] == {"race": row["highest_race"]}
            assert one["p_value"] == row["p_value"]


def test_counts_behind_selection_rates_equal_those_of_impact_and_of_counting(compas):
    names = ["sex", "race"]
    rows = bf.impact(
        people(), "high_risk", favourable="selected", by=names, counts="n", detail=True
    ).to_dicts()
    crossed = [row for row in rows if row["grouped_by"] == "sex, race"]
    records = rows_of(compas, "selections", columns=names)

    assert len(crossed) == len(records) == 12
    for row in crossed:
        record = only(compas, "selections", group={name: row[name] for name in names})
        assert record["role"] == row["role"]
        assert (record["n"], record["n_measured"]) == (row["n"], row["n_favourable"])
        of_group = people().filter(pl.col("sex") == row["sex"], pl.col("race") == row["race"])
        assert record["n"] == of_group["n"].sum()
    assert names in compas["options"]["columns"]["intersections"]


def test_favourable_side_and_median_of_scores_are_named():
    frame = pl.DataFrame(
        {
            "s": [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 10,
            "y": [0, 1] * 40,
            "g": ["a", "b", None, "a", "b", "b", "a", "b"] * 10,
        }
    ).with_columns(p=(pl.col("s") >= 0.5).cast(pl.Int64))
    evidence = bf.audit(frame, "y", "p", by="g", y_score="s", favourable="not selected").evidence()
    above = bf.audit(frame, "y", "p", by="g", y_score="s", favourable="selected").evidence()

    selected = only(evidence, "selections", kind="selection", group={"g": "b"})
    scoring = only(evidence, "selections", kind="scoring", group={"g": "b"})
    unknown = only(evidence, "selections", kind="selection", group=None)
    assert (selected["pos_label"], selected["n"], selected["n_measured"]) == (0, 40, 10)
    assert (scoring["side"], scoring["median"], scoring["n_measured"]) == ("at or below", 0.5, 10)
    assert (unknown["role"], unknown["n"], unknown["n_measured"]) == ("unknown", 10, 10)
    rate = only(evidence, "figures", metric="scoring_rate", group={"g": "b"})
    assert (rate["estimate"], rate["n"], rate["pos_label"]) == (0.25, 40, None)
    rate = only(above, "figures", metric="scoring_rate", group={"g": "b"})
    assert rate["estimate"] == 0.75
    assert only(above, "selections", kind="scoring", group={"g": "b"})["side"] == "above"
    ratio = only(above, "comparisons", metric="scoring_impact_ratio", group={"g": "a"})
    assert ratio["estimate"] == pytest.approx((10 / 30) / (30 / 40), rel=1e-12)


def test_models_equal_those_of_compare(table):
    evidence = bf.audit(table, "y", ["p", "q"], by="g", pos_label="yes").evidence()
    (row,) = bf.compare(
        table,
        "y",
        ["p", "q"],
        metrics="accuracy",
        adjust=None,
        level=evidence["adjustment"]["interval_level"],
        detail=True,
    ).to_dicts()

    record = only(evidence, "comparisons", section="models", metric="accuracy")
    assert limits(record) == (row["difference"], row["lower"], row["upper"])
    assert (record["model"], record["compared_with"]["model"]) == (row["model"], row["baseline"])


def test_examined_counts_rows_groups_and_cells(compas):
    frame = people()
    overall = only(compas, "examined", group=None)
    female = only(compas, "examined", group={"sex": "Female"})
    cell = only(compas, "confusion", y_true=1, y_pred=0)

    assert (overall["n"], overall["n_missing"]) == (frame["n"].sum(), 0)
    women = frame.filter(pl.col("sex") == "Female")
    reoffended = women.filter(pl.col("reoffended") == 1)["n"].sum()
    assert (female["n"], female["labels"][1]["n_true"]) == (women["n"].sum(), reoffended)
    missed = frame.filter(pl.col("reoffended") == 1, pl.col("high_risk") == 0)["n"].sum()
    assert cell["n"] == missed
    assert compas["columns"][1] == {
        "model": "high_risk",
        "column": "race",
        "bins": None,
        "n_groups": 6,
        "n_groups_not_shown": 0,
        "n_not_shown": 0,
    }


def test_groups_that_are_not_shown_are_counted():
    frame = pl.DataFrame({"g": [f"g{i:02}" for i in range(30) for _ in range(i + 1)]}).with_columns(
        y=pl.int_range(pl.len()) % 2, p=pl.int_range(pl.len()) % 3 % 2
    )
    evidence = bf.audit(frame, "y", "p", by="g").evidence()

    (column,) = evidence["columns"]
    assert (column["n_groups"], column["n_groups_not_shown"]) == (30, 10)
    assert column["n_not_shown"] == sum(range(1, 11))
    assert len([one for one in evidence["examined"] if one["group"]]) == 20


def test_rows_that_were_left_out_are_counted_by_what_they_lack():
    frame = pl.DataFrame(
        {
            "y": [None] * 5 + [0, 1] * 20,
            "p": [1] * 5 + [None] * 3 + [0, 1, 1] * 12 + [0],
            "g": ["a"] * 20 + ["b"] * 25,
        }
    )
    evidence = bf.audit(frame, "y", "p", by="g", missing="drop").evidence()

    overall = only(evidence, "left_out", group=None)
    names = ["n", "n_examined", "n_left_out", "n_without_outcome", "n_without_prediction"]
    assert [overall[name] for name in names] == [45, 37, 8, 5, 3]
    assert [only(evidence, "left_out", group={"g": "a"})[name] for name in names] == [
        *(20, 12, 8),
        *(5, 3),
    ]
    examined = only(evidence, "examined", group=None)
    assert (examined["n"], examined["n_missing"], examined["n_only_selected"]) == (37, 8, 5)


def test_bins_of_a_column_are_named():
    frame = pl.DataFrame({"age": range(40), "y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10})
    evidence = bf.audit(frame, "y", "p", by=bf.bins("age", [20])).evidence()

    (column,) = evidence["columns"]
    groups = [one["group"]["age"] for one in evidence["examined"] if one["group"]]
    assert groups == column["bins"]
    assert [only(evidence, "examined", group={"age": name})["n"] for name in groups] == [20, 20]


def test_shares_are_weighted_where_there_are_weights():
    frame = pl.DataFrame(
        {
            "y": [0, 1, 1, 0] * 20,
            "p": [0, 1, 0, 1] * 20,
            "g": ["a", "a", "a", "b"] * 20,
            "w": [1.0, 2.0, 3.0, 4.0] * 20,
        }
    )
    weighted = bf.audit(frame, "y", "p", by="g", sample_weight="w").evidence()
    unweighted = bf.audit(frame, "y", "p", by="g").evidence()

    group, overall = (only(weighted, "examined", group=group) for group in ({"g": "a"}, None))
    assert (group["n"], group["share"]) == (60, pytest.approx(6 / 10))
    assert overall["labels"][1]["share_true"] == pytest.approx(5 / 10)
    assert group["labels"][1]["share_predicted"] == pytest.approx(2 / 6)
    # Kish: the square of the sum over the sum of squares.
    assert overall["n_effective"] == pytest.approx((20 * 10) ** 2 / (20 * (1 + 4 + 9 + 16)))
    cell = only(weighted, "confusion", y_true=1, y_pred=0)
    assert (cell["n"], cell["share"]) == (20, pytest.approx(3 / 5))
    group, overall = (only(unweighted, "examined", group=group) for group in ({"g": "a"}, None))
    assert (group["share"], overall["n_effective"], overall["share"]) == (0.75, None, 1.0)
    assert only(unweighted, "confusion", y_true=1, y_pred=0)["share"] == 0.5
