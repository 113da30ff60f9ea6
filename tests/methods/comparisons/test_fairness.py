import itertools
import math

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.extremes import extreme_limits

COLUMNS = ["criterion", "measure", "estimate", "lower", "upper", "lowest_g", "highest_g"]
COLUMNS += ["n_left_out", "metric", "p_value", "lowest", "highest", "n_segments"]
METRICS = {
    "demographic_parity": ["selection_rate"],
    "equal_opportunity": ["recall"],
    "equalized_odds": ["recall", "false_positive_rate"],
    "predictive_parity": ["precision"],
    "accuracy_equality": ["accuracy"],
    "treatment_equality": ["treatment_ratio"],
}
KEYS = [(name, measure) for name in METRICS for measure in ("difference", "ratio")]
ODDS = ("equalized_odds", "difference"), ("equalized_odds", "ratio")


def random_frame(seed=0, rows=700):
    rng = np.random.default_rng(seed)
    y, right = rng.integers(0, 2, rows), rng.random((2, rows)) < 0.7
    p, q = (np.where(hit, y, rng.integers(0, 2, rows)) for hit in right)
    g, sex = (rng.choice([None, *values], rows).tolist() for values in ("abcd", "fm"))
    w = rng.random(rows) + 0.1
    return pl.DataFrame({"g": g, "sex": sex, "y": y, "p": p, "q": q, "w": w})


def fairness(segments, **options):
    """Measure the criteria on tp, fn, fp, tn of each segment; rows by criterion and measure."""
    g, size = np.repeat([*segments], 4), len(segments)
    n = [count for counts in segments.values() for count in counts]
    frame = pl.DataFrame({"g": g, "y": [1, 1, 0, 0] * size, "p": [1, 0, 1, 0] * size, "n": n})
    out = bf.fairness(
        frame, "y", "p", by="g", counts="n", detail=True, **{"min_support": 1} | options
    )
    assert out.columns == COLUMNS
    rows = {(row["criterion"], row["measure"]): row for row in out.to_dicts()}
    assert [*rows] == KEYS
    return rows


def values_of(row, names):
    return [row[name] for name in names]


def rates_of(part, weight):
    y, p, w = (part[name].to_numpy() for name in ("y", "p", "w"))
    w = w if weight else np.ones(len(y))
    (tn, fp), (fn, _) = sk.confusion_matrix(y, p, sample_weight=w)
    return {
        "selection_rate": np.average(p, weights=w),
        "recall": sk.recall_score(y, p, sample_weight=w),
        "false_positive_rate": fp / (fp + tn),
        "precision": sk.precision_score(y, p, sample_weight=w),
        "accuracy": sk.accuracy_score(y, p, sample_weight=w),
        "treatment_ratio": fn / fp,
    }


@cases("seed", range(4))
@cases("weight", [None, "w"])
def test_estimates_are_differences_and_ratios_of_segment_rates(seed, weight):
    frame = random_frame(seed)
    rates = {g: rates_of(part, weight) for (g,), part in frame.group_by("g", maintain_order=True)}

    out = bf.fairness(frame, "y", "p", by="g", sample_weight=weight, detail=True)

    assert out.columns == COLUMNS
    assert out.select("criterion", "measure").rows() == KEYS
    for row in out.to_dicts():
        found = []
        for metric in METRICS[row["criterion"]]:
            low, high = (end(rate[metric] for rate in rates.values()) for end in (min, max))
            estimate = high - low if row["measure"] == "difference" else low / high
            found.append((estimate, low, high, metric))
        *numbers, metric = (max if row["measure"] == "difference" else min)(found)
        assert row["metric"] == metric
        found = values_of(row, ["estimate", "lowest", "highest"])
        assert found == pytest.approx(numbers, rel=1e-12)
        ends = [rates[row[f"{end}_g"]][metric] for end in ("lowest", "highest")]
        assert ends == pytest.approx(numbers[1:], rel=1e-12)
        assert values_of(row, ["n_segments", "n_left_out"]) == [5, 0]


def test_equalized_odds_takes_the_larger_difference_and_the_smaller_ratio():
    # recalls .9 and .5, false positive rates .15 and .05
    rows = fairness({"a": (90, 10, 15, 85), "b": (50, 50, 5, 95)})
    names = ["metric", "estimate", "lowest_g", "highest_g", "lowest", "highest"]
    difference, ratio = (values_of(rows[key], names) for key in ODDS)
    assert difference == ["recall", pytest.approx(0.4), "b", "a", 0.5, 0.9]
    assert ratio == ["false_positive_rate", pytest.approx(1 / 3), "b", "a", 0.05, 0.15]
    rows = fairness({"a": (90, 10, 5, 95), "b": (90, 10, 50, 50)})
    names = ["metric", "estimate", "lowest_g", "highest_g"]
    expected = ["false_positive_rate", pytest.approx(0.45), "a", "b"]
    assert values_of(rows[ODDS[0]], names) == expected


def test_treatment_equality_compares_false_negatives_per_false_positive():
    rows = fairness({"a": (9, 6, 2, 9), "b": (9, 3, 4, 9), "c": (9, 3, 0, 9)})
    row = rows["treatment_equality", "ratio"]
    assert values_of(row, ["lowest_g", "highest_g", "n_left_out"]) == ["b", "a", 1]
    assert values_of(row, ["lowest", "highest", "estimate"]) == [0.75, 3, 0.25]
    row = rows["treatment_equality", "difference"]
    assert values_of(row, ["estimate", "n_segments", "n_left_out"]) == [2.25, 2, 1]


@cases("level", [0.8, 0.95])
@cases("options", [{}, {"sample_weight": "w"}, {"min_support": 65}])
def test_limits_are_those_of_disparity(level, options):
    frame, options = random_frame(6), {"by": "g", **options}
    metrics = sorted({*itertools.chain(*METRICS.values())})

    out = bf.fairness(frame, "y", "p", level=level, detail=True, **options).to_dicts()

    for row in out:
        of_odds = row["criterion"] == "equalized_odds"  # two families of limits hold together
        each = 1 - (1 - level) / 2 if of_odds else level
        found = bf.disparity(frame, "y", "p", metrics=metrics, level=each, detail=True, **options)
        found = {one["metric"]: one for one in found.to_dicts()}
        measure, found = row["measure"], [found[name] for name in METRICS[row["criterion"]]]
        furthest = max if measure == "difference" else min
        worst = furthest(found, key=lambda one, measure=measure: one[measure])
        for end in ("lower", "upper"):
            value = furthest(
                one[end if measure == "difference" else f"ratio_{end}"] for one in found
            )
            assert row[end] == pytest.approx(value, abs=1e-12)
        ends = [f"{end}{part}" for end in ("lowest", "highest") for part in ("", "_g")]
        names = ["metric", *ends, "n_segments"]
        assert values_of(row, names) == values_of(worst, names)
        assert row["n_left_out"] >= max(one["n_left_out"] for one in found)
        assert row["estimate"] == worst[measure]
        assert row["n_segments"] < 2 or row["lower"] <= row["estimate"] <= row["upper"]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_limits_are_those_of_the_pair_and_simultaneous_over_both_odds(level):
    rows = fairness({"a": (90, 10, 24, 76), "b": (20, 20, 2, 58)}, level=level)
    # selected are 114 of 200 and 22 of 100
    difference, ratio, p = extreme_limits([([114], [200]), ([22], [100])], [1], level)
    ends = ["lower", "upper"]
    expected = pytest.approx(difference, abs=1e-5)
    assert values_of(rows["demographic_parity", "difference"], ends) == expected
    assert rows["demographic_parity", "difference"]["p_value"] == pytest.approx(p, rel=1e-5)
    expected = pytest.approx(ratio, abs=1e-5)
    assert values_of(rows["demographic_parity", "ratio"], ends) == expected
    assert rows["demographic_parity", "ratio"]["p_value"] == pytest.approx(p, rel=1e-5)
    # of the odds: recalls of 90 in 100 and 20 in 40, false alarms in 24 of 100 and 2 of 60
    (hit, _, p_hit), (alarm, _, p_alarm) = (
        extreme_limits([([x], [n]) for x, n in pair], [1], 1 - (1 - level) / 2)
        for pair in (((90, 100), (20, 40)), ((24, 100), (2, 60)))
    )
    furthest = max(hit[0], alarm[0]), max(hit[1], alarm[1])
    assert values_of(rows[ODDS[0]], ends) == pytest.approx(furthest, abs=1e-5)
    assert rows[ODDS[0]]["p_value"] == pytest.approx(2 * min(p_hit, p_alarm), rel=1e-5)


def test_criteria_defined_in_fewer_than_two_segments_are_null():
    rows = fairness({"a": (8, 2, 3, 7), "b": (0, 0, 4, 6)})
    counted = ["n_segments", "n_left_out"]
    for key, row in rows.items():
        if key[0] in ("equal_opportunity", "equalized_odds"):
            expected = ["recall", None, None, None, 1, 1]
            assert values_of(row, ["metric", "estimate", "lower", "upper", *counted]) == expected
            ends = values_of(row, ["lowest_g", "highest_g", "lowest", "highest"])
            assert ends == ["a", "a", 0.8, 0.8]
        else:
            assert row["estimate"] is not None
            assert values_of(row, counted) == [2, 0]
    for row in fairness({"a": (8, 2, 3, 7), "b": (3, 4, 4, 6)}, min_support=50).values():
        known = {"criterion", "measure", "metric"}
        others = {name: value for name, value in row.items() if name not in known}
        assert others == dict.fromkeys(others) | {"n_segments": 0, "n_left_out": 2}


def test_ratios_are_null_if_no_rows_are_selected():
    rows = fairness({"a": (0, 8, 0, 9), "b": (0, 5, 0, 5)})
    names = ["estimate", "lowest", "highest", "n_segments"]
    for name in ("demographic_parity", "equal_opportunity", "equalized_odds"):
        assert values_of(rows[name, "difference"], names) == [0, 0, 0, 2]
        assert values_of(rows[name, "ratio"], names) == [None, 0, 0, 2]
    for name in ("predictive_parity", "treatment_equality"):
        assert values_of(rows[name, "difference"], names) == [None, None, None, 0]


@cases(("hits", "expected"), [(8, 1), (4, 0.5)])
def test_equalized_odds_without_false_positives_have_the_ratio_of_recalls(hits, expected):
    rows = fairness({"a": (hits, 8 - hits, 0, 9), "b": (5, 0, 0, 5)})
    assert values_of(rows[ODDS[0]], ["estimate", "metric"]) == [1 - expected, "recall"]
    # two false positive rates of 0 are equal, but may be so by chance
    assert values_of(rows[ODDS[1]], ["estimate", "metric"]) == [expected, "recall"]
    recalls = rows["equal_opportunity", "ratio"]
    assert rows[ODDS[1]]["lower"] == 0 < recalls["lower"]
    assert rows[ODDS[1]]["p_value"] == pytest.approx(min(2 * recalls["p_value"], 1))


def test_equalized_odds_count_segments_that_lack_either_rate():
    # b has no positives, and c no negatives
    rows = fairness({"a": (8, 2, 3, 7), "b": (0, 0, 4, 6), "c": (5, 5, 0, 0), "d": (6, 4, 1, 9)})
    for key in ODDS:
        assert values_of(rows[key], ["n_segments", "n_left_out"]) == [3, 2]
    for name in ("equal_opportunity", "predictive_parity"):
        left_out = rows[name, "difference"]["n_left_out"]
        assert left_out == (1 if name == "equal_opportunity" else 0)


def test_criteria_are_computed_within_each_margin_and_model():
    frame = random_frame(7)
    out = bf.fairness(frame, "y", ["q", "p"], by=["g", "sex"], margins="all", detail=True)
    segments = [f"{end}_{name}" for end in ("lowest", "highest") for name in ("g", "sex")]
    assert out.columns == ["grouped_by", "model", *COLUMNS[:5], *segments, *COLUMNS[7:]]
    keys = itertools.product(["g, sex", "g", "sex", "overall"], "qp", KEYS)
    found = out.select("grouped_by", "model", "criterion", "measure").rows()
    assert found == [(margin, model, *key) for margin, model, key in keys]
    for model, by in itertools.product("qp", ("g", "sex")):
        alone = bf.fairness(frame, "y", model, by=by, detail=True).drop(
            f"lowest_{by}", f"highest_{by}"
        )
        part = out.filter(grouped_by=by, model=model)
        assert part.select(alone.columns).equals(alone)
    names = ["estimate", "lower", "upper"]
    assert out.filter(grouped_by="overall").select(names).null_count().row(0) == (24, 24, 24)


def test_demographic_parity_of_compas_has_the_expected_ratio():
    compas = bf.datasets.compas().filter(pl.col("race").is_in(["African-American", "Caucasian"]))
    out = bf.fairness(compas, "reoffended", "high_risk", by="race", counts="n", detail=True)
    row = out.filter(criterion="demographic_parity", measure="ratio").row(0, named=True)
    assert row["estimate"] == pytest.approx((854 / 2454) / (2174 / 3696), rel=1e-12)
    assert math.isclose(row["lowest"], 854 / 2454)


@pytest.mark.parametrize("labels", [{0: "aus", 1: "ein"}, {0: 3, 1: 7}])
def test_pos_label_is_required_for_labels_other_than_0_and_1(labels):
    frame = random_frame(2)
    named = frame.with_columns(pl.col("y", "p").replace_strict(labels))
    with pytest.raises(bf.InvalidInputError, match="'selection_rate' needs pos_label="):
        bf.fairness(named, "y", "p", by="g", detail=True)
    out = bf.fairness(named, "y", "p", by="g", pos_label=labels[1], detail=True)
    assert out.equals(bf.fairness(frame, "y", "p", by="g", detail=True))


def test_segments_with_fewer_than_10_rows_in_a_denominator_are_left_out_by_default():
    frame = {"a": (6, 6, 3, 9), "b": (8, 2, 8, 32), "c": (9, 0, 0, 40)}  # c has 9 positives
    rows = fairness(frame, min_support=10)
    defaults = bf.fairness(
        pl.DataFrame({"g": [*"aaaabbbbcccc"], "y": [1, 1, 0, 0] * 3, "p": [1, 0, 1, 0] * 3,
                      "n": [n for counts in frame.values() for n in counts]}),
        "y", "p", by="g", counts="n",
    detail=True).to_dicts()  # fmt: skip

    assert defaults == [*rows.values()]
    opportunity = rows["equal_opportunity", "difference"]
    assert (opportunity["n_segments"], opportunity["n_left_out"]) == (2, 1)
    assert opportunity["estimate"] == pytest.approx(8 / 10 - 6 / 12)
    parity = rows["demographic_parity", "difference"]
    assert (parity["n_segments"], parity["n_left_out"]) == (3, 0)
    assert parity["estimate"] == pytest.approx(9 / 24 - 9 / 49)
