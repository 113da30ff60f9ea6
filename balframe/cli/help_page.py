"""The help of the program and of its commands: panels of options and commands.

The commands and their parameters are those of the module `command`, which loads this one.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

_STYLES = {
    "option": "bold cyan",
    "switch": "bold green",
    "negative_option": "bold magenta",
    "negative_switch": "bold red",
    "usage": "yellow",
    "type_separator": "dim",
}
_ALWAYS_COLORED = ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS")  # environment variables
_BORDER = "dim"
_PANEL_WIDTH = 4  # of its sides


class _OptionHighlighter(RegexHighlighter):
    """Colors the names of options in a text."""

    highlights = [  # noqa: RUF012 (as in rich)
        r"(^|\W)(?P<switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
        r"(?P<usage>Usage: )",
    ]


class _NegativeOptionHighlighter(RegexHighlighter):
    """Colors the names of options that take back others."""

    highlights = [  # noqa: RUF012
        r"(^|\W)(?P<negative_switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<negative_option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
    ]


class _MetavarHighlighter(RegexHighlighter):
    """Dims the lines between choices."""

    highlights = [r"(?P<type_separator>\|)"]  # noqa: RUF012


_with_options = _OptionHighlighter()
_with_negative_options = _NegativeOptionHighlighter()
_with_separators = _MetavarHighlighter()


def print_help(ctx: click.Context) -> None:
    """Print the usage of a command, what it does, its options and its commands."""
    is_colored = any(os.environ.get(name) for name in _ALWAYS_COLORED)
    width = os.environ.get("TERMINAL_WIDTH")
    console = Console(
        theme=Theme(_STYLES),
        highlighter=_with_options,
        force_terminal=True if is_colored else None,
        width=None if width is None else int(width),
    )
    command: Any = ctx.command
    console.print(Padding(_with_options(command.get_usage(ctx)), 1), style="bold")
    console.print(Padding(_description(command.help), (0, 1, 1, 1)))
    for panel, parameters in _by_panel(command.params).items():
        console.print(_panel(panel, _parameter_table(parameters)))
    commands = getattr(command, "described_commands", ())
    if commands:
        width_of_names = max(len(str(member.name)) for member in commands)
        for panel, members in _by_panel(commands).items():
            console.print(_panel(panel, _command_table(members, width_of_names)))
    if getattr(command, "examples", ()):
        text = "\n".join(wrapped(line, console.width - _PANEL_WIDTH) for line in command.examples)
        console.print(_panel("Examples", _with_options(Text(text))))
    if command.epilog:
        console.print(Padding(_with_options(command.epilog), 1))


def _description(text: str) -> Text:
    """Return the text of a command, of which the first paragraph stands out."""
    first, *others = text.split("\n\n")
    paragraphs = [_with_options(Text(first.replace("\n", " ")))]
    paragraphs += [_with_options(Text(paragraph, "dim")) for paragraph in others]
    return Text("\n\n").join(paragraphs)


def _by_panel(members: Iterable[Any]) -> dict[str, list[Any]]:
    """Sort parameters or commands by panel, in the order in which the panels occur."""
    panels: dict[str, list[Any]] = {}
    for member in members:
        panels.setdefault(member.panel, []).append(member)
    return panels


def wrapped(command: str, width: int) -> str:
    """Write a command on as many lines as it needs, as a shell reads them."""
    lines = [""]
    for part in re.split(r" (?=--)", command):
        if lines[-1] and len(f"{lines[-1]} {part} \\") > width:
            lines.append("   ")
        lines[-1] = f"{lines[-1]} {part}" if lines[-1] else part
    return " \\\n".join(lines)


def _panel(title: str, content: RenderableType) -> Panel:
    return Panel(content, border_style=_BORDER, title=title, title_align="left")


def _table() -> Table:
    return Table(
        highlight=True, show_header=False, expand=True, box=None, pad_edge=False, padding=(0, 1)
    )


def _parameter_table(parameters: Sequence[Any]) -> Table:
    """Return a table of parameters: marks of required ones, names, what is typed, and help."""
    table = _table()
    has_required = any(parameter.required for parameter in parameters)
    for parameter in parameters:
        mark = Text("*", "red") if parameter.required else ""
        table.add_row(*([mark] if has_required else []), *_parameter_cells(parameter))
    return table


def _parameter_cells(parameter: Any) -> Iterator[RenderableType]:  # noqa: ANN401
    is_option = isinstance(parameter, click.Option)
    metavar = parameter.metavar or ""
    yield _with_options(Text(parameter.opts[0] if is_option else ""))
    yield _with_options(Text("" if is_option else metavar))
    yield _with_negative_options(Text("".join(parameter.secondary_opts)))
    yield Text()  # where short names of options that take back others would stand
    yield _with_separators(Text(metavar if is_option else "", "bold yellow", overflow="fold"))
    remarks = [_with_options(Text(str(parameter.help)))]
    if parameter.default_text:
        remarks.append(Text(f"[default: {parameter.default_text}]", "dim"))
    if parameter.required:
        remarks.append(Text("[required]", "dim red"))
    yield Columns(remarks)


def _command_table(commands: Sequence[Any], width: int) -> Table:
    table = _table()
    table.highlight = False
    table.add_column(style="bold cyan", no_wrap=True, width=width)
    table.add_column(ratio=10)  # takes all remaining width, so that the panels are aligned
    for command in commands:
        paragraph, *_ = str(command.help).split("\n\n")
        table.add_row(Text(str(command.name)), _with_options(Text(paragraph)))
    return table
