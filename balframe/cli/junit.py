"""Verdicts as a report of tests, in the XML of JUnit."""

import re
from xml.etree import ElementTree

import polars as pl

from balframe.cli.text_tables import text_of, with_limits
from balframe.methods.gates.require import beside_baseline


def junit(frame: pl.DataFrame, *, may_be_unknown: bool) -> bytes:
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
