"""Environment variables in the texts of a configuration: ${NAME} and ${NAME:-default}."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from balframe.errors import InvalidInputError, listed

_REFERENCE = re.compile(r"\$\$\{|\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE = re.compile(r"(?P<name>[A-Za-z_]\w*)(:-(?P<default>.*))?", re.ASCII | re.DOTALL)


class ExpandedText(str):
    """A text that had variables: it may stand for a number, as what is typed does."""

    __slots__ = ()


def missing_variables(value: Any) -> list[str]:  # noqa: ANN401 (any value of TOML)
    """List the variables in a value that are not set and have no default, each once."""
    names = [
        name
        for text in _texts(value)
        for name, default in _references(text)
        if default is None and name not in os.environ
    ]
    return list(dict.fromkeys(names))


def expand(value: Any) -> Any:  # noqa: ANN401 (any value of TOML)
    """Return a value with the variables of its texts in place; a missing one is empty.

    A variable that is empty has its default, as in a shell.
    """
    if isinstance(value, str):
        expanded = _REFERENCE.sub(_replacement, value)
        has_variables = any(True for _ in _references(value))
        return ExpandedText(expanded) if has_variables else expanded
    if isinstance(value, list):
        return [expand(item) for item in value]
    if isinstance(value, Mapping):
        return {key: expand(item) for key, item in value.items()}
    return value


def escape_references(text: str) -> str:
    """Return a text that `expand` turns into the text."""
    return text.replace("${", "$${")


def missing_error(missing: Mapping[str, str]) -> InvalidInputError:
    """Return the error on variables that are not set, with the key that each is in."""
    is_one = len(missing) == 1
    places = listed(f"{name} (in {key!r})" for name, key in missing.items())
    return InvalidInputError(
        f"the environment variable{'' if is_one else 's'} {places} {'is' if is_one else 'are'} not "
        f"set. Set {'it' if is_one else 'them'}, or give a default, as in "
        f"${{{next(iter(missing))}:-text}}."
    )


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _references(text: str) -> Iterator[tuple[str, str | None]]:
    """Return the names and the defaults of the variables in a text; raise for other forms."""
    for match in _REFERENCE.finditer(text):
        if match["inside"] is None:
            continue
        inside = _INSIDE.fullmatch(match["inside"])
        if inside is None or not match["end"]:
            raise InvalidInputError(
                f"{text!r} has {match[0]!r}, which is not the name of an environment variable. "
                f"Write ${{NAME}}, ${{NAME:-default}}, or $${{ for the characters themselves."
            )
        yield inside["name"], inside["default"]


def _replacement(match: re.Match[str]) -> str:
    if match["inside"] is None:
        return "${"
    ((name, default),) = _references(match[0])
    value = os.environ.get(name, "")
    return value if value or default is None else default
