"""Peers that disagree with balframe are not worth timing: compare every score and every count."""

import numpy as np
import pandas as pd
import polars as pl

import balframe as bf
from benchmarks.cases import Case
from benchmarks.data import Data, FloatArray, IntArray, in_polars
from benchmarks.peers import Answer, Peer, report

TOLERANCE = 1e-12
SCORES = ["accuracy", "balanced_accuracy"]


class Disagreement(Exception):  # noqa: N818 (it is what it says)
    """A peer whose answer is not balframe's."""


class Reference:
    """The scores and counts of balframe, each computed when first asked for."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self._found: dict[bool, pl.DataFrame] = {}

    def of(self, scores: bool) -> pl.DataFrame:
        """Give scores by the segment, or counts by segment and both labels."""
        if scores not in self._found:
            self._found[scores] = self._compute(scores)
        return self._found[scores]

    def _compute(self, scores: bool) -> pl.DataFrame:
        case, frame = self.data.case, self.data.frame
        if scores:
            return tidy(report(frame, case), case, scores)
        weight = "weight" if case.weighted else None
        found: pl.DataFrame | pd.DataFrame
        found = bf.confusion(
            *(frame, "y", "yhat"),
            by=case.by_columns,
            sample_weight=weight,
            cluster="cluster" if case.clusters else None,
        )
        cells = found if isinstance(found, pl.DataFrame) else pl.from_pandas(found)
        if case.weighted:
            cells = cells.with_columns(n=pl.col("weight"))
        return tidy(cells.filter(pl.col("n") > 0), case, scores)


def check(answer: Answer, peer: Peer, reference: Reference) -> None:
    """Raise unless the answer of a peer is balframe's."""
    case, scores = reference.data.case, peer.gives == "scores"
    found, expected = tidy(answer, case, scores), reference.of(scores)
    keys = keys_of(case, scores)
    if not found.select(keys).equals(expected.select(keys)):
        raise Disagreement(f"{peer.name} has other segments or labels; {case.title}")
    for name in expected.columns[len(keys) :]:
        furthest = np.nanmax(np.abs((found[name] - expected[name]).to_numpy()), initial=0.0)
        same_nulls = found[name].is_null().equals(expected[name].is_null())
        if not same_nulls or furthest > TOLERANCE:
            raise Disagreement(f"{peer.name} differs by {furthest} in {name}; {case.title}")


def tidy(answer: Answer, case: Case, scores: bool) -> pl.DataFrame:
    """Bring an answer into one form: keys as strings, sorted, then floats."""
    if isinstance(answer, np.ndarray):
        answer = named(answer, case)
    frame = pl.from_pandas(answer) if isinstance(answer, pd.DataFrame) else answer
    keys = keys_of(case, scores)
    values = SCORES if scores else ["n"]
    columns = [pl.col(keys).cast(pl.String), pl.col(values).cast(pl.Float64).fill_nan(None)]
    return frame.select(columns).sort(keys)


def keys_of(case: Case, scores: bool) -> list[str]:
    """Name the columns that tell one row of an answer from the others."""
    return case.by_columns if scores else [*case.keys, "y", "yhat"]


def named(counts: IntArray | FloatArray, case: Case) -> pl.DataFrame:
    """Turn a table of counts by codes into rows with names."""
    (cells,) = np.nonzero(counts)
    pairs, yhat = np.divmod(cells, case.labels)
    segment, y = np.divmod(pairs, case.labels)
    return in_polars(case, segment, y, yhat).with_columns(n=counts[cells])
