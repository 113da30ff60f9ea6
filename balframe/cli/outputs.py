"""Answers to a terminal, a pipe or a file."""

import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import polars as pl

from balframe.cli.text_tables import markdown, print_table, table_text, text_of, with_limits
from balframe.display.whole_files import check_place, replace
from balframe.errors import InvalidInputError, listed, not_found
from balframe.gates.messages import beside_baseline

_ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".md": "markdown",
    ".parquet": "parquet",
    ".xml": "junit",
    ".txt": "table",
}


def format_of(asked: str | None, out: Path | None) -> str:
    """Choose the format: as asked, by the ending of the file, a table on a terminal, else csv."""
    if asked is not None:
        return asked
    if out is None:
        return "table" if sys.stdout.isatty() else "csv"
    return of_ending(out, _ENDINGS)


def of_ending(out: Path, kinds: Mapping[str, str]) -> str:
    """Choose the format by the ending of a file."""
    ending = out.suffix.lower()
    if ending not in kinds:
        bad = f"ends in {ending!r}, which is not a supported format"
        has = bad if ending else "has no file extension"
        raise InvalidInputError(
            f"--out {str(out)!r} {has}. Give --format, or use one of the extensions "
            f"{listed(kinds)}."
        )
    return kinds[ending]


def check(kind: str, out: Path | None, *, of_rules: bool, option: str = "--out") -> None:
    """Refuse, before any work, what could not be written."""
    if kind == "junit" and not of_rules:
        raise InvalidInputError("--format junit is only available for the command check.")
    if kind == "parquet" and out is None and sys.stdout.isatty():
        raise InvalidInputError(
            "--format parquet is binary, which a terminal cannot show. Give --out FILE or redirect "
            "the output."
        )
    if out is not None:
        check_place(out, f"{option} {str(out)!r}")


def sort_columns(sort: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Take the minus from before names of columns, and check that there are such."""
    names = [name if name in columns else name.removeprefix("-") for name in sort]
    for name in names:
        if name not in columns:
            raise InvalidInputError(f"--sort: {not_found('column', name, columns)}")
    return names


def in_order(frame: pl.DataFrame, sort: Sequence[str]) -> pl.DataFrame:
    """Sort by columns, those with a minus before their name descending; nulls last."""
    names = sort_columns(sort, frame.columns)
    descending = [name != given for name, given in zip(names, sort, strict=True)]
    if not names:
        return frame
    return frame.sort(names, descending=descending, nulls_last=True, maintain_order=True)


def write(frame: pl.DataFrame, kind: str, out: Path | None, *, may_be_unknown: bool) -> None:
    """Write an answer in a format, to a file as a whole or not at all."""
    if kind == "table" and out is None and sys.stdout.isatty():
        print_table(frame, sys.stdout)
        return
    writers: Mapping[str, Callable[[], bytes]] = {
        "table": lambda: table_text(frame),
        "csv": lambda: frame.write_csv().encode(),
        "json": lambda: frame.write_json().encode() + b"\n",
        "ndjson": lambda: frame.write_ndjson().encode(),
        "markdown": lambda: markdown(frame).encode(),
        "parquet": lambda: _parquet(frame),
        "junit": lambda: _junit(frame, may_be_unknown=may_be_unknown),
    }
    write_content(writers[kind](), out)


def write_content(content: bytes, out: Path | None) -> None:
    """Write to standard output, or to a file as a whole or not at all."""
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        replace(out, content)


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def _junit(frame: pl.DataFrame, *, may_be_unknown: bool) -> bytes:
    """Write every verdict as a test: those that fail are failures, undecided ones are errors."""
    statuses = frame.get_column("status").to_list()
    unknown = "skipped" if may_be_unknown else "error"
    suite = ElementTree.Element(
        "testsuite",
        name="balframe check",
        tests=str(len(statuses)),
        failures=str(statuses.count("fail")),
        errors=str(0 if may_be_unknown else statuses.count("inconclusive")),
        skipped=str(statuses.count("inconclusive") if may_be_unknown else 0),
    )
    by = frame.columns[: frame.columns.index("rule")]
    for row in frame.to_dicts():
        where = ", ".join(f"{name}={text_of(row[name])}" for name in by)
        limits = (row["estimate"], row["lower"], row["upper"])
        found = beside_baseline(row) or with_limits(*limits) or "undefined"
        has_reason = "reason" not in by and row.get("reason")
        reason = f" ({row['reason']})" if has_reason else ""
        case = ElementTree.SubElement(
            suite, "testcase", classname=_legal(row["rule"]), name=_legal(where or "all rows")
        )
        message = _legal(f"{row['rule']}: {found}{reason}")
        if row["status"] == "fail":
            ElementTree.SubElement(case, "failure", message=message)
        elif row["status"] == "inconclusive":
            ElementTree.SubElement(case, unknown, message=f"inconclusive: {message}")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _legal(text: str) -> str:
    """Replace what XML cannot hold."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
