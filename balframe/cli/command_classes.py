"""The commands as Typer runs them: with less said in the help, and more of what is missing."""

from typing import Any, cast

from typer.core import TyperCommand

from balframe.cli import garbage, interrupts
from balframe.cli.conversions import texts_of, unconverted
from balframe.errors import listed


class Command(TyperCommand):
    """A command of the program."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """List the parameters, with --help in a panel at the end."""
        parameters = without_types(super().get_params(ctx))
        parameters = unconverted(parameters, texts_of(self.callback))
        for one in parameters:
            if "--help" in getattr(one, "opts", ()):
                one.rich_help_panel = "Help"
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Show all that is needed, before the options."""
        return [*(_typed(one) for one in self.params if _is_required(one)), "[OPTIONS]"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read what was typed; name all that is missing, where Typer names the first."""
        typed = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ != "MissingParameter":  # of Click, or of Typer's own copy of it
                raise
            missing = self._missing(ctx, typed)
            if not missing:
                raise
        return cast(list[str], ctx.fail(f"Missing {listed(map(_typed, missing))}."))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run it, when all that it needs is loaded."""
        garbage.resume()
        with interrupts.raised():
            return super().invoke(ctx)

    def _missing(self, ctx: Any, typed: list[str]) -> list[Any]:  # noqa: ANN401
        read = type(ctx)(self, info_name=ctx.info_name, parent=ctx.parent, resilient_parsing=True)
        super().parse_args(read, typed)
        return [one for one in self.params if _is_required(one) and not read.params.get(one.name)]


def without_types(parameters: Any) -> Any:  # noqa: ANN401
    """Take the types from flags and files, beside which Typer shows them."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
        elif getattr(one, "param_type_name", "") == "argument":
            one.display_type_rich = lambda ctx: None
    return parameters


def _is_required(parameter: Any) -> bool:  # noqa: ANN401
    return bool(getattr(parameter, "required", False))


def _typed(parameter: Any) -> str:  # noqa: ANN401
    """Show a parameter as it is typed: FILES... or --y-true COLUMN."""
    name = next(iter(getattr(parameter, "opts", ())), "")
    metavar = getattr(parameter, "metavar", None) or ""
    return f"{name} {metavar}".rstrip() if name.startswith("-") else metavar or name
