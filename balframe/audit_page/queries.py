"""The cells of a model, counted in one reading of its rows, which methods are called on."""

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeVar, cast

from balframe.api.method import function_parameters
from balframe.audit_page.left_out_rows import (
    MISSING,
    NO_DESIGN,
    RowCounts,
    count_labelled_rows,
    count_left_out,
)
from balframe.audit_page.request import Model, Request
from balframe.core.binning import weighted_median
from balframe.core.label_set import Label, LabelSet, as_labels, standard_pair, why_no_default
from balframe.core.strata import KEEP
from balframe.errors import (
    NAME,
    OPTION,
    Advice,
    BalframeWarning,
    InvalidInputError,
    Message,
    join,
    parameter,
)
from balframe.frames.adapter import Name
from balframe.frames.by_entries import Bins
from balframe.frames.convert_result import convert_result, row_dicts
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.engines.registry import PANDAS, PANDAS_ADAPTER, POLARS_ADAPTER, find_engine
from balframe.frames.median_selection import round_down_scores, select_scores
from balframe.frames.polars_cells import join_counts, values_with_counts
from balframe.frames.query import (
    WEIGHT,
    WEIGHT_MAX,
    WEIGHT_SQ,
    ExpectedOutcome,
    InputSpec,
    build_query,
)
from balframe.frames.sources import LabelSource, count_input
from balframe.methods.scores.confusion import ESTIMATED, confusion, observed_cells

TRUTH, PREDICTION, SCORE, N = "truth", "prediction", "score", "n"
CLUSTER, ROW_WEIGHT, PROBABILITY = "cluster", "row_weight", "probability"

Matrix = Mapping[tuple[Label, Label], float]
T = TypeVar("T")

Row = Mapping[Any, Any]


def by_name(column: int) -> str:
    """Return the name of a by-column in the cells, which no name of the caller's can equal."""
    return f"by{column}"


def verdict_name(number: int) -> str:
    """Return the name of a column of verdicts in the cells."""
    return f"verdict{number}"


@dataclass(frozen=True)
class ModelCells:
    """The cells of a model: a row for each combination of groups, score, truth and prediction.

    If rows without a true label are corrected for, these have cells too, whose truth is null, and
    all cells have the verdicts.

    `positive` is None with more than two labels. Scores are rounded down to multiples of `step`
    where there are very many. `n_missing` rows were left out; `row_counts` has which, and
    `selections` has the rows of each combination of groups and prediction, whatever else is
    missing. Both are None if no row was left out. `bins` are those of by-columns that were cut.

    Cells hold sums of weights and clusters where rows have them. Methods on scores read no sums of
    weights, so that `weighted_scores` has a row for each weight; None without weights or scores,
    and where the caller gave sums. `scored` has the rows of each score, where scores around the
    median are not rounded; None if no score is, or no side is favourable. `baseline` are the cells
    that these are compared with.
    """

    request: Request
    model: Model
    frame: Any
    labels: Sequence[Label]
    positive: Label | None
    step: float | None
    n_missing: int
    selections: Any = None
    row_counts: RowCounts | None = None
    bins: Mapping[int, Bins] = field(default_factory=dict)
    weighted_scores: Any = None
    scored: Any = None
    baseline: "ModelCells | None" = None
    _computed: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute what several sections share only once."""
        if key not in self._computed:
            self._computed[key] = compute()
        value: T = self._computed[key]
        return value

    @property
    def truth(self) -> str:
        """Return the name of the column of truths, which says whether they are only expected."""
        return ExpectedOutcome(TRUTH) if self.request.is_of_outcomes else TRUTH

    @property
    def pairs(self) -> Sequence[tuple[Label, Label]]:
        """Return the pairs of truth and prediction that rows may have."""
        truths: Sequence[Any] = [self.positive] if self.request.is_of_outcomes else self.labels
        return list(product(truths, self.labels))

    @cached_property
    def matrix(self) -> Mapping[tuple[Label, Label], int]:
        """Count the rows of each true label and prediction; the truth None is not known."""
        return count_labels(row_dicts(self.of_column(None)))

    @property
    def is_weighted(self) -> bool:
        """Return whether rows have weights."""
        return WEIGHT in self.frame.columns

    @property
    def has_clusters(self) -> bool:
        """Return whether rows belong together in clusters."""
        return CLUSTER in self.frame.columns

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return int(self.frame[CLUSTER].n_unique())

    @property
    def n_effective(self) -> float:
        """Return how many rows of equal weight would be as many (Kish's effective size)."""
        squares = float(self.frame[WEIGHT_SQ].sum())
        return float(self.frame[WEIGHT].sum()) ** 2 / squares if squares else 0.0

    @property
    def tables(self) -> Sequence[Any]:
        """Return all counts, which a fingerprint is of.

        The last digits of a sum of weights depend on the order of the rows, so they are left out.
        """
        frame = self.frame
        if self.is_weighted:
            frame = frame.with_columns(frame[WEIGHT].round_sig_figs(9)).drop(WEIGHT_SQ, WEIGHT_MAX)
        counts = None if self.row_counts is None else self.row_counts.frame
        tables = [table for table in (frame, self.selections, counts) if table is not None]
        return tables if self.baseline is None else [*tables, *self.baseline.tables]

    @property
    def design(self) -> Mapping[str, Any]:
        """Return the options that say how methods read the cells."""
        if self.request.is_corrected:
            return {"missing": "correct", **self._verdicts}
        return {"cluster": CLUSTER} if self.has_clusters else {}

    @property
    def _verdicts(self) -> dict[str, Any]:
        """Return the options that name the columns of verdicts and of probabilities."""
        has_probability = self.request.label_probability is not None
        return {
            "verdict": [*map(verdict_name, range(len(self.request.verdicts)))],
            "label_probability": PROBABILITY if has_probability else None,
        }

    def weights_of(self, column: int | None) -> Mapping[Any, Matrix]:
        """Sum the weights of each true label and prediction, by group; without weights, the rows.

        Rows without a true label are shared out as those with one; a group whose rows cannot be
        has none. `column` is None for all rows, which are the group None.
        """
        return self.once(("weights", column), lambda: self._weights_of(column))

    def _weights_of(self, column: int | None) -> Mapping[Any, Matrix]:
        frame = self.of_column(column)
        if self.request.is_corrected:
            by = None if column is None else by_name(column)
            rows, amount = self.query(confusion, frame, by=by), ESTIMATED
            rows = [row for row in rows if row[ESTIMATED] is not None]
        else:
            rows, amount = row_dicts(frame), WEIGHT if self.is_weighted else N
        matrices: dict[Any, dict[tuple[Label, Label], float]] = {}
        for cell in rows:
            matrix = matrices.setdefault(None if column is None else cell[by_name(column)], {})
            pair = cell[TRUTH], cell[PREDICTION]
            matrix[pair] = matrix.get(pair, 0) + cell[amount]
        return matrices

    @property
    def n_only_selected(self) -> int:
        """Return how many rows have a prediction, but no outcome or no score."""
        if self.request.is_corrected:
            return sum(self.matrix.values()) - sum(self.n_true.values())
        if self.selections is None:
            return 0
        return int(self.selections[N].sum()) - int(self.frame[N].sum())

    @cached_property
    def n_true(self) -> Mapping[Label, int]:
        """Count the rows of each true label."""
        return sum_matrix(self.matrix, self.labels)[0]

    @property
    def is_binary(self) -> bool:
        """Return whether there are two labels."""
        return self.positive is not None

    @property
    def has_scores(self) -> bool:
        """Return whether there are scores, of one of two labels."""
        return self.is_binary and self.model.y_score is not None

    def of_column(self, column: int | None) -> Any:  # noqa: ANN401 (a frame)
        """Return the cells of one by-column, or of all rows together, by both labels."""
        kept = None if column is None else by_name(column)
        return self.once(("labels", column), lambda: self._added_up(self.by_labels, kept))

    @cached_property
    def by_labels(self) -> Any:  # noqa: ANN401 (a frame)
        """The cells of each combination of groups and both labels, whatever the scores."""
        if SCORE not in self.frame.columns:
            return self.frame
        return self._added_up(self.frame, [*map(by_name, range(len(self.request.by)))])

    def _added_up(self, frame: Any, by: Name | Sequence[Name]) -> Any:  # noqa: ANN401 (frames)
        kept = {"missing": KEEP, **self._verdicts} if self.request.is_corrected else self.design
        options = {"by": by, "cells": True, "labels": list(self.labels), **kept}
        return confusion(frame, self.truth, PREDICTION, **options)

    def scores_of(self, column: int | None) -> Any:  # noqa: ANN401 (a frame)
        """Return the cells of one by-column, or of all rows together, by score and true label."""
        return self.once(("scores", column), lambda: self._scores_of(column))

    def _scores_of(self, column: int | None) -> Any:  # noqa: ANN401 (a frame)
        frame = self.frame if self.weighted_scores is None else self.weighted_scores
        keys = [*([] if column is None else [by_name(column)]), SCORE, TRUTH]
        keys += [name for name in (ROW_WEIGHT, CLUSTER) if name in frame.columns]
        return frame.select(*keys, N).group_by(keys, maintain_order=True).sum()

    def query(
        self,
        method: Callable[..., Any],
        frame: Any = None,  # noqa: ANN401 (cells; all by default)
        **options: Any,  # noqa: ANN401 (as the method's own)
    ) -> Sequence[Row]:
        """Return the result of a method on labels."""
        cells = self.by_labels if frame is None else frame
        options = {"labels": list(self.labels), "cells": True, **self.design, **options}
        return query(method, cells, self.truth, PREDICTION, **options)

    def query_scores(
        self,
        method: Callable[..., Any],
        frame: Any = None,  # noqa: ANN401 (cells; of all rows together by default)
        **options: Any,  # noqa: ANN401
    ) -> Sequence[Row]:
        """Return the result of a method on scores."""
        cells = self.scores_of(None) if frame is None else frame
        options = {"counts": N, "pos_label": self.positive, **self.design, **options}
        if self.is_weighted:
            options["sample_weight"] = ROW_WEIGHT
        return query(method, cells, TRUTH, SCORE, **options)


def query(method: Callable[..., Any], *arguments: Any, **options: Any) -> Sequence[Row]:  # noqa: ANN401
    """Return the rows of a result, details included unless `detail` says otherwise.

    Warnings are ignored: the page itself names their subjects.
    """
    if "detail" in function_parameters(method):
        options = {"detail": True, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BalframeWarning)
        return row_dicts(method(*arguments, **options))


def count_labels(cells: Sequence[Row]) -> dict[tuple[Label, Label], int]:
    """Count the rows of each true label and prediction."""
    matrix: dict[tuple[Label, Label], int] = {}
    for cell in cells:
        pair = cell[TRUTH], cell[PREDICTION]
        matrix[pair] = matrix.get(pair, 0) + cell[N]
    return matrix


Number = TypeVar("Number", int, float)


def sum_matrix(
    matrix: Mapping[tuple[Label, Label], Number], labels: Sequence[Label]
) -> tuple[dict[Label, Number], dict[Label, Number]]:
    """Count the rows of each true label, and of each prediction, or add up their weights."""
    n_true: dict[Label, Number] = dict.fromkeys(labels, 0)
    n_predicted: dict[Label, Number] = dict.fromkeys(labels, 0)
    for (truth, prediction), n in matrix.items():
        if truth is not None:
            n_true[truth] += n
        n_predicted[prediction] += n
    return n_true, n_predicted


def leave_out(cells: Any, column: int, values: Sequence[Any]) -> Any:  # noqa: ANN401 (frames)
    """Leave out the rows of some groups, null among them."""
    is_kept = ~cells[by_name(column)].is_in([value for value in values if value is not None])
    return cells.filter(is_kept.fill_null(None not in values))


def count_model(frame: Any, request: Request, model: Model) -> ModelCells:  # noqa: ANN401 (a frame)
    """Count the rows of a model."""
    by_names, step, rounded = [*map(by_name, range(len(request.by)))], None, frame
    if model.y_score is not None:
        rounded, step = round_down_scores(frame, model.y_score)
    cells, n_without = _count_cells(rounded, request, model)
    n_missing, labelled = n_without, None
    if request.options["missing"] == "drop" and not request.is_corrected:
        labelled = count_labelled_rows(frame, request, model, by_names)
        n_missing += int(labelled[MISSING].sum())
    if request.is_corrected:
        cells = _with_verdicts(cells, request)
    _check_has_rows(cells)
    labels = _labels(cells, request)
    _check_words(labels, request)
    _check_counts(cells, labels, request)
    positive = cells[TRUTH][0] if request.is_of_outcomes else _positive(labels, request)
    selections, row_counts, scored = None, None, None
    if step is not None and request.favourable is not None:
        scored = _exact_near_median(frame, cells, request, labels, model)
    if request.is_corrected:
        _check_has_labels(cells, request)
    if n_missing:
        if not request.is_of_outcomes:
            unweighted = replace(request, options={**request.options, **NO_DESIGN})
            selections = count_selections(frame, unweighted, model)
        row_counts = count_left_out(frame, request, model, labelled, selections, cells, by_names)
    return ModelCells(
        request,
        model,
        _without_false_order(cells, frame, [request.y_true, model.y_pred]),
        labels,
        positive,
        step,
        n_missing,
        selections,
        row_counts,
        weighted_scores=_count_weighted_scores(rounded, request, model),
        scored=scored,
    )


def _count_cells(frame: Any, request: Request, model: Model) -> tuple[Any, int]:  # noqa: ANN401
    """Count the cells of a model; return how many rows without a score are left out, too."""
    by, names = list(request.by), [*map(by_name, range(len(request.by)))]
    if model.y_score is not None:
        by.append(model.y_score)
        names.append(SCORE)
    options = {**request.options, "backend": "polars"}
    if request.is_corrected:
        own = [name for name in request.verdicts if name not in by]
        options["missing"], options["verdict"] = KEEP, own
        options["label_probability"] = request.label_probability
        names += [verdict_name(list(request.verdicts).index(name)) for name in own]
        names += [PROBABILITY] if request.label_probability is not None else []
    cells = confusion(frame, request.y_true, model.y_pred, by=by, **options)
    names += [CLUSTER] if request.cluster is not None else []
    names += [TRUTH, PREDICTION, N]
    cells = cells.rename(dict(zip(cells.columns[: len(names)], names, strict=True)))
    if model.y_score is None:
        return cells, 0
    return _drop_missing_scores(cells, model.y_score, request)


def _exact_near_median(
    frame: Any,  # noqa: ANN401 (frames)
    cells: Any,  # noqa: ANN401
    request: Request,
    labels: Sequence[Label],
    model: Model,
) -> Any:  # noqa: ANN401
    """Count the rows of each group and score; scores around the median are those of the data.

    The median lies in a step of the rounded scores, or between its values and those of the next.
    """
    assert model.y_score is not None, "scores were rounded"
    values, n = values_with_counts(cells, SCORE, N)
    steps = [*values[values >= weighted_median(values, n).low].tolist(), math.inf, math.inf]
    lowest, end = steps[0], steps[2]
    if not request.is_of_outcomes:
        request = replace(request, options={**request.options, "labels": list(labels)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BalframeWarning)  # of all rows, they have been given
        exact, _ = _count_cells(select_scores(frame, model.y_score, lowest, end), request, model)
    is_near = (cells[SCORE] >= lowest) & (cells[SCORE] < end)
    names = [*map(by_name, range(len(request.by))), SCORE, N]
    return join_counts([cells.filter(~is_near).select(names), exact.select(names)], names[:-1])


def _check_has_rows(cells: Any) -> None:  # noqa: ANN401 (a frame)
    if not cells.height:
        raise InvalidInputError("there are no rows, so there is nothing to audit.")
    if WEIGHT in cells.columns and not cells[WEIGHT].sum():
        raise InvalidInputError("all weights are 0, so there is nothing to audit.")


def _with_verdicts(cells: Any, request: Request) -> Any:  # noqa: ANN401 (a frame)
    """Add the verdicts that are by-columns too, before these may be cut."""
    return cells.with_columns(
        cells[by_name(list(request.by).index(name))].alias(verdict_name(number))
        for number, name in enumerate(request.verdicts)
        if name in request.by
    )


def _check_has_labels(cells: Any, request: Request) -> None:  # noqa: ANN401 (a frame)
    """Raise where no row of some prediction and verdicts has a true label."""
    verdicts = [*map(verdict_name, range(len(request.verdicts)))]
    labelled = cells.filter(cells[TRUTH].is_not_null())
    unlabelled = cells.join(labelled, on=[PREDICTION, *verdicts], how="anti", nulls_equal=True)
    if unlabelled.height:
        first = unlabelled.sort(PREDICTION, *verdicts).row(0, named=True)
        columns = zip(verdicts, map(repr, request.verdicts), strict=True)
        names = {PREDICTION: "the prediction", **dict(columns)}
        raise InvalidInputError(
            "no row has a true label where {}, so no rate of all rows can be estimated. Have "
            "some of these rows labelled{}.",
            " and ".join(f"{text} is {first[name]!r}" for name, text in names.items()),
            Message(", or name fewer columns in {verdict}", verdict=NAME) if verdicts else "",
        )


def _count_weighted_scores(frame: Any, request: Request, model: Model) -> Any:  # noqa: ANN401 (frames)
    """Count the rows of each combination of groups, score, weight, cluster and both labels."""
    weight = request.options.get("sample_weight")
    if weight is None or model.y_score is None or request.options["cells"]:
        return None
    by = [*request.by, model.y_score, weight]
    names = [*map(by_name, range(len(request.by))), SCORE, ROW_WEIGHT]
    names += [CLUSTER] if request.cluster is not None else []
    names += [TRUTH, PREDICTION, N]
    options = {**request.options, "sample_weight": None, "backend": "polars"}
    rows = confusion(frame, request.y_true, model.y_pred, by=by, **options)
    rows = rows.rename(dict(zip(rows.columns, names, strict=True)))
    return rows.filter(rows[SCORE].is_not_null() & rows[ROW_WEIGHT].is_not_null())


def count_selections(frame: Any, request: Request, model: Model) -> Any:  # noqa: ANN401 (frames)
    """Count the rows of each combination of groups and prediction, whatever else is missing."""
    data = InputFrame.open(frame)
    names = {"y_pred": model.y_pred, "by": list(request.by), **request.options}
    query = build_query(data.schema, data.adapter, names, InputSpec(has_truth=False))
    counted_rows = cast(CountedFrame, count_input(data, query, LabelSource()))
    cells = observed_cells(counted_rows.cells)
    columns = [
        *counted_rows.by_columns(cells.source_cell).values(),
        counted_rows.label_column(cells.outcome),
        cells.sums.n,
    ]
    own_names = [*map(by_name, range(len(request.by))), PREDICTION, N]
    built = data.adapter.build_frame(dict(zip(own_names, columns, strict=True)))
    return convert_result(built, "polars")


def _drop_missing_scores(cells: Any, y_score: Name, request: Request) -> tuple[Any, int]:  # noqa: ANN401
    """Check scores, which were read as values; return how many rows without one are left out."""
    scores = cells[SCORE]
    if not scores.dtype.is_numeric():
        raise InvalidInputError(
            "column {!r} is of type {}, but {y_score} needs numbers.",
            y_score,
            scores.dtype,
            y_score=NAME,
        )
    if scores.dtype.is_float() and scores.is_infinite().any():
        raise InvalidInputError(
            f"column {y_score!r} has infinite values; scores must be finite. Remove those rows."
        )
    n_null = int(cells[N].filter(scores.is_null()).sum())
    if n_null and request.options["missing"] != "drop":
        raise InvalidInputError(
            "column {!r} has {} null value{}. Remove those rows, or give {missing} to leave them "
            "out.",
            y_score,
            n_null,
            "s" * (n_null != 1),
            missing=Advice("drop"),
        )
    return (cells.filter(scores.is_not_null()), n_null) if n_null else (cells, 0)


def _labels(cells: Any, request: Request) -> tuple[Label, ...]:  # noqa: ANN401
    """Return the labels in their order, which is that of the cells."""
    labels = request.options["labels"]
    if labels is not None:
        return tuple(as_labels(labels, parameter("labels")))
    occurring = [
        *cells[TRUTH].drop_nulls().unique().sort().to_list(),
        *cells[PREDICTION].unique().sort().to_list(),
    ]
    declared = [POLARS_ADAPTER.categories(cells[name].dtype) for name in (TRUTH, PREDICTION)]
    labels = LabelSet.union(occurring, declared).values
    pos_label = request.options["pos_label"]
    if len(labels) == 1 and pos_label is not None and pos_label not in labels:
        return (*labels, pos_label)  # which the columns declare, or counting had raised
    pair = standard_pair(labels)
    if pair is None or len(labels) == 2:
        return labels
    return (False, True) if isinstance(labels[0], bool) else pair


def _without_false_order(cells: Any, frame: Any, names: Sequence[Name]) -> Any:  # noqa: ANN401
    """Turn Enums of labels into texts where the categories of pandas have no order."""
    is_pandas = find_engine(frame) is PANDAS
    columns = [name for name in names if is_pandas and name in frame.columns]
    categories = [PANDAS_ADAPTER.categories(frame[name].dtype) for name in columns]
    if all(each is None or each.is_ordered for each in categories):
        return cells
    enums = [name for name in (TRUTH, PREDICTION) if str(cells[name].dtype).startswith("Enum")]
    return cells.with_columns(cells[name].cast(str) for name in enums)


def _check_words(labels: Sequence[Label], request: Request) -> None:
    """Raise where there are words for the positive label of two, but other labels."""
    words = {
        "truth": request.words.truth,
        "selected": request.words.selected,
        "favourable": request.favourable,
    }
    names = [parameter(name, NAME) for name, text in words.items() if text is not None]
    if names and len(labels) != 2 and not request.is_of_outcomes:
        raise InvalidInputError(
            "{} {} about two labels, but the labels are {}. Omit {}, or turn the labels into two.",
            join(" and ", names),
            "is" if len(names) == 1 else "are",
            LabelSet(tuple(labels)),
            "it" if len(names) == 1 else "them",
        )


def _check_counts(cells: Any, labels: Sequence[Label], request: Request) -> None:  # noqa: ANN401
    """Raise where a count of all rows together may not be shown, so that nothing could be said."""
    has_outcome = request.is_of_outcomes
    if request.suppress is None or (len(labels) != 2 and not has_outcome):
        return
    matrix = count_labels(row_dicts(cells))
    pairs = matrix if has_outcome else product(labels, labels)
    counts = [matrix.get(pair, 0) for pair in pairs]
    least = min(counts) if len(counts) > 1 else 0  # all rows may have the same outcome
    if least < request.suppress:
        raise InvalidInputError(
            "{suppress} withholds counts under {}, but a count of all rows together is smaller: "
            "each {} needs {} rows. Audit more rows, or omit {suppress}.",
            request.suppress,
            "outcome" if has_outcome else "combination of outcome and prediction",
            request.suppress,
            suppress=OPTION,
        )


def _positive(labels: Sequence[Label], request: Request) -> Label | None:
    """Return the positive label of two; more than two have none."""
    pos_label, label_set = request.options["pos_label"], LabelSet(tuple(labels))
    if len(labels) != 2:
        if pos_label is not None:
            raise InvalidInputError(
                "{pos_label} is for two labels, but there are {}: {}. Omit it for an audit of all "
                "labels, or turn them into two.",
                len(labels),
                label_set,
                pos_label=pos_label,
            )
        return None
    code = label_set.positive(pos_label)
    if code is None:
        raise InvalidInputError(
            "an audit of two labels needs {pos_label}; give the one that counts as positive: {}. "
            "{}",
            label_set,
            why_no_default(label_set),
            pos_label=OPTION,
        )
    return labels[code]
