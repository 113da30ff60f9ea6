"""The program: its options, and its commands, each of which is made when it is needed."""

import os
from typing import Any

import click

from balframe import __version__
from balframe.accessor import Bal, groups, methods
from balframe.cli.command import DOCS, Command, CommandOption, help_option, print_help
from balframe.cli.command_descriptions import described_command
from balframe.cli.exit_codes import ExitCode

_WITHOUT_FILES = {"Without files": ["metrics", "demo"]}
_SHELLS = {"pwsh": "powershell"}  # names that click has for shells
_COMPLETION_FILES = {  # of each shell: the script, the file of the user, and its line
    "bash": ("~/.bash_completions/balframe.sh", "~/.bashrc", "source {script!r}"),
    "zsh": ("~/.zfunc/_balframe", "~/.zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": ("~/.config/fish/completions/balframe.fish", "", ""),
}
_COMPLETE_VARIABLE = "_BALFRAME_COMPLETE"


class _Program(click.Group):
    """The program, which knows the names of its commands; making all of them takes long."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (of click)
        super().__init__("balframe", add_help_option=False, **options)
        panels = {group.title(): names for group, names in groups(Bal).items()} | _WITHOUT_FILES
        self._panels = {
            name.replace("_", "-"): panel for panel, names in panels.items() for name in names
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of the commands, in the order of the help."""
        return list(self._panels)

    @property
    def names_with_files(self) -> list[str]:
        """Return the names of the commands over files, which read a configuration."""
        others = {name for names in _WITHOUT_FILES.values() for name in names}
        return [name for name in self._panels if name not in others]

    @property
    def described_commands(self) -> list[click.Command]:
        """Return the commands as the help lists them."""
        commands = map(self._described_command, self._panels)
        return [command for command in commands if command is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, and None if there is none; completion runs no command."""
        if ctx.resilient_parsing:
            return self._described_command(cmd_name)
        return self._runnable_command(cmd_name)

    def _runnable_command(self, name: str) -> click.Command | None:
        if name not in self.commands and name in self._panels:
            self.add_command(_command(name, self._panels[name]))
        return self.commands.get(name)

    def _described_command(self, name: str) -> click.Command | None:
        """Return a command for its help or completion, and load what it needs only if it is new."""
        described = described_command(name) if name in self._panels else None
        return self._runnable_command(name) if described is None else described

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the program; without words, show the help."""
        if not args and not ctx.resilient_parsing:
            print_help(ctx)
            ctx.exit(ExitCode.ERROR)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names."""
        name = args[0]
        is_option = not name[:1].isalnum()
        if not (is_option or name in self._panels or ctx.resilient_parsing):
            from balframe.errors import nearest_names

            near = nearest_names(name, self._panels)
            advice = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            ctx.fail(f"No such command {name!r}.{advice}")
        if args[1:] == ["--help"]:
            return name, self._described_command(name), args[1:]
        return super().resolve_command(ctx, args)


def _command(name: str, panel: str) -> Command:
    """Make a command, and load what it needs."""
    method = name.replace("-", "_")
    if method in ("diff", "diff_slices"):
        from balframe.cli import diff_command

        comparing: Command = getattr(diff_command, f"{method}_command")(panel)
        return comparing
    if method in methods():
        from balframe.cli.method_commands import method_command

        return method_command(method, panel)
    from balframe.cli import commands

    command: Command = getattr(commands, f"{method}_command")(panel)
    return command


def _show_version(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        print(f"balframe {__version__}")
        ctx.exit()


def _show_completion(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        print(_completion_script(ctx, _current_shell(ctx)))
        ctx.exit()


def _install_completion(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        shell = _current_shell(ctx)
        script = _completion_script(ctx, shell)
        if shell not in _COMPLETION_FILES:
            ctx.fail(
                f"The startup file of {shell} is not known. Add the output of "
                f"{ctx.command_path} --show-completion to it."
            )
        path = _install(shell, script)
        print(f"{shell} completion installed in {path}")
        print("Completion will take effect once you restart the terminal")
        ctx.exit()


def _current_shell(ctx: click.Context) -> str:
    """Return the name of the shell that runs the program."""
    import shellingham

    try:
        shell, _ = map(str, shellingham.detect_shell())
    except shellingham.ShellDetectionFailure:
        shell = os.path.basename(os.environ.get("SHELL", ""))
    if not shell:
        ctx.fail("The current shell is not known. Run this in the shell that is to complete.")
    return _SHELLS.get(shell, shell)


def _completion_script(ctx: click.Context, shell: str) -> str:
    """Return the script with which a shell asks the program how to complete a line."""
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    if completion_class is None:
        ctx.fail(f"Shell {shell} is not supported.")
    return completion_class(ctx.command, {}, "balframe", _COMPLETE_VARIABLE).source()


def _install(shell: str, script: str) -> str:
    """Write the script where the shell finds it, and return the path."""
    path, startup_file, line = _COMPLETION_FILES[shell]
    path = os.path.expanduser(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(script)
    if startup_file:
        _add_text(os.path.expanduser(startup_file), line.format(script=path))
    return path


def _add_text(path: str, text: str) -> None:
    """Add lines to a file that does not have them."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+") as file:
        file.seek(0)
        content = file.read()
        if text not in content:
            is_complete = not content or content.endswith("\n")
            file.write(f"{'' if is_complete else chr(10)}{text}\n")


def _option(name: str, help: str, callback: Any) -> CommandOption:  # noqa: ANN401 (of click)
    return CommandOption(
        name,
        panel="Options",
        help=help,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=callback,
    )


def make_program() -> click.Group:
    """Make the program."""
    return _Program(
        help="How good is this classifier, for whom, and how sure are we? "
        "Each command reads files of predictions and writes a table: formatted on a terminal, CSV "
        "otherwise.",
        epilog=f"Start with: balframe demo\n\n{DOCS}.",
        params=[
            _option("--version", "Show the version and exit.", _show_version),
            _option(
                "--install-completion",
                "Install completion for the current shell.",
                _install_completion,
            ),
            _option(
                "--show-completion",
                "Show completion for the current shell, to copy it or customize the installation.",
                _show_completion,
            ),
            help_option("Options"),
        ],
    )
