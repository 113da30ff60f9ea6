"""The baseline that a caller gives: a column of predictions, or the cells of an earlier run."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from balframe.api.metric_selection import Scoring
from balframe.api.options import Backend
from balframe.errors import InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.convert_result import BACKENDS
from balframe.frames.earlier_cells import BesideCells
from balframe.frames.engines.inputs import held, opened, unwrapped, without_rows
from balframe.frames.engines.registry import engine_of
from balframe.frames.query import MODEL, WEIGHT, Query, Reads
from balframe.frames.sources import Labels, Source
from balframe.methods.gates.baseline_differences import Baseline, Paired, Unpaired
from balframe.methods.scores.combine import parts_of_cells
from balframe.methods.scores.confusion import confusion

_ASKED = "give the name of a column of predictions, or the cells of an earlier run, a result of"


@dataclass(frozen=True, slots=True)
class Asked:
    """How to read data with their baseline, and what to check of the two."""

    reads: Reads
    source: Source
    check: Callable[[Query], None]
    of: Callable[[Any, Scoring], Baseline | None]

    @property
    def is_paired(self) -> bool:
        """Whether the baseline is another model on the same rows."""
        return self.reads.baseline is not None


def asked_of(baseline: object, given: Mapping[str, Any]) -> Asked:
    """Find out what a caller gives as a baseline; `given` are the other options."""
    if baseline is None:
        return Asked(Reads(), Labels(), lambda query: None, lambda read, scoring: None)
    native, _ = unwrapped(baseline)
    if not _is_frame(native):
        return _of_column(native, given)
    return _of_cells(native)


def _is_frame(native: object) -> bool:
    try:
        engine_of(native)
    except UnsupportedTypeError:
        if isinstance(native, Hashable) and not hasattr(native, "columns"):
            return False
        raise UnsupportedTypeError(
            f"{parameter('baseline')} has the type {type(native).__qualname__}; {_ASKED} "
            "`confusion`."
        ) from None
    return True


def _of_column(name: Name, given: Mapping[str, Any]) -> Asked:
    if given["cells"]:
        raise InvalidInputError(
            f"{parameter('baseline', name)} names a column, but {parameter('cells', True)} has no "
            "rows on which two models could be compared. Give the rows, or the cells of the "
            f"earlier run as {parameter('baseline')}."
        )
    return Asked(Reads(baseline=name), Labels(), lambda query: None, Paired)


def _of_cells(native: Any) -> Asked:  # noqa: ANN401 (of any library or engine)
    native = held(native)
    engine = engine_of(native)
    names = engine.library.names(without_rows(opened(native, engine), engine))
    by, y_true, y_pred = parts_of_cells(names, "baseline has")
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
        models = [name for name in by if name == MODEL and query.several]
        others = [name for name in by if name not in models]
        if set(others) != set(query.by):
            raise InvalidInputError(
                f"the by-columns of the baseline are {_named(others)}, but those asked for are "
                f"{_named(query.by)}. Give cells of the same segments; `confusion` with "
                f"{parameter('cells', True)} adds up finer ones."
            )
        is_weighted, was_weighted = query.sample_weight is not None, WEIGHT in names
        if is_weighted != was_weighted:
            sides = ("data have", "baseline has")
            weighted, other = sides if is_weighted else sides[::-1]
            raise InvalidInputError(
                f"the {weighted} weights and the {other} none. Weight both or neither."
            )

    return Asked(Reads(), BesideCells(cells, y_true, y_pred), check, Unpaired)


def _named(names: Any) -> str:  # noqa: ANN401
    return listed(map(repr, names)) if names else "none"
