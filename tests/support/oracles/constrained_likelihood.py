"""Constrained maximum likelihood of means of recalls, in many digits and by bisection alone.

A segment is given as its correct rows, its rows and the weights of its labels.
"""

from functools import cache
from types import SimpleNamespace

from mpmath import erfc, exp, gammainc, log, mp, mpf, sqrt

mp.dps = 50
_STEPS = 66  # of bisection, over a range of 10^120 on a logarithmic scale
_LEAST, _MOST = log(mpf(10)) * -60, log(mpf(10)) * 60


def two_sided(z):
    """Return the probability that a standard normal lies further from 0 than z."""
    return erfc(abs(z) / sqrt(mpf(2)))


@cache
def normal_quantile(level):
    """Return the z that a standard normal stays within with this probability."""
    low, high = mpf(0), mpf(40)
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle) > 1 - mpf(level) else (low, middle)
    return low


def mirrored(x, n):
    """Count wrong rows."""
    return [mpf(m) - mpf(v) for v, m in zip(x, n, strict=True)]


def recalls(x, n, a, multiplier):
    """Return p_k with x_k / p_k - (n_k - x_k) / (1 - p_k) = l a_k."""
    if multiplier < 0:
        return [1 - p for p in recalls(mirrored(x, n), n, a, -multiplier)]
    out = []
    for right, rows, weight in zip(x, n, a, strict=True):
        right, rows, pull = mpf(right), mpf(rows), multiplier * mpf(weight)
        if right == rows:
            out.append(rows / max(rows, pull))
            continue
        under = (rows + pull) ** 2 - 4 * pull * right
        out.append(2 * right / (rows + pull + sqrt(under)))
    return out


def score(p, a):
    """Return the weighted mean."""
    return sum(mpf(w) * one for w, one in zip(a, p, strict=True))


def moments(x, n, a, multiplier):
    """Return V, V_f and the third moment at a multiplier."""
    p = recalls(x, n, a, multiplier)
    terms = [(mpf(w), mpf(m), one) for w, m, one in zip(a, n, p, strict=True)]
    whole = sum(w**2 / m for w, m, _ in terms)
    v = sum(w**2 * p * (1 - p) / m for w, m, p in terms)
    v_f = sum(w**2 * p * (1 - p) / (m - 1 + w**2 / m / whole) for w, m, p in terms)
    third = sum(w**3 * p * (1 - p) * (1 - 2 * p) / m**2 for w, m, p in terms)
    return v, v_f, third


def statistic(x, n, a, multiplier, *, skewness):
    """Return l V / sqrt(V_f), corrected for skewness or not; 0 where nothing varies."""
    v, v_f, third = moments(x, n, a, multiplier)
    if v_f == 0:
        return mpf(0)
    t = multiplier * v / sqrt(v_f)
    if not skewness:
        return t
    by = third / (6 * sqrt(v_f) ** 3)
    under = 1 + 4 * by * (by + t)
    # (sqrt(under) - 1) / (2 by), without a difference that loses digits
    return 2 * (by + t) / (1 + sqrt(under)) if under >= 0 else -1 / (2 * by)


def multiplier_at(theta, x, n, a):
    """Return l at which the score is held at theta, by bisection as the score falls with it."""
    observed = score([mpf(v) / mpf(m) for v, m in zip(x, n, strict=True)], a)
    if observed == theta:
        return mpf(0)
    if observed < theta:
        return -multiplier_at(sum(map(mpf, a)) - theta, mirrored(x, n), n, a)
    low, high = _LEAST, _MOST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        too_high = score(recalls(x, n, a, exp(middle)), a) > theta
        low, high = (middle, high) if too_high else (low, middle)
    return exp(low)


def lower_limit(x, n, a, level, *, skewness):
    """Return the score held where the statistic reaches the quantile; 0 where it never does."""
    z = normal_quantile(level)
    low, high = _LEAST, _MOST
    if not any(x) or statistic(x, n, a, exp(high), skewness=skewness) <= z:
        return mpf(0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_inside = statistic(x, n, a, exp(middle), skewness=skewness) <= z
        low, high = (middle, high) if is_inside else (low, middle)
    observed = score([mpf(v) / mpf(m) for v, m in zip(x, n, strict=True)], a)
    return min(score(recalls(x, n, a, exp(low)), a), observed)


def limits(x, n, a, level, *, skewness):
    """Return both limits of a mean of recalls."""
    below = lower_limit(x, n, a, level, skewness=skewness)
    return below, sum(map(mpf, a)) - lower_limit(mirrored(x, n), n, a, level, skewness=skewness)


def _difference(x, n, y, m, a):
    """Lay out half of 1 + the difference as a mean of recalls."""
    return [*map(mpf, x), *mirrored(y, m)], [*n, *m], [mpf(w) / sum(map(mpf, a)) / 2 for w in a] * 2


def limits_of_difference(x, n, y, m, a, level, *, skewness=True):
    """Return limits of the difference of two segments, corrected for skewness or not."""
    low, high = limits(*_difference(x, n, y, m, a), level, skewness=skewness)
    return 2 * low - 1, 2 * high - 1


def p_of_difference(x, n, y, m, a):
    """Return the p-value that two segments have the same score."""
    segment = _difference(x, n, y, m, a)
    multiplier = multiplier_at(mpf(1) / 2, *segment)
    return two_sided(statistic(*segment, multiplier, skewness=True))


def chi_square_tail(df, q):
    """Return the probability that a chi-square exceeds q."""
    return gammainc(mpf(df) / 2, mpf(q) / 2, regularized=True)


def equality(segments, a):
    """Return Q, the scale of its chi-square and the p-value that segments score the same.

    Each is given as its correct rows and its rows, one number for each label.
    """
    scores = [score([mpf(v) / m for v, m in zip(x, n, strict=True)], a) for x, n in segments]
    low, high = min(scores), max(scores)
    for _ in range(42):
        middle = (low + high) / 2
        total = sum(multiplier_at(middle, x, n, a) for x, n in segments)
        low, high = (middle, high) if total > 0 else (low, middle)
    segment_moments = [moments_at(low, x, n, a) for x, n in segments]
    parts = [[mpf(w) ** 2 / m for w, m in zip(a, n, strict=True)] for _, n in segments]
    precision = [1 / sum(part) for part in parts]
    q = mpf(0)
    for one, part, (_, n), own_precision, value in zip(
        segment_moments, parts, segments, precision, scores, strict=True
    ):
        left = 1 - own_precision / sum(precision)
        share = [v / sum(part) for v in part]
        v_f = sum(
            v * p * (1 - p) * m / (m - 1 + s * left)
            for v, p, m, s in zip(part, one.p, n, share, strict=True)
        )
        between = 1 + mpf(6) / 10 * sum(s * (1 - s) / m for s, m in zip(share, n, strict=True))
        q += (value - low) ** 2 / v_f / between
    whole = sum(1 / one.v for one in segment_moments)
    others = [1 - 1 / one.v / whole for one in segment_moments]
    pairs = list(zip(segment_moments, others, strict=True))
    variance = sum(one.fourth / one.v**2 * part**2 for one, part in pairs)
    variance -= sum(one.third / one.v**2 * part for one, part in pairs) ** 2 / whole
    df = len(segments) - 1
    scale = max(1 + variance / (2 * df), mpf(1))
    return SimpleNamespace(q=q, scale=scale, p_value=chi_square_tail(df / scale, q / scale))


def moments_at(theta, x, n, a):
    """Return the recalls and the second to fourth cumulants of the score, where it is held."""
    p = recalls(x, n, a, multiplier_at(theta, x, n, a))
    terms = [(mpf(w), m, one * (1 - one), one) for w, m, one in zip(a, n, p, strict=True)]
    return SimpleNamespace(
        p=p,
        v=sum(w**2 * v / m for w, m, v, _ in terms),
        third=sum(w**3 * v * (1 - 2 * one) / m**2 for w, m, v, one in terms),
        fourth=sum(w**4 * v * (1 - 6 * v) / m**3 for w, m, v, _ in terms),
    )
