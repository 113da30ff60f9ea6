"""The function `draw_rows`: which rows to label, as `power` plans."""

from typing import Any

from balframe._validate import is_whole_number
from balframe.api.checked_arguments import checked_arguments
from balframe.errors import NAME, InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.convert_result import row_dicts
from balframe.frames.drawn_rows import draw_unlabelled, stratum_of

_RULE, _LABELS_NEEDED = "rule", "labels_needed"


@checked_arguments
def draw_rows(
    frame: FrameT,
    plan: Any,  # noqa: ANN401 (a frame of any library)
    y_true: Name,
    *,
    key: Name,
    seed: int = 0,
) -> FrameT:
    """Return the rows to be labelled, drawn at random from each stratum of a plan.

    If exactly these rows are labelled, rows with and without a true label do not differ
    systematically within a stratum, and `missing="correct"` needs no other assumption.

    Parameters
    ----------
    frame : frame of any library
        The rows that the plan was made from. Lazy frames are collected.
    plan : frame
        A result of `power` with `missing="correct"`. If it has several rules or powers, each
        stratum gets the largest number of labels among them.
    y_true : column name
        The true labels. Rows that have one are not drawn, and are subtracted from those needed.
    key : column name
        The column that identifies rows. Which rows are drawn depends on their keys and on `seed`,
        and not on the order of the rows or on the library.
    seed : int, default 0
        Seed of the random numbers: a whole number of at least 0. Another seed draws other rows.

    Returns
    -------
    frame of the same kind
        The rows drawn, in the order of the frame, with all columns. Engines other than pandas,
        polars and PyArrow return an Arrow table.

    Raises
    ------
    BalframeError
        If a column does not exist, if the key is null or is not unique, or if `plan` is not a plan
        or has no labels for a stratum.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> answers = pl.DataFrame(
    ...     {
    ...         "id": range(400),
    ...         "judge": [1, 1, 1, 0] * 100,
    ...         "human": [1, 1, 0, 0] * 10 + [None] * 360,
    ...     }
    ... )
    >>> options = {"missing": "correct", "half_width": 0.08, "rules": "accuracy >= 0.6"}
    >>> plan = bf.power(answers, "human", "judge", **options)
    >>> plan.select("judge", "labels_needed", "n_labelled", "n").rows()
    [(0, 14, 10, 100), (1, 89, 30, 300)]
    >>> drawn = bf.draw_rows(answers, plan, "human", key="id")
    >>> drawn.group_by("judge").len().sort("judge").rows()
    [(0, 4), (1, 59)]
    """
    if not is_whole_number(seed, 0):
        raise InvalidInputError(
            "{seed} is not valid; give a whole number of at least 0.", seed=seed
        )
    rows: list[dict[Name, Any]] = row_dicts(plan) if hasattr(plan, "columns") else []
    if not rows or not {_RULE, _LABELS_NEEDED} <= {*rows[0]}:
        raise InvalidInputError(
            "{plan} has no column 'labels_needed'; give a result of `power` with {missing}.",
            plan=NAME,
            missing="correct",
        )
    names = [*rows[0]]
    columns = names[: names.index(_RULE)]
    labels_needed: dict[tuple[object, ...], int] = {}
    for row in rows:
        stratum = stratum_of([row[name] for name in columns])
        if row[_LABELS_NEEDED] is None:
            described = ", ".join(f"{name}={row[name]!r}" for name in columns)
            raise InvalidInputError(
                "the plan has no 'labels_needed' for {}: the estimate violates the rule, or labels "
                "of all rows do not suffice. Leave such rows out of the plan, or plan for less.",
                described,
            )
        labels_needed[stratum] = max(labels_needed.get(stratum, 0), int(row[_LABELS_NEEDED]))
    drawn: FrameT = draw_unlabelled(frame, y_true, key, columns, labels_needed, seed)
    return drawn
