"""A frame with scores to ties: encode its columns, find the positive label, sort or bin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, RowIndex
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.group_sum import aggregate
from balframe.core.integer_codes import Codes, narrow_key, shifted
from balframe.core.label_set import LabelSet
from balframe.core.operating_points import OperatingPoints
from balframe.core.row_sums import Measures
from balframe.core.score_ties import Ties, split, tie
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, Name
from balframe.frames.count_frame import check_labels, count, encode
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.weighted_sums import measures_of
from balframe.frames.label_agreement import Counted, LabelColumn, agree
from balframe.frames.query import MODEL, Query
from balframe.frames.rollups import with_clusters
from balframe.frames.row_weights import measures, raise_null
from balframe.frames.thresholds import QUANTILES, Thresholds

_NEGATIVE, _POSITIVE, _NO_LABEL = 0, 1, 2


@dataclass(frozen=True)
class ScoredFrame:
    """The ties of a frame; `reading` has its segments, one cell for each, and the labels.

    `clusters` are the ties of each cluster, the last by-column; None where rows are independent.
    """

    reading: CountedFrame
    ties: Ties
    thresholds: Thresholds
    clusters: Ties | None = None

    def points(self) -> OperatingPoints:
        """List the thresholds of every segment."""
        if self.thresholds.values is None:
            return OperatingPoints.exact(self.ties.in_own_units())
        return OperatingPoints.on_grid(self.ties.in_own_units(), self.thresholds.values)

    def of_models(self) -> tuple[Ties, Int64Array]:
        """Tie the rows of all segments together, by model; and tell the model of each segment."""
        finest = self.reading.margin_codes() == 0
        together: list[int | None] = [0] * len(self.ties.by)
        if self.reading.query.several:
            together[-1] = None
        ties = self.ties.at(np.flatnonzero(finest)).rolled_up((), together)
        return ties, self.reading.model_codes()


@dataclass(frozen=True)
class _Part:
    """The rows of one model, or cells of them: codes, what they carry, and scores.

    On a grid, the scores of cells are the numbers of thresholds that they reach.
    """

    by: Sequence[Codes]
    true: Codes
    measures: Measures
    score: FloatArray
    is_null: BoolArray | None

    @classmethod
    def of(
        cls,
        encoded: Sequence[EncodedColumn],
        rows: RowIndex,
        measures: Measures,
        score: FloatArray,
        is_null: BoolArray | None,
    ) -> "_Part":
        """Take rows of columns, the by-columns first and the true labels last."""
        *by, true = (replace(one.codes, values=one.codes.values[rows]) for one in encoded)
        return cls(by, true, measures, score, is_null)

    def binned(self, thresholds: Thresholds) -> "_Part":
        """Count the rows that reach as many thresholds; null is one more bin."""
        assert thresholds.values is not None
        size = len(thresholds.values) + 1
        reached = thresholds.reached(self.score)
        if self.is_null is not None:
            reached = np.where(self.is_null, size, reached)
        columns = [*self.by, self.true, Codes(reached, 0, size + 1)]
        (*by, true, reached), sums = count(columns, self.measures)
        codes = [Codes(v, 0, c.size) for v, c in zip((*by, true), columns, strict=False)]
        return _Part(codes[:-1], codes[-1], sums, reached.astype(np.float64), reached == size)


def read_scores(
    frame: Frame,
    library: Adapter,
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Count the ties of an eager frame."""
    dtypes = {query.y_true: library.dtype(frame, query.y_true)}
    check_labels(frame, library, query)
    names = (*query.keys, query.y_true)
    columns = encode(frame, names, library)
    carried = measures(frame, library, query)
    encoded = [columns[name] for name in names]
    parts = []
    for name in query.y_pred:
        values, is_null = library.numbers(frame, name)
        score = thresholds.rounded(values.astype(np.float64, copy=False))
        if carried.n is not None:
            score = np.where(carried.n > 0, score, 0)  # a row that stands for none does not exist
        _check_scores(name, score, carried, thresholds)
        part = _Part.of(encoded, slice(None), carried, score, is_null)
        parts.append(part if thresholds.values is None else part.binned(thresholds))
    return _assemble(encoded, parts, library, dtypes, query, thresholds)


def read_reduced_scores(
    cells: Frame,
    library: Adapter,
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Count the ties of cells that an engine has summed already."""
    carried = measures_of(cells, library, query)
    keys = (*(group_by.by_key(i) for i in range(len(query.keys))), group_by.ACTUAL)
    encoded = list(encode(cells, keys, library).values())
    model_of_row, _ = library.numbers(cells, group_by.MODEL_INDEX)
    values, is_null = library.numbers(cells, group_by.OUTCOME)
    parts = []
    is_only = len(query.y_pred) == 1
    for model, name in enumerate(query.y_pred):
        rows = slice(None) if is_only else np.flatnonzero(model_of_row == model)
        score = thresholds.of_step(values[rows].astype(np.float64))
        model_rows = carried.at(rows).without_ones()
        if thresholds.is_exact:
            _check_scores(name, score, model_rows, thresholds)
        else:
            n_infinite, n_outside = (
                _rows_in(model_rows, score == code)
                for code in (group_by.INFINITE, group_by.OUTSIDE)
            )
            _raise_unusable(name, n_infinite, n_outside)
        parts.append(
            _Part.of(encoded, rows, model_rows, score, None if is_null is None else is_null[rows])
        )
    dtypes = {query.y_true: library.dtype(cells, group_by.ACTUAL)}
    return _assemble(encoded, parts, library, dtypes, query, thresholds)


def _check_scores(name: Name, score: FloatArray, rows: Measures, thresholds: Thresholds) -> None:
    """Raise where scores are not finite, or not on the grid asked for."""
    low, high = score.min(initial=0), score.max(initial=0)
    if not np.isfinite([low, high]).all():
        _raise_unusable(name, _rows_in(rows, np.isinf(score)), 0)
    if thresholds.is_even and not 0 <= low <= high <= 1:
        _raise_unusable(name, 0, _rows_in(rows, (score < 0) | (score > 1)))


def raise_infinite(name: Name, how_many: int) -> None:
    """Refuse scores that are infinite."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} infinite value{'s' * (how_many > 1)}; scores must "
            "be finite. Replace them first, for example by the largest finite score."
        )


def _raise_unusable(name: Name, n_infinite: int, n_outside: int) -> None:
    raise_infinite(name, n_infinite)
    if n_outside:
        raise InvalidInputError(
            f"column {name!r} has {n_outside} score{'s' * (n_outside > 1)} outside [0, 1]; a "
            "number of thresholds requires scores from 0 to 1. Give a list of thresholds, or "
            f"{QUANTILES} to take them from the scores."
        )


def _assemble(
    encoded: Sequence[EncodedColumn],
    parts: Sequence[_Part],
    library: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Tie each model's rows, and put the models together."""
    *by, true = encoded
    if query.cluster is not None:
        parts = [_in_clusters(part, by[-1], query) for part in parts]
    labels, codes = _agree(true, parts, library, dtypes, query)
    kinds = _kinds(true, codes, _positive(labels, query))
    models = []
    for name, part in zip(query.y_pred, parts, strict=True):
        if part.is_null is not None and not query.drops_missing:
            raise_null(name, _rows_in(part.measures, part.is_null))
        models.append(_tied(by, kinds, part))
    levels = {name: one.levels for name, one in zip(query.keys, by, strict=True)}
    if query.several:
        levels[MODEL] = library.text([str(name) for name in query.y_pred])
        models = [ties.labelled(model, first=False) for model, ties in enumerate(models)]
    ties, levels, clusters = with_clusters(Ties.concat(models), levels, library, query)
    cells = Cells(
        ties.by,
        np.full_like(ties.missing, LEFT_OUT),
        np.full_like(ties.missing, LEFT_OUT),
        Measures(np.zeros_like(ties.missing), ties.missing),
    )
    reading = CountedFrame(cells, labels, levels, library, query, dtypes)
    return ScoredFrame(reading, ties, thresholds, clusters)


def _in_clusters(part: _Part, cluster: EncodedColumn, query: Query) -> _Part:
    """Leave out rows of no cluster."""
    codes = shifted(part.by[-1], slice(None))
    in_none = cluster.ranked(codes) == len(cluster.levels)
    if not in_none.any():
        return part
    if not query.drops_missing:
        raise_null(query.cluster, _rows_in(part.measures, in_none))
    return replace(part, measures=part.measures.losing(in_none))


def _agree(
    true: EncodedColumn,
    parts: Sequence[_Part],
    library: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> tuple[LabelSet, Int64Array]:
    """Find the labels, and the code of each level of the column of true labels."""
    counted = []
    for part in parts:
        (found,), sums = aggregate([part.true], part.measures)
        counted.append(Counted((), (true.ranked(found),), (0,), sums))
    column = LabelColumn(query.y_true, true.levels, dtypes[query.y_true])
    agreed = agree(counted, [column], library, query)
    return agreed.labels, agreed.tables[0]


def _positive(labels: LabelSet, query: Query) -> int:
    code = labels.positive(query.pos_label) if len(labels) else -1
    if code is None:
        raise InvalidInputError(
            f"scores need {parameter('pos_label')}; give one of the labels: {labels}. It has a "
            "default only if the labels are among 0 and 1, -1 and 1, or false and true."
        )
    return code


def _kinds(true: EncodedColumn, codes: Int64Array, positive: int) -> Int64Array:
    """Tell for each code of the encoder whether it is negative, positive or null."""
    label = codes[true.ranked(np.arange(true.codes.size))]
    kinds = np.where(label == positive, _POSITIVE, _NEGATIVE)
    return np.where(label == LEFT_OUT, _NO_LABEL, kinds).astype(np.uint8)


def _rows_in(measures: Measures, rows: BoolArray) -> int:
    return int(rows.sum() if measures.n is None else measures.n[rows].sum())


def _tied(by: Sequence[EncodedColumn], kinds: Int64Array, part: _Part) -> Ties:
    """Tie the rows of one model."""
    kind = kinds[narrow_key([part.true], len(part.score))]
    rows = _without_nulls(part, kind)
    counted = None if rows.n is None else rows.n > 0
    ties = tie(part.by, part.score, *split(rows, kind == _POSITIVE), counted, rows.missing)
    ranked = tuple(one.ranked(code) for one, code in zip(by, ties.by, strict=True))
    ties = replace(ties, by=ranked)
    if all(one.rank is None for one in by):
        return ties
    return ties.at(np.lexsort(ranked[::-1]))


def _without_nulls(part: _Part, kind: Int64Array) -> Measures:
    """Let rows without a label or a score count as missing only."""
    lost = kind == _NO_LABEL
    if part.is_null is not None:
        lost |= part.is_null
    return part.measures.losing(lost) if lost.any() else part.measures
