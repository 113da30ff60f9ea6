"""Logs of inspect_ai: archives (.eval) and documents (.json) of version 2."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from balframe.errors import warn
from balframe.frames.eval_logs.archive import read_member
from balframe.frames.eval_logs.results import (
    Document,
    Result,
    UnreadableLogError,
    category_of,
    parts_of,
    text,
)

_VERSION = 2
_HEADER = "header.json"


def is_document(document: Document) -> bool:
    """Return whether a document is a log."""
    return isinstance(document.get("eval"), dict) and "status" in document


def read_archive(path: Path, category: str | None) -> Iterator[Result]:
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
            yield from _results(
                header, (json.loads(read_member(archive, n)) for n in samples), category
            )
    except (BadZipFile, EOFError, ValueError) as error:
        raise UnreadableLogError(
            "is damaged: it is not a complete archive of JSON files"
        ) from error


def read_document(document: Document, category: str | None) -> Iterator[Result]:
    """Read a document."""
    samples = sorted(
        document.get("samples") or (),
        key=lambda sample: (sample.get("epoch", 1), str(sample.get("id"))),
    )
    return _results(document, samples, category)


def _epoch_and_name(name: str) -> tuple[int, str]:
    sample, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return int(epoch), sample


def _results(
    header: Document, samples: Iterable[Document], category: str | None
) -> Iterator[Result]:
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
    model, task = text(run.get("model")), text(run.get("task"))
    for sample in samples:
        for metric, value in _scores(sample, run):
            yield Result(
                item=str(sample.get("id")),
                model=model,
                category=category_of(sample.get("metadata"), category, task),
                metric=metric,
                value=value,
                trial=int(sample.get("epoch", 1)),
            )


def _scores(sample: Document, run: Document) -> Iterator[tuple[str, Any]]:
    """Return the scores of a sample; without a value if an error has left it unscored."""
    scores: Document = sample.get("scores") or {}
    if not scores:
        yield from ((scorer["name"], None) for scorer in run.get("scorers") or ())
    for scorer, score in scores.items():
        yield from parts_of(scorer, score.get("value"))
