"""Random frames whose rows come in clusters, and answers about them row by row."""

import numpy as np
import polars as pl
import pytest

from tests.support.constructors import plain

NOTHING = (None, None)
each_seed = pytest.mark.parametrize("seed", range(4))


def drawn(seed, labels=2, segments=3, clusters=None, nested=False, rows=90):
    """Draw rows whose clusters differ in what is right."""
    rng = np.random.default_rng(seed)
    clusters = (7, 20)[seed % 2] if clusters is None else clusters
    segment, cluster = rng.integers(segments, size=rows), rng.integers(clusters, size=rows)
    if nested:
        cluster = cluster * segments + segment
    ability = rng.beta(2, 1, size=clusters * segments)[cluster]
    y = rng.integers(labels, size=rows)
    if labels > 2:
        y[segment == 0] %= 2  # which lacks a label
    wrong = (y + rng.integers(1, labels, size=rows)) % labels
    p, q = (np.where(rng.random(rows) < ability, y, wrong) for _ in range(2))
    score = (p + rng.integers(0, 4, size=rows)) / 4
    columns = {"g": segment, "c": cluster, "y": y, "p": p, "q": q, "s": score}
    return pl.DataFrame({**columns, "g": np.array(list("abcdefgh"))[segment]})


def ask(method, frame, predicted="p", **options):
    """List the rows of a result."""
    result = plain(
        method(frame, "y", predicted, **{"by": "g", "cluster": "c", "detail": True, **options})
    )
    return [dict(zip(result, row, strict=True)) for row in zip(*result.values(), strict=True)]


def rows(frame, predicted="p"):
    return list(zip(frame["c"], frame["y"], frame[predicted], strict=True))


def halves(frame, segment):
    """Cut the rows into those of a segment and all others."""
    return (rows(frame.filter(one)) for one in (pl.col("g") == segment, pl.col("g") != segment))


def limits(row, name=""):
    return row[f"{name}lower"], row[f"{name}upper"]


def close(values):
    return pytest.approx(values, rel=1e-9, abs=1e-9)
