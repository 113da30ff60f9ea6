"""Limits of all rows, of which only some have a true label."""

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import optimize

import balframe as bf
from balframe.core.strata import Strata
from balframe.stats.completions import Completions
from balframe.stats.partly_labelled import share_gate_limits, share_limits
from balframe.stats.partly_labelled_recalls import MeanRecall, Recall
from balframe.stats.proportions import normal_quantile, wilson
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.reference_values import reference

REFERENCE = reference("partly_labelled")["partly_labelled"]
CLOSE = {"rel": 0, "abs": 1e-9}


def strata_of(given, *, of_positives=False):
    right, labelled, rows = (
        np.array([given[name]], float) for name in ("right", "labelled", "rows")
    )
    if of_positives:  # whose second stratum has positive rows in place of right ones
        right[:, 1] = labelled[:, 1] - right[:, 1]
    return Strata(rows, labelled, right, np.array([[1, 0]]))


@cases("case", REFERENCE)
def test_limits_of_a_share_are_those_of_the_reference(case):
    s, level, expected = strata_of(case["input"]), case["input"]["level"], case["expected"]
    for prefix, limits in (
        ("", share_limits(s, level)),
        ("scas_", share_limits(s, level, skewness=True)),
        ("gamma2_", share_limits(replace(s, doubt=2), level)),
        ("bounds_", Completions.of_share(s).limits(level, None)),
    ):
        found = [limit[0] for limit in limits]
        names = (f"{prefix}lower", f"{prefix}upper")
        assert found == pytest.approx([expected[name] for name in names], **CLOSE)


@cases("case", [case for case in REFERENCE if "recall" in case["expected"]])
def test_limits_of_recalls_are_those_of_the_reference(case):
    s, level, expected = (
        strata_of(case["input"], of_positives=True),
        case["input"]["level"],
        case["expected"],
    )
    predicted = np.array([[True, False]])
    recall, specificity = Recall(s, predicted), Recall(s, ~predicted)
    z = normal_quantile(level)
    of_mean = MeanRecall(recall, specificity).limits(z)

    found = [recall.lowest[0], *(limit[0] for limit in recall.limits(z))]
    names = ("recall", "recall_lower", "recall_upper")
    assert found == pytest.approx([expected[name] for name in names], **CLOSE)
    found = [limit[0] for limit in of_mean]
    assert found == pytest.approx([expected["ba_lower"], expected["ba_upper"]], **CLOSE)


@cases("rows", [(30, 70), (5, 5), (100, 1)])
def test_limits_are_wilsons_if_all_rows_have_a_label(rows):
    n = np.array([rows], float)
    right = np.round(n * [[0.8, 0.4]])
    s = Strata(n, n, right, np.array([[1, 0]]))
    expected = wilson(right.sum(axis=1), n.sum(axis=1), 0.95)

    for found, limit in zip(share_limits(s, 0.95), expected, strict=True):
        assert found == pytest.approx(limit, abs=1e-9)
    lower, upper = share_gate_limits(s, 0.95)
    assert lower <= expected[0] + 1e-9
    assert upper >= expected[1] - 1e-9


def test_bounds_are_those_of_all_completions_of_a_small_table():
    right, labelled, rows = np.array([[2.0, 1.0]]), np.array([[3.0, 2.0]]), np.array([[5.0, 4.0]])
    s = Strata(rows, labelled, right, np.array([[1, 0]]))
    limits = []
    for first, second in product(range(3), range(3)):
        x = np.array([3.0 + first + second])
        limits.append([limit[0] for limit in wilson(x, np.array([9.0]), 0.95)])
    lowers, uppers = zip(*limits, strict=True)

    assert [limit[0] for limit in Completions.of_share(s).limits(0.95, None)] == pytest.approx(
        [min(lowers), max(uppers)]
    )


@cases("doubt", [1.5, 3, 20])
def test_doubt_widens_up_to_the_bounds(doubt):
    for case in REFERENCE:
        s = strata_of(case["input"])
        inner, outer, bounds = (
            share_limits(s, 0.95),
            share_limits(replace(s, doubt=doubt), 0.95),
            share_limits(replace(s, doubt=1e12), 0.95),
        )
        assert bounds[0] <= outer[0] <= inner[0] <= inner[1] <= outer[1] <= bounds[1]


def answers(n=3000, seed=3, share=0.08, *, rejected=None):
    """Draw answers with a judge's verdict, and people's labels for some of them."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    judge = np.where(rng.random(n) < 0.85, truth, ~truth)
    has_label = rng.random(n) < np.where(judge, share, share if rejected is None else rejected)
    return pl.DataFrame(
        {
            "category": np.where(np.arange(n) % 3 == 0, "maths", "code"),
            "judge": judge.astype(int),
            "model": np.where(rng.random(n) < 0.8, truth, ~truth).astype(int),
            "human": pl.Series(truth.astype(int)).set(pl.Series(~has_label), None),
            "truth": truth.astype(int),
        }
    )


def test_a_segment_with_one_kind_of_prediction_has_the_limits_of_its_labels():
    rows, options = answers(), {"metrics": ["recall", "specificity"], "interval": True}
    options["by"] = "judge"
    expected = bf.report(rows.drop_nulls("human"), "human", "judge", **options)

    out = bf.report(rows, "human", "judge", missing="correct", **options)

    assert_frame_equal(out.select(expected.columns[4:]), expected[:, 4:])
    assert out["recall_lower"][1] > 0.9
    difference = bf.gaps(rows, "human", "judge", by="judge", missing="correct", metrics="recall")
    assert difference["lower"][1] > 0.8


def test_estimates_are_weighted_by_strata():
    rows = answers()
    out = bf.report(rows, "human", "judge", missing="correct", metrics=["accuracy", "precision"])
    labelled = rows.drop_nulls("human")
    by_verdict = labelled.group_by("judge").agg((pl.col("human") == pl.col("judge")).mean())
    share = dict(by_verdict.rows())
    selected = rows["judge"].mean()

    expected = selected * share[1] + (1 - selected) * share[0]
    assert out["accuracy"].item() == pytest.approx(expected)
    assert out["precision"].item() == pytest.approx(share[1])
    assert (out["n"].item(), out["n_labelled"].item()) == (3000, labelled.height)


def test_correcting_is_right_where_labels_depend_on_the_prediction_and_dropping_is_wrong():
    misses = {"correct": 0, "drop": 0}
    for seed in range(40):
        rows = answers(seed=seed, share=0.16, rejected=0.02)
        for missing in misses:
            out = bf.report(
                rows, "human", "judge", missing=missing, metrics="specificity", interval=True
            )
            true = bf.report(rows, "truth", "judge", metrics="specificity")["specificity"].item()
            low, high = out["specificity_lower"].item(), out["specificity_upper"].item()
            misses[missing] += not low <= true <= high

    assert misses["correct"] <= 6
    assert misses["drop"] > 35


def test_rows_that_all_have_a_label_give_what_they_give_without_a_correction():
    rows = answers(share=1.1)
    options = {"by": "category", "metrics": ["accuracy", "balanced_accuracy"], "interval": True}
    expected = bf.report(rows, "human", "judge", **options)
    out = bf.report(rows, "human", "judge", missing="correct", **options)

    assert_frame_equal(out.drop("n_labelled"), expected)


@each_constructor
def test_every_library_gives_the_same(constructor):
    rows = answers(600, share=0.6)
    options = {"by": "category", "verdict": "judge", "missing": "correct", "interval": True}
    metrics = ["accuracy", "precision", "recall", "balanced_accuracy", "prevalence"]
    expected = bf.report(rows, "human", "model", metrics=metrics, **options)
    frame = constructor(rows.drop("truth").to_dict(as_series=False))
    out = bf.report(frame, "human", "model", metrics=metrics, backend="polars", **options)

    assert_frame_equal(out, expected)


def test_a_stratum_without_a_label_has_no_estimate_but_limits():
    rows = answers(200, share=0.3)
    rows = rows.with_columns(human=pl.when(pl.col("judge") == 1).then("human"))
    metrics = ["accuracy", "precision"]
    with pytest.warns(bf.BalframeWarning) as caught:
        out = bf.report(rows, "human", "judge", missing="correct", metrics=metrics, interval=True)

    assert str(caught[0].message) == (
        "in 1 of 1 segments, fewer than 5 rows of some prediction have a true label, so estimates "
        "vary widely and limits are wide. Have more of these rows labelled."
    )

    assert out["accuracy"].item() is None
    assert out["precision"].item() is not None


def test_rules_pass_only_if_they_pass_within_doubt_and_bounds():
    rows, rules = answers(), "accuracy >= 0.75"
    statuses = [
        bf.check(rows, "human", "judge", rules=rules, **options)["status"].item()
        for options in (
            {"missing": "correct"},
            {"missing": "correct", "doubt": 3},
            {"missing": "bounds"},
        )
    ]
    assert statuses == ["pass", "inconclusive", "inconclusive"]


@cases(
    ("method", "options", "message"),
    [
        (
            "report",
            {"doubt": 2},
            "doubt=2 is for rows without a true label; give missing='correct' too.",
        ),
        (
            "report",
            {"missing": "correct", "doubt": 0.5},
            "doubt=0.5 is not a ratio of odds; give a number of at least 1, such as 2.",
        ),
        (
            "report",
            {"missing": "bounds", "doubt": 2},
            "doubt is for missing='correct'; the bounds hold whatever the rows without a label "
            "are.",
        ),
        (
            "report",
            {"missing": "correct", "cluster": "category"},
            "cluster='category' cannot be combined with missing='correct': no limits are known for "
            "it. Omit one.",
        ),
        (
            "report",
            {"missing": "correct", "y_pred": ["judge", "model"]},
            "y_pred=['judge', 'model'] names 2 models, but rows without a true label are corrected "
            "for one model at a time.",
        ),
        (
            "report",
            {"missing": "correct", "verdict": "jugde"},
            "column 'jugde' not found; did you mean 'judge'? Columns: category, judge, model, "
            "human, truth.",
        ),
        (
            "check",
            {"missing": "correct", "rules": "accuracy >= baseline", "baseline": "model"},
            "missing='correct' is for rules on metrics of predicted labels without a baseline; "
            "give only such rules, or drop the rows without a true label.",
        ),
        (
            "slices",
            {"missing": "correct", "over": "category"},
            "missing='correct' is not one of the options: 'raise', 'drop'.",
        ),
        (
            "report",
            {"missing": "correct", "interval": "jeffreys"},
            "interval='jeffreys' is not a method for rows without a true label; known are 'score', "
            "'wilson', 'scas'.",
        ),
        (
            "check",
            {"missing": "bounds", "decide": "estimate", "rules": "accuracy >= 0.5"},
            "decide='estimate' leaves the limits aside, and doubt and bounds change nothing else; "
            "omit one.",
        ),
        (
            "check",
            {"missing": "bounds", "interval": "exact", "rules": "accuracy >= 0.5"},
            "interval='exact' is not a method for rows without a true label; known are 'score', "
            "'wilson', 'scas'.",
        ),
    ],
)
def test_bad_requests_are_refused(method, options, message):
    with pytest.raises(bf.BalframeError) as caught:
        getattr(bf, method)(answers(100), "human", **{"y_pred": "judge", **options})

    assert str(caught.value) == message


@cases("metric", ["f1", "cohen_kappa", "geometric_mean"])
def test_metrics_without_a_correction_are_refused(metric):
    with pytest.raises(bf.InvalidInputError, match="cannot be estimated if rows lack a true label"):
        bf.report(answers(100), "human", "judge", missing="correct", metrics=metric)


def chosen_unequally(n=4000, seed=7):
    """Draw answers whose labels depend on being right, with known probabilities."""
    rng = np.random.default_rng(seed)
    rows = answers(n, seed=seed).with_columns(hard=pl.Series(rng.random(n) < 0.5))
    right = np.where(rows["hard"], rng.random(n) < 0.6, rng.random(n) < 0.95)
    probability = np.where(rows["hard"], 0.12, 0.04)
    truth = np.where(right, rows["judge"], 1 - rows["judge"])
    has_label = rng.random(n) < probability
    return rows.with_columns(
        truth=truth,
        human=pl.Series(truth).set(pl.Series(~has_label), None),
        probability=pl.Series(probability).set(pl.Series(~has_label), None),
    )


def test_probabilities_of_being_labelled_are_weights_of_labels():
    rows = chosen_unequally()
    options = {"missing": "correct", "label_probability": "probability", "interval": True}
    out = bf.report(rows, "human", "judge", metrics=["accuracy", "precision"], **options)
    known = rows.drop_nulls("human").with_columns(
        w=1 / pl.col("probability"), right=pl.col("human") == pl.col("judge")
    )
    share, labels = {}, {}
    for judge in (0, 1):
        w = known.filter(judge=judge)["w"].to_numpy()
        right = known.filter(judge=judge)["right"].to_numpy()
        share[judge], labels[judge] = (w * right).sum() / w.sum(), w.sum() ** 2 / (w**2).sum()
    n = [rows.filter(judge=judge).height for judge in (0, 1)]
    expected = (n[0] * share[0] + n[1] * share[1]) / rows.height
    strata = Strata(
        np.array([n], float),
        np.array([[labels[0], labels[1]]]),
        np.array([[labels[0] * share[0], labels[1] * share[1]]]),
        np.array([[0, 1]]),
    )
    lower, upper = share_limits(strata, 0.95)

    assert out["accuracy"].item() == pytest.approx(expected)
    assert out["precision"].item() == pytest.approx(share[1])
    assert out["n_labelled"].item() == known.height
    limits = [out["accuracy_lower"].item(), out["accuracy_upper"].item()]
    assert limits == pytest.approx([lower[0], upper[0]], abs=1e-9)


def test_equal_probabilities_change_nothing():
    rows = answers().with_columns(probability=pl.lit(0.25))
    options = {"missing": "correct", "by": "category", "interval": True}
    metrics = ["accuracy", "recall", "balanced_accuracy", "prevalence"]
    expected = bf.report(rows, "human", "judge", metrics=metrics, **options)
    out = bf.report(
        rows, "human", "judge", metrics=metrics, label_probability="probability", **options
    )

    assert_table(out, plain(expected), close=1e-12)


def test_known_probabilities_are_right_where_labels_depend_on_being_right():
    misses = {None: 0, "probability": 0}
    for seed in range(40):
        rows = chosen_unequally(seed=seed)
        true = bf.report(rows, "truth", "judge", metrics="accuracy")["accuracy"].item()
        for name in misses:
            out = bf.report(
                rows, "human", "judge", missing="correct", label_probability=name,
                metrics="accuracy", interval=True,
            )  # fmt: skip
            low, high = out["accuracy_lower"].item(), out["accuracy_upper"].item()
            misses[name] += not low <= true <= high

    assert misses["probability"] <= 6
    assert misses[None] > 20


@each_constructor
def test_every_library_weights_labels_alike(constructor):
    rows = chosen_unequally(1500).drop("truth")
    options = {
        "missing": "correct",
        "label_probability": "probability",
        "interval": True,
        "metrics": ["accuracy", "recall"],
    }
    expected = bf.report(rows, "human", "judge", **options)
    frame = constructor(rows.to_dict(as_series=False))
    out = bf.report(frame, "human", "judge", backend="polars", **options)

    assert_table(out, plain(expected), close=1e-9)


@cases(
    ("values", "options", "message"),
    [
        ([0.5, 0.0], {}, "column '1 / probability' has 1 null"),
        ([0.5, 1.5], {}, "column '1 / probability' has 1 null"),
        ([0.5, None], {}, "column '1 / probability' has 1 null"),
        (
            [0.5, 0.5],
            {"missing": "drop"},
            "label_probability='probability' is for rows without a true label; give "
            "missing='correct' too.",
        ),
        (
            [0.5, 0.5],
            {"missing": "bounds"},
            "label_probability is for missing='correct'; the bounds hold whatever",
        ),
    ],
)
def test_bad_probabilities_are_refused(values, options, message):
    rows = pl.DataFrame({"human": [1, 0], "judge": [1, 1], "probability": values})
    options = {"missing": "correct", **options}
    with pytest.raises(bf.BalframeError) as caught:
        bf.report(rows, "human", "judge", label_probability="probability", **options)

    assert str(caught.value).startswith(message)


def test_the_least_doubt_is_where_a_verdict_turns():
    rows = answers(4000, share=0.2)
    rules = ["accuracy >= 0.7", "accuracy <= 0.7", "recall >= 0.75", "selection_rate >= 0.2"]
    options = {"missing": "correct", "detail": True, "by": "category"}
    out = bf.check(rows, "human", "judge", rules=rules, **options)
    turned = 0
    for row in out.iter_rows(named=True):
        least = row["least_doubt"]
        if row["status"] == "inconclusive":
            assert least is None
            continue
        if row["rule"].startswith("selection"):
            assert least == np.inf
            continue
        rule = {"rule": row["rule"], "where": {"category": [row["category"]]}}
        for doubt, status in ((least * 0.999, row["status"]), (least * 1.001, "inconclusive")):
            again = bf.check(rows, "human", "judge", rules=[row["rule"]], doubt=doubt, **options)
            own = again.filter(category=rule["where"]["category"][0])
            assert own["status"].item() == status
            turned += 1
    assert turned >= 4


def test_limits_never_narrow_with_doubt_where_labels_are_few():
    s = Strata(
        np.array([[70.0, 30.0]]), np.array([[4.0, 3.0]]), np.array([[3.0, 1.0]]), np.zeros((1, 2))
    )
    widths = []
    for doubt in (1, 1.001, 1.5, 4, 50):
        lower, upper = share_gate_limits(replace(s, doubt=doubt), 0.95)
        widths.append(upper[0] - lower[0])
    assert widths == sorted(widths)


def test_a_corrected_confusion_matrix_adds_up_to_all_rows_and_gives_the_corrected_rates():
    rows, options = answers(share=0.2), {"missing": "correct", "by": "category", "verdict": "judge"}
    cells = bf.confusion(rows, "human", "model", normalize="all", **options)
    scores = bf.report(rows, "human", "model", metrics=["accuracy", "recall"], **options)

    for category, n, accuracy, recall in scores.select(
        "category", "n", "accuracy", "recall"
    ).rows():
        own = cells.filter(category=category)
        estimated = dict(zip(own.select("human", "model").rows(), own["estimated_n"], strict=True))
        assert sum(estimated.values()) == pytest.approx(n)
        assert (estimated[0, 0] + estimated[1, 1]) / n == pytest.approx(accuracy)
        assert estimated[1, 1] / (estimated[1, 0] + estimated[1, 1]) == pytest.approx(recall)
        assert own["share"].to_list() == pytest.approx([x / n for x in own["estimated_n"]])
    assert cells["n"].sum() == rows["human"].count()
    lazy = bf.confusion(rows.lazy(), "human", "model", normalize="all", **options)
    assert lazy.collect_schema() == cells.schema
    assert_frame_equal(lazy.collect(), cells)


def test_a_segment_with_a_stratum_without_labels_has_no_estimated_cells():
    rows = answers(600, share=0.3).with_columns(
        human=pl.when(~((pl.col("category") == "code") & (pl.col("judge") == 1))).then("human")
    )
    with pytest.warns(bf.BalframeWarning):
        cells = bf.confusion(rows, "human", "judge", by="category", missing="correct",
                             normalize="all")  # fmt: skip

    assert cells.filter(category="code")["estimated_n"].is_null().all()
    assert cells.filter(category="code")["share"].is_null().all()
    assert cells.filter(category="maths")["estimated_n"].null_count() == 0


def three_labels(n=6000, seed=1):
    """Draw rows of three labels, of which some are known, mostly of rows predicted to be 2."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    predicted = np.where(rng.random(n) < 0.75, y, rng.integers(0, 3, n))
    has_label = rng.random(n) < np.where(predicted == 2, 0.3, 0.1)
    return pl.DataFrame(
        {"y": pl.Series(y).set(pl.Series(~has_label), None), "p": predicted, "truth": y}
    )


def test_metrics_of_a_positive_label_among_three_are_those_of_that_label_against_the_rest():
    metrics = ["recall", "specificity", "precision", "npv", "prevalence", "selection_rate"]
    options = {"missing": "correct", "interval": True, "metrics": metrics}
    rows = three_labels()
    out = bf.report(rows, "y", "p", pos_label=2, **options)
    binary = rows.select(y=(pl.col("y") == 2) * 1, p=(pl.col("p") == 2) * 1, verdict="p")
    expected = bf.report(binary, "y", "p", verdict="verdict", **options)

    for name in metrics:
        for column in (name, f"{name}_lower", f"{name}_upper"):
            assert out[column].item() == pytest.approx(expected[column].item(), abs=1e-9), column


def test_limits_of_a_label_among_three_hold_its_rates():
    metrics = ["recall", "specificity", "npv", "prevalence", "accuracy"]
    misses = dict.fromkeys(metrics, 0)
    for seed in range(40):
        rows = three_labels(1500, seed)
        options = {"metrics": metrics, "pos_label": 2}
        true = bf.report(rows, "truth", "p", **options)
        out = bf.report(rows, "y", "p", missing="correct", interval=True, **options)
        for name in metrics:
            low, high = out[f"{name}_lower"].item(), out[f"{name}_upper"].item()
            misses[name] += not low <= true[name].item() <= high

    assert max(misses.values()) <= 6, misses


def test_means_of_more_than_two_recalls_have_an_estimate_and_no_limits():
    rows = three_labels().with_columns(g=pl.Series(["a", "b"] * 3000))
    metric = {"metrics": "balanced_accuracy", "missing": "correct"}
    out = bf.report(rows, "y", "p", interval=True, **metric)
    gap = bf.gaps(rows, "y", "p", by="g", **metric)
    extremes = bf.disparity(rows, "y", "p", by="g", **metric)

    assert out["balanced_accuracy"].item() is not None
    for result, names in (
        (out, ["balanced_accuracy_lower", "balanced_accuracy_upper"]),
        (gap, ["lower", "upper", "p_adjusted"]),
        (extremes, ["lower", "upper", "p_value"]),
    ):
        assert result.select(pl.col(names).is_null().all()).row(0) == (True,) * len(names)


NOTE = (
    "Rows without a true label: a correction assumes that they are like those with the same "
    "prediction and verdict that have one; bounds assume nothing."
)


def test_the_assumption_stands_below_tables_and_on_terminals(run, tmp_path):
    rows = answers(share=0.2)
    options = {"by": "category", "missing": "correct"}
    for result in (
        bf.report(rows, "human", "judge", **options),
        bf.check(rows, "human", "judge", rules="accuracy >= 0.5", **options),
    ):
        assert NOTE in bf.table(result).as_raw_html()
    assert NOTE not in bf.table(bf.report(rows, "truth", "judge", by="category")).as_raw_html()
    rows.write_csv(tmp_path / "answers.csv")
    for method, more in (("report", []), ("gaps", []), ("check", ["--rule", "accuracy >= 0.5"])):
        for form in ("table", "markdown"):
            out = run(
                method, tmp_path / "answers.csv", "--y-true", "human", "--y-pred", "judge",
                "--by", "category", "--missing", "correct", "--format", form, *more,
            ).out  # fmt: skip
            assert NOTE in " ".join(out.split()), (method, form)


@pytest.mark.parametrize("by", [None, "category"])
@pytest.mark.parametrize("options", [{"missing": "correct", "verdict": "judge"},
                                     {"missing": "bounds"}])  # fmt: skip
def test_charts_draw_corrected_scores(by, options):
    rows = answers(share=0.3)
    chart = bf.plot.report(rows, "human", "model", by=by, metrics="accuracy", **options).to_dict()
    expected = bf.report(rows, "human", "model", by=by, metrics="accuracy", **options)
    drawn = [
        row["estimate"]
        for data in chart["datasets"].values()
        for row in data
        if row.get("estimate") is not None
    ]

    assert set(expected["accuracy"]) <= set(drawn)


@cases(
    ("change", "message"),
    [
        (
            {"judge": pl.when(pl.col("judge") == 1).then("judge")},
            "column 'judge' has",
        ),
        (
            {"judge": pl.col("judge").cast(pl.String)},
            "labels of different types never compare equal: column 'human' holds numbers, column "
            "'judge' holds strings.",
        ),
        ({"human": pl.col("human") + 0.5}, "column 'human' holds numbers that are not whole"),
    ],
)
def test_errors_of_data_name_the_columns_of_the_caller(change, message):
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(answers(300).with_columns(**change), "human", "judge", missing="correct")

    assert str(caught.value).startswith(message)


def test_frames_without_rows_have_results_without_rows():
    rows, options = answers(300).head(0), {"by": "category", "missing": "correct"}
    for method in (bf.report, bf.classes, bf.gaps, bf.disparity, bf.confusion):
        assert method(rows, "human", "judge", **options).height == 0
    assert bf.power(rows, "human", "judge", rules="accuracy >= 0.5", **options).height == 0


def test_outcomes_have_nothing_to_correct():
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(answers(100), outcome="judge", missing="correct")

    assert str(caught.value) == (
        "outcome has no true labels that could be missing, so missing='correct' does not apply. "
        "Give the verdicts of a judge as y_pred=, and those of people as y_true=: 'prevalence' is "
        "then the rate of rows that passed."
    )


def test_a_warning_of_few_labels_names_verdicts_only_if_there_are_any():
    rows = answers(100, share=0.2)
    with pytest.warns(bf.BalframeWarning, match="or name fewer columns in verdict"):
        bf.report(rows, "human", "model", verdict="judge", missing="correct")


@pytest.mark.parametrize("by", [None, "g"])
def test_each_label_has_the_scores_of_it_against_all_others(by):
    rows = three_labels().with_columns(g=pl.Series(["a", "b"] * 3000))
    options = {"missing": "correct", "by": by, "interval": True}
    names = ["recall", "precision", "specificity", "npv"]
    out = bf.classes(rows, "y", "p", detail=True, **options)

    for label in (0, 1, 2):
        expected = bf.report(rows, "y", "p", metrics=[*names, "prevalence"], pos_label=label,
                             **options)  # fmt: skip
        own = out.filter(label=label)
        columns = [*names, *(f"{name}_{end}" for name in names for end in ("lower", "upper"))]
        assert_table(own.select(columns), plain(expected.select(columns)), close=1e-9)
        assert own["prevalence"].to_list() == pytest.approx(expected["prevalence"].to_list())
    assert out["f1"].null_count() == 0
    assert out["f1_lower"].null_count() == out.height
    assert out["support"].sum() == rows["y"].count()


def test_labels_are_scored_as_today_if_all_rows_have_one():
    rows = three_labels()
    expected = bf.classes(rows, "truth", "p", interval=True, detail=True)
    out = bf.classes(rows, "truth", "p", interval=True, detail=True, missing="correct")

    assert_frame_equal(out, expected)
    lazy = bf.classes(rows.lazy(), "y", "p", missing="correct", interval=True).collect()
    assert_frame_equal(lazy, bf.classes(rows, "y", "p", missing="correct", interval=True))


def test_nulls_of_true_labels_lead_to_the_correction_where_there_is_one():
    rows, advice = answers(100), ' If the others may stand for them, give missing="correct".'
    drop = '; fill them, or give missing="drop" to drop those rows.'
    null = f"column 'human' has {rows['human'].null_count()} null values{drop}"
    for method, message in ((bf.report, null + advice), (bf.posterior, null)):
        with pytest.raises(bf.InvalidInputError) as caught:
            method(rows, "human", "judge")
        assert str(caught.value) == message
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(rows, "judge", "human")
    assert str(caught.value) == null


def constrained_recall(rows, labelled, right, recall):
    """Return the shares of largest likelihood at a recall, and the score statistic, in a search."""
    total = sum(rows)
    w = [each / total for each in rows]

    def shares(p):  # of the first stratum, where right rows are positive
        return p, 1 - w[0] * p * (1 - recall) / (w[1] * recall)

    def minus_log_likelihood(p):
        return -sum(
            x * np.log(q) + (n - x) * np.log(1 - q)
            for x, n, q in zip(right, labelled, shares(p), strict=True)
        )

    most = min(1, w[1] * recall / (w[0] * (1 - recall)))
    fit = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(1e-9, most - 1e-9), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    p = shares(fit.x)
    weights = (w[0] * (1 - recall), w[1] * recall)
    contrast = weights[0] * right[0] / labelled[0] - weights[1] * (1 - right[1] / labelled[1])
    variance = sum(a * a * q * (1 - q) / n for a, q, n in zip(weights, p, labelled, strict=True))
    of_rows = ((1 - recall) * p[0], -recall * (1 - p[1]))
    variance += sum(v * d * d for v, d in zip(w, of_rows, strict=True)) / total
    return p, contrast / np.sqrt(variance)


def test_doubt_about_a_recall_shifts_the_shares_at_its_limits():
    rows, labelled, right = (760, 240), (60, 40), (52, 22)
    s = Strata(*(np.array([each], float) for each in (rows, labelled, right)), np.array([[1, 0]]))
    z, limits = normal_quantile(0.95), {}
    for doubt in (1, 2):
        limits[doubt] = Recall(replace(s, doubt=doubt), s.prediction == 1).limits(z)
    for side, sign, factor in ((0, 1, 1 / 2), (1, -1, 2)):

        def excess(recall, sign=sign):
            return constrained_recall(rows, labelled, right, recall)[1] - sign * z

        limit = optimize.brentq(excess, 0.3, 0.99, xtol=1e-12)
        p, _ = constrained_recall(rows, labelled, right, limit)
        shifted = []
        for q, n, k in zip(p, rows, labelled, strict=True):
            odds = factor * q / (1 - q)
            shifted.append(k / n * q + (1 - k / n) * odds / (1 + odds))
        detected, missed = rows[0] * shifted[0], rows[1] * (1 - shifted[1])
        assert limits[1][side][0] == pytest.approx(limit, abs=1e-6)
        assert limits[2][side][0] == pytest.approx(detected / (detected + missed), abs=1e-6)


@cases("metric", ["recall", "specificity", "balanced_accuracy", "false_negative_rate"])
def test_limits_that_decide_include_those_of_report_and_widen_with_doubt(metric):
    rows, rules = answers(2000, share=0.1), f"{metric} >= 0.5"
    report = bf.report(rows, "human", "judge", metrics=metric, missing="correct", interval=True)
    low, high = (report[f"{metric}_{end}"].item() for end in ("lower", "upper"))
    for doubt in (1, 1.5, 3):
        out = bf.check(rows, "human", "judge", rules=rules, missing="correct", doubt=doubt)
        assert out["lower"].item() <= low + 1e-12
        assert out["upper"].item() >= high - 1e-12
        low, high = out["lower"].item(), out["upper"].item()


def test_doubt_and_bounds_request_limits_unless_these_are_refused():
    rows = answers(600, share=0.5)
    for more in ({"missing": "bounds"}, {"missing": "correct", "doubt": 2}):
        expected = bf.report(rows, "human", "judge", interval=True, **more)
        assert_frame_equal(bf.report(rows, "human", "judge", **more), expected)
        without = bf.report(rows, "human", "judge", interval=False, **more)
        assert "accuracy_lower" not in without.columns
        labels = bf.classes(rows, "human", "judge", **more)
        assert "recall_lower" in labels.columns
