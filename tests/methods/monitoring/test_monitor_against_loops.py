"""`monitor` gives what loops over segments and periods give, on random streams."""

import itertools
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.oracles import monitor as monitor_by_loops

pytestmark = pytest.mark.any_version

MONDAY = date(2026, 1, 5)
METRICS = ["balanced_accuracy", "accuracy", "recall", "false_positive_rate"]
CLOSE = 1e-6


def drawn(seed, n_segments=2, n_periods=9, n_baseline=6, labels=(0, 1), size=30, spread=0.0):
    """Draw weeks of cells, in some of which a segment, or a label of it, has no rows."""
    random = np.random.default_rng(seed)
    rows = []
    for segment, week in itertools.product(range(n_segments), range(-n_baseline, n_periods)):
        sizes = random.poisson(size * random.choice([0.2, 1, 3]), len(labels))
        sizes[random.random(len(labels)) < 0.15] = 0
        if random.random() < 0.15:
            sizes[:] = 0
        drop = 0.25 if week > n_periods // 2 and segment == 0 else 0.0
        for label, n in zip(labels, sizes, strict=True):
            recall = np.clip(0.85 - drop + random.normal(0, spread), 0, 1)
            wrong = [other for other in labels if other != label]
            shares = [recall, *[(1 - recall) / len(wrong)] * len(wrong)]
            counts = random.multinomial(n, shares)
            for predicted, k in zip([label, *wrong], counts, strict=True):
                rows.append((f"s{segment}", week, label, predicted, int(k)))
    cells = pl.DataFrame(rows, ["g", "week", "y", "p", "n"], orient="row")
    day = pl.lit(MONDAY) + pl.duration(days=7 * pl.col("week") + pl.col("n") % 7)
    return cells.filter(pl.col("n") > 0).with_columns(day=day.cast(pl.Date)).drop("week")


def by_segment(cells):
    """Give cells as the loops take them, by segment and Monday."""
    found = {}
    for row in cells.iter_rows(named=True):
        monday = row["day"] - timedelta(row["day"].weekday())
        own = found.setdefault(row["g"], {}).setdefault(monday, {})
        key = row["y"], row["p"]
        own[key] = own.get(key, 0) + row["n"]
    return found


def expected(now, before, metrics, **options):
    """Ask the loops about every segment; a row is known by its segment, period and metric."""
    live, baseline = by_segment(now), by_segment(before)
    first, last = (
        choose(monday for periods in live.values() for monday in periods) for choose in (min, max)
    )
    starts = [first + timedelta(7 * i) for i in range((last - first).days // 7 + 1)]
    adjust = options.pop("adjust", "bonferroni")
    weights = options.pop("weights", None)
    questions = len(baseline) * len(metrics) if adjust else 1
    rows = {}
    for segment in sorted({*live, *baseline}):
        for metric in metrics:
            found = monitor_by_loops.asked(
                live.get(segment, {}),
                baseline.get(segment, {}),
                starts,
                metric=metric.removeprefix("weighted_"),
                questions=questions,
                weights=weights if metric.startswith("weighted_") else None,
                **options,
            )
            rows |= {
                (segment, start, metric): row for start, row in zip(starts, found, strict=True)
            }
    return rows


def assert_equals(out, rows):
    columns = plain(out)
    keys = list(zip(columns["g"], columns["period"], columns["metric"], strict=True))
    assert sorted(keys) == sorted(rows)
    for i, key in enumerate(keys):
        for name, value in rows[key].items():
            result = columns[name][i]
            if isinstance(value, float):
                assert result == pytest.approx(value, abs=CLOSE), (key, name)
            else:
                assert result == value, (key, name)


CASES = {
    "two segments": {"dispersion": None},
    "strict": {"level": 0.999, "looks": 1000, "tolerance": 0.01, "dispersion": None},
    "lenient": {"level": 0.6, "looks": 2, "tolerance": 0.2, "adjust": None, "dispersion": None},
    "dispersion": {},
    "dispersion, adjust": {"adjust": None, "level": 0.8},
    "exclude": {"exclude": (MONDAY - timedelta(14), MONDAY + timedelta(23))},
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
@pytest.mark.parametrize("seed", range(3))
@cases("options", CASES.values())
def test_monitor_equals_loops_over_segments_and_periods(options, seed):
    is_dispersed = "dispersion" not in options
    cells = drawn(seed, spread=0.1 * is_dispersed, n_baseline=30 if is_dispersed else 6)
    before, now = cells.filter(pl.col("day") < MONDAY), cells.filter(pl.col("day") >= MONDAY)
    metrics = METRICS if seed else METRICS[:1]

    out = bf.monitor(
        now,
        "y",
        "p",
        by="g",
        time=bf.period("day", "1w"),
        baseline=before,
        metrics=metrics,
        detail=True,
        **options,
    )

    by_loops = {name: value for name, value in options.items() if name != "exclude"}
    by_loops["excluded"] = [day - timedelta(day.weekday()) for day in options.get("exclude", ())]
    assert_equals(out, expected(now, before, metrics, **by_loops))


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
@pytest.mark.parametrize("class_weight", [None, {"a": 1, "b": 3, "c": 0.5}])
def test_monitor_of_three_labels_with_class_weights_equals_loops(class_weight):
    cells = drawn(5, labels=("a", "b", "c"), size=12)
    before, now = cells.filter(pl.col("day") < MONDAY), cells.filter(pl.col("day") >= MONDAY)
    options = {"by": "g", "time": bf.period("day", "1w"), "baseline": before}

    out = bf.monitor(now, "y", "p", class_weight=class_weight, detail=True, **options)

    metrics = ["balanced_accuracy", *(["weighted_balanced_accuracy"] if class_weight else [])]
    rows = expected(now, before, metrics, weights=class_weight)
    assert_equals(out, rows)
