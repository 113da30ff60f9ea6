"""The command `audit`: it reads files, and writes a page."""

import sys
from pathlib import Path
from typing import Any

from balframe.cli import outputs
from balframe.cli.as_typed import as_typed
from balframe.cli.over_files import command_over_files, options_over_files, rows_and_values
from balframe.cli.predictions import beside_scores
from balframe.cli.reading.inputs import Input
from balframe.cli.running import opened_files, written_to
from balframe.cli.streams import INPUT, PAGE
from balframe.display.audit.audit_of_frame import audit, page_of
from balframe.display.audit.page import check_can_be_html
from balframe.errors import InvalidInputError
from balframe.progress import busy
from balframe.verbs.declaration import parameters_of

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
            outputs.write_content(text.encode(), out)


def _checked(asked: str | None, out: Path | None) -> str:
    """Choose the format, and refuse what could not be written."""
    if asked is None and out is None and sys.stdout.isatty():
        raise InvalidInputError(
            "a page is not for a terminal. Give --out audit.html or --out audit.md, or redirect "
            "the output."
        )
    kind = asked or ("html" if out is None else outputs.of_ending(out, _ENDINGS))
    outputs.check(kind, out, of_rules=False)
    if kind == "html":
        check_can_be_html()
    return kind


def _call(asked: Input, typed: dict[str, Any]) -> str:
    """Write the command for the page, which does not depend on where it is saved."""
    of_input = {"input_format": asked.format, "separator": asked.separator}
    options = [*options_over_files(_PARAMETERS), *INPUT]
    return as_typed("audit", asked.names, options, {**typed, **of_input}, "audit.html")


audit_command = command_over_files(audit, _run, _PARAMETERS, PAGE)
