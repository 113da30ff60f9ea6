"""Words of the data inside sentences, marked so that they cannot pass for words of the page.

A name from the data may hold markup, text that runs from right to left, or a megabyte. In a
sentence it is shortened and stands between two marks of Unicode, which isolate its direction.
Whoever renders the page makes of the marks what suits the format.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from balframe._text import MISSING, quote_placeholder

OPEN, CLOSE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_MARKED = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_MOST = 60
_PLAIN = re.compile(
    r"[\w.\-/]+|[A-Z][\w\-]*( [A-Z][\w\-]*)*"
)  # a word, or words that are capitalised


def text_of(value: Any) -> str:  # noqa: ANN401 (a value of any column)
    """Write a value of the data, shortened and on one line."""
    if value is None:
        return MISSING
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ")
    elif isinstance(value, date):
        value = value.isoformat()
    return quote_placeholder(cleaned(str(value)))


def cleaned(text: str, most: int = _MOST) -> str:
    """Shorten a text in its middle, and take out what cannot be seen or turns the direction."""
    kept = most // 3 * 2
    if len(text) > most:
        text = f"{text[:kept]}\N{HORIZONTAL ELLIPSIS}{text[-(most - kept - 1) :]}"
    seen = "".join(_shown(one) for one in text)
    return " ".join(seen.split()) or "\N{OPEN BOX}"


def _shown(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    is_joiner = character in "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
    return (
        "\N{REPLACEMENT CHARACTER}" if kind in ("Cf", "Cs", "Cn") and not is_joiner else character
    )


def name(value: Any) -> str:  # noqa: ANN401
    """Write a value of the data as a part of a sentence, in quotes unless it is one word."""
    text = text_of(value)
    is_plain = text == MISSING or _PLAIN.fullmatch(text) is not None
    return (
        marked(text)
        if is_plain
        else f"\N{LEFT DOUBLE QUOTATION MARK}{marked(text)}\N{RIGHT DOUBLE QUOTATION MARK}"
    )


def marked(text: str) -> str:
    """Mark a text as one of the data."""
    return f"{OPEN}{text}{CLOSE}"


def unmarked(
    text: str, of_data: Callable[[str], str] = str, own: Callable[[str], str] = str
) -> str:
    """Write marked texts by one function and what is between them by another."""
    parts = _MARKED.split(text)
    return "".join(of_data(part) if at % 2 else own(part) for at, part in enumerate(parts))


def given(text: str) -> str:
    """Take words that a caller gave for the page."""
    return marked(cleaned(text, 200))


def together(parts: Sequence[str], word: str = "and") -> str:
    """List parts in a sentence: a, b and c."""
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last


def plural(n: int, one: str, many: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {one if n == 1 else many}"


_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def in_words(n: int) -> str:
    """Write a small number in words."""
    return _WORDS[n] if n < len(_WORDS) else f"{n:,}"


def more_groups(n: int) -> str:
    """Say how many groups are not named: `two more groups`."""
    return f"{in_words(n)} more {'group' if n == 1 else 'groups'}"


def sentence(text: str) -> str:
    """Begin with a capital letter, also where a mark comes first."""
    at = next((i for i, one in enumerate(text) if one not in (OPEN, CLOSE)), 0)
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]
