"""The rows of `power` if only some rows have a true label: how many of each stratum to label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe._validate import is_number
from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import segment_positions
from balframe.core.sample import Sample
from balframe.core.strata import MIN_LABELS, Strata, places
from balframe.errors import NAME, InvalidInputError, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.evidence import check_applies, rule_segments
from balframe.methods.gates.power_options import as_row_counts
from balframe.methods.gates.rules import Rule
from balframe.metrics.partly_labelled import (
    PARTLY_LABELLED,
    LinearRule,
    check_metrics,
    corrected_estimate,
    has_limits,
    is_share,
)
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special
from balframe.stats.partly_labelled import strata_limits
from balframe.stats.partly_labelled_recalls import (
    LinearScore,
    MeanRecall,
    Recall,
    smoothed_shares,
)
from balframe.stats.proportions import normal_quantile
from balframe.stats.root_finding import root_between
from balframe.stats.stratified_binomials import StratifiedBinomials, moments, mover_half_width

# How many rows of each stratum to label, so that a rule passes or that limits are narrow.
#
# Arrays have one row for each segment and one column for each stratum: rows with the same
# prediction
# and verdict, N_v of them, of which a share p_v is right. With W_v = N_v / N, the score test of
# theta = sum W_v p_v decides, whose standard deviation s and skewness g are those of labels and
# rows.
# At p it has s_1 and g_1, and at the p_0 of largest likelihood at the bound s_0 and g_0. The rule
# passes with the probability 1 - Phi(z), where z is (bound + s_0 c - theta) / s_1 corrected for the
# skewness g_1, and c = max(z, z + g_0 (z^2 - 1) / 6). If few rows of a stratum with a label are
# right, or wrong, the half width of MOVER replaces s_0 c if it is larger, at the shares at which
# the
# rule just passes. How probable that is, at these shares, weights both probabilities of passing.
# Recalls are tested as by `Recall`. Their means are replaced by the linear function of the p_v that
# has the same value and derivatives at the p of a pilot: theta is then sum a_v p_v, where a_v is
# W_v
# times a slope, and the distance from its lower limit to theta is that of `MeanRecall`.
#
# Labels of strata are proportional to a sqrt(p (1 - p)) for a narrow interval (Neyman 1934). For a
# rule, the larger of p (1 - p) and p_0 (1 - p_0) is taken.
#
# References
# J. Neyman, "On the two different aspects of the representative method", Journal of the Royal
# Statistical Society 1934; P. Hall, "On the removal of skewness by transformation", JRSS B 1992.


_ALMOST_NONE = 1e-9  # labels of a stratum without any, which keep its share
_STEPS = 3  # in which the distance of limits of a mean converges
_NEGLIGIBLE = 1e-4  # probability of few labels
_CLOSE = 1e-6  # shares closer than this to 0 or 1 are moved there


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Labels of strata, and the rule that they are for.

    `strata` have the planned labels, and as right rows those expected. `slope` and `offset` are
    those of `StratifiedBinomials`, whose theta is the score over `scale`, less a constant. `bound`
    is a lower one of theta, and `z` the quantile of the limits that decide. For a mean of two
    recalls, `predicted` are the strata that are predicted to have the label of the first.
    """

    strata: Strata
    slope: FloatArray
    offset: FloatArray
    scale: FloatArray
    row_variance: FloatArray
    bound: FloatArray
    z: FloatArray
    predicted: BoolArray | None = None

    @classmethod
    def of(
        cls, pilot: LinearScore, bound: float, z: FloatArray, predicted: BoolArray | None = None
    ) -> "LabelPlan":
        """Plan as many labels as a pilot has, whose shares are (x + 1/2) / (n + 1)."""
        s, share = pilot.strata, smoothed_shares(pilot.strata)
        n = np.maximum(s.labelled, np.where(s.rows > 0, _ALMOST_NONE, 0))
        scale = np.maximum((s.share * pilot.slope).sum(axis=1), np.finfo(np.float64).tiny)
        slope, offset = (each / scale[:, None] for each in (pilot.slope, pilot.offset))
        theta = (s.share * slope * share).sum(axis=1)
        bounds = theta - (pilot.value - bound) / scale
        strata = replace(s, labelled=n, right=share * n)
        bounds = np.clip(bounds, _CLOSE, 1 - _CLOSE)
        row_variance = pilot.row_variance / scale**2
        return cls(strata, slope, offset, scale, row_variance, bounds, z, predicted)

    @property
    def _binomials(self) -> StratifiedBinomials:
        s = self.strata
        return StratifiedBinomials.of_strata(s, s.right, self.slope, self.offset)

    @property
    def _tested(self) -> StratifiedBinomials:
        """The counts as rules take them."""
        return replace(self._binomials, row_variance=self.row_variance)

    def at(self, segments: Int64Array) -> "LabelPlan":
        """Take these segments."""
        predicted = None if self.predicted is None else self.predicted[segments]
        names = ("slope", "offset", "scale", "row_variance", "bound", "z")
        own = {name: getattr(self, name)[segments] for name in names}
        return replace(self, strata=self.strata.at(segments), predicted=predicted, **own)

    def with_labels(self, labels: FloatArray) -> "LabelPlan":
        """Return the plan with other labels of each stratum; the shares stay the same."""
        s = self.strata
        right = s.right / np.where(s.labelled > 0, s.labelled, 1) * labels
        return replace(self, strata=replace(s, labelled=labels, right=right))

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound."""
        c = self._binomials
        theta, sd, third = moments(c, c.x / c.n)

        def passes(distance: FloatArray) -> FloatArray:
            statistic = correct_for_skewness((self.bound + distance - theta) / sd, third / sd**3)
            return np.where(self.bound + distance < 1, special.ndtr(-statistic), 0)

        of_many = self._distance()
        have_few = 1 - self._probabilities_of_enough(self._shares(of_many)).prod(axis=0)
        at = np.flatnonzero(have_few > _NEGLIGIBLE)
        of_few = of_many.copy()
        of_few[at] = self.at(at)._distance_of_few(of_many[at])
        return np.asarray((1 - have_few) * passes(of_many) + have_few * passes(of_few))

    def _shares(self, distance: FloatArray) -> FloatArray:
        """Return the shares of largest likelihood at this distance from the bound."""
        _, p = self._tested.constrained_mle(np.clip(self.bound + distance, _CLOSE, 1 - _CLOSE))
        return p

    def _distance(self) -> FloatArray:
        """Return how far above the bound the rule passes if no stratum has few labels."""
        _, sd, third = moments(self._tested, self._shares(np.zeros(len(self.bound))))
        distance = sd * (self.z + np.maximum(third / sd**3 * (self.z**2 - 1) / 6, 0))
        if self.predicted is None:
            return distance
        return self._distance_of_mean(self.predicted, distance, has_few=False)

    def _distance_of_few(self, distance: FloatArray) -> FloatArray:
        """Return that distance if a stratum has few labels, from that if no stratum has."""
        if self.predicted is not None:
            return self._distance_of_mean(self.predicted, distance, has_few=True)
        p, c = self._shares(distance), self._tested
        some = replace(c, x=p * c.n)
        of_mover = mover_half_width(some, *strata_limits(some, self.z), self.z)
        return np.maximum(distance, of_mover)

    def _distance_of_mean(
        self, predicted: BoolArray, distance: FloatArray, *, has_few: bool
    ) -> FloatArray:
        """Return how far a mean of recalls is above its lower limit, where this is the bound."""
        few = np.full(len(distance), has_few)
        for _ in range(_STEPS):
            right = self._shares(distance).T * self.strata.labelled
            strata = replace(self.strata, right=right)
            mean = MeanRecall(Recall(strata, predicted), Recall(strata, ~predicted))
            score, _ = mean.extremes()
            distance = (score - mean.lower_limits(self.z, "rule", few)) / self.scale
        return distance

    def _probabilities_of_enough(self, p: FloatArray) -> FloatArray:
        """Return how probably each stratum has not too few right and wrong rows with a label."""
        s = self.strata
        n = np.round(s.labelled.T).astype(np.int64)
        most = np.maximum(n - MIN_LABELS, 0)  # right or wrong rows
        enough = special.bdtr(most, n, p) - special.bdtr(np.minimum(MIN_LABELS - 1, n), n, p)
        is_counted = (s.labelled < s.rows).T
        return np.where(is_counted, np.where(n < 2 * MIN_LABELS, 0, enough), 1)

    def half_width(self, z: float) -> FloatArray:
        """Return the expected half width of a confidence interval at the normal quantile z."""
        c = self._binomials
        return np.asarray(self.scale * z * moments(c, c.x / c.n)[1])

    def for_power(self, power: FloatArray) -> FloatArray:
        """Return the labels of strata with which the rule passes with this probability.

        NaN unless the share is above the bound, and where all labels together do not suffice.
        """
        c = self._binomials
        _, at_bound = c.constrained_mle(self.bound)
        p = c.x / c.n
        spread = np.sqrt(np.maximum(p * (1 - p), at_bound * (1 - at_bound))).T
        enough = self._least_labels(spread, lambda plan, at: plan.pass_probability() - power[at])
        return np.where((c.score > self.bound)[:, None], enough, np.nan)

    def for_half_width(self, half_width: float, z: float) -> FloatArray:
        """Return the labels of strata with which limits at z are expected to be so narrow.

        NaN where all labels together do not suffice.
        """
        c = self._binomials
        p = c.x / c.n
        spread = np.sqrt(p * (1 - p)).T
        return self._least_labels(spread, lambda plan, at: half_width - plan.half_width(z))

    def _least_labels(
        self, spread: FloatArray, excess: Callable[["LabelPlan", Int64Array], FloatArray]
    ) -> FloatArray:
        """Return the least labels, in proportion to a times the spread, at which there is excess.

        No stratum has fewer than a test needs, or more than its rows.
        """
        s = self.strata
        weight = s.share * self.slope * spread
        weight = weight / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        least = np.minimum(MIN_LABELS, s.rows)

        def labels(log_total: FloatArray, at: Int64Array) -> FloatArray:
            wanted = np.exp(log_total)[:, None] * weight[at]
            return np.asarray(np.clip(wanted, least[at], s.rows[at]))

        def excess_at(log_total: FloatArray, at: Int64Array) -> FloatArray:
            return excess(self.at(at).with_labels(labels(log_total, at)), at)

        every = np.arange(len(s.rows))
        most = np.log(np.maximum((s.rows / np.maximum(weight, 1e-12)).max(axis=1), 1))
        total = root_between(excess_at, np.zeros(len(most)), most)
        rounded = np.ceil(labels(total, every) - 1e-6)
        is_enough = excess(self.with_labels(np.minimum(rounded, s.rows)), every) > -1e-6
        return np.where(is_enough[:, None], np.minimum(rounded, s.rows), np.nan)


_NOT_PLANNED = ("selection_rate",)  # which needs no labels
_IS_IN_RULE = "is in rule"
_VALUES = ("estimate", "power_at_zero", "labels_needed", "half_width", _IS_IN_RULE)


def check_can_plan(rules: Sequence[Rule], options: Mapping[str, Any]) -> None:
    """Raise for rules and options that labels are not planned for."""
    for name in ("baseline", "disagreement", "design_effect", "trials", "cluster"):
        if options[name] is not None:
            raise InvalidInputError(
                "{} cannot be combined with {missing}, which plans how many rows to label; omit "
                "one.",
                parameter(name, NAME),
                missing="correct",
            )
    metrics = [rule.metric.name for rule in rules if rule.metric is not None]
    allowed = tuple(name for name in PARTLY_LABELLED if name not in _NOT_PLANNED)
    check_metrics(metrics, allowed, "planned")


def check_half_width(half_width: object, missing: object) -> None:
    """Raise unless labels are planned for a half width of an interval, or it is None."""
    if half_width is None:
        return
    if missing != "correct":
        raise InvalidInputError(
            "{half_width} is for rows to be labelled; give {missing} too.",
            half_width=half_width,
            missing="correct",
        )
    if not is_number(half_width) or not 0 < half_width < 0.5:
        raise InvalidInputError(
            "{half_width} is not the half width of an interval; give a number between 0 and 0.5, "
            "such as 0.05.",
            half_width=half_width,
        )


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What labels are planned for: powers of rules, or a half width of their metrics' intervals."""

    powers: Sequence[float]
    level: float
    simultaneous: bool
    half_width: float | None
    n_segment_keys: int

    def columns(
        self, rules: Sequence[Rule], selection: MetricSelection, counted_frame: CountedFrame
    ) -> dict[Name, Any]:
        """Return the columns of one row per stratum, rule and power."""
        sample = selection.sample(counted_frame)
        first = counted_frame.cells.segments[1]
        segment_keys = [codes[first] for codes in counted_frame.cells.by[: self.n_segment_keys]]
        segment = segment_positions(segment_keys, len(first))
        powers = self.powers if self.half_width is None else [np.nan]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            plans = [self._rule_columns(rule, sample, segment, counted_frame) for rule in rules]
        shape = len(first), len(rules), len(powers)
        values = {name: np.stack([plan[name] for plan in plans], axis=1) for name in _VALUES}
        stratum, rule, power = (
            index.ravel()[values[_IS_IN_RULE].ravel() > 0] for index in np.indices(shape)
        )
        at = stratum, rule, power
        return counted_frame.by_columns(first[stratum]) | {
            "rule": counted_frame.text_column([rule.text for rule in rules], rule),
            "power": np.asarray(powers, np.float64)[power],
            "bound": np.array([rule.bound for rule in rules])[rule],
            **{name: values[name][at] for name in ("estimate", "power_at_zero", "half_width")},
            "labels_needed": counted_frame.count_column(as_row_counts(values["labels_needed"][at])),
            "n": sample.n[stratum],
            "n_labelled": sample.counts.n[stratum],
        }

    def _rule_columns(
        self, rule: Rule, sample: Sample, segment: Int64Array, counted_frame: CountedFrame
    ) -> dict[str, FloatArray]:
        """Return what is planned for a rule, of the shape (strata, powers)."""
        assert rule.metric is not None
        assert sample.strata is not None
        check_applies(rule, counted_frame)
        if not has_limits(rule.metric, sample.counts):
            raise InvalidInputError(
                f"metric {rule.metric.name!r} is a mean of {sample.counts.n_labels} recalls, and "
                "labels are planned for means of two only; give a rule on one recall or precision."
            )
        is_in_rule = np.isin(np.arange(len(segment)), rule_segments(rule, counted_frame))
        pilot = _by_segment(sample.strata, segment)
        estimate = corrected_estimate(rule.metric, sample.counts, pilot)
        n_together = len(np.unique(segment[is_in_rule])) if self.simultaneous else 1
        z = -float(special.ndtri((1 - self.level) / max(n_together, 1) / 2))
        linear = LinearRule.of(
            rule.metric,
            sample.counts,
            pilot,
            rule.bound,
            is_lower_bound=rule.operator in (">=", ">"),
        )
        quantiles = np.full(len(estimate), z)
        plan = LabelPlan.of(linear.score, linear.bound, quantiles, linear.predicted)
        wide = LabelPlan.of(linear.near, linear.bound, quantiles)
        is_planned = np.isfinite(estimate)
        if not is_share(rule.metric):
            is_planned &= pilot.has_both(sample.counts.pos_label)
        passes = np.where(is_planned, plan.pass_probability(), np.nan)
        labels = self._labels(plan, wide, linear.width)
        labels = np.where(is_planned[:, None, None], labels, np.nan)
        has_plan = np.isfinite(labels).all(axis=1)
        half_width = [
            linear.width
            * wide.with_labels(np.nan_to_num(each, nan=1.0)).half_width(normal_quantile(self.level))
            for each in np.moveaxis(labels, -1, 0)
        ]
        of_powers = np.ones(labels.shape[-1])
        return {
            "estimate": np.outer(estimate[segment], of_powers),
            "power_at_zero": np.outer(passes[segment], of_powers),
            "labels_needed": labels[segment, places(segment)],
            "half_width": np.where(has_plan, np.stack(half_width, axis=-1), np.nan)[segment],
            _IS_IN_RULE: np.outer(is_in_rule, of_powers),
        }

    def _labels(self, plan: LabelPlan, wide: LabelPlan, width: float) -> FloatArray:
        """Return the labels to be had, of the shape (segments, strata, powers)."""
        if self.half_width is not None:
            half_width = self.half_width / width
            return wide.for_half_width(half_width, normal_quantile(self.level))[..., None]
        (n_segments, n_strata), n_powers = plan.strata.rows.shape, len(self.powers)
        repeated = plan.at(np.repeat(np.arange(n_segments), n_powers))  # one search is faster
        labels = repeated.for_power(np.tile(self.powers, n_segments))
        return np.moveaxis(labels.reshape(n_segments, n_powers, n_strata), 1, 2)


def _by_segment(strata: Strata, segment: Int64Array) -> Strata:
    """Put strata, each a segment of its own so far, side by side."""
    assert strata.positive is not None
    counts = (strata.rows, strata.labelled, strata.right, strata.positive)
    n_segments = int(segment.max(initial=-1)) + 1
    columns = (column[:, 0] for column in counts)
    return Strata.of(segment, strata.prediction[:, 0], n_segments, *columns)
