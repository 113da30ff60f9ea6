"""What `slices` answers: the combinations of groups on which an error is shown to be worse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.counted import key_of
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking, Row
from balframe.audit_page.rates import Rate
from balframe.errors import InvalidInputError
from balframe.methods.slices.slices import slices

_DEPTH = 3
_MANY = 10  # columns, of which all triples would be too many to search
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Slice:
    """A combination of conditions (column, value) with its rate and the test.

    `difference` is that from all other rows, whose rate is `rest`. `n` rows are in the denominator
    of the rate. The slice explains `n_explained` others.
    """

    conditions: Sequence[tuple[int, Any]]
    n: int
    rate: float
    rest: float
    difference: Estimate
    p: float
    n_tests: int
    n_explained: int


@dataclass(frozen=True, slots=True)
class Search:
    """The slices listed for an error rate; `problem` says why there was nothing to search."""

    rate: Rate
    found: Sequence[Slice]
    problem: str | None = None


def search_of(asking: Asking, rate: Rate) -> Search:
    """Search the by-columns for slices with a higher error rate than all other rows."""
    n_columns = len(asking.asked.by)
    keys = [key_of(column) for column in range(n_columns)]
    try:
        rows = asking.rows(
            slices,
            rate.positive,
            over=keys,
            metric=rate.metric,
            depth=min(n_columns, _DEPTH if n_columns <= _MANY else _DEPTH - 1),
            min_support=asking.asked.min_support,
            level=asking.asked.level,
            top=_SHOWN,
        )
    except InvalidInputError as error:
        many = "max_slices" in error.parameters
        return Search(rate, [], "too many combinations" if many else "too few rows")
    return Search(rate, [_slice(row, keys) for row in rows])


def _slice(row: Row, keys: Sequence[str]) -> Slice:
    on = row["on"].split(", ")
    return Slice(
        [(at, row[key]) for at, key in enumerate(keys) if key in on],
        row["min_support"],
        row["estimate"],
        row["rest"],
        Estimate(row["difference"], row["lower"], row["upper"], row["n"]),
        row["p_adjusted"],
        row["n_tests"],
        row["n_explained"],
    )
