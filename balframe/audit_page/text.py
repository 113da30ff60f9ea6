"""Words of the data inside sentences, marked so that they cannot pass for words of the page.

A name from the data may hold markup, text that runs from right to left, or a megabyte. In a
sentence it is shortened and stands between two marks of Unicode, which isolate its direction.
The renderers replace the marks by what suits their format.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime
from importlib import import_module
from typing import Any

from balframe._text import MISSING, quote_placeholder

OPEN, CLOSE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_ISOLATED = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
MAX_LENGTH = 60  # of a value of the data in a sentence or a table
_MAX_CALLER_LENGTH = 200
_UNQUOTED = re.compile(  # a word, or words that are capitalised
    r"[\w.\-/]+|[A-Z][\w\-]*( [A-Z][\w\-]*)*"
)
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def value_text(value: Any, max_length: int = MAX_LENGTH) -> str:  # noqa: ANN401 (of any column)
    """Return a value of the data as text, shortened and on one line."""
    if value is None:
        return MISSING
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ")
    elif isinstance(value, date):
        value = value.isoformat()
    return quote_placeholder(clean(str(value), max_length))


def clean(text: str, max_length: int = MAX_LENGTH) -> str:
    """Shorten a text in its middle, and remove what is invisible or changes the direction."""
    start = max_length // 3 * 2
    if len(text) > max_length:
        text = f"{text[:start]}\N{HORIZONTAL ELLIPSIS}{text[-(max_length - start - 1) :]}"
    visible = "".join(map(_visible, text))
    return " ".join(visible.split()) or "\N{OPEN BOX}"


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    is_joiner = character in "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
    if category in ("Cf", "Cs", "Cn") and not is_joiner:
        return "\N{REPLACEMENT CHARACTER}"
    return character


def isolate(text: str) -> str:
    """Mark a text as one of the data."""
    return f"{OPEN}{text}{CLOSE}"


def label(value: Any) -> str:  # noqa: ANN401
    """Return a value of the data for a table."""
    return isolate(value_text(value))


def quote(value: Any) -> str:  # noqa: ANN401
    """Return a value of the data for a sentence, in quotes unless it is one word."""
    text = value_text(value)
    if text == MISSING or _UNQUOTED.fullmatch(text) is not None:
        return isolate(text)
    return in_quotes(isolate(text))


def in_quotes(text: str) -> str:
    """Return a text in quotation marks."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"


def caller_text(text: object) -> str:
    """Return words or a column name from the caller."""
    return isolate(clean(str(text), _MAX_CALLER_LENGTH))


def render_isolates(
    text: str, of_data: Callable[[str], str] = str, of_page: Callable[[str], str] = str
) -> str:
    """Render isolated texts by one function and what is between them by another."""
    parts = _ISOLATED.split(text)
    return "".join(of_data(part) if i % 2 else of_page(part) for i, part in enumerate(parts))


def isolated_texts(text: str) -> list[str]:
    """Return the isolated texts in a text."""
    return _ISOLATED.findall(text)


def join_words(parts: Sequence[str], word: str = "and") -> str:
    """Return parts as a list in a sentence: a, b and c."""
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def first_names(
    names: Sequence[str], limit: int, more: Callable[[int], str] | None = None
) -> list[str]:
    """Return the first of many names, followed by how many more there are."""
    n_more = len(names) - limit
    return [*names[:limit], (more or more_groups)(n_more)] if n_more > 0 else list(names)


def plural(n: int, singular: str, plural: str) -> str:
    """Return a number with its noun."""
    return f"{n:,} {singular if n == 1 else plural}"


def spell_number(n: int) -> str:
    """Return a small number in words."""
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"


def more_groups(n: int) -> str:
    """Return how many groups are not named: `two more groups`."""
    return f"{spell_number(n)} more {'group' if n == 1 else 'groups'}"


def capitalize(text: str) -> str:
    """Begin with a capital letter, also where a mark comes first."""
    i = next((i for i, character in enumerate(text) if character not in (OPEN, CLOSE)), 0)
    return text[:i] + text[i : i + 1].upper() + text[i + 1 :]


def package_version(package: str) -> str:
    """Return the version of a package; a checkout on the path has no metadata with it."""
    version: str = import_module(package).__version__
    return version
