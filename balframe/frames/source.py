"""What a verb computes from: predicted labels, or scores and thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import polars as pl

from balframe.frames import reduce, scores
from balframe.frames.library import DType, Library, Name
from balframe.frames.query import Query
from balframe.frames.read import Reading, read, read_reduced
from balframe.frames.thresholds import Thresholds


class Source(Protocol):
    """How a frame becomes cells, eagerly or by way of an engine's group-by."""

    def settled(self, frame: pl.LazyFrame, query: Query) -> "Source":
        """Look up beforehand what the group-by needs to know."""

    def read(self, frame: Any, library: Library, query: Query) -> Any:  # noqa: ANN401
        """Count an eager frame."""

    def reduce(self, frame: pl.LazyFrame, query: Query) -> pl.LazyFrame:
        """Ask an engine for cells."""

    def read_reduced(self, cells: pl.DataFrame, dtypes: Mapping[Name, DType], query: Query) -> Any:  # noqa: ANN401
        """Count the cells that an engine has summed."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Predicted labels."""

    def settled(self, frame: pl.LazyFrame, query: Query) -> "Labels":
        """Need nothing."""
        return self

    def read(self, frame: Any, library: Library, query: Query) -> Reading:  # noqa: ANN401
        """Count cells of an eager frame."""
        return read(frame, library, query)

    def reduce(self, frame: pl.LazyFrame, query: Query) -> pl.LazyFrame:
        """Group by segment, true label and prediction."""
        return reduce.reduce(frame, query)

    def read_reduced(
        self, cells: pl.DataFrame, dtypes: Mapping[Name, DType], query: Query
    ) -> Reading:
        """Read the cells that an engine has summed."""
        return read_reduced(cells, dtypes, query)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores, and the thresholds to compare them with."""

    thresholds: Thresholds

    def settled(self, frame: pl.LazyFrame, query: Query) -> "Scores":
        """Find the quantiles of the scores: a first pass over the data."""
        if self.thresholds.quantiles is None:
            return self
        query = replace(query, margins=False)
        dtypes = {query.y_true: frame.collect_schema()[query.y_true]}
        cells = _EXACT.reduce(frame, query).collect(engine="streaming")
        return self._at_quantiles(_EXACT.read_reduced(cells, dtypes, query))

    def read(self, frame: Any, library: Library, query: Query) -> scores.Scored:  # noqa: ANN401
        """Count ties of an eager frame."""
        if self.thresholds.quantiles is None:
            return scores.read_scores(frame, library, query, self.thresholds)
        first = _EXACT.read(frame, library, replace(query, margins=False))
        return self._at_quantiles(first).read(frame, library, query)

    def _at_quantiles(self, scored: scores.Scored) -> "Scores":
        return Scores(self.thresholds.at_quantiles(scored.ties.score, scored.ties.n))

    def reduce(self, frame: pl.LazyFrame, query: Query) -> pl.LazyFrame:
        """Group by segment, true label and score, or thresholds that it reaches."""
        return reduce.reduce(frame, query, self.thresholds)

    def read_reduced(
        self, cells: pl.DataFrame, dtypes: Mapping[Name, DType], query: Query
    ) -> scores.Scored:
        """Read the ties that an engine has summed."""
        return scores.read_reduced_scores(cells, dtypes, query, self.thresholds)


_EXACT = Scores(Thresholds())
