"""The program with its commands, each made when it is asked for: making all takes long."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, cast

from typer import Typer
from typer.core import TyperGroup
from typer.main import get_command

from balframe.accessor import Bal, groups, verbs
from balframe.cli.command_classes import Command, without_types
from balframe.cli.conversions import unconverted
from balframe.cli.markup import literal

_WITHOUT_FILES = {"Without files": ["metrics", "demo"]}


class Program(TyperGroup):
    """The program, which knows the names of its commands and makes those that are asked for."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (Typer's own)
        super().__init__(**options)
        self.commands = cast(Any, _Commands())

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """List the names; Typer would ask for the commands."""
        return list(self.commands)

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """List the parameters, without the types that Typer shows beside flags and files."""
        return unconverted(without_types(super().get_params(ctx)), [])


class _Commands(Mapping[str, Any]):
    """The commands by name, in the order of the help."""

    def __init__(self) -> None:
        panels = {group.title(): names for group, names in groups(Bal).items()} | _WITHOUT_FILES
        self._panels = {_typed(name): panel for panel, names in panels.items() for name in names}
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __len__(self) -> int:
        return len(self._panels)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (Typer's own copy of Click's type)
        if name not in self._made:
            self._made[name] = _made(name, self._panels[name])
        return self._made[name]


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _made(name: str, panel: str) -> Any:  # noqa: ANN401
    """Make a command, which is what Typer makes of a program that has no other."""
    function = _function(name.replace("-", "_"))
    alone = Typer(add_completion=False)
    told = literal(function.__doc__ or "")
    alone.command(name, cls=Command, help=told, rich_help_panel=panel)(function)
    return get_command(alone)


def _function(name: str) -> Callable[..., None]:
    """Load the function of a command; Typer reads its signature."""
    if name in verbs():
        from balframe.cli.method_commands import command_of

        return command_of(name)
    module = import_module(f"balframe.cli.{'commands' if name == 'audit' else name + '_command'}")
    command: Callable[..., None] = getattr(module, f"{name}_command")
    return command
