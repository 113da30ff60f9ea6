"""Tie the scores of a frame: encode its columns, find the positive label, sort or bin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, RowIndex
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.group_sum import sum_by_group
from balframe.core.integer_codes import Codes, codes_from_zero, narrow_key
from balframe.core.label_set import LabelSet, why_no_default
from balframe.core.operating_points import OperatingPoints
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import Ties, group_ties, split_by_label
from balframe.errors import OPTION, InvalidInputError
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, Name
from balframe.frames.count_frame import check_label_columns, count_rows, encode_columns
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.weighted_sums import read_sums
from balframe.frames.label_agreement import LabelColumn, LevelCounts, agree_on_labels
from balframe.frames.query import MODEL, Query
from balframe.frames.rollups import add_margins_by_cluster
from balframe.frames.row_weights import raise_null, read_row_sums
from balframe.frames.thresholds import QUANTILES, Thresholds

_NEGATIVE, _POSITIVE, _NO_LABEL = 0, 1, 2


@dataclass(frozen=True)
class ScoredFrame:
    """The ties of a frame; `counted_frame` has its segments, one cell for each, and the labels.

    `clusters` are the ties of each cluster, the last by-column; None where rows are independent.
    """

    counted_frame: CountedFrame
    ties: Ties
    thresholds: Thresholds
    clusters: Ties | None = None

    def operating_points(self) -> OperatingPoints:
        """Return the operating points of every segment."""
        if self.thresholds.values is None:
            return OperatingPoints.exact(self.ties.in_own_units())
        return OperatingPoints.on_grid(self.ties.in_own_units(), self.thresholds.values)

    def ties_by_model(self) -> tuple[Ties, Int64Array]:
        """Return the ties of all segments together, by model, and the model of each segment."""
        finest = self.counted_frame.cell_margins() == 0
        codes: list[int | None] = [0] * len(self.ties.by)
        if self.counted_frame.query.has_several_models:
            codes[-1] = None
        ties = self.ties.at(np.flatnonzero(finest)).rolled_up((), codes)
        return ties, self.counted_frame.cell_models()


@dataclass(frozen=True)
class ModelScores:
    """The rows of one model, or their cells: codes, sums and scores.

    On a grid, the score of a cell is the number of thresholds that it reaches.
    """

    by: Sequence[Codes]
    y_true: Codes
    row_sums: RowSums
    score: FloatArray
    is_null: BoolArray | None

    @classmethod
    def take(
        cls,
        encoded: Sequence[EncodedColumn],
        rows: RowIndex,
        row_sums: RowSums,
        score: FloatArray,
        is_null: BoolArray | None,
    ) -> "ModelScores":
        """Take rows of columns; the by-columns come first and the true labels last."""
        *by, true = (replace(column.codes, values=column.codes.values[rows]) for column in encoded)
        return cls(by, true, row_sums, score, is_null)

    def bin_scores(self, thresholds: Thresholds) -> "ModelScores":
        """Count rows by the number of thresholds that they reach; null is one more bin."""
        assert thresholds.values is not None
        size = len(thresholds.values) + 1
        reached = thresholds.count_reached(self.score)
        if self.is_null is not None:
            reached = np.where(self.is_null, size, reached)
        columns = [*self.by, self.y_true, Codes(reached, 0, size + 1)]
        (*by, true, reached), sums = count_rows(columns, self.row_sums)
        codes = [
            Codes(values, 0, column.size)
            for values, column in zip((*by, true), columns, strict=False)
        ]
        return ModelScores(codes[:-1], codes[-1], sums, reached.astype(np.float64), reached == size)


def tie_scores(
    frame: Frame,
    adapter: Adapter,
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Tie the scores of an eager frame."""
    dtypes = {query.y_true: adapter.dtype(frame, query.y_true)}
    check_label_columns(frame, adapter, query)
    names = (*query.key_columns, query.y_true)
    columns = encode_columns(frame, names, adapter)
    row_sums = read_row_sums(frame, adapter, query)
    encoded = [columns[name] for name in names]
    parts = []
    for name in query.y_pred:
        values, is_null = adapter.numbers(frame, name)
        score = thresholds.round_scores(values.astype(np.float64, copy=False))
        if row_sums.n is not None:
            score = np.where(row_sums.n > 0, score, 0)  # a row that stands for none does not exist
        check_scores(name, score, row_sums, thresholds)
        part = ModelScores.take(encoded, slice(None), row_sums, score, is_null)
        reached = thresholds.for_scores(adapter.dtype(frame, name))
        parts.append(part if thresholds.values is None else part.bin_scores(reached))
    return _assemble(encoded, parts, adapter, dtypes, query, thresholds)


def tie_reduced_scores(
    cells: Frame,
    adapter: Adapter,
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Tie the scores of cells that an engine has summed."""
    row_sums = read_sums(cells, adapter, query)
    keys = (*(group_by.by_key(i) for i in range(len(query.keys))), group_by.ACTUAL)
    encoded = list(encode_columns(cells, keys, adapter).values())
    model_of_row, _ = adapter.numbers(cells, group_by.MODEL_INDEX)
    values, is_null = adapter.numbers(cells, group_by.OUTCOME)
    parts = []
    has_one_model = len(query.y_pred) == 1
    for model, name in enumerate(query.y_pred):
        rows = slice(None) if has_one_model else np.flatnonzero(model_of_row == model)
        score = thresholds.step_scores(values[rows].astype(np.float64))
        model_rows = row_sums.at(rows).without_ones()
        if thresholds.is_exact:
            check_scores(name, score, model_rows, thresholds)
        else:
            n_infinite, n_outside = (
                n_rows(model_rows, score == code) for code in (group_by.INFINITE, group_by.OUTSIDE)
            )
            _raise_unusable(name, n_infinite, n_outside)
        parts.append(
            ModelScores.take(
                encoded, rows, model_rows, score, None if is_null is None else is_null[rows]
            )
        )
    dtypes = {query.y_true: adapter.dtype(cells, group_by.ACTUAL)}
    return _assemble(encoded, parts, adapter, dtypes, query, thresholds)


def check_scores(name: Name, score: FloatArray, rows: RowSums, thresholds: Thresholds) -> None:
    """Raise if scores are not finite, or outside an even grid of thresholds."""
    low, high = score.min(initial=0), score.max(initial=0)
    if not np.isfinite([low, high]).all():
        _raise_unusable(name, n_rows(rows, np.isinf(score)), 0)
    if thresholds.is_even and not 0 <= low <= high <= 1:
        _raise_unusable(name, 0, n_rows(rows, (score < 0) | (score > 1)))


def raise_infinite(name: Name, how_many: int) -> None:
    """Raise if scores are infinite."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} infinite value{'s' * (how_many > 1)}; scores must "
            "be finite. Replace them first, for example by the largest finite score."
        )


def _raise_unusable(name: Name, n_infinite: int, n_outside: int) -> None:
    raise_infinite(name, n_infinite)
    if n_outside:
        raise InvalidInputError(
            "column {!r} has {} score{} outside [0, 1]; a number of thresholds requires scores "
            "from 0 to 1. Give a list of thresholds, or {} to take them from the scores.",
            name,
            n_outside,
            "s" * (n_outside > 1),
            QUANTILES,
        )


def _assemble(
    encoded: Sequence[EncodedColumn],
    parts: Sequence[ModelScores],
    adapter: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
    thresholds: Thresholds,
) -> ScoredFrame:
    """Tie the rows of each model, and join the models."""
    *by, true = encoded
    if query.cluster is not None:
        parts = [without_unclustered(part, by[-1], query) for part in parts]
    labels, codes = label_codes(true, parts, adapter, dtypes, query)
    kinds = code_kinds(true, codes, positive_code(labels, query))
    models = []
    for name, part in zip(query.y_pred, parts, strict=True):
        if part.is_null is not None and not query.drops_missing:
            raise_null(name, n_rows(part.row_sums, part.is_null))
        models.append(_tie_rows(by, kinds, part))
    levels = {name: column.levels for name, column in zip(query.keys, by, strict=True)}
    if query.has_several_models:
        levels[MODEL] = adapter.text_series([str(name) for name in query.y_pred])
        models = [
            ties.with_constant_column(model, first=False) for model, ties in enumerate(models)
        ]
    ties, levels, clusters = add_margins_by_cluster(Ties.concat(models), levels, adapter, query)
    counted_frame = CountedFrame(segment_cells(ties), labels, levels, adapter, query, dtypes)
    return ScoredFrame(counted_frame, ties, thresholds, clusters)


def segment_cells(ties: Ties) -> Cells:
    """Return a cell for each segment of ties, which has the rows that were left out of it."""
    return Cells(
        ties.by,
        np.full_like(ties.missing, LEFT_OUT),
        np.full_like(ties.missing, LEFT_OUT),
        RowSums(np.zeros_like(ties.missing), ties.missing),
    )


def without_unclustered(part: ModelScores, cluster: EncodedColumn, query: Query) -> ModelScores:
    """Leave out rows without a cluster."""
    codes = codes_from_zero(part.by[-1], slice(None))
    is_null = cluster.level_positions(codes) == len(cluster.levels)
    if not is_null.any():
        return part
    if not query.drops_missing:
        raise_null(query.cluster, n_rows(part.row_sums, is_null))
    return replace(part, row_sums=part.row_sums.losing(is_null))


def label_codes(
    true: EncodedColumn,
    parts: Sequence[ModelScores],
    adapter: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> tuple[LabelSet, Int64Array]:
    """Return the labels, and the code of each level of the column of true labels."""
    counts = []
    for part in parts:
        (codes,), sums = sum_by_group([part.y_true], part.row_sums)
        counts.append(LevelCounts((), (true.level_positions(codes),), (0,), sums))
    column = LabelColumn(query.y_true, true.levels, dtypes[query.y_true])
    agreement = agree_on_labels(counts, [column], adapter, query)
    return agreement.labels, agreement.code_tables[0]


_OF_SEVERAL_LABELS = (
    "With more than two labels, a score is that of one label against all others: make one call for "
    "each label, with the column of its scores. There is no average over labels."
)


def positive_code(labels: LabelSet, query: Query) -> int:
    """Return the code of the positive label, which scores need."""
    code = labels.positive(query.pos_label) if len(labels) else -1
    if code is None:
        raise InvalidInputError(
            "scores need {pos_label}; give one of the labels: {}. {}",
            labels,
            why_no_default(labels, _OF_SEVERAL_LABELS),
            pos_label=OPTION,
        )
    return code


def code_kinds(true: EncodedColumn, codes: Int64Array, positive: int) -> Int64Array:
    """Return whether each code of the encoder is negative, positive or null."""
    label = codes[true.level_positions(np.arange(true.codes.size))]
    kinds = np.where(label == positive, _POSITIVE, _NEGATIVE)
    return np.where(label == LEFT_OUT, _NO_LABEL, kinds).astype(np.uint8)


def n_rows(row_sums: RowSums, rows: BoolArray) -> int:
    """Count the rows that some of these stand for."""
    return int(rows.sum() if row_sums.n is None else row_sums.n[rows].sum())


def _tie_rows(by: Sequence[EncodedColumn], kinds: Int64Array, part: ModelScores) -> Ties:
    """Tie the rows of one model."""
    kind = kinds[narrow_key([part.y_true], len(part.score))]
    rows = nulls_to_missing(part, kind)
    has_rows = None if rows.n is None else rows.n > 0
    ties = group_ties(
        part.by, part.score, *split_by_label(rows, kind == _POSITIVE), has_rows, rows.missing
    )
    positions = tuple(
        column.level_positions(codes) for column, codes in zip(by, ties.by, strict=True)
    )
    ties = replace(ties, by=positions)
    if all(column.rank is None for column in by):
        return ties
    return ties.at(np.lexsort(positions[::-1]))


def nulls_to_missing(part: ModelScores, kind: Int64Array) -> RowSums:
    """Count rows without a label or a score as missing only."""
    is_missing = kind == _NO_LABEL
    if part.is_null is not None:
        is_missing |= part.is_null
    return part.row_sums.losing(is_missing) if is_missing.any() else part.row_sums
