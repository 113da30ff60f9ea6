"""Results to a terminal, a pipe or a file: the options, the formats, and the writing."""

import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from balframe._atomic_write import check_place, replace
from balframe._lazy_import import LazyModule
from balframe._text import escape_controls
from balframe.cli import process
from balframe.cli.command import FILE, CommandOption, either
from balframe.errors import InvalidInputError, listed, not_found

if TYPE_CHECKING:
    from balframe.cli import text_tables
else:
    text_tables = LazyModule("balframe.cli.text_tables")

PAGE_FORMATS = {"html": (".html", ".htm"), "markdown": (".md", ".markdown")}

_PANEL = "Output"
_FORMULA = r"^(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])"  # how spreadsheets know one
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)$"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of results: the endings of its files, and how a frame is written.

    `write` takes the frame, and the options of the output.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[pl.DataFrame, "Output"], bytes]
    is_binary: bool = False
    needs_rules: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """How a result is written: the options, and whether it has verdicts of rules."""

    format: str | None = None
    out: Path | None = None
    sort: Sequence[str] | None = None
    excel_safe: bool = False
    detail: bool = False
    level: float = 0.95
    has_rules: bool = False
    allow_inconclusive: bool = False

    def check(self) -> OutputFormat:
        """Choose the format, and refuse what could not be written, before any work."""
        file_format = self._format()
        if file_format.needs_rules and not self.has_rules:
            raise InvalidInputError(
                f"--format {file_format.name} is only available for the command check."
            )
        if self.excel_safe and file_format.name != "csv":
            raise InvalidInputError(
                f"--excel-safe is only for csv, but the output is {file_format.name}. Omit it, or "
                "give --format csv."
            )
        if file_format.is_binary and self.out is None and sys.stdout.isatty():
            raise InvalidInputError(
                f"--format {file_format.name} is binary, which a terminal cannot show. Give --out "
                "FILE or redirect the output."
            )
        if self.out is not None:
            check_place(self.out, f"--out {str(self.out)!r}")
        return file_format

    def _format(self) -> OutputFormat:
        """Choose the format: the option, the ending of the file, or what suits a terminal."""
        if self.format is not None:
            return OUTPUT_FORMATS[self.format]
        if self.out is None:
            return OUTPUT_FORMATS["table" if sys.stdout.isatty() else "csv"]
        return OUTPUT_FORMATS[format_by_ending(self.out, _ENDINGS)]

    def write(self, result: pl.DataFrame) -> None:
        """Sort a result and write it, to a file as a whole or not at all."""
        file_format = self.check()
        try:
            rows = sort_rows(result, self.sort or [])
            rows = without_formulas(rows) if self.excel_safe else rows
            if file_format.name == "table" and self.out is None and sys.stdout.isatty():
                text_tables.print_table(rows, sys.stdout, detail=self.detail, level=self.level)
            else:
                _write(file_format.write(rows, self), self.out)
        except OSError as error:
            _report_write_error(error, self.out)


def format_by_ending(out: Path, endings: Mapping[str, str]) -> str:
    """Choose the format by the ending of a file."""
    ending = out.suffix.lower()
    if ending not in endings:
        unsupported = f"ends in {ending!r}, which is not a supported format"
        reason = unsupported if ending else "has no file extension"
        raise InvalidInputError(
            f"--out {str(out)!r} {reason}. Give --format, or use one of the extensions "
            f"{listed(endings)}."
        )
    return endings[ending]


def check_sort_columns(sort: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the names of columns to sort by, without a minus before them, if there are such."""
    names = [name if name in columns else name.removeprefix("-") for name in sort]
    for name in names:
        if name not in columns:
            raise InvalidInputError(f"--sort: {not_found('column', name, columns)}")
    return names


def sort_rows(frame: pl.DataFrame, sort: Sequence[str]) -> pl.DataFrame:
    """Sort by columns, those with a minus before their name descending; nulls last."""
    names = check_sort_columns(sort, frame.columns)
    if not names:
        return frame
    descending = [name != typed for name, typed in zip(names, sort, strict=True)]
    return frame.sort(names, descending=descending, nulls_last=True, maintain_order=True)


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before texts, and names of columns, that spreadsheets take for formulas."""
    texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    safe = frame.with_columns(
        pl.when(text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER))
        .then("'" + text)
        .otherwise(text)
        .alias(text.name)
        for text in texts
    )
    return safe.rename({name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)})


def write_content(content: bytes, out: Path | None) -> None:
    """Write to standard output, or to a file as a whole or not at all, and report errors."""
    try:
        _write(content, out)
    except OSError as error:
        _report_write_error(error, out)


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        if sys.stdout.isatty():
            content = escape_controls(content.decode(), keep="\t\n").encode()
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        replace(out, content)


def _report_write_error(error: OSError, out: Path | None) -> None:
    """Raise that a result cannot be written, or ignore that nobody reads the pipe any more."""
    if isinstance(error, BrokenPipeError):  # what would be written after it is lost too
        process.discard_output()
        return
    if out is None:
        raise process.output_error(error) from error
    raise InvalidInputError(f"--out {str(out)!r} cannot be written: {error.strerror}.") from error


def _table(frame: pl.DataFrame, output: Output) -> bytes:
    return text_tables.table_text(frame, detail=output.detail, level=output.level)


def _markdown(frame: pl.DataFrame, output: Output) -> bytes:
    return text_tables.markdown(frame, detail=output.detail, level=output.level).encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _junit(frame: pl.DataFrame, output: Output) -> bytes:
    """Write verdicts as tests in the XML of JUnit: failures, and errors that are inconclusive."""
    from xml.etree import ElementTree

    from balframe.methods.gates.require import format_baseline_difference

    statuses = frame.get_column("status").to_list()
    n_inconclusive = statuses.count("inconclusive")
    suite = ElementTree.Element(
        "testsuite",
        name="balframe check",
        tests=str(len(statuses)),
        failures=str(statuses.count("fail")),
        errors=str(0 if output.allow_inconclusive else n_inconclusive),
        skipped=str(n_inconclusive if output.allow_inconclusive else 0),
    )
    by = frame.columns[: frame.columns.index("rule")]
    for row in frame.to_dicts():
        segment = ", ".join(f"{name}={text_tables.format_value(row[name])}" for name in by)
        limits = (row["estimate"], row["lower"], row["upper"])
        estimate = (
            format_baseline_difference(row) or text_tables.format_estimate(*limits) or "undefined"
        )
        note = None if "note" in by else row.get("note")
        if note:
            estimate = f"{estimate} ({note})"
        has_reason = "reason" not in by and row.get("reason")
        reason = f" ({row['reason']})" if has_reason else ""
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_legal_in_xml(row["rule"]),
            name=_legal_in_xml(segment or "all rows"),
        )
        message = _legal_in_xml(f"{row['rule']}: {estimate}{reason}")
        if row["status"] == "fail":
            ElementTree.SubElement(case, "failure", message=message)
        elif row["status"] == "inconclusive":
            tag = "skipped" if output.allow_inconclusive else "error"
            ElementTree.SubElement(case, tag, message=f"inconclusive: {message}")
        elif note:
            ElementTree.SubElement(case, "system-out").text = _legal_in_xml(note)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _legal_in_xml(text: str) -> str:
    """Replace what XML cannot contain."""
    return _NOT_IN_XML.sub("\ufffd", text)


_ROWS = (  # in the order of the help
    OutputFormat("table", (".txt",), _table),
    OutputFormat("csv", (".csv",), lambda frame, _: frame.write_csv().encode()),
    OutputFormat("json", (".json",), lambda frame, _: frame.write_json().encode() + b"\n"),
    OutputFormat("ndjson", (".ndjson", ".jsonl"), lambda frame, _: frame.write_ndjson().encode()),
    OutputFormat("markdown", (".md",), _markdown),
    OutputFormat("parquet", (".parquet",), lambda frame, _: _parquet(frame), is_binary=True),
    OutputFormat("junit", (".xml",), _junit, needs_rules=True),
)
OUTPUT_FORMATS: Mapping[str, OutputFormat] = {row.name: row for row in _ROWS}
_ENDINGS = {ending: row.name for row in _ROWS for ending in row.endings}


def _format_option(names: Sequence[str], default_text: str) -> CommandOption:
    """Make the option that chooses a format."""
    return CommandOption(
        "--format",
        panel=_PANEL,
        help=f"One of {either(names)}. By default it follows from the file extension of --out; "
        f"without --out, it is {default_text}.",
        metavar="FORMAT",
        type=click.Choice(names),
    )


def _out_option() -> CommandOption:
    return CommandOption(
        "--out",
        panel=_PANEL,
        help="Write to this file instead of standard output.",
        metavar="FILE",
        type=FILE,
    )


def output_options() -> list[CommandOption]:
    """Make the options of a result."""
    return [
        _format_option(list(OUTPUT_FORMATS), "table on a terminal and csv otherwise"),
        _out_option(),
        CommandOption(
            "--sort",
            panel=_PANEL,
            help="Sort by this column of the table; -COLUMN sorts in descending order. Repeat for "
            "several.",
            metavar="COLUMN",
            multiple=True,
        ),
        CommandOption(
            "--excel-safe",
            panel=_PANEL,
            help="In csv, put an apostrophe before text that a spreadsheet would run as a formula: "
            "text that begins with =, +, - or @.",
            is_flag=True,
        ),
    ]


def page_options() -> list[CommandOption]:
    """Make the options of a page."""
    return [_format_option(list(PAGE_FORMATS), "html"), _out_option()]
