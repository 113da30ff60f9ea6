"""Weighted rows: every figure is that of the method on the rows, and the page says what it is."""

import random

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.design import label_shares
from balframe.audit_page.document import Bullets, Paragraph
from balframe.audit_page.queries import by_name
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import (
    calibration,
    limitations,
    overall_accuracy,
    rules,
    selection_rates,
    thresholds,
    what_was_examined,
    worst_slices,
)
from balframe.errors import InvalidInputError
from tests.support.audits.differences import check_differences
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

RNG = random.Random(5)
N = 600
SCORES = [RNG.choice([0.1, 0.2, 0.4, 0.5, 0.7, 0.9]) for _ in range(N)]
ROWS = pl.DataFrame(
    {
        "g": [RNG.choice("aab") for _ in range(N)],
        "y": [int(RNG.random() < score) for score in SCORES],
        "p": [int(score >= 0.5) for score in SCORES],
        "s": SCORES,
        "w": [RNG.choice([0.25, 0.5, 1.0, 3.0]) for _ in range(N)],
    }
)
OPTIONS = {"sample_weight": "w"}
RULES = ["recall >= 0.6", "difference(accuracy) <= 0.2"]


@pytest.fixture(scope="module")
def weighted():
    return audit_of(ROWS, y_score="s", rules=RULES, min_support=10, options=OPTIONS)


def test_rates_of_all_rows_and_of_groups_are_those_of_report(weighted):
    model = weighted.model
    names = [rate.metric for rate in model.rates.all]
    for by, groups in ((None, [model.overall]), ("g", model.columns[0].groups)):
        rows = bf.report(ROWS, "y", "p", by=by, metrics=names, interval=True, sample_weight="w")
        for row, group in zip(rows.iter_rows(named=True), groups, strict=True):
            assert row.get("g") == group.value
            for rate, estimate in group.rates.items():
                limits = [f"{rate.metric}{end}" for end in ("", "_lower", "_upper")]
                assert estimate[:3] == pytest.approx([row[name] for name in limits], rel=1e-9)
            assert group.n == row["n"]


def test_differences_are_those_of_gaps_at_the_level_of_the_page(weighted):
    check_differences(weighted, ROWS, sample_weight="w")


def test_thresholds_are_those_of_curve_and_ranking(weighted):
    (figures,) = weighted.of(thresholds)
    errors = weighted.model.rates.errors
    names = [rate.metric for rate in errors]
    values = [point.threshold.value for point in figures.points]
    rows = bf.curve(
        ROWS, "y", "s", metrics=names, thresholds=values, interval=True, sample_weight="w"
    )
    for row, point in zip(rows.iter_rows(named=True), figures.points, strict=True):
        for rate in errors:
            assert point.rates[rate].value == pytest.approx(row[rate.metric], rel=1e-9)
        assert point.n_predicted == row["predicted_positive"]
    area = bf.ranking(ROWS, "y", "s", interval=True, sample_weight="w").row(0, named=True)
    expected = [area[name] for name in ("roc_auc", "roc_auc_lower", "roc_auc_upper")]
    assert figures.area[:3] == pytest.approx(expected, rel=1e-9)
    best = bf.best_threshold(ROWS, "y", "s", sample_weight="w", min_support=0).row(0, named=True)
    assert figures.best.threshold.value == best["threshold"]


def test_rules_are_judged_as_by_check(weighted):
    (judgements,) = weighted.of(rules)
    verdicts = bf.check(ROWS, "y", "p", by="g", rules=RULES, min_support=10, sample_weight="w")
    found = {(one.row.get(by_name(0)), one.rule.text): one.row for one in judgements}
    for row in verdicts.iter_rows(named=True):
        own = found[row["g"], row["rule"]]
        assert own["status"] == row["status"]
        expected = [row[name] for name in ("estimate", "lower", "upper")]
        assert [own[name] for name in ("estimate", "lower", "upper")] == pytest.approx(expected)


def test_shares_are_of_weights_and_counts_are_of_rows(weighted):
    model = weighted.model
    for group in [model.overall, *model.columns[0].groups]:
        rows = ROWS if group.value is None else ROWS.filter(g=group.value)
        shares, total = label_shares(model.cells, group), rows["w"].sum()
        assert shares.of_all == pytest.approx(total / ROWS["w"].sum())
        assert shares.true[1] == pytest.approx(rows.filter(y=1)["w"].sum() / total)
        assert shares.predicted[0] == pytest.approx(rows.filter(p=0)["w"].sum() / total)
        assert group.n_true[1] == rows["y"].sum()
    share = ROWS.filter(y=0)["w"].sum() / ROWS["w"].sum()
    assert overall_accuracy.majority_share(model) == pytest.approx(max(share, 1 - share))


def test_matrix_has_counts_of_rows_and_weighted_shares():
    rows = pl.DataFrame(
        {"g": ["a"] * 4, "y": [1, 1, 0, 0], "p": [1, 0, 0, 0], "w": [3.0, 1.0, 1.0, 2.0]}
    )
    audited = audit_of(rows, options=OPTIONS)
    matrix = next(
        block for block in overall_accuracy.section(audited.audit).blocks if hasattr(block, "rows")
    )
    assert matrix.note == "4 rows; weighted shares of each row."
    negative, positive = ([(cell.n, cell.share) for cell in cells] for _, cells in matrix.rows)
    assert negative == [("2", "100%"), ("0", "0%")]
    assert positive == [("1", "25%"), ("1", "75%")]


def test_page_says_once_in_section_1_and_in_the_limitations_what_is_weighted(weighted):
    effective = ROWS["w"].sum() ** 2 / (ROWS["w"] ** 2).sum()
    said = "Rates and shares are weighted by w; counts are of rows."
    examined = next(
        plain(block.text)
        for block in what_was_examined.section(weighted.audit).blocks
        if isinstance(block, Paragraph)
    )
    assert (
        f"{said} For the confidence intervals, these count as about {effective:,.0f} rows of "
        "equal weight (Kish's effective sample size). No value"
    ) in examined
    (bullets,) = limitations.section(weighted.audit, [], 0).blocks
    assert isinstance(bullets, Bullets)
    items = {heading: plain(text) for heading, text in bullets.items}
    assert items["Whether the weights are right."].startswith(said)
    unweighted = " ".join(texts(audit_of(ROWS).document))
    assert "weighted by" not in unweighted


def test_few_effective_rows_are_a_warning():
    heavy = ROWS.with_columns(w=pl.when(pl.int_range(pl.len()) < 3).then(1000.0).otherwise(0.1))
    said = " ".join(texts(audit_of(heavy, options=OPTIONS).document))
    assert "count as about 3 rows of equal weight (Kish's effective sample size), so few that" in (
        said
    )


def test_sections_without_weighted_tests_are_left_out_with_the_reason(weighted):
    two = audit_of(ROWS.with_columns(h=pl.col("s") < 0.3), by=("g", "h"), options=OPTIONS)
    reasons = {
        module: audited.of(module).reason
        for module, audited in (
            (worst_slices, two),
            (selection_rates, weighted),
            (calibration, weighted),
        )
        if isinstance(audited.of(module), LeftOut)
    }
    assert reasons == {
        worst_slices: "the search for combinations has no tests of weighted rows",
        selection_rates: "ratios to the highest have no confidence intervals for weighted rows",
        calibration: "the tests of what scores mean have no known error rates with weights",
    }
    said = " ".join([*texts(weighted.document), *texts(two.document)])
    assert all(f"({reason})" in said for reason in reasons.values())
    without_groups = audit_of(ROWS, by=(), options=OPTIONS)
    assert worst_slices.section(without_groups.audit, without_groups.of(worst_slices)).reason == (
        "no columns of groups were given"
    )


def test_all_weights_of_1_change_no_rate(weighted):
    ones = audit_of(ROWS.with_columns(w=1.0), options=OPTIONS).model
    plain_model = audit_of(ROWS).model
    for rate, estimate in plain_model.overall.rates.items():
        assert ones.overall.rates[rate][:3] == pytest.approx(estimate[:3], rel=1e-9)


def page(frame, **options):
    return bf.audit(frame, "y", "p", by="g", **options).markdown()


def but_for_the_call(text):
    return text.partition("### To repeat it")[0]


def test_page_is_the_same_on_every_library_and_in_any_order():
    options = {"y_score": "s", "sample_weight": "w", "rules": RULES}
    expected = page(ROWS, **options)
    shuffled = ROWS.sample(fraction=1, shuffle=True, seed=3)
    for frame in (ROWS.to_pandas(), ROWS.lazy(), ROWS.to_arrow(), shuffled):
        assert page(frame, **options) == expected


def test_stored_cells_give_the_page_of_their_rows():
    cells = bf.confusion(ROWS, "y", "p", by="g", sample_weight="w")
    named = but_for_the_call(page(ROWS, sample_weight="w"))
    stored = but_for_the_call(page(cells))
    assert stored == named.replace("weighted by w;", "weighted by the weights of the cells;")
    fingerprint = page(ROWS, sample_weight="w").rpartition("sha256 ")[2].split()[0]
    assert fingerprint in page(cells)
    assert fingerprint not in page(ROWS)


def test_stored_sums_of_weights_leave_out_the_section_on_thresholds():
    stored = bf.confusion(ROWS, "y", "p", by=["g", "s"], sample_weight="w")
    found = audit_of(stored, y_score="s", options={"cells": True}).of(thresholds)
    assert found.reason == (
        "cells were given with sums of weights, and a threshold needs the weight of each row"
    )


def test_counts_of_weighted_rows_give_the_figures_of_the_rows(weighted):
    counted = ROWS.group_by("g", "y", "p", "s", "w").len("k")
    options = {**OPTIONS, "counts": "k"}
    model = audit_of(counted, y_score="s", min_support=10, options=options)
    for rate, estimate in weighted.model.overall.rates.items():
        assert model.model.overall.rates[rate] == pytest.approx(estimate, rel=1e-9)
    (own,), (expected,) = model.of(thresholds), weighted.of(thresholds)
    assert own.area[:3] == pytest.approx(expected.area[:3], rel=1e-9)


def test_rows_without_a_weight_raise_or_are_left_out_and_counted():
    holes = ROWS.with_columns(w=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("w"))
    with pytest.raises(InvalidInputError, match="column 'w' has 7 null values"):
        page(holes, sample_weight="w")
    model = audit_of(holes, y_score="s", options={**OPTIONS, "missing": "drop"}).model
    assert (model.overall.n, model.cells.n_missing) == (N - 7, 7)
    assert model.cells.weighted_scores["n"].sum() == N - 7


def test_weights_that_are_all_0_are_refused():
    with pytest.raises(InvalidInputError) as error:
        page(ROWS.with_columns(w=0.0), sample_weight="w")
    assert str(error.value) == "all weights are 0, so there is nothing to audit."


def test_label_whose_rows_all_have_weight_0_is_no_outcome():
    rows = ROWS.with_columns(w=pl.col("y").cast(pl.Float64))
    said = page(rows, sample_weight="w")
    assert "All rows have the same outcome" in said


@cases(
    ("options", "message"),
    [
        ({"sample_weight": "g", "by": "g"}, "column 'g' is given as by and as sample_weight;"),
        (
            {"sample_weight": "s", "y_score": "s"},
            "column 's' is given as y_score and as sample_weight;",
        ),
        ({"sample_weight": "nope"}, "column 'nope' not found."),
    ],
)
def test_weights_in_another_role_are_refused(options, message):
    with pytest.raises(bf.BalframeError) as error:
        bf.audit(ROWS, "y", "p", **options)
    assert str(error.value).startswith(message)
