"""What the verdicts of a command mean for a pipeline: which decide, and what each comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import polars as pl

from balframe._lazy_import import LazyModule
from balframe.api.columns import ESTIMATE, NOTE, Statuses
from balframe.frames.query import MODEL, N
from balframe.methods.gates.require import format_baseline_difference, has_judged_rows
from balframe.methods.gates.verdicts import is_warning

if TYPE_CHECKING:
    from balframe.cli import text_columns
else:
    text_columns = LazyModule("balframe.cli.text_columns")


class Outcome(Enum):
    """What a verdict comes to: the exit code is that of the worst."""

    PASSED = "passes"
    FAILED = "fails"
    UNDECIDED = "is inconclusive, and the command ends with exit code 3"
    TOLERATED = "is inconclusive, and the exit code does not depend on it"
    WARNED = "does not pass, but its rule only warns"


@dataclass(frozen=True, slots=True)
class Case:
    """A verdict that decides: `rule` is a rule or a metric, `note` is None if there is none."""

    rule: str
    segment: str
    status: str
    message: str
    note: str | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Gate:
    """How the verdicts of a command are judged: the texts of its status, and its option."""

    command: str
    statuses: Statuses
    allow_inconclusive: bool

    def last_value(self, result: pl.DataFrame) -> str | None:
        """Return the last value of the key on which the exit code depends, if there is one."""
        key = self.statuses.last_key
        return None if key is None or result.is_empty() else str(result.get_column(key).max())

    def deciding_rows(self, result: pl.DataFrame) -> pl.DataFrame:
        """Return the verdicts on which the exit code depends."""
        last, key = self.last_value(result), self.statuses.last_key
        return result if last is None else result.filter(pl.col(str(key)).cast(pl.String) == last)

    def split_warnings(self, result: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the verdicts of rules that only warn, and the others."""
        is_warned = pl.Series([is_warning(row) for row in result.to_dicts()], dtype=pl.Boolean)
        return result.filter(is_warned), result.filter(~is_warned)

    def has_judged_rows(self, result: pl.DataFrame) -> bool:
        """Return whether a verdict is on rows of the data; none is if the files have no rows."""
        return not result.is_empty() and (
            self.statuses.last_key is not None or has_judged_rows(result)
        )

    def outcomes(self, result: pl.DataFrame) -> list[Outcome]:
        """Return what each of the verdicts that decide comes to."""
        return [self._outcome(row) for row in self.deciding_rows(result).to_dicts()]

    def cases(self, result: pl.DataFrame) -> list[Case]:
        """Return the verdicts that decide, in words."""
        rows = self.deciding_rows(result).to_dicts()
        if self.statuses.last_key is None:
            by = result.columns[: result.columns.index("rule")]
            return [self._case_of_rule(row, by) for row in rows]
        before = result.columns.index(self.statuses.last_key)
        has_models = result.columns[before + 1] == MODEL
        by = [*result.columns[:before], *([MODEL] if has_models else [])]
        return [self._case_of_metric(row, by) for row in rows]

    def _outcome(self, row: Mapping[str, Any]) -> Outcome:
        if is_warning(row) and row["status"] != self.statuses.good:
            return Outcome.WARNED
        if row["status"] != self.statuses.undecided:
            return Outcome.FAILED if row["status"] == self.statuses.bad else Outcome.PASSED
        has_last_key = self.statuses.last_key is not None
        is_tolerated = self.allow_inconclusive or (has_last_key and row[N] != 0)
        return Outcome.TOLERATED if is_tolerated else Outcome.UNDECIDED

    def _case_of_rule(self, row: Mapping[str, Any], by: Sequence[str]) -> Case:
        """Return the verdict of `check` on a segment and rule."""
        limits = (row[ESTIMATE], row["lower"], row["upper"])
        evidence = (
            format_baseline_difference(row) or text_columns.format_estimate(*limits) or "undefined"
        )
        note = None if NOTE in by else row.get(NOTE)
        if note:
            evidence = f"{evidence} ({note})"
        has_reason = "reason" not in by and row.get("reason")
        reason = f" ({row['reason']})" if has_reason else ""
        message = f"{row['rule']}: {evidence}{reason}"
        return self._case(row["rule"], row, by, message, note)

    def _case_of_metric(self, row: Mapping[str, Any], by: Sequence[str]) -> Case:
        """Return the verdict of `monitor` on a segment and metric in the last period."""
        estimate = text_columns.format_estimate(row[ESTIMATE], row["lower"], row["upper"])
        evidence = "no rows" if row[N] == 0 else estimate or "undefined"
        baseline = row["baseline_estimate"]
        parts = [f"{row['metric']} in the period {row[str(self.statuses.last_key)]}: {evidence}"]
        parts += [] if baseline is None else [f"baseline {baseline:.2f}"]
        parts += [f"worse since {row['since']}"] if row["status"] == self.statuses.bad else []
        return self._case(row["metric"], row, by, ", ".join(parts), None)

    def _case(
        self, rule: str, row: Mapping[str, Any], by: Sequence[str], message: str, note: str | None
    ) -> Case:
        segment = ", ".join(f"{name}={text_columns.format_value(row[name])}" for name in by)
        return Case(rule, segment or "all rows", row["status"], message, note, self._outcome(row))
