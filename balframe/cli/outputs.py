"""Answers to a terminal, a pipe or a file."""

import io
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from xml.etree import ElementTree

import polars as pl
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from balframe.errors import InvalidInputError, UnknownNameError, listed, not_found
from balframe.metrics.registry import find
from balframe.verbs.layouts import limits_among

_ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".md": "markdown",
    ".parquet": "parquet",
    ".xml": "junit",
    ".txt": "table",
}
_STATUS_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
_WORST = "bold red"
_BOUNDS = ("bound", "threshold")
_ENDLESS = 1_000_000  # characters: no terminal is as wide


def format_of(asked: str | None, out: Path | None) -> str:
    """Choose the format: as asked, by the ending of the file, a table on a terminal, else csv."""
    if asked is not None:
        return asked
    if out is None:
        return "table" if sys.stdout.isatty() else "csv"
    ending = out.suffix.lower()
    if ending not in _ENDINGS:
        has = f"ends in {ending!r}" if ending else "has no ending"
        raise InvalidInputError(
            f"--out {str(out)!r} {has}, which tells no format; give --format, or one of the "
            f"endings {listed(_ENDINGS)}."
        )
    return _ENDINGS[ending]


def check(kind: str, out: Path | None, *, of_rules: bool) -> None:
    """Refuse, before any work, what could not be written."""
    if kind == "junit" and not of_rules:
        raise InvalidInputError("--format junit is for `check`, whose rules are its tests.")
    if kind == "parquet" and out is None and sys.stdout.isatty():
        raise InvalidInputError("--format parquet is not for a terminal; give --out, or a pipe.")
    if out is not None and out.is_dir():
        raise InvalidInputError(f"--out {str(out)!r} is a folder; give the path of a file.")
    if out is not None and not out.parent.is_dir():
        raise InvalidInputError(f"--out {str(out)!r}: there is no folder {str(out.parent)!r}.")


def sort_columns(sort: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Take the minus from before names of columns, and check that there are such."""
    names = [name if name in columns else name.removeprefix("-") for name in sort]
    for name in names:
        if name not in columns:
            raise InvalidInputError(f"--sort: {not_found('column', name, columns)}")
    return names


def in_order(frame: pl.DataFrame, sort: Sequence[str]) -> pl.DataFrame:
    """Sort by columns, those with a minus before their name descending; nulls last."""
    names = sort_columns(sort, frame.columns)
    descending = [name != given for name, given in zip(names, sort, strict=True)]
    if not names:
        return frame
    return frame.sort(names, descending=descending, nulls_last=True, maintain_order=True)


def write(frame: pl.DataFrame, kind: str, out: Path | None, *, may_be_unknown: bool) -> None:
    """Write an answer in a format, to a file as a whole or not at all."""
    if kind == "table" and out is None:
        _print_table(frame, sys.stdout)
        return
    writers: Mapping[str, Callable[[], bytes]] = {
        "table": lambda: _table_text(frame),
        "csv": lambda: frame.write_csv().encode(),
        "json": lambda: frame.write_json().encode() + b"\n",
        "ndjson": lambda: frame.write_ndjson().encode(),
        "markdown": lambda: _markdown(frame).encode(),
        "parquet": lambda: _parquet(frame),
        "junit": lambda: _junit(frame, may_be_unknown=may_be_unknown),
    }
    content = writers[kind]()
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        _replace(out, content)


def _replace(out: Path, content: bytes) -> None:
    """Write beside the file and rename, so that no half of it is ever seen."""
    if out.exists() and not out.is_file():  # a device or a named pipe stays what it is
        out.write_bytes(content)
        return
    out = out.resolve()  # a link stays one
    mask = os.umask(0)
    os.umask(mask)
    mode = out.stat().st_mode & 0o777 if out.exists() else 0o666 & ~mask
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as part:
        try:
            part.write(content)
            part.close()
            os.chmod(part.name, mode)
            os.replace(part.name, out)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def _table_text(frame: pl.DataFrame) -> bytes:
    text = io.StringIO()
    _print_table(frame, text)
    return text.getvalue().encode()


def _print_table(frame: pl.DataFrame, file: TextIO) -> None:
    """Print all of it; on a terminal that is too narrow, in blocks of columns."""
    console = Console(file=file)
    columns = _shown(frame)
    blocks = _blocks(columns, console.width) if console.is_terminal else [columns]
    for number, block in enumerate(blocks):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in block:
            table.add_column(
                Text(_one_line(column.name)),
                justify="right" if column.is_number else "left",
                no_wrap=True,
            )
        for row in range(frame.height):
            table.add_row(
                *(Text(_one_line(one.texts[row]), one.styles.get(row, "")) for one in block)
            )
        if number:
            console.print()
        width = Console(file=file, width=_ENDLESS).measure(table).maximum
        Console(file=file, width=max(width, 1)).print(table)


def _blocks(columns: Sequence["_Column"], width: int) -> list[list["_Column"]]:
    """Split columns into blocks that fit, each with the columns that tell the rows apart."""
    names = [column.name for column in columns]
    ends = [names.index(name) for name in ("n", "support") if name in names]
    ends = ends or [names.index(name) + 1 for name in ("rule", "metric", "name") if name in names]
    end = min(ends, default=1)
    keys = [one for place, one in enumerate(columns) if place < end or one.name == "metric"]
    widths = {column.name: column.width + 2 for column in columns}
    blocks: list[list[_Column]] = []
    for column in columns:
        if column in keys:
            continue
        if not blocks or sum(widths[one.name] for one in [*blocks[-1], column]) - 2 > width:
            blocks.append([*keys])
        blocks[-1].append(column)
    return blocks if len(blocks) > 1 else [list(columns)]


def _one_line(text: str) -> str:
    """Write control characters out, which would break the table or steer the terminal."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)


def _markdown(frame: pl.DataFrame) -> str:
    columns = _shown(frame)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    escaped = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", ">": "&gt;"})
    rows = [
        line([column.texts[row].translate(escaped) for column in columns])
        for row in range(frame.height)
    ]
    header = line([column.name.translate(escaped) for column in columns])
    rule = line(["---:" if column.is_number else "---" for column in columns])
    return "\n".join([header, rule, *rows]) + "\n"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is shown: the text of each cell, and the style of some."""

    name: str
    texts: Sequence[str]
    is_number: bool
    styles: Mapping[int, str]

    @property
    def width(self) -> int:
        """Count the places on a terminal that the widest cell takes."""
        return max(map(cell_len, (_one_line(text) for text in (self.name, *self.texts))))


def _shown(frame: pl.DataFrame) -> list[_Column]:
    """Put limits into the cells of what they are limits of."""
    limits = limits_among(frame.columns)
    inside = {name for pair in limits.values() for name in pair}
    columns = []
    for name in frame.columns:
        if name in inside:
            continue
        values = frame.get_column(name)
        if name in limits:
            lower, upper = (frame.get_column(limit).to_list() for limit in limits[name])
            texts = [_with_limits(*one) for one in zip(values.to_list(), lower, upper, strict=True)]
        else:
            show = _number if name in _BOUNDS else _text
            texts = [show(value) for value in values.to_list()]
        columns.append(_Column(name, texts, values.dtype.is_numeric(), _styles(frame, name)))
    return columns


def _with_limits(value: float | None, lower: float | None, upper: float | None) -> str:
    if value is None or lower is None or upper is None:
        return _text(value)
    if lower == upper == value and float(value).is_integer():
        return f"{value:.0f}"  # a count
    return f"{value:.2f} [{lower:.2f}, {upper:.2f}]"


def _number(value: float | None) -> str:
    """Show a number as it was given."""
    return "" if value is None else f"{value:.15g}"


def _text(value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if value == 0 or 0.0005 <= abs(value) < 1e6:
        return f"{value:.3f}"
    return f"{value:.3g}"


def _styles(frame: pl.DataFrame, name: str) -> dict[int, str]:
    """Mark verdicts, and the segment that scores worst."""
    values = frame.get_column(name).to_list()
    if name == "status":
        return {row: _STATUS_STYLES[value] for row, value in enumerate(values)}
    try:
        better = find(name).better
    except (UnknownNameError, InvalidInputError):
        return {}
    known = {row: value for row, value in enumerate(values) if value is not None}
    if better is None or len(set(known.values())) < 2 or not _are_numbers(known.values()):
        return {}
    worst = min(known.values()) if better == "higher" else max(known.values())
    return {row: _WORST for row, value in known.items() if value == worst}


def _are_numbers(values: Any) -> bool:  # noqa: ANN401
    return all(isinstance(value, (int, float)) and not math.isnan(value) for value in values)


def _junit(frame: pl.DataFrame, *, may_be_unknown: bool) -> bytes:
    """Write every verdict as a test: those that fail are failures, undecided ones are errors."""
    statuses = frame.get_column("status").to_list()
    unknown = "skipped" if may_be_unknown else "error"
    suite = ElementTree.Element(
        "testsuite",
        name="balframe check",
        tests=str(len(statuses)),
        failures=str(statuses.count("fail")),
        errors=str(0 if may_be_unknown else statuses.count("inconclusive")),
        skipped=str(statuses.count("inconclusive") if may_be_unknown else 0),
    )
    by = frame.columns[: frame.columns.index("rule")]
    for row in frame.to_dicts():
        where = ", ".join(f"{name}={_text(row[name])}" for name in by)
        found = _with_limits(row["estimate"], row["lower"], row["upper"]) or "undefined"
        has_reason = "reason" not in by and row.get("reason")
        reason = f" ({row['reason']})" if has_reason else ""
        case = ElementTree.SubElement(
            suite, "testcase", classname=_legal(row["rule"]), name=_legal(where or "all rows")
        )
        message = _legal(f"{row['rule']}: {found}{reason}")
        if row["status"] == "fail":
            ElementTree.SubElement(case, "failure", message=message)
        elif row["status"] == "inconclusive":
            ElementTree.SubElement(case, unknown, message=f"inconclusive: {message}")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _legal(text: str) -> str:
    """Replace what XML cannot hold."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
