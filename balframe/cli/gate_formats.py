"""Verdicts as programs of pipelines read them: the XML of JUnit, and annotations of GitHub."""

import re
from collections.abc import Mapping
from datetime import datetime
from xml.etree import ElementTree

import polars as pl

from balframe.cli.gate import Case, Gate, Outcome
from balframe.errors import InvalidInputError
from balframe.methods.gates.require import NO_VERDICT

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {Outcome.FAILED: "failure", Outcome.UNDECIDED: "error", Outcome.TOLERATED: "skipped"}
_COMMANDS = {
    Outcome.FAILED: "error",
    Outcome.UNDECIDED: "warning",
    Outcome.TOLERATED: "notice",
    Outcome.WARNED: "warning",
}
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}  # as the toolkit of GitHub escapes them
_IN_PROPERTIES = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def read_timestamp(text: str) -> str:
    """Return a date with a time in the form of XML; raise if it is none."""
    try:
        if "T" not in text:
            raise ValueError(text)
        return datetime.fromisoformat(text).isoformat()
    except ValueError as error:
        raise InvalidInputError(
            f"--timestamp {text!r} is not a date with a time; write it as in 2026-03-31T10:00:00Z "
            "(ISO 8601)."
        ) from error


def junit(result: pl.DataFrame, gate: Gate, timestamp: str | None) -> bytes:
    """Write the verdicts that decide as tests: failures, and errors that are inconclusive."""
    name = f"balframe {gate.command}"
    cases = gate.cases(result)
    if not gate.has_judged_rows(result):
        no_row = Case(name, "all rows", "inconclusive", NO_VERDICT, None, Outcome.UNDECIDED)
        cases = [no_row, *cases]
    outcomes = [case.outcome for case in cases]
    totals = {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(outcomes.count(Outcome.FAILED)),
        "errors": str(outcomes.count(Outcome.UNDECIDED)),
        "time": "0",  # programs need one, and the same verdicts give the same file
    }
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", totals)
    suite.set("skipped", str(outcomes.count(Outcome.TOLERATED)))
    if timestamp is not None:
        suite.set("timestamp", read_timestamp(timestamp))
    last = gate.last_value(result)
    if last is not None:
        properties = ElementTree.SubElement(suite, "properties")
        key = str(gate.statuses.last_key)
        ElementTree.SubElement(properties, "property", name=key, value=_legal_in_xml(last))
    for case in cases:
        _add_test(suite, case)
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _add_test(suite: ElementTree.Element, case: Case) -> None:
    test = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_legal_in_xml(case.rule),
        name=_legal_in_xml(case.segment),
        time="0",
    )
    if case.outcome in _TAGS:
        is_undecided = case.outcome is not Outcome.FAILED
        message = f"{case.status}: {case.message}" if is_undecided else case.message
        tag = _TAGS[case.outcome]
        ElementTree.SubElement(test, tag, message=_legal_in_xml(message), type=case.status)
    elif case.outcome is Outcome.WARNED:
        text = f"warning: {case.status}: {case.message}"
        ElementTree.SubElement(test, "system-out").text = _legal_in_xml(text)
    elif case.note:
        ElementTree.SubElement(test, "system-out").text = _legal_in_xml(case.note)


def _legal_in_xml(text: str) -> str:
    """Replace what XML cannot contain."""
    return _NOT_IN_XML.sub("\ufffd", text)


def github(result: pl.DataFrame, gate: Gate) -> bytes:
    """Write the verdicts that decide and do not pass as commands that annotate a workflow."""
    lines = [
        annotation(_COMMANDS[case.outcome], f"{case.status}: {case.segment}", case.message)
        for case in gate.cases(result)
        if case.outcome in _COMMANDS
    ]
    if not gate.has_judged_rows(result):
        lines.insert(0, annotation("error", f"balframe {gate.command}", NO_VERDICT))
    return "".join(f"{line}\n" for line in lines).encode()


def github_outputs(result: pl.DataFrame, gate: Gate) -> bytes:
    """Write the outputs of a step: one verdict on all, and the numbers that it follows from.

    The verdicts of rules that only warn do not count. If there are no others, an inconclusive one
    makes the verdict inconclusive, as in a first run without a baseline. `allow_inconclusive` does
    not matter: the exit code says what follows from an inconclusive verdict.
    """
    warned, deciding = gate.split_warnings(gate.deciding_rows(result))
    statuses = deciding.get_column("status").to_list()
    good, bad, undecided = gate.statuses.texts
    judged = statuses or warned.get_column("status").to_list()
    is_undecided = undecided in judged or not gate.has_judged_rows(result)
    verdict = bad if bad in statuses else undecided if is_undecided else good
    counts = {f"n-{text}": statuses.count(text) for text in gate.statuses.texts}
    outputs = {"verdict": verdict, **counts}
    return "".join(f"{name}={value}\n" for name, value in outputs.items()).encode()


def annotation(command: str, title: str, message: str) -> str:
    """Return a command that annotates a workflow of GitHub."""
    return f"::{command} title={_escaped(title, _IN_PROPERTIES)}::{_escaped(message, _IN_DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
