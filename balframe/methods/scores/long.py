"""The function `long`, for items that may have several labels at once."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from balframe.api.checked_arguments import checked_arguments
from balframe.errors import NAME, InvalidInputError, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.label_rows import stack_labels


@checked_arguments
def long(
    frame: FrameT,
    y_true: Sequence[Name],
    y_pred: Sequence[Name] | None = None,
    *,
    y_score: Sequence[Name] | None = None,
    labels: Sequence[str] | None = None,
    item: Name | None = None,
) -> FrameT:
    """Return one row per item and label, of items that may have several labels at once.

    Every label is then a decision between yes and no. With `by="label"`, a method gives scores of
    each label; without it, those of all decisions together, which are called micro averages. The
    decisions on one item belong together: name the items in `cluster`.

    Parameters
    ----------
    frame : frame of any library, except streams
        One row per item, and for each label a column that shows whether the item has it.
    y_true : list of column names
        True values of the labels, such as 1 and 0.
    y_pred, y_score : list of column names, optional
        Predicted values, and predicted probabilities, of the same labels in the same order. At
        least one of the two is needed.
    labels : list of str, optional
        Names of the labels; by default those of the columns of `y_true`.
    item : column name, optional
        Column that identifies items. By default rows are numbered, in a new column `item`. Engines
        whose rows have no order need it.

    Returns
    -------
    frame of the same kind
        The rows of the first label come first. Columns: `item`, all columns of the frame that are
        not named above, `label`, `y_true` and, if given, `y_pred` and `y_score`.

    Raises
    ------
    BalframeError
        If the lists have different lengths or name a column twice, if a column is not found, if the
        columns of one list are of different types, or if the frame already has a column of one of
        the new names.

    Examples
    --------
    Three photos, each of which may show a cat, a dog, or both:

    >>> import polars as pl
    >>> import balframe as bf
    >>> photos = pl.DataFrame(
    ...     {
    ...         "cat": [1, 1, 0],
    ...         "dog": [0, 1, 1],
    ...         "cat_predicted": [1, 0, 0],
    ...         "dog_predicted": [0, 1, 1],
    ...     }
    ... )
    >>> decisions = bf.long(photos, ["cat", "dog"], ["cat_predicted", "dog_predicted"])
    >>> decisions.rows()[:2]
    [(0, 'cat', 1, 1), (1, 'cat', 1, 0)]
    >>> out = bf.report(decisions, "y_true", "y_pred", by="label", metrics="recall")
    >>> out.select("label", "n", "recall").rows()
    [('cat', 3, 0.5), ('dog', 3, 1.0)]
    """
    columns = {"y_true": _as_list("y_true", y_true)}
    for role, names in {"y_pred": y_pred, "y_score": y_score}.items():
        if names is not None:
            columns[role] = _as_list(role, names)
    if len(columns) == 1:
        raise InvalidInputError(
            "long needs {y_pred} or {y_score}; give a list of columns, one for each of {y_true}.",
            y_pred=NAME,
            y_score=NAME,
            y_true=NAME,
        )
    if not isinstance(item, Hashable):
        raise InvalidInputError("{item} is not a name; give one column.", item=item)
    _check_columns(columns, item)
    names = _as_list("labels", labels) if labels is not None else columns["y_true"]
    label_names: list[str] = [str(name) for name in names]
    if len(label_names) != len(columns["y_true"]):
        raise _unequal_lengths("labels", label_names, columns["y_true"])
    if len({*label_names}) < len(label_names):
        raise InvalidInputError(
            "{} has a label twice; give each once.", parameter("labels", label_names)
        )
    stacked: FrameT = stack_labels(frame, columns, label_names, item)
    return stacked


def _as_list(name: str, values: Any) -> list[Any]:  # noqa: ANN401
    """Return a list of at least one value; raise for a single name."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
        raise InvalidInputError(
            "{} is not a list; give one column for each label.", parameter(name, values)
        )
    if not len(values):
        raise InvalidInputError("{} is empty; give one column for each label.", parameter(name, []))
    return list(values)


def _check_columns(columns_by_role: Mapping[str, Sequence[Name]], item: Name | None) -> None:
    """Raise if lists have different lengths, or if a column is in them twice."""
    for role, names in columns_by_role.items():
        if len(names) != len(columns_by_role["y_true"]):
            raise _unequal_lengths(role, names, columns_by_role["y_true"])
    times = Counter(name for names in (*columns_by_role.values(), [item]) for name in names)
    if repeated := [name for name, n in times.items() if n > 1]:
        raise InvalidInputError(
            "column {!r} is named more than once; give each label columns of its own.", repeated[0]
        )


def _unequal_lengths(name: str, values: Sequence[Any], y_true: Sequence[Name]) -> InvalidInputError:
    return InvalidInputError(
        "{} has {} entries and {y_true} has {}; give one for each label, in the same order.",
        parameter(name, values),
        len(values),
        len(y_true),
        y_true=NAME,
    )
