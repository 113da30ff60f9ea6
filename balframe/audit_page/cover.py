"""The cover of a page: what a reader should know of an audit, and the data do not say."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from difflib import get_close_matches
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from balframe._file_identity import base_name, sha256_of_file
from balframe._validate import builtin_scalar, is_list, is_number
from balframe.audit_page.document import CoverLine
from balframe.audit_page.text import caller_text, clean, isolate, package_version, plural
from balframe.errors import (
    NAME,
    OPTION,
    InvalidInputError,
    UnknownNameError,
    UnsupportedTypeError,
    clipped,
    first_line,
    listed,
    parameter,
)
from balframe.methods.gates.rules import naming_place

_FILES = "files"
_LABELS: Mapping[str, str] = {  # of the known keys, in the order of the page
    "organisation": "Organisation",
    "system": "System",
    "version": "Version",
    "purpose": "Purpose",
    "period": "Period",
    "source": "Source of the data",
    "distribution_date": "System first used",
    "auditor": "Auditor",
    "date": "Date of the audit",
    "excluded": "Why small categories are excluded",
    _FILES: "Files",
}
_ALIASES = {"organization": "organisation"}
_NEAR = 0.83  # similarity of two keys: that of letters that changed places in a word of six
_MAX_LENGTH = 2_000  # characters of a value

CoverOption = Mapping[str, Any] | str | PathLike[str]


@dataclass(frozen=True, slots=True)
class CoverFile:
    """A file by its name without folders, and the SHA-256 of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Cover:
    """The facts of a cover by their keys, in the order of the page; a list of texts is a tuple.

    `n_more_files` are files that are not named.
    """

    facts: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    files: tuple[CoverFile, ...] = ()
    n_more_files: int = 0

    @property
    def entries(self) -> list[tuple[str, tuple[str | CoverFile, ...]]]:
        """Return the label of each fact, and its texts or files."""
        more = (plural(self.n_more_files, "more file", "more files"),) * (self.n_more_files > 0)
        values: dict[str, tuple[str | CoverFile, ...]] = {
            key: value if isinstance(value, tuple) else (value,)
            for key, value in self.facts.items()
        }
        values |= {_FILES: (*self.files, *more)} if self.files or more else {}
        return [(_LABELS.get(key, key), values[key]) for key in _in_order(values)]

    def as_dict(self) -> dict[str, Any]:
        """Return the facts by their keys, for a machine; each is a text or a list of texts.

        `files` is a list of mappings with `name` and `sha256`, and `n_more_files` is there if any
        are not named.
        """
        values: dict[str, Any] = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in self.facts.items()
        }
        if self.files:
            values[_FILES] = [{"name": file.name, "sha256": file.sha256} for file in self.files]
        ordered = {key: values[key] for key in _in_order(values)}
        return ordered | ({"n_more_files": self.n_more_files} if self.n_more_files else {})

    def updated(self, other: "Cover") -> "Cover":
        """Return the cover with the facts and files of another in the place of its own."""
        return replace(self, facts={**self.facts, **other.facts}, files=other.files or self.files)

    def with_files(self, files: Sequence[CoverFile], n_more: int = 0) -> "Cover":
        """Return the cover with further files, each once, and the number of those not named."""
        every = tuple(dict.fromkeys([*self.files, *files]))
        return replace(self, files=every, n_more_files=self.n_more_files + n_more)


def _in_order(keys: Iterable[str]) -> list[str]:
    """Return known keys in the order of the page, and then the others as they come."""
    names = list(keys)
    return [key for key in _LABELS if key in names] + [key for key in names if key not in _LABELS]


def cover_lines(cover: Cover) -> list[CoverLine]:
    """Return the lines of a page, the last of which names the program; none of an empty cover."""
    lines = [
        CoverLine(caller_text(label), list(map(_value, values))) for label, values in cover.entries
    ]
    made = CoverLine("Made with", [(f"balframe {package_version('balframe')}", "")])
    return [*lines, made] if lines else []


def _value(value: str | CoverFile) -> tuple[str, str]:
    """Return a text, and the text for a machine behind it."""
    text, code = (value, "") if isinstance(value, str) else (value.name, f"SHA-256 {value.sha256}")
    return isolate(clean(text, _MAX_LENGTH)), code


# What a caller gives


def read_cover(cover: object) -> Cover:
    """Return the cover given in any form; raise if a key, a value or a file is invalid."""
    if cover is None:
        return Cover()
    if isinstance(cover, Cover):
        return cover
    if isinstance(cover, (str, PathLike)):
        path = Path(fspath(cover))
        with naming_place(path):
            return read_facts(_load(path), path.parent)
    if isinstance(cover, Mapping):
        with naming_place(parameter("cover", NAME)):
            return read_facts(cover)
    raise UnsupportedTypeError(
        "{cover} has the type {}; give a mapping, such as {}, or the path of a .toml file.",
        type(cover).__qualname__,
        {"auditor": "Jane Doe"},
        cover=OPTION,
    )


def _load(path: Path) -> Mapping[str, Any]:
    """Return the content of a TOML file, with fractions as they are typed."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"), parse_float=_finite_text)
    except OSError as error:
        raise InvalidInputError(
            "the cover cannot be read: {}. Give the path of a .toml file.", error.strerror
        ) from error
    except ValueError as error:
        raise InvalidInputError(
            "the cover is not valid TOML: {}. Correct the file.", first_line(error)
        ) from error


def _finite_text(number: str) -> str:
    """Return a number as it is typed: 1.10 is a version, and not 1.1."""
    if not isfinite(float(number)):
        raise ValueError(f"{number} is not a finite number")
    return number


def read_facts(source: Mapping[Any, Any], folder: Path = Path()) -> Cover:
    """Return the cover of facts by their keys; paths of files start at the folder."""
    facts: dict[str, str | tuple[str, ...]] = {}
    files: tuple[CoverFile, ...] = ()
    for name, value in source.items():
        key = _checked_key(name)
        if key in facts:
            raise InvalidInputError("{!r} is given under two spellings; give it once.", key)
        if key == _FILES:
            files = tuple(read_file(folder / path) for path in _checked_paths(value))
        else:
            facts[key] = _text_or_texts(key, value)
    return Cover(facts).with_files(files)


def _checked_key(key: object) -> str:
    """Return a known key, or that of a note; raise if a known key is probably meant."""
    if not isinstance(key, str) or not key.strip():
        raise InvalidInputError("the key {!r} is not text; give a word as the key.", key)
    name = _ALIASES.get(key, key)
    if name in _LABELS:
        return name
    word = key.casefold().replace("-", "_").replace(" ", "_")
    near = get_close_matches(word, [*_LABELS, *_ALIASES], n=1, cutoff=_NEAR)
    if near:
        raise UnknownNameError(
            "the key {!r} is not known; did you mean {!r}? Known keys: {}. Others are notes, "
            "whose keys must not be so similar to a known one.",
            clipped(key),
            _ALIASES.get(near[0], near[0]),
            listed(_LABELS),
        )
    return key


def _text_or_texts(key: str, value: object) -> str | tuple[str, ...]:
    """Return a value as it is shown."""
    if not is_list(value):
        return _text(key, value, value)
    items = list(value)
    if not items or not all(isinstance(item, str) for item in items):
        raise _invalid_value(key, value)
    return tuple(_text(key, item, value) for item in items)


def _text(key: str, item: object, value: object) -> str:
    """Return an item of a value as text, by which a message names the value."""
    item = builtin_scalar(item)
    if isinstance(item, date) and item == item:  # NaT is a date that does not equal itself
        text = _date_text(item)
    elif isinstance(item, str) or (is_number(item) and isfinite(item)):
        text = str(item)
    else:
        raise _invalid_value(key, value)
    if not text.strip():
        raise _invalid_value(key, value)
    if len(text) > _MAX_LENGTH:
        raise InvalidInputError(
            "the value of {!r} has {:,} characters; give at most {:,}.", key, len(text), _MAX_LENGTH
        )
    return text


def _date_text(value: date) -> str:
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()


def _invalid_value(key: str, value: object) -> InvalidInputError:
    return InvalidInputError(
        "the value of {!r} is {}; give text, a number, a date or a list of texts, or leave the "
        "key out.",
        key,
        clipped(repr(value)),
    )


def _checked_paths(value: object) -> list[str | PathLike[str]]:
    """Return the paths of files."""
    paths = list(value) if is_list(value) else [value]
    named = [path for path in paths if isinstance(path, (str, PathLike)) and fspath(path)]
    if not paths or len(named) < len(paths):
        raise InvalidInputError(
            "the value of {!r} is {}; give a list of paths, or leave the key out.",
            _FILES,
            clipped(repr(value)),
        )
    return named


def read_file(path: Path) -> CoverFile:
    """Return the name of a file, and the SHA-256 of its bytes."""
    return CoverFile(path.name, sha256_of_file(path))


def without_folders(cover: object) -> object:
    """Return a cover as the call on a page has it: files by their names, and dates as text."""
    if isinstance(cover, (str, PathLike)):
        return base_name(cover)
    if not isinstance(cover, Mapping):
        return cover
    written = {
        key: _date_text(value) if isinstance(value, date) else value for key, value in cover.items()
    }
    if _FILES in cover:
        paths = list(cover[_FILES]) if is_list(cover[_FILES]) else [cover[_FILES]]
        written[_FILES] = [
            base_name(path) if isinstance(path, (str, PathLike)) else path for path in paths
        ]
    return written
