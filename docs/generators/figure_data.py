"""What the figures show, computed with balframe; what is simulated has a seed."""

from math import comb

import numpy as np
import numpy.typing as npt
import polars as pl

import balframe as bf
from balframe.stats.candidate_pairs import range_critical_value
from balframe.stats.pairwise_extremes import IndependentScores
from balframe.stats.proportions import normal_quantile

BALANCED, LOWER, UPPER = (f"balanced_accuracy{end}" for end in ("", "_lower", "_upper"))
HITS, REJECTIONS = pl.col("hits"), pl.col("rejections")
SAME = 1e-12  # by how much a limit may miss by rounding
_MANY_EXTREMES = 8  # segments with the highest scores, and with the lowest

Floats = npt.NDArray[np.float64]
Count = pl.Expr | int


def counted(
    segments: pl.DataFrame, positives: tuple[Count, Count], negatives: tuple[Count, Count]
) -> pl.DataFrame:
    """Make cells of segments, from the rows of each label and from how many of them are right."""
    frames = []
    for label, (rows, right) in {1: positives, 0: negatives}.items():
        for predicted, n in {label: right, 1 - label: rows - right}.items():
            cells = segments.with_columns(n=n, y=pl.lit(label), yhat=pl.lit(predicted))
            frames.append(cells.with_columns(pl.col("n").cast(pl.Int64)))
    return pl.concat(frames)


def reported(
    segments: pl.DataFrame,
    positives: tuple[Count, Count],
    negatives: tuple[Count, Count],
    metrics: str | list[str] = BALANCED,
    **options: object,
) -> pl.DataFrame:
    """Report on segments, from the rows of each label and from how many of them are right."""
    by = segments.columns
    cells = counted(segments, positives, negatives)
    cells = cells.with_columns(pl.col(by).cast(pl.String))  # a report warns of many numbers
    scores = cells.bal.report("y", "yhat", by=by, counts="n", metrics=metrics, **options)
    return scores.with_columns(pl.col(by).cast(pl.Int64)).sort(by)


def all_results(n: int) -> pl.DataFrame:
    """List how many of n positives and of n negatives can be right."""
    rejections = pl.DataFrame({"rejections": range(n + 1)})
    return pl.DataFrame({"hits": range(n + 1)}).join(rejections, how="cross")


def means(n: int) -> pl.DataFrame:
    """Find both means of two recalls, each k/n."""
    scores = reported(all_results(n), (n, HITS), (n, REJECTIONS), [BALANCED, "geometric_mean"])
    shares = (HITS / n).alias("recall"), (REJECTIONS / n).alias("specificity")
    return scores.select(*shares, pl.col(BALANCED, "geometric_mean").round(4))


def accuracies_of_coenen() -> pl.DataFrame:
    """Classify a hundred rows with one label to ten, as accurately as in Coenen's table."""
    scores = []
    for labels, right in enumerate([100, 95, 94, 93, 92, 91, 90, 89, 88, 87], start=1):
        truth = [row % labels for row in range(100)]
        wrong = [(label + 1) % labels for label in truth]
        frame = pl.DataFrame({"y": truth, "yhat": truth[:right] + wrong[right:]})
        scores.append(frame.bal.report("y", "yhat", metrics=["accuracy", "normalized_accuracy"]))
    normalised = pl.col("normalized_accuracy").alias("normalised accuracy")
    wide = pl.concat(scores).select(pl.int_range(1, 11).alias("labels"), "accuracy", normalised)
    return wide.unpivot(index="labels", variable_name="score", value_name="value")


def curves() -> pl.DataFrame:
    """Score 4,000 rows, a tenth positive, by what tells of the label and by what does not."""
    rng = np.random.default_rng(11)
    y = (np.arange(4000) % 10 == 0).astype(np.int64)
    informative = 1 / (1 + np.exp(-rng.normal(2.0 * y - 1.0)))
    rows = pl.DataFrame(
        {"y": y, "informative": informative, "uninformative": rng.uniform(size=len(y))}
    )
    metrics = ["accuracy", BALANCED]
    found = rows.bal.curve("y", ["informative", "uninformative"], thresholds=51, metrics=metrics)
    return found.select("model", "threshold", pl.col(*metrics).round(4))


def majority_answers() -> pl.DataFrame:
    """Score always answering the more frequent label, with 2 to 98 of 100 rows positive."""
    positives = pl.col("positives")
    says_positive = positives > 50
    scores = reported(
        pl.DataFrame({"positives": range(2, 100, 2)}),
        (positives, positives * says_positive),
        (100 - positives, (100 - positives) * ~says_positive),
        ["accuracy", BALANCED],
    )
    named = "accuracy", pl.col(BALANCED).alias("balanced accuracy")
    wide = scores.select((positives / 100).alias("prevalence"), *named)
    return wide.unpivot(index="prevalence", variable_name="score", value_name="value")


def samples() -> pl.DataFrame:
    """Draw a hundred samples from recalls of 0.7 and 0.9, with limits that hold 0.8 or do not."""
    rng = np.random.default_rng(5)
    hits, rejections = rng.binomial(20, 0.7, 100), rng.binomial(80, 0.9, 100)
    drawn = pl.DataFrame({"sample": range(1, 101), "hits": hits, "rejections": rejections})
    limits = reported(drawn, (20, HITS), (80, REJECTIONS), interval=True)
    held = (pl.col(LOWER) <= 0.8) & (pl.col(UPPER) >= 0.8)
    outcome = pl.when(held).then(pl.lit("contains the true score")).otherwise(pl.lit("misses it"))
    return limits.select("sample", pl.col(BALANCED, LOWER, UPPER).round(4), limits=outcome)


def coverage_at(n: int, recalls: tuple[float, float]) -> dict[str, float]:
    """Add up the probabilities of the results whose 95% limits hold the balanced accuracy."""
    limits = reported(all_results(n), (n, HITS), (n, REJECTIONS), interval=True)
    p, q = limits["hits"].to_numpy() / n, limits["rejections"].to_numpy() / n
    half = 1.959964 * np.sqrt((p * (1 - p) + q * (1 - q)) / n) / 2
    ends = {
        "score": (limits[LOWER].to_numpy(), limits[UPPER].to_numpy()),
        "Wald": ((p + q) / 2 - half, (p + q) / 2 + half),
    }
    hits, rejections = (
        [comb(n, x) * recall**x * (1 - recall) ** (n - x) for x in range(n + 1)]
        for recall in recalls
    )
    likely, truth = np.outer(hits, rejections).ravel(), sum(recalls) / 2
    return {
        method: float(likely[(low <= truth + SAME) & (truth - SAME <= high)].sum())
        for method, (low, high) in ends.items()
    }


def coverage() -> pl.DataFrame:
    """Find the coverage with recalls of 0.9 and 0.95 and 3 to 50 rows of each label."""
    return pl.DataFrame(
        {"support": n, "limits": method, "coverage": round(share, 5)}
        for n in range(3, 51)
        for method, share in coverage_at(n, (0.9, 0.95)).items()
    )


def equal_segments(segments: int, samples: int) -> pl.DataFrame:
    """Draw samples of segments that have 50 rows of each label and recalls of 0.8."""
    rng, rows = np.random.default_rng(segments), samples * segments
    hits, rejections = rng.binomial(50, 0.8, rows), rng.binomial(50, 0.8, rows)
    sample, segment = np.divmod(np.arange(rows), segments)
    return pl.DataFrame(
        {"sample": sample, "segment": segment, "hits": hits, "rejections": rejections}
    )


def extremes_of(drawn: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Find max - min in each sample, the lower limit of that pair alone, and that of disparity.

    As all segments have the same supports, the limits of all pairs are searched among the segments
    with the highest and the lowest scores only.
    """
    samples, segments = (drawn[column].n_unique() for column in ("sample", "segment"))
    right = drawn.select("hits", "rejections").to_numpy().astype(np.float64)
    scores = IndependentScores(right, np.full_like(right, 50), np.full_like(right, 0.5))
    of_samples = scores.values.reshape(samples, segments)
    ranked = np.argsort(of_samples, axis=1) + segments * np.arange(samples)[:, None]
    few = min(_MANY_EXTREMES, segments)
    highest, lowest = np.repeat(ranked[:, -few:], few, axis=1), np.tile(ranked[:, :few], few)
    critical = range_critical_value(0.95, segments)
    held = scores.lower_differences((highest.ravel(), lowest.ravel()), critical)
    naive = scores.lower_differences((ranked[:, -1], ranked[:, 0]), normal_quantile(0.95))
    held = np.maximum(held.reshape(samples, -1).max(axis=1), 0)
    return np.ptp(of_samples, axis=1), naive, held


def extremes() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Find how far apart equal segments look, and how often limits say that they differ."""
    spread, claims = [], []
    for segments in (2, 3, 6, 10, 20, 50, 100):
        difference, naive, held = extremes_of(equal_segments(segments, 600))
        low, middle, high = (round(float(np.quantile(difference, q)), 4) for q in (0.05, 0.5, 0.95))
        spread.append({"segments": segments, "low": low, "median": middle, "high": high})
        for limits, lower in {"of disparity": held, "of the pair alone": naive}.items():
            share = round(float((lower > SAME).mean()), 4)
            claims.append({"segments": segments, "limits": limits, "share": share})
    return pl.DataFrame(spread), pl.DataFrame(claims)


def base_rates() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Find the false positive rate that both groups' common precision and misses demand."""
    metrics = ["prevalence", "false_positive_rate", "precision", "false_negative_rate"]
    people = bf.datasets.compas().filter(pl.col("race").is_in(["African-American", "Caucasian"]))
    both = people.bal.report("reoffended", "high_risk", counts="n", metrics=metrics)
    precision, missed = both["precision"].item(), both["false_negative_rate"].item()
    p = pl.col("prevalence")
    demanded = p / (1 - p) * ((1 - precision) / precision * (1 - missed))
    groups = people.bal.report("reoffended", "high_risk", by="race", counts="n", metrics=metrics)
    line = pl.DataFrame({"prevalence": [i / 100 for i in range(30, 61)]})
    return groups.with_columns(demanded=demanded), line.with_columns(demanded=demanded)
