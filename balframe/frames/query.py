"""What a caller asks of a frame: the columns by their parts, and how to read them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import TypeGuard

from balframe.core.arrays import is_iterable
from balframe.core.labels import Label, as_labels
from balframe.errors import InvalidInputError, UnsupportedTypeError, check_choice, listed, not_found
from balframe.frames.library import Frame, Library, Name

N, WEIGHT, WEIGHT_SQ = "n", "weight", "weight_sq"
MARGIN, MODEL = "margin", "model"
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

    @property
    def outcomes(self) -> tuple[tuple[Name, ...], ...]:
        """List the predictions that cells keep: of each model, or of each pair of them."""
        return tuple(combinations(self.y_pred, 2 if self.joint else 1))

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
        return (self.y_true,) if self.scores else (self.y_true, *self.y_pred)

    @property
    def columns(self) -> tuple[Name, ...]:
        """List all columns that are read, each once."""
        squares = WEIGHT_SQ if self.cells and self.sample_weight is not None else None
        others = (self.counts, self.sample_weight, squares)
        named = (
            *self.by,
            self.y_true,
            *self.y_pred,
            *(name for name in others if name is not None),
        )
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class Options:
    """The columns and options that all verbs have in common, as a caller gives them.

    `joint` asks for the predictions of pairs of models together, `scores` says that the
    predictions are scores, `squares` that those of weights are of use.
    """

    y_true: Name
    y_pred: Name | Sequence[Name]
    by: Name | Sequence[Name]
    sample_weight: Name | None
    counts: Name | None
    labels: Sequence[Label] | None
    pos_label: object
    missing: str
    margins: object
    backend: str | None = None
    max_cells: int = MAX_CELLS
    cells: bool = False
    joint: bool = False
    scores: bool = False
    squares: bool = True


def query(frame: Frame, library: Library, given: Options) -> Query:
    """Check the names and options that a caller gave."""
    check_choice("missing", given.missing, ("raise", "drop"))
    check_choice("margins", given.margins, (False, "overall", "all"))
    check_choice("cells", given.cells, (False, True))
    _check_max_cells(given.max_cells)
    known = library.names(frame)
    sample_weight, counts = given.sample_weight, given.counts
    others = (*_as_list(given.y_pred), *_as_list(given.by))
    _check_are_names(library, [given.y_true, sample_weight, counts, *others])
    predictions = _listed_names(given.y_pred, known)
    segments = () if given.by is None else _listed_names(given.by, known)
    if given.cells:
        totals = [name for name in known if name not in {given.y_true, *predictions, *segments}]
        sample_weight, counts = _totals(totals, sample_weight, counts)
    asked = Query(
        given.y_true,
        predictions,
        _is_list(given.y_pred, known),
        segments,
        sample_weight,
        counts,
        given.cells,
        None if given.labels is None else _label_list(given.labels),
        given.pos_label,
        given.missing,
        given.margins,
        given.max_cells,
        given.joint,
        given.scores,
        given.squares or given.cells,
    )
    predictions_role = "y_score" if given.scores else "y_pred"
    if not asked.y_pred:
        raise InvalidInputError(f"{predictions_role} is an empty list; name at least one column.")
    for role, names in (("by", asked.by), (predictions_role, asked.y_pred)):
        if len(set(names)) < len(names):
            raise InvalidInputError(f"{role} names a column twice: {listed(map(repr, names))}.")
    for name in asked.columns:
        if name not in known:
            raise not_found("column", name, known)
        if known.count(name) > 1:
            raise InvalidInputError(
                f"the frame has {known.count(name)} columns named {name!r}; rename them so that "
                "the name says which one is meant."
            )
    return asked


def _check_max_cells(given: object) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise InvalidInputError(
            f"max_cells={given!r} is not a number of cells; give a whole number from 1."
        )


def _as_list(given: object) -> list[object]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _check_are_names(library: Library, given: Sequence[object]) -> None:
    for name in given:
        if name is not None and not library.is_name(name):
            raise UnsupportedTypeError(
                f"columns are given by their names, not as {type(name).__qualname__}; give the "
                "name, or a list of names, of columns of the frame."
            )


def _totals(
    known: Sequence[Name], sample_weight: Name | None, counts: Name | None
) -> tuple[Name | None, Name]:
    if sample_weight is not None or counts is not None:
        raise InvalidInputError(
            f"cells=True reads the totals {N!r}, {WEIGHT!r} and {WEIGHT_SQ!r}; it cannot go with "
            "counts= or sample_weight=."
        )
    check_finest(known)
    for one, other in ((WEIGHT, WEIGHT_SQ), (WEIGHT_SQ, WEIGHT)):
        if one in known and other not in known:
            raise InvalidInputError(
                f"cells=True found a column {one!r} but no {other!r}; weighted cells have both, "
                "as `confusion` gives them."
            )
    return (WEIGHT if WEIGHT in known else None), N


def check_finest(known: Sequence[Name]) -> None:
    """Refuse cells that hold roll-ups."""
    if MARGIN in known:
        raise InvalidInputError(
            f"the frame has a column {MARGIN!r}: its roll-ups would be counted on top of the rows "
            "they sum. Keep the finest rows only, and drop that column."
        )


def _is_list(given: object, known: Sequence[Name]) -> TypeGuard[Sequence[Name]]:
    return isinstance(given, list) or (isinstance(given, tuple) and given not in known)


def _listed_names(given: Name | Sequence[Name], known: Sequence[Name]) -> tuple[Name, ...]:
    return tuple(given) if _is_list(given, known) else (given,)


def _label_list(labels: Sequence[Label]) -> tuple[Label, ...]:
    is_list = hasattr(labels, "__len__") and is_iterable(labels)
    if not is_list or isinstance(labels, (str, bytes, Set, Mapping)):
        raise InvalidInputError(f"labels={labels!r} is not a list of labels, in their order.")
    given = tuple(as_labels(labels, "labels="))
    if len(set(given)) < len(given):
        raise InvalidInputError(f"labels= lists a label twice: {listed(map(repr, given))}.")
    if not given:
        raise InvalidInputError("labels= is empty; leave it out to use the labels that occur.")
    return given
