"""The function `passed`."""

from balframe.errors import InvalidInputError, check_choice, listed
from balframe.frames.convert_result import collected, values_of
from balframe.methods.gates.verdicts import STATUS


def passed(verdicts: object, *, allow_inconclusive: bool = False) -> bool:
    """Return True if `check` returned at least one verdict and every verdict is a pass.

    It is False for a frame without rows, where `(verdicts["status"] == "pass").all()` is True.
    `require` raises where this is False.

    Parameters
    ----------
    verdicts : frame
        The result of `check`, on any library or engine. A lazy frame is collected.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as passes.

    Returns
    -------
    bool
        True if there is at least one verdict and all of them are "pass".

    Raises
    ------
    InvalidInputError
        If the frame is not a result of `check`.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas")
    >>> columns = {"y_true": "reoffended", "y_pred": "high_risk", "counts": "n"}
    >>> bf.passed(bf.check(compas, **columns, by="race", rules="recall >= 0.3"))
    False
    >>> bf.passed(bf.check(compas, **columns, rules="recall >= 0.3"))
    True
    >>> bf.passed(bf.check(compas.head(0), **columns, by="race", rules="recall >= 0.3"))
    False
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    statuses = dict.fromkeys(values_of(collected(verdicts), "status"))
    if not set(statuses) <= set(STATUS):
        raise InvalidInputError(
            f"column 'status' holds {listed(map(repr, statuses), 3)}; give a result of `check`, "
            f"whose statuses are {listed(map(repr, STATUS))}."
        )
    kept = {"pass", "inconclusive"} if allow_inconclusive else {"pass"}
    return bool(statuses) and set(statuses) <= kept
