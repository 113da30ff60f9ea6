"""What callers give as a baseline: another column of predictions, or an earlier run."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.api.options import Names
from balframe.api.run import without_label_warnings
from balframe.errors import NAME, OPTION, InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.concat import column_names
from balframe.frames.earlier_cells import EarlierCellSource
from balframe.frames.engines.inputs import read_streams
from balframe.frames.engines.registry import advice_for, find_engine
from balframe.frames.query import MODEL, InputSpec, N, Query, name_list
from balframe.frames.sources import LabelSource, Source
from balframe.methods.scores.combine import read_stored_cells
from balframe.methods.scores.confusion import confusion

_OF_COUNTING = ("cluster", "sample_weight", "counts", "labels", "missing", "max_cells")
_ONE_MODEL, _LABELS = InputSpec(), LabelSource()


@dataclass(frozen=True, slots=True)
class BaselineInput:
    """How data are read and counted together with a baseline, and what is checked of the query."""

    input_spec: InputSpec = _ONE_MODEL
    source: Source = _LABELS
    check: Callable[[Query], None] = lambda query: None


def is_frame(native: object) -> bool:
    """Return whether a baseline is a frame, and not the name of a column; raise for others."""
    try:
        find_engine(native)
    except UnsupportedTypeError:
        if isinstance(native, Hashable) and not hasattr(native, "columns"):
            if isinstance(native, str) or advice_for(native) is None:
                return False
            raise
        raise UnsupportedTypeError(
            "{baseline} has the type {}; give the name of a column of predictions, or the rows of "
            "an earlier run, or its cells, a result of `confusion`.",
            type(native).__qualname__,
            baseline=OPTION,
        ) from None
    return True


def cell_labels(names: Sequence[Name], y_true: Name, y_pred: Name | Sequence[Name]) -> list[Name]:
    """Return the columns of labels of a result of `confusion`, and none for rows.

    These are the two columns before `n`. Rows have the requested columns in another order.
    """
    position = names.index(N) if N in names else 0
    labels = list(names[max(position - 2, 0) : position])
    requested = [y_true, *(y_pred if isinstance(y_pred, list) else [y_pred])]
    are_rows = all(name in names for name in requested) and labels != requested
    return labels if len(labels) == 2 and not are_rows else []


def count_baseline_rows(
    native: Any,  # noqa: ANN401 (of any library or engine)
    y_true: Name,
    y_pred: Names,
    by: Names,
    options: Mapping[str, Any],
) -> Any:  # noqa: ANN401
    """Return the cells of an earlier run whose rows are given; other columns, as they are."""
    baseline = read_streams(native)
    names, predictions = column_names(baseline), name_list(y_pred)
    if N in names or not all(name in names for name in (y_true, *predictions)):
        return baseline
    shared = {name: options[name] for name in _OF_COUNTING if name in options}
    with without_label_warnings():
        return confusion(baseline, y_true, y_pred, by=by, **shared)


def check_no_key(key: Name | None, y_pred: Name) -> None:
    """Raise if a key of rows is given where the baseline is a column of the same rows."""
    if key is not None:
        raise InvalidInputError(
            "{key} matches the rows of two frames, but {baseline} names a column of the same "
            "rows. Omit {key}.",
            key=NAME,
            baseline=y_pred,
        )


def column_input(name: Name, options: Mapping[str, Any]) -> BaselineInput:
    """Return how to count a column of predictions together with those of the same rows."""
    if options["cells"]:
        raise InvalidInputError(
            "{baseline} names a column, but cells have no rows on which two models could be "
            "compared. Give the rows, or the cells of the earlier run as {}.",
            parameter("baseline"),
            baseline=name,
        )
    return BaselineInput(InputSpec(baseline=name))


def cell_input(native: Any) -> BaselineInput:  # noqa: ANN401 (of any library or engine)
    """Return how to count data beside the cells of an earlier run on other rows."""
    stored = read_stored_cells(native, "baseline has")

    def check(query: Query) -> None:
        if query.cluster is not None and query.cluster not in stored.by:
            raise InvalidInputError(
                "{cluster} is not a column of the cells given as {baseline}, so it is unknown "
                "which of their rows belong together. Count the earlier run with {cluster} in "
                "`confusion`, or omit it here.",
                cluster=query.cluster,
                baseline=OPTION,
            )
        baseline_by = [
            name
            for name in stored.by
            if name != query.cluster and (name != MODEL or not query.has_several_models)
        ]
        if set(baseline_by) != set(query.by):
            raise InvalidInputError(
                "the by-columns of the baseline are {}, but those requested are {}. Give cells of "
                "the same segments; `confusion` adds up finer ones.",
                _list_names(baseline_by),
                _list_names(query.by),
            )
        is_weighted = query.sample_weight is not None
        if is_weighted != stored.is_weighted:
            holders = ("data have", "baseline has")
            weighted, unweighted = holders if is_weighted else holders[::-1]
            raise InvalidInputError(
                f"the {weighted} weights and the {unweighted} none. Weight both or neither."
            )

    source = EarlierCellSource(stored.cells, stored.y_true, stored.y_pred)
    return BaselineInput(source=source, check=check)


def _list_names(names: Sequence[Name]) -> str:
    return listed(map(repr, names)) if names else "none"
