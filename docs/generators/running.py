"""Runs the code of a page: the tests do it, and so does the site where a page shows charts.

Blocks run in order and in one namespace, those of `sh` and `console` in bash. What a console shows
is compared. A block with a title is a file for the blocks that follow it. Blocks within HTML
comments are blocks too.
"""

import contextlib
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from great_tables import GT
from sybil import Document, Example, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from . import figures

NOT_RUN = {"csv", "html", "ini", "json", "markdown", "r", "sql", "text", "toml", "xml", "yaml"}
RUN_BY_CI = "python3 -m venv"
PROMPT = "$ "

BLOCKS = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
HIDDEN = re.compile(r"^[ \t]*<!--\n[ \t]*```.*?\n[ \t]*-->$", re.MULTILINE | re.DOTALL)
INFO = re.compile(r"(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?")
MARKERS = re.compile(r"<!-- *(?P<kind>chart|figure)\b(?P<rest>.*?)-->", re.DOTALL)
NAME_AND_CAPTION = re.compile(r": *(?P<name>\w+) *\| *(?P<caption>[^|\n]*[^|\s]) *")
EXIT_CODE = re.compile(r"# exit code (\d+)\s*\Z")
examples_of_doctest = DocTestStringParser()
_run_python = PythonEvaluator()


class PageError(Exception):
    """A page that cannot be run or shown: where, and why."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The place of a chart or table that the page's code has made, or of a figure."""

    kind: str
    name: str
    caption: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A chart or table of a page, and what is to be seen on it."""

    chart: Any
    caption: str


def run(path: Path, directory: Path) -> list[Shown]:
    """Run a page with `directory` as the working directory; its charts, in order."""
    return _evaluated(path, directory, lambda markers: True)


def charts_of(path: Path, directory: Path) -> list[Shown]:
    """Give the charts of a page, running its code only where it makes one of them."""
    return _evaluated(path, directory, lambda markers: any(m.kind == "chart" for m in markers))


def _evaluated(
    path: Path, directory: Path, needs_code: Callable[[list[Marker]], bool]
) -> list[Shown]:
    shown: list[Shown] = []

    def regions(document: Document) -> Iterator[Region]:
        yield from _blocks(document)
        yield from _markers(document, lambda example: shown.append(_shown(example)))

    document = Document.parse(str(path), regions)
    document.namespace["__name__"] = "__main__"
    examples = list(document.examples())
    markers = [example.parsed for example in examples if isinstance(example.parsed, Marker)]
    code_runs = needs_code(markers)
    with contextlib.chdir(directory), pl.Config():  # which pages may set
        for example in examples:
            if code_runs or isinstance(example.parsed, Marker):
                example.evaluate()
    return shown


def _where(document: Document, position: int) -> str:
    return f"{document.path}, {document.line_column(position)}"


def _blocks(document: Document) -> Iterator[Region]:
    place = 0
    for region in [*BLOCKS(document), Region(len(document.text), len(document.text))]:
        if prompt := re.search(r"^[ \t]*>>> ", document.text[place : region.start], re.MULTILINE):
            where = _where(document, place + prompt.start())
            raise PageError(f"{where}: code has to be in a fenced block.")
        place = region.end
        if region.lexemes:
            yield from _parts(region, document)


def _parts(region: Region, document: Document) -> Iterator[Region]:
    """Split a block into what is evaluated: a file to write, examples of a doctest, or code."""
    where = _where(document, region.start)
    source, info = region.lexemes["source"], region.lexemes["info"].strip()
    found = INFO.fullmatch(info)
    if found is None:
        raise PageError(f'{where}: {info!r} is neither a language nor one and title="a file".')
    language, title = found["language"], found["title"]
    if title is not None:
        yield Region(region.start, region.start + 1, (title, source), _write)
    start = region.start + 1
    if language == "pycon":
        examples = list(examples_of_doctest(source, document.path))
        if not source.startswith(">>> ") or not examples or re.search(r"doctest:.*SKIP", source):
            raise PageError(f"{where}: a block of pycon begins with >>> and skips nothing.")
        for example in examples:
            example.adjust(region, source)
            yield example
    elif language == "python":
        yield Region(start, region.end, source, _run_python)
    elif language == "sh":
        if not source.startswith(RUN_BY_CI):
            yield Region(start, region.end, source, _run_sh)
    elif language == "console":
        if not source.startswith(PROMPT):
            raise PageError(f"{where}: a block of console begins with a prompt, {PROMPT!r}.")
        yield Region(start, region.end, source, _run_console)
    elif language not in NOT_RUN:
        raise PageError(
            f"{where}: {language!r} is not a language that is run (pycon, python, sh, console) "
            f"or shown ({', '.join(sorted(NOT_RUN))})."
        )


def _write(example: Example) -> None:
    title, source = example.parsed
    path = Path(title)
    if path.is_absolute() or ".." in path.parts:
        raise PageError(f"{example.path}, line {example.line}: {title!r} is outside of the page.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")


def _run_sh(example: Example) -> str | None:
    """Run commands, which have to end with the exit code that the last line names."""
    return _failure(example.parsed, *_piped(example.parsed))


def _run_console(example: Example) -> str | None:
    """Run command after command, and compare what each shows on a terminal without colours.

    Windows has no such terminals: there, only exit codes are compared.
    """
    for command in re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)[1:]:
        typed, _, expected = command.partition("\n")
        is_shown = sys.platform != "win32"
        code, text = _on_terminal(typed) if is_shown else _piped(typed)
        if failure := _failure(typed, code, text):
            return failure
        if is_shown and _without_spaces_at_ends(text) != _without_spaces_at_ends(expected):
            return f"{typed}\nshows:\n{text}\ninstead of:\n{expected}"
    return None


def _piped(commands: str) -> tuple[int, str]:
    done = subprocess.run(
        _bash(commands),
        env=os.environ | {"PATH": _path()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def _on_terminal(commands: str) -> tuple[int, str]:
    from . import terminal  # which Windows cannot import

    return terminal.run(_bash(commands), stdin=subprocess.DEVNULL, PATH=_path(), TERM="dumb")


def _bash(commands: str) -> list[str]:
    return ["bash", "-eu", "-o", "pipefail", "-c", commands]


def _path() -> str:
    """Let the programs of this Python come first."""
    return f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"


def _failure(commands: str, code: int, output: str) -> str | None:
    wanted = EXIT_CODE.search(commands)
    expected = int(wanted[1]) if wanted else 0
    if code == expected:
        return None
    return f"{commands}\nexit code {code} instead of {expected}:\n{output}"


def _without_spaces_at_ends(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _markers(document: Document, show: Callable[[Example], None]) -> Iterator[Region]:
    blocks = [(block.start, block.end) for block in BLOCKS(document)]
    for found in MARKERS.finditer(document.text):
        if any(start < found.start() < end for start, end in blocks):
            continue
        rest = NAME_AND_CAPTION.fullmatch(found["rest"])
        if rest is None or not rest["caption"].endswith("."):
            raise PageError(
                f"{_where(document, found.start())}: {found[0]} has to be "
                f"<!-- {found['kind']}: name | A caption, which is a sentence. -->"
            )
        marker = Marker(found["kind"], rest["name"], rest["caption"])
        yield Region(found.start(), found.end(), marker, show)


def _shown(example: Example) -> Shown:
    marker = example.parsed
    known = vars(figures) if marker.kind == "figure" else example.namespace
    if marker.name not in known:
        raise PageError(
            f"{example.path}, line {example.line}: there is no {marker.kind} {marker.name!r}."
        )
    chart = known[marker.name]() if marker.kind == "figure" else known[marker.name]
    if not isinstance(chart, (alt.TopLevelMixin, GT)):
        raise PageError(
            f"{example.path}, line {example.line}: {marker.name!r} is a {type(chart).__name__}, "
            "not a chart of Altair or a table of great_tables."
        )
    return Shown(chart, marker.caption)
