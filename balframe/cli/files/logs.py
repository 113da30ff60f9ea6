"""Logs of tools that evaluate language models, read together as one frame."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

import polars as pl

from balframe.cli.files.paths import SourceFile, is_url
from balframe.errors import InvalidInputError, not_found
from balframe.frames.eval_logs.eval_file import EvalFile
from balframe.frames.eval_logs.read import (
    ALL_METRICS,
    EvalOptions,
    find_reader,
    read_logs,
    say,
)

_OPTIONS = [field.name for field in fields(EvalOptions)]
_FORMATS = (None, "eval", "json", "ndjson")  # that logs may be in


def read_eval_options(texts: Sequence[str]) -> EvalOptions | None:
    """Return how logs are read, by `KEY=VALUE`; None without any."""
    options = {}
    for text in texts:
        key, _, value = text.partition("=")
        if key not in _OPTIONS:
            raise not_found("key of --eval", key, _OPTIONS)
        if key in options or not value:
            raise InvalidInputError(f"--eval {text!r} is not valid; give {key}=VALUE, once.")
        options[key] = value
    return EvalOptions(**options) if options else None


def scan_logs(
    names: Sequence[str],
    sources: Sequence[SourceFile],
    file_format: str | None,
    options: EvalOptions | None,
    groups: Collection[str],
) -> pl.LazyFrame | None:
    """Read files if any is a log; None if all are tables.

    Files of the format `eval`, and those that come with options of logs, are logs. Files of folders
    that are not logs are left out. All metrics are read where they form groups.
    """
    if file_format not in _FORMATS or any(is_url(source.location) for source in sources):
        return None
    if file_format != "eval" and options is None and not any(map(_is_log, sources)):
        return None
    options = options or EvalOptions()
    if options.metric is None and "metric" in groups:
        options = replace(options, metric=ALL_METRICS)
    is_copy = any(source.is_copy for source in sources)
    paths = [Path(source.location) for source in sources] if is_copy else list(names)
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
