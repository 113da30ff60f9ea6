"""Counts of one label against all others."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray


@dataclass(frozen=True, slots=True)
class OneVersusRest:
    """Counts of one label against all others, one of each for every segment."""

    tp: FloatArray
    fn: FloatArray
    fp: FloatArray
    tn: FloatArray

    def in_floats(self) -> "OneVersusRest":
        """Take whole numbers as floats, for products that they cannot hold."""
        counts = (self.tp, self.fn, self.fp, self.tn)
        return OneVersusRest(*(np.asarray(values, np.float64) for values in counts))

    @property
    def total(self) -> FloatArray:
        """Weight of all rows."""
        return self.tp + self.fn + self.fp + self.tn
