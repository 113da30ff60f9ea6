"""Where the value that a message is about comes from, if that is a configuration."""

import re
from collections.abc import Mapping

import click

_PLACES = "balframe.places"  # key of a context, under which the places of values are
_FIRST_OPTION = re.compile(r"--([a-z][a-z-]*)\b")


def keep_places(ctx: click.Context, places: Mapping[str, str]) -> None:
    """Keep the places of the values of a configuration, by the names of options."""
    ctx.meta[_PLACES] = places


def with_origin(message: str) -> str:
    """Return a message with the place of the value of the option with which it begins, if any."""
    ctx, match = click.get_current_context(silent=True), _FIRST_OPTION.match(message)
    if ctx is None or match is None:
        return message
    place = ctx.meta.get(_PLACES, {}).get(match[1].replace("-", "_"))
    return message if place is None else f"{message} The value of {match[0]} is that of {place}."
