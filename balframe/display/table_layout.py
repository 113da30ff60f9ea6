"""How the answer of a verb is laid out as a table: what each of its columns and rows is."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from balframe.analyses.layouts import limits_among
from balframe.errors import BalframeError, InvalidInputError, listed
from balframe.frames.library import Name
from balframe.gates.rules import Rule, read_rules
from balframe.metrics.catalogue import find
from balframe.metrics.registry import Metric

Values = Mapping[Name, list[Any]]

_KINDS = {  # the columns by which an answer is known, and the first one behind the by-columns
    "check": ({"rule", "estimate", "status"}, "rule"),
    "fairness": ({"criterion", "measure", "estimate"}, "criterion"),
    "disparity": ({"metric", "lowest", "highest"}, "metric"),
    "best_threshold": ({"metric", "threshold", "estimate"}, "n"),
    "compare": ({"metric", "model", "reference", "difference"}, "n"),
    "gaps": ({"metric", "estimate", "difference"}, "n"),
    "long": ({"metric", "estimate"}, "n"),
    "classes": ({"label", "support"}, "support"),
    "curve": ({"threshold", "predicted_positive"}, "n"),
    "ranking": ({"n", "roc_auc"}, "n"),
    "posterior": ({"n", "mean", "lower", "upper"}, "n"),
}
_BEHIND = ("n", "n_labels", "min_support", "n_missing", "metric")
_BETWEEN = {"classes": ("label",), "curve": ("threshold",), "compare": ("reference",)}
_STUBS = {"fairness": ("measure",), "disparity": ("metric",)}
_OF_METRIC = ("estimate", "reference_estimate", "lowest", "highest", "difference", "ratio")
_STATUSES = ("fail", "inconclusive", "pass")
_OVERALL = "overall"


@dataclass(frozen=True)
class Layout:
    """The columns of an answer by what they are for.

    `by` make the segments, `keys` tell the rows of a group apart, `groups` are the headings.
    """

    kind: str
    values: Values
    by: tuple[Name, ...]
    keys: tuple[Name, ...]
    groups: tuple[Name, ...]
    has_margins: bool

    @classmethod
    def of(cls, values: Values) -> "Layout":
        """Find out which verb's answer this is, and what its columns are."""
        names = list(values)
        kind = _kind(names, values)
        by, has_margins = _by(kind, names, values)
        behind = set(names) - set(by)
        models = ("model", "reference") if kind == "compare" else ("model",)
        groups = [one for one in models if one in behind]
        between = [one for one in _BETWEEN.get(kind, ()) if one in behind and one not in groups]
        keys = [*by, *between]
        rows = {"check": "rule", "fairness": "criterion"}.get(kind, "metric")
        if rows in behind and kind != "disparity":
            several = kind in ("check", "fairness") or len(set(values[rows])) > 1
            if by or kind == "fairness":
                groups += [rows] * several
            else:
                keys.append(rows)
        keys += [one for one in _STUBS.get(kind, ()) if one in behind]
        return cls(kind, values, by, tuple(keys), tuple(groups), has_margins)

    @property
    def n_rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.values.values())))

    @cached_property
    def numbers(self) -> frozenset[Name]:
        """Name the columns that hold numbers."""
        return frozenset(name for name, values in self.values.items() if is_number(values))

    @cached_property
    def metrics(self) -> frozenset[Any]:
        """Name the metrics of the rows, where there is a column of them."""
        return frozenset(self.values.get("metric", ()))

    @cached_property
    def limits(self) -> dict[Name, tuple[str, str]]:
        """Name the columns of limits, by the column that they are limits of."""
        return limits_among(self.names_behind)

    @property
    def names_behind(self) -> list[Name]:
        """List all but the by-columns."""
        return [name for name in self.values if name not in self.by]

    @cached_property
    def shown(self) -> list[Name]:
        """List the columns beside the keys: without limits, which stand in the cells of scores."""
        elsewhere = {*self.groups, *self.keys}
        elsewhere |= {one for pair in self.limits.values() for one in pair}
        elsewhere |= {"margin"} if self.has_margins else set()
        if self.kind in ("long", "gaps", "compare", "best_threshold"):
            elsewhere |= {"metric", "method"}
        return [name for name in self.names_behind if name not in elsewhere]

    @cached_property
    def kept(self) -> list[frozenset[Name]]:
        """Tell for each row which by-columns make its segment."""
        rules = self.values["rule"] if self.kind == "check" else [None] * self.n_rows
        known = {text: frozenset(some) for text, some in _margins(self.by)}
        every = frozenset(self.by)
        margins = self.values["margin"] if self.has_margins else [None] * self.n_rows
        return [
            frozenset() if is_of_many(rule) else known.get(margin, every)
            for rule, margin in zip(rules, margins, strict=True)
        ]

    def is_finest(self, row: int) -> bool:
        """Tell whether a row is of one segment, not of a roll-up of them."""
        return len(self.kept[row]) == len(self.by)

    def group(self, row: int) -> tuple[Any, ...]:
        """Give what the heading above a row says."""
        return tuple(self.values[name][row] for name in self.groups)

    def metric(self, name: Name, row: int) -> Metric | None:
        """Find the metric that a cell is a score of."""
        if self.kind == "check" and name == "estimate":
            rule = rule_of(self.values["rule"][row])
            return None if rule is None else rule.metric
        if name in _OF_METRIC and "metric" in self.values:
            return known_metric(self.values["metric"][row])
        return known_metric(name)

    def compared(self) -> list[Name]:
        """List the columns in which segments are compared, to mark the worst."""
        if self.kind in ("long", "gaps", "compare"):
            return ["estimate"]
        return self.shown if self.kind in ("wide", "classes") else []

    def family(self, row: int) -> tuple[Hashable, ...]:
        """Tell which rows a row is compared with, to find the worst of them."""
        names: list[Name] = [
            *(one for one in ("model", "reference", "metric") if one in self.names_behind)
        ]
        names += ["label"] if self.kind == "classes" and self.by else []
        return tuple(self.values[name][row] for name in names)


def known_metric(name: object) -> Metric | None:
    """Look a metric up; None where there is none of that name."""
    try:
        return find(name)
    except BalframeError:
        return None


def rule_of(text: object) -> Rule | None:
    """Read a rule as `check` names it; None where its metric is not known any more."""
    try:
        return read_rules([text])[0]
    except BalframeError:
        return None


def is_of_many(text: object) -> bool:
    """Tell whether a rule is on the difference or ratio of segments."""
    rule = None if text is None else rule_of(text)
    return rule is not None and rule.over is not None


def is_number(values: Sequence[Any]) -> bool:
    """Tell whether a column holds numbers, or nothing at all."""
    known = [one for one in values if one is not None]
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in known)


def _kind(names: Sequence[Name], values: Values) -> str:
    known = set(names)
    for kind, (needed, _) in _KINDS.items():
        if needed <= known:
            return kind
    if any(known_metric(name) is not None and is_number(values[name]) for name in names):
        return "wide"
    raise InvalidInputError(
        f"a frame with the columns {listed(map(repr, names))} is no answer that bf.table knows; "
        "give the result of report, classes, gaps, compare, check, disparity, fairness, curve, "
        "best_threshold, ranking or posterior, with the columns that tell its kind, such as a "
        "metric of report or `rule`, `estimate` and `status` of check."
    )


def _by(kind: str, names: Sequence[Name], values: Values) -> tuple[tuple[Name, ...], bool]:
    """Take the columns before the first that the verb adds, and tell whether one is `margin`."""
    anchor: Name = _KINDS[kind][1] if kind in _KINDS else "n"
    if anchor not in names:
        anchor = next(
            name
            for name in names
            if name in _BEHIND or name == "estimate" or known_metric(name) is not None
        )
    end = names.index(anchor)
    for one in (*_BETWEEN.get(kind, ()), "model"):
        end -= names[end - 1 : end] == [one]
    by = names[: end - 1]
    if names[end - 1 : end] == ["margin"] and _are_margins(values["margin"], by):
        return tuple(by), True
    return tuple(names[:end]), False


def _are_margins(texts: Sequence[object], by: Sequence[Name]) -> bool:
    return set(texts) <= {text for text, _ in _margins(by)}


def _margins(by: Sequence[Name]) -> Iterator[tuple[str, tuple[Name, ...]]]:
    """Name every roll-up as the verbs do."""
    for size in range(len(by) + 1):
        for some in combinations(by, size):
            yield ", ".join(map(str, some)) or _OVERALL, some


def worst_of(values: Mapping[int, float], better: str | None, most: int) -> set[int]:
    """Find the rows with the worst values, ties with them; none where that would be all."""
    if better is None or not most or not values:
        return set()
    ordered = sorted(values.values(), reverse=better == "lower")
    last = ordered[min(most, len(ordered)) - 1]
    found = {r for r, v in values.items() if (v <= last if better == "higher" else v >= last)}
    return found if len(found) < len(values) else set()


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows shown, in their order; `cuts` are the first ones behind rows left out."""

    rows: list[int]
    cuts: set[int]
    n_left_out: int
    ranked_by: str | None


def choose(layout: Layout, most: int | None) -> Choice:
    """Put rows below their headings, roll-ups last, and leave out what is between the extremes."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in range(layout.n_rows):
        groups.setdefault(layout.group(row), []).append(row)
    finest = [[row for row in rows if layout.is_finest(row)] for rows in groups.values()]
    n_finest = sum(map(len, finest))
    by = _ranking_column(layout)
    quota = None if most is None or n_finest <= most else max(most // len(groups), 2)
    shown: list[int] = []
    cuts: set[int] = set()
    for rows, segments in zip(groups.values(), finest, strict=True):
        if quota is not None and len(segments) > quota:
            segments = _extremes(layout, by, segments, quota)
            cuts |= set() if by is None else {segments[(quota + 1) // 2]}
        shown += [*segments, *(row for row in rows if not layout.is_finest(row))]
    left_out = layout.n_rows - len(shown)
    return Choice(shown, cuts, left_out, None if by is None else str(by))


def _extremes(layout: Layout, by: Name | None, rows: list[int], quota: int) -> list[int]:
    """Take the worst and the best rows, worst first; without a score to rank by, the first."""
    if by is None:
        return rows[:quota]
    ranks = {row: _rank(layout, by, row) for row in rows}
    known = sorted(
        (row for row in rows if ranks[row] is not None), key=lambda row: ranks[row] or ()
    )
    if len(known) < quota:
        known += [row for row in rows if ranks[row] is None]
    return known[: (quota + 1) // 2] + known[len(known) - quota // 2 :]


def _rank(layout: Layout, by: Name, row: int) -> tuple[float, float] | None:
    """Give a number that is smaller the worse a row is."""
    value = layout.values[by][row]
    if value is None:
        return None
    if layout.kind == "check":
        rule = rule_of(layout.values["rule"][row])
        sign = -1 if rule is not None and rule.operator.startswith("<") else 1
        return _STATUSES.index(layout.values["status"][row]), sign * value
    metric = layout.metric(by, row)
    return 0, -value if metric is not None and metric.better == "lower" else value


def _ranking_column(layout: Layout) -> Name | None:
    if layout.kind in ("check", "long"):
        return "estimate"
    if layout.kind in ("gaps", "compare"):
        return "difference"
    if layout.kind not in ("wide", "classes"):
        return None
    metrics = {name: known_metric(name) for name in layout.shown}
    scores = [name for name, one in metrics.items() if one is not None and one.better]
    return scores[0] if scores else None
