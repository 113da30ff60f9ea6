"""How scores vary between the periods of a baseline: its estimates, its tests, its warnings."""

import warnings

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.methods.monitoring.dispersion import (
    autocorrelation_p_value,
    mean_variance_factor,
    period_dispersion,
)
from tests.support.cases import cases
from tests.support.frames.weekly_cells import draw_weeks, launch, monitor_cells, week
from tests.support.oracles import monitor as monitor_by_loops
from tests.support.reference_values import reference

CASES = reference("monitor_since")["dispersion"]
DISPERSED = "Give dispersion='estimate' to allow for it"
AUTOCORRELATED = "scores of neighbouring periods of the baseline are more similar"
ONE_WEEK = week(0, (0, 99, 80))


def scores_and_variances(case):
    x, n, a = (np.asarray(case[name], float) for name in ("right", "n", "weights"))
    p = (x + 0.5) / (n + 1)
    return (a * x / n).sum(axis=1), (a**2 * p * (1 - p) / n).sum(axis=1)


def raised_by(call):
    """Return the texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@cases("case", CASES)
def test_variance_and_autocorrelation_equal_the_reference(case):
    variance, rho = period_dispersion(*scores_and_variances(case))

    assert variance == pytest.approx(case["tau2"], abs=1e-12)
    assert rho == pytest.approx(case["rho"], abs=1e-9)


@cases("rho", [0.0, 0.3, 0.95])
@cases("n", [1, 2, 13, 60])
def test_variance_factor_of_a_mean_equals_the_sum_of_correlations(n, rho):
    assert mean_variance_factor(n, rho) == pytest.approx(monitor_by_loops.mean_factor(n, rho))


@cases("case", CASES)
def test_autocorrelation_p_value_equals_loops(case):
    scores, variances = scores_and_variances(case)

    expected = monitor_by_loops.neighbours(scores.tolist(), variances.tolist())
    assert autocorrelation_p_value(scores, variances) == pytest.approx(expected, abs=1e-12)


def test_equal_periods_have_no_autocorrelation():
    scores, variances = np.full(20, 0.9), np.full(20, 1e-4)
    scores[::2] += 1e-16  # as rounding does

    assert period_dispersion(scores, variances) == (0, 0)
    assert autocorrelation_p_value(scores, variances) == 1


@pytest.mark.filterwarnings("ignore:scores of neighbouring periods:balframe.BalframeWarning")
def test_columns_have_the_p_values_of_the_baseline():
    case = CASES[0]
    parts = [
        week(i, (0, n[0], x[0]), (1, n[1], x[1]))
        for i, (n, x) in enumerate(zip(case["n"], case["right"], strict=True))
    ]

    out = bf.monitor(
        week(40, (0, 99, 80), (1, 99, 80)),
        *("y", "p"),
        time=bf.period("day", "1w"),
        baseline=pl.concat(parts),
        detail=True,
    )

    scores, variances = (values.tolist() for values in scores_and_variances(case))
    expected = monitor_by_loops.neighbours(scores, variances)
    assert out["autocorrelation_p_value"].to_list() == [pytest.approx(expected, abs=1e-9)]
    assert out["dispersion_p_value"][0] < 0.05


def test_dispersion_is_allowed_for_by_default():
    random = np.random.default_rng(4)
    before, after = (random.normal(0, 0.04, n) for n in (26, 20))
    options = {"baseline": pl.concat(draw_weeks(deviations=before))}
    live = pl.concat(draw_weeks(20, deviations=after, seed=5))
    live = live.with_columns(pl.col("day") + pl.duration(weeks=20))

    with pytest.warns(bf.BalframeWarning, match=DISPERSED):
        rows_alone = monitor_cells(live, **options, dispersion=None)
    out = bf.monitor(live, "y", "p", time=bf.period("day", "1w"), detail=True, **options)

    assert "alarm" in rows_alone["status"]
    assert "alarm" not in out["status"]
    widths = (one["window_upper"] - one["window_lower"] for one in (rows_alone, out))
    assert (next(widths) < next(widths)).all()
    assert rows_alone["dispersion_p_value"].equals(out["dispersion_p_value"])
    assert out.equals(monitor_cells(live, **options, dispersion="estimate"))


def test_a_baseline_that_varies_by_chance_does_not_warn():
    weeks = pl.concat(draw_weeks())

    for dispersion in (None, "estimate"):
        options = {"baseline": weeks, "dispersion": dispersion}
        assert not raised_by(lambda options=options: monitor_cells(ONE_WEEK, **options))

    assert monitor_cells(ONE_WEEK, baseline=weeks)["dispersion_p_value"][0] > 0.05


def test_dispersed_baselines_warn_only_without_dispersion():
    deviations = 0.04 * (-1.0) ** np.arange(26)  # neighbours are unlike
    weeks = pl.concat(draw_weeks(deviations=deviations))

    (text,) = raised_by(lambda: monitor_cells(ONE_WEEK, baseline=weeks))
    assert DISPERSED in text
    assert not raised_by(lambda: monitor_cells(ONE_WEEK, baseline=weeks, dispersion="estimate"))


def test_baselines_with_memory_warn_with_dispersion_too():
    weeks = pl.concat(draw_weeks(deviations=0.04 * np.sin(np.arange(26) / 4)))

    texts = raised_by(lambda: monitor_cells(ONE_WEEK, baseline=weeks, dispersion="estimate"))

    assert len(texts) == 1
    assert texts[0].startswith(AUTOCORRELATED)


@cases("n", [1, 12])
def test_fewer_than_13_periods_warn_and_add_nothing(n):
    deviations = 0.04 * (-1.0) ** np.arange(n)
    options = {"baseline": pl.concat(draw_weeks(n, deviations=deviations))}

    texts = raised_by(lambda: monitor_cells(ONE_WEEK, **options, dispersion="estimate"))

    assert texts == [
        "the baseline has fewer than 13 periods, so it is not known whether scores vary from "
        "period to period by more than chance. If they do, false alarms are more frequent than "
        "level promises. Give a baseline that keeps its days, of about 26 periods or more, or "
        "give dispersion=None if you know that scores of periods differ by chance alone."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = [monitor_cells(ONE_WEEK, **options, dispersion=d) for d in (None, "estimate")]
    assert both[0].equals(both[1])


def test_thirteen_periods_are_enough():
    options = {"baseline": pl.concat(draw_weeks(13)), "dispersion": "estimate"}

    assert not raised_by(lambda: monitor_cells(ONE_WEEK, **options))


def test_each_segment_has_the_dispersion_of_its_own_baseline():
    random = np.random.default_rng(2)
    parts = {"a": 0.05 * random.choice([-1, 1], 26), "b": np.zeros(26)}
    before = pl.concat(
        part.with_columns(g=pl.lit(name))
        for name, deviations in parts.items()
        for part in draw_weeks(deviations=deviations)
    )
    live = pl.concat(
        week(i, (0, 500, 420), (1, 500, 420), g=pl.lit(name)) for i in range(3) for name in "ab"
    )
    options = {"dispersion": "estimate", "by": "g"}

    both = monitor_cells(live, baseline=before, **options)

    for name in "ab":
        own = monitor_cells(
            live.filter(g=name), baseline=before.filter(g=name), looks=208, **options
        )
        assert both.filter(g=name).equals(own)
    limits = both.filter(period=both["period"].max()).select("g", "control_limit").rows()
    assert dict(limits)["a"] < dict(limits)["b"] - 0.05


@pytest.mark.parametrize("dispersion", [None, "estimate"])
@pytest.mark.filterwarnings("ignore:the baseline has fewer:balframe.BalframeWarning")
def test_p_values_are_null_for_a_baseline_without_days(dispersion):
    out = monitor_cells(ONE_WEEK, baseline=launch(), dispersion=dispersion)

    assert out["dispersion_p_value"].to_list() == [None]
    assert out["autocorrelation_p_value"].to_list() == [None]


@pytest.mark.simulation
@cases(
    ("sd", "rho", "dispersion", "autocorrelation"),
    [(0, 0, 0.05, 0.05), (0.01, 0, 0.29, 0.05), (0.02, 0, 0.89, 0.05), (0.02, 0.7, 0.79, 0.49)],
)
def test_power_of_the_p_values_of_26_weeks_of_200_rows_of_each_label(
    sd, rho, dispersion, autocorrelation
):
    """They are documented, as their silence is no evidence."""
    n, m = 600, 26
    random = np.random.default_rng(3)
    series = random.normal(0, 1, (n, m))
    for t in range(1, m):
        series[:, t] = rho * series[:, t - 1] + np.sqrt(1 - rho**2) * series[:, t]
    rows = random.poisson(200, (n, m, 2))
    right = random.binomial(rows, np.clip(0.85 + sd * series, 0, 1)[:, :, None])
    cells = pl.concat(
        pl.DataFrame(
            {
                "g": np.repeat(np.arange(n), m * 2),
                "week": np.tile(np.repeat(np.arange(m), 2), n),
                "y": np.tile([0, 1], n * m),
                "p": np.tile([0, 1] if is_right else [1, 0], n * m),
                "n": (right if is_right else rows - right).ravel(),
            }
        )
        for is_right in (True, False)
    ).with_columns(day=pl.date(2025, 1, 6) + pl.duration(weeks=pl.col("week")))
    live = cells.filter(week=25).with_columns(pl.col("day") + pl.duration(weeks=1))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = monitor_cells(live.drop("week"), baseline=cells.drop("week"), by="g")

    for name, power in (("dispersion", dispersion), ("autocorrelation", autocorrelation)):
        share = (out[f"{name}_p_value"] < 0.05).mean()
        assert share == pytest.approx(power, abs=3.5 * np.sqrt(power * (1 - power) / n) + 0.02)
