"""Commands as `command_descriptions.json` describes them, for help and completion.

The declarations of methods load all that methods need, which takes most of a second. Help and
completion need only words, so the file has them. `.ci/command_descriptions.py` writes it, and a
test fails where it differs from the declarations.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from balframe.cli import completion
from balframe.cli.command import Command, CommandArgument, CommandOption

FILE = Path(__file__).with_suffix(".json")
_HELP_OPTION = "--help"  # which every command adds to its parameters
_PATH = "path"  # of a file; other types are lists of choices, or only text


def described_command(name: str) -> Command | None:
    """Return a command that has a help and completes, but does not run; None if the file lacks it.

    A method that is new has no description until the file is written again.
    """
    description = _descriptions()["commands"].get(name)
    if description is None:
        return None
    parameters = _descriptions()["parameters"]
    return Command(
        name,
        _run_nothing,
        [_parameter(parameters[i]) for i in description["parameters"]],
        help=description["help"],
        panel=description["panel"],
        examples=description["examples"],
    )


def _run_nothing(**values: Any) -> None:  # noqa: ANN401
    raise AssertionError("a described command is never run")


@cache
def _descriptions() -> dict[str, Any]:
    descriptions: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return descriptions


def _parameter(description: Mapping[str, Any]) -> CommandArgument | CommandOption:
    """Make a parameter from its description."""
    options = dict(description)
    names, parameter_type = options.pop("names"), options.pop("type", None)
    if parameter_type is not None:
        is_path = parameter_type == _PATH
        options["type"] = click.Path() if is_path else click.Choice(parameter_type)
    if "complete" in options:
        options["complete"] = getattr(completion, options["complete"])
    return (CommandOption if "panel" in options else CommandArgument)(names, **options)


def descriptions_text(commands: Iterable[Command]) -> str:
    """Return the text of the file: lines of parameters, and of commands with their positions."""
    positions: dict[str, int] = {}  # of parameters, which commands share
    lines = []
    for command in commands:
        described = (_describe(param) for param in command.params if param.opts[0] != _HELP_OPTION)
        texts = map(json.dumps, described)
        description = {
            "panel": command.panel,
            "help": command.help,
            "examples": list(command.examples),
            "parameters": [positions.setdefault(text, len(positions)) for text in texts],
        }
        lines.append(f"{json.dumps(command.name)}: {json.dumps(description)}")
    parameters, described_commands = ",\n".join(positions), ",\n".join(lines)
    return f'{{\n"parameters": [\n{parameters}\n],\n"commands": {{\n{described_commands}\n}}\n}}\n'


def _describe(parameter: CommandArgument | CommandOption) -> dict[str, Any]:
    """Return what help and completion need of a parameter; what is false or empty is left out."""
    description: dict[str, Any] = {
        "names": "/".join([*parameter.opts, *parameter.secondary_opts]),
        "help": parameter.help,
        "metavar": parameter.metavar,
        "required": parameter.required,
        "type": _type(parameter.type),
    }
    if isinstance(parameter, CommandOption):
        description |= {
            "panel": parameter.panel,
            "default_text": parameter.default_text,
            "is_flag": parameter.is_flag,
            "multiple": parameter.multiple,
            "complete": parameter.complete and parameter.complete.__name__,
        }
    else:
        description["nargs"] = parameter.nargs
    return {key: value for key, value in description.items() if value}


def _type(parameter_type: click.ParamType) -> str | list[str] | None:  # type: ignore[type-arg]
    """Return what the shell completes: files, choices, or neither."""
    if isinstance(parameter_type, click.Path):
        return _PATH
    return list(parameter_type.choices) if isinstance(parameter_type, click.Choice) else None
