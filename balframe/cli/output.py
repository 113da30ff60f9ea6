"""Results to a terminal, a pipe or a file: the options, the formats, and the writing."""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from balframe._atomic_write import check_place, replace
from balframe._lazy_import import LazyModule
from balframe._text import escape_controls
from balframe.cli import process
from balframe.cli.command import FILE, CommandOption, either
from balframe.cli.files.paths import is_same_file
from balframe.errors import InvalidInputError, listed, not_found
from balframe.methods import declarations

if TYPE_CHECKING:
    from balframe.cli import gate_formats, text_columns, text_tables
    from balframe.cli.gate import Gate
else:
    text_columns = LazyModule("balframe.cli.text_columns")
    text_tables = LazyModule("balframe.cli.text_tables")
    gate_formats = LazyModule("balframe.cli.gate_formats")

Provenance = Callable[[pl.DataFrame], Mapping[str, Any]]

PAGE_FORMATS = {"html": (".html", ".htm"), "markdown": (".md", ".markdown")}

_PANEL = "Output"
_FORMULA = r"^(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])"  # how spreadsheets know one
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)$"
_SUMMARY_FILE, _OUTPUTS_FILE = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"  # environment variables


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of results: the endings of its files, and how a frame is written.

    `write` takes the frame, and the options of the output. A format that `is_for_workflows` is read
    from standard output alone, and has a summary in Markdown and outputs of the step beside it.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[pl.DataFrame, "Output"], bytes]
    is_binary: bool = False
    needs_verdicts: bool = False
    is_for_workflows: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What Markdown has beside the rows of a result: a first line, and an order of its own."""

    line: Callable[[pl.DataFrame], str]
    sort: Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Output:
    """How a result is written: the options, and what its verdicts mean, if it has any.

    `provenance` returns the document of verdicts, and is called only to write one. `cells` returns
    the cells that the verdicts were computed from, and is called only to write them.
    """

    format: str | None = None
    out: Path | None = None
    also: Sequence[Path] | None = None
    cells_out: Path | None = None
    sort: Sequence[str] | None = None
    excel_safe: bool = False
    detail: bool = False
    timestamp: str | None = None
    gate: "Gate | None" = None
    provenance: Provenance | None = None
    cells: Callable[[], pl.DataFrame] | None = None
    summary: Summary | None = None

    def check(self) -> OutputFormat:
        """Choose the format, and refuse what could not be written, before any work."""
        file_format = self._format()
        if file_format.needs_verdicts and self.gate is None:
            commands = [name for name, method in declarations().items() if method.statuses]
            raise InvalidInputError(
                f"--format {file_format.name} is only available for the commands "
                f"{' and '.join(commands)}."
            )
        names = [
            file_format.name,
            *(format_by_ending(file, _ENDINGS, "--also") for file in self.also or ()),
        ]
        if self.timestamp is not None:
            if "junit" not in names:
                raise InvalidInputError(
                    f"--timestamp is only for junit, but the output is {listed(names)}. Omit "
                    "it, or give --format junit."
                )
            gate_formats.read_timestamp(self.timestamp)
        if file_format.is_for_workflows and self.out is not None:
            raise InvalidInputError(
                f"--format {file_format.name} is read from standard output, but --out is given. "
                "Omit --out; for a file, give another format."
            )
        if self.excel_safe and "csv" not in names:
            raise InvalidInputError(
                f"--excel-safe is only for csv, but the output is {listed(names)}. Omit it, or "
                "give --format csv."
            )
        if file_format.is_binary and self.out is None and sys.stdout.isatty():
            raise InvalidInputError(
                f"--format {file_format.name} is binary, which a terminal cannot show. Give --out "
                "FILE or redirect the output."
            )
        if self.cells_out is not None:
            format_by_ending(self.cells_out, _CELL_ENDINGS, "--cells-out")
        places = list(self.places())
        for option, place in places:
            if option not in (_SUMMARY_FILE, _OUTPUTS_FILE):
                check_place(place, f"{option} {str(place)!r}")
        check_distinct(places)
        return file_format

    def places(self) -> Iterator[tuple[str, Path]]:
        """List the files that are written, each with the option or the variable that names it."""
        if self.out is not None:
            yield "--out", self.out
        yield from (("--also", file) for file in self.also or ())
        if self.cells_out is not None:
            yield "--cells-out", self.cells_out
        if self._format().is_for_workflows:
            paths = {name: os.environ.get(name) for name in (_SUMMARY_FILE, _OUTPUTS_FILE)}
            yield from ((name, Path(path)) for name, path in paths.items() if path)

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
            self._write_beside(rows)
            if file_format.name == "table" and self.out is None and sys.stdout.isatty():
                text_tables.print_table(rows, sys.stdout, detail=self.detail)
            else:
                _write(file_format.write(rows, self), self.out)
            if file_format.is_for_workflows and self.gate is not None:
                _append(_SUMMARY_FILE, _markdown(rows, self) + b"\n")
                _append(_OUTPUTS_FILE, gate_formats.github_outputs(rows, self.gate))
        except OSError as error:
            _report_write_error(error, self.out)

    def _write_beside(self, rows: pl.DataFrame) -> None:
        """Write the files beside the output: first, so that there is no output where this fails."""
        for file in self.also or ():
            file_format = OUTPUT_FORMATS[format_by_ending(file, _ENDINGS, "--also")]
            write_content(file_format.write(rows, self), file, "--also")
        if self.cells_out is not None and self.cells is not None:
            cell_format = OUTPUT_FORMATS[format_by_ending(self.cells_out, _CELL_ENDINGS)]
            write_content(cell_format.write(self.cells(), Output()), self.cells_out, "--cells-out")


def check_distinct(places: Sequence[tuple[str, Path]]) -> None:
    """Raise if two files that are written are one."""
    for position, (option, path) in enumerate(places):
        for earlier, other in places[:position]:
            if path.resolve() == other.resolve() or is_same_file(path, other):
                raise InvalidInputError(
                    f"{earlier} and {option} are the same file, {str(path)!r}. Give two paths."
                )


def has_format(out: Path) -> bool:
    """Return whether the ending of a file names a format."""
    return out.suffix.lower() in _ENDINGS


def format_by_ending(out: Path, endings: Mapping[str, str], option: str = "--out") -> str:
    """Choose the format by the ending of a file."""
    ending = out.suffix.lower()
    if ending not in endings:
        unsupported = f"ends in {ending!r}, which is not a supported format"
        reason = unsupported if ending else "has no file extension"
        instead = "Give --format, or use" if option == "--out" else "Use"
        raise InvalidInputError(
            f"{option} {str(out)!r} {reason}. {instead} one of the extensions {listed(endings)}."
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


def write_content(content: bytes, out: Path | None, option: str = "--out") -> None:
    """Write to standard output, or to a file as a whole or not at all, and report errors."""
    try:
        _write(content, out)
    except OSError as error:
        _report_write_error(error, out, option)


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        if sys.stdout.isatty():
            content = escape_controls(content.decode(), keep="\t\n").encode()
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        replace(out, content)


def _report_write_error(error: OSError, out: Path | None, option: str = "--out") -> None:
    """Raise that a result cannot be written, or ignore that nobody reads the pipe any more."""
    if isinstance(error, BrokenPipeError):  # what would be written after it is lost too
        process.discard_output()
        return
    if out is None:
        raise process.output_error(error) from error
    raise InvalidInputError(
        f"{option} {str(out)!r} cannot be written: {error.strerror}."
    ) from error


def _table(frame: pl.DataFrame, output: Output) -> bytes:
    return text_tables.table_text(frame, detail=output.detail)


def _markdown(frame: pl.DataFrame, output: Output) -> bytes:
    summary = output.summary
    if summary is not None and not output.sort:
        frame = summary.sort(frame)
    table = text_columns.markdown(frame, detail=output.detail)
    return (table if summary is None else f"{summary.line(frame)}\n\n{table}").encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _json(frame: pl.DataFrame, output: "Output") -> bytes:
    """Write rows as an array, and verdicts with what they were computed from."""
    if output.gate is None or output.provenance is None:
        return _as_texts(frame).write_json().encode() + b"\n"
    document = output.provenance(frame)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # names of files may be any bytes


def _junit(frame: pl.DataFrame, output: "Output") -> bytes:
    assert output.gate is not None
    return gate_formats.junit(frame, output.gate, output.timestamp)


def _github(frame: pl.DataFrame, output: "Output") -> bytes:
    assert output.gate is not None
    return gate_formats.github(frame, output.gate)


def _append(variable: str, content: bytes) -> None:
    """Append to a file of GitHub, such as what it shows on the page of a job, if there is one."""
    path = os.environ.get(variable)
    if not path:
        return
    try:
        with open(path, "ab") as file:
            file.write(content)
    except OSError as error:
        raise InvalidInputError(
            f"the file {path!r}, which {variable} in the environment names, cannot be "
            f"written: {error.strerror}. Correct the variable, or remove it."
        ) from error


def _as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return types as texts that polars does not write to CSV or JSON, or not as they are shown."""
    return frame.with_columns(
        pl.Series(name, [*map(_text, frame[name], _nanoseconds(frame[name]))], pl.String)
        for name, dtype in frame.schema.items()
        if dtype in (pl.Binary, pl.Duration, pl.Time)
    )


def _nanoseconds(column: pl.Series) -> list[int | None]:
    """Return the times and durations of a column in nanoseconds, null for other values."""
    has_them = column.dtype in (pl.Time, pl.Duration("ns"))
    return (
        column.to_physical() if has_them else pl.repeat(None, len(column), eager=True)
    ).to_list()


def _text(value: object, nanoseconds: int | None) -> str | None:
    """Return a value as Python shows it, and the nanoseconds that Python does not have."""
    if value is None or nanoseconds is None or nanoseconds % 1000 == 0:
        return None if value is None else str(value)
    if isinstance(value, timedelta):
        value = timedelta(microseconds=nanoseconds // 1000)
    return f"{value}{'' if '.' in str(value) else '.000000'}{nanoseconds % 1000:03}"


def _csv(frame: pl.DataFrame) -> bytes:
    return _as_texts(frame).write_csv().encode()


def _ndjson(frame: pl.DataFrame) -> bytes:
    return _as_texts(frame).write_ndjson().encode()


_ROWS = (  # in the order of the help
    OutputFormat("table", (".txt",), _table),
    OutputFormat("csv", (".csv",), lambda frame, _: _csv(frame)),
    OutputFormat("json", (".json",), _json),
    OutputFormat("ndjson", (".ndjson", ".jsonl"), lambda frame, _: _ndjson(frame)),
    OutputFormat("markdown", (".md",), _markdown),
    OutputFormat("parquet", (".parquet",), lambda frame, _: _parquet(frame), is_binary=True),
    OutputFormat("junit", (".xml",), _junit, needs_verdicts=True),
    OutputFormat("github", (), _github, needs_verdicts=True, is_for_workflows=True),
)
OUTPUT_FORMATS: Mapping[str, OutputFormat] = {row.name: row for row in _ROWS}
_ENDINGS = {ending: row.name for row in _ROWS for ending in row.endings}
_CELL_FORMATS = ("parquet", "csv", "ndjson", "json")  # that --baseline reads
_CELL_ENDINGS = {ending: name for ending, name in _ENDINGS.items() if name in _CELL_FORMATS}


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


def output_options(*, has_verdicts: bool = False) -> list[CommandOption]:
    """Make the options of a result, with the formats that it can be written in."""
    formats = [row.name for row in _ROWS if has_verdicts or not row.needs_verdicts]
    return [
        _format_option(formats, "table on a terminal and csv otherwise"),
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
        *([_also_option(), _timestamp_option()] if has_verdicts else []),
    ]


def _also_option() -> CommandOption:
    """Make the option for further files."""
    return CommandOption(
        "--also",
        panel=_PANEL,
        help="Also write the verdicts to this file, in the format of its extension. Repeat for "
        "several.",
        metavar="FILE",
        multiple=True,
        type=FILE,
    )


def cells_option() -> CommandOption:
    """Make the option for the file of cells, which a later run is compared with."""
    return CommandOption(
        "--cells-out",
        panel=_PANEL,
        help="Also write the cells of the data to this file, for --baseline of a later run: "
        f"{either(_CELL_FORMATS)}, by its extension.",
        metavar="FILE",
        type=FILE,
    )


def _timestamp_option() -> CommandOption:
    """Make the option of the format of tests."""
    return CommandOption(
        "--timestamp",
        panel=_PANEL,
        help="In junit, the time of the run, as in 2026-03-31T10:00:00Z (ISO 8601). By default "
        "there is none, so that the same verdicts give the same file.",
        metavar="TEXT",
    )


def page_options() -> list[CommandOption]:
    """Make the options of a page."""
    evidence = CommandOption(
        "--evidence",
        panel=_PANEL,
        help="Also write the numbers and sentences of the page to this file, as JSON.",
        metavar="FILE",
        type=FILE,
    )
    return [_format_option(list(PAGE_FORMATS), "html"), _out_option(), evidence]
