"""What a caller asks of a frame: the roles of its columns, and how to read them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from balframe.core.label_set import Label
from balframe.core.periods import Every
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name

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
