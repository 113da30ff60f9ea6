"""The files of a report on the gates of tests: verdicts, pages of audit, and an index."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from balframe._atomic_write import replace
from balframe._text import escape_markdown
from balframe.api.columns import UNDECIDED
from balframe.api.method import flat_options, function_parameters
from balframe.api.settings import settings_of_call
from balframe.audit_page.audit import audit
from balframe.audit_page.page import Page
from balframe.cli.text_columns import markdown
from balframe.errors import BalframeError, InvalidInputError, MissingExtraError
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import is_frame
from balframe.methods.gates.check import METHOD
from balframe.pytest_plugin.judgement import Judgement, polars_frame
from balframe.verdicts.document import verdicts_document

_INDEX = "index.md"
_MARK = "<!-- Written by pytest --balframe-report, which replaces this file. -->"
_COUNTS = ("pass", "fail", "inconclusive", "warnings")
_MAX_STEM_LENGTH, _HASH_LENGTH = 80, 8
# `min_support` has another default in an audit, and what it leaves out there is not the same.
_OPTIONS_OF_AUDIT = [
    name
    for name in function_parameters(audit)
    if name in METHOD.parameters and name not in ("frame", "min_support")
]


def check_folder(folder: Path) -> None:
    """Raise if no report can be written into the folder, which need not exist yet."""
    if any(place.exists() and not place.is_dir() for place in (folder, *folder.parents)):
        raise InvalidInputError(
            "--balframe-report {!r} is not a directory. Give the path of a directory, which is "
            "created if it does not exist.",
            str(folder),
        )
    index = folder / _INDEX
    if index.exists() and not index.read_bytes().startswith(_MARK.encode()):
        raise InvalidInputError(
            "--balframe-report {!r} has an index.md that is not a report of balframe, and that "
            "the report would replace. Give another directory.",
            str(folder),
        )


def write_report(judgement: Judgement, frame: object, folder: Path) -> dict[str, Any]:
    """Write the verdicts and the page of a gate; return the names of the files.

    `note` is why there is no page, or a page without rules, and None otherwise.
    """
    stem = file_stem(judgement.test, judgement.number)
    page, note = _audit_of_gate(judgement, frame)
    files = {"json": f"{stem}.json", "markdown": f"{stem}.md"}
    contents = {files["json"]: _document_text(judgement)}
    if page is not None:
        ending, text = _page_text(page)
        files["page"] = f"{stem}.audit{ending}"
        contents[files["page"]] = text
    contents[files["markdown"]] = _verdicts_text(judgement, files, note)
    _write(folder, contents)
    return {"files": files, "note": note}


def file_stem(test: str, number: int) -> str:
    """Return a name for the files of a call, which no other test and call has.

    The hash distinguishes tests whose names differ only by folders, case or special characters.
    """
    path, separator, rest = test.partition("::")
    name = f"{path.rpartition('/')[2].removesuffix('.py')}{separator}{rest}"
    words = re.sub(r"[^A-Za-z0-9_.]+", "-", name)[:_MAX_STEM_LENGTH].strip("-.")
    digest = sha256(test.encode("utf-8", "backslashreplace")).hexdigest()[:_HASH_LENGTH]
    return "-".join([words, digest, *([str(number)] if number > 1 else [])])


def write_index(records: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the list of all gates of a run, in the order of tests' names."""
    ordered = sorted(records, key=lambda record: (record["test"], record["number"]))
    table = [
        "| test | outcome | pass | fail | inconclusive | warnings | files |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
        *(_index_row(record) for record in ordered),
    ]
    lines = table if ordered else ["No test called `balframe_gate`."]
    _write(folder, {_INDEX: "\n".join([_MARK, "", "# Gates of tests", "", *lines]) + "\n"})


def _index_row(record: Mapping[str, Any]) -> str:
    counts = (str(record[status]) for status in _COUNTS)
    name = escape_markdown(call_name(record["test"], record["number"]))
    cells = [name, record["outcome"], *counts, ", ".join(_links(record["files"]))]
    return f"| {' | '.join(cells)} |"


def call_name(test: str, number: int) -> str:
    """Return the node id of a test, with the number of the call from the second on."""
    return test if number == 1 else f"{test} ({number})"


def _links(files: Mapping[str, str]) -> Iterator[str]:
    names = {"markdown": "verdicts", "json": "JSON", "page": "audit"}
    return (f"[{names[kind]}]({files[kind]})" for kind in names if kind in files)


def _verdicts_text(judgement: Judgement, files: Mapping[str, str], note: str | None) -> str:
    links = [link for link in _links(files) if not link.startswith("[verdicts]")]
    parts = [
        f"# {escape_markdown(call_name(judgement.test, judgement.number))}",
        f"{judgement.outcome.capitalize()}: {judgement.sentence()}",
        markdown(_without_empty_reasons(judgement)).rstrip() if judgement.rows else "",
        f"Files: {', '.join(links)}",
        "" if note is None else escape_markdown(note),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _document_text(judgement: Judgement) -> str:
    document = verdicts_document(judgement.verdicts, options=judgement.options)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# The page of audit.


def _audit_of_gate(judgement: Judgement, frame: object) -> tuple[Page | None, str | None]:
    """Return a page on the data of a gate, with its rules if an audit takes them."""
    flat = flat_options(judgement.options, METHOD.parameters)
    options = {name: value for name, value in flat.items() if name in _OPTIONS_OF_AUDIT}
    if options.get("level", ...) is None:  # no limits decide; those of a page are of the default
        del options["level"]
    if not is_frame(unwrap(options.get("baseline"))[0]):  # the name of another model
        options.pop("baseline", None)
    options["words"] = {"title": call_name(judgement.test, judgement.number)}
    without_rules = {name: options[name] for name in options if name not in ("rules", "baseline")}
    page, refusal = _try_audit(frame, options)
    if refusal is None:
        return page, None
    page, _ = _try_audit(frame, without_rules)
    missing = "There is no page of audit" if page is None else "The page of audit has no rules"
    return page, f"{missing}: {refusal}"


def _try_audit(
    frame: object, options: Mapping[str, Any]
) -> tuple[Page, None] | tuple[None, BalframeError]:
    """Return the page, or why there is none; its warnings are not about the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with settings_of_call():  # options are the parts of values
                return audit(frame, **options), None
        except BalframeError as error:
            return None, error


def _page_text(page: Page) -> tuple[str, str]:
    """Return a page with the ending of its file: HTML, or Markdown where jinja2 is missing."""
    try:
        return ".html", page.html()
    except MissingExtraError:
        return ".md", page.markdown()


def _write(folder: Path, contents: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            replace(folder / name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InvalidInputError(
            "--balframe-report {!r} cannot be written: {}.", str(folder), error.strerror
        ) from error


def _without_empty_reasons(judgement: Judgement) -> pl.DataFrame:
    """Return the verdicts, without the column of reasons where none is undecided for one."""
    frame = polars_frame(judgement.rows)
    is_empty = UNDECIDED in frame.columns and frame[UNDECIDED].is_null().all()
    return frame.drop(UNDECIDED) if is_empty else frame
