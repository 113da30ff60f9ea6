"""Words that may stand for no value, and what to type for them."""

import re
import shlex
from collections.abc import Collection, Sequence

import polars as pl

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


_PATTERNS = {  # of texts that are values of another type
    pl.Int64(): r"^[-+]?\d{1,18}$",
    pl.Float64(): r"^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$",
    pl.Boolean(): r"^(true|false)$",
}


def without_null_words(
    rows: pl.LazyFrame, columns: Collection[str], words: Sequence[str]
) -> pl.LazyFrame:
    """Read words as nulls in columns of text, and numbers that such words made text as numbers.

    A column in which no word occurs stays as it is.
    """
    names = [name for name, dtype in rows.collect_schema().items() if dtype == pl.String]
    names = [name for name in names if name in columns]
    if not words or not names:
        return rows
    texts = {name: pl.col(name).filter(~pl.col(name).is_in(words)) for name in names}
    facts = [pl.col(name).is_in(words).any().alias(f"{i}") for i, name in enumerate(names)]
    facts += [
        (text.count() > 0).and_(text.str.contains(pattern).all()).alias(f"{i} {dtype}")
        for i, text in enumerate(texts.values())
        for dtype, pattern in _PATTERNS.items()
    ]
    (is_true,) = rows.select(facts).collect(engine="streaming").to_dicts()
    changed = []
    for i, name in enumerate(names):
        if not is_true[f"{i}"]:
            continue
        value = pl.when(~pl.col(name).is_in(words)).then(pl.col(name))
        dtype = next((dtype for dtype in _PATTERNS if is_true[f"{i} {dtype}"]), pl.String())
        changed.append((value == "true" if dtype == pl.Boolean else value.cast(dtype)).alias(name))
    return rows.with_columns(changed)
