"""Baselines, slices, streams, tables and pages state one decision, whichever part is read."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.properties.test_one_decision import drawn, each_seed
from tests.support.html_tables import page

pytestmark = pytest.mark.simulation

RECALLS = ["accuracy", "balanced_accuracy", "recall", "informedness"]
LEVELS = (0.8, 0.95, 0.99)
SAME = 1e-9


def status_of(lower, upper, bound):
    """Give the status of a rule with a lower bound, > or >=, where no limit is at the bound."""
    return "pass" if lower > bound else "fail" if upper < bound else "inconclusive"


def keyed(rows):
    return {(row["g"], row["metric"]): row for row in rows}


@each_seed
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}], ids=["rows", "weights"])
def test_gates_against_a_model_fail_only_where_compare_differs(seed, options):
    """`check` takes the wider of two limits, of which `compare` and its p-value take one."""
    n = 0
    for level in LEVELS:
        common = {"by": "g", "level": level, "adjust": None, **options}
        frame, margins = drawn(seed), {"- 0.02": -0.02, "+ 0": 0.0, "+ 0.03": 0.03}
        models = bf.compare(
            frame, "y", ["q", "p"], metrics=RECALLS, detail=True, **common
        ).to_dicts()
        rules = {
            f"{m} >= baseline {x}": (m, value) for m in RECALLS for x, value in margins.items()
        }
        out = bf.check(frame, "y", "p", rules=[*rules], baseline="q", detail=True, **common)
        for row in out.to_dicts():
            metric, bound = rules[row["rule"]]
            model = keyed(models)[row["g"], metric]
            if row["lower"] is None:
                assert row["status"] == "inconclusive"
                continue
            assert row["lower"] <= model["lower"] + SAME, row
            assert row["upper"] >= model["upper"] - SAME, row
            if min(abs(row["lower"] - bound), abs(row["upper"] - bound)) > SAME:
                assert row["status"] == status_of(row["lower"], row["upper"], bound), row
            if bound == 0 and row["status"] == "fail":
                assert model["p_value"] < 1 - level, row
            n += 1
    assert n > 0


@each_seed
def test_gates_against_an_earlier_run_fail_only_where_gaps_differ(seed):
    """`gaps` between both runs, as two segments, is the test of which `check` is the wider."""
    n = 0
    for level in LEVELS:
        now, before = drawn(seed), drawn(seed).with_columns(p="q")
        options = {"by": "g", "level": level, "adjust": None}
        cells = bf.confusion(before, "y", "p", by="g")
        rules = {f"{metric} >= baseline": metric for metric in RECALLS}
        out = bf.check(
            now, "y", "p", rules=[*rules], baseline=cells, detail=True, **options
        ).to_dicts()
        runs = pl.concat([now.with_columns(run=1), before.with_columns(run=0)])
        for g, own in runs.partition_by("g", as_dict=True, include_key=False).items():
            gaps = bf.gaps(
                own,
                "y",
                "p",
                by="run",
                metrics=RECALLS,
                reference=0,
                level=level,
                labels=[0, 1],
                detail=True,
            )
            differences = {row["metric"]: row for row in gaps.filter(run=1).to_dicts()}
            for row in (row for row in out if row["g"] == g[0] and row["lower"] is not None):
                gap = differences[rules[row["rule"]]]
                assert row["lower"] <= gap["lower"] + SAME, (row, gap)
                assert row["upper"] >= gap["upper"] - SAME, (row, gap)
                if row["status"] == "fail":
                    assert gap["p_value"] < 1 - level, (row, gap)
                n += 1
    assert n > 0


def columns(seed):
    """Draw rows with columns, of which some combinations are a little worse."""
    random = np.random.default_rng([45, seed])
    n, n_levels = (1_000, 3_000)[seed % 2], (2, 3, 5, 8)[seed % 4]
    a, b, c = (random.integers(0, n_levels, n) for _ in range(3))
    y = (random.random(n) < 0.4).astype(int)
    right = random.random(n) < 0.85 - 0.12 * (a == 0) - 0.1 * ((b == 1) & (c == 1))
    return pl.DataFrame({"a": a, "b": b, "c": c, "y": y, "p": np.where(right, y, 1 - y)})


@pytest.mark.filterwarnings("ignore:no slice is listed")
@pytest.mark.parametrize("metric", ["accuracy", "recall", "balanced_accuracy", "fnr"])
@pytest.mark.parametrize("seed", range(12))
def test_listed_slices_are_worse_by_every_column(seed, metric):
    sign = -1 if metric == "fnr" else 1  # of which lower is better
    before = set()
    for level in (0.99, 0.95, 0.8):
        options = {"over": ["a", "b", "c"], "metrics": metric, "level": level, "top": 1_000}
        out = bf.slices(columns(seed), "y", "p", detail=True, **options).to_dicts()
        for number, row in enumerate(out):
            lower, upper, difference = (
                sign * row[name] for name in ("lower", "upper", "difference")
            )
            lower, upper = min(lower, upper), max(lower, upper)
            assert row["p_value"] <= row["p_adjusted"] <= 1 - level, row
            assert difference < 0, row
            assert lower - SAME <= difference <= upper + SAME, row
            assert upper <= 0, row
            assert (row["rank"], row["excess_errors"] > 0) == (number + 1, True)
        assert [row["p_adjusted"] for row in out] == sorted(row["p_adjusted"] for row in out)
        first = {row["slice"] for row in out[:1]}
        assert before <= {row["slice"] for row in out}  # the clearest of a higher level
        before = first


def stream(seed):
    """Draw weeks of segments, some of which get a little worse, and their baseline."""
    random = np.random.default_rng([46, seed])
    n_segments, n_weeks, n_rows = (1, 3, 6)[seed % 3], 40, (12, 60)[seed % 2]
    start = date(2024, 1, 1)
    parts = []
    for g in range(n_segments):
        fall = random.choice([0, 0.05, 0.15])
        for week in range(n_weeks + 26):
            n = random.poisson(n_rows, 2)
            recall = 0.88 - fall * (week > 26 + random.integers(5, 30))
            right = random.binomial(n, recall)
            day = start + timedelta(weeks=week)
            parts += [
                (g, day, label, label if is_right else 1 - label, int(count))
                for label in range(2)
                for is_right, count in ((True, right[label]), (False, n[label] - right[label]))
                if count
            ]
    frame = pl.DataFrame(parts, schema=["g", "day", "y", "p", "n"], orient="row")
    return frame, start + timedelta(weeks=26)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dispersion", ["estimate", None])
@pytest.mark.parametrize("seed", range(8))
def test_alarms_agree_with_control_limits_windows_and_smaller_shares(seed, dispersion):
    frame, until = stream(seed)
    options = {"time": bf.period("day", "1w"), "by": "g", "counts": "n", "dispersion": dispersion}
    options |= {"baseline": until - timedelta(days=1)}
    alarms, n = {}, 0
    for level, adjust in ((0.99, "bonferroni"), (0.95, "bonferroni"), (0.95, None)):
        metrics = ["accuracy", "balanced_accuracy"]
        out = bf.monitor(
            *(frame, "y", "p"), metrics=metrics, level=level, adjust=adjust, detail=True, **options
        ).to_dicts()
        for row in out:
            if row["estimate"] is not None:
                assert row["lower"] - SAME <= row["estimate"] <= row["upper"] + SAME
            if row["window_lower"] is not None:
                ends = row["window_lower"] - SAME, row["window_upper"] + SAME
                assert ends[0] <= row["window_difference"] <= ends[1]
            limit = row["control_limit"]
            if None not in (limit, row["estimate"]) and row["estimate"] < limit - SAME:
                assert row["status"] == "alarm", row
            if row["status"] == "alarm":
                assert row["since"] <= row["period"], row
                assert row["window_difference"] < 0, row
            n += 1
        key = {(row["g"], row["period"], row["metric"]) for row in out if row["status"] == "alarm"}
        assert alarms.get("before", set()) <= key  # a larger share alarms wherever a smaller does
        alarms["before"] = key
    assert n > 0


@each_seed
def test_tables_have_the_statuses_and_p_values_of_the_result(seed):
    frame = drawn(seed)
    for rule in ("accuracy >= 0.75", "balanced_accuracy >= 0.7"):
        out = bf.check(frame, "y", "p", by="g", rules=rule, detail=True)
        shown = page(out, max_rows=None).text_of("Status")
        assert [text.split()[-1] for text in shown] == out["status"].to_list()
    gaps = bf.gaps(frame, "y", "p", by="g", metrics="accuracy", detail=True)
    shown = page(gaps, max_rows=None).text_of("Adjusted p")
    for text, p in zip(shown, gaps["p_adjusted"], strict=True):
        assert text == ("<0.001" if p < 0.001 else f"{p:.3f}")
