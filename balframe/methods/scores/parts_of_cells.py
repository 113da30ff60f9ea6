"""The columns of results of `confusion`, by what they hold."""

from collections.abc import Sequence

from balframe.errors import InvalidInputError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.query import WEIGHT, WEIGHT_SQ, N, check_finest
from balframe.methods.scores.confusion import SHARE


def parts_of_cells(names: Sequence[Name], what: str) -> tuple[list[Name], Name, Name]:
    """Separate the by-columns from the two columns of labels, which stand before the counts.

    `what` begins a sentence about the frame: "frames have".
    """
    at = names.index(N) if N in names else 0
    if at < 2:
        raise InvalidInputError(
            f"the {what} the columns {listed(names)}, which are not those of a result of "
            "`confusion`: the true and the predicted labels must be in the two columns before "
            f"{N!r}. Give results of `confusion`."
        )
    check_finest(names, what)
    if SHARE in names:
        raise InvalidInputError(
            f"the {what} a column {SHARE!r}, and shares cannot be added. Drop it, or omit "
            f"{parameter('normalize')} in `confusion`."
        )
    labels = names[at - 2 : at]
    others = {N, WEIGHT, WEIGHT_SQ, *labels}
    return [name for name in names if name not in others], labels[0], labels[1]
