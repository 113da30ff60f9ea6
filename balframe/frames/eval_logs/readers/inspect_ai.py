"""Logs of inspect_ai: archives (.eval) and documents (.json) of version 2."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from balframe.errors import warn
from balframe.frames.eval_logs.archives import read_member
from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.inspect_samples import Samples, results_of
from balframe.frames.eval_logs.schema import EvalReader, EvalResult

_VERSION = 2
_HEADER, _SUMMARIES = "header.json", "summaries.json"


def _recognizes(file: EvalFile) -> bool:
    return file.ending == ".eval" or (
        file.is_document and isinstance(file.head.get("eval"), dict) and "status" in file.head
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    if file.ending == ".eval":
        assert file.path is not None
        yield from _read_archive(file.path)
        return
    run = {**file.head["eval"], "scorers": list(file.each("eval", "scorers"))}
    results = {"scores": list(file.each("results", "scores"))}
    yield from _of_log({**file.head, "eval": run, "results": results}, lambda: file.each("samples"))


def _read_archive(path: Path) -> Iterator[EvalResult]:
    """Read an archive, one sample at a time."""
    try:
        with ZipFile(path) as archive:
            names = list(dict.fromkeys(archive.namelist()))
            if _HEADER not in names:
                raise UnreadableLogError(
                    f"is an archive without {_HEADER}: the run has not ended, or it is not a log "
                    "of inspect_ai"
                )
            samples = sorted(filter(_is_sample, names), key=_epoch_and_name)
            has_summaries = samples and _SUMMARIES in names  # which are shorter than the samples
            yield from _of_log(
                json.loads(read_member(archive, _HEADER)),
                lambda: (json.loads(read_member(archive, name)) for name in samples),
                json.loads(read_member(archive, _SUMMARIES)) if has_summaries else None,
            )
    except (BadZipFile, EOFError, ValueError) as error:
        raise UnreadableLogError(
            "is damaged: it is not a complete archive of JSON files"
        ) from error


def _is_sample(name: str) -> bool:
    return name.startswith("samples/")


def _epoch_and_name(name: str) -> tuple[int, str]:
    sample, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return int(epoch), sample


def _of_log(
    header: Document, samples: Samples, summaries: Iterable[Document] | None = None
) -> Iterator[EvalResult]:
    version, status = header.get("version"), header.get("status")
    if version != _VERSION:
        raise UnreadableLogError(
            f"is a log of inspect_ai of version {version}; the known version is {_VERSION}"
        )
    if status != "success":
        warn(
            "a log of inspect_ai has the status {!r}: samples that were not tried are missing, and "
            "those without a score have none in `passed`.",
            status,
        )
    yield from results_of(samples, summaries or samples(), header)


READER = EvalReader("inspect_ai", "0.3.285", _recognizes, _read)
