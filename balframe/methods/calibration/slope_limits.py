"""Slope of the logistic recalibration, its profile likelihood, and limits by r*.

r*(b) = w + log(u / w) / w corrects the signed root w of the likelihood ratio of a slope b, so that
it is nearly normal in small samples.

References
----------
O. E. Barndorff-Nielsen, "Inference on full or partial parameters based on the standardized signed
log likelihood ratio", Biometrika 1986; A. C. Davison, "Approximate conditional inference in
generalized linear models", Journal of the Royal Statistical Society B 1988.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.saddlepoint import TiltedChances
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile, wilson_at
from balframe.stats.root_finding import increasing_root

# Logistic regression on one variable, for many segments at once.

_MAX_NEWTON_STEPS = 100
_MAX_STEP_LENGTH = 2.0
_STEP_TOLERANCE = 1e-6  # its square is the error after the Newton step
_LIKELIHOOD_TOLERANCE = 1e-12  # relative, for rounding
_MIN_CURVATURE = 1e-14  # relative, because rounding could make it negative

_Pair = tuple[FloatArray, FloatArray]


def fit_logistic(p: ProbabilityScores, guess: FloatArray) -> _Pair:
    """Return a and b of the most likely log odds a + b x.

    Newton steps are no longer than 2. A step that makes the outcomes less likely is halved.

    Parameters
    ----------
    p : ProbabilityScores
        With x as the score, of mean 0 and variance 1 in each segment. There is a finite maximum:
        positive rows lie both above and below negative ones.
    guess : float array, shape (2, segments)
        Where to start.

    Returns
    -------
    a, b : float arrays, shape (segments,)
        NaN where 100 steps do not converge.
    """
    out = np.full((2, p.n_segments), np.nan)
    rows = np.arange(p.n_segments)
    current = guess
    best, step, best_likelihood = current, np.zeros_like(current), np.full(len(rows), -np.inf)
    for _ in range(_MAX_NEWTON_STEPS):
        likelihood, gradient, hessian = _log_likelihood(p, current)
        is_better = likelihood >= best_likelihood - _LIKELIHOOD_TOLERANCE * np.abs(
            np.maximum(best_likelihood, -1e300)
        )
        newton = _newton_step(gradient, hessian)
        size = np.hypot(*newton)
        is_close = is_better & (size <= _STEP_TOLERANCE * (1 + np.abs(current[1])))
        has_converged = is_close & np.isnan(out[0, rows])
        out[:, rows[has_converged]] = (current + newton)[:, has_converged]
        is_active = np.isnan(out[0, rows])
        if not is_active.any():
            break
        best, best_likelihood = (
            np.where(is_better, current, best),
            np.where(is_better, likelihood, best_likelihood),
        )
        shrinkage = np.minimum(_MAX_STEP_LENGTH / np.maximum(size, _MAX_STEP_LENGTH), 1)
        step = np.where(is_better, newton * shrinkage, step / 2)
        current = best + step
        if 2 * is_active.sum() <= len(is_active):
            p, rows, best_likelihood = (
                p.of_segments(is_active),
                rows[is_active],
                best_likelihood[is_active],
            )
            current, best, step = current[:, is_active], best[:, is_active], step[:, is_active]
    return out[0], out[1]


def _log_likelihood(
    p: ProbabilityScores, coefficients: FloatArray
) -> tuple[FloatArray, _Pair, tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the log-likelihood, its gradient and its negative Hessian."""
    x = p.score
    logit = p.spread(coefficients[0]) + p.spread(coefficients[1]) * x
    tail = np.exp(-np.abs(logit))
    larger_share = 1 / (1 + tail)
    residual = p.k - p.n * np.where(logit > 0, larger_share, tail * larger_share)
    weight = p.n * (tail * larger_share * larger_share)
    likelihood = p.k * logit - p.n * (np.maximum(logit, 0) - np.log(larger_share))
    weighted_x = weight * x
    return (
        p.sum(likelihood),
        (p.sum(residual), p.sum(residual * x)),
        (p.sum(weight), p.sum(weighted_x), p.sum(weighted_x * x)),
    )


def _newton_step(gradient: _Pair, hessian: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Return the Newton step of a and b."""
    (gradient_a, gradient_b), (aa, ab, bb) = gradient, hessian
    mean = ratio(ab, aa)
    curvature_b = np.maximum(bb - mean * ab, _MIN_CURVATURE * bb)
    step_b = ratio(gradient_b - mean * gradient_a, curvature_b)
    step_a = ratio(gradient_a, aa) - mean * step_b
    return np.nan_to_num(np.stack([step_a, step_b]))


def logits(p: ProbabilityScores) -> FloatArray:
    """Return the log odds of scores between 0 and 1."""
    return np.log(p.score) - np.log1p(-p.score)


def labels_overlap(p: ProbabilityScores) -> BoolArray:
    """Return whether positive rows score above and below negative ones: the slope is finite."""
    ranges = []
    for rows in (p.k, p.n - p.k):
        highest = p.reduced(np.maximum, np.where(rows > 0, p.score, -np.inf))
        lowest = p.reduced(np.minimum, np.where(rows > 0, p.score, np.inf))
        ranges.append((lowest, highest))
    positive, negative = ranges
    return (negative[1] > positive[0]) & (positive[1] > negative[0])


# Offsets of the log odds of scores: the slope is 1.

_MAX_ROOT_STEPS, _N_NEWTON_STEPS = 100, 40  # after the first 40, bounds are halved
_FIRST_STEP_LENGTH, _STEP_GROWTH = 2.0, 1.2  # the longest step grows until it passes the root
_FARTHEST_ROOT = 2000.0  # log odds of floats are at most 745
_BRACKET_TOLERANCE = 1e-13  # relative, of bounds with nothing between them
_ROOT_TOLERANCE = 1e-6  # its square is the error after the Newton step

# of the segments at some positions, at offsets: values that increase with it, and their derivatives
OffsetFunction = Callable[[ProbabilityScores, FloatArray, Int64Array], _Pair]


def fit_offset(p: ProbabilityScores, target: FloatArray, has_root: BoolArray) -> FloatArray:
    """Return the offset a with sum n expit(a + l) = target; NaN without a root."""

    def excess(p: ProbabilityScores, a: FloatArray, rows: Int64Array) -> _Pair:
        moved, variance = excess_and_variance(p, *shifted_chances(p, a))
        return moved - (target[rows] - p.n_positive), variance

    return offset_root(p, excess, starting_offset(p, target, 0.0), has_root)


def offset_root(
    p: ProbabilityScores, excess: OffsetFunction, guess: FloatArray, has_root: BoolArray
) -> FloatArray:
    """Return the offsets where an increasing function is 0, by Newton steps between bounds."""
    root, rows = np.full(p.n_segments, np.nan), np.flatnonzero(has_root)
    p, a = p.of_segments(has_root), guess[has_root]
    low, high = np.full(len(a), -_FARTHEST_ROOT), np.full(len(a), _FARTHEST_ROOT)
    max_step = _FIRST_STEP_LENGTH
    for i in range(_MAX_ROOT_STEPS):
        value, slope = excess(p, a, rows)
        low, high = np.where(value < 0, a, low), np.where(value < 0, high, a)
        with np.errstate(over="ignore"):
            step = np.where(slope > 0, -ratio(value, slope), -np.sign(value) * max_step)
        is_close = (slope > 0) & (np.abs(step) <= _ROOT_TOLERANCE)
        is_close |= high - low <= _BRACKET_TOLERANCE * (1 + np.abs(a))
        has_converged = is_close & np.isnan(root[rows])
        root[rows[has_converged]] = np.clip(a + step, low, high)[has_converged]
        is_active = np.isnan(root[rows])
        if not is_active.any():
            break
        a = a + np.clip(step, -max_step, max_step)
        takes_newton_step = (low < a) & (a < high) & (i < _N_NEWTON_STEPS)
        a = np.where(takes_newton_step, a, (low + high) / 2)
        max_step *= _STEP_GROWTH
        if 2 * is_active.sum() <= len(is_active):
            p = p.of_segments(is_active)
            a, low, high, rows = a[is_active], low[is_active], high[is_active], rows[is_active]
    return root


def starting_offset(p: ProbabilityScores, target: FloatArray, z: float) -> FloatArray:
    """Return a first guess, from the log odds of the mean score and of a share or its limit."""
    total = np.maximum(p.n_rows, 1).astype(np.float64)
    low, high = wilson_at(target, total, abs(z))
    share = np.clip(high if z > 0 else low, 1e-9, 1 - 1e-9)
    mean = np.clip(p.expected / total, 1e-300, 1 - 1e-16)
    curvature = ratio(total * mean * (1 - mean), p.variance)
    shift = (special.logit(share) - special.logit(mean)) * curvature
    return np.clip(np.nan_to_num(shift), -1e3, 1e3)


def shifted_chances(p: ProbabilityScores, a: FloatArray) -> _Pair:
    """Return the chance of a positive and of a negative row, with log odds shifted by a."""
    odds = p.score * p.spread(np.exp(np.minimum(a, 0)))
    odds_against = (1 - p.score) * p.spread(np.exp(-np.maximum(a, 0)))
    total = odds + odds_against
    return odds / total, odds_against / total


def excess_and_variance(p: ProbabilityScores, share: FloatArray, complement: FloatArray) -> _Pair:
    """Return expected less observed positive rows, and the variance of their number."""
    # the smaller of share and complement, so that digits are kept where the share is next to 1
    residual = np.where(share < complement, p.n * share - p.k, (p.n - p.k) - p.n * complement)
    return p.sum(residual), p.sum(p.n * share * complement)


NEAR_FIT = 0.01  # |w| from which log(u / w) / w has lost too many digits
_MAX_FIRST_SLOPE = 2.0  # in units of x: steeper ones may be flat in the likelihood
_MAX_STEPS = 30
_NEGLIGIBLE_LOSS = 1e-9
_MAX_INTERCEPT_STEP = 1.0  # where the intercept is farther off, the step of the slope was too long
_TOLERANCE = 1e-8  # relative: the step after a Newton step of this length is lost in rounding


@dataclass(frozen=True)
class Profile:
    """The likelihood of slopes b, with the intercept a that is the most likely for each.

    Parameters
    ----------
    w, u : float arrays, shape (segments,)
        Signed root of the likelihood ratio, and the standardised difference of slopes. Positive
        where the fitted slope is larger than b.
    intercept_step : float array
        What is to be added to a, for it to be the most likely one.
    mean : float array
        Mean of x with the weights n p q; -mean is the derivative of a in b.
    gradient : float array
        Derivative of the log-likelihood in b.
    variance, skewness : float arrays
        Sum of n p q, and of n p q (1 - 2 p) (x - mean).
    """

    w: FloatArray
    u: FloatArray
    intercept_step: FloatArray
    mean: FloatArray
    gradient: FloatArray
    variance: FloatArray
    skewness: FloatArray


@dataclass(frozen=True)
class SlopeFit:
    """Maximum likelihood fits of log odds a + b x, for segments where they exist.

    Parameters
    ----------
    p : ProbabilityScores
        With x as the score: the logits, less `centre` and divided by `scale`.
    chance, complement : float arrays, shape (ties,)
        Fitted chance of a positive and of a negative row.
    centre, scale, a, b : float arrays, shape (segments,)
        a and b are in units of x, NaN without convergence.
    total_variance, mean : float arrays
        Sum of n p q, and mean of x with these weights.
    error : float array
        Standard error of b.
    third, skewness : float arrays
        Sum of n p q (1 - 2 p) (x - mean)^3, and the limit of r* - w as b tends to the fit.
    """

    p: ProbabilityScores
    chance: FloatArray
    complement: FloatArray
    centre: FloatArray
    scale: FloatArray
    a: FloatArray
    b: FloatArray
    total_variance: FloatArray
    mean: FloatArray
    error: FloatArray
    third: FloatArray
    skewness: FloatArray

    @classmethod
    def of(cls, p: ProbabilityScores, intercept: FloatArray) -> "SlopeFit":
        """Fit log odds, of segments whose labels overlap, with logits as the score.

        The search starts from the recalibration whose slope is 1, with this intercept.
        """
        centre = ratio(p.sum(p.n * p.score), p.n_rows)
        x = p.score - p.spread(centre)
        scale = np.sqrt(ratio(p.sum(p.n * x * x), p.n_rows))
        x /= p.spread(scale)
        p = replace(p, score=x)
        shares = special.logit(ratio(p.n_positive, p.n_rows))
        is_flat = scale > _MAX_FIRST_SLOPE
        guess = np.where(is_flat, (shares, np.zeros(len(scale))), (intercept + centre, scale))
        a, b = fit_logistic(p, guess)
        tail = p.spread(a) + p.spread(b) * x
        is_up = tail > 0
        tail = np.exp(-np.abs(tail))
        larger = 1 / (1 + tail)
        smaller = tail * larger
        chance, complement = np.where(is_up, larger, smaller), np.where(is_up, smaller, larger)
        weight = p.n * (larger * smaller)
        total_variance = p.sum(weight)
        mean = ratio(p.sum(weight * x), total_variance)
        x = x - p.spread(mean)
        squares = weight * x * x
        error = 1 / np.sqrt(p.sum(squares))
        change = complement - chance
        third = p.sum(squares * x * change)
        skewness = third * error**3 / 6 + p.sum(weight * x * change) * error / (2 * total_variance)
        segments = (centre, scale, a, b, total_variance, mean, error, third, skewness)
        return cls(p, chance, complement, *segments)

    def of_segments(self, kept: BoolArray) -> "SlopeFit":
        """Keep some of the segments."""
        if kept.all():
            return self
        ties = self.p.spread(kept)
        values = [getattr(self, field.name) for field in fields(self)[1:]]
        chances, segments = values[:2], values[2:]
        return SlopeFit(
            self.p.of_segments(kept),
            *(value[ties] for value in chances),
            *(value[kept] for value in segments),
        )

    def of_positions(self, segments: Int64Array) -> "SlopeFit":
        """Keep the segments at these ascending positions."""
        kept = np.zeros(len(self.b), np.bool_)
        kept[segments] = True
        return self.of_segments(kept)

    @property
    def slope(self) -> FloatArray:
        """The fitted slope in units of logits."""
        return self.b / self.scale

    def profile(self, a: FloatArray, b: FloatArray) -> Profile:
        """Return the likelihood ratio of slopes b against the fit, and its derivatives.

        Where a is not quite the most likely intercept, a quadratic term of the log-likelihood
        stands in; w is NaN where that is large.
        """
        p, x = self.p, self.p.score
        change = p.spread(a - self.a) + p.spread(b - self.b) * x
        tilted = TiltedChances.of(self.chance, self.complement, change)
        loss = p.sum(p.n * tilted.log_mgf - p.k * change)
        residual = p.k - p.n * tilted.chance
        weight = p.n * tilted.chance * tilted.complement
        third = weight * (tilted.complement - tilted.chance)
        variance, gradient_a = p.sum(weight), p.sum(residual)
        mean = ratio(p.sum(weight * x), variance)
        with np.errstate(divide="ignore", over="ignore"):  # far from the fit, no outcome varies
            step = ratio(gradient_a, variance)
            correction = gradient_a * step / 2
            spread = np.sqrt(self.total_variance / variance)
        is_close = correction <= np.maximum(loss / 2, _NEGLIGIBLE_LOSS)
        loss = np.where(is_close, np.maximum(loss - correction, 0), np.nan)
        distance = self.b - b
        return Profile(
            np.sign(distance) * np.sqrt(2 * loss),
            distance / self.error * spread,
            step,
            mean,
            p.sum(residual * x) - mean * gradient_a,
            variance,
            p.sum(third * x) - mean * p.sum(third),
        )

    def r_star(self, at: Profile, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r*, and its derivative in b."""
        near = np.abs(at.w) < NEAR_FIT
        w = np.where(near, 1.0, at.w)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = np.log(np.where(near, 1.0, at.u / w))
            value = w + log_ratio / w
            slope = -at.gradient / w * (1 - (log_ratio + 1) / w**2)
            slope -= (1 / (self.b - b) + at.skewness / at.variance / 2) / w
        return (
            np.where(near, at.w + self.skewness, value),
            np.where(near, -1 / self.error, slope),
        )

    def limits(self, level: float) -> Limits:
        """Return the slopes where r* is z and -z; NaN where the search does not converge."""
        z = normal_quantile(level)
        lower, upper = self._where_r_star_is(z), self._where_r_star_is(-z)
        return lower / self.scale, upper / self.scale

    def first_distance(self, z: float) -> FloatArray:
        """Return about how far from the fit r* is z, from three derivatives of the likelihood."""
        wald = -z * self.error
        distance = wald + self.skewness * self.error
        distance = np.where(distance * wald > wald**2 / 4, distance, wald)
        correction = distance * self.third * self.error**2 / 6
        return distance * (1 - np.clip(correction, -0.5, 0.5))

    def _where_r_star_is(self, z: float) -> FloatArray:
        """Solve for b by Newton steps, with the most likely intercept of each b beside it."""
        out, rows = np.full(len(self.b), np.nan), np.flatnonzero(np.isfinite(self.b))
        fit = self.of_segments(np.isfinite(self.b))
        step = fit.first_distance(z)
        a, b, mean = fit.a, fit.b, fit.mean
        for _ in range(_MAX_STEPS):
            next_a, next_b = a - mean * step, b + step
            at = fit.profile(next_a, next_b)
            is_near = (np.abs(at.intercept_step) <= _MAX_INTERCEPT_STEP) & ~np.isnan(at.w)
            a = np.where(is_near, next_a + at.intercept_step, a)
            b, mean = np.where(is_near, next_b, b), np.where(is_near, at.mean, mean)
            value, slope = fit.r_star(at, next_b)
            distance = next_b - fit.b
            newton = ratio(z - value, slope)
            newton = _bounded_step(newton, slope, distance, abs(z) > np.abs(value))
            step = np.where(is_near, newton, step / 4)
            size = np.maximum(np.abs(step), np.abs(at.intercept_step))
            is_close = is_near & (size <= _TOLERANCE * (np.abs(distance) + fit.error))
            has_converged = is_close & np.isnan(out[rows])
            out[rows[has_converged]] = (b + step)[has_converged]
            is_active = np.isnan(out[rows])
            if not is_active.any():
                break
            if 2 * is_active.sum() <= len(is_active):
                fit, rows = fit.of_segments(is_active), rows[is_active]
                a, b, mean, step = (values[is_active] for values in (a, b, mean, step))
        # r* differs from w by a constant next to the fit: at low levels that may be all of z
        still = np.isnan(out[rows]) & (np.abs(b - fit.b) < NEAR_FIT * fit.error)
        out[rows[still]] = fit.b[still]
        left = np.isnan(out[rows])
        out[rows[left]] = fit.of_segments(left).bracketed(z)
        return out

    def bracketed(self, z: float) -> FloatArray:
        """Return where r* is z, by a search between bounds, with one for each intercept in it.

        It is slow, and for segments whose labels hardly overlap.
        """
        if not len(self.b):
            return self.b
        sign = 1.0 if z > 0 else -1.0

        def profile_at(b: FloatArray, rows: Int64Array) -> Profile:
            fit = self.of_positions(rows)

            def slack(a: FloatArray, inner: Int64Array) -> FloatArray:
                p = fit.p.of_positions(inner)
                logit = p.spread(a) + p.spread(b[inner]) * p.score
                return p.sum(p.n * special.expit(logit) - p.k)

            return fit.profile(increasing_root(slack, fit.a - fit.mean * (b - fit.b)), b)

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            b = self.b[rows] - sign * np.exp(t)
            value, _ = self.of_positions(rows).r_star(profile_at(b, rows), b)
            return sign * value - abs(z)

        return self.b - sign * np.exp(increasing_root(excess, np.log(abs(z) * self.error)))


def _bounded_step(
    step: FloatArray, slope: FloatArray, distance: FloatArray, is_too_close: BoolArray
) -> FloatArray:
    """Return a step that at most doubles or halves the distance from the fitted slope."""
    outward = step * np.sign(distance)
    usable = np.isfinite(step) & (slope < 0)
    outward = np.where(usable, outward, np.where(is_too_close, np.inf, -np.inf))
    size = np.abs(distance)
    return np.sign(distance) * np.clip(outward, -size / 2, size)
