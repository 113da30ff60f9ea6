"""The content of a log: one document, or records, read as they are needed."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import narwhals as nw
import polars as pl

Document = Mapping[str, Any]

ENDINGS = (".eval", ".json", ".jsonl", ".csv", ".parquet")
_N_FIRST_BYTES, _JOURNAL = 64, b"_journal/"  # the first member of archives of inspect_ai
_CHUNK = 2**20  # characters
_N_OBJECTS = 20  # of an array in the head, which may be very long
_DEPTH = 2  # of the arrays that are streamed: {"results": {"results": [...]}}
_ENDS = tuple('}]"')  # of values that cannot go on
_SPACE = " \t\n\r"


class UnreadableLogError(Exception):
    """What is wrong with a log, as the end of a sentence about its file."""


def as_mapping(value: Any) -> Document:  # noqa: ANN401 (what a log or a tool has)
    """Return a mapping, or the fields of a model of pydantic, a dataclass or another object."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):
        return {name: getattr(value, name) for name in fields}
    try:
        return dict(vars(value))
    except TypeError as error:
        raise UnreadableLogError(f"has {type(value).__name__} where an object belongs") from error


def is_frame(value: object) -> bool:
    """Return whether a value is a frame in memory."""
    return isinstance(nw.from_native(value, eager_only=True, pass_through=True), nw.DataFrame)


@dataclass(frozen=True)
class EvalFile:
    """A log: a file, or what a tool has returned.

    A document is one object of JSON. All else has records: lines of JSON, an array of objects, and
    the rows of a table.

    Parameters
    ----------
    source : path, frame, mapping, or list of objects
        A file ending in .eval, .json, .jsonl, .csv or .parquet, or what is in memory.
    """

    source: Any

    @property
    def path(self) -> Path | None:
        """The file, if it is one."""
        return self.source if isinstance(self.source, Path) else None

    @property
    def name(self) -> str:
        """What messages call it."""
        return repr(str(self.path)) if self.path else f"the {type(self.source).__name__}"

    @cached_property
    def ending(self) -> str:
        """How the name ends, or what the first bytes are; "" of what is in memory."""
        if self.path is None or self.path.suffix:
            return "" if self.path is None else self.path.suffix
        with self.path.open("rb") as file:
            beginning = file.read(_N_FIRST_BYTES)
        if _JOURNAL in beginning:
            return ".eval"
        return ".json" if beginning[:1] in (b"{", b"[") else ""

    @cached_property
    def is_document(self) -> bool:
        """Whether it is one object of JSON, or one in memory."""
        if self.path is None:
            return not isinstance(self.source, list) and not is_frame(self.source)
        if self.ending != ".json":
            return False
        with _open(self.path) as file:
            return _JsonStream(file).peek() == "{"

    @cached_property
    def head(self) -> Document:
        """The document with the beginning of arrays, or the first record; empty for archives.

        Arrays at depth one or two of a document end after 20 objects, because `each` streams them.
        """
        if not self.is_document:
            return next(self.records(), {})
        if self.path is None:
            return as_mapping(self.source)
        with _open(self.path) as file:
            head: Document = _JsonStream(file).outline(_DEPTH)
            return head

    def each(self, *keys: str) -> Iterator[Document]:
        """Iterate over the objects of an array of the document, which is behind one or two keys."""
        if self.path is not None:
            with _open(self.path) as file:
                yield from _JsonStream(file).descend(keys)
            return
        value: Any = self.source
        for key in keys:
            value = as_mapping(value).get(key)
        yield from map(as_mapping, value or ())

    def records(self) -> Iterator[Document]:
        """Iterate over the records; an archive has none."""
        if self.path is None:
            yield from _rows(self.source)
        elif self.ending == ".jsonl":
            yield from _lines(self.path)
        elif self.ending == ".json":
            with _open(self.path) as file:
                yield from _JsonStream(file).descend(())
        elif self.ending == ".csv":
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.DictReader(file)
        elif self.ending == ".parquet":
            yield from pl.read_parquet(self.path).iter_rows(named=True)


def _rows(source: Any) -> Iterator[Document]:  # noqa: ANN401 (a frame or a list of objects)
    if not is_frame(source):
        yield from map(as_mapping, source)
        return
    frame = nw.from_native(source, eager_only=True)
    if frame.implementation.is_pandas():
        native = frame.to_native().reset_index()  # whose index may name the items
        native = native.astype(object).where(native.notna(), None)  # pandas.NA is not even false
        frame = nw.from_native(native, eager_only=True)
    yield from frame.iter_rows(named=True)


def _open(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig")


def _lines(path: Path) -> Iterator[Document]:
    with path.open("rb") as file:
        for position, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                parsed: Any = json.loads(line)
            except ValueError as error:
                raise UnreadableLogError(f"is damaged: line {position} is not JSON") from error
            if not isinstance(parsed, Mapping):
                raise UnreadableLogError(f"has no object in line {position}")
            yield parsed


class _JsonStream:
    """A text of JSON that is decoded value by value, so that it need not fit in memory."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0
        self._decode = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            rest = self._text[self._at :].lstrip(_SPACE) if self._at < len(self._text) else ""
            if rest:
                self._at = len(self._text) - len(rest)
                return rest[0]
            if not self._fill():
                return ""

    def outline(self, depth: int) -> Any:  # noqa: ANN401 (any JSON)
        """Return the next value, with few objects of arrays down to a depth."""
        first = self.peek()
        if first == "{" and depth > 0:
            return {key: self.outline(depth - 1) for key in self._members()}
        if first == "[":
            rest = _N_OBJECTS
            values = []
            for value in self._elements():
                rest -= isinstance(value, dict)
                if rest >= 0:
                    values.append(value)
            return values
        return self._value()

    def descend(self, keys: tuple[str, ...]) -> Iterator[Document]:
        """Iterate over the objects of the array behind keys; of none if there is no array."""
        if not keys:
            is_array = self.peek() == "["
            for value in self._elements() if is_array else iter(()):
                if not isinstance(value, dict):
                    raise UnreadableLogError(f"has {value!r} where an object belongs")
                yield value
            if not is_array:
                self._value()
            return
        for key in self._members() if self.peek() == "{" else iter(()):
            if key == keys[0]:
                yield from self.descend(keys[1:])
                return
            self.outline(_DEPTH)

    def _members(self) -> Iterator[str]:
        """Iterate over the keys of an object; whoever iterates reads the value of each."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            key = self._value()
            self._take(":")
            yield key
            if self._take(",}") == "}":
                return

    def _elements(self) -> Iterator[Any]:
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        while True:
            yield self._value()
            if self._take(",]") == "]":
                return

    def _take(self, characters: str) -> str:
        character = self.peek()
        if not character or character not in characters:
            raise UnreadableLogError("is damaged, or not JSON")
        self._at += 1
        return character

    def _value(self) -> Any:  # noqa: ANN401
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError:
                if self._fill():
                    continue
                raise
            if end == len(self._text) and not self._text.endswith(_ENDS) and self._fill():
                continue
            self._at = end
            return value

    def _fill(self) -> bool:
        """Read at least as much as has not been decoded, so that long values are tried rarely."""
        rest = self._text[self._at :]
        more = self._file.read(max(_CHUNK, len(rest)))
        self._text, self._at = rest + more, 0
        return bool(more)
