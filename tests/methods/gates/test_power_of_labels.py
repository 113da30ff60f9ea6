"""How many rows of each stratum to label, beside formulas, simulated labels and drawn rows."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.core.strata import Strata
from balframe.methods.gates.plan_labels import LabelPlan
from balframe.stats.partly_labelled import share_gate_limits
from balframe.stats.partly_labelled_recalls import LinearScore, MeanRecall, Recall
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.partly_labelled import answers, three_labels

Z = np.array([1.959963984540054])
CORRECT = {"missing": "correct"}


def pilot(theta, sensitivity, specificity, n):
    """Return strata by the verdict of a judge, whose shares are known as from a huge pilot."""
    positive = theta * sensitivity + (1 - theta) * (1 - specificity)
    share = np.array([theta * sensitivity / positive, theta * (1 - sensitivity) / (1 - positive)])
    rows = n * np.array([[positive, 1 - positive]])
    many = np.full((1, 2), 1e9)
    return Strata(rows, many, many * share, np.array([[1, 0]]))


@cases(
    ("theta", "judge", "n", "half_width", "labels"),
    [(0.8, (0.9, 0.8), 1000, 0.05, 137), (0.95, (0.97, 0.6), 4000, 0.05, 42)],
)
def test_labels_for_a_half_width_are_those_of_neyman(theta, judge, n, half_width, labels):
    strata = pilot(theta, *judge, n)
    plan = LabelPlan.of(LinearScore.of_share(strata), 0.5, Z)
    p, w = strata.right / strata.labelled, strata.share
    of_rows = (w * (p - theta) ** 2).sum() / n
    spread = w * np.sqrt(p * (1 - p))
    expected = spread.sum() ** 2 / ((half_width / Z[0]) ** 2 - of_rows)
    planned = plan.for_half_width(half_width, Z[0])

    assert expected == pytest.approx(labels, abs=0.6)
    assert planned.sum() == pytest.approx(expected, abs=2)
    assert planned[0] == pytest.approx(expected * (spread / spread.sum())[0], abs=1)
    assert plan.with_labels(planned).half_width(Z[0])[0] == pytest.approx(half_width, rel=0.02)


@cases(
    ("theta", "judge", "n", "bound", "power"),
    [
        (0.8, (0.9, 0.8), 1000, 0.7, 0.8),
        (0.9, (0.95, 0.7), 2000, 0.84, 0.8),
        (0.95, (0.97, 0.6), 4000, 0.92, 0.8),
        (0.7, (0.6, 0.5), 1000, 0.6, 0.8),
        (0.942, (0.9363, 0.69), 4000, 0.92, 0.3),  # about five wrong labels of a verdict
        (0.942, (0.9363, 0.69), 4000, 0.92, 0.95),
    ],
)
def test_power_is_how_often_a_rule_passes(theta, judge, n, bound, power):
    rng = np.random.default_rng(41)
    strata, n_samples = pilot(theta, *judge, n), 4000
    plan = LabelPlan.of(LinearScore.of_share(strata), bound, Z)
    labels = plan.for_power(np.array([power]))
    stated = plan.with_labels(labels).pass_probability()[0]
    p, w = (strata.right / strata.labelled)[0], strata.share[0]
    positive = rng.binomial(n, w[0], n_samples)
    rows = np.stack([positive, n - positive], axis=1).astype(float)
    right = rng.binomial(labels[0].astype(int), p, (n_samples, 2)).astype(float)
    drawn = Strata(rows, np.tile(labels, (n_samples, 1)), right, np.zeros((n_samples, 2), int))
    lower, _ = share_gate_limits(drawn, 0.95)

    assert stated == pytest.approx(power, abs=0.02)
    assert (lower > bound).mean() == pytest.approx(stated, abs=0.04)


@cases(
    ("which", "theta", "judge", "n", "bound"),
    [
        ("recall", 0.8, (0.9, 0.8), 1000, 0.85),
        ("recall", 0.3, (0.7, 0.9), 4000, 0.6),
        ("specificity", 0.5, (0.9, 0.8), 4000, 0.72),
        ("mean", 0.5, (0.9, 0.8), 2000, 0.8),
        ("mean", 0.1, (0.99, 0.95), 4000, 0.92),  # few wrong labels of the rejected
        ("mean", 0.3, (0.97, 0.6), 4000, 0.685),
    ],
)
def test_power_of_a_rule_on_recalls_is_how_often_it_passes(which, theta, judge, n, bound):
    rng, n_samples = np.random.default_rng(43), 2000

    def score(s):
        recall, specificity = Recall(s, s.prediction == 1), Recall(s, s.prediction == 0)
        if which == "mean":
            return MeanRecall(recall, specificity)
        return recall if which == "recall" else specificity

    s = pilot(theta, *judge, n)
    s.right[:, 1] = s.labelled[:, 1] - s.right[:, 1]  # right rows in place of positive ones
    linear = score(s).linearised() if which == "mean" else score(s).contrast(bound)
    options = (bound, Z, s.prediction == 1) if which == "mean" else (0, Z)
    plan = LabelPlan.of(linear, *options)
    labels = plan.for_power(np.array([0.8]))
    stated = plan.with_labels(labels).pass_probability()[0]
    accepted = rng.binomial(n, s.share[0, 0], n_samples)
    rows = np.stack([accepted, n - accepted], axis=1).astype(float)
    labelled = np.minimum(labels, rows)
    right = rng.binomial(labelled.astype(int), (s.right / s.labelled)[0]).astype(float)
    drawn = Strata(rows, labelled, right, np.tile([[1, 0]], (n_samples, 1)))
    lower, _ = score(drawn).limits(Z[0], "rule")

    assert stated == pytest.approx(0.8, abs=0.02)
    assert (lower > bound).mean() == pytest.approx(stated, abs=0.05)


@cases(
    ("rule", "other", "times"),
    [
        ("accuracy >= 0.7", "hamming_loss <= 0.3", 1),
        ("recall >= 0.8", "false_negative_rate <= 0.2", 1),
        ("balanced_accuracy >= 0.7", "informedness >= 0.4", 2),
    ],
)
def test_images_of_a_metric_have_the_same_plan(rule, other, times):
    rows = answers(4000, share=0.05)
    options = {"by": "category", "detail": True, **CORRECT}
    plan = bf.power(rows, "human", "judge", rules=rule, **options)
    image = bf.power(rows, "human", "judge", rules=other, **options)

    columns = ["power_at_zero", "labels_needed", "n", "n_labelled"]
    assert_table(plan.select(columns), plain(image.select(columns)), close=1e-9)
    widths = [None if each is None else times * each for each in plan["half_width"]]
    assert image["half_width"].to_list() == pytest.approx(widths)
    given = bf.power(rows, "human", "judge", rules=rule, half_width=0.1, **options)
    image = bf.power(rows, "human", "judge", rules=other, half_width=0.1 * times, **options)
    assert given["labels_needed"].to_list() == image["labels_needed"].to_list()


def test_means_of_more_than_two_recalls_are_not_planned():
    with pytest.raises(
        bf.InvalidInputError, match="is a mean of 3 recalls, and labels are planned"
    ):
        bf.power(three_labels(), "y", "p", rules="balanced_accuracy >= 0.5", **CORRECT)


def test_every_library_has_the_columns_of_a_plan():
    rows = answers(900, share=0.4)
    options = {"by": "category", "rules": "accuracy >= 0.6", **CORRECT}
    plan = bf.power(rows, "human", "judge", **options)
    lean = ["category", "judge", "rule", "estimate", "power", "labels_needed", "n_labelled", "n"]
    assert plan.columns == lean
    details = ["bound", "power_at_zero", "half_width"]
    assert bf.power(rows, "human", "judge", detail=True, **options).columns == [*lean, *details]

    lazy = bf.power(rows.lazy(), "human", "judge", **options)
    assert lazy.collect_schema() == plan.schema
    assert_frame_equal(lazy.collect(), plan)
    in_pandas = bf.power(rows.to_pandas(), "human", "judge", **options)
    assert_table(in_pandas, plain(plan))


def test_segments_may_be_named_by_a_selector():
    rows = answers(900, share=0.4)
    options = {"rules": "accuracy >= 0.6", **CORRECT}
    by = pl.selectors.by_name("category")
    plan = bf.power(rows, "human", "judge", by=by, **options)
    assert_frame_equal(plan, bf.power(rows, "human", "judge", by="category", **options))
    with pytest.raises(bf.BalframeError, match="by names a column twice: 'category', 'category'"):
        bf.power(rows, "human", "judge", by=["category"] * 2, **options)


def test_a_row_per_stratum_says_what_it_has_and_needs():
    rows = answers(4000, share=0.05)
    plan = bf.power(
        rows, "human", "model", by="category", rules="accuracy >= 0.6", missing=bf.correct("judge")
    )
    keys = ["category", "judge", "model"]
    counted = (
        rows.group_by(keys)
        .agg(n=pl.len().cast(pl.Int64), n_labelled=pl.col("human").count().cast(pl.Int64))
        .sort(keys)
    )

    assert_frame_equal(plan.select(*keys, "n", "n_labelled"), counted)
    assert (plan["labels_needed"] >= 5).all()
    assert (plan["labels_needed"] <= plan["n"]).all()
    report = bf.report(rows, "human", "model", by="category", metrics="accuracy",
                       missing=bf.correct("judge"))  # fmt: skip
    expected = dict(report.select("category", "accuracy").rows())
    for category, estimate in plan.select("category", "estimate").rows():
        assert estimate == pytest.approx(expected[category])


def test_a_rule_of_some_segments_is_planned_for_these_alone():
    rows = answers(4000, share=0.05)
    rule = {"rule": "accuracy >= 0.7", "where": {"category": ["maths"]}}
    options = {"by": "category", "detail": True, **CORRECT}
    plan = bf.power(rows, "human", "judge", rules=[rule, "accuracy >= 0.6"], **options)
    alone = bf.power(
        rows.filter(category="maths"), "human", "judge", rules="accuracy >= 0.7", **options
    )

    assert plan.select("category", "judge", "rule").rows() == [
        ("code", 0, "accuracy >= 0.6"),
        ("code", 1, "accuracy >= 0.6"),
        ("maths", 0, "accuracy >= 0.7"),
        ("maths", 0, "accuracy >= 0.6"),
        ("maths", 1, "accuracy >= 0.7"),
        ("maths", 1, "accuracy >= 0.6"),
    ]
    assert_table(plan.filter(rule="accuracy >= 0.7"), plain(alone), close=1e-9)


def test_labels_are_null_where_labels_of_all_rows_do_not_suffice():
    rows = answers(300, share=0.5)
    plan = bf.power(rows, "human", "judge", rules="accuracy >= 0.84", power=0.99, **CORRECT)

    assert plan["labels_needed"].to_list() == [None, None]
    with pytest.raises(bf.InvalidInputError, match="the plan has no 'labels_needed' for judge=0"):
        bf.draw_rows(rows.with_row_index("id"), plan, "human", key="id")


@pytest.fixture
def planned():
    rows = answers(2000, share=0.05).with_row_index("id")
    plan = bf.power(
        rows, "human", "model", by="category", rules="accuracy >= 0.7", missing=bf.correct("judge")
    )
    return rows, plan


def test_drawn_rows_have_no_label_and_are_as_many_as_planned(planned):
    rows, plan = planned
    drawn = bf.draw_rows(rows, plan, "human", key="id")

    assert drawn["human"].null_count() == drawn.height
    assert drawn["id"].is_sorted()
    keys = ["category", "judge", "model"]
    per_stratum = {(row[:3]): row[3] for row in drawn.group_by(keys).agg(pl.len()).iter_rows()}
    for *stratum, needed, labelled in plan.select(*keys, "labels_needed", "n_labelled").rows():
        assert per_stratum.get(tuple(stratum), 0) == max(needed - labelled, 0)
    labelled = rows.with_columns(
        human=pl.when(pl.col("id").is_in(drawn["id"].implode())).then("truth").otherwise("human")
    )
    again = bf.draw_rows(labelled, plan, "human", key="id")
    assert again.height == 0


def test_the_same_rows_are_drawn_in_any_order_and_another_seed_draws_others(planned):
    rows, plan = planned
    drawn = set(bf.draw_rows(rows, plan, "human", key="id")["id"])

    assert set(bf.draw_rows(rows.sample(fraction=1, seed=1, shuffle=True), plan, "human",
                            key="id")["id"]) == drawn  # fmt: skip
    assert set(bf.draw_rows(rows, plan, "human", key="id", seed=1)["id"]) != drawn
    assert set(bf.draw_rows(rows.lazy(), plan, "human", key="id")["id"]) == drawn


@each_constructor
def test_every_library_draws_the_same(planned, constructor):
    rows, plan = planned
    expected = sorted(bf.draw_rows(rows, plan, "human", key="id")["id"])
    frame = constructor(rows.to_dict(as_series=False))
    drawn = bf.draw_rows(frame, plan, "human", key="id")

    drawn = nw.from_native(drawn).lazy().collect()
    assert sorted(map(int, drawn["id"].to_list())) == expected


@cases(
    ("options", "message"),
    [
        (
            {"half_width": 0.05},
            "half_width=0.05 is for rows to be labelled; give missing='correct' too.",
        ),
        (
            {"half_width": 2, **CORRECT},
            "half_width=2 is not the half width of an interval; give a number between 0 and 0.5, "
            "such as 0.05.",
        ),
        (
            {"design": bf.design(trials=3), **CORRECT},
            "trials cannot be combined with missing='correct', which plans how many rows to label; "
            "omit one.",
        ),
        (
            {"rules": "selection_rate >= 0.5", **CORRECT},
            "metric 'selection_rate' cannot be planned if rows lack a true label; known are "
            "'accuracy', 'hamming_loss', 'precision', 'false_discovery_rate', 'npv', "
            "'false_omission_rate', 'recall', 'false_negative_rate', 'specificity', "
            "'false_positive_rate', 'balanced_accuracy', 'adjusted_balanced_accuracy', "
            "'informedness', 'prevalence'.",
        ),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(bf.BalframeError) as caught:
        bf.power(answers(300), "human", "judge", **{"rules": "accuracy >= 0.5", **options})

    assert str(caught.value) == message


def test_bad_keys_and_plans_are_refused(planned):
    rows, plan = planned
    with pytest.raises(bf.InvalidInputError, match="has the same value in several rows"):
        bf.draw_rows(rows, plan, "human", key="judge")
    with pytest.raises(bf.InvalidInputError, match="key='human' has nulls"):
        bf.draw_rows(rows, plan, "human", key="human")
    with pytest.raises(bf.InvalidInputError, match="plan has no column 'labels_needed'"):
        bf.draw_rows(rows, rows, "human", key="id")
    with pytest.raises(bf.UnknownNameError, match="column 'idd' not found; did you mean 'id'"):
        bf.draw_rows(rows, plan, "human", key="idd")


def test_recalls_of_rows_with_one_prediction_are_not_planned():
    rows = pl.DataFrame({"y": [1, 1, 0, *[None] * 60], "p": [1] * 63})
    with pytest.warns(bf.BalframeWarning, match="fewer than 5 rows"):
        plan = bf.power(rows, "y", "p", rules="recall >= 0.9", labels=[0, 1], **CORRECT)

    assert plan["estimate"].to_list() == [1.0]
    assert plan["labels_needed"].to_list() == [None]
