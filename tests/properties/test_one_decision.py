"""p-values, limits and statuses of the same row never contradict each other.

Some 15,000 random rows: scores of segments are close to each other, so that many are near a
decision. The other modules on one decision add as many, of the other methods.
"""

import operator

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.methods.gates.require import passed

pytestmark = pytest.mark.simulation

SEEDS = range(6)
METRICS = ["accuracy", "balanced_accuracy", "recall", "precision", "informedness"]
OPTIONS = {"rows": {}, "weights": {"sample_weight": "w"}, "clusters": {"cluster": "c"}}
OTHERS = ["f1", "cohen_kappa", "geometric_mean"]  # whose pairs are compared by limits of segments

each_kind = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def drawn(seed):
    """Draw rows of two models in segments whose scores differ a little."""
    random = np.random.default_rng([26, seed])
    n_segments, n_rows = ((2, 300), (3, 150), (8, 900), (24, 1_500), (40, 1_500), (6, 4_000))[seed]
    share = random.dirichlet(np.full(n_segments, (0.5, 5)[seed % 2]))
    g = random.choice(n_segments, n_rows, p=share)
    y = (random.random(n_rows) < 0.4).astype(int)
    spread = random.normal(0, 0.07, (2, n_segments))
    right = np.clip((0.75, 0.9)[seed % 2] + spread[:, g], 0, 1)
    p, q = (np.where(random.random(n_rows) < share, y, 1 - y) for share in right)
    cluster = g * 100 + random.integers(0, 12, n_rows)
    weight = np.exp(random.normal(0, 0.5, n_rows))
    return pl.DataFrame({"g": g, "y": y, "p": p, "q": q, "c": cluster, "w": weight})


def excludes(row, value):
    """Tell whether limits exclude a value; None where they are null."""
    lower, upper = row["lower"], row["upper"]
    return None if lower is None else lower > value or upper < value


def check_agreement(rows, alpha, value):
    """Check that p is below alpha exactly where limits exclude the value; count the rows."""
    n = 0
    for row in rows:
        excluded = excludes(row, value)
        if row["p_value"] is not None and excluded is not None:
            assert (row["p_value"] < alpha) == excluded, row
            n += 1
    return n


def check_adjusted(rows, adjust):
    """Check that adjusted p-values are not smaller, have the same order, and the same nulls."""
    pairs = [(row["p_value"], row["p_adjusted"]) for row in rows]
    assert all((p is None) == (adjusted is None) for p, adjusted in pairs)
    pairs = sorted(pair for pair in pairs if pair[0] is not None)
    assert all(p <= adjusted <= 1 for p, adjusted in pairs)
    assert [adjusted for _, adjusted in pairs] == sorted(adjusted for _, adjusted in pairs)
    if adjust is None:
        assert all(p == adjusted for p, adjusted in pairs)


@each_seed
@each_kind
def test_p_values_of_gaps_agree_with_their_limits(seed, options):
    n = 0
    for level in (0.8, 0.95, 0.99):
        for reference in ("rest", "largest"):
            out = bf.gaps(
                drawn(seed), "y", "p", by="g", metrics=METRICS, reference=reference, level=level,
                detail=True, **options,
            )  # fmt: skip
            n += check_agreement(out.to_dicts(), 1 - level, 0)
    assert n > 0


@each_seed
@each_kind
def test_p_values_of_extremes_agree_with_their_limits_and_with_gaps(seed, options):
    frame = drawn(seed)
    for level in (0.8, 0.95, 0.99):
        metrics = METRICS if "sample_weight" in options else METRICS + OTHERS
        common = {"by": "g", "level": level, **options}
        out = bf.disparity(
            frame, "y", "p", metrics=metrics, min_support=1, detail=True, **common
        ).to_dicts()
        assert check_agreement(out, 1 - level, 0) > 0
        for row in out:
            if row["metric"] in METRICS and not options.get("cluster") and row["ratio_upper"]:
                assert (row["p_value"] < 1 - level) == (row["ratio_upper"] < 1), row
        if frame["g"].n_unique() == 2:
            gaps = bf.gaps(
                frame, "y", "p", metrics=METRICS, reference=0, detail=True, **common
            ).to_dicts()
            p_values = {row["metric"]: row["p_value"] for row in gaps if row["g"] == 1}
            for row in out:
                if row["metric"] in METRICS:
                    expected = pytest.approx(p_values[row["metric"]], rel=1e-6, abs=1e-12)
                    assert row["p_value"] == row["p_value_all"] == expected
        fairness = bf.fairness(frame, "y", "p", min_support=1, detail=True, **common).to_dicts()
        assert check_agreement([r for r in fairness if r["measure"] == "difference"], 1 - level, 0)
        check_agreement([r for r in fairness if r["measure"] == "ratio"], 1 - level, 1)


@each_seed
@each_kind
def test_statuses_agree_with_limits_rules_and_exit_codes(seed, options):
    frame, random = drawn(seed), np.random.default_rng(seed)
    bounds = (random.choice(np.arange(60, 90), 3, replace=False) / 100).tolist()
    rules = [f"{metric} {op} {b}" for metric in METRICS[:4] for b in bounds for op in (">=", "<")]
    rules += [
        f"difference({metric}) <= {b - 0.55:.2f}" for metric in METRICS[:4] for b in bounds[:1]
    ]
    rules += [f"ratio({metric}) >= {b}" for metric in METRICS[:4] for b in bounds[:1]]

    out = bf.check(frame, "y", "p", by="g", rules=rules, detail=True, **options)

    for row in out.to_dicts():
        lower, upper, bound = row["lower"], row["upper"], row["bound"]
        if lower is None:
            assert row["status"] == "inconclusive"
            continue
        holds = {">=": operator.ge, "<=": operator.le, "<": operator.lt}[row["rule"].split()[1]]
        at_ends = [holds(end, bound) for end in (lower, upper)]
        expected = "pass" if all(at_ends) else "inconclusive" if any(at_ends) else "fail"
        assert row["status"] == expected, row
    for rule in rules:
        own = out.filter(rule=rule)
        assert passed(own) == (set(own["status"]) == {"pass"})

    options = {"min_support": 1, **options}
    extremes = bf.disparity(frame, "y", "p", by="g", metrics=METRICS[:4], detail=True, **options)
    for row in extremes.to_dicts():
        for measure in ("difference", "ratio"):
            prefix = "ratio_" if measure == "ratio" else ""
            limits = [row[f"{prefix}{end}"] for end in ("lower", "upper")]
            own = out.filter(pl.col("rule").str.starts_with(f"{measure}({row['metric']})"))
            assert own.select("lower", "upper").unique().rows() == [tuple(limits)]


@each_seed
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}], ids=["rows", "weights"])
def test_p_values_of_compared_models_agree_with_their_limits(seed, options):
    for level in (0.8, 0.95, 0.99):
        out = bf.compare(
            drawn(seed),
            "y",
            ["p", "q"],
            by="g",
            metrics=METRICS,
            level=level,
            detail=True,
            **options,
        )
        assert check_agreement(out.to_dicts(), 1 - level, 0) > 0


@each_seed
def test_p_values_of_impact_agree_with_their_upper_limits(seed):
    for level in (0.8, 0.95, 0.99):
        for row in bf.impact(
            drawn(seed), "p", favourable="selected", by="g", min_share=0, level=level, detail=True
        ).to_dicts():
            if row["p_value"] is not None and row["upper"] is not None:
                assert (row["p_value"] <= 1 - level) == (row["upper"] < 1), row


@each_seed
def test_chart_marks_agree_with_adjusted_p_values(seed):
    frame, options = drawn(seed), {"by": "g", "metrics": "accuracy"}
    gaps = bf.gaps(frame, "y", "p", detail=True, **options)
    chart = bf.plot.gaps(frame, "y", "p", **options).to_dict()
    (data,) = [rows for rows in chart["datasets"].values() if "mark" in rows[0]]
    marked = {row["difference"] for row in data if row["mark"] in ("better", "worse")}
    significant = gaps.filter(pl.col("p_adjusted") < 0.05)
    assert marked == set(significant["difference"])
