"""Names of files to one lazy frame: what format they have, and how their text is separated."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from balframe._progress import busy
from balframe.cli.files import csv_dialect, first_bytes, formats
from balframe.cli.files.column_types import (
    NO_ROLES,
    Roles,
    read_names,
    read_numbers,
    with_given_types,
    without_null_words,
)
from balframe.cli.files.concat_files import Files, check_labels, concat_files, path_texts
from balframe.cli.files.csv_dialect import Dialect, header_names, is_compressed
from balframe.cli.files.formats import FORMATS, Format
from balframe.cli.files.logs import scan_logs
from balframe.cli.files.null_hints import check_null_words, check_numbers
from balframe.cli.files.paths import (
    Location,
    SourceFile,
    is_same_file,
    is_url,
    list_files,
    may_be_pattern,
    open_sources,
)
from balframe.cli.files.read_errors import (
    EMPTY,
    MORE_FIELDS,
    READ_ERRORS,
    ContentError,
    is_read_error,
    naming_files,
)
from balframe.cli.files.unknown_types import read_known_types
from balframe.errors import InvalidInputError, UnknownNameError, listed, not_found, warn
from balframe.frames.eval_logs.read import EvalOptions
from balframe.frames.history.run_table import is_table

# How many fields the lines of a text have: none may have more than the header.
#
# Polars reports such a line only if a query reads all columns. Otherwise its values would be read
# from the wrong columns.


_BLOCK_SIZE = 2**18  # bytes
_PAIR_OF_QUOTES = re.compile(rb'"[^"\n]*"')


def check_field_counts(location: Location, separator: str) -> None:
    """Raise where a line has more fields than the header."""
    n_names = len(header_names(location, separator))
    if is_url(location) or is_compressed(location):
        _read_all_fields(location, separator)
        return
    too_many, n_lines = separator.encode() * n_names, 0
    for marks in _marks(location, separator):
        outside = _PAIR_OF_QUOTES.sub(b"", marks)
        is_unpaired = b'"' in outside
        if not is_unpaired and (position := outside.find(too_many)) >= 0:
            line = n_lines + outside.count(b"\n", 0, position) + 1
            raise ContentError(f"line {line:,} {MORE_FIELDS}")
        has_quotes = len(outside) < len(marks)  # which may be part of fields that are not quoted
        if is_unpaired or (has_quotes and too_many in marks.replace(b'"', b"")):
            _read_all_fields(location, separator)
            return
        n_lines += marks.count(b"\n")


def _marks(location: Location, separator: str) -> Iterator[bytes]:
    """Read the separators, quotes and ends of whole lines, and leave out all other bytes."""
    marks = separator.encode() + b'"\n'
    others = bytes(byte for byte in range(256) if byte not in marks)
    rest = b""
    with open(location, "rb") as file:
        while block := file.read(_BLOCK_SIZE):
            lines, end, rest = (rest + block.translate(None, others)).rpartition(b"\n")
            yield lines + end
    yield rest


def _read_all_fields(location: Location, separator: str) -> None:
    """Read all columns as texts, because quoted fields may contain separators and ends of lines."""
    rows = pl.scan_csv(
        location,
        separator=separator,
        infer_schema=False,
        encoding="utf8-lossy",
        glob=may_be_pattern(location),
    )
    rows.select(pl.all().null_count()).collect(engine="streaming")


@dataclass(frozen=True, slots=True)
class Input:
    """What to read: names of files, and the options that describe them.

    `columns` are those that the command names, with their `roles`: files have to agree about those.
    `null_values` are texts without a value. `out` is the file that the result replaces, and
    `others` are files beside the rows that the command reads, such as one that `is_beside` them.
    `evals` has the options of logs of evaluations.
    """

    names: Sequence[str]
    format: str | None = None
    separator: str | None = None
    columns: Collection[str] = ()
    out: Path | None = None
    others: Sequence[str] = ()
    null_values: Sequence[str] = ()
    roles: Roles = NO_ROLES
    is_beside: bool = False
    evals: EvalOptions | None = None

    def accepts(self, path: Path) -> bool:
        """Return whether a file of a folder is read."""
        file_format = formats.format_by_ending(path)
        if self.format is not None:  # which chooses among the files of a folder
            return file_format is None or file_format.name == self.format
        return file_format is not None


@dataclass(frozen=True, slots=True)
class OpenInput:
    """The rows of files, and how much there is to read of them."""

    rows: pl.LazyFrame
    files: Files

    def check_field_counts(self) -> None:
        """Raise where a line of text with separators has more fields than its header."""
        if self.files.format.has_separator:
            for source in self.files.sources:
                with self.files.naming(source):
                    check_field_counts(source.location, self.files.dialect.separator)

    def progress_text(self) -> str:
        """Return what is being done while a query runs."""
        with suppress(*READ_ERRORS):  # of a file of another schema, which the query reports better
            return f"counting {self.files.size_text()}".rstrip()
        return "counting"


def check_not_overwritten(request: Input, out: Path | None, option: str = "--out") -> None:
    """Raise if what is written would replace a file that is read, before any is."""
    if out is None or not out.is_file():
        return
    others = [name for name in request.others if Path(name).exists()]
    for name in [*request.names, *others]:
        if any(is_same_file(out, file) for file in list_files(name, request.accepts)):
            raise InvalidInputError(
                f"{option} {str(out)!r} is a file that this command reads, and would be "
                "overwritten. Give another path."
            )


@contextmanager
def open_input(request: Input) -> Iterator[OpenInput]:
    """Scan files as one frame; an error in reading them, now or later, names those that fail."""
    skipped: list[Path] = []

    def is_accepted(path: Path) -> bool:
        is_read = request.accepts(path)
        if not is_read and request.format is None:
            skipped.append(path)
        return is_read

    with open_sources(request.names, is_accepted) as sources:
        _warn_of_skipped(skipped)
        logs = scan_logs(
            request.names, sources, request.format, request.evals, request.roles.groups
        )
        if logs is not None:
            yield OpenInput(logs, Files(FORMATS["eval"], sources, Dialect()))
            return
        file_format = FORMATS[
            _common(sources, "format", lambda source: _format(source, request).name)
        ]
        dialect = _dialect(file_format, sources, request)
        files = Files(file_format, sources, dialect, request.columns)
        with files.naming(*sources):
            rows = _concat(files, request)
            with _naming_first_unreadable(files, rows, request.columns):
                opened = OpenInput(rows, files)
                if request.columns:  # whose values are read
                    with busy(lambda: "checking the lines"):
                        opened.check_field_counts()
                    opened = replace(opened, rows=_with_types(rows, files, request))
                yield opened


def _concat(files: Files, request: Input) -> pl.LazyFrame:
    """Scan all files; words that look like nulls explain why types differ."""
    try:
        return concat_files(files, request.columns)
    except InvalidInputError:
        for source in files.sources if files.format.has_separator else ():
            rows, separator = files.scan([source.location]), files.dialect.separator
            check_null_words(rows, [source], separator, request.columns, ())
        raise


def _with_types(rows: pl.LazyFrame, files: Files, request: Input) -> pl.LazyFrame:
    """Give columns the types of their roles; words that look like nulls explain why one is text."""
    roles, schema, is_csv = request.roles, rows.collect_schema(), files.format.has_separator
    unknown = [name for name in roles.types if name not in schema]
    if unknown and not request.is_beside:
        raise UnknownNameError("--type: {}", not_found("column", unknown[0], schema.names()))
    types = {name: kind for name, kind in roles.types.items() if name in schema}
    rows, texts = with_given_types(rows, types), roles.name_columns(request.columns)
    if is_csv and len(files.sources) > 1:
        check_labels(files, [name for name in roles.labels if name in texts])
    if not is_csv:
        columns = [*request.columns, *texts]
        rows, texts = without_null_words(rows, columns, request.null_values)
        rows = read_numbers(rows, [name for name in texts if name in roles.numbers])
    names = [name for name in texts if name not in roles.numbers]
    rows = read_names(rows, names, roles.labels, roles.searched if is_csv else ())
    if is_csv:
        others = [name for name in files.dialect.text_columns if name not in {*names, *types}]
        rows = read_numbers(rows, others, stay_distinct=True)
    separator = files.dialect.separator if is_csv else ""
    if not files.format.has_types:
        in_paths = {name for source in files.sources for name in path_texts(source.location)}
        columns = [name for name in request.columns if name not in {*types, *in_paths}]
        check_null_words(rows, files.sources, separator, columns, roles.groups)
    numbers = [name for name in roles.numbers if name not in roles.texts_too]
    check_numbers(rows, files.sources, separator, numbers)
    return rows


@contextmanager
def _naming_first_unreadable(
    files: Files, rows: pl.LazyFrame, columns: Collection[str]
) -> Iterator[None]:
    """Where several files of text cannot be read, read each alone, and name the first that fails.

    Types are inferred from the beginning, so that a later value may turn out to be of another.
    """
    try:
        yield
    except (*READ_ERRORS, InvalidInputError) as error:
        if is_read_error(error) and files.format.has_types:
            for source in files.sources:
                with files.naming(source):
                    read_known_types([source.location], columns)  # raises for repeated names
        if is_read_error(error) and len(files.sources) > 1 and files.format.is_text:
            schema = rows.collect_schema()
            types = {name: schema[name] for name in schema if name in columns}
            for source in files.sources:
                with files.naming(source):
                    _read_columns(files, source, types)
        raise


def _read_columns(files: Files, source: SourceFile, types: Mapping[str, pl.DataType]) -> None:
    """Read columns of a file to its end, as types that all files agree on."""
    names = files.scan([source.location]).collect_schema().names()
    types = {name: dtype for name, dtype in types.items() if name in names}
    query = files.scan([source.location], types).select(pl.col(*types).null_count())
    query.collect(engine="streaming")


def _warn_of_skipped(paths: Sequence[Path]) -> None:
    """Warn of the files of folders whose endings stand for no format."""
    if paths:
        endings = sorted({path.suffix or "no ending" for path in paths})
        files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
        warn(
            f"{files} of folders left out, whose endings stand for no format: "
            f"{listed(endings, 5)}. Give a pattern without them, or --input-format to read them."
        )


def _format(source: SourceFile, request: Input) -> Format:
    """Find the format of a file: the one requested, or by its ending, or by its content."""
    location = source.location
    requested = None if request.format is None else FORMATS[request.format]
    file_format = requested or formats.format_by_ending(location)
    if is_url(location):  # which is not read before the query
        if file_format is None:
            raise formats.unknown_ending(location)
        formats.check_url(file_format, location)
        return file_format
    path = Path(location)
    if is_table(path):
        return FORMATS["delta"]
    first_bytes.check_content(path)
    if requested is None and source.is_copy:
        return first_bytes.recognize_format(path)
    if file_format is None and first_bytes.format_by_magic(path) is None:
        raise formats.unknown_ending(path)
    if file_format is not None and not file_format.is_text and path.stat().st_size == 0:
        raise ContentError(EMPTY)
    content = first_bytes.contradicting_format(path, file_format)
    if file_format is not None and content is not None and content != file_format:
        message = (
            f"{source.name} has a {file_format.name} file extension, but contains {content.name}."
        )
        if requested is not None:
            message = f"{source.name} contains {content.name}, not {file_format.name}."
        raise InvalidInputError(f"{message} Give --input-format {content.name}.")
    return file_format or content or FORMATS["csv"]


def _dialect(file_format: Format, sources: Sequence[SourceFile], request: Input) -> Dialect:
    """Find how the text of all files is separated."""
    if not file_format.has_separator:
        if request.separator is not None:
            raise InvalidInputError(
                f"--separator is only for csv, but the input is {file_format.name}. Omit it."
            )
        if request.null_values and file_format.has_types and not request.is_beside:
            raise InvalidInputError(
                f"--null is only for csv, JSON and xlsx, but the input is {file_format.name}, "
                "which has nulls of its own. Omit it."
            )
        return Dialect()
    if request.separator is not None:
        separator = csv_dialect.read_separator_option(request.separator)
    elif file_format.separator is not None:
        separator = file_format.separator
    else:
        separator = _common(
            sources, "separator", lambda source: csv_dialect.detect_separator(source.location)
        )
    for source in sources:
        with naming_files(source.name):
            csv_dialect.check_names(source.location, separator)
    with naming_files(*(source.name for source in sources)):
        locations = [source.location for source in sources]
        header = header_names(sources[0].location, separator)
        texts = request.roles.text_columns(request.columns, header)
        plain = Dialect(separator, null_values=tuple(request.null_values), text_columns=texts)
        return csv_dialect.detect_dialect(locations, plain, request.columns)


def _common(sources: Sequence[SourceFile], what: str, find: Callable[[SourceFile], str]) -> str:
    """Find what all files have to have the same of."""
    names: dict[str, str] = {}
    for source in sources:
        with naming_files(source.name):
            names.setdefault(find(source), source.name)
    if len(names) > 1:
        examples = listed(f"{value!r} in {name}" for value, name in names.items())
        raise InvalidInputError(
            f"the files have more than one {what}: {examples}. Give files with the same {what}."
        )
    return next(iter(names))
