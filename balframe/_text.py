"""Texts of charts, tables, pages and terminals."""

import re
from collections.abc import Sequence
from datetime import datetime, time
from typing import Any

# In place of the value of a by-column where there is none.
MISSING, ALL, TOTAL = "(missing)", "(all)", "Total"


def quote_placeholder(text: str) -> str:
    """Quote a text of the data that looks like a placeholder."""
    return f'"{text}"' if text in (MISSING, ALL) else text


def midnights_as_dates(values: Sequence[Any]) -> list[Any]:
    """Return the dates of datetimes that are all at midnight, as pandas has dates."""
    are_dates = all(
        value is None
        or (isinstance(value, datetime) and value.tzinfo is None and value.time() == time.min)
        for value in values
    )
    return [value and value.date() for value in values] if are_dates else [*values]


# Control characters, without the tab and the line feed, and controls of the direction of text,
# which act beyond its end. The marks of names are among the latter: where they still stand, they
# are not in pairs.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
# Besides them, halves of surrogates and noncharacters.
_ILLEGIBLE = re.compile(
    f"[{_CONTROLS}\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)


def replace_illegible(text: str) -> str:
    """Replace characters that no file or page should hold."""
    return _ILLEGIBLE.sub("\N{REPLACEMENT CHARACTER}", text)


def escape_controls(text: str, keep: str = "") -> str:
    """Write out control characters, which would break a table or control the terminal.

    `keep` are characters to leave, of tabs and line feeds.
    """
    pattern = f"[{_CONTROLS}\t\n]"
    return re.sub(
        pattern, lambda match: match[0] if match[0] in keep else repr(match[0])[1:-1], text
    )


_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def escape_markdown(text: str) -> str:
    """Write a text on a line of Markdown, in which nothing is markup, a link or HTML."""
    line = " ".join(re.split("[\r\n]", text)).translate(_HTML)
    escaped = _MARKDOWN.sub(r"\\\g<0>", replace_illegible(line))
    return re.sub(r"@(?=\w)", "@\N{WORD JOINER}", escaped)  # no mention, and no address


_SPELLINGS = {"npv": "NPV", "f1": "F1", "matthews": "Matthews", "cohen": "Cohen's"}
_SPELLINGS |= {"roc": "ROC", "auc": "AUC"}


def metric_title(name: str) -> str:
    """Return the name of a metric in words, with its abbreviations and proper names."""
    words = [_SPELLINGS.get(word, word) for word in name.split("_")]
    return " ".join(words).replace("corrcoef", "correlation")


def capitalize_first(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def format_percent(level: float) -> str:
    """Return a confidence level, or another probability, in percent."""
    return f"{100 * level:.6g}%"


def interval_phrase(level: float, cluster: object = None) -> str:
    """Return which confidence intervals a chart shows."""
    clusters = "" if cluster is None else f"; rows in clusters by {cluster}"
    return f"{format_percent(level)} confidence intervals{clusters}"


def chart_title(text: str, by: Sequence[object]) -> str:
    """Return the title of a chart: what it shows, and the columns of its segments."""
    *others, last = map(str, by or [""])
    names = f"{', '.join(others)} and {last}" if others else last
    return capitalize_first(text) + (f" by {names}" if by else "")
