"""What a verb computes from: predicted labels, or scores and thresholds."""

from dataclasses import dataclass, replace
from typing import Protocol

from balframe.frames import scores
from balframe.frames.adapter import Adapter, Frame
from balframe.frames.count_frame import read, read_reduced
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import Sides
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.registry import Engine
from balframe.frames.median_selection import Selections
from balframe.frames.query import Query
from balframe.frames.slice_features import Searched
from balframe.frames.thresholds import Thresholds

SourceCounts = CountedFrame | scores.ScoredFrame | Searched | Selections | Sides


class Source(Protocol):
    """How a frame becomes cells, eagerly or by way of an engine's group-by."""

    @property
    def reads_twice(self) -> bool:
        """Whether all rows are read once before they are counted."""

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "Source":
        """Compute what the group-by needs."""

    def read(self, frame: Frame, library: Adapter, query: Query) -> SourceCounts:
        """Count an eager frame."""

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Ask an engine for cells."""

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> SourceCounts:
        """Count the cells that an engine has summed."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Predicted labels."""

    reads_twice = False

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "Labels":
        """Need nothing."""
        return self

    def read(self, frame: Frame, library: Adapter, query: Query) -> CountedFrame:
        """Count cells of an eager frame."""
        return read(frame, library, query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and prediction."""
        return group_by.reduce(rows, query)

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> CountedFrame:
        """Read the cells that an engine has summed."""
        return read_reduced(cells, library, query)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores, and the thresholds to compare them with."""

    thresholds: Thresholds

    @property
    def reads_twice(self) -> bool:
        """Whether quantiles must be computed first."""
        return self.thresholds.quantiles is not None

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "Scores":
        """Find the quantiles of the scores: a first pass over the data."""
        if not self.reads_twice:
            return self
        query = _of_all_rows(query)
        cells = fetch(_EXACT.reduce(rows, query), engine, query)
        return self._at_quantiles(_EXACT.read_reduced(cells, engine.library, query))

    def read(self, frame: Frame, library: Adapter, query: Query) -> scores.ScoredFrame:
        """Count ties of an eager frame."""
        if not self.reads_twice:
            return scores.read_scores(frame, library, query, self.thresholds)
        first = _EXACT.read(frame, library, _of_all_rows(query))
        return self._at_quantiles(first).read(frame, library, query)

    def _at_quantiles(self, scored: scores.ScoredFrame) -> "Scores":
        return Scores(self.thresholds.at_quantiles(scored.ties.score, scored.ties.n))

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and score, or thresholds that it reaches."""
        return group_by.reduce_scores(rows, query, self.thresholds)

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> scores.ScoredFrame:
        """Read the ties that an engine has summed."""
        return scores.read_reduced_scores(cells, library, query, self.thresholds)


_EXACT = Scores(Thresholds())


def _of_all_rows(query: Query) -> Query:
    return replace(query, by=(), cluster=None, margins=False)
