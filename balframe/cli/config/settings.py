"""What a configuration sets for a command: its tables, which inherit, and their keys."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from balframe.cli.command import CommandArgument, CommandOption, takes_path
from balframe.cli.toml.forms import TEXT, Source, path_from, text, typed_value
from balframe.cli.toml.variables import expand, missing_error, missing_variables
from balframe.errors import InvalidInputError, UnknownNameError, listed, not_found

OWN_NAME, PYPROJECT = "balframe.toml", "pyproject.toml"
_REPOSITORY_MARKS = (".git", ".hg")  # what the root of a repository contains


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration: its path, its table, and the names of the tables around that."""

    path: Path
    table: Mapping[str, Any]
    prefix: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the path as messages have it: from the working folder."""
        return relative_to_working_folder(self.path)

    def place(self, *tables: str) -> str:
        """Return the name of the file with that of a table in it: balframe.toml, [check]."""
        names = [*self.prefix, *tables]
        return f"{self.name}, [{'.'.join(names)}]" if names else self.name


def relative_to_working_folder(path: Path) -> str:
    """Return a path from the working folder, or the absolute one on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on Windows
        return str(path)


def read_config(path: Path) -> ConfigFile:
    """Return the configuration of a file that is named; raise if it has none."""
    config = _read(path)
    if config is None:
        raise InvalidInputError(
            f"{relative_to_working_folder(path)} has no table [tool.balframe]. Add it, or give "
            "another file as --config."
        )
    return config


def find_config() -> ConfigFile | None:
    """Return the configuration of the working folder, or of the nearest folder above it.

    The search ends at the root of the repository; outside of one, at the working folder.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # removed by another program
        return None
    return next(filter(None, map(_config_in, _folders(folder))), None)


def _folders(folder: Path) -> list[Path]:
    folders = [folder, *folder.parents]
    roots = [
        i
        for i, path in enumerate(folders)
        if any((path / mark).exists() for mark in _REPOSITORY_MARKS)
    ]
    return folders[: roots[0] + 1] if roots else [folder]


def _config_in(folder: Path) -> ConfigFile | None:
    """Return the configuration of a folder; raise if it has two."""
    configs = [
        config
        for path in (folder / OWN_NAME, folder / PYPROJECT)
        if path.is_file()
        for config in [_read(path)]
        if config is not None
    ]
    if len(configs) > 1:
        own, shared = configs
        raise InvalidInputError(
            f"{own.name} and {shared.place()} are both configurations. Keep one, or name a file "
            "with --config."
        )
    return configs[0] if configs else None


def _read(path: Path) -> ConfigFile | None:
    """Read a file; None is a pyproject.toml without a table for balframe."""
    is_shared = path.name == PYPROJECT
    try:
        text = path.read_text("utf-8-sig")
        if is_shared and "balframe" not in text:
            return None
        content = _parse(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(
            f"the configuration {relative_to_working_folder(path)} cannot be read: {reason}. "
            "Correct it, or give --no-config."
        ) from error
    if not is_shared:
        return ConfigFile(path, content)
    tools = content.get("tool")
    table = tools.get("balframe") if isinstance(tools, Mapping) else None
    if not isinstance(table, Mapping):
        return None
    return ConfigFile(path, table, ("tool", "balframe"))


def _parse(text: str) -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(text)


Parameter = CommandArgument | CommandOption

_LIKE_A_KEY = 0.8  # similarity of the name of a run to a key from which it is a misspelled key


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a table, its value, and the option that it is for."""

    key: str
    value: Any
    option: Parameter
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """Values by the names of options, as click takes them, and the place of each."""

    values: Mapping[str, Any]
    places: Mapping[str, str]


def keys_of(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    """Return options by their keys: their names, and those of the parameters of Python."""
    options = [parameter for parameter in parameters if parameter.expose_value]
    by_parameter: dict[str, Parameter] = {}
    for option in options:
        if isinstance(option, CommandOption) and option.parameter:
            by_parameter.setdefault(option.parameter, option)
    return {**by_parameter, **{str(option.name): option for option in options}}


@dataclass(frozen=True, slots=True)
class CommandConfig:
    """The part of a configuration that one command reads.

    `commands` are the names of all that have a table, and `other_keys` returns the keys of all of
    them, which takes a while.
    """

    config: ConfigFile
    command: str
    parameters: Sequence[Parameter]
    commands: Collection[str]
    other_keys: Callable[[], Collection[str]]

    def place(self, *run: str) -> str:
        """Return the name of the file with that of the table of the command, or of a run."""
        return self.config.place(self.command, *run)

    def _help(self) -> str:
        """Return the command that lists the options, which are keys too."""
        return f"balframe {self.command} --help"

    @property
    def runs(self) -> Mapping[str, Any]:
        """Return the tables in that of the command which are runs of their own, by name."""
        keys = keys_of(self.parameters)
        tables = {
            name: table
            for name, table in self._own_table.items()
            if isinstance(table, Mapping) and _normal(name) not in keys
        }
        for name, table in tables.items():
            self._check_run(name, table, [*keys])
        return tables

    def is_table_of_option(self, name: str) -> bool:
        """Return whether a name is that of a table which is the value of an option."""
        is_table = isinstance(self._own_table.get(name), Mapping)
        return is_table and _normal(name) in keys_of(self.parameters)

    def _check_run(self, name: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        """Raise for a table that is rather the value of a misspelled key than a run."""
        near = get_close_matches(_normal(name), keys, n=1, cutoff=_LIKE_A_KEY)
        if near:
            raise UnknownNameError(
                f"{self.place()}: {name!r} is a table, not an option; did you mean {near[0]!r}? If "
                "it is a named run, give it a name that is less like an option."
            )
        others = [key for key in table if _normal(key) not in keys]
        is_like_a_run = len(others) < len(table) or any(
            get_close_matches(_normal(key), keys, n=1, cutoff=_LIKE_A_KEY) for key in others
        )
        if others and not is_like_a_run:
            raise UnknownNameError(
                "{}: {!r} is a table with the keys {}. Keys of a named run are options, but "
                "these are not. As the value of an option: {}",
                self.place(),
                name,
                listed(map(repr, others)),
                not_found("key", name, keys, listing=self._help()),
            )
        self._read_table(table, (self.command, name))

    @property
    def _own_table(self) -> Mapping[str, Any]:
        """Return the table of the command, which is empty if there is none."""
        names = [name for name in self.config.table if self._is_table_of(name, self.command)]
        if len(names) > 1:
            raise InvalidInputError(
                f"{self.config.name} has the tables {' and '.join(map(repr, names))} for one "
                "command; keep one."
            )
        table: Mapping[str, Any] = self.config.table[names[0]] if names else {}
        return table

    def _is_table_of(self, name: str, command: str) -> bool:
        """Return whether a key at the top is the table of a command, and no option."""
        return isinstance(self.config.table[name], Mapping) and name.replace("_", "-") == command

    def settings(self, run: str | None, typed: Collection[str]) -> Settings:
        """Return what the tables set for the options that are not typed; the most special wins.

        Raise for unknown keys, for values that do not suit, and for variables that are not set.
        """
        top = {
            name: value
            for name, value in self.config.table.items()
            if not any(self._is_table_of(name, command) for command in self.commands)
        }
        own = {name: value for name, value in self._own_table.items() if name not in self.runs}
        layers = [
            self._read_table(top, ()),
            self._read_table(own, (self.command,)),
            *([] if run is None else [self._read_table(self.runs[run], (self.command, run))]),
        ]
        merged: dict[str, list[Setting]] = {}
        for layer in layers:
            merged |= layer
        replaced = {_group(option) for option in self.parameters if option.name in typed}
        settings = [
            setting
            for group, members in merged.items()
            if group not in replaced
            for setting in members
            if setting.value
            != []  # no value: that of a weaker place is dropped, and the default counts
        ]
        self._check_variables(settings)
        return self._read_values(settings, run, typed)

    def _read_table(
        self, table: Mapping[str, Any], tables: tuple[str, ...]
    ) -> dict[str, list[Setting]]:
        """Return the settings of a table, by the groups of options that they replace together."""
        place, keys = self.config.place(*tables), keys_of(self.parameters)
        groups: dict[str, list[Setting]] = {}
        for key, value in table.items():
            option = keys.get(_normal(key))
            if option is None:
                if not tables and _normal(key) in self.other_keys():
                    continue
                allowed = [*keys, *([] if tables else self.commands)]
                raise UnknownNameError(
                    "{}: {}", place, not_found("key", key, allowed, listing=self._help())
                )
            group = groups.setdefault(_group(option), [])
            other = next((member.key for member in group if member.option is option), None)
            if other is not None:
                raise InvalidInputError(
                    f"{place}: {other!r} and {key!r} are one option; keep one of them."
                )
            group.append(Setting(key, value, option, tables))
        return groups

    def _check_variables(self, settings: Sequence[Setting]) -> None:
        """Raise for environment variables that are not set, all of them at once."""
        missing: dict[str, str] = {}
        for setting in settings:
            for name in missing_variables(setting.value):
                missing.setdefault(name, setting.key)
        if missing:
            raise InvalidInputError("{}: {}", self.config.name, missing_error(missing))

    def _read_values(
        self, settings: Sequence[Setting], run: str | None, typed: Collection[str]
    ) -> Settings:
        """Return the values of options that are not typed, with their places."""
        folder = relative_to_working_folder(self.config.path.parent)
        values: dict[str, Any] = {}
        places: dict[str, str] = {}
        for setting in settings:
            source = Source(folder, self.config.place(*setting.tables), self.config.name, run)
            for name, value in self._option_values(setting, source).items():
                if name in values:
                    raise InvalidInputError(
                        f"{source.table}: {setting.key!r} sets what another key sets; keep one of "
                        "them."
                    )
                if name not in typed:
                    values[name], places[name] = value, source.table
        return Settings(values, places)

    def _option_values(self, setting: Setting, source: Source) -> dict[str, Any]:
        """Return the values of the options that a key stands for, by their names."""
        option, value = setting.option, expand(setting.value)
        by_name = {str(parameter.name): parameter for parameter in self.parameters}
        try:
            if not isinstance(option, CommandOption):
                items = value if isinstance(value, list) else [value]
                _check_no_empty_path(setting.key, option, items)
                return {str(option.name): [_file(source.folder, text(item)) for item in items]}
            form = option.form or TEXT
            spread = None if form.spread is None else form.spread(value, source)
            if spread is None:
                spread = {str(option.name): value}
            for name, part in spread.items():
                _check_no_empty_path(setting.key, by_name[name], part)
            return {
                name: typed_value(cast(CommandOption, by_name[name]), part, source.folder)
                for name, part in spread.items()
            }
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
            advice = " A value for other commands belongs in the table of each, such as [report]."
            raise InvalidInputError(
                f"{source.table}: {setting.key!r} is {_written(setting.value, value)}. For "
                f"balframe {self.command}, give {error}.{'' if setting.tables else advice}"
            ) from error


def _check_no_empty_path(key: str, option: Parameter, value: Any) -> None:  # noqa: ANN401
    """Raise if the text for a file is empty, which would be the folder of the configuration."""
    if takes_path(option) and "" in (value if isinstance(value, list) else [value]):
        kind = option.metavar if isinstance(option, CommandOption) else "the path of a file"
        raise ValueError(f"{kind}, not empty text. For no value, omit {key!r} or give []")


def _file(folder: str, path: str) -> str:
    """Return a file to read as an argument, which must not look like an option."""
    path = path_from(folder, path)
    return f"./{path}" if path.startswith("-") and path != "-" else path


def _written(value: Any, expanded: Any) -> str:  # noqa: ANN401 (of TOML)
    """Return a value for a message, and what it is with environment variables in place."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if value == expanded else f"{value!r}, which is {expanded!r}"


def _group(option: Parameter) -> str:
    """Return what options that replace each other share: their parameter, or the own name."""
    if isinstance(option, CommandOption) and option.is_alternative:
        return option.parameter
    return str(option.name)


def _normal(key: str) -> str:
    return key.replace("-", "_")
