"""Segments to compare: tables of counts, and frames drawn at random."""

import numpy as np
import polars as pl

import balframe as bf

LETTERS = {"pass": "P", "fail": "F", "inconclusive": "-"}
JUDGED = ["estimate", "lower", "upper", "bound", "status"]
PARTS = {  # hits and rows out of tp, fn, fp, tn
    "accuracy": lambda tp, fn, fp, tn: (tp + tn, tp + fn + fp + tn),
    "recall": lambda tp, fn, fp, tn: (tp, tp + fn),
    "false_positive_rate": lambda tp, fn, fp, tn: (fp, fp + tn),
    "precision": lambda tp, fn, fp, tn: (tp, tp + fp),
    "selection_rate": lambda tp, fn, fp, tn: (tp + fp, tp + fn + fp + tn),
}
FOUR = {"a": (60, 20, 15, 55), "b": (75, 15, 33, 47), "c": (41, 42, 36, 80), "d": (90, 30, 31, 50)}


def random_frame(seed=0, labels=2, rows=700, segments="abc"):
    """Draw two models that are right in 7 of 10 rows, and guess in the others."""
    rng = np.random.default_rng(seed)
    y, right = rng.integers(0, labels, rows), rng.random((2, rows)) < 0.7
    p, q = (np.where(hit, y, rng.integers(0, labels, rows)) for hit in right)
    g, sex = (rng.choice([None, *values], rows).tolist() for values in (segments, "fm"))
    w, k = rng.random(rows) + 0.1, rng.integers(0, 5, rows)
    columns = {"g": g, "sex": sex, "y": y, "p": p, "q": q, "w": w, "k": k}
    return pl.DataFrame({**columns, "heavy": w * np.where(np.array(g) == "a", 1e12, 1)})


def table(**segments):
    """Write tp, fn, fp, tn of each segment as counted rows; the last two may be left out."""
    g, size = np.repeat([*segments], 4).tolist(), len(segments)
    n = [count for counts in segments.values() for count in (*counts, 0, 0)[:4]]
    return {"g": g, "y": [1, 1, 0, 0] * size, "p": [1, 0, 1, 0] * size, "n": n}


def values_of(row, names):
    return [row[name] for name in names]


def without(frame, row, columns):
    """Leave out the rows that have the values of a row of a result in these columns."""
    inside = [pl.col(name).eq_missing(pl.lit(row[name], pl.String)) for name in columns]
    return frame.filter(~pl.all_horizontal(inside))


def gaps(data, metrics, by="g", **options):
    """Compare the segments of a table; rows as dicts."""
    options |= {"by": by, "metrics": metrics, "counts": "n"}
    return bf.gaps(pl.DataFrame(data), "y", "p", detail=True, **options).to_dicts()


def disparity(metrics, segments, **options):
    """Compare the segments of a table; rows as dicts."""
    options = {"min_support": 1, "by": "g", "metrics": metrics, "counts": "n"} | options
    return bf.disparity(
        pl.DataFrame(table(**segments)), "y", "p", detail=True, **options
    ).to_dicts()


def check(segments, rules, **options):
    """Judge a table of counts by segment."""
    options = {"rules": rules, "by": "g", "counts": "n"} | options
    return bf.check(pl.DataFrame(table(**segments)), "y", "p", detail=True, **options)


def letters(out):
    """Write the verdicts as letters."""
    return "".join(LETTERS[status] for status in out["status"])


def cells(segments):
    """Count the cells of a table of counts: an earlier run, to compare with."""
    return bf.confusion(pl.DataFrame(table(**segments)), "y", "p", by="g", counts="n")


def two_models(segments):
    """Write rows of two models: of each label those only p, only q, both and neither get right."""
    kinds = ((1, 0), (0, 1), (1, 1), (0, 0))
    rows = [
        {"g": g, "y": y, "p": y if p else 1 - y, "q": y if q else 1 - y, "n": n}
        for g, labels in segments.items()
        for y, counts in labels.items()
        for (p, q), n in zip(kinds, counts, strict=True)
    ]
    return pl.DataFrame(rows)
