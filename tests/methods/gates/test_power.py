"""What a gate can see: chances, differences and rows needed, in every segment."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.methods.gates import power_batches
from balframe.methods.gates.power_functions import ScorePower
from balframe.methods.gates.power_of_proportions import ProportionPower
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.segment_counts import cells, letters, table, two_models
from tests.support.reference_values import reference

COLUMNS = [
    *("g", "rule", "estimate", "power", "detectable_difference", "power_at_zero", "rows_needed"),
    *("n", "min_support", "bound", "rows_needed_per_label", "reliability"),
]
FOUND = ["detectable_difference", "power_at_zero", "rows_needed", "rows_needed_per_label"]
FOUND += ["reliability"]
# true positives, false negatives, false positives, true negatives
NOW = {"a": (160, 40, 30, 120), "b": (75, 15, 33, 47)}
BEFORE = {"a": (170, 30, 30, 120), "b": (60, 30, 33, 47)}


def power(segments, rules, **options):
    options = {"by": "g", "counts": "n"} | options
    return bf.power(pl.DataFrame(table(**segments)), "y", "p", rules=rules, detail=True, **options)


def most_that_fail(n, bound, tail):
    """Find the most right rows with an upper limit of Clopper and Pearson below the bound."""
    upper = stats.beta.ppf(1 - tail, np.arange(n) + 1, n - np.arange(n))
    return np.flatnonzero(upper < bound).max(initial=-1)


def fewest_that_pass(n, bound, tail):
    lower = stats.beta.ppf(tail, np.arange(1, n + 1), n - np.arange(n))
    return np.flatnonzero(np.append(lower > bound, True)).min() + 1


def averaged(probability, total, share):
    """Average a probability over the denominators of samples of so many rows."""
    d = np.arange(1, total + 1)
    weight = stats.binom.pmf(d, total, share)
    return sum(w * probability(n) for n, w in zip(d, weight, strict=True) if w > 1e-13)


def passes(p, bound, tail):
    return lambda n: stats.binom.sf(fewest_that_pass(n, bound, tail) - 1, n, p)


def fails(p, bound, tail):
    return lambda n: stats.binom.cdf(most_that_fail(n, bound, tail), n, p)


@pytest.mark.parametrize("adjust", ["bonferroni", None])
def test_power_of_a_proportion_equals_binomial_probabilities(adjust):
    out = power(NOW, "recall >= 0.7", adjust=adjust)

    assert out.columns == COLUMNS
    assert out["n"].to_list() == [350, 170]
    assert out["min_support"].to_list() == [150, 80]
    assert out["estimate"].to_list() == [160 / 200, 75 / 90]
    assert out["reliability"].to_list() == ["exact", "exact"]
    tail = 0.025 / (2 if adjust else 1)
    for row, (x, n) in zip(out.to_dicts(), ((160, 200), (75, 90)), strict=True):
        sample = row["n"], n / row["n"]  # the positive rows of a sample are random
        pass_probability = averaged(passes(x / n, 0.7, tail), *sample)
        assert row["power_at_zero"] == pytest.approx(pass_probability, abs=1e-9)
        fallen = x / n - row["detectable_difference"]
        assert averaged(fails(fallen, 0.7, tail), *sample) == pytest.approx(0.8, abs=1e-9)


def test_power_of_accuracy_has_a_fixed_denominator():
    row = power({"a": (160, 40, 30, 120)}, "accuracy >= 0.7").row(0, named=True)

    pass_probability = passes(0.8, 0.7, 0.025)(350)
    assert row["power_at_zero"] == pytest.approx(pass_probability, abs=1e-12)
    fallen = 0.8 - row["detectable_difference"]
    assert fails(fallen, 0.7, 0.025)(350) == pytest.approx(0.8, abs=1e-9)


def test_samples_below_min_support_do_not_pass():
    counts = {"a": (20, 0, 5, 75)}

    few, many = (
        power(counts, "recall >= 0.5", min_support=k)["power_at_zero"].item() for k in (1, 20)
    )

    assert few == pytest.approx(1, abs=1e-4)
    assert many == pytest.approx(stats.binom.sf(19, 100, 0.2), abs=1e-9)


RANDOM = [  # rule, true positives, false negatives, all rows; pass probability and rows needed
    ("precision >= 0.5", 10, 2, 100, 0.5636, 153),
    ("recall >= 0.8", 36, 4, 2000, 0.3029, 5572),
]


@cases(("rule", "right", "wrong", "n", "pass_probability", "rows_needed"), RANDOM)
def test_power_of_random_denominators_equals_simulated_figures(
    rule, right, wrong, n, pass_probability, rows_needed
):
    rest = n - right - wrong
    counts = (right, 0, wrong, rest) if "precision" in rule else (right, wrong, 0, rest)

    row = power({"a": counts}, rule).row(0, named=True)

    assert row["power_at_zero"] == pytest.approx(pass_probability, abs=5e-5)
    assert row["rows_needed"] == rows_needed


@pytest.mark.parametrize(
    ("counts", "rule", "bound"),
    [
        ((160, 40, 30, 120), "recall >= 0.7", 0.7),
        ((285, 15, 2, 8), "recall >= 0.9", 0.9),
        ((9, 1, 2, 188), "recall >= 0.6", 0.6),
        ((90, 0, 10, 0), "precision >= 0.8", 0.8),
    ],
    ids=str,
)
def test_rows_needed_has_the_power_and_keeps_it_with_more_rows(counts, rule, bound):
    row = power({"a": counts}, rule).row(0, named=True)

    denominator = counts[0] + counts[2 if "precision" in rule else 1]
    p, share, needed = counts[0] / denominator, denominator / row["n"], row["rows_needed"]
    ahead = np.arange(needed - 1, int(1.04 * needed) + 1)
    found = [averaged(passes(p, bound, 0.025), n, share) for n in ahead]
    assert found[0] < 0.8 <= min(found[1:])


def test_rows_needed_per_label_is_the_smallest_size_with_the_power():
    out = power({"a": (160, 40, 30, 120)}, "recall >= 0.7", power=0.9)

    per_label, p = out["rows_needed_per_label"].item(), 0.8
    sizes = np.arange(per_label - 1, per_label + 60)
    found = [passes(p, 0.7, 0.025)(n) for n in sizes]
    assert found[0] < 0.9 <= min(found[1:])


def test_a_rule_on_the_complement_has_the_same_power():
    rules = ["recall >= 0.7", "false_negative_rate <= 0.3"]

    one, other = power(NOW, rules).partition_by("rule")

    assert other["estimate"].to_list() == pytest.approx((1 - one["estimate"]).to_list())
    assert_table(other.select(FOUND), plain(one.select(FOUND)), close=1e-9)


def test_each_power_has_a_row():
    out = power(NOW, ["uar >= 0.6", "recall >= 0.7"], power=[0.5, 0.9])

    assert out["power"].to_list() == [0.5, 0.9] * 4
    assert out["rule"].to_list() == (["uar >= 0.6"] * 2 + ["recall >= 0.7"] * 2) * 2
    for one in out.partition_by("g", "rule"):
        assert one["power_at_zero"].n_unique() == 1
        assert one["detectable_difference"].is_sorted()
        assert one["rows_needed"].is_sorted()
    alone = power(NOW, ["uar >= 0.6", "recall >= 0.7"], power=0.9)
    assert out.filter(power=0.9).equals(alone)


RULES_OF_EVERY_KIND = ["recall >= 0.7", "uar >= 0.6", "uar >= baseline - 0.1"]


@pytest.mark.thorough
def test_many_powers_in_several_blocks_are_those_of_each_alone(monkeypatch):
    powers = [0.1, 0.5, 0.8, 0.95]
    alone = [power(NOW, RULES_OF_EVERY_KIND, baseline=cells(BEFORE), power=one) for one in powers]

    monkeypatch.setattr(power_batches, "_BLOCK_SIZE", 3)  # parts of the powers of a segment
    out = power(NOW, RULES_OF_EVERY_KIND, baseline=cells(BEFORE), power=powers)

    for one, expected in zip(powers, alone, strict=True):
        of_power = out.filter(power=one)
        assert_table(of_power.select(FOUND), plain(expected.select(FOUND)), close=1e-9)


def test_many_powers_take_as_many_steps_as_a_few(monkeypatch):
    steps = []
    compute = ScorePower.fail_probability

    def watched(*arguments):
        steps.append(1)
        return compute(*arguments)

    monkeypatch.setattr(ScorePower, "fail_probability", watched)

    taken = []
    for n in (2, 50):
        steps.clear()
        power(NOW, "uar >= 0.6", power=[i / (n + 1) for i in range(1, n + 1)])
        taken.append(len(steps))

    assert taken[1] < 2 * taken[0]


def test_rows_needed_is_null_for_a_score_not_better_than_its_bound():
    out = power(NOW, ["uar >= 0.95", "recall >= 0.8"])

    a = out.filter(g="a")
    assert a["rows_needed"].to_list() == [None, None]
    assert a["rows_needed_per_label"].to_list() == [None, None]
    assert a["detectable_difference"][0] is None  # it already fails
    assert a["power_at_zero"][0] < 0.001
    assert a["detectable_difference"][1] > 0


@cases("metric", ["recall", "accuracy"])
def test_rows_needed_is_null_for_a_score_better_by_too_little_to_plan_for(metric):
    counts = {"a": (1000, 2000, 0, 0), "b": (50, 100, 40, 110), "c": (700, 300, 300, 700)}

    out = power(counts, f"{metric} >= 0.3333333333", adjust=None)

    is_close = [True, metric == "recall", False]
    assert [n is None for n in out["rows_needed"]] == is_close
    assert out["power_at_zero"][0] == pytest.approx(0.025, abs=0.003)


@cases(
    ("total", "n", "x", "bound", "tail"),
    [
        (4404, 3062, 1572, 0.495, 0.0025),
        (51674, 5307, 5240, 0.982, 0.025),
        (174539, 6087, 5132, 0.827, 0.0025),
        (203733, 37654, 21520, 0.57, 0.025),
        (900000, 800000, 799300, 0.999, 0.025),
    ],
)
def test_power_of_large_segments_is_exact_to_a_thousandth(total, n, x, bound, tail):
    d = np.arange(n - 4000, min(n + 4000, total))
    d = d[d > 0]
    most_that_do_not_pass = stats.binom.isf(tail, d, bound)
    passing = stats.binom.sf(most_that_do_not_pass, d, x / n)
    expected = (stats.binom.pmf(d, total, n / total) * passing).sum()

    segment = (np.array([value], float) for value in (x, n, bound, tail, total))

    assert ProportionPower(*segment).pass_probability() == pytest.approx([expected], abs=1e-3)


@cases("case", reference("random_denominators")["cases"])
def test_power_of_random_denominators_equals_reference_values(case):
    n = case["n"] * case["share"]
    tail = (1 - case["level"]) / 2 / case["family"]

    values = (n * case["rate"], n, case["bound"], tail, case["n"])

    found = ProportionPower(*(np.array([value], float) for value in values)).pass_probability()
    assert found == pytest.approx([case["power_at_zero"]], abs=1e-9)


def test_power_of_segments_with_other_bounds_and_tails_is_that_of_each_alone():
    x, n, total = (np.array(v, float) for v in ([40, 90, 40], [50, 100, 50], [200, 150, 200]))
    bound, tail = np.array([0.6, 0.8, 0.7]), np.array([0.025, 0.025, 0.01])
    together = ProportionPower(x, n, bound, tail, total)

    for row in range(3):
        alone = together.at(np.array([row]))
        assert together.pass_probability()[row] == pytest.approx(alone.pass_probability()[0])
        for name in ("detectable_difference", "sample_size_factor"):
            expected = getattr(alone, name)(0.8)[0]
            assert getattr(together, name)(0.8)[row] == pytest.approx(expected, rel=1e-9)
        probability = passes(x[row] / n[row], bound[row], tail[row])
        expected = averaged(probability, int(total[row]), n[row] / total[row])
        assert alone.pass_probability()[0] == pytest.approx(expected, abs=1e-9)


def test_more_rows_detect_smaller_differences():
    many = {g: tuple(10 * n for n in counts) for g, counts in NOW.items()}
    rules = ["uar >= 0.65", "recall >= 0.7", "uar >= baseline - 0.1"]

    few = power(NOW, rules, baseline=cells(BEFORE))
    more = power(
        many, rules, baseline=cells({g: tuple(10 * n for n in c) for g, c in BEFORE.items()})
    )

    assert (more["detectable_difference"] < few["detectable_difference"]).all()
    assert (more["power_at_zero"] > few["power_at_zero"]).all()
    for one, other in zip(few.to_dicts(), more.to_dicts(), strict=True):
        is_exact = one["reliability"] == "exact"
        assert one["rows_needed"] == pytest.approx(
            other["rows_needed"], rel=0.05 if is_exact else 1e-6, abs=1
        )


@pytest.mark.parametrize(
    ("counts", "reliability"),
    [((70, 30, 30, 70), "good"), ((70, 29, 30, 70), "rough"), ((29, 70, 30, 70), "rough")],
)
def test_few_correct_or_wrong_rows_have_rough_reliability(counts, reliability):
    alone = power({"a": counts}, "uar >= 0.5")
    beside = power({"a": counts}, "uar >= baseline - 0.1", baseline=cells({"a": (70, 30, 30, 70)}))
    before = power({"a": (70, 30, 30, 70)}, "uar >= baseline - 0.1", baseline=cells({"a": counts}))

    for out in (alone, beside, before):
        assert out["reliability"].to_list() == [reliability]


@pytest.mark.parametrize(("only_old", "reliability"), [(20, "good"), (19, "rough")])
def test_few_discordant_rows_have_rough_reliability(only_old, reliability):
    frame = two_models({"a": {1: (20, only_old, 300, 60), 0: (30, 30, 300, 60)}})

    out = bf.power(
        frame,
        "y",
        "p",
        by="g",
        counts="n",
        baseline="q",
        rules="uar >= baseline - 0.05",
        detail=True,
    )

    assert out["reliability"].to_list() == [reliability]


def test_disagreement_equals_a_baseline_model_of_the_same_score():
    frame = two_models({"a": {1: (20, 20, 300, 60), 0: (40, 40, 600, 120)}})
    options = {
        "by": "g",
        "counts": "n",
        "rules": ["uar >= baseline - 0.05", "fpr < baseline + 0.1"],
    }

    known = bf.power(frame, "y", "p", baseline="q", detail=True, **options)
    guessed = bf.power(frame, "y", "p", detail=True, design=bf.design(disagreement=0.1), **options)

    assert guessed["estimate"].to_list() == [0, 0]
    assert_table(guessed.select(COLUMNS), plain(known.select(COLUMNS)), close=1e-9)


def test_segments_on_a_single_side_are_null_and_not_adjusted_for():
    now, before = NOW | {"new": (50, 50, 50, 50)}, BEFORE | {"gone": (50, 50, 50, 50)}
    rule = "recall >= baseline - 0.1"

    out = power(now, rule, baseline=cells(before))

    assert out["g"].to_list() == ["a", "b", "gone", "new"]
    assert out["n"].to_list() == [350, 170, 0, 200]
    assert out[2:].select(FOUND).null_count().row(0) == (2,) * 5
    expected = power(NOW, rule, baseline=cells(BEFORE), adjust=None, level=1 - 0.05 / 2)
    assert out[:2].equals(expected)


def test_a_gate_that_is_likely_to_pass_passes():
    plan = power(
        NOW, ["recall >= 0.65", "uar >= 0.4", "uar >= baseline - 0.3"], baseline=cells(BEFORE)
    )
    verdicts = bf.check(
        pl.DataFrame(table(**NOW)), "y", "p", by="g", counts="n", baseline=cells(BEFORE),
        rules=["recall >= 0.65", "uar >= 0.4", "uar >= baseline - 0.3"],
    detail=True)  # fmt: skip

    is_likely = plan["power_at_zero"] > 0.5
    assert letters(verdicts) == "".join("P" if one else "-" for one in is_likely)
    assert plan["estimate"].to_list() == verdicts["estimate"].to_list()


@cases(
    "options", [{"baseline": "q"}, {"baseline": "cells"}, {"design": bf.design(disagreement=0.1)}]
)
@each_constructor
def test_a_frame_without_rows_returns_no_rows(constructor, options):
    frame = constructor({"g": ["a", "b"], "y": [1, 0], "p": [1, 0], "q": [0, 1]})
    rules = ["uar >= 0.5", "recall >= baseline - 0.1"]
    if options.get("baseline") == "cells":
        options = {"baseline": bf.confusion(frame, "y", "q", by="g")[:0]}

    out = plain(bf.power(frame[:0], "y", "p", by="g", rules=rules, detail=True, **options))

    assert out == {name: [] for name in COLUMNS}
