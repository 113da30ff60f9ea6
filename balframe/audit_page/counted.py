"""The counts that a page is made from: one reading of the rows for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from balframe.audit_page.request import Asked, Model
from balframe.core.label_set import Label, LabelSet, as_labels
from balframe.errors import InvalidInputError, advised, bare_parameter, parameter
from balframe.frames.adapter import Name
from balframe.frames.convert_result import row_dicts
from balframe.frames.query import WEIGHT
from balframe.frames.rounded_scores import round_down_scores
from balframe.methods.scores.confusion import confusion
from balframe.methods.scores.report import report

TRUTH, CALL, SCORE, N = "truth", "call", "score", "n"


def key_of(column: int) -> str:
    """Name a by-column in the cells, where no name of the caller's can clash."""
    return f"by{column}"


@dataclass(frozen=True)
class Counted:
    """The cells of a model: a row for each combination of groups, score, truth and call.

    `positive` is None with more than two labels. Scores are rounded down to multiples of `step`
    where there are very many. `n_missing` rows were left out.
    """

    model: Model
    cells: Any
    labels: Sequence[Label]
    positive: Label | None
    step: float | None
    n_missing: int

    @cached_property
    def n_true(self) -> Mapping[Label, int]:
        """Count the rows of each true label."""
        found = dict.fromkeys(self.labels, 0)
        for cell in row_dicts(confusion(self.cells, TRUTH, CALL, cells=True)):
            found[cell[TRUTH]] += cell[N]
        return found


def counted(frame: Any, asked: Asked, model: Model) -> Counted:  # noqa: ANN401 (a frame of any kind)
    """Count the rows of a model."""
    by, step = list(asked.by), None
    if model.y_score is not None:
        frame, step = round_down_scores(frame, model.y_score)
        by.append(model.y_score)
    options = {**asked.options, "backend": "polars"}
    cells = confusion(frame, asked.y_true, model.y_pred, by=by, **options)
    n_missing = _n_missing(frame, asked, model)
    if WEIGHT in cells.columns:
        raise InvalidInputError(
            "the cells have weights, but an audit counts rows. Count them without weights."
        )
    names = [*map(key_of, range(len(asked.by))), *([SCORE] if model.y_score is not None else [])]
    cells = cells.select(cells.columns[: len(names) + 3])
    cells = cells.rename(dict(zip(cells.columns, [*names, TRUTH, CALL, N], strict=True)))
    if model.y_score is not None:
        cells, n_lost = _with_scores(cells, model.y_score, asked)
        n_missing += n_lost
    if not cells.height:
        raise InvalidInputError("there are no rows, so there is nothing to audit.")
    labels = _labels(cells, asked)
    _check_words(labels, asked)
    return Counted(model, cells, labels, _positive(labels, asked), step, n_missing)


def _n_missing(frame: Any, asked: Asked, model: Model) -> int:  # noqa: ANN401
    if asked.options["missing"] != "drop":
        return 0
    options = {**asked.options, "backend": "polars"}
    found = report(frame, asked.y_true, model.y_pred, metrics="accuracy", **options)
    return int(found["n_missing"].sum())


def _with_scores(cells: Any, y_score: Name, asked: Asked) -> tuple[Any, int]:  # noqa: ANN401
    """Check scores, which were read as values; say how many rows without one are left out."""
    scores = cells[SCORE]
    if not scores.dtype.is_numeric():
        raise InvalidInputError(
            f"column {y_score!r} is of type {scores.dtype}, but {bare_parameter('y_score')} needs "
            "numbers."
        )
    if scores.dtype.is_float() and scores.is_infinite().any():
        raise InvalidInputError(
            f"column {y_score!r} has infinite values; scores must be finite. Remove those rows."
        )
    n_null = int(cells[N].filter(scores.is_null()).sum())
    if n_null and asked.options["missing"] != "drop":
        raise InvalidInputError(
            f"column {y_score!r} has {n_null} null value{'s' * (n_null != 1)}. Remove those rows, "
            f"or give {advised('missing', 'drop')} to leave them out."
        )
    return (cells.filter(scores.is_not_null()), n_null) if n_null else (cells, 0)


def _labels(cells: Any, asked: Asked) -> tuple[Label, ...]:  # noqa: ANN401
    """List the labels in their order, which is that of the cells."""
    given = asked.options["labels"]
    if given is not None:
        return tuple(as_labels(given, parameter("labels")))
    occurring = [*cells[TRUTH].unique().sort().to_list(), *cells[CALL].unique().sort().to_list()]
    labels = LabelSet.union(occurring, _domain(cells)).values
    pair = next((one for one in ((0, 1), (-1, 1)) if {*labels} < {*one}), None)
    if pair is None:
        return labels
    return (False, True) if isinstance(labels[0], bool) else pair


def _domain(cells: Any) -> Sequence[Label] | None:  # noqa: ANN401
    """List the categories of labels in their own order, where they have one."""
    return (
        cells[TRUTH].cat.get_categories().to_list()
        if str(cells[TRUTH].dtype).startswith("Enum")
        else None
    )


def _check_words(labels: Sequence[Label], asked: Asked) -> None:
    """Raise where there are words for the positive label of two, but other labels."""
    words = {"truth": asked.words.truth, "call": asked.words.call}
    given = [bare_parameter(name) for name, one in words.items() if one is not None]
    if given and len(labels) != 2:
        raise InvalidInputError(
            f"{' and '.join(given)} name{'s' * (len(given) == 1)} the positive label of two, but "
            f"the labels are {LabelSet(tuple(labels))}. Leave the words out, or turn the labels "
            "into two."
        )


def _positive(labels: Sequence[Label], asked: Asked) -> Label | None:
    """Find the positive label of two; more than two have none."""
    given = asked.options["pos_label"]
    if len(labels) != 2:
        if given is not None:
            raise InvalidInputError(
                f"{parameter('pos_label', given)} is for two labels, but there are {len(labels)}: "
                f"{LabelSet(tuple(labels))}. Omit it for an audit of all labels, or turn them into "
                "two."
            )
        return None
    code = LabelSet(tuple(labels)).positive(given)
    if code is None:
        raise InvalidInputError(
            f"an audit of two labels needs {parameter('pos_label')}; give the one that counts as "
            f"positive: {LabelSet(tuple(labels))}. It has a default only if the labels are among "
            "0 and 1, -1 and 1, or false and true."
        )
    return labels[code]
