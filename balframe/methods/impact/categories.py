"""The categories of a table of selections, compared with the most selected one."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from balframe.api.metric_selection import Adjust
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.frames.counted_frame import Group
from balframe.methods.impact.largest import limits_of_ratio_to_largest
from balframe.methods.impact.unknown_bounds import bounds_with_unknowns

COMPARED, SMALL, UNKNOWN = ROLES = ("compared", "small", "unknown")
RATIOS = ("impact_ratio", "lower", "upper", "unknown_lower", "unknown_upper")
SHORT = ("short_of_parity", "short_of_bound")


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked: the least share of a category that is compared, the bound, and the rest."""

    min_share: float
    bound: float
    level: float
    adjust: Adjust


@dataclass(frozen=True)
class Table:
    """The categories of one margin and model: rows selected, all rows, and which are unknown."""

    group: Group
    n_selected: Int64Array
    n: Int64Array
    is_unknown: BoolArray
    terms: Terms

    @property
    def n_unknown(self) -> int:
        """Count the rows whose category is unknown."""
        return int(self.n[self.is_unknown].sum())

    @property
    def share(self) -> FloatArray:
        """Their share of the rows whose category is known; NaN where it is not."""
        n_known = int(self.n.sum()) - self.n_unknown
        return np.where(self.is_unknown, np.nan, self.n / max(n_known, 1))

    @property
    def compared(self) -> Int64Array:
        """The positions of the categories that are compared."""
        return np.flatnonzero((self.share >= self.terms.min_share) & (self.n > 0))

    @property
    def role(self) -> Int64Array:
        """The position among the roles of each category."""
        role = np.where(self.is_unknown, ROLES.index(UNKNOWN), ROLES.index(SMALL))
        role[self.compared] = ROLES.index(COMPARED)
        return role

    @property
    def top(self) -> int | None:
        """The most selected of those compared, in a tie the one with the most rows."""
        compared = self.compared
        if not len(compared):
            return None
        rate = self.n_selected[compared] / self.n[compared]
        leading = compared[rate == rate.max()]
        return int(leading[np.argmax(self.n[leading])])

    def ratios(self, top: int) -> dict[str, FloatArray]:
        """Divide the rates of those compared by the highest one."""
        x, n = self.n_selected[self.compared], self.n[self.compared]
        n_selected_unknown = int(self.n_selected[self.is_unknown].sum())
        found = (
            x / n / (self.n_selected[top] / self.n[top]),
            *limits_of_ratio_to_largest(x.astype(float), n.astype(float), self.terms.level),
            *bounds_with_unknowns(x, n, n_selected_unknown, self.n_unknown),
        )
        return dict(zip(RATIOS, found, strict=True))

    def short(self, top: int) -> dict[str, list[int]]:
        """Count the selections that those compared lack to reach the highest rate, or the bound."""
        shares = (Fraction(1), Fraction(str(self.terms.bound)))  # .8 is four fifths
        return {
            name: [self._short_of(share, one, top) for one in self.compared]
            for name, share in zip(SHORT, shares, strict=True)
        }

    def _short_of(self, share: Fraction, one: int, top: int) -> int:
        """Find the least d with (x + d) / n >= share * highest rate."""
        (x, n), (most, of) = self._counts(one), self._counts(top)
        needed = -(-share.numerator * most * n // (share.denominator * of))
        return max(needed - x, 0)

    def is_reversed(self, one: int, top: int) -> bool:
        """Tell whether one selection more here, and one fewer at the top, turns their order."""
        (x, n), (most, of) = self._counts(one), self._counts(top)
        return x < n and (x + 1) * of > (most - 1) * n

    def _counts(self, one: int) -> tuple[int, int]:
        """Take the rows selected, and all rows, of a category; products of them may be large."""
        return int(self.n_selected[one]), int(self.n[one])
