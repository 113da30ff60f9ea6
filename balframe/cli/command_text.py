"""A command as a reader can type it again: files by their names, and all that was chosen."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from balframe.cli.audit_cover import name_without_folders, note_without_folders
from balframe.cli.command import CommandOption
from balframe.cli.config.configured_command import TypedLine
from balframe.cli.toml.forms import InlineRules, run_of_rules
from balframe.errors import clipped

_MAX_LENGTH = 1_000  # characters of a value in the command that a page shows
_MAX_FILES = 20  # in that command


def page_command(
    command: str,
    files: Sequence[str],
    options: Sequence[CommandOption],
    values: Mapping[str, Any],
    out: str,
) -> str:
    """Write the command of a page, one option a line: all that differs from the defaults.

    Files have their names alone, so that it does not matter where they are. `out` stands in the
    place of the file that was written, so that its name does not matter either. Very long values
    are shortened, and so are long lists of files.
    """
    head = [*_command_words(command, values), *map(_file_word, files[:_MAX_FILES])]
    lines = [
        " ".join(shlex.quote(clipped(word, _MAX_LENGTH)) for word in words)
        for words in [head, *_typed_options(options, values)]
    ]
    note = f"# {len(files):,} files, the first {_MAX_FILES} of which are named here\n"
    return note * (len(files) > _MAX_FILES) + " \\\n    ".join([*lines, f"--out {out}"])


def one_line_command(
    command: str,
    files: Sequence[str],
    options: Iterable[CommandOption],
    values: Mapping[str, Any],
) -> str:
    """Write a command in one line, with every file and all that differs from the defaults.

    Files have their names alone.
    """
    head = [*_command_words(command, values), *map(_file_word, files)]
    return " ".join(
        shlex.quote(word) for words in [head, *_typed_options(options, values)] for word in words
    )


def configured_command(
    command: str, line: TypedLine, options: Iterable[CommandOption], values: Mapping[str, Any]
) -> str:
    """Write a command that reads a configuration in one line, as it is typed.

    What the configuration adds is left to it, because not all of that can be typed. Files have
    their names alone.
    """
    head = ["balframe", command, *([] if line.run is None else [line.run])]
    words = [*head, *map(_file_word, line.files)]
    for option in options:
        if option.name in line.options:
            words += [word for item in _option_words(option, values) for word in item]
    return " ".join(map(shlex.quote, [*words, "--config", name_without_folders(line.config)]))


def _command_words(command: str, values: Mapping[str, Any]) -> list[str]:
    """Return the command, with the run of a configuration that has rules which cannot be typed."""
    run = run_of_rules(values.get("rules"))
    return ["balframe", command, *([] if run is None else [run])]


def _typed_options(
    options: Iterable[CommandOption], values: Mapping[str, Any]
) -> Iterator[list[str]]:
    """Return each option that differs from its default as it is typed, once for each value."""
    for option in options:
        value = values[str(option.name)]
        items = value if isinstance(value, list) else [value]
        if value != option.default and tuple(items) != option.default:
            yield from _option_words(option, values)


def _option_words(option: CommandOption, values: Mapping[str, Any]) -> Iterator[list[str]]:
    """Return an option as it is typed, once for each value."""
    value = values[str(option.name)]
    if value is None:
        return
    if isinstance(value, bool):  # without a second name, false is the default
        names = option.opts if value else option.secondary_opts
        yield names[:1]
        return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, InlineRules):
            yield ["--config", name_without_folders(item.source.file)]
            continue
        is_whole = isinstance(item, float) and item.is_integer()
        text = str(int(item) if is_whole else item)
        yield [option.opts[0], text_without_folders(option, text)]


def text_without_folders(option: CommandOption, text: str) -> str:
    """Return a value of an option, in which a file has its name alone."""
    if option.reads_file:
        return name_without_folders(text)
    return note_without_folders(text) if option.name == "note" else text


def _file_word(path: str) -> str:
    name = name_without_folders(path)
    is_like_option = name.startswith("-") and name != "-"
    return f"./{name}" if is_like_option else name
