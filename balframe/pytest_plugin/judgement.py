"""What the verdicts of a gate come to, and the text that fails a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from balframe.cli.text_columns import plain_text, table_columns
from balframe.frames.adapter import Name
from balframe.frames.convert_result import frame_from_lists
from balframe.methods.gates.require import NO_VERDICT, count_failures, passed, worst_first
from balframe.methods.gates.verdicts import is_warning
from balframe.tables.layout import read_values

_MAX_ROWS = 20
_WIDTH = 72  # of 80 characters: pytest puts 8 before each line

Verdict = Mapping[Name, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of a call in a test, with its options.

    `rows` are the verdicts as dicts. Those that are `undecided` are inconclusive and not allowed.
    Verdicts of rules that only warn are `warned`, if they do not pass, and count nowhere else.
    """

    test: str
    number: int
    options: Mapping[str, Any]
    verdicts: object
    rows: Sequence[Verdict]
    failed: Sequence[Verdict]
    undecided: Sequence[Verdict]
    warned: Sequence[Verdict]
    is_passed: bool

    @classmethod
    def of(
        cls,
        test: str,
        number: int,
        options: Mapping[str, Any],
        verdicts: object,
        *,
        allow_inconclusive: bool,
    ) -> "Judgement":
        """Judge verdicts as `require` does."""
        values = read_values(verdicts)
        rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
        deciding = [row for row in rows if not is_warning(row)]
        inconclusive = _with_status(deciding, "inconclusive")
        return cls(
            test,
            number,
            options,
            verdicts,
            rows,
            _with_status(deciding, "fail"),
            [] if allow_inconclusive else inconclusive,
            [row for row in rows if is_warning(row) and row["status"] != "pass"],
            passed(verdicts, allow_inconclusive=allow_inconclusive),
        )

    @property
    def deciding(self) -> Sequence[Verdict]:
        """Return the verdicts of rules that do not only warn."""
        return [row for row in self.rows if not is_warning(row)]

    @property
    def outcome(self) -> str:
        """Return "passed", "failed" or "inconclusive"; without any verdict, a gate is failed."""
        if self.is_passed:
            return "passed"
        return "failed" if self.failed or not self.rows else "inconclusive"

    def record(self) -> dict[str, Any]:
        """Return what the summary and the index of a report need, as JSON can hold it."""
        counts = {
            status: len(_with_status(self.deciding, status))
            for status in ("pass", "fail", "inconclusive")
        }
        return {
            "test": self.test,
            "number": self.number,
            "outcome": self.outcome,
            **counts,
            "warnings": len(self.warned),
        }

    def sentence(self) -> str:
        """Return how many verdicts do not pass, or that all do."""
        if not self.rows:
            return NO_VERDICT
        if not self.is_passed and not self.failed and not self.undecided:
            return NO_VERDICT
        if not self.is_passed:
            return f"{count_failures(self.failed, self.undecided, len(self.deciding))}."
        n_passes = len(_with_status(self.deciding, "pass"))
        return f"{n_passes} of {len(self.deciding)} verdicts pass, and none fails."

    def failure_text(self) -> str:
        """Return the table of verdicts below a sentence.

        If there are many, it has only those that do not pass, the worst first.
        """
        if not self.failed and not self.undecided:
            return NO_VERDICT
        rows, rest = self.rows, ""
        if len(rows) > _MAX_ROWS:
            worst = worst_first(self.failed, self.undecided)
            rows, n_more = worst[:_MAX_ROWS], len(worst) - _MAX_ROWS
            rest = f"\n\nand {n_more} more that do not pass" if n_more > 0 else ""
        # The bound is in the rule.
        columns = [
            column
            for column in table_columns(polars_frame(rows), detail=False)
            if column.name != "bound"
        ]
        return f"{self.sentence()}\n\n{plain_text(columns, _WIDTH)}{rest}"


def _with_status(rows: Sequence[Verdict], status: str) -> list[Verdict]:
    return [row for row in rows if row["status"] == status]


def polars_frame(rows: Sequence[Verdict]) -> pl.DataFrame:
    """Return verdicts as a frame of polars, which tables of text are made of."""
    names = list(rows[0]) if rows else []
    return frame_from_lists({}, {str(name): [row[name] for row in rows] for name in names})
