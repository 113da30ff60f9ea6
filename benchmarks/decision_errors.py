"""Whether decisions of the package err on one sample of a design in which nothing differs.

Each function draws a sample and asks a method. It returns 1 where a decision errs, the share of
those that do where several stand alone, and None where there is nothing to decide.
"""

import warnings
from dataclasses import replace

import numpy as np
import polars as pl

import balframe as bf
from benchmarks import decision_designs as designs
from benchmarks.monitor_simulation import Streams

ERROR = 0.05

Random = np.random.Generator


def _any_below(p: pl.Series, alpha: float = ERROR) -> float:
    return float((p.drop_nulls() < alpha).any())


def _share_below(p: pl.Series) -> float | None:
    p = p.drop_nulls()
    return float((p < ERROR).mean()) if len(p) else None


def _any_decided(out: pl.DataFrame) -> float:
    return float((out["verdict"] != "not decided").any())


def _excludes(out: pl.DataFrame, truth: float, lower: str, upper: str) -> float | None:
    """Return the share of intervals without a value; a null limit excludes nothing."""
    known = out.select(lower, upper).filter(~pl.all_horizontal(pl.all().is_null()))
    if not known.height:
        return None
    below, above = known[upper].fill_null(np.inf), known[lower].fill_null(-np.inf)
    return float(((above > truth) | (below < truth)).mean())


def _gaps(design: designs.Segments, random: Random, **options: object) -> pl.DataFrame:
    return bf.gaps(
        design.draw(random),
        "y",
        "yhat",
        metrics=design.metric,
        detail=True,
        **design.options,
        **options,
    )


def gaps(design: designs.Segments, random: Random, **options: object) -> float:
    """Tell whether any segment differs significantly from the reference."""
    return _any_below(_gaps(design, random, **options)["p_adjusted"])


def gaps_single(design: designs.Segments, random: Random) -> float | None:
    """Return the share of single differences that are significant."""
    return _share_below(_gaps(design, random, adjust=None)["p_value"])


def gaps_verdict(design: designs.Segments, random: Random) -> float:
    """Tell whether any segment is called better or worse than the reference."""
    return _any_decided(_gaps(design, random, adjust="holm"))


def gaps_limits(design: designs.Segments, random: Random) -> float | None:
    """Return the share of intervals of differences that exclude 0."""
    return _excludes(_gaps(design, random), 0, "lower", "upper")


def disparity(design: designs.Segments, random: Random, *, column: str) -> float:
    """Tell whether all segments are found to be unequal."""
    options = {"metrics": design.metric, "min_support": 1, **design.options}
    out = bf.disparity(design.draw(random), "y", "yhat", detail=True, **options)
    return _any_below(out[column])


def disparity_limits(design: designs.Segments, random: Random) -> float:
    """Tell whether limits of the largest difference, or of the ratio, exclude equality."""
    options = {"metrics": design.metric, "min_support": 1, **design.options}
    (row,) = bf.disparity(design.draw(random), "y", "yhat", detail=True, **options).to_dicts()
    above, below = row["lower"], row["ratio_upper"]
    return float((above is not None and above > 0) or (below is not None and below < 1))


def fairness(design: designs.Segments, random: Random, *, criterion: str) -> float:
    """Tell whether a criterion of fairness is found to be violated."""
    out = bf.fairness(
        design.draw(random), "y", "yhat", detail=True, **{"min_support": 1, **design.options}
    )
    return _any_below(out.filter(criterion=criterion)["p_value"])


def check(design: designs.Segments, random: Random, *, status: str, rule: str) -> float:
    """Tell whether a rule whose bound is the truth has this status in any segment."""
    rule = rule.format(metric=design.metric, score=design.score)
    out = bf.check(design.draw(random), "y", "yhat", rules=rule, detail=True, **design.options)
    return float((out["status"] == status).any())


def check_smooth(
    design: designs.Segments, random: Random, *, status: str, metric: str, operator: str
) -> float:
    """Tell whether a rule on a smooth function of the matrix errs where its bound is the truth."""
    rows = np.concatenate([design.supports[:1]] * len(design.supports))
    recalls = np.concatenate([design.recalls[:1]] * len(design.supports))
    same = designs.Segments(design.name, rows, recalls)
    truth = _limit_of(metric, same)
    if truth is None:
        return 0.0
    rule = f"{metric} {operator} {truth!r}"
    out = bf.check(same.draw(random), "y", "yhat", rules=rule, detail=True, **same.options)
    return float((out["status"] == status).any())


def _limit_of(metric: str, design: designs.Segments) -> float | None:
    """Return the metric of so many rows that shares are the probabilities."""
    rows = design.supports[:1] * 10**7
    right = np.round(rows * design.recalls[:1]).astype(np.int64)
    options = {**design.options, "by": None}
    cells = designs.cells(rows, right)
    return bf.report(cells, "y", "yhat", metrics=metric, **options)[metric].item()


def check_models(design: designs.Segments, random: Random, *, status: str, rule: str) -> float:
    """Tell whether a model that is as good as the baseline fails, or passes with a bad margin."""
    rule = rule.format(metric=design.metric)
    out = bf.check(
        design.draw_models(random),
        "y",
        "a",
        baseline="b",
        rules=rule,
        detail=True,
        **design.options,
    )
    return float((out["status"] == status).any())


def check_baseline(design: designs.Segments, random: Random, *, status: str, rule: str) -> float:
    """Tell whether a rule against an earlier run errs in any segment."""
    options = {name: v for name, v in design.options.items() if name != "pos_label"}
    before = bf.confusion(design.draw(random), "y", "yhat", **options)
    out = bf.check(
        design.draw(random), "y", "yhat", baseline=before,
        rules=rule.format(metric=design.metric), detail=True, **design.options,
    )  # fmt: skip
    return float((out["status"] == status).any())


def compare(design: designs.Segments, random: Random, *, column: str) -> float | None:
    """Tell whether one of two equal models is found to be better in any segment.

    For single p-values or limits, return the share of segments in which it is.
    """
    out = bf.compare(
        design.draw_models(random), "y", ["a", "b"], metrics=design.metric, adjust="holm",
        detail=True, **design.options,
    )  # fmt: skip
    if column == "verdict":
        return _any_decided(out)
    if column == "limits":
        return _excludes(out, 0, "lower", "upper")
    return _any_below(out["p_adjusted"]) if column == "p_adjusted" else _share_below(out[column])


def diff(design: designs.Segments, random: Random, *, column: str, is_paired: bool) -> float | None:
    """Tell whether one of two equal runs is found to be better in any segment.

    For single p-values or limits, return the share of segments in which it is.
    """
    if is_paired:
        frame, y_pred, baseline = design.draw_models(random), "a", "b"
    else:
        frame, y_pred, baseline = design.draw(random), "yhat", design.draw(random)
    out = bf.diff(
        frame, "y", y_pred, baseline=baseline, metrics=design.metric, adjust="holm", detail=True,
        **design.options,
    )  # fmt: skip
    if column == "verdict":
        return _any_decided(out)
    return _any_below(out["p_adjusted"]) if column == "p_adjusted" else _share_below(out[column])


def ranking(design: designs.Scores, random: Random) -> float | None:
    """Return the share of intervals of differences of equal areas that exclude 0."""
    if len(design.n) == 1:
        return None
    out = bf.ranking(
        design.draw(random), "y", "score", by="g", reference="rest", pos_label=1, detail=True
    )
    return _excludes(out, 0, "roc_auc_difference_lower", "roc_auc_difference_upper")


def best_threshold(design: designs.Scores, random: Random) -> float:
    """Return the share of segments whose optimum exceeds that of scores without signal."""
    out = bf.best_threshold(design.draw(random), "y", "score", by="g", pos_label=1, detail=True)
    return float((out["estimate"] > out["chance_maximum"]).mean())


def calibration(
    design: designs.Probabilities, random: Random, *, column: str, **options: object
) -> float | None:
    """Tell whether any segment is found to be badly calibrated; of single tests, the share."""
    out = bf.calibration(
        design.draw(random), "y", "score", by="g", pos_label=1, detail=True, **options
    )
    p = out[column]
    return _any_below(p) if column == "p_adjusted" else _share_below(p)


def calibration_limits(
    design: designs.Probabilities, random: Random, *, of: str, truth: float
) -> float | None:
    """Return the share of limits that exclude the value of right probabilities."""
    out = bf.calibration(design.draw(random), "y", "score", by="g", pos_label=1, detail=True)
    return _excludes(out, truth, f"{of}_lower", f"{of}_upper")


def calibration_gaps(design: designs.Probabilities, random: Random, *, column: str) -> float | None:
    """Tell whether any segment is found to have other outcomes at the same score."""
    if len(design.n) == 1:
        return None
    options = {"adjust": "holm"} if column == "p_adjusted" else {}
    out = bf.calibration_gaps(
        design.draw(random), "y", "score", by="g", pos_label=1, detail=True, **options
    )
    return _share_below(out[column]) if column == "p_value" else _any_below(out[column])


def slices(design: designs.Columns, random: Random) -> float:
    """Tell whether any slice is listed."""
    names = [f"c{i}" for i in range(len(design.n_levels))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)
        out = bf.slices(
            design.draw(random),
            "y",
            "yhat",
            over=names,
            metrics=design.metric,
            min_support=1,
            detail=True,
        )
    return float(out.height > 0)


def diff_slices(design: designs.Columns, random: Random) -> float:
    """Tell whether any slice is listed as worse than in an equal run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)
        out = bf.diff_slices(
            design.draw(random),
            "y",
            "yhat",
            baseline=design.draw(random),
            over=[f"c{i}" for i in range(len(design.n_levels))],
            min_support=1,
        )
    return float(out.height > 0)


def impact(design: designs.Selections, random: Random, *, column: str) -> float | None:
    """Tell whether any category is found to be selected less often than another.

    For single p-values or limits, return the share of categories that are.
    """
    sample = design.draw(random)
    if not sample["selected"].sum():
        return None
    options = {"favourable": "selected", "adjust": "holm", "min_share": 0, "detail": True}
    out = bf.impact(sample, "selected", by="g", counts="n", **options)
    if column == "limits":
        return _excludes(out, 1, "lower", "upper")
    return _any_below(out["p_adjusted"]) if column == "p_adjusted" else _share_below(out[column])


def monitor(streams: Streams, random: Random, *, column: str = "status") -> float:
    """Tell whether a stream that is not worse has an alarm, or a test of its weeks below 0.05."""
    streams = replace(streams, seed=int(random.integers(2**31)))
    out = streams.monitored()
    if column == "status":
        return float((out["status"] == "alarm").sum() > 0)
    p = out[column].drop_nulls()
    return float(p[0] < ERROR) if len(p) else 0.0


def audit(
    design: designs.Columns, random: Random, *, sentence: str, errs_if_present: bool
) -> float:
    """Tell whether a page says that groups or combinations of groups fare differently."""
    names = [f"c{i}" for i in range(len(design.n_levels))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)
        text = bf.audit(design.draw(random), "y", "yhat", by=names, pos_label=1).markdown()
    return float((sentence in " ".join(text.split())) == errs_if_present)
