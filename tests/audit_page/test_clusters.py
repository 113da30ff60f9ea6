"""Rows in clusters: every figure is that of the method on the rows, and the page says so."""

import random

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.queries import by_name
from balframe.audit_page.sections import (
    calibration,
    limitations,
    models,
    rules,
    selection_rates,
    thresholds,
    worst_slices,
)
from balframe.errors import InvalidInputError
from tests.support.audits.differences import check_differences
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

RNG = random.Random(9)
N, N_CLUSTERS = 900, 60
SKILLS = [RNG.choice([0.3, 0.6, 0.95]) for _ in range(N_CLUSTERS)]
CLUSTERS = [RNG.randrange(N_CLUSTERS) for _ in range(N)]
TRUTH = [RNG.choice([0, 1]) for _ in range(N)]
ROWS = pl.DataFrame(
    {
        "g": [RNG.choice("aab") for _ in range(N)],
        "y": TRUTH,
        "p": [
            y if RNG.random() < SKILLS[c] else 1 - y for y, c in zip(TRUTH, CLUSTERS, strict=True)
        ],
        "q": [RNG.choice([0, 1]) for _ in range(N)],
        "s": [RNG.choice([0.25, 0.5, 0.75]) for _ in range(N)],
        "id": CLUSTERS,
    }
)
OPTIONS = {"cluster": "id"}
RULES = ["recall >= 0.6", "difference(accuracy) <= 0.2"]


@pytest.fixture(scope="module")
def clustered():
    return audit_of(ROWS, y_score="s", rules=RULES, min_support=10, options=OPTIONS)


def test_rates_are_those_of_report_with_clusters(clustered):
    model = clustered.model
    names = [rate.metric for rate in model.rates.all]
    for by, groups in ((None, [model.overall]), ("g", model.columns[0].groups)):
        rows = bf.report(ROWS, "y", "p", by=by, metrics=names, interval=True, cluster="id")
        for row, group in zip(rows.iter_rows(named=True), groups, strict=True):
            assert row.get("g") == group.value
            for rate, estimate in group.rates.items():
                limits = [f"{rate.metric}{end}" for end in ("", "_lower", "_upper")]
                assert list(estimate[:3]) == [row[name] for name in limits]
            assert group.n == row["n"]


def test_limits_are_wider_than_those_of_independent_rows(clustered):
    independent = audit_of(ROWS).model
    accuracy = independent.rates.by_metric("accuracy")
    own, other = clustered.model.overall.rates[accuracy], independent.overall.rates[accuracy]
    assert own.value == other.value
    assert own.upper - own.lower > 1.2 * (other.upper - other.lower)


def test_differences_are_those_of_gaps_at_the_level_of_the_page(clustered):
    check_differences(clustered, ROWS, cluster="id")


def test_rules_are_those_of_check(clustered):
    (judgements,) = clustered.of(rules)
    verdicts = bf.check(ROWS, "y", "p", by="g", rules=RULES, min_support=10, cluster="id")
    found = {(one.row.get(by_name(0)), one.rule.text): one.row for one in judgements}
    for row in verdicts.iter_rows(named=True):
        own = found[row["g"], row["rule"]]
        assert (own["status"], own["lower"]) == (row["status"], pytest.approx(row["lower"]))


def test_models_are_those_of_gaps_of_groups_in_the_same_clusters():
    both = audit_of(ROWS, y_pred=("p", "q"), options=OPTIONS)
    (pair,) = both.of(models)
    stacked = pl.concat(
        [ROWS.select("id", "y", prediction=name, model=pl.lit(name)) for name in ("p", "q")]
    )
    options = {"level": both.audit.adjustment.level, "cluster": "id", "detail": True}
    gaps = bf.gaps(stacked, "y", "prediction", by="model", reference="p", adjust=None, **options)
    assert (pair.model, pair.baseline) == ("q", "p")
    for row in gaps.filter(pl.col("model") == "q").iter_rows(named=True):
        own = pair.differences[row["metric"]]
        assert list(own.estimate[:3]) == [row[name] for name in ("difference", "lower", "upper")]
        assert own.p == row["p_value"]
        assert own.is_significant == (row["lower"] > 0 or row["upper"] < 0)


def test_rules_against_a_baseline_are_those_of_check():
    rules_on_it, before = "accuracy >= baseline - 0.2", ROWS.with_columns(p="q")
    audited = audit_of(ROWS, rules=[rules_on_it], baseline=before, options=OPTIONS)
    expected = bf.check(
        ROWS, "y", "p", by="g", rules=rules_on_it, baseline=before, min_support=30, cluster="id"
    )
    (judgements,) = audited.of(rules)
    found = [(one.row["status"], one.row["lower"], one.row["upper"]) for one in judgements]
    assert found == expected.select("status", "lower", "upper").rows()


def test_sections_that_need_independent_rows_are_left_out_with_the_reason(clustered):
    reasons = {
        selection_rates: "the confidence intervals of the ratios need independent rows",
        thresholds: "confidence intervals at all thresholds need independent rows",
        calibration: "the tests of what scores mean need independent rows",
    }
    assert {module: clustered.of(module).reason for module in reasons} == reasons
    two = audit_of(ROWS.with_columns(h=pl.col("s") < 0.3), by=("g", "h"), options=OPTIONS)
    assert two.of(worst_slices).reason == "the search for combinations needs independent rows"


def test_page_says_what_is_independent(clustered):
    (bullets,) = limitations.section(clustered.audit, [], 0).blocks
    items = {heading: plain(text) for heading, text in bullets.items}
    assert items["More than the rows can show."] == (
        "The confidence intervals and tests treat the 60 clusters (the values of id) as "
        "independent of each other, not the rows in a cluster. If clusters belong together too, "
        "the intervals are too narrow."
    )
    said = " ".join(texts(clustered.document))
    assert "The rows come in 60 clusters (the values of id)." in said
    assert "treat the rows as independent" not in said


@cases(("n", "is_few"), [(7, True), (8, False)])
def test_few_clusters_are_a_warning(n, is_few):
    rows = ROWS.with_columns(pl.col("id") % n)
    said = " ".join(texts(audit_of(rows, options=OPTIONS).document))
    assert (
        "With fewer than 8 clusters, the confidence intervals are unreliable." in said
    ) == is_few


def test_one_row_in_each_cluster_has_the_limits_of_independent_rows():
    alone = audit_of(ROWS.with_row_index("row"), options={"cluster": "row"}).model
    independent = audit_of(ROWS).model
    accuracy = independent.rates.by_metric("accuracy")
    expected = independent.overall.rates[accuracy]
    assert alone.overall.rates[accuracy][:3] == pytest.approx(expected[:3], rel=1e-6)


def page(frame, **options):
    return bf.audit(frame, "y", "p", by="g", cluster="id", **options).markdown()


def test_page_is_the_same_on_every_library_and_in_any_order():
    expected = page(ROWS, rules=RULES)
    shuffled = ROWS.sample(fraction=1, shuffle=True, seed=3)
    for frame in (ROWS.to_pandas(), ROWS.lazy(), ROWS.to_arrow(), shuffled):
        assert page(frame, rules=RULES) == expected


def test_stored_cells_of_clusters_give_the_page_of_their_rows():
    cells = bf.confusion(ROWS, "y", "p", by="g", cluster="id")
    stored, expected = page(cells), page(ROWS)
    assert stored.partition("### To repeat it")[0] == expected.partition("### To repeat it")[0]
    assert expected.rpartition("sha256 ")[2].split()[0] in stored


def test_rows_without_a_cluster_are_refused_or_left_out():
    holes = ROWS.with_columns(id=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("id"))
    with pytest.raises(InvalidInputError, match="column 'id' has 7 null values"):
        page(holes)
    model = audit_of(holes, options={**OPTIONS, "missing": "drop"}).model
    assert (model.overall.n, model.cells.n_missing) == (N - 7, 7)


def test_weighted_rows_in_clusters_have_the_limits_of_report():
    rows = ROWS.with_columns(w=pl.col("s") * 4 + pl.col("id") % 3)
    options = {"cluster": "id", "sample_weight": "w"}
    model = audit_of(rows, y_score="s", options=options).model
    accuracy = model.rates.by_metric("accuracy")
    report = bf.report(rows, "y", "p", metrics="accuracy", interval=True, **options)
    assert model.overall.rates[accuracy][:3] == pytest.approx(report.row(0)[-3:])
    check_differences(audit_of(rows, options=options), rows, **options)
    cells = bf.confusion(rows, "y", "p", by="g", **options)
    weighted = page(cells)
    assert "Rates and shares are weighted by" in weighted
    assert "The rows come in 60 clusters" in weighted
    assert "sums of weights in each cluster" in weighted
    assert (
        weighted.partition("### To repeat it")[0].replace("the weights of the cells", "w")
        == (page(rows, sample_weight="w").partition("### To repeat it")[0])
    )


@cases(
    ("options", "message"),
    [
        ({"cluster": "g", "by": "g"}, "cluster='g' is also in by;"),
        ({"cluster": "nope"}, "column 'nope' not found."),
    ],
)
def test_clusters_that_no_method_takes_are_refused(options, message):
    with pytest.raises(bf.BalframeError) as error:
        bf.audit(ROWS, "y", "p", **options)
    assert str(error.value).startswith(message)
