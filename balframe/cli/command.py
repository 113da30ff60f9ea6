"""A command and its options, as click runs them and as the help shows them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click

from balframe.cli import process
from balframe.cli.exit_codes import ExitCode
from balframe.errors import listed

DOCS = (
    "Documentation: docs/pages/reference/command-line.md in the source distribution, and the "
    "guides beside it"
)

Complete = Callable[[click.Context, click.Parameter, str], list[Any]]


def either(words: Sequence[str]) -> str:
    """Return alternatives as a sentence has them: a, b or c."""
    return f"{', '.join(words[:-1])} or {words[-1]}"


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A number of a Python type."""

    name = "number"

    def __init__(self, number_type: type, description: str) -> None:
        self._number_type = number_type
        self._description = description

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 (as in click)
        """Read the text of a number."""
        try:
            return self._number_type(value)
        except ValueError:
            self.fail(f"give {self._description}.", param, ctx)


FLOAT = _Number(float, "a number")
INTEGER = _Number(int, "a whole number")
FILE = click.Path(readable=False, path_type=Path)


class CommandOption(click.Option):
    """An option of a command, with the panel of the help that shows it.

    `default_text` is what the help shows as the default; without it, the help shows none. A value
    of an option that `reads_file` may be the path of a file, which the result must not replace.
    """

    def __init__(
        self,
        name: str,
        *,
        panel: str,
        help: str,
        metavar: str = "",
        default_text: str = "",
        reads_file: bool = False,
        complete: Complete | None = None,
        **options: Any,  # noqa: ANN401 (of click)
    ) -> None:
        super().__init__([name], help=help, metavar=metavar, shell_complete=complete, **options)
        self.panel = panel
        self.default_text = default_text
        self.reads_file = reads_file


class CommandArgument(click.Argument):
    """An argument of a command, with its help."""

    panel = "Arguments"
    default_text = ""

    def __init__(self, name: str, *, help: str, **options: Any) -> None:  # noqa: ANN401 (of click)
        super().__init__([name], **options)
        self.help = help


def help_option(panel: str) -> CommandOption:
    """Return the option that shows the help."""
    return CommandOption(
        "--help",
        panel=panel,
        help="Show this message and exit.",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_help,
    )


def _show_help(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        print_help(ctx)
        print()
        ctx.exit()


def print_help(ctx: click.Context) -> None:
    """Print the help of the command of a context."""
    from balframe.cli import help_page  # which loads rich

    help_page.print_help(ctx)


class Command(click.Command):
    """A command of the program, in a panel of the program's help; examples are lines to type."""

    params: list[Any]

    def __init__(
        self,
        name: str,
        run: Callable[..., None],
        params: Sequence[CommandArgument | CommandOption],
        *,
        help: str,
        panel: str,
        examples: Sequence[str] = (),
    ) -> None:
        super().__init__(
            name,
            callback=run,
            params=[*params, help_option("Help")],
            help=help,
            add_help_option=False,
            epilog=f"{DOCS}.",
        )
        self.panel = panel
        self.examples = examples

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """List all that is required, before the options."""
        return [*map(_usage, _required(self.params)), "[OPTIONS]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; name all that is missing, and what is given too often."""
        words = list(args)
        try:
            others = super().parse_args(ctx, args)
        except click.MissingParameter:
            lenient = self.make_context(ctx.info_name, words, ctx.parent, resilient_parsing=True)
            missing = [p for p in _required(self.params) if not lenient.params.get(p.name)]
            ctx.fail(f"Missing {listed(map(_usage, missing))}.")
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, words)
        return others

    def _check_given_once(self, ctx: click.Context, words: list[str]) -> None:
        """Raise if an option occurs again, of which click would drop all values but the last."""
        _, _, params = self.make_parser(ctx).parse_args(words)
        for param, n in Counter(params).items():
            if isinstance(param, CommandOption) and not param.multiple and n > 1:
                ctx.fail(f"{param.opts[0]} is given {n} times, and takes one value; give it once.")

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 (as in click)
        """Run it, now that all that it needs is loaded."""
        ctx.params = {name: _listed_values(value) for name, value in ctx.params.items()}
        process.resume_collection()
        try:
            with process.interruptible():
                return super().invoke(ctx)
        except KeyboardInterrupt:  # of which click would write an empty line
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None


def _listed_values(value: Any) -> Any:  # noqa: ANN401 (of any option)
    """Return the values of an option that may be repeated as a list, or None without any."""
    return (list(value) or None) if isinstance(value, tuple) else value


def _required(parameters: Sequence[click.Parameter]) -> Iterator[Any]:
    return (parameter for parameter in parameters if parameter.required)


def _usage(parameter: CommandArgument | CommandOption) -> str:
    """Return a parameter as it is typed: FILES... or --y-true COLUMN."""
    metavar = cast(str, parameter.metavar)
    return f"{parameter.opts[0]} {metavar}" if isinstance(parameter, CommandOption) else metavar
