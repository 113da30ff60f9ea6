"""The value of decisions: what they gain or cost, with a number for each kind of error."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.metrics.parametric import Numbers, family
from balframe.stats.mean_payoff import MeanPayoff, Payoff, Payoffs

_NEEDS = ("pos_label",)


def benefits(threshold: Payoff) -> Payoffs:
    """Return what positive predictions gain, in true positives, at a threshold probability."""
    return Payoffs(1.0, -threshold / (1 - threshold), 0.0)


def _costs(fn: float, fp: float) -> Payoffs:
    return Payoffs(0.0, fp, fn)


@family(
    Numbers(
        ("threshold",),
        "a probability between 0 and 1",
        "0.2",
        (0.5,),
        lambda threshold: 0 < threshold < 1,
    ),
    of_operating_point=True,
    range=lambda threshold: benefits(threshold).range,
    listed_range=(-np.inf, 1),
    interval=lambda threshold: MeanPayoff.of(benefits(threshold)),
    needs=_NEEDS,
    source="Vickers and Elkin 2006, Decision curve analysis",
)
def net_benefit(c: ClassCounts, threshold: float) -> FloatArray:
    """Share of true positives, less false ones at an exchange rate: (TP - FP t / (1 - t)) / n.

    t is the number in the name: the probability from which acting on a positive prediction is
    worthwhile. At t = 0.2, one true positive is worth four false ones. Acting on nobody has the net
    benefit 0, and acting on everybody prevalence - (1 - prevalence) t / (1 - t).
    """
    return benefits(threshold).mean(c)


@family(
    Numbers(
        ("fn", "fp"),
        "2 numbers of at least 0, one of which is above 0,",
        "fn=5, fp=1",
        (1.0, 1.0),
        lambda fn, fp: min(fn, fp) >= 0 and max(fn, fp) > 0,
    ),
    range=lambda fn, fp: _costs(fn, fp).range,
    listed_range=(0, np.inf),
    better="lower",
    interval=lambda fn, fp: MeanPayoff.of(_costs(fn, fp)),
    needs=_NEEDS,
    source="Elkan 2001, The foundations of cost-sensitive learning",
)
def cost(c: ClassCounts, fn: float, fp: float) -> FloatArray:
    """Mean cost of the errors of a row: (fn FN + fp FP) / n.

    fn and fp are the numbers in the name: what a missed positive and a false alarm cost, in any
    unit. `cost(fn=1, fp=1)` is the share of wrong rows.
    """
    return _costs(fn, fp).mean(c)
