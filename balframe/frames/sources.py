"""What a method computes from: predicted labels, or scores and thresholds."""

from dataclasses import dataclass, replace
from typing import Protocol

from balframe.frames import scores
from balframe.frames.adapter import Adapter, Frame
from balframe.frames.count_frame import count_frame, count_reduced
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch_cells
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.registry import Engine
from balframe.frames.median_selection import MedianSelections
from balframe.frames.query import Query
from balframe.frames.slice_features import SliceFeatures
from balframe.frames.thresholds import Thresholds

SourceCounts = CountedFrame | scores.ScoredFrame | SliceFeatures | MedianSelections | CountedPair


class Source(Protocol):
    """How a frame becomes cells, eagerly or by way of an engine's group-by."""

    @property
    def reads_twice(self) -> bool:
        """Whether all rows are read once before they are counted."""

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> "Source":
        """Return a source with what the group-by needs, computed in a first pass."""

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> SourceCounts:
        """Count an eager frame."""

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Reduce rows to cells, as a query of the engine."""

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> SourceCounts:
        """Count the cells that an engine has summed."""


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Predicted labels."""

    reads_twice = False

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> "LabelSource":
        """Return the source as it is."""
        return self

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Count the cells of an eager frame."""
        return count_frame(frame, adapter, query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and prediction."""
        return group_by.reduce(rows, query)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Read the cells that an engine has summed."""
        return count_reduced(cells, adapter, query)


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Scores, and the thresholds to compare them with."""

    thresholds: Thresholds

    @property
    def reads_twice(self) -> bool:
        """Whether quantiles must be computed first."""
        return self.thresholds.quantiles is not None

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> "ScoreSource":
        """Find the quantiles of the scores: a first pass over the data."""
        if not self.reads_twice:
            return self
        query = _all_rows(query)
        cells = fetch_cells(_EXACT.reduce(rows, query), engine, query)
        return self._at_quantiles(_EXACT.count_reduced(cells, engine.adapter, query))

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> scores.ScoredFrame:
        """Tie the scores of an eager frame."""
        if not self.reads_twice:
            return scores.tie_scores(frame, adapter, query, self.thresholds)
        exact = _EXACT.count(frame, adapter, _all_rows(query))
        return self._at_quantiles(exact).count(frame, adapter, query)

    def _at_quantiles(self, scored: scores.ScoredFrame) -> "ScoreSource":
        return ScoreSource(self.thresholds.at_quantiles(scored.ties.score, scored.ties.n))

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and score, or thresholds that it reaches."""
        return group_by.reduce_scores(rows, query, self.thresholds)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> scores.ScoredFrame:
        """Tie the scores that an engine has summed."""
        return scores.tie_reduced_scores(cells, adapter, query, self.thresholds)


_EXACT = ScoreSource(Thresholds())


def _all_rows(query: Query) -> Query:
    return replace(query, by=(), cluster=None, margins=False)
