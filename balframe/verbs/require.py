"""The verb `require`."""

from typing import Unpack

from balframe.errors import CheckFailed, check_choice
from balframe.frames.deliver import collected, rows_of
from balframe.frames.library import FrameT, Name
from balframe.gates.messages import message
from balframe.gates.rules import RulesOption, read_rules
from balframe.verbs.check import check
from balframe.verbs.declaration import Verb
from balframe.verbs.options import CellsOrRows, Decisions, Names, RollUps

VERB = Verb({})


class _Options(Decisions, CellsOrRows, RollUps, total=False): ...


@VERB
def require(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    allow_inconclusive: bool = False,
    **options: Unpack[_Options],
) -> FrameT:
    """Require that every segment keeps the rules.

    It raises where one does not, and otherwise gives back the frame, so that it stands in a chain:
    `df.bal.require(...).write_parquet(...)`. On a lazy frame it runs at once.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules that every segment has to keep. They are read as `check` reads them.
    allow_inconclusive : bool, default False
        Accept verdicts that are inconclusive for want of rows; by default they are refused.

    Returns
    -------
    the frame that was given

    Raises
    ------
    CheckFailed
        If a rule fails, is inconclusive unless that is allowed, or there is no row to judge. The
        message lists the worst violations first, ten at most; `frame` is the result of `check`.
    BalframeError
        If a rule, a name, an option or a value cannot be used.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> columns = {"y_true": "reoffended", "y_pred": "high_risk", "by": "race", "counts": "n"}
    >>> bf.require(compas, **columns, rules="balanced_accuracy >= 0.5") is compas
    True
    >>> bf.require(compas, **columns, rules=["recall >= 0.6", "difference(recall) <= 0.5"])
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 3 verdicts fails and 2 are inconclusive (too few rows):
      fail: recall >= 0.6: 0.5228 [0.4862, 0.5592] where race is Caucasian
      inconclusive: recall >= 0.6: 0.6667 [0.2611, 0.9421] where race is Asian
      inconclusive: difference(recall) <= 0.5: 0.1439 [0, 0.6811]
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    known = read_rules(rules)
    found = collected(check(frame, y_true, y_pred, rules=known, by=by, **options))
    verdicts = rows_of(found)
    failed = [one for one in verdicts if one["status"] == "fail"]
    unknown = [one for one in verdicts if one["status"] == "inconclusive"]
    if failed or not verdicts or (unknown and not allow_inconclusive):
        listed = [] if allow_inconclusive else unknown
        of_many = [rule.text for rule in known if rule.over is not None]
        text = message(failed, listed, len(verdicts), of_many)
        raise CheckFailed(text, found, len(failed), len(unknown))
    return frame
