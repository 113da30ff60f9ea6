"""Names of the command line to files: paths, folders, patterns, standard input and pipes."""

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
from pathlib import Path
from typing import IO, BinaryIO, get_args

from balframe._progress import copying
from balframe.cli.files.read_errors import named
from balframe.errors import InvalidInputError, listed
from balframe.stats.base import IntervalMethod

_BLOCK = 2**20  # bytes
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_WRITE_URL = {  # commands that write what is at a URL
    "http": "curl -fsSL {}",
    "https": "curl -fsSL {}",
    "s3": "aws s3 cp {} -",
    "gs": "gcloud storage cat {}",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: its path, and the name that messages have for it.

    `is_copy` says that the path is that of a copy, whose ending says nothing.
    """

    path: Path
    name: str
    is_copy: bool = False


Chosen = Callable[[Path], bool]


@contextmanager
def held(names: Sequence[str], is_chosen: Chosen) -> Iterator[list[Source]]:
    """List the files of names; what can be read only once is copied to disk for the time being.

    Of the files below a folder, those are listed that `is_chosen` says yes to.
    """
    if {*names} == {"-"} and len(names) > 1:
        raise InvalidInputError("'-' is standard input, which is read only once; give '-' once.")
    if "-" in names and len(names) > 1:
        raise InvalidInputError(
            "'-' is standard input, which cannot be combined with files; give one or the other."
        )
    given = [path for name in names for path in _paths(name, is_chosen)]
    repeated = [path for path, n in Counter(map(Path.resolve, given)).items() if n > 1]
    if repeated:
        raise InvalidInputError(
            f"'{repeated[0]}' is given twice, so its rows would count twice; give it once."
        )
    with ExitStack() as stack:
        yield [_source(path, stack) for path in given]


def _source(path: Path, stack: ExitStack) -> Source:
    if str(path) == "-":
        name = "standard input"
        with named(name):
            return Source(_copied(sys.stdin.buffer, stack), name, is_copy=True)
    name = f"'{path}'"
    if path.is_file() and not str(path).startswith("/dev/"):
        return Source(path, name)
    with named(name), open(path, "rb") as stream:  # a pipe, as of <(...), or a device
        return Source(_copied(stream, stack), name, is_copy=True)


def _copied(stream: BinaryIO, stack: ExitStack) -> Path:
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
    with copying() as advance:
        _copy(stream, copy, advance)
    copy.flush()
    return Path(copy.name)


def _copy(source: BinaryIO, copy: IO[bytes], advance: Callable[[int], None]) -> None:
    """Copy everything; a pipe that does not wait may return None before its end."""
    while (part := source.read(_BLOCK)) != b"":
        if part is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        copy.write(part)
        advance(len(part))


def _paths(name: str, is_chosen: Chosen) -> list[Path]:
    """List the files that a name stands for, in the order of their names."""
    path = Path(name)
    if name == "-" or (path.exists() and not path.is_dir()):
        return [path]
    if path.is_dir():
        return _files_below(path, is_chosen)
    matches = sorted(map(Path, glob.glob(name, recursive=True)))
    shown = [match for match in matches if not _is_hidden_from(path, match)]
    files = [match for match in shown if not match.is_dir()]
    if files or not shown:
        return files or _no_file(name)
    return [file for folder in shown for file in _files_below(folder, is_chosen)]


def _files_below(folder: Path, is_chosen: Chosen) -> list[Path]:
    """List the files of a folder and of those in it, but not what Spark and Hive hide."""
    files: list[Path] = []
    visited: set[str] = set()
    for parent, inner, names in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(parent))
        inner[:] = [
            one
            for one in sorted(inner)
            if not _is_hidden(one) and os.path.realpath(os.path.join(parent, one)) not in visited
        ]
        files += [Path(parent, one) for one in sorted(names) if not _is_hidden(one)]
    chosen = [file for file in files if is_chosen(file)]
    if not chosen:
        others = f" It contains: {listed([one.name for one in files], 3)}." if files else ""
        raise InvalidInputError(
            f"the folder '{folder}' has no file with a supported extension.{others} Give other "
            "files, or give their format with --input-format."
        )
    return chosen


def _is_hidden(name: str) -> bool:
    """Tell whether a name is that of a marker or a checksum, as _SUCCESS and .part.crc are."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_hidden_from(pattern: Path, match: Path) -> bool:
    """Tell whether a part that a pattern only happens to match is hidden."""
    is_meant = any(map(_is_hidden, pattern.parts))
    return not is_meant and any(_is_hidden(part) for part in match.parts)


def _no_file(name: str) -> list[Path]:
    if url := _URL.match(name):
        raise _not_a_path(name, url[1].lower())
    if glob.has_magic(name):
        raise InvalidInputError(
            f"{name!r} matches no file; give the path of a file or folder, or a pattern."
        )
    if name in get_args(IntervalMethod):
        raise InvalidInputError(
            f"{name!r} is not a file; --interval takes no value. To choose a method, give "
            f"--interval-method {name}."
        )
    message = f"{name!r} is not a file; give the path of a file, or a pattern"
    if Path(name).suffix or "/" in name:
        raise InvalidInputError(f"{message}.")
    raise InvalidInputError(
        f"{message}. To give an option several values, repeat it: --by sex --by age."
    )


def _not_a_path(url: str, scheme: str) -> InvalidInputError:
    if scheme == "file":
        return InvalidInputError(f"{url!r} is a URL; give the path of the file, without 'file://'.")
    start = f"{url!r} is a URL, and balframe reads no URLs. Download the file, or pipe it"
    if scheme not in _WRITE_URL:
        return InvalidInputError(f"{start} to: balframe report -")
    command = _WRITE_URL[scheme].format(shlex.quote(url))
    return InvalidInputError(f"{start}, as in: {command} | balframe report -")
