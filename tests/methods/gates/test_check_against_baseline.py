"""Rules against a baseline: scores of both sides, segments and labels that one side lacks."""

import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain
from tests.support.frames.segment_counts import JUDGED, cells, check, letters, two_models
from tests.support.oracles.mean_recalls import gate
from tests.support.oracles.paired_recalls import gate_limits_of

SCORED = ["n", "n_labels", "baseline_n", "score", "baseline_score"]
COLUMNS = ["g", "rule", *JUDGED, *SCORED, "undecided"]
# true positives, false negatives, false positives, true negatives
NOW = {"a": (60, 20, 15, 55), "b": (75, 15, 33, 47), "new": (5, 5, 4, 6)}
BEFORE = {"a": (70, 10, 15, 55), "b": (60, 30, 33, 47), "gone": (8, 2, 3, 7)}
# rows of each label that only the new, only the old, both and neither model get right
PAIRS = {
    "a": {1: (16, 4, 60, 20), 0: (5, 5, 160, 30)},
    "b": {1: (2, 9, 30, 9), 0: (0, 0, 38, 2)},
}
RECALL, MEAN = "recall >= baseline - 0.1", "balanced_accuracy >= baseline - 0.1"


def unpaired(now, before, level):
    """Find limits from rows of (correct, all) of each label now and before."""
    (x, n), (y, m) = (zip(*side, strict=True) for side in (now, before))
    wrong = [rows - right for right, rows in zip(y, m, strict=True)]
    found = gate([*x, *wrong], [*n, *m], [1 / (2 * len(n))] * (2 * len(n)), level)
    return [2 * limit - 1 for limit in found]


def paired(labels, level):
    """Find limits from the four counts of each label."""
    parts = [(1 / len(labels), one[0], one[1], sum(one)) for one in labels]
    return list(gate_limits_of(parts, stats.norm.ppf((1 + level) / 2)))


def limits(out):
    return [out[end].to_list() for end in ("lower", "upper")]


def close(pairs):
    return [pytest.approx(list(ends), abs=1e-9) for ends in zip(*pairs, strict=True)]


def test_recalls_are_compared_with_those_of_an_earlier_run():
    out = check(NOW, RECALL, baseline=cells(BEFORE))

    assert out.columns == COLUMNS
    assert out["g"].to_list() == ["a", "b", "gone", "new"]
    assert out["n"].to_list() == [150, 170, 0, 20]
    assert out["n_labels"].to_list() == [2, 2, 0, 0]
    assert out["baseline_n"].to_list() == [150, 170, 20, None]
    assert out["score"].to_list() == [60 / 80, 75 / 90, None, 5 / 10]
    assert out["baseline_score"].to_list() == [70 / 80, 60 / 90, 8 / 10, None]
    assert out["estimate"].to_list() == [60 / 80 - 70 / 80, 75 / 90 - 60 / 90, None, None]
    assert out["bound"].to_list() == [-0.1] * 4
    assert letters(out) == "-P--"
    judged = [([(60, 80)], [(70, 80)]), ([(75, 90)], [(60, 90)])]
    assert limits(out[:2]) == close([unpaired(*one, 1 - 0.05 / 2) for one in judged])
    assert limits(out[2:]) == [[None, None]] * 2


def test_means_of_recalls_are_compared_with_those_of_an_earlier_run():
    out = check(NOW, MEAN, baseline=cells(BEFORE), level=0.9)

    assert out["score"][:2].to_list() == [(60 / 80 + 55 / 70) / 2, (75 / 90 + 47 / 80) / 2]
    assert out["baseline_score"][:2].to_list() == [
        (70 / 80 + 55 / 70) / 2,
        (60 / 90 + 47 / 80) / 2,
    ]
    judged = [
        ([(60, 80), (55, 70)], [(70, 80), (55, 70)]),
        ([(75, 90), (47, 80)], [(60, 90), (47, 80)]),
    ]
    assert limits(out[:2]) == close([unpaired(*one, 1 - 0.1 / 2) for one in judged])


@pytest.mark.parametrize(
    ("rule", "labels"), [(RECALL, [1]), (MEAN, [1, 0]), ("specificity >= baseline - 0.1", [0])]
)
def test_two_models_are_compared_with_paired_limits(rule, labels):
    out = bf.check(
        two_models(PAIRS), "y", "p", by="g", counts="n", baseline="q", rules=rule, detail=True
    )

    counts = [[segment[label] for label in labels] for segment in PAIRS.values()]
    scores = [
        [sum((one[k] + one[2]) / sum(one) for one in some) / len(labels) for some in counts]
        for k in (0, 1)
    ]
    assert out.columns == COLUMNS
    assert out["n"].to_list() == out["baseline_n"].to_list() == [300, 90]
    assert out["n_labels"].to_list() == [2, 2]
    assert out["score"].to_list() == pytest.approx(scores[0], abs=1e-15)
    assert out["baseline_score"].to_list() == pytest.approx(scores[1], abs=1e-15)
    assert out["estimate"].equals((out["score"] - out["baseline_score"]).rename("estimate"))
    assert limits(out) == close([paired(some, 1 - 0.05 / 2) for some in counts])


# differences of .2, 0 and -.2 between recalls of 100 rows each: at the level of three segments
# their limits are about .05 to .34, -.15 to .15 and -.34 to -.05
MOVED = {"up": (70, 30), "same": (60, 40), "down": (50, 50)}
WAS = {"up": (50, 50), "same": (60, 40), "down": (70, 30)}
VERDICTS = [  # by limits, by estimates; the segments in the order down, same, up
    ("recall >= baseline - 0.4", "PPP", "PPP"),
    ("recall >= baseline - 0.18", "-PP", "FPP"),
    ("recall >= baseline", "F-P", "FPP"),
    ("recall > baseline", "F-P", "FFP"),
    ("recall >= baseline + 0.01", "F-P", "FFP"),
    ("recall>=baseline+.18", "FF-", "FFP"),
    ("false_negative_rate <= baseline + 0.18", "-PP", "FPP"),
    ("false_negative_rate <= baseline", "F-P", "FPP"),
    ("false_negative_rate < baseline", "F-P", "FFP"),
    ("false_negative_rate <= baseline - 0.01", "F-P", "FFP"),
]


@cases(("rule", "confident", "estimate"), VERDICTS)
def test_the_limits_or_the_estimate_decide(rule, confident, estimate):
    assert letters(check(MOVED, rule, baseline=cells(WAS))) == confident
    out = check(MOVED, rule, baseline=cells(WAS), level=None)
    assert letters(out) == estimate
    assert limits(out) == [[None] * 3] * 2


def test_a_null_segment_is_compared_with_that_of_the_baseline():
    now, before = {None: NOW["a"], "b": NOW["b"]}, {None: BEFORE["a"], "c": BEFORE["b"]}
    frames = [
        pl.DataFrame(
            [
                {"g": g, "y": y, "p": p, "n": n}
                for g, counts in side.items()
                for (y, p), n in zip(((1, 1), (1, 0), (0, 1), (0, 0)), counts, strict=True)
            ],
            schema={"g": pl.String, "y": pl.Int64, "p": pl.Int64, "n": pl.Int64},
        )
        for side in (now, before)
    ]
    baseline = bf.confusion(frames[1], "y", "p", by="g", counts="n")

    out = bf.check(
        frames[0], "y", "p", by="g", counts="n", baseline=baseline, rules=RECALL, detail=True
    )

    assert out["g"].to_list() == ["b", "c", None]
    assert out["estimate"].to_list() == [None, None, 60 / 80 - 70 / 80]
    assert limits(out[2:]) == close([unpaired([(60, 80)], [(70, 80)], 0.95)])


def test_limits_are_adjusted_for_the_segments_on_both_sides_only():
    # of "few" there are not rows enough
    now, before = NOW | {"few": (1, 0, 20, 20)}, BEFORE | {"few": (9, 9, 20, 20)}

    out = check(now, RECALL, baseline=cells(before), min_support=5)
    alone = check(now, RECALL, baseline=cells(before), min_support=5, adjust=None, level=0.975)

    assert letters(out) == "-P---"
    assert out.equals(alone)
    assert out["lower"].null_count() == 3


def of_labels(segments):
    """Write right and wrong rows of each label; the wrong ones are called by another label."""
    rows = [
        {"g": g, "y": label, "p": p, "n": n}
        for g, labels in segments.items()
        for label, (right, wrong) in labels.items()
        for p, n in ((label, right), ("x" if label != "x" else "y", wrong))
    ]
    return pl.DataFrame(rows)


def test_means_are_over_the_labels_present_on_both_sides():
    now = {"a": {"x": (8, 2), "y": (27, 3), "z": (5, 5)}, "b": {"x": (6, 4)}}
    before = {"a": {"x": (7, 3), "y": (10, 10), "w": (1, 9)}, "b": {"y": (6, 4)}}
    baseline = bf.confusion(of_labels(before), "y", "p", by="g", counts="n")
    rules = ["balanced_accuracy >= baseline - 0.1", "accuracy >= baseline - 0.1"]

    out = bf.check(
        of_labels(now), "y", "p", by="g", counts="n", baseline=baseline, rules=rules, detail=True
    )

    assert out["n_labels"].to_list() == [2, 2, 0, 0]
    assert out["n"].to_list() == [50, 50, 10, 10]
    assert out["baseline_n"].to_list() == [40, 40, 10, 10]
    assert out["score"][0] == pytest.approx((8 / 10 + 27 / 30) / 2, abs=1e-15)
    assert out["baseline_score"][0] == pytest.approx((7 / 10 + 10 / 20) / 2, abs=1e-15)
    expected = unpaired([(8, 10), (27, 30)], [(7, 10), (10, 20)], 0.95)
    assert limits(out[:1]) == close([expected])
    # shares of all rows have no labels to leave out
    assert out["score"][1] == pytest.approx(40 / 50, abs=1e-15)
    assert out["baseline_score"][1] == pytest.approx(18 / 40, abs=1e-15)
    # no label is present on both sides
    assert out["estimate"][2] is None
    assert out["status"][2] == "inconclusive"


def test_a_segment_without_a_baseline_is_scored_on_all_of_its_labels():
    now = {"a": {"x": (8, 2), "y": (27, 3), "z": (5, 5)}}
    before = {"b": {"x": (7, 3), "w": (1, 9)}}
    baseline = bf.confusion(of_labels(before), "y", "p", by="g", counts="n")

    out = bf.check(
        of_labels(now), "y", "p", by="g", counts="n", baseline=baseline, rules=MEAN, detail=True
    )

    expected = {"g": ["a", "b"], "rule": [MEAN] * 2}
    expected |= {name: [None, None] for name in ("estimate", "lower", "upper")}
    expected |= {"bound": [-0.1] * 2, "status": ["inconclusive"] * 2}
    expected |= {"n": [50, 0], "n_labels": [0, 0], "baseline_n": [None, 20]}
    expected |= {"score": [(0.8 + 0.9 + 0.5) / 3, None], "baseline_score": [None, (0.7 + 0.1) / 2]}
    expected |= {"undecided": ["the score is undefined"] * 2}
    assert_table(out, expected)


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame])
def test_margins_add_up_the_segments_of_each_side(make):
    frame = make(plain(of_labels({"a": {"x": (8, 2)}, "b": {"x": (30, 10)}, "new": {"x": (9, 1)}})))
    earlier = of_labels({"a": {"x": (9, 1)}, "b": {"x": (25, 15)}, "gone": {"x": (4, 6)}})
    baseline = bf.confusion(earlier, "y", "p", by="g", counts="n")
    options = {"rules": "accuracy >= baseline - 0.1", "baseline": baseline, "counts": "n"}

    out = (
        bf.check(frame, "y", "p", by="g", margins="overall", detail=True, **options)
        .lazy()
        .collect()
    )

    assert out["g"].to_list() == ["a", "b", "gone", "new", None]
    assert out["grouped_by"].to_list() == ["g"] * 4 + ["overall"]
    assert out["n"].to_list() == [10, 40, 0, 10, 60]
    assert out["baseline_n"].to_list() == [10, 40, 10, None, 60]
    assert out["score"].to_list() == [8 / 10, 30 / 40, None, 9 / 10, 47 / 60]
    assert out["baseline_score"].to_list() == [9 / 10, 25 / 40, 4 / 10, None, 38 / 60]
    judged = ((8, 10), (9, 10), 0.975), ((30, 40), (25, 40), 0.975), ((47, 60), (38, 60), 0.95)
    expected = [unpaired([now], [before], level) for now, before, level in judged]
    assert limits(out[[0, 1, 4]]) == close(expected)
