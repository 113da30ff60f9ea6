"""Logs of inspect_ai: archives (.eval) and documents (.json) of version 2."""

import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import polars as pl

from balframe.errors import warn
from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, parts_of, text

# Read ZIP archives that are compressed with Zstandard, which Python before 3.14 cannot.


_ZSTANDARD = 93  # the number of the method in APPNOTE.TXT of PKWARE
_NO_SEPARATOR = "\x01"  # which JSON has escaped only
_LOCAL_HEADER = struct.Struct("<26xHH")  # the lengths of the name and of the extra field


def read_member(archive: ZipFile, name: str) -> bytes:
    """Return the content of a member."""
    info = archive.getinfo(name)
    try:
        return archive.read(info)
    except NotImplementedError:
        if info.compress_type != _ZSTANDARD:
            raise
    return _decompress(_compressed(archive, info))


def _compressed(archive: ZipFile, info: ZipInfo) -> bytes:
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    n_name, n_extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(n_name + n_extra, 1)
    return file.read(info.compress_size)


def _decompress(content: bytes) -> bytes:
    """Decompress a JSON document by polars, which reads it as a table of lines.

    No line is lost that matters, as texts in JSON have no line breaks of their own.
    """
    try:
        lines = pl.read_csv(
            content,
            has_header=False,
            separator=_NO_SEPARATOR,
            quote_char=None,
            infer_schema=False,
            new_columns=["line"],
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    return "\n".join(lines["line"].fill_null("")).encode()


_VERSION = 2
_HEADER = "header.json"
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly correct, incorrect, no answer


def _recognizes(file: EvalFile) -> bool:
    return file.ending == ".eval" or (
        file.is_document and isinstance(file.head.get("eval"), dict) and "status" in file.head
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    if file.ending != ".eval":
        return _results(file.head, file.each("samples"))
    assert file.path is not None
    return _read_archive(file.path)


def _read_archive(path: Path) -> Iterator[EvalResult]:
    """Read an archive, one sample at a time."""
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
            if _HEADER not in names:
                raise UnreadableLogError(
                    f"is an archive without {_HEADER}: the run has not ended, or it is not a log "
                    "of inspect_ai"
                )
            header = json.loads(read_member(archive, _HEADER))
            samples = sorted(
                (name for name in names if name.startswith("samples/")), key=_epoch_and_name
            )
            yield from _results(header, (json.loads(read_member(archive, n)) for n in samples))
    except (BadZipFile, EOFError, ValueError) as error:
        raise UnreadableLogError(
            "is damaged: it is not a complete archive of JSON files"
        ) from error


def _epoch_and_name(name: str) -> tuple[int, str]:
    sample, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return int(epoch), sample


def _results(header: Document, samples: Iterable[Document]) -> Iterator[EvalResult]:
    version = header.get("version")
    if version != _VERSION:
        raise UnreadableLogError(
            f"is a log of inspect_ai of version {version}; the known version is {_VERSION}"
        )
    status = header.get("status")
    if status != "success":
        warn(
            "a log of inspect_ai has the status {!r}: samples that were not tried are missing, and "
            "those without a score have none in `passed`.",
            status,
        )
    run: Document = header["eval"]
    for sample in samples:
        for metric, value in _scores(sample, run):
            yield EvalResult(
                task=text(run.get("task")),
                item=str(sample.get("id")),
                model=text(run.get("model")),
                metadata=sample.get("metadata") or {},
                metric=metric,
                score=_GRADES.get(value) if isinstance(value, str) else number(value),
                trial=int(sample.get("epoch", 1)),
                error=(sample.get("error") or {}).get("message"),
            )


def _scores(sample: Document, run: Document) -> Iterator[tuple[str, Any]]:
    """Return the scores of a sample; without a value if an error has left it unscored."""
    scores: Document = sample.get("scores") or {}
    if not scores:
        yield from ((scorer["name"], None) for scorer in run.get("scorers") or ())
    for scorer, score in scores.items():
        yield from parts_of(scorer, score.get("value"))


READER = EvalReader("inspect_ai", "0.3.285", _recognizes, _read)
