"""The words that options take, which may be values of columns too."""

from typing import Literal, get_args, get_origin

from balframe._text import ALL, MISSING, TOTAL
from balframe.api.option_types import REFERENCE_KEYWORDS
from balframe.methods import declarations


def words_of_options():
    """List the words that some option of a method takes, and the texts in place of a value."""
    words = {*REFERENCE_KEYWORDS, ALL, MISSING, TOTAL, "all", "null", "None", "nan", "True", "0"}
    for method in declarations().values():
        for parameter in method.parameters.values():
            words |= {word for word in _literals(parameter.type) if isinstance(word, str)}
    return sorted(words)


def _literals(annotation):
    if get_origin(annotation) is Literal:
        return [*get_args(annotation)]
    return [word for part in get_args(annotation) for word in _literals(part)]
