"""The commands of functions that are not methods: `audit`, `store`, `metrics` and `demo`.

Each loads what it needs when it is made or run, because that takes most of its time.
"""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balframe._atomic_write import check_place, replace
from balframe._progress import busy
from balframe._text import escape_controls
from balframe.cli.audit_cover import check_not_listed, with_input_files
from balframe.cli.command import FILE, Command, CommandOption
from balframe.cli.command_text import page_command
from balframe.cli.files.open_files import Input, check_not_overwritten
from balframe.cli.files.paths import is_same_file
from balframe.cli.output import (
    OUTPUT_FORMATS,
    PAGE_FORMATS,
    Output,
    format_by_ending,
    output_options,
    page_options,
    write_content,
)
from balframe.cli.run import one_line_errors, open_checked
from balframe.errors import InvalidInputError, listed

if TYPE_CHECKING:
    import polars as pl

_DEMO_TITLE = """\
COMPAS rated the risk that 7,214 defendants would offend again (ProPublica 2016).
fpr is the share rated medium or high among those who did not offend again.
"""
_DEMO_FILE = "compas.csv"
_DEMO_FORMATS = ("csv", "ndjson", "parquet")  # that commands read
_DEMO_COLUMNS = "--y-true reoffended --y-pred high_risk --by race --counts n"
_NEXT_COMMANDS = (  # to type after the demo, with a file in the place of {0}
    f"balframe report {{0}} {_DEMO_COLUMNS} --interval",
    f"balframe gaps {{0}} {_DEMO_COLUMNS} --metric false_positive_rate",
    f"balframe check {{0}} {_DEMO_COLUMNS} --rule 'balanced_accuracy >= 0.6'",
    f"balframe audit {{0}} {_DEMO_COLUMNS} --title COMPAS --unit person,people --out audit.html",
)


def audit_command(panel: str) -> Command:
    """Make the command `audit`, which reads files and writes a page."""
    from balframe.api.method import function_parameters
    from balframe.audit_page.audit import audit
    from balframe.cli.file_commands import file_command

    return file_command(audit, _audit, function_parameters(audit), page_options(), panel=panel)


def _audit(source: Input, values: dict[str, Any]) -> None:
    from rich.filesize import decimal

    from balframe.api.method import function_parameters
    from balframe.audit_page.audit import audit, audit_frame
    from balframe.audit_page.evidence.gather import evidence_text
    from balframe.cli.file_commands import function_options, input_options, rows_and_arguments
    from balframe.cli.threshold_option import copy_scores

    requested, out, evidence = values.pop("format"), values.pop("out"), values.pop("evidence")
    parameters = function_parameters(audit)

    def check() -> None:
        _page_format(requested, out)
        _check_evidence(evidence, out, source)

    with open_checked(source, check) as opened:
        rows, line_values = copy_scores(opened.rows, values)
        rows, arguments = rows_and_arguments(parameters, rows, line_values)
        input_values = {
            "input_format": source.format,
            "separator": source.separator,
            "null": list(source.null_values) or None,
            "type": values["type"],
        }
        options = [*function_options(parameters), *input_options()]
        command = page_command(
            "audit", source.names, options, {**values, **input_values}, "audit.html"
        )
        cover = with_input_files(arguments["cover"], opened.files.sources)
        check_not_listed(out, cover)
        check_not_listed(evidence, cover, "--evidence")
        arguments["cover"] = cover
        with busy(opened.progress_text):
            page = audit_frame(rows, arguments, command)
            is_html = _page_format(requested, out) == "html"
            text = page.html() if is_html else page.markdown()
        outputs = [("--out", out, "HTML" if is_html else "Markdown", text)]
        if evidence is not None:  # first, so that no page is written where this fails
            outputs.insert(0, ("--evidence", evidence, "evidence", evidence_text(page.data)))
        for option, path, kind, written in outputs:
            content = written.encode()
            write_content(content, path, option)
            if path is not None:
                what = f"{kind}, {decimal(len(content))}"
                print(f"wrote {escape_controls(str(path))} ({what})", file=sys.stderr)


def _page_format(requested: str | None, out: Path | None) -> str:
    """Choose the format of a page, and refuse what could not be written."""
    from balframe.audit_page.page import check_can_be_html

    if requested is None and out is None and sys.stdout.isatty():
        raise InvalidInputError(
            "a page is not for a terminal. Give --out audit.html or --out audit.md, or redirect "
            "the output."
        )
    endings = {ending: name for name, some in PAGE_FORMATS.items() for ending in some}
    file_format = requested or ("html" if out is None else format_by_ending(out, endings))
    if out is not None:
        check_place(out, f"--out {str(out)!r}")
    if file_format == "html":
        check_can_be_html()
    return file_format


def _check_evidence(evidence: Path | None, out: Path | None, source: Input) -> None:
    """Refuse a file of evidence that is the page, or is read, or cannot be written."""
    if evidence is None:
        return
    option = "--evidence"
    if out is not None and (evidence.resolve() == out.resolve() or is_same_file(evidence, out)):
        raise InvalidInputError(
            f"{option} and --out are the same file, {str(out)!r}. Give two paths."
        )
    check_place(evidence, f"{option} {str(evidence)!r}")
    check_not_overwritten(source, evidence, option)


def store_command(panel: str) -> Command:
    """Make the command `store`, which adds the cells of files to a table of runs."""
    from balframe.api.method import function_parameters
    from balframe.cli.file_commands import file_command
    from balframe.methods.history.store import store

    return file_command(store, _store, function_parameters(store), [], panel=panel)


def _store(source: Input, values: dict[str, Any]) -> None:
    from balframe.api.method import function_parameters
    from balframe.cli.file_commands import rows_and_arguments
    from balframe.cli.files.column_types import with_common_types
    from balframe.frames.history.run_table import is_table, scan_table
    from balframe.methods.history.store import store

    with open_checked(source, lambda: None) as opened:
        rows, arguments = rows_and_arguments(function_parameters(store), opened.rows, values)
        if is_table(arguments["table"]):
            cells = scan_table(arguments["table"])
            names = {*source.roles.name_columns(source.columns)}.intersection(
                cells.collect_schema()
            )
            others = {"table": cells.select(names).unique().collect(engine="streaming")}
            rows, _ = with_common_types(rows, others, names, source.roles)
        if arguments["source"] is None:
            arguments["source"] = listed(source.names)
        with busy(opened.progress_text):
            stored = store(rows, **arguments)
        line = f"run {stored.run!r} {stored.status}: {stored.cells:,} cells of {stored.n:,} rows"
        print(escape_controls(line), file=sys.stderr)


def metrics_command(panel: str) -> Command:
    """Make the command `metrics`, which lists the metrics."""
    return Command(
        "metrics",
        _list_metrics,
        output_options(),
        help="List the metrics: name, aliases, formula, range, which direction is better, what its "
        "limits are for, and source.",
        panel=panel,
        examples=["balframe metrics", "balframe metrics --sort name --out metrics.md"],
    )


def _list_metrics(**values: Any) -> None:  # noqa: ANN401
    from balframe.data.list_metrics import list_metrics

    with one_line_errors():
        Output(**values).write(list_metrics(detail=True))


def demo_command(panel: str) -> Command:
    """Make the command `demo`, which shows what a command does."""
    data = CommandOption(
        "--data",
        panel="Output",
        help="Also write the demo data to this file (.csv, .ndjson or .parquet), to use with other "
        "commands.",
        metavar="FILE",
        type=FILE,
    )
    force = CommandOption(
        "--force",
        panel="Output",
        help="Let --data replace a file that exists.",
        is_flag=True,
    )
    return Command(
        "demo",
        _demo,
        [data, force, *output_options()],
        help="Score published data: the COMPAS recidivism scores, by race.",
        panel=panel,
        examples=["balframe demo", f"balframe demo --data {_DEMO_FILE}"],
    )


def _demo(data: Path | None, force: bool, **values: Any) -> None:  # noqa: ANN401
    from balframe.data import datasets
    from balframe.methods.comparisons.gaps import gaps
    from balframe.methods.scores.report import report

    with one_line_errors():
        output = Output(**values)
        is_for_people = output.check().name == "table" and output.out is None
        table = datasets.compas()
        if data is not None and output.out is not None and data.resolve() == output.out.resolve():
            raise InvalidInputError(
                f"--data and --out are the same file, {str(output.out)!r}. Give two paths."
            )
        if data is not None:
            _write_data(table, data, force)
        if is_for_people:
            print(_DEMO_TITLE)
        request = (table, "reoffended", "high_risk")
        scores = ["accuracy", "balanced_accuracy", "fpr"]
        output.write(report(*request, by="race", counts="n", metrics=scores, interval=True))
        if is_for_people:
            print("\nWhose fpr differs from that of all other people?\n")
            gaps_output = Output(**values | {"sort": None})  # which may name a column of scores
            gaps_output.write(gaps(*request, by="race", counts="n", metrics="fpr"))
            first = [] if data is not None else [f"balframe demo --data {_DEMO_FILE}"]
            path = shlex.quote(str(data or _DEMO_FILE))
            commands = [*first, *(command.format(path) for command in _NEXT_COMMANDS)]
            print("\n  ".join(["\nTry next:", *commands]))


def _write_data(table: "pl.DataFrame", file: Path, force: bool) -> None:
    """Write the data to a file that commands can read, and replace one only with `force`."""
    file_format = file.suffix.lower().removeprefix(".")
    option = f"--data {str(file)!r}"
    if file_format not in _DEMO_FORMATS:
        raise InvalidInputError(
            f"{option} does not have a supported file extension; use one of: "
            f"{listed(_DEMO_FORMATS)}."
        )
    check_place(file, option)
    if file.is_file() and not force:
        raise InvalidInputError(
            f"{option} exists already. Give another path, or --force to replace it."
        )
    try:
        replace(file, OUTPUT_FORMATS[file_format].write(table, Output()))
    except OSError as error:
        raise InvalidInputError(f"{option} cannot be written: {error.strerror}.") from error
