"""How much scores vary between periods, beyond what their rows explain."""

from balframe.core.array_types import FloatArray


def variance_between(scores: FloatArray, variances: FloatArray) -> float:
    """Return the variance between periods, by the method of moments; 0 if there is none.

    Parameters
    ----------
    scores, variances : float arrays, shape (periods,)
        The score of each period, and its variance given the true score of that period.

    References
    ----------
    R. DerSimonian and N. Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials
    1986.
    """
    if len(scores) < 2:
        return 0.0
    weight = 1 / variances
    mean = (weight * scores).sum() / weight.sum()
    statistic = (weight * (scores - mean) ** 2).sum()
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    return float(max(0.0, (statistic - (len(scores) - 1)) / scale))
