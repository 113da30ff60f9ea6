"""The configuration file: where it is looked for, and the table that it contains.

It loads little, because every command looks for one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from balframe.errors import InvalidInputError

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
