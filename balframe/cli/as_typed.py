"""A command over files as a reader can type it again, quoted for a shell."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter
from typing import Any

from balframe.errors import clipped

_MOST = 1_000  # characters of a value
_FILES = 20


def as_typed(
    command: str,
    files: Sequence[str],
    options: Iterable[Parameter],
    typed: Mapping[str, Any],
    out: str,
) -> str:
    """Write a command: all that differs from the defaults, in the order of the help.

    `out` stands in the place of the file that was written, so that its name does not matter.
    """
    shown = [_of_file(one) for one in files[:_FILES]]
    note = f"# {len(files):,} files, the first {_FILES} of which are named here\n"
    lines = [" ".join([f"balframe {command}", *shown])]
    lines += [" ".join(map(_quoted, words)) for words in _words(options, typed)]
    return note * (len(files) > _FILES) + " \\\n    ".join([*lines, f"--out {out}"])


def _of_file(name: str) -> str:
    is_like_option = name.startswith("-") and name != "-"
    return _quoted(f"./{name}" if is_like_option else name)


def _words(options: Iterable[Parameter], typed: Mapping[str, Any]) -> Iterator[list[str]]:
    for one in options:
        value = typed[one.name]
        if value == one.default or value is None:
            continue
        option = f"--{one.name.replace('_', '-')}"
        if isinstance(value, bool):
            yield [option]
        else:
            for single in value if isinstance(value, list) else [value]:
                yield [option, _text(single)]


def _text(value: object) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)  # type: ignore[call-overload]


def _quoted(text: str) -> str:
    return shlex.quote(clipped(text, _MOST))
