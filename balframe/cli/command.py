"""A command and its options, as click runs them and as the help shows them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from balframe.cli import process
from balframe.cli.exit_codes import ExitCode
from balframe.errors import listed

if TYPE_CHECKING:
    from balframe.cli.toml.forms import Form

DOCS = "Documentation: docs/pages/reference/command-line.md in the repository, and the guides"

Complete = Callable[[click.Context, click.Parameter, str], list[Any]]


def either(words: Sequence[str]) -> str:
    """Return alternatives as a sentence has them: a, b or c."""
    return f"{', '.join(words[:-1])} or {words[-1]}"


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A number of a Python type."""

    name = "number"

    def __init__(self, number_type: type, description: str) -> None:
        self.number_type = number_type
        self._description = description

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 (as in click)
        """Read the text of a number."""
        try:
            return self.number_type(value)
        except ValueError:
            self.fail(f"give {self._description}.", param, ctx)


FLOAT = _Number(float, "a number")
INTEGER = _Number(int, "a whole number")
FILE = click.Path(readable=False, path_type=Path)


class CommandOption(click.Option):
    """An option of a command, with the panel of the help that shows it.

    `default_text` is what the help shows as the default; without it, the help shows none. A value
    of an option that `reads_file` may be the path of a file, which the result must not replace.

    A configuration has its value under its name or that of the `parameter` of Python, in a `form`.
    With `is_alternative`, it replaces the values of the other options of its parameter. With
    `is_replaceable`, --outcome may replace it.
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
        form: "Form | None" = None,
        parameter: str = "",
        is_alternative: bool = False,
        is_replaceable: bool = False,
        **options: Any,  # noqa: ANN401 (of click)
    ) -> None:
        super().__init__([name], help=help, metavar=metavar, shell_complete=complete, **options)
        self.panel = panel
        self.default_text = default_text
        self.reads_file = reads_file
        self.complete = complete
        self.form = form
        self.parameter = parameter
        self.is_alternative = is_alternative
        self.is_replaceable = is_replaceable


class CommandArgument(click.Argument):
    """An argument of a command, with its help."""

    panel = "Arguments"
    default_text = ""

    def __init__(self, name: str, *, help: str, **options: Any) -> None:  # noqa: ANN401 (of click)
        super().__init__([name], **options)
        self.help = help


def takes_path(parameter: click.Parameter) -> bool:
    """Return whether a value may be the path of a file, to read or to write."""
    is_path = isinstance(parameter.type, click.Path)
    return is_path or (isinstance(parameter, CommandOption) and parameter.reads_file)


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
        words = args if ctx.resilient_parsing else [*self._table_options(ctx, args), *args]
        try:
            with self._without_replaced(ctx, words):
                others = super().parse_args(ctx, list(words))
        except click.MissingParameter:
            values = self.lenient_values(ctx, words)
            missing = [p for p in _required(self.params) if not values.get(p.name)]
            ctx.fail(f"Missing {listed(map(_usage, missing))}.")
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, words)
        return others

    @contextmanager
    def _without_replaced(self, ctx: click.Context, words: Sequence[str]) -> Iterator[None]:
        """Require no option that --outcome replaces, if that is given."""
        has_outcome = any(word.partition("=")[0] == "--outcome" for word in words)
        has_outcome |= bool((ctx.default_map or {}).get("outcome"))
        options = [param for param in self.params if isinstance(param, CommandOption)]
        replaced = [param for param in options if param.is_replaceable and has_outcome]
        for param in replaced:
            param.required = False
        try:
            yield
        finally:
            for param in replaced:
                param.required = True

    def lenient_values(self, ctx: click.Context, words: Sequence[str]) -> dict[str, Any]:
        """Return the values that words give options, although required ones may be missing."""
        lenient = self.make_context(
            ctx.info_name,
            list(words),
            ctx.parent,
            resilient_parsing=True,
            default_map=ctx.default_map,
        )
        return lenient.params

    def _table_options(self, ctx: click.Context, words: Sequence[str]) -> list[str]:
        """Return the options that follow from a table of runs that the command reads."""
        if not any(Path(word, "_delta_log").is_dir() for word in words):
            return []
        from balframe.cli.table_options import table_options  # which loads polars

        names = [str(param.name) for param in self.params]
        required = [str(param.name) for param in _required(self.params)]
        return table_options(self.lenient_values(ctx, words), names, required)

    def check_no_empty_path(self, ctx: click.Context, values: Mapping[str, Any]) -> None:
        """Raise if the text for a file is empty, which would be the working folder."""
        for param in self.params:
            value = values.get(str(param.name))
            if takes_path(param) and "" in (value if isinstance(value, (list, tuple)) else [value]):
                is_option = isinstance(param, CommandOption)
                name = param.opts[0] if is_option else param.metavar
                advice = f"Give {param.metavar}" if is_option else "Give a file"
                ctx.fail(
                    f"{name} '' is empty text, which is not a file; a variable of the shell may be "
                    f"empty. {advice}, or leave {'the option' if is_option else 'it'} out."
                )

    def _check_given_once(self, ctx: click.Context, words: Sequence[str]) -> None:
        """Raise if an option occurs again, of which click would drop all values but the last."""
        values, _, params = self.make_parser(ctx).parse_args(list(words))
        self.check_no_empty_path(ctx, values)
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
