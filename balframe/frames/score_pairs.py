"""Tie two scores of the same rows: those of each, and of groups of rows that are equal in both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array, RowIndex
from balframe.core.cells import segment_positions
from balframe.core.integer_codes import Codes, narrow_key
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import Ties, group_ties, split_by_label
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, MaskedNumbers, Name
from balframe.frames.count_frame import check_label_columns, encode_columns
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.weighted_sums import read_sums
from balframe.frames.query import MODEL, Query
from balframe.frames.rollups import add_margins
from balframe.frames.row_weights import raise_null, read_row_sums
from balframe.frames.scores import (
    ModelScores,
    check_scores,
    code_kinds,
    label_codes,
    n_rows,
    nulls_to_missing,
    positive_code,
    segment_cells,
    without_unclustered,
)
from balframe.frames.thresholds import Thresholds

_EXACT, _POSITIVE = Thresholds(), 1


@dataclass(frozen=True)
class PairGroups:
    """Rows with the same two scores: ties of the first, with `second_score` beside each.

    The by-columns of the ties begin with those of the segments. With clusters, theirs comes next.
    """

    ties: Ties
    second_score: FloatArray
    n_by: int

    @property
    def segment(self) -> Int64Array:
        """Position of the segment of each group of rows."""
        return self._positions(self.n_by)[self.ties.segment]

    @property
    def cluster_pairs(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Segment and cluster of each pair of these, and the pair of each group of rows."""
        pair = self._positions(self.n_by + 1)
        start = np.flatnonzero(np.diff(pair, prepend=-1))
        segment, cluster = self._positions(self.n_by)[start], self.ties.by[self.n_by][start]
        return segment, cluster, pair[self.ties.segment]

    def _positions(self, n_columns: int) -> Int64Array:
        """Return the position of each combination of the first by-columns."""
        return segment_positions(self.ties.by[:n_columns], self.ties.n_segments)


@dataclass(frozen=True)
class ScoredPairs:
    """The ties of the first and of the second score of each pair of models.

    Both have the same segments, whose weights are in the same units, and `counted_frame` has one
    cell for each. `clusters` are the groups of rows of each cluster; None if rows are independent.
    """

    counted_frame: CountedFrame
    first: Ties
    second: Ties
    groups: PairGroups
    clusters: PairGroups | None


@dataclass(frozen=True, slots=True)
class ScorePairSource:
    """Two scores of the same rows, counted together."""

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> ScoredPairs:
        """Tie the scores of an eager frame."""
        check_label_columns(frame, adapter, query)
        names = (*query.key_columns, query.y_true)
        columns = encode_columns(frame, names, adapter)
        encoded = [columns[name] for name in names]
        row_sums = read_row_sums(frame, adapter, query)
        values = {name: adapter.numbers(frame, name) for name in query.y_pred}
        parts = [
            _pair([values[name] for name in names], names, encoded, slice(None), row_sums, query)
            for names in query.outcomes
        ]
        dtypes = {query.y_true: adapter.dtype(frame, query.y_true)}
        return _assemble(encoded, parts, adapter, dtypes, query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and both scores."""
        return group_by.reduce_score_pairs(rows, query)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> ScoredPairs:
        """Tie the scores that an engine has summed."""
        row_sums = read_sums(cells, adapter, query)
        keys = (*(group_by.by_key(i) for i in range(len(query.keys))), group_by.ACTUAL)
        encoded = list(encode_columns(cells, keys, adapter).values())
        pair_of_row, _ = adapter.numbers(cells, group_by.MODEL_INDEX)
        values = [adapter.numbers(cells, group_by.outcome_key(i)) for i in (0, 1)]
        parts = []
        for pair, names in enumerate(query.outcomes):
            at = np.flatnonzero(pair_of_row == pair)
            sides = [(v[at], None if null is None else null[at]) for v, null in values]
            parts.append(_pair(sides, names, encoded, at, row_sums.at(at).without_ones(), query))
        dtypes = {query.y_true: adapter.dtype(cells, group_by.ACTUAL)}
        return _assemble(encoded, parts, adapter, dtypes, query)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The rows of a pair of models: the first model's, and the scores of the second."""

    first: ModelScores
    second: FloatArray


def _pair(
    scores: Sequence[MaskedNumbers],
    names: Sequence[Name],
    encoded: Sequence[EncodedColumn],
    rows: RowIndex,
    row_sums: RowSums,
    query: Query,
) -> _Pair:
    """Return the rows of two models; a row without either score has none of them."""
    values, nulls = [], []
    for (numbers, is_null), name in zip(scores, names, strict=True):
        score = numbers.astype(np.float64)
        if row_sums.n is not None:
            score = np.where(row_sums.n > 0, score, 0)
        check_scores(name, score, row_sums, _EXACT)
        if is_null is not None and not query.drops_missing:
            raise_null(name, n_rows(row_sums, is_null))
        values.append(score)
        nulls.append(is_null)
    present = [is_null for is_null in nulls if is_null is not None]
    is_null = np.any(present, axis=0) if present else None
    first = ModelScores.take(encoded, rows, row_sums, values[0], is_null)
    return _Pair(first, values[1] + 0.0)  # 0.0 for -0.0


def _assemble(
    encoded: Sequence[EncodedColumn],
    pairs: Sequence[_Pair],
    adapter: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> ScoredPairs:
    """Tie the rows of each pair of models, and join the pairs."""
    *by, true = encoded
    if query.cluster is not None:
        pairs = [
            _Pair(without_unclustered(pair.first, by[-1], query), pair.second) for pair in pairs
        ]
    labels, codes = label_codes(true, [pair.first for pair in pairs], adapter, dtypes, query)
    kinds = code_kinds(true, codes, positive_code(labels, query))
    second_scores = np.unique(np.concatenate([pair.second for pair in pairs]))
    models = [_tie_groups(by, kinds, pair, second_scores) for pair in pairs]
    levels = {name: column.levels for name, column in zip(query.keys, by, strict=True)}
    if query.has_several_models:
        levels[MODEL] = adapter.text_series(query.model_names)
        models = [
            ties.with_constant_column(number, first=False) for number, ties in enumerate(models)
        ]
    has_clusters = query.cluster is not None
    ties, n_by = Ties.concat(models), len(query.by)
    n_added = n_by + has_clusters + 1  # and the scores of the second model
    order = [*range(n_by), *range(n_added, len(ties.by)), *range(n_by, n_added)]
    if has_clusters:
        levels = {name: series for name, series in levels.items() if name != query.cluster}
    ties, levels = add_margins(ties.sorted_by(order), levels, adapter, query)
    ties = ties.sorted_by(range(len(ties.by)))
    outer = range(len(ties.by) - 1 - has_clusters)
    ties = _in_units_of_segments(ties, len(outer))
    clusters = _groups(ties, second_scores, len(outer)) if has_clusters else None
    if has_clusters:
        ties = ties.sorted_by([*outer, len(ties.by) - 1])
    groups = _groups(ties, second_scores, len(outer))
    first_ties = ties.sorted_by(outer)
    second_ties = replace(ties, score=groups.second_score).sorted_by(outer)
    cells = segment_cells(first_ties)
    counted_frame = CountedFrame(cells, labels, levels, adapter, query, dtypes)
    return ScoredPairs(counted_frame, first_ties, second_ties, groups, clusters)


def _groups(ties: Ties, second_scores: FloatArray, n_by: int) -> PairGroups:
    return PairGroups(ties, second_scores[ties.by[-1]][ties.segment], n_by)


def _tie_groups(
    by: Sequence[EncodedColumn], kinds: Int64Array, pair: _Pair, second_scores: FloatArray
) -> Ties:
    """Tie the rows that are equal in both scores; the last by-column has those of the second."""
    part = pair.first
    kind = kinds[narrow_key([part.y_true], len(part.score))]
    rows = nulls_to_missing(part, kind)
    second = Codes(np.searchsorted(second_scores, pair.second), 0, max(len(second_scores), 1))
    ties = group_ties(
        [*part.by, second],
        part.score,
        *split_by_label(rows, kind == _POSITIVE),
        None if rows.n is None else rows.n > 0,
        rows.missing,
    )
    *codes, second_codes = ties.by
    positions = (column.level_positions(values) for column, values in zip(by, codes, strict=True))
    return replace(ties, by=(*positions, second_codes))


def _in_units_of_segments(groups: Ties, n_columns: int) -> Ties:
    """Let the weights of each segment be in units of about their sum."""
    segment = segment_positions(groups.by[:n_columns], groups.n_segments)
    missing = np.zeros(int(segment.max(initial=-1)) + 1, np.int64)
    as_segments = replace(groups, by=(), missing=missing, segment=segment[groups.segment])
    scaled = as_segments.in_own_units()
    return replace(groups, positive=scaled.positive, negative=scaled.negative)
