"""The command `audit`: it reads files, and writes a page."""

import sys
from pathlib import Path
from typing import Any

from balframe._progress import busy
from balframe.api.method import parameters_of
from balframe.audit_page.audit import audit, page_of
from balframe.audit_page.page import check_can_be_html
from balframe.cli import output
from balframe.cli.as_typed import as_typed
from balframe.cli.files.open_files import Input
from balframe.cli.over_files import command_over_files, options_over_files, rows_and_values
from balframe.cli.run import opened_files, written_to
from balframe.cli.streams import INPUT, PAGE
from balframe.cli.threshold_option import beside_scores
from balframe.errors import InvalidInputError

_PARAMETERS = parameters_of(audit)
_ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def _run(asked: Input, typed: dict[str, Any]) -> None:
    kind, out = typed.pop("format"), typed.pop("out")
    with opened_files(asked, lambda: _checked(kind, out)) as opened:
        rows, values = rows_and_values(_PARAMETERS, *beside_scores(opened.rows, typed))
        with busy(opened.counting):
            page = page_of(rows, values, _call(asked, typed))
            text = page.html() if _checked(kind, out) == "html" else page.markdown()
        with written_to(out):
            output.write_content(text.encode(), out)


def _checked(asked: str | None, out: Path | None) -> str:
    """Choose the format, and refuse what could not be written."""
    if asked is None and out is None and sys.stdout.isatty():
        raise InvalidInputError(
            "a page is not for a terminal. Give --out audit.html or --out audit.md, or redirect "
            "the output."
        )
    kind = asked or ("html" if out is None else output.of_ending(out, _ENDINGS))
    output.check(kind, out, of_rules=False)
    if kind == "html":
        check_can_be_html()
    return kind


def _call(asked: Input, typed: dict[str, Any]) -> str:
    """Write the command for the page, which does not depend on where it is saved."""
    of_input = {"input_format": asked.format, "separator": asked.separator}
    options = [*options_over_files(_PARAMETERS), *INPUT]
    return as_typed("audit", asked.names, options, {**typed, **of_input}, "audit.html")


audit_command = command_over_files(audit, _run, _PARAMETERS, PAGE)
