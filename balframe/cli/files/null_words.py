"""Words that may stand for no value, and what to type for them."""

import re
import shlex
from collections.abc import Sequence

_NULL_WORD = re.compile(
    r"\s*(#?n/?a|n\.a\.|<na>|null|#?[-+]?nan|none|nil|nat|missing|\\n|\.|-+|\?|)\s*", re.IGNORECASE
)


def is_null_word(text: str) -> bool:
    """Return whether a text looks like one that stands for no value."""
    return _NULL_WORD.fullmatch(text) is not None


def null_advice(words: Sequence[str]) -> str:
    """Return what to type for words to be read as nulls."""
    options = " ".join(f"--null {shlex.quote(word)}" for word in words)
    return f"Give {options} if that means that there is no value, or correct the file."
