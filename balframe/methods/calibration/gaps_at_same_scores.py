"""Observed shares of segments beside those of the rest at the same scores."""

from typing import Any

import numpy as np

from balframe.api.metric_selection import Adjust
from balframe.core.probability_scores import Probabilities
from balframe.frames.adapter import Name
from balframe.frames.scores import Scored
from balframe.methods.calibration.mantel_haenszel import same_scores
from balframe.stats.multiple_testing import adjusted_within

_AS_FOUND = ("observed", "ratio", "difference", "lower", "upper", "p_value")
_OTHERS = ("expected_at_same_scores", "statistic", "p_value_all", "p_value_crossing")


def gaps_in_rows(scored: Scored, level: float, adjust: Adjust) -> dict[Name, Any]:
    """Compare the segments of each margin and model."""
    reading, n_segments = scored.reading, scored.ties.n_segments
    p = Probabilities.of(scored.ties)
    columns = {name: np.full(n_segments, np.nan) for name in (*_AS_FOUND, *_OTHERS)}
    df = np.zeros(n_segments, np.int64)
    for group in reading.groups() if n_segments else []:
        rows = group.segments
        found = same_scores(Probabilities.of(scored.ties.at(rows)), level)
        for name in _AS_FOUND:
            columns[name][rows] = getattr(found, name)
        columns["expected_at_same_scores"][rows] = found.expected
        columns["statistic"][rows], df[rows] = found.all_equal.statistic, found.all_equal.df
        columns["p_value_all"][rows] = found.all_equal.p_value
        columns["p_value_crossing"][rows] = found.crossing.p_value
    adjusted, n_tests = adjusted_within(columns["p_value"], reading.margin_of_segments(), adjust)
    return {
        "n": p.n_rows,
        "n_positive": p.n_positive,
        **dict(columns.items()),
        "p_adjusted": adjusted,
        "n_tests": n_tests,
        "df": df,
    }
