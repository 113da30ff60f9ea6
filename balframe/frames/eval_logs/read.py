"""Find out which tool has written a log, and read it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from balframe.errors import InvalidInputError, first_line
from balframe.frames.eval_logs import deepeval, inspect_ai, lm_eval, openai_evals, promptfoo
from balframe.frames.eval_logs.results import Document, Result, UnreadableLogError

TOOLS = "inspect_ai, lm-evaluation-harness, promptfoo, OpenAI evals and DeepEval"
ENDINGS = (".eval", ".json", ".jsonl")


def read_log(path: Path, category: str | None) -> Iterator[Result]:
    """Read the results of a log; raise if it is of no known tool, or damaged."""
    results = read_if_log(path, category)
    if results is None:
        raise InvalidInputError(
            f"{str(path)!r} is not a log of a known tool. Known tools are {TOOLS}."
        )
    return results


def read_if_log(path: Path, category: str | None) -> Iterator[Result] | None:
    """Read the results of a log; None if it is of no known tool. Raise if it is damaged."""
    with _translated_errors(path):
        results = _results(path, category)
    return None if results is None else _in_translation(results, path)


def _in_translation(results: Iterator[Result], path: Path) -> Iterator[Result]:
    with _translated_errors(path):
        yield from results


@contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"{str(path)!r} does not have the form that its tool documents: "
            f"{first_line(repr(error))}."
        ) from error
    except UnreadableLogError as error:
        raise InvalidInputError(f"{str(path)!r} {error}.") from error


def _results(path: Path, category: str | None) -> Iterator[Result] | None:
    """Return the results of a file; None if no tool is known to write such files."""
    if path.suffix == ".eval":
        return inspect_ai.read_archive(path, category)
    if path.suffix == ".jsonl":
        lines = _lines(path)
        first = next(lines, None)
        if first is None:
            return None
        every = chain([first], lines)
        if openai_evals.is_line(first):
            return openai_evals.read_lines(every, category)
        return lm_eval.read_lines(path, every, category) if lm_eval.is_line(first) else None
    document = _document(path)
    if document is None:
        return None
    if inspect_ai.is_document(document):
        return inspect_ai.read_document(document, category)
    if promptfoo.is_document(document):
        return promptfoo.read_document(document, category)
    return deepeval.read_document(document, category) if deepeval.is_document(document) else None


def _document(path: Path) -> Document | None:
    try:
        document: Any = json.loads(path.read_bytes())
    except ValueError as error:
        raise UnreadableLogError("is damaged, or not JSON") from error
    return document if isinstance(document, Mapping) else None


def _lines(path: Path) -> Iterator[Document]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                parsed: Any = json.loads(line)
            except ValueError as error:
                raise UnreadableLogError(f"is damaged: line {number} is not JSON") from error
            if not isinstance(parsed, Mapping):
                raise UnreadableLogError(f"has no object in line {number}")
            yield parsed
