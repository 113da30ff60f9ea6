"""Writes the descriptions of commands that help and completion read.

python .ci/command_descriptions.py

They are `balframe/cli/command_descriptions.json`. The words are those of the declarations.
"""

import click

from balframe.cli.app import make_program
from balframe.cli.command import Command
from balframe.cli.command_descriptions import FILE, descriptions_text


def descriptions() -> str:
    """Return the text of the file."""
    program = make_program()
    ctx = click.Context(program)
    commands = [program.get_command(ctx, name) for name in program.list_commands(ctx)]
    return descriptions_text(command for command in commands if isinstance(command, Command))


if __name__ == "__main__":
    FILE.write_text(descriptions(), "utf-8")
