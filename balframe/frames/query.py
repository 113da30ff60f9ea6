"""What a caller asks of a frame: the roles of its columns, and how to read them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeGuard

from narwhals.dependencies import is_pandas_dataframe

from balframe.core.array_types import is_iterable
from balframe.core.label_set import Label, as_labels
from balframe.core.periods import Every
from balframe.errors import (
    InvalidInputError,
    UnknownNameError,
    UnsupportedTypeError,
    advised,
    bare_parameter,
    check_choice,
    listed,
    not_found,
    parameter,
)
from balframe.frames.adapter import Adapter, Frame, Name

N, WEIGHT, WEIGHT_SQ = "n", "weight", "weight_sq"
MARGIN, MODEL = "margin", "model"
PERIOD = "period"
MAX_CELLS = 50_000_000


@dataclass(frozen=True)
class Query:
    """What a caller asks of a frame, checked."""

    y_true: Name
    y_pred: tuple[Name, ...]
    several: bool
    by: tuple[Name, ...]
    sample_weight: Name | None
    counts: Name | None
    cells: bool
    labels: tuple[Label, ...] | None
    pos_label: object
    missing: str
    margins: object
    max_cells: int
    joint: bool
    scores: bool
    squares: bool
    named_by: str = "by"  # the parameter of the by-columns
    cluster: Name | None = None  # rows with the same value in it are not independent
    baseline: Name | None = None  # the last of `y_pred`, with which each other one is paired
    has_truth: bool = True  # otherwise a row's true label is the predicted one
    coarser: str = ""  # the option by which there are fewer distinct scores
    time: Name | None = None  # the column whose periods are the last by-column
    every: Every | None = None

    @property
    def outcomes(self) -> tuple[tuple[Name, ...], ...]:
        """List the predictions that cells keep: of each model, or of each pair of them."""
        if self.baseline is not None:
            return tuple((name, self.baseline) for name in self.y_pred[:-1])
        return tuple(combinations(self.y_pred, 2 if self.joint else 1))

    @property
    def models(self) -> list[str]:
        """Name the predictions of each model, or of each pair of models."""
        n_named = 1 if self.baseline is not None else None
        return [" - ".join(map(str, names[:n_named])) for names in self.outcomes]

    @property
    def added(self) -> tuple[str, ...]:
        """Name the columns of the output that tell the margin and the model, if there are such."""
        margin = () if self.margins is False else (MARGIN,)
        return (*margin, MODEL) if self.several else margin

    @property
    def drops_missing(self) -> bool:
        """Tell whether rows with nulls are left out; otherwise they raise."""
        return self.missing == "drop"

    @property
    def label_columns(self) -> tuple[Name, ...]:
        """List the columns that hold labels; predictions may be scores."""
        truth = (self.y_true,) if self.has_truth else ()
        return truth if self.scores else (*truth, *self.y_pred)

    def is_period(self, key: Name) -> bool:
        """Tell whether a key is that of the periods, if any are asked for."""
        return self.every is not None and key == PERIOD

    @property
    def keys(self) -> tuple[Name, ...]:
        """List the columns by which rows are counted: the by-columns, and that of clusters."""
        return self.by if self.cluster is None else (*self.by, self.cluster)

    def column_of(self, key: Name) -> Name:
        """Name the column that a key is read from."""
        return self.time if self.is_period(key) else key

    def with_clusters(self) -> "Query":
        """Let the column of clusters, if there is one, be the last of the by-columns."""
        return replace(self, by=self.keys, cluster=None)

    @property
    def columns(self) -> tuple[Name, ...]:
        """List all columns that are read, each once."""
        squares = WEIGHT_SQ if self.cells and self.sample_weight is not None else None
        others = (self.counts, self.sample_weight, squares)
        named = (
            *(self.column_of(key) for key in self.keys),
            *self.label_columns,
            *self.y_pred,
            *(name for name in others if name is not None),
        )
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class Reads:
    """What a verb reads of a frame.

    `joint`: the predictions of pairs of models together. `baseline`: the column with whose
    predictions each model is paired. `scores`: scores in the place of
    predictions. `squares`: squares of weights too. `by` names the parameter of the by-columns, and
    `predictions` that of the predictions, if it has a name of its own.
    With `keeps_clusters`, their column is one more by-column of the answer.
    Where `others` are read, these are all other columns by default, or those that a selector has.
    Without `truth`, there are predictions only. With `each`, the margins are each by-column alone,
    and all of them. `coarser` names the option by which there are fewer distinct scores.
    """

    joint: bool = False
    scores: bool = False
    squares: bool = True
    by: str = "by"
    others: bool = False
    baseline: Name | None = None
    keeps_clusters: bool = False
    predictions: str = ""
    truth: bool = True
    each: bool = False
    coarser: str = ""

    @property
    def role(self) -> str:
        """Name the parameter of the predictions or scores."""
        return self.predictions or ("y_score" if self.scores else "y_pred")


def check_finest(known: Sequence[Name], what: str = "frame has") -> None:
    """Refuse cells that hold roll-ups; `what` begins a sentence about them."""
    if MARGIN in known:
        raise InvalidInputError(
            f"the {what} a column {MARGIN!r}, so rows would be counted again in the roll-ups. "
            "Keep the finest rows only, and drop that column."
        )


def margin_name(by: Sequence[Name]) -> str:
    """Name a roll-up by the columns that it keeps."""
    return ", ".join(map(str, by)) if by else "overall"


# Check what a caller asks of a frame: names of columns, and options that go together.


_DEFAULTS = {
    "cells": False,
    "margins": False,
    "sample_weight": None,
    "cluster": None,
    "time": None,
    "every": None,
}


def query(frame: Frame, library: Adapter, given: Mapping[str, Any], reads: Reads) -> Query:
    """Check the names and options that a caller gave; those a verb lacks have their defaults."""
    given = {**_DEFAULTS, **given}
    check_choice("missing", given["missing"], ("raise", "drop"))
    check_choice("margins", given["margins"], (False, "overall", "all"))
    check_choice("cells", given["cells"], (False, True))
    _check_max_cells(given["max_cells"])
    known = library.names(frame)
    role = reads.role
    y_true, given_predictions = given.get("y_true"), given[role]
    given_by = library.selected(frame, given["by"])
    sample_weight, counts = given["sample_weight"], given["counts"]
    others = (*_as_list(given_predictions), *_as_list(given_by))
    cluster = given["cluster"]
    time, every = given["time"], _every(given["time"], given["every"])
    _check_are_names(library, [y_true, sample_weight, counts, cluster, time, *others])
    predictions = (*_listed_names(given_predictions, known), *_baseline(library, reads))
    segments: tuple[Name, ...] = () if given_by is None else _listed_names(given_by, known)
    is_selected = given_by is not given["by"]
    if reads.others and (given_by is None or is_selected):
        held = (N, WEIGHT, WEIGHT_SQ) if given["cells"] else ()
        roles = {y_true, *predictions, sample_weight, counts, *held}
        candidates = segments if is_selected else known
        segments = tuple(name for name in candidates if name not in roles)
    if given["cells"]:
        totals = [name for name in known if name not in {y_true, *predictions, *segments, time}]
        sample_weight, counts = _totals(totals, sample_weight, counts)
    asked = Query(
        y_true,
        predictions,
        several=_is_list(given_predictions, known),
        by=segments if every is None else (*segments, PERIOD),
        sample_weight=sample_weight,
        counts=counts,
        cells=given["cells"],
        labels=None if given["labels"] is None else _label_list(given["labels"]),
        pos_label=given["pos_label"],
        missing=given["missing"],
        margins="each" if reads.each else given["margins"],
        max_cells=given["max_cells"],
        joint=reads.joint,
        scores=reads.scores,
        squares=reads.squares or given["cells"],
        named_by=reads.by,
        cluster=cluster,
        baseline=reads.baseline,
        has_truth=reads.truth,
        coarser=reads.coarser,
        time=None if every is None else time,
        every=every,
    )
    if not asked.y_pred[: -1 if asked.baseline is not None else None]:
        raise InvalidInputError(
            f"{bare_parameter(role)} is an empty list; name at least one column."
        )
    if reads.baseline in asked.y_pred[:-1]:
        raise InvalidInputError(
            f"{parameter('baseline', reads.baseline)} is also in {bare_parameter(role)}; name "
            "another column of predictions, that of the model to compare with."
        )
    for names_of, names in ((reads.by, segments), (role, asked.y_pred)):
        if len(set(names)) < len(names):
            raise InvalidInputError(
                f"{bare_parameter(names_of)} names a column twice: {listed(map(repr, names))}; "
                "name each column once."
            )
    keys = {reads.by: segments, "y_true": (y_true,), role: asked.y_pred, "cluster": (cluster,)}
    for names_of, names in keys.items() if every is not None else ():
        if PERIOD in names:
            raise InvalidInputError(
                f"{bare_parameter(names_of)} names a column {PERIOD!r}, but that is the name of "
                f"the column of periods; rename yours first, for example to '{PERIOD}_'."
            )
    _check_cluster(asked, reads.by, role, known)
    for name in asked.columns:
        if name not in known:
            if is_pandas_dataframe(frame) and name in frame.index.names:
                raise UnknownNameError(
                    f"column {name!r} not found, but it names a level of the frame's index; call "
                    "df.reset_index() first, which makes it a column."
                )
            raise not_found("column", name, known)
        if known.count(name) > 1:
            raise named_twice(name, known.count(name))
    return asked


def _every(time: object, given: object) -> Every | None:
    """Read the length of periods; a column of times needs one, and the other way round."""
    if (time is None) != (given is None):
        name, other = ("time", "every") if given is None else ("every", "time")
        value = time if given is None else given
        raise InvalidInputError(
            f"{parameter(name, value)} needs {bare_parameter(other)} too: the column that holds "
            f"dates or datetimes as {bare_parameter('time')}, and the length of the periods as "
            f"{bare_parameter('every')}, such as {advised('every', '1w')}."
        )
    return None if given is None else Every.of(given)


def _check_cluster(asked: Query, by: str, role: str, known: Sequence[Name]) -> None:
    """Raise where rows cannot be put together by the column of clusters."""
    cluster = asked.cluster
    if cluster is None:
        return
    others = {"baseline": [asked.baseline], role: asked.y_pred, "counts": [asked.counts]}
    roles = {by: asked.by, "y_true": [asked.y_true], **others}
    for name, columns in roles.items():
        if cluster in columns:
            raise InvalidInputError(
                f"{parameter('cluster', cluster)} is also in {bare_parameter(name)}; name the "
                "column that says which rows belong together, such as one patient's."
            )
    if asked.sample_weight is not None:
        given = "cells with weights" if asked.cells else parameter("sample_weight")
        raise InvalidInputError(
            f"{parameter('cluster', cluster)} cannot be combined with {given}: there are no "
            "confidence intervals for weighted rows in clusters. Omit one of the two."
        )
    if asked.cells and cluster not in known:
        raise UnknownNameError(
            f"the cells have no column {cluster!r}, so that it is unknown which rows belong "
            f"together. Count them with {parameter('cluster', cluster)} in `confusion`, or omit it "
            "here."
        )


def _baseline(library: Adapter, reads: Reads) -> tuple[Name, ...]:
    """List the column of predictions that models are paired with, if there is one."""
    if reads.baseline is None:
        return ()
    _check_are_names(library, [reads.baseline])
    return (reads.baseline,)


def named_twice(name: Name, number: int) -> InvalidInputError:
    """Say that a name does not tell which column is meant."""
    return InvalidInputError(
        f"the frame has {number} columns named {name!r}; rename them, so that each name is unique."
    )


def _check_max_cells(given: object) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise InvalidInputError(
            f"{parameter('max_cells', given)} is not a number of cells; give a whole number of at "
            "least 1."
        )


def _as_list(given: object) -> list[object]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _check_are_names(library: Adapter, given: Sequence[object]) -> None:
    for name in given:
        if name is not None and not library.is_name(name):
            raise UnsupportedTypeError(
                f"got {type(name).__qualname__} as a column; give a column name, or a list of "
                "column names."
            )


def _totals(
    known: Sequence[Name], sample_weight: Name | None, counts: Name | None
) -> tuple[Name | None, Name]:
    if sample_weight is not None or counts is not None:
        raise InvalidInputError(
            f"{parameter('cells', True)} reads the totals {N!r}, {WEIGHT!r} and {WEIGHT_SQ!r}, so "
            f"it cannot be combined with {parameter('counts')} or {parameter('sample_weight')}; "
            "omit them."
        )
    check_finest(known)
    for one, other in ((WEIGHT, WEIGHT_SQ), (WEIGHT_SQ, WEIGHT)):
        if one in known and other not in known:
            raise InvalidInputError(
                f"{parameter('cells', True)} needs the columns {WEIGHT!r} and {WEIGHT_SQ!r} for "
                f"weighted cells, but {other!r} is missing; give both, as `confusion` returns them."
            )
    return (WEIGHT if WEIGHT in known else None), N


def _is_list(given: object, known: Sequence[Name]) -> TypeGuard[Sequence[Name]]:
    return isinstance(given, list) or (isinstance(given, tuple) and given not in known)


def _listed_names(given: Name | Sequence[Name], known: Sequence[Name]) -> tuple[Name, ...]:
    return tuple(given) if _is_list(given, known) else (given,)


def _label_list(labels: Sequence[Label]) -> tuple[Label, ...]:
    is_list = hasattr(labels, "__len__") and is_iterable(labels)
    if not is_list or isinstance(labels, (str, bytes, Set, Mapping)):
        raise InvalidInputError(
            f"{parameter('labels', labels)} is not a list; give a list of labels, in order."
        )
    given = tuple(as_labels(labels, parameter("labels")))
    if len(set(given)) < len(given):
        raise InvalidInputError(
            f"{parameter('labels')} lists a label twice: {listed(map(repr, given))}; list each "
            "label once."
        )
    if not given:
        raise InvalidInputError(
            f"{parameter('labels')} is empty; omit it to use the labels that occur."
        )
    return given
