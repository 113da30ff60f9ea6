"""The verb `require`."""

from typing import Unpack

from balframe.api.method import Verb
from balframe.api.options import CellsOrRows, Clustering, Names, RollUps
from balframe.errors import CheckFailed, check_choice
from balframe.frames.adapter import FrameT, Name
from balframe.frames.convert_result import collected, rows_of
from balframe.methods.gates.check import check
from balframe.methods.gates.messages import message
from balframe.methods.gates.options_of_rules import Decisions
from balframe.methods.gates.passed import passed
from balframe.methods.gates.rules import RulesOption, read_rules

VERB = Verb({})


class _Options(Decisions, Clustering, CellsOrRows, RollUps, total=False): ...


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
    """Return the data unchanged if every segment satisfies the rules, and fail otherwise.

    It returns `df`, or raises CheckFailed. Use it in a chain of methods, such as
    `df.bal.require(...).write_parquet(...)`. A lazy frame is computed immediately.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules that every segment must satisfy, in any of the forms that `check` reads.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as success. By default they are failures, because too few rows
        are no evidence that a rule holds.

    Returns
    -------
    frame
        The frame given, unchanged.

    Raises
    ------
    CheckFailed
        If a rule fails, if a verdict is inconclusive and `allow_inconclusive` is False, or if there
        is no row to judge. The message lists up to ten verdicts, the worst violations first. For a
        rule with a baseline, it states both scores and the limit that decides. The attribute
        `frame` of the error is the result of `check`.
    BalframeError
        If a rule, a name, an option or a value is invalid.

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

    A new model that is worse than an old one on the same rows, by more than a margin of 0.05:

    >>> import polars as pl
    >>> rows = {"y": [1] * 4, "old": [1, 1, 0, 0], "new": [1, 0, 1, 0], "n": [800, 90, 10, 100]}
    >>> cases = pl.DataFrame(rows)
    >>> rule = "recall >= baseline - 0.05"
    >>> bf.require(cases, "y", "new", counts="n", baseline="old", rules=rule)
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 1 verdicts fails:
      fail: recall >= baseline - 0.05: recall 0.81, baseline 0.89, at least 0.06203 worse
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    known = read_rules(rules)
    found = collected(check(frame, y_true, y_pred, rules=known, by=by, **options))
    if passed(found, allow_inconclusive=allow_inconclusive):
        return frame
    verdicts = rows_of(found)
    failed = [one for one in verdicts if one["status"] == "fail"]
    unknown = [one for one in verdicts if one["status"] == "inconclusive"]
    of_many = [rule.text for rule in known if rule.over is not None]
    text = message(failed, [] if allow_inconclusive else unknown, len(verdicts), of_many)
    raise CheckFailed(text, found, len(failed), len(unknown))
