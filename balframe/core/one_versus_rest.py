"""Counts of one label against all others."""

from dataclasses import dataclass

from balframe.core.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class OneVersusRest:
    """Counts of one label against all others, one of each for every segment."""

    tp: FloatArray
    fn: FloatArray
    fp: FloatArray
    tn: FloatArray

    @property
    def total(self) -> FloatArray:
        """Weight of all rows."""
        return self.tp + self.fn + self.fp + self.tn
