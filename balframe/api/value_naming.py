"""Which values are written with their column where values of several columns stand together."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Number

from balframe.core.label_set import WORD_PAIRS
from balframe.frames.adapter import Name

_WORDS = {word for pair in WORD_PAIRS for word in pair}
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*%?")


@dataclass(frozen=True, slots=True)
class ValueNaming:
    """The columns whose values are written with them, as `smoker=yes`; nulls are, of any column.

    A value says which column it is of, as "F" does, unless it is yes or no, a number, or a value of
    another of the columns. If a column has such a value, all its values are written with it.
    """

    columns: frozenset[Name] = frozenset()
    names_nulls: bool = False

    @classmethod
    def of(cls, values: Mapping[Name, Iterable[object]]) -> "ValueNaming":
        """Return how the values of these columns are written; those of one column stand alone."""
        if len(values) < 2:
            return cls()
        distinct = {name: {*column} - {None} for name, column in values.items()}
        n_columns = Counter(str(value) for column in distinct.values() for value in column)
        return cls(
            frozenset(
                name
                for name, column in distinct.items()
                if _are_unspecific(column) or any(n_columns[str(value)] > 1 for value in column)
            ),
            names_nulls=True,
        )

    def text(self, column: Name, column_text: str, value: object, value_text: str) -> str:
        """Return the text of a value, with that of its column where it is needed."""
        is_named = self.names_nulls if value is None else column in self.columns
        return f"{column_text}={value_text}" if is_named else value_text


def _are_unspecific(values: Collection[object]) -> bool:
    """Return whether any of the values of a column may be one of any column.

    "y" and "n" are yes and no if the column has no other words: next to others, they may be
    anything.
    """
    texts = {value.strip().lower() for value in values if isinstance(value, str)}
    words = texts & _WORDS
    return (
        any(isinstance(value, Number) for value in values)  # as booleans are
        or any(len(word) > 1 for word in words)
        or (bool(words) and words == texts)
        or any(_NUMBER.fullmatch(text) is not None for text in texts)
    )
