"""Logs of tools that evaluate language models, read together as one frame."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl

from balframe.cli.files.paths import SourceFile, is_url
from balframe.errors import InvalidInputError, listed, not_found
from balframe.frames.eval_logs.eval_file import EvalFile
from balframe.frames.eval_logs.read import (
    ALL_METRICS,
    EvalOptions,
    find_reader,
    read_logs,
    say,
)

OPTIONS = ("metric", "category", "errors", "invalid")
_FORMATS = (None, "eval", "json", "ndjson")  # that logs may be in


def read_eval_options(texts: Sequence[str]) -> EvalOptions | None:
    """Return how logs are read, by `KEY=VALUE`; None without any."""
    options = {}
    for text in texts:
        key, _, value = text.partition("=")
        if key not in OPTIONS:
            raise not_found("key of --eval", key, OPTIONS)
        if key in options or not value:
            raise InvalidInputError(f"--eval {text!r} is not valid; give {key}=VALUE, once.")
        options[key] = value
    return EvalOptions(**options) if options else None


def scan_logs(
    sources: Sequence[SourceFile],
    file_format: str | None,
    options: EvalOptions | None,
    groups: Collection[str],
) -> pl.LazyFrame | None:
    """Read files if they are logs; None if they are tables.

    Files of the format `eval`, and those that come with options of logs, are logs. All metrics are
    read where they form groups.
    """
    if file_format not in _FORMATS or any(is_url(source.location) for source in sources):
        return None
    is_eval = file_format == "eval" or options is not None
    tables = [] if is_eval else [source.name for source in sources if not _is_log(source)]
    if len(tables) == len(sources) > 0:
        return None
    if tables:
        raise InvalidInputError(
            f"some files are logs of evaluations, but {listed(tables, 3)} is none. Read them apart."
        )
    paths = [Path(source.location) for source in sources]
    options = options or EvalOptions()
    if options.metric is None and "metric" in groups:
        options = replace(options, metric=ALL_METRICS)
    frame, summary = read_logs(paths, options)
    say(summary)
    return frame.lazy()


def _is_log(source: SourceFile) -> bool:
    path = Path(source.location)
    if not path.is_file():  # but a folder, as tables of Delta are
        return False
    file = EvalFile(path)
    if file.ending == ".eval":
        return True
    if file.ending not in (".json", ".jsonl"):
        return False
    with suppress(InvalidInputError):  # of what is damaged, which is then read as a table
        return find_reader(file) is not None
    return False
