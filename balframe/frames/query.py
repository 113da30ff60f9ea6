"""The query of a frame: the roles of its columns, and the options of counting."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from narwhals.dependencies import is_pandas_dataframe

from balframe._validate import check_choice, check_max_cells, is_list
from balframe.core.label_set import Label, as_labels
from balframe.errors import (
    NAME,
    OPTION,
    InvalidInputError,
    UnknownNameError,
    UnsupportedTypeError,
    listed,
    not_found,
    parameter,
)
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.by_entries import PERIOD as PERIOD
from balframe.frames.by_entries import (
    Bins,
    Computed,
    Intersection,
    Period,
    entry_column,
    entry_name,
    is_computed,
)

N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX = "n", "weight", "weight_sq", "weight_max"
GROUPED_BY, MODEL = "grouped_by", "model"
OVERALL = "overall"  # the roll-up over all rows
MAX_CELLS = 50_000_000


class ExpectedOutcome(str):
    """The name of a column that is the outcome that every row should have, in place of a truth."""

    __slots__ = ()


ADDED = "__balframe_"  # how the names of columns begin that are added to a caller's frame
EXPECTED = f"{ADDED}expected"


def columns_of_caller(names: Sequence[Name]) -> list[Name]:
    """Leave out the columns that are added."""
    return [name for name in names if not (isinstance(name, str) and name.startswith(ADDED))]


def are_cells(columns: Sequence[Name], labels: Sequence[Name]) -> bool:
    """Return whether columns are those of a result of `confusion`: labels, and then their number.

    After a single column of labels, that number and its weights have to be the last columns.
    """
    labels = columns_of_caller(labels)
    if N not in columns or not labels:
        return False
    n = columns.index(N)
    if tuple(columns[max(n - len(labels), 0) : n]) != tuple(labels):
        return False
    behind = columns_of_caller(columns[n + 1 :])
    return len(labels) > 1 or {*behind} <= {WEIGHT, WEIGHT_SQ, WEIGHT_MAX}


def check_are_columns(names: Iterable[Name], columns: Collection[Name]) -> None:
    """Raise if a name is none of these columns."""
    for name in names:
        if name not in columns:
            raise not_found("column", name, columns_of_caller([*columns]))


@dataclass(frozen=True)
class Query:
    """The checked names of columns and options by which a frame is counted."""

    y_true: Name
    y_pred: tuple[Name, ...]
    has_several_models: bool
    by: tuple[Name, ...]
    sample_weight: Name | None
    counts: Name | None
    cells: bool
    labels: tuple[Label, ...] | None
    pos_label: object
    missing: str
    margins: object
    max_cells: int
    scores: bool
    squares: bool
    by_parameter: str = "by"  # the parameter of the by-columns
    cluster: Name | None = None  # rows with the same value in it are not independent
    baseline: Name | None = None  # the last of `y_pred`, with which each other one is paired
    has_truth: bool = True  # otherwise a row's true label is the predicted one
    coarsening_option: str = ""  # the option by which there are fewer distinct scores
    computed: Mapping[Name, Computed] = field(default_factory=dict)  # the by-columns that are
    largest_weight: Name | None = None  # the column of the largest weights of weighted cells
    left_out: tuple[Name, ...] = ()  # columns that are not searched by default
    strata: tuple[Name, ...] = ()  # columns by which partly labelled rows are counted too
    can_correct: bool = False  # for rows without a true label
    declared_labels: frozenset[Label] = frozenset()  # which may be absent

    @property
    def outcomes(self) -> tuple[tuple[Name, ...], ...]:
        """Return the columns of predictions in the cells, of each model or each pair of models."""
        if self.baseline is not None:
            return tuple((name, self.baseline) for name in self.y_pred[:-1])
        return tuple((name,) for name in self.y_pred)

    @property
    def model_names(self) -> list[str]:
        """Return the names of the models, without the baseline."""
        return [str(names[0]) for names in self.outcomes]

    @property
    def added_columns(self) -> tuple[str, ...]:
        """Return the columns of the result for margin and model, as far as it has them."""
        margin = () if self.margins is False else (GROUPED_BY,)
        return (*margin, MODEL) if self.has_several_models else margin

    @property
    def drops_missing(self) -> bool:
        """Return whether rows with nulls are left out; otherwise they raise."""
        return self.missing == "drop"

    @property
    def label_columns(self) -> tuple[Name, ...]:
        """Return the columns that hold labels; predictions may be scores."""
        truth = (self.y_true,) if self.has_truth else ()
        return truth if self.scores else (*truth, *self.y_pred)

    @property
    def keys(self) -> tuple[Name, ...]:
        """Return the columns by which rows are counted: the by-columns, and the clusters."""
        return self.by if self.cluster is None else (*self.by, self.cluster)

    @property
    def key_and_label_columns(self) -> tuple[Name, ...]:
        """Return the columns that keys are read from, and those of labels."""
        return (*map(self.source_column, self.keys), *self.label_columns)

    def source_column(self, key: Name) -> Name:
        """Return the column that a key is read from."""
        return self.computed[key].column if key in self.computed else key

    @property
    def key_columns(self) -> tuple[Name, ...]:
        """Return the columns of the keys in an eager frame, to which computed ones are added."""
        return tuple(self.added_column(key) if key in self.computed else key for key in self.keys)

    def added_column(self, key: Name) -> str:
        """Return the column that holds a computed key in an eager frame."""
        return f"{ADDED}by{list(self.computed).index(key)}"

    @property
    def period(self) -> Period | None:
        """Return the entry of the by-columns that is a period, if any."""
        entry = self.computed.get(PERIOD)
        return entry if isinstance(entry, Period) else None

    def with_clusters(self) -> "Query":
        """Return a query with the column of clusters, if any, as the last by-column."""
        return replace(self, by=self.keys, cluster=None)

    @property
    def columns(self) -> tuple[Name, ...]:
        """Return all columns that are read, each once."""
        squares = WEIGHT_SQ if self.cells and self.sample_weight is not None else None
        others = (self.counts, self.sample_weight, squares, self.largest_weight)
        names = (
            *(self.source_column(key) for key in self.keys),
            *self.label_columns,
            *self.y_pred,
            *self.strata,
            *(name for name in others if name is not None),
        )
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What a method reads of a frame.

    `baseline`: the column of predictions with which each model is paired. With `has_baseline`, it
    may be one of the models, and is the first by default. `scores`: scores in place of predictions.
    `squares`: squares of weights too. `by_parameter` and `prediction_parameter` name the parameters
    of those columns.
    With `keeps_clusters`, their column is one more by-column of the result.
    With `all_columns`, the by-columns are by default all other columns that are searched, or those
    of a selector.
    Without `has_truth`, there are only predictions. With `margins_each`, the margins are each
    by-column alone, and all of them. `coarsening_option` names the option that reduces the number
    of distinct scores. With `each_label`, strata of partly labelled rows have the rows of each.
    With `keeps_unlabelled`, rows without a true label may be kept. With `has_intersections`, `by`
    may have those of columns.
    """

    scores: bool = False
    squares: bool = True
    by_parameter: str = "by"
    all_columns: bool = False
    baseline: Name | None = None
    has_baseline: bool = False
    keeps_clusters: bool = False
    prediction_parameter: str = ""
    has_truth: bool = True
    margins_each: bool = False
    coarsening_option: str = ""
    each_label: bool = False
    keeps_unlabelled: bool = False
    has_intersections: bool = False

    @property
    def role(self) -> str:
        """Return the name of the parameter of the predictions or scores."""
        return self.prediction_parameter or ("y_score" if self.scores else "y_pred")


def _check_margin_names(margins: object, by: Sequence[Name], by_parameter: str) -> None:
    """Raise if the roll-up to a by-column would have the name of the one over all rows."""
    if margins is not False and OVERALL in by:
        raise InvalidInputError(
            "{} names a column {!r}, but in the column {!r} that is the roll-up over all rows; "
            "rename yours first, for example to '{}_', or leave out {margins}.",
            parameter(by_parameter, NAME),
            OVERALL,
            GROUPED_BY,
            OVERALL,
            margins=OPTION,
        )


def check_no_margins(names: Sequence[Name], subject: str = "frame has") -> None:
    """Raise for cells that hold roll-ups; `subject` begins a sentence about them."""
    if GROUPED_BY in names:
        raise InvalidInputError(
            f"the {subject} a column {GROUPED_BY!r}, so rows would be counted again in the "
            "roll-ups. Keep the finest rows only, and drop that column."
        )


def margin_name(by: Sequence[Name]) -> str:
    """Return the name of a roll-up, made of the columns that it keeps."""
    return ", ".join(map(str, by)) if by else OVERALL


_DEFAULTS = {
    "cells": False,
    "margins": False,
    "sample_weight": None,
    "cluster": None,
}


def build_query(
    frame: Frame, adapter: Adapter, request: Mapping[str, Any], spec: InputSpec
) -> Query:
    """Check names and options; options that a method does not have get their defaults."""
    options = {**_DEFAULTS, **request}
    check_choice("missing", options["missing"], ("raise", "drop"))
    strata = options.get("strata", ())
    check_choice("margins", options["margins"], (False, "overall", "all"))
    check_choice("cells", options["cells"], (None, False, True))
    check_max_cells(options["max_cells"])
    columns = adapter.column_names(frame)
    y_true, y_pred = options.get("y_true"), options[spec.role]
    by = adapter.expand_selector(frame, options["by"])
    sample_weight, counts = options["sample_weight"], options["counts"]
    cluster = options["cluster"]
    entries: tuple[Name, ...] = () if by is None else _name_tuple(by, columns)
    entries = (*entries, *options.get("added_by", ()))
    check_entries(entries, spec)
    if options["cells"]:
        entries = tuple(_read_of_cells(entry, frame, adapter) for entry in entries)
    names = (*_to_list(y_pred), *map(entry_column, entries))
    check_names(adapter, [y_true, sample_weight, counts, cluster, *names])
    predictions, baseline = _with_baseline(y_pred, columns, adapter, spec)
    segments = tuple(map(entry_name, entries))
    computed = {entry_name(entry): entry for entry in entries if isinstance(entry, Computed)}
    is_selected = by is not options["by"]
    if spec.all_columns and (by is None or is_selected):
        totals = (N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX) if options["cells"] else ()
        roles = {y_true, *predictions, sample_weight, counts, *totals}
        candidates = segments if is_selected else columns
        segments = tuple(name for name in candidates if name not in roles)
    left_out: tuple[Name, ...] = ()
    if spec.all_columns and by is None:
        left_out = tuple(
            name
            for name in segments
            if columns.count(name) == 1 and not adapter.is_searched(frame, name)
        )
        segments = tuple(name for name in segments if name not in left_out)
    largest_weight = None
    if options["cells"]:
        roles = {y_true, *predictions, *map(entry_column, entries)}
        others = [name for name in columns if name not in roles]
        sample_weight, counts = _total_columns(others, sample_weight, counts)
        if sample_weight is not None and WEIGHT_MAX in others:
            largest_weight = WEIGHT_MAX
    query = Query(
        y_true,
        predictions,
        has_several_models=spec.has_baseline or _is_name_list(y_pred, columns),
        by=segments,
        sample_weight=sample_weight,
        counts=counts,
        cells=bool(options["cells"]),
        labels=None if options["labels"] is None else _label_tuple(options["labels"]),
        pos_label=options["pos_label"],
        missing=options["missing"],
        margins="each" if spec.margins_each else options["margins"],
        max_cells=options["max_cells"],
        scores=spec.scores,
        squares=spec.squares or bool(options["cells"]),
        by_parameter=spec.by_parameter,
        cluster=cluster,
        baseline=baseline,
        has_truth=spec.has_truth,
        coarsening_option=spec.coarsening_option,
        computed=computed,
        largest_weight=largest_weight,
        left_out=left_out,
        strata=strata,
        can_correct="verdict" in request and not strata and cluster is None,
    )
    _check_predictions(query, spec)
    n_added = len(options.get("added_by", ()))
    _check_roles(query, segments[: len(segments) - n_added], spec)
    _check_margin_names(options["margins"], segments, spec.by_parameter)
    may_be_cells = options["cells"] is None and are_cells(columns, query.label_columns)
    _check_cluster(query, spec.role, columns, is_cells=query.cells or may_be_cells)
    _check_columns(query, frame, columns)
    return query


def _check_predictions(query: Query, spec: InputSpec) -> None:
    """Raise if there are no predictions, or the baseline is one of those compared with it."""
    if not query.y_pred[: -1 if query.baseline is not None else None]:
        raise InvalidInputError(
            "{} is an empty list; name at least one column.", parameter(spec.role, NAME)
        )
    if spec.baseline in query.y_pred[:-1] and not spec.has_baseline:
        raise InvalidInputError(
            "{baseline} is also in {}; name another column of predictions, that of the model to "
            "compare with.",
            parameter(spec.role, NAME),
            baseline=spec.baseline,
        )


def _check_roles(query: Query, segments: Sequence[Name], spec: InputSpec) -> None:
    """Raise if a parameter names a column twice, or a column has the name of the periods."""
    for role, names in ((spec.by_parameter, segments), (spec.role, query.y_pred)):
        if len(set(names)) < len(names):
            raise InvalidInputError(
                "{} names a column twice: {}; name each column once.",
                parameter(role, NAME),
                listed(map(repr, names)),
            )
    same = next((name for name in query.strata if name in query.computed), None)
    if same is not None:
        raise InvalidInputError(
            "{verdict} names the column {!r}, of which {} has {!r}; give a copy of the column "
            "under another name for one of them.",
            same,
            parameter(spec.by_parameter, NAME),
            query.computed[same],
            verdict=NAME,
        )
    if query.period is None:
        return
    names_by_role = {
        "y_true": (query.y_true,),
        spec.role: query.y_pred,
        "cluster": (query.cluster,),
    }
    for role, names in names_by_role.items():
        if PERIOD in names:
            raise _named_like_periods(role)


def _named_like_periods(role: str) -> InvalidInputError:
    return InvalidInputError(
        "{} names a column {!r}, but that is the name of the column of periods; rename yours "
        "first, for example to '{}_'.",
        parameter(role, NAME),
        PERIOD,
        PERIOD,
    )


def _check_columns(query: Query, frame: Frame, columns: Sequence[Name]) -> None:
    """Raise if a column does not exist, or its name is not unique."""
    for name in query.columns:
        if name not in columns:
            if is_pandas_dataframe(frame) and name in frame.index.names:
                raise UnknownNameError(
                    f"column {name!r} not found, but it names a level of the frame's index; call "
                    "df.reset_index() first, which makes it a column."
                )
            raise not_found("column", name, columns_of_caller(columns))
        if columns.count(name) > 1:
            raise duplicate_name_error(name, columns.count(name))


def check_entries(entries: Sequence[object], spec: InputSpec) -> None:
    """Raise for computed by-columns that a method cannot have, or whose names collide."""
    by = parameter(spec.by_parameter, NAME)
    for entry in entries:
        if isinstance(entry, Intersection) and not spec.has_intersections:
            raise InvalidInputError(
                "{} has {!r}, which is for audit; name the columns themselves.", by, entry
            )
        if is_computed(entry) and spec.by_parameter != "by":
            raise InvalidInputError(
                "{} has {!r}, but columns are searched as they are; name the column itself{}.",
                by,
                entry,
                "" if isinstance(entry, Period) else ", and cut it with bins",
            )
    for entry in filter(is_computed, entries):
        same = [other for other in entries if entry_name(other) == entry_name(entry)]
        is_period = isinstance(entry, Period)
        if is_period and PERIOD in same:
            raise _named_like_periods(spec.by_parameter)
        if len(same) > 1:
            raise InvalidInputError(
                "{} has {}, which would both be the column {!r} of the result. {}.",
                by,
                listed(map(repr, same)),
                entry_name(entry),
                "Give one period in a call"
                if is_period
                else "Leave one out, or give a copy of the column under another name",
            )


def _read_of_cells(entry: Name, frame: Frame, adapter: Adapter) -> Name:
    """Return the column of cells that holds computed values already, or else the entry."""
    columns = adapter.column_names(frame)
    if isinstance(entry, Period) and entry.column not in columns and PERIOD in columns:
        return PERIOD
    is_held = (
        isinstance(entry, Bins)
        and entry.column in columns
        and not adapter.is_numeric(frame, entry.column)
    )
    return entry_name(entry) if is_held else entry


def _check_cluster(query: Query, role: str, columns: Sequence[Name], *, is_cells: bool) -> None:
    """Raise if rows cannot be grouped by the column of clusters."""
    cluster = query.cluster
    if cluster is None:
        return
    names_by_role = {
        query.by_parameter: query.by,
        "y_true": [query.y_true],
        "baseline": [query.baseline],
        role: query.y_pred,
        "counts": [query.counts],
    }
    for other_role, names in names_by_role.items():
        if cluster in names:
            raise InvalidInputError(
                "{cluster} is also in {}; name the column that identifies rows that belong "
                "together, such as a patient number.",
                parameter(other_role, NAME),
                cluster=cluster,
            )
    if is_cells and cluster not in columns:
        raise UnknownNameError(
            "the cells have no column {!r}, so it is unknown which rows belong together. Count "
            "them with {cluster} in `confusion`, or omit it here.",
            cluster,
            cluster=cluster,
        )


def _with_baseline(
    y_pred: Name | Sequence[Name], columns: Sequence[Name], adapter: Adapter, spec: InputSpec
) -> tuple[tuple[Name, ...], Name | None]:
    """Return the columns of predictions, with that of the baseline last, if any, and its name."""
    models, baseline = _name_tuple(y_pred, columns), spec.baseline
    check_names(adapter, [baseline])
    if spec.has_baseline and models:
        baseline = models[0] if baseline is None else baseline
        position = models.index(baseline) if baseline in models else len(models)
        models = models[:position] + models[position + 1 :]
        if not models:
            raise InvalidInputError(
                "{} names one model, but compare needs at least two; name two or more columns of "
                "{}, or the model to compare with as {baseline}.",
                parameter(spec.role, y_pred),
                "scores" if spec.scores else "predictions",
                baseline=NAME,
            )
    return (models if baseline is None else (*models, baseline)), baseline


def duplicate_name_error(name: Name, number: int) -> InvalidInputError:
    """Return the error for a name that several columns have."""
    return InvalidInputError(
        f"the frame has {number} columns named {name!r}; rename them, so that each name is unique."
    )


def name_list(names: object) -> list[Any]:
    """Return one name or several as a list, and None as an empty one."""
    return [] if names is None else _to_list(names)


def _to_list(names: object) -> list[object]:
    return list(names) if isinstance(names, (list, tuple)) else [names]


def check_names(adapter: Adapter, names: Sequence[object]) -> None:
    """Raise if one cannot be the name of a column."""
    for name in names:
        if name is not None and not adapter.is_name(name):
            raise UnsupportedTypeError(
                f"got {type(name).__qualname__} as a column; give a column name, or a list of "
                "column names."
            )


def _total_columns(
    columns: Sequence[Name], sample_weight: Name | None, counts: Name | None
) -> tuple[Name | None, Name]:
    if sample_weight is not None or counts is not None:
        raise InvalidInputError(
            "cells have the totals {!r}, {!r} and {!r}, so they cannot be combined with {counts} "
            "or {sample_weight}; omit them.",
            N,
            WEIGHT,
            WEIGHT_SQ,
            counts=OPTION,
            sample_weight=OPTION,
        )
    check_no_margins(columns)
    for total, other in ((WEIGHT, WEIGHT_SQ), (WEIGHT_SQ, WEIGHT)):
        if total in columns and other not in columns:
            raise InvalidInputError(
                "weighted cells need the columns {!r} and {!r}, but {!r} is missing; give both, as "
                "`confusion` returns them.",
                WEIGHT,
                WEIGHT_SQ,
                other,
            )
    return (WEIGHT if WEIGHT in columns else None), N


def _is_name_list(names: object, columns: Sequence[Name]) -> TypeGuard[Sequence[Name]]:
    return isinstance(names, list) or (isinstance(names, tuple) and names not in columns)


def _name_tuple(names: Name | Sequence[Name], columns: Sequence[Name]) -> tuple[Name, ...]:
    return tuple(names) if _is_name_list(names, columns) else (names,)


def _label_tuple(labels: Sequence[Label]) -> tuple[Label, ...]:
    if not hasattr(labels, "__len__") or not is_list(labels):
        raise InvalidInputError(
            "{labels} is not a list; give a list of labels, in order.", labels=labels
        )
    values = tuple(as_labels(labels, parameter("labels")))
    if len(set(values)) < len(values):
        raise InvalidInputError(
            "{labels} lists a label twice: {}; list each label once.",
            listed(map(repr, values)),
            labels=OPTION,
        )
    if not values:
        raise InvalidInputError(
            "{labels} is empty; omit it to use the labels that occur.", labels=OPTION
        )
    return values
