"""The baseline that a caller gives: a column of predictions, or the cells of an earlier run."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from balframe.api.metric_selection import MetricSelection
from balframe.api.options import Backend
from balframe.errors import InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.convert_result import BACKENDS
from balframe.frames.earlier_cells import EarlierCellSource
from balframe.frames.engines.inputs import materialize, open_frame, schema_frame, unwrap
from balframe.frames.engines.registry import find_engine
from balframe.frames.query import MODEL, WEIGHT, InputSpec, Query
from balframe.frames.sources import LabelSource, Source
from balframe.methods.gates.baseline_differences import Baseline, PairedBaseline, UnpairedBaseline
from balframe.methods.scores.combine import split_cell_columns
from balframe.methods.scores.confusion import confusion

_ADVICE = "give the name of a column of predictions, or the cells of an earlier run, a result of"


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """A baseline as a caller requests it: how data are read with it, and what is checked."""

    reads: InputSpec
    source: Source
    check: Callable[[Query], None]
    make_baseline: Callable[[Any, MetricSelection], Baseline | None]

    @property
    def is_paired(self) -> bool:
        """Whether the baseline is another model on the same rows."""
        return self.reads.baseline is not None


def baseline_request(baseline: object, options: Mapping[str, Any]) -> BaselineRequest:
    """Return how to read data with a baseline; `options` are those of the method."""
    if baseline is None:
        return BaselineRequest(
            InputSpec(), LabelSource(), lambda query: None, lambda read, selection: None
        )
    native, _ = unwrap(baseline)
    if not _is_frame(native):
        return _paired_request(native, options)
    return _unpaired_request(native)


def _is_frame(native: object) -> bool:
    try:
        find_engine(native)
    except UnsupportedTypeError:
        if isinstance(native, Hashable) and not hasattr(native, "columns"):
            return False
        raise UnsupportedTypeError(
            f"{parameter('baseline')} has the type {type(native).__qualname__}; {_ADVICE} "
            "`confusion`."
        ) from None
    return True


def _paired_request(name: Name, options: Mapping[str, Any]) -> BaselineRequest:
    if options["cells"]:
        raise InvalidInputError(
            f"{parameter('baseline', name)} names a column, but {parameter('cells', True)} has no "
            "rows on which two models could be compared. Give the rows, or the cells of the "
            f"earlier run as {parameter('baseline')}."
        )
    return BaselineRequest(
        InputSpec(baseline=name), LabelSource(), lambda query: None, PairedBaseline
    )


def _unpaired_request(native: Any) -> BaselineRequest:  # noqa: ANN401 (of any library or engine)
    native = materialize(native)
    engine = find_engine(native)
    names = engine.adapter.column_names(schema_frame(open_frame(native, engine), engine))
    by, y_true, y_pred = split_cell_columns(names, "baseline has")
    backend: Backend = None if engine.name in BACKENDS[:2] else "polars"
    cells: Any = confusion(native, y_true, y_pred, by=by, cells=True, backend=backend)

    def check(query: Query) -> None:
        if query.cluster is not None:
            raise InvalidInputError(
                f"{parameter('cluster', query.cluster)} cannot be combined with cells as "
                f"{parameter('baseline')}: there are no confidence intervals for differences from "
                "an earlier run whose rows are in clusters. Give a column of predictions as "
                f"{parameter('baseline')}, or omit one of the two."
            )
        baseline_by = [name for name in by if name != MODEL or not query.has_several_models]
        if set(baseline_by) != set(query.by):
            raise InvalidInputError(
                f"the by-columns of the baseline are {_list_names(baseline_by)}, but those asked "
                f"for are {_list_names(query.by)}. Give cells of the same segments; `confusion` "
                f"with {parameter('cells', True)} adds up finer ones."
            )
        is_weighted, was_weighted = query.sample_weight is not None, WEIGHT in names
        if is_weighted != was_weighted:
            holders = ("data have", "baseline has")
            weighted, unweighted = holders if is_weighted else holders[::-1]
            raise InvalidInputError(
                f"the {weighted} weights and the {unweighted} none. Weight both or neither."
            )

    return BaselineRequest(
        InputSpec(), EarlierCellSource(cells, y_true, y_pred), check, UnpairedBaseline
    )


def _list_names(names: Any) -> str:  # noqa: ANN401
    return listed(map(repr, names)) if names else "none"
