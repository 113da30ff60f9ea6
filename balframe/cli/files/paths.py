"""Names of the command line to files: paths, folders, patterns, URLs, standard input and pipes."""

import errno
import glob
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, BinaryIO, TypeGuard, get_args
from urllib.parse import urlsplit

from balframe._progress import copying
from balframe.cli.files.read_errors import naming_files
from balframe.errors import InvalidInputError, listed
from balframe.frames.history.run_table import is_table
from balframe.stats.base import IntervalMethod

Location = Path | str  # a path, or a URL that polars reads

_BLOCK_SIZE = 2**20  # bytes
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_HTTP = ("http", "https")
_POLARS_SCHEMES = (*_HTTP, "s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf")
_DOWNLOAD_COMMANDS = {
    "http": "curl -fsSL {}",
    "https": "curl -fsSL {}",
    "s3": "aws s3 cp {} -",
    "gs": "gcloud storage cat {}",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file or a Delta table to read: its location, and the name that messages have for it.

    `is_copy` means that the location is that of a copy, whose ending says nothing.
    """

    location: Location
    name: str
    is_copy: bool = False


FileFilter = Callable[[Path], bool]


def is_url(location: Location) -> TypeGuard[str]:
    """Return whether it is a URL that polars reads."""
    return isinstance(location, str) and _scheme(location) in _POLARS_SCHEMES


def _scheme(name: str) -> str | None:
    match = _URL.match(name)
    return None if match is None else match[1].lower()


def path_of(location: Location) -> PurePath:
    """Return a path, or that inside a URL."""
    return PurePosixPath(urlsplit(location).path) if is_url(location) else Path(location)


def may_be_pattern(location: Location) -> bool:
    """Return whether polars may find patterns such as * in a location, as in object stores."""
    return is_url(location) and _scheme(location) not in _HTTP


def download_advice(url: str) -> str:
    """Return what to do about a URL that cannot be read as it is."""
    command = _DOWNLOAD_COMMANDS.get(str(_scheme(url)))
    if command is None:
        return "Download the file, or pipe it to: balframe report -"
    command = command.format(shlex.quote(url))
    return f"Download the file, or pipe it, as in: {command} | balframe report -"


@contextmanager
def open_sources(names: Sequence[str], is_accepted: FileFilter) -> Iterator[list[SourceFile]]:
    """List the files of names; what can be read only once is copied to disk until the end.

    Of the files below a folder, those are listed that `is_accepted` accepts.
    """
    if {*names} == {"-"} and len(names) > 1:
        raise InvalidInputError("'-' is standard input, which is read only once; give '-' once.")
    if "-" in names and len(names) > 1:
        raise InvalidInputError(
            "'-' is standard input, which cannot be combined with files; give one or the other."
        )
    locations = [location for name in names for location in list_files(name, is_accepted)]
    identities = Counter(
        location if is_url(location) else Path(location).resolve() for location in locations
    )
    repeated = next((location for location, n in identities.items() if n > 1), None)
    if repeated is not None:
        raise InvalidInputError(
            f"'{repeated}' is given twice, so its rows would count twice; give it once."
        )
    with ExitStack() as stack:
        yield [_source(location, stack) for location in locations]


def is_same_file(path: Path, location: Location) -> bool:
    """Return whether both are one file, under whatever names; `-` is standard input."""
    if is_url(location):
        return False
    try:
        if str(location) == "-":
            return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
        return os.path.samefile(path, location)
    except (OSError, ValueError):  # a stream without a file, or a file that is gone
        return False


def _source(location: Location, stack: ExitStack) -> SourceFile:
    if str(location) == "-":
        name = "standard input"
        with naming_files(name):
            return SourceFile(_copy_to_disk(sys.stdin.buffer, stack), name, is_copy=True)
    name = f"'{location}'"
    is_on_disk = Path(location).is_file() or is_table(location)
    if is_url(location) or (is_on_disk and not str(location).startswith("/dev/")):
        return SourceFile(location, name)
    with naming_files(name), open(location, "rb") as stream:  # a pipe, as of <(...), or a device
        return SourceFile(_copy_to_disk(stream, stack), name, is_copy=True)


def _copy_to_disk(stream: BinaryIO, stack: ExitStack) -> Path:
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
    with copying() as advance:
        _copy(stream, copy, advance)
    copy.flush()
    return Path(copy.name)


def _copy(stream: BinaryIO, copy: IO[bytes], advance: Callable[[int], None]) -> None:
    """Copy everything; a pipe that does not wait may return None before its end."""
    while (block := stream.read(_BLOCK_SIZE)) != b"":
        if block is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        copy.write(block)
        advance(len(block))


def list_files(name: str, is_accepted: FileFilter) -> Sequence[Location]:
    """List the files that a name stands for, in the order of their names."""
    path = Path(name)
    if name == "-" or (path.exists() and not path.is_dir()):
        return [path]
    if is_url(name):
        return [name]
    if path.is_dir():
        return _files_below(path, is_accepted)
    matches = sorted(map(Path, glob.glob(name, recursive=True)))
    visible = [match for match in matches if not _is_hidden_from(path, match)]
    files = [match for match in visible if not match.is_dir()]
    if files:
        return files
    if not visible:
        raise _no_file(name)
    return [file for folder in visible for file in _files_below(folder, is_accepted)]


def _files_below(folder: Path, is_accepted: FileFilter) -> list[Path]:
    """List the files of a folder and of those in it, but not what Spark and Hive hide.

    A folder that is a Delta table counts as a file, because its log says which files are of it.
    """
    if is_table(folder):
        return [folder]
    files: list[Path] = []
    visited: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(parent))
        if is_table(parent):
            raise InvalidInputError(
                f"the folder '{folder}' has a Delta table in it, '{parent}', whose files are not "
                "read one by one. Give the table, or move it elsewhere."
            )
        folders[:] = [
            name
            for name in sorted(folders)
            if not _is_hidden(name) and os.path.realpath(os.path.join(parent, name)) not in visited
        ]
        files += [Path(parent, name) for name in sorted(names) if not _is_hidden(name)]
    accepted = [file for file in files if is_accepted(file)]
    if not accepted:
        others = f" It contains: {listed([file.name for file in files], 3)}." if files else ""
        raise InvalidInputError(
            f"the folder '{folder}' has no file with a supported extension.{others} Give other "
            "files, or give their format with --input-format."
        )
    return accepted


def _is_hidden(name: str) -> bool:
    """Return whether a name is that of a marker or a checksum, as _SUCCESS and .part.crc are."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_hidden_from(pattern: Path, match: Path) -> bool:
    """Return whether a part that a pattern only happens to match is hidden."""
    parts = pattern.parts
    start = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    names_hidden = any(map(_is_hidden, parts[start:]))
    return not names_hidden and any(map(_is_hidden, match.parts[start:]))


def _no_file(name: str) -> InvalidInputError:
    """Return the error that a name stands for no file."""
    scheme = _scheme(name)
    if scheme == "file":
        return InvalidInputError(
            f"{name!r} is a URL; give the path of the file, without 'file://'."
        )
    if scheme is not None:
        return InvalidInputError(
            f"{name!r} is a URL that balframe cannot read. {download_advice(name)}"
        )
    if glob.has_magic(name):
        return InvalidInputError(
            f"{name!r} matches no file; give the path of a file or folder, or a pattern."
        )
    if name in get_args(IntervalMethod):
        return InvalidInputError(
            f"{name!r} is not a file; --interval takes no value. To choose a method, give "
            f"--interval-method {name}."
        )
    message = f"{name!r} is not a file; give the path of a file, or a pattern"
    if "@" in name:
        table = name.rpartition("@")[0]
        return InvalidInputError(
            f"{message}. A run of a table, TABLE@RUN, is only read by balframe diff and options "
            f"such as --baseline; for the rows of all runs, give the table, {table!r}."
        )
    if Path(name).suffix or "/" in name:
        return InvalidInputError(f"{message}.")
    return InvalidInputError(
        f"{message}. To give an option several values, repeat it: --by sex --by age."
    )
