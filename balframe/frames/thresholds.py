"""The option `thresholds`, and the thresholds that scores reach."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from balframe._validate import is_list, is_number, is_whole_number
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.threads import run_on_all_cores
from balframe.errors import OPTION, InvalidInputError, Message, Spelled
from balframe.frames.indicators import indicator

ThresholdsOption = Literal["all"] | int | tuple[Literal["quantiles"], int] | Sequence[float] | None

_BLOCK = 65_536
_FLOAT64 = np.dtype(np.float64)
_ROUNDING = 1e-15
_ALL_WHOLE = 2.0**52  # floats from there on
QUANTILES = Spelled('("quantiles", n)', "quantiles,10", parameter="thresholds")
_FORMS = Message(
    "{} for every score, a number of thresholds spaced evenly over [0, 1], a list of thresholds, "
    "or {}",
    Spelled('"all"', "all", parameter="thresholds"),
    QUANTILES,
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A grid of thresholds, or all scores (`values` is None and `quantiles` too).

    An even grid is i / (size - 1) for i from 0. With a `resolution`, all scores are those rounded
    to the nearest multiple of 1 / resolution. `stored_as` is the type of floats that scores have.
    """

    values: FloatArray | None = None
    is_even: bool = False
    quantiles: int | None = None
    resolution: int | None = None
    stored_as: np.dtype[Any] = _FLOAT64

    @classmethod
    def from_resolution(cls, resolution: object) -> "Thresholds":
        """Take all scores, rounded by the option `resolution`."""
        if resolution is None:
            return cls()
        if not is_whole_number(resolution, 1):
            raise InvalidInputError(
                "{resolution} is not a number of steps; give a whole number of at least 1, such as "
                "10000, which rounds scores to multiples of 0.0001.",
                resolution=resolution,
            )
        return cls(resolution=int(resolution))

    @classmethod
    def from_option(cls, option: object) -> "Thresholds":
        """Parse the value of the option."""
        if option is None or (isinstance(option, str) and option == "all"):
            return cls()
        if is_whole_number(option):
            size = _check_size(option)
            return cls(np.arange(size) / (size - 1), is_even=True)
        if isinstance(option, tuple) and len(option) == 2 and option[0] == "quantiles":
            return cls(quantiles=_check_size(option[1]))
        return cls(_threshold_list(option))

    @property
    def is_exact(self) -> bool:
        """Return whether every score is a threshold."""
        return self.values is None and self.quantiles is None

    def for_scores(self, dtype: object) -> "Thresholds":
        """Return thresholds that scores of a type of any library reach where `score >= 0.7` does.

        Such a comparison casts a threshold to the type of the column.
        """
        if self.values is None:
            return self
        return replace(self, values=as_stored(self.values, dtype), stored_as=float_type(dtype))

    def round_scores(self, score: FloatArray) -> FloatArray:
        """Round scores if there is a resolution."""
        if self.resolution is None:
            return score
        step = score * self.resolution
        is_inside = np.abs(step) < _ALL_WHOLE
        return np.asarray(np.where(is_inside, np.floor(step + 0.5), step) / self.resolution)

    def step_expr(self, score: nw.Expr) -> nw.Expr:
        """Write the number of the multiple that a score is rounded to; infinite scores stay.

        The floor comes from a cast. Some engines round in it and others truncate, so a comparison
        corrects it.
        """
        assert self.resolution is not None
        step = score * float(self.resolution)
        is_inside = (step > -_ALL_WHOLE) & (step < _ALL_WHOLE)
        above = nw.when(is_inside).then(step).otherwise(0.0) + 0.5
        whole = above.cast(nw.Int64).cast(nw.Float64)
        floor = whole - indicator(whole > above) + indicator(whole + 1.0 <= above)
        return nw.when(is_inside).then(floor).otherwise(step)

    def step_scores(self, step: FloatArray) -> FloatArray:
        """Convert the numbers of multiples to scores."""
        return step if self.resolution is None else step / self.resolution

    def at_quantiles(self, score: FloatArray, n: Int64Array) -> "Thresholds":
        """Return thresholds at quantiles of scores that stand for n rows each."""
        assert self.quantiles is not None
        order = np.argsort(score)
        reached = np.cumsum(n[order])
        total = int(reached[-1]) if len(reached) else 0
        if not total:
            return Thresholds(np.zeros(0))
        steps = self.quantiles - 1
        rank = [i * (total - 1) // steps for i in range(self.quantiles)]
        position = np.searchsorted(reached, np.array(rank, np.int64), side="right")
        return Thresholds(np.unique(score[order][position]))

    def count_reached(self, score: FloatArray) -> Int64Array:
        """Return the number of thresholds that each score reaches, by comparisons."""
        assert self.values is not None
        size = len(self.values)
        if not self.is_even:
            return np.searchsorted(self.values, score, side="right")
        out = np.empty(len(score), np.min_scalar_type(size))
        above = np.append(self.values[1:], np.inf)
        steps = (size - 1) * (1 - _ROUNDING)  # the guess is right or one too low

        def compare(start: int) -> None:
            part = score[start : start + _BLOCK]
            guess = (part * steps).astype(np.int32)
            guess += part >= above.take(guess)
            guess += 1
            out[start : start + _BLOCK] = guess

        run_on_all_cores(compare, range(0, len(score), _BLOCK))
        return out

    def guess_expr(self, score: nw.Expr) -> nw.Expr:
        """Write the last threshold of an even grid that a score reaches, or the one before.

        The score is in [0, 1]. Some engines round in a cast to integers, others truncate.
        """
        assert self.values is not None
        steps = (len(self.values) - 1) * (1 - _ROUNDING)
        return (score * steps - 0.5).cast(nw.Int64)

    def corrected_expr(self, score: nw.Expr, guess: nw.Expr) -> nw.Expr:
        """Write the number of thresholds reached: compare with the threshold above the guess."""
        assert self.values is not None
        # a column: engines multiply by the inverse of a constant
        steps = score * 0.0 + float(len(self.values) - 1)
        threshold = (guess + 1).cast(nw.Float64) / steps
        if self.stored_as.itemsize < 8:
            short = nw.Float32 if self.stored_as.itemsize == 4 else nw.Float16
            threshold = threshold.cast(short).cast(nw.Float64)
        is_above = score >= threshold
        return guess + 1 + indicator(is_above)

    def count_expr(self, score: nw.Expr) -> nw.Expr:
        """Write the number of thresholds of a list that a score reaches."""
        assert self.values is not None
        return _sum_expr([indicator(score >= value) for value in self.values.tolist()])


def float_type(dtype: object) -> np.dtype[Any]:
    """Return the type of NumPy for the floats of a type of any library; 64 bits for others."""
    text = str(dtype).lower()
    if "float16" in text or "halffloat" in text:
        return np.dtype(np.float16)
    return np.dtype(np.float32 if "float32" in text or text.startswith("float[") else np.float64)


def as_stored(values: npt.NDArray[Any], dtype: object) -> npt.NDArray[Any]:
    """Round numbers that are compared with a column to its type of floats, if these are short."""
    short = float_type(dtype)
    if short.itemsize == 8:
        return values
    with np.errstate(over="ignore"):
        return values.astype(short).astype(np.float64)


def _sum_expr(terms: Sequence[nw.Expr]) -> nw.Expr:
    """Add terms up in halves, because some engines limit the depth of an expression."""
    if len(terms) < 2:
        return terms[0] if terms else nw.lit(0, nw.Int64)
    middle = len(terms) // 2
    return _sum_expr(terms[:middle]) + _sum_expr(terms[middle:])


def _check_size(size: object) -> int:
    if not is_whole_number(size, 2):
        raise InvalidInputError(
            "{thresholds} asks for {!r} thresholds; give a whole number of at least 2.",
            size,
            thresholds=OPTION,
        )
    return int(size)


def _threshold_list(option: object) -> FloatArray:
    if not is_list(option):
        raise InvalidInputError(
            "{thresholds} is not supported; give {}.", _FORMS, thresholds=option
        )
    numbers = list(option)
    if not numbers or not all(map(is_number, numbers)):
        raise InvalidInputError(
            "{thresholds} is not a list of numbers; give {}.", _FORMS, thresholds=option
        )
    values = np.array([float(value) for value in numbers])
    if np.isnan(values).any():
        raise InvalidInputError(
            "{thresholds} contains NaN, which no score can reach; remove it.", thresholds=OPTION
        )
    return np.unique(values + 0.0)
