"""Commands that read a configuration: its values are those of options that are not typed."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import Any, cast

import click

from balframe._text import escape_controls
from balframe.cli.command import FILE, Command, CommandOption
from balframe.cli.config.settings import (
    CommandConfig,
    ConfigFile,
    Settings,
    find_config,
    keys_of,
    read_config,
)
from balframe.cli.files.paths import is_url
from balframe.cli.run import keep_places, one_line_errors
from balframe.cli.toml.forms import InlineRules
from balframe.cli.toml.write import toml_value
from balframe.errors import InvalidInputError, listed

_PANEL = "Configuration"
_FILES = "files"  # the argument
_FORMAT, _OUT = "format", "out"
_CONFIG, _NO_CONFIG, _SHOW_CONFIG = "config", "no_config", "show_config"
_META = "balframe.config"  # key of a context, under which the configuration is
_TYPED = "balframe.typed"  # key under which it has what is typed beside a configuration
_NOTHING = Settings({}, {})


@dataclass(frozen=True, slots=True)
class _Words:
    """What is typed: the values of options, and the files or the name of a run."""

    values: Mapping[str, Any]
    options: Collection[str]

    @property
    def files(self) -> list[str]:
        """Return the words that are not options."""
        files = self.values.get(_FILES)
        return list(files) if isinstance(files, (list, tuple)) else []  # click may have a mark


@dataclass(frozen=True, slots=True)
class TypedLine:
    """What is typed beside a configuration: the name of a run, files, and names of options."""

    config: str
    run: str | None
    files: Sequence[str]
    options: Collection[str]


class ConfiguredCommand(Command):
    """A command over files, whose options and files may stand in a configuration."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, and the configuration for what it does not say."""
        words = None if ctx.resilient_parsing else self._words(ctx, args)
        if words is None or "help" in words.options:
            return super().parse_args(ctx, args)
        self.check_no_empty_path(ctx, words.values)
        with one_line_errors():
            config = _config(words)
            own = None if config is None else self._own_part(ctx, config)
            run = None if own is None else _run_name(own, words)
            settings = _NOTHING if own is None else own.settings(run, words.options)
        ctx.meta[_META] = config
        keep_places(ctx, settings.places)
        if config is not None:
            typed_files = words.files if run is None else words.files[1:]
            ctx.meta[_TYPED] = TypedLine(config.name, run, typed_files, words.options)
        files = words.files if run is None else words.files[1:]
        files = files or settings.values.get(_FILES) or []
        if own is not None and run is not None and not files:
            ctx.fail(f"Missing FILES..., which {own.place(run)} does not name either.")
        replaced = {_FILES, _FORMAT} if _names_format(words) else {_FILES}
        ctx.default_map = {k: v for k, v in settings.values.items() if k not in replaced}
        typed = args if words.files else [*files, *args]
        if _SHOW_CONFIG in words.options:
            self._read_values(ctx, typed)
            ctx.params[_FILES] = files
            print(self._effective(ctx, run, settings, words))
            ctx.exit()
        others = super().parse_args(ctx, typed)
        ctx.params[_FILES] = tuple(files)
        return others

    def _words(self, ctx: click.Context, args: list[str]) -> _Words | None:
        """Return what is typed, or None where click has something against it."""
        try:
            values, _, params = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError:
            return None
        return _Words(
            values, {str(param.name) for param in params if isinstance(param, click.Option)}
        )

    def _own_part(self, ctx: click.Context, config: ConfigFile) -> CommandConfig:
        program: Any = cast(click.Context, ctx.parent).command
        names = program.names_with_files

        def other_keys() -> set[str]:
            parameters = [program.get_command(ctx.parent, name).params for name in names]
            return {key for some in parameters for key in keys_of(some)}

        return CommandConfig(config, str(self.name), self.params, names, other_keys)

    def _read_values(self, ctx: click.Context, args: list[str]) -> None:
        """Read the values of all options; those that are missing stay so."""
        try:
            super().parse_args(ctx, list(args))
        except click.UsageError:
            values = self.lenient_values(ctx, args)
            if all(values.get(param.name) for param in self.params if param.required):
                raise
            ctx.params = values

    def _effective(
        self, ctx: click.Context, run: str | None, settings: Settings, words: _Words
    ) -> str:
        """Return the values of all options as TOML, with the place of each as a comment."""
        rows, unset = [], []
        for parameter in self.params:
            name = str(parameter.name)
            if not parameter.expose_value:
                continue
            value = ctx.params.get(name)
            if value is None or value == () or value == []:
                unset.append(name)
                continue
            is_typed = name in words.options or (
                name == _FILES and len(words.files) > (run is not None)
            )
            source = "command line" if is_typed else settings.places.get(name, "default")
            rows.append((f"{name} = {_as_toml(value)}", source))
        lines = [f"{row}  # {escape_controls(' '.join(source.split()))}" for row, source in rows]
        head = " ".join([f"# balframe {self.name}", *([] if run is None else [run])])
        tail = [f"# without a value: {', '.join(unset)}"] if unset else []
        return "\n".join([head, f"[{self.name}]", *lines, *tail])


def _as_toml(value: Any) -> str:  # noqa: ANN401 (of an option)
    """Return a value of an option as TOML; inline rules are the whole list."""
    is_inline = isinstance(value, (list, tuple)) and any(
        isinstance(item, InlineRules) for item in value
    )
    return toml_value(value[0] if is_inline else value)


def config_options() -> list[CommandOption]:
    """Make the options on the configuration."""
    return [
        CommandOption(
            "--config",
            panel=_PANEL,
            help="Read options from this .toml file. By default, this is balframe.toml or the "
            "table [tool.balframe] of pyproject.toml, in the working folder or above it in "
            "the repository. Options that are typed take precedence.",
            metavar="FILE",
            type=FILE,
            reads_file=True,
            expose_value=False,
        ),
        _flag("--no-config", "Read no options from a file."),
        _flag(
            "--show-config",
            "Show the value of every option as TOML, and where it comes from, and exit.",
        ),
    ]


def _flag(name: str, help: str) -> CommandOption:
    return CommandOption(name, panel=_PANEL, help=help, is_flag=True, expose_value=False)


def config_path(ctx: click.Context) -> Path | None:
    """Return the path of the configuration that a command reads, if there is one."""
    config: ConfigFile | None = ctx.meta.get(_META)
    return None if config is None else config.path


def typed_line(ctx: click.Context) -> TypedLine | None:
    """Return what is typed beside the configuration that a command reads, if there is one."""
    line: TypedLine | None = ctx.meta.get(_TYPED)
    return line


def _config(words: _Words) -> ConfigFile | None:
    """Return the configuration that is named, or the nearest one, or none."""
    is_named = _CONFIG in words.options
    if _NO_CONFIG in words.options:
        if is_named:
            raise InvalidInputError("--config and --no-config contradict each other; give one.")
        return None
    return read_config(Path(words.values[_CONFIG])) if is_named else find_config()


def _run_name(own: CommandConfig, words: _Words) -> str | None:
    """Return the first word if it names a run of the configuration, and None if it is a file."""
    name = words.files[0] if words.files else None
    if name is None:
        return None
    is_file = is_url(name) or name == "-" or bool(glob(name, recursive=True)) or Path(name).exists()
    if name in own.runs:
        if is_file:
            kind = "folder" if Path(name).is_dir() else "file"
            raise InvalidInputError(
                f"{name!r} is a {kind}, and also a name in {own.place()}. Give "
                f"{os.path.join('.', name)} for the {kind}, or rename the table."
            )
        return name
    if not is_file and own.is_table_of_option(name):
        raise InvalidInputError(
            f"{name!r} is not a file, and {own.place(name)} is the value of the option "
            f"--{name.replace('_', '-')}, not a named run. Give a file, or rename the table."
        )
    near = [] if is_file else get_close_matches(name, own.runs)
    if near:
        raise InvalidInputError(
            f"{name!r} is neither a file nor a name in {own.place()}; did you mean "
            f"{' or '.join(map(repr, near))}? Names: {listed(own.runs)}."
        )
    return None


def _names_format(words: _Words) -> bool:
    """Return whether the ending of a file that is typed says more than a configured format."""
    if _OUT not in words.options or _FORMAT in words.options:
        return False
    from balframe.cli.output import has_format  # which loads polars

    return has_format(Path(words.values[_OUT]))
