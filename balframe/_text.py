"""Words and numbers as charts and tables show them."""

import re
from collections.abc import Sequence

# What stands in the place of a value of a by-column where there is none.


MISSING, ALL, TOTAL = "(missing)", "(all)", "Total"


def quote_placeholder(text: str) -> str:
    """Quote a text of the data that looks like a placeholder."""
    return f'"{text}"' if text in (MISSING, ALL) else text


# Texts without characters that no file or page should hold.


# Controls, halves of surrogates, what Unicode says is no character, and what turns the direction of
# a text beyond its end. The marks of names are among the last: where they still stand, they are not
# in pairs.
_NOT_LEGIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)


def replace_illegible(text: str) -> str:
    """Replace what cannot be read."""
    return _NOT_LEGIBLE.sub("\N{REPLACEMENT CHARACTER}", text)


# Text of users, such as names of columns, as a terminal can show it.


def escape_controls(text: str) -> str:
    """Write control characters out, which would break the table or steer the terminal."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)


_INITIALS = {"npv": "NPV", "f1": "F1", "matthews": "Matthews", "cohen": "Cohen's"}
_INITIALS |= {"roc": "ROC", "auc": "AUC"}


def metric_title(name: str) -> str:
    """Write the name of a metric as people do."""
    words = [_INITIALS.get(word, word) for word in name.split("_")]
    return " ".join(words).replace("corrcoef", "correlation")


def capitalize_first(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def format_percent(level: float) -> str:
    """Write a confidence level."""
    return f"{100 * level:.6g}%"


def interval_phrase(level: float, cluster: object = None) -> str:
    """Return the words for the limits that are drawn."""
    held = "" if cluster is None else f"; rows in clusters by {cluster}"
    return f"{format_percent(level)} confidence intervals{held}"


def chart_title(text: str, by: Sequence[object]) -> str:
    """Make a title: what is shown, and the columns of segments."""
    *most, last = map(str, by or [""])
    names = f"{', '.join(most)} and {last}" if most else last
    return capitalize_first(text) + (f" by {names}" if by else "")
