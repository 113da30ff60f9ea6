"""What verdicts were computed from, read off the command that runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import polars as pl

from balframe._file_identity import base_name, sha256_of_file
from balframe._progress import busy
from balframe.api.method import Method
from balframe.cli.audit_cover import name_without_folders
from balframe.cli.baseline_files import is_stored_run
from balframe.cli.command import CommandOption
from balframe.cli.command_text import configured_command, one_line_command, text_without_folders
from balframe.cli.config.configured_command import typed_line
from balframe.cli.files.concat_files import Files
from balframe.cli.files.open_files import Input
from balframe.cli.files.paths import Location, is_url, list_files
from balframe.cli.options import ParameterOptions, option_values, parameter_options
from balframe.cli.toml.forms import named_files
from balframe.frames.history.run_table import is_table
from balframe.tables.recognize import recognize_result
from balframe.verdicts.document import InputFile, build_document, complete_options, json_option

_OUTPUT = "Output"  # the panel of options that change no verdict
_WRITTEN_TO = ("format", "out", "also", "cells_out")


def describe_verdicts(
    result: pl.DataFrame, method: Method, files: Files, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document of verdicts of the command that runs.

    `arguments` are those that its options gave the method.
    """
    context = click.get_current_context()
    typed = context.params
    options = [
        option
        for option in context.command.params
        if isinstance(option, CommandOption) and option.name in typed
    ]
    members = parameter_options(method.parameters)
    repeated = [option for option in options if option.name not in _WRITTEN_TO]
    name, line = str(context.info_name), typed_line(context)
    if line is None:
        command = one_line_command(name, typed["files"], repeated, typed)
    else:
        command = configured_command(name, line, repeated, typed)
    with busy(lambda: "computing SHA-256"):
        inputs = [*_files_of_rows(files), *_files_of_options(members, arguments, typed)]
    return build_document(
        result,
        recognize_result(result.columns, method.name),
        inputs,
        _options(method, members, options, arguments, typed),
        f"{command} --format json",
    )


def _options(
    method: Method,
    members: list[ParameterOptions],
    options: list[CommandOption],
    arguments: Mapping[str, Any],
    typed: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of the method, and then the options that are none of its parameters."""
    by_name = {str(option.name): option for option in options}
    values = dict(arguments)
    for member in members:
        name = member.parameter.name
        if isinstance(values[name], pl.DataFrame):  # that a file has, by whose name it is named
            (option,) = member.names
            texts = [
                text_without_folders(by_name[option], text) for text in option_values(typed[option])
            ]
            values[name] = texts[0] if len(texts) == 1 else texts
    of_method = {name for member in members for name in member.names}
    others = {
        name: json_option(typed[name])
        for name, option in by_name.items()
        if name not in of_method and option.panel != _OUTPUT
    }
    return complete_options(method, values) | others


def _files_of_rows(files: Files) -> Iterator[InputFile]:
    for source in files.sources:
        path = "-" if source.is_copy else _name(source.location)
        yield InputFile(path, _sha256(source.location), files.count_rows(source))


def _files_of_options(
    members: list[ParameterOptions], arguments: Mapping[str, Any], typed: Mapping[str, Any]
) -> Iterator[InputFile]:
    """List the files that options name: those of rules, and those whose rows are an argument."""
    for member in members:
        name = member.parameter.name
        for option, reads_file in member.names.items():
            items = option_values(typed[option]) if reads_file else []
            for item in [file for value in items for file in named_files(value)]:
                if isinstance(item, str) and is_stored_run(item):
                    yield InputFile(base_name(item), None, option=name)
                elif isinstance(item, Path) or isinstance(arguments[name], pl.DataFrame):
                    for location in list_files(str(item), Input([str(item)]).accepts):
                        yield InputFile(_name(location), _sha256(location), option=name)


def _name(location: Location) -> str:
    return name_without_folders(str(location)) if is_url(location) else base_name(location)


def _sha256(location: Location) -> str | None:
    """Return the SHA-256 of a file; a URL is not read again, and a table is not a file."""
    return None if is_url(location) or is_table(location) else sha256_of_file(location)
