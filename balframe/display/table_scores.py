"""What every cell, heading and note of a table says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from balframe.display import table_cells as cells
from balframe.display.table_cells import HIGHEST, LOWEST, Axis, Score
from balframe.display.table_layout import (
    Choice,
    Layout,
    is_of_many,
    known_metric,
    rule_of,
    worst_of,
)
from balframe.frames.library import Name

_UNIT = Axis(0, 1)
_OF_RANKING = ("roc_auc", "average_precision", "ks_statistic", "brier_score")
_SCORES = ("estimate", "difference", "lowest", "highest", "ratio", *_OF_RANKING)
_AS_GIVEN = ("bound", "threshold", "plateau_lower", "midpoint", "common_threshold")
_OF_EXTREMES = ("lowest_", "highest_")
_COUNTS = ("n", "support", "min_support", "predicted", "correct", "df")


@dataclass(frozen=True)
class Pen:
    """Writes a table: the layout and choice of its rows, and how they are asked to look."""

    layout: Layout
    choice: Choice
    decimals: int
    bars: bool
    worst: int

    @cached_property
    def marks(self) -> Mapping[tuple[Name, int], str]:
        """Find the cells of the worst segments, and the sign that each gets."""
        found: dict[tuple[Name, int], str] = {}
        families: dict[object, list[int]] = {}
        for row in filter(self.layout.is_finest, range(self.layout.n_rows)):
            families.setdefault(self.layout.family(row), []).append(row)
        for name in self.layout.compared():
            for rows in families.values():
                metric = self.layout.metric(name, rows[0])
                column = self.layout.values[name]
                known = {row: column[row] for row in rows if column[row] is not None}
                better = None if metric is None else metric.better
                sign = HIGHEST if better == "lower" else LOWEST
                found |= {(name, row): sign for row in worst_of(known, better, self.worst)}
        return found

    @cached_property
    def scores(self) -> list[Name]:
        """List the columns that hold scores, which have bars."""
        named = {*_SCORES, *self.layout.limits}
        return [
            name
            for name in self.layout.shown
            if name in self.layout.numbers and (name in named or known_metric(name) is not None)
        ]

    def cell(self, name: Name, row: int) -> str:
        """Write a cell."""
        layout = self.layout
        value = layout.values[name][row]
        if name in layout.by:
            return self._of_by(name, row)
        if name == "status":
            return cells.status(value)
        if name in ("metric", "measure", "criterion"):
            return cells.safe(cells.words(value))
        if name in layout.keys and name != "threshold":
            return cells.isolated(value)
        if name not in layout.numbers:
            return self._text(name, row)
        if name in _AS_GIVEN:
            return "" if value is None and name == "bound" else cells.number(value, None)
        if name in ("p_value", "p_adjusted"):
            return cells.p_value(value, self.decimals)
        if name in self.scores and not self._is_count(name, row):
            return cells.score(self._score(name, row), self.decimals)
        if value is None or name in self._whole or self._is_count(name, row):
            return cells.count(value)
        return cells.number(value, self.decimals)

    def _of_by(self, name: Name, row: int) -> str:
        kept = self.layout.kept[row]
        if name in kept:
            return cells.isolated(self.layout.values[name][row])
        is_overall = not kept and self.layout.has_margins and name == self.layout.by[0]
        return cells.rolled_up("overall" if is_overall and not self._is_of_many(row) else "all")

    def _text(self, name: Name, row: int) -> str:
        """Write text that is no key: a null is a segment's value, undefined, or nothing to say."""
        values = self.layout.values
        if values[name][row] is not None:
            return cells.isolated(values[name][row])
        if not str(name).startswith(_OF_EXTREMES) or "lowest" not in values:
            return ""
        return cells.UNDEFINED if values["lowest"][row] is None else cells.isolated(None)

    def _is_of_many(self, row: int) -> bool:
        return self.layout.kind == "check" and is_of_many(self.layout.values["rule"][row])

    @cached_property
    def _whole(self) -> frozenset[Name]:
        """Name the columns of whole numbers; a count beside nulls may be a float in pandas."""

        def is_whole(name: Name, known: list[float]) -> bool:
            if name in _COUNTS or str(name).startswith("n_"):
                return all(float(value).is_integer() for value in known)
            return bool(known) and not any(isinstance(value, float) for value in known)

        columns = {name: self.layout.values[name] for name in self.layout.numbers}
        known = {name: [one for one in some if one is not None] for name, some in columns.items()}
        return frozenset(name for name, values in known.items() if is_whole(name, values))

    def _is_count(self, name: Name, row: int) -> bool:
        """Tell whether a rule on a count is judged in this row."""
        if self.layout.kind != "check" or name != "estimate":
            return False
        rule = rule_of(self.layout.values["rule"][row])
        return rule is not None and rule.metric is None

    def _score(self, name: Name, row: int) -> Score:
        values = self.layout.values
        lower, upper = self.layout.limits.get(name, (None, None))
        return Score(
            values[name][row],
            None if lower is None else values[lower][row],
            None if upper is None else values[upper][row],
            self.axis(name, row),
            self.marks.get((name, row), ""),
            values["bound"][row] if self._has_bound(name) else None,
        )

    def _has_bound(self, name: Name) -> bool:
        return name == "estimate" and "bound" in self.layout.values

    def axis(self, name: Name, row: int) -> Axis | None:
        """Find what the bar of a cell spans; None where it has no bar."""
        values = self.layout.values
        if not self.bars or values[name][row] is None:
            return None
        if name in _OF_RANKING:
            return _UNIT
        metric = self.layout.metric(name, row)
        if metric is None:
            return None
        if self.layout.kind in ("gaps", "compare") and name in ("difference", "ratio"):
            return self._of_differences.get(metric.name) if name == "difference" else None
        low, high = metric.range
        of = self._of_extremes(name, row)
        if of == "ratio":
            return _UNIT
        if not math.isfinite(high - low):
            return None
        return Axis(0, high - low) if of == "difference" else Axis(min(low, 0), max(high, 0))

    def _of_extremes(self, name: Name, row: int) -> str | None:
        """Tell whether a cell is a difference or ratio of the segments furthest apart."""
        values = self.layout.values
        if self.layout.kind == "check":
            rule = rule_of(values["rule"][row])
            return None if rule is None else rule.over
        if self.layout.kind == "fairness" and name == "estimate":
            return str(values["measure"][row])
        return str(name) if name in ("difference", "ratio") else None

    @cached_property
    def _of_differences(self) -> Mapping[str, Axis | None]:
        """Make the axis that the differences of a metric have in common."""
        values, limits = self.layout.values, self.layout.limits.get("difference", ())
        found: dict[str, list[float | None]] = {}
        for row in self.choice.rows:
            metric = self.layout.metric("difference", row)
            if metric is not None:
                found.setdefault(metric.name, []).extend(
                    values[name][row] for name in ("difference", *limits)
                )
        return {name: cells.symmetric(some) for name, some in found.items()}

    def heading(self, row: int) -> str:
        """Write what stands above the rows of a group."""
        values = dict(zip(self.layout.groups, self.layout.group(row), strict=True))
        texts = [
            cells.safe(cells.words(value))
            if name in ("metric", "criterion")
            else cells.isolated(value)
            for name, value in values.items()
        ]
        if "reference" in values:
            texts[:2] = [f"{texts[0]} against {texts[1]}"]
        return " \N{MIDDLE DOT} ".join(texts)

    def label(self, name: Name) -> str:
        """Write the label of a column."""
        return cells.isolated(name) if name in self.layout.by else cells.safe(self._words(name))

    def _words(self, name: Name) -> str:
        """Name a column in words; the estimates of one metric by the metric."""
        of_one = self.layout.kind in ("long", "gaps", "compare", "best_threshold")
        if name == "estimate" and of_one and len(self.layout.metrics) == 1:
            return cells.words(*self.layout.metrics)
        return cells.words(name)

    def notes(self) -> list[str]:
        """Write what a reader has to know of the cells that are shown."""
        found = [self._left_out(), self._limits(), self._worst(), self._axes()]
        shown = {self.cell(name, row) for name in self.layout.shown for row in self.choice.rows}
        if cells.UNDEFINED in shown:
            found.append(f"{cells.UNDEFINED}: undefined.")
        return [note for note in found if note]

    def _left_out(self) -> str:
        n, by = self.choice.n_left_out, self.choice.ranked_by
        if not n:
            return ""
        each = " of each group" if self.layout.groups else ""
        which = f"the first{each}" if by is None else f"the worst and the best{each}"
        ranked = "" if by is None else f" by {cells.safe(cells.words(by)).lower()}, worst first"
        return (
            f"{cells.count(n)} of {cells.count(self.layout.n_rows)} rows are left out; shown are "
            f"{which}{ranked}."
        )

    def _limits(self) -> str:
        if not set(self.layout.limits) & set(self.layout.shown):
            return ""
        methods = {str(one) for one in self.layout.values.get("method", ()) if one is not None}
        by = f", by the method {cells.safe(' and '.join(sorted(methods)))}" if methods else ""
        return f"In brackets: the lower and the upper limit{by}."

    def _worst(self) -> str:
        rows = set(self.choice.rows)
        signs = {sign for (_, row), sign in self.marks.items() if row in rows}
        ends = {LOWEST: "lowest", HIGHEST: "highest"}
        marked = [f"{sign} the {ends[sign]}" for sign in ends if sign in signs]
        return f"Worst by the metric: {', '.join(marked)}." if marked else ""

    def _axes(self) -> str:
        """Say what bars span, and which, if not all of them span the same."""
        names: dict[Axis, list[str]] = {}
        for name in self.scores:
            for row in self.choice.rows:
                axis = self.axis(name, row)
                what = self._drawn(name, row)
                if axis is not None and what not in names.setdefault(axis, []):
                    names[axis].append(what)
        spans = [
            f"from {_end(axis.low)} to {_end(axis.high)}"
            + (f" ({cells.safe(', '.join(drawn))})" if len(names) > 1 else "")
            for axis, drawn in names.items()
        ]
        bound = "; the dark line across is the bound" if "bound" in self.layout.shown else ""
        return f"Bars span the range {', '.join(spans)}{bound}." if spans else ""

    def _drawn(self, name: Name, row: int) -> str:
        """Name what a bar is drawn of."""
        values = self.layout.values
        if self.layout.kind == "check":
            return str(values["rule"][row])
        if name not in _SCORES or "metric" not in values or len(self.layout.metrics) == 1:
            return self._words(name)
        of = cells.words(values["metric"][row])
        return of if name == "estimate" else f"{of}: {cells.words(name).lower()}"


def _end(value: float) -> str:
    return cells.number(value, None)
