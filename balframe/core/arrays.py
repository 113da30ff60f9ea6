"""The array types that the rooms hand to each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

IntegerArray = npt.NDArray[np.integer[Any]]
Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
