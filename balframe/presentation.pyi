# Written by .ci/accessor_stub.py: run it again after a change of a signature.
from collections.abc import Hashable, Mapping, Sequence
from datetime import date, datetime
from os import PathLike
from typing import Any, Literal, Unpack

from altair import ConcatChart, FacetChart, LayerChart
from great_tables import GT

from balframe.api.option_types import Correction, ExpectedSegments, LabelSetting, PlannedDesign
from balframe.api.settings import Settings
from balframe.frames.adapter import FrameT
from balframe.frames.by_entries import Period
from balframe.methods.gates.rules import Rule, RuleSet

class _Plot:
    def __call__(
        self,
        frame: Any,
        *,
        method: str | None = None,
        level: float | None = None,
        sort: Literal["score", "name", "n"] | None = None,
        numbers: bool | None = None,
        min_support: int | None = None,
        most: int | None = None,
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return the chart of a result, such as `report` returns."""
    def calibration(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        bins: int = 10,
        most: int = 24,
        resolution: int | None = None,
        level: float = 0.95,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return the reliability diagram of every segment."""
    def compare(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        y_score: Hashable | Sequence[Hashable] | None = None,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        baseline: Hashable = None,
        sort: Literal["score", "name", "n"] | None = None,
        numbers: bool | None = None,
        min_support: int = 10,
        most: int = 60,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a forest plot of the difference of each model from the baseline, by segment."""
    def confusion(
        self,
        frame: object,
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        normalize: Literal["true", "pred", "all"] = "true",
        most: int = 60,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop", "correct"] | Correction = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of every segment's confusion matrix: shares as shades, counts in the cells."""
    def curve(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = "balanced_accuracy",
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        level: float = 0.95,
        most: int = 60,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of a metric at every threshold of a score, with a line for each segment."""
    def decision_curve(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        level: float = 0.95,
        most: int = 60,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of the net benefit of acting on a probability, at every threshold."""
    def gains(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        most: int = 60,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of cumulative gains: recall against the share of rows selected."""
    def gaps(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = "balanced_accuracy",
        reference: Literal["rest", "overall", "largest", "best", "worst"]
        | Mapping[Hashable, Any]
        | Any = "rest",
        sort: Literal["score", "name", "n"] | None = None,
        numbers: bool | None = None,
        min_support: int = 10,
        most: int = 60,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a forest plot of the difference of every segment from the rest or another reference."""
    def impact(
        self,
        frame: object,
        selected: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        score: Hashable | Sequence[Hashable] | None = None,
        sort: Literal["score", "name", "n"] | None = None,
        numbers: bool | None = None,
        most: int = 60,
        min_share: float = 0.02,
        bound: float = 0.8,
        favourable: Literal["selected", "not selected"] | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a forest plot of the impact ratio of every category, with the bound as a line."""
    def lift(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        most: int = 60,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of lift: how much more often selected rows are positive than all rows."""
    def monitor(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        time: Period,
        baseline: date | str | Mapping[str, Any] | object,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = "balanced_accuracy",
        most: int = 24,
        tolerance: float = 0.05,
        looks: int = 104,
        dispersion: Literal["estimate"] | None = "estimate",
        exclude: Sequence[date | str] | date | str | None = None,
        level: float = 0.95,
        adjust: Literal["bonferroni"] | None = "bonferroni",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return the scores of every segment over time, beside their baseline, with alarms marked."""
    def pass_curve(
        self,
        frame: object,
        outcome: Hashable | Sequence[Hashable] | None,
        *,
        cluster: Hashable,
        by: Hashable | Sequence[Hashable] | None = None,
        trials: int = 10,
        pos_label: bool | int | float | str | date | datetime | None = None,
        level: float = 0.95,
        most: int = 60,
        counts: Hashable | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of how often any and how often all of k trials of an item pass."""
    def power(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        rules: str
        | PathLike[str]
        | Mapping[str, Any]
        | Sequence[str | PathLike[str] | Mapping[str, Any]]
        | Sequence[Rule]
        | RuleSet,
        by: Hashable | Sequence[Hashable] | None = None,
        most: int = 60,
        design: PlannedDesign | None = None,
        baseline: Hashable | object | None = None,
        level: float = 0.95,
        adjust: Literal["bonferroni"] | None = "bonferroni",
        min_support: int = 1,
        cluster: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct"] | Correction = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of the probability that a rule fails, with a line for each segment."""
    def precision_recall(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        most: int = 60,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of precision against recall at every threshold of a score."""
    def report(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = "balanced_accuracy",
        interval: bool
        | Literal[
            "score",
            "wilson",
            "scas",
            "jeffreys",
            "exact",
            "mover",
            "posterior",
            "jeffreys_posterior",
        ]
        | None = True,
        sort: Literal["score", "name", "n"] | None = None,
        numbers: bool | None = None,
        min_support: int = 10,
        most: int = 60,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a forest plot of a metric of every segment with its confidence interval."""
    def roc(
        self,
        frame: object,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        most: int = 60,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of the ROC curve of every segment: recall against false positive rate."""
    def slices(
        self,
        frame: object,
        y_true: Hashable = None,
        y_pred: Hashable = None,
        *,
        numbers: bool | None = None,
        over: Any = None,
        metrics: str | Sequence[str] = "balanced_accuracy",
        depth: int = 3,
        order: Literal["p_value", "lower", "impact"] = "p_value",
        top: int = 10,
        bins: int | Mapping[Hashable, int | Sequence[float] | None] | None = 4,
        min_difference: float = 0.0,
        max_slices: int = 2000000,
        level: float = 0.95,
        min_support: int = 30,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> LayerChart | FacetChart | ConcatChart:
        """Return a chart of the slices listed by `bf.slices`, each compared with the rest of the rows."""

plot: _Plot

class _Table:
    def __call__(
        self,
        frame: Any,
        *,
        method: str | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
    ) -> GT:
        """Return the result of a method such as `report` as a great_tables table."""
    def best_threshold(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] = "balanced_accuracy",
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        min_support: int = 10,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.best_threshold` as a great_tables table."""
    def calibration(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        resolution: int | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.calibration` as a great_tables table."""
    def calibration_curve(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        bins: int = 10,
        resolution: int | None = None,
        level: float = 0.95,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.calibration_curve` as a great_tables table."""
    def calibration_gaps(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        resolution: int | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.calibration_gaps` as a great_tables table."""
    def check(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        rules: str
        | PathLike[str]
        | Mapping[str, Any]
        | Sequence[str | PathLike[str] | Mapping[str, Any]]
        | Sequence[Rule]
        | RuleSet,
        y_score: Hashable | Sequence[Hashable] | None = None,
        by: Hashable | Sequence[Hashable] | None = None,
        baseline: Hashable | object | None = None,
        expect: ExpectedSegments | Sequence[Any] | Mapping[Hashable, Any] | object | None = None,
        level: float | None = 0.95,
        adjust: Literal["bonferroni"] | None = "bonferroni",
        min_support: int = 1,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.check` as a great_tables table."""
    def classes(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        interval: bool
        | Literal[
            "score",
            "wilson",
            "scas",
            "jeffreys",
            "exact",
            "mover",
            "posterior",
            "jeffreys_posterior",
        ]
        | None = None,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.classes` as a great_tables table."""
    def compare(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        y_score: Hashable | Sequence[Hashable] | None = None,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        baseline: Hashable = None,
        model: Hashable = None,
        item: Hashable | Sequence[Hashable] | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.compare` as a great_tables table."""
    def confusion(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        complete: bool = False,
        normalize: Literal["true", "pred", "all"] | None = None,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop", "correct", "keep"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.confusion` as a great_tables table."""
    def curve(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        thresholds: Literal["all"]
        | int
        | tuple[Literal["quantiles"], int]
        | Sequence[float]
        | None = None,
        band: bool = False,
        interval: bool
        | Literal[
            "score",
            "wilson",
            "scas",
            "jeffreys",
            "exact",
            "mover",
            "posterior",
            "jeffreys_posterior",
        ]
        | None = None,
        level: float = 0.95,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.curve` as a great_tables table."""
    def diff(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        baseline: Hashable | object,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        key: Hashable | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.diff` as a great_tables table."""
    def diff_slices(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_pred: Hashable,
        *,
        baseline: Hashable | Any,
        over: Hashable | Sequence[Hashable] | None,
        metrics: str | Sequence[str] = "accuracy",
        key: Hashable | None = None,
        depth: int = 3,
        top: int = 10,
        bins: int | Mapping[Hashable, int | Sequence[float] | None] | None = 4,
        max_slices: int = 2000000,
        level: float = 0.95,
        min_support: int = 30,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.diff_slices` as a great_tables table."""
    def disparity(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        min_support: int = 10,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.disparity` as a great_tables table."""
    def fairness(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        min_support: int = 10,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.fairness` as a great_tables table."""
    def gaps(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        reference: Literal["rest", "overall", "largest", "best", "worst"]
        | Mapping[Hashable, Any]
        | Any = "rest",
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.gaps` as a great_tables table."""
    def impact(
        self,
        frame: FrameT,
        selected: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None,
        score: Hashable | Sequence[Hashable] | None = None,
        min_share: float = 0.02,
        bound: float = 0.8,
        favourable: Literal["selected", "not selected"] | None = None,
        level: float = 0.95,
        adjust: Literal["bh", "holm"] | None = "bh",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | None = None,
        missing: Literal["raise", "drop"] = "raise",
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.impact` as a great_tables table."""
    def monitor(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        time: Period,
        baseline: date | str | Mapping[str, Any] | object,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        tolerance: float = 0.05,
        looks: int = 104,
        dispersion: Literal["estimate"] | None = "estimate",
        exclude: Sequence[date | str] | date | str | None = None,
        level: float = 0.95,
        adjust: Literal["bonferroni"] | None = "bonferroni",
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.monitor` as a great_tables table."""
    def posterior(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        above: float | None = None,
        prior: Literal["uniform", "jeffreys"] = "uniform",
        level: float = 0.95,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.posterior` as a great_tables table."""
    def power(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        rules: str
        | PathLike[str]
        | Mapping[str, Any]
        | Sequence[str | PathLike[str] | Mapping[str, Any]]
        | Sequence[Rule]
        | RuleSet,
        by: Hashable | Sequence[Hashable] | None = None,
        power: float | Sequence[float] = 0.8,
        half_width: float | None = None,
        design: PlannedDesign | None = None,
        baseline: Hashable | object | None = None,
        level: float = 0.95,
        adjust: Literal["bonferroni"] | None = "bonferroni",
        min_support: int = 1,
        cluster: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.power` as a great_tables table."""
    def ranking(
        self,
        frame: FrameT,
        y_true: Hashable,
        y_score: Hashable | Sequence[Hashable] | None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        reference: Literal["rest", "overall", "largest", "best", "worst"]
        | Mapping[Hashable, Any]
        | Any = None,
        interval: bool
        | Literal[
            "score",
            "wilson",
            "scas",
            "jeffreys",
            "exact",
            "mover",
            "posterior",
            "jeffreys_posterior",
        ]
        | None = None,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop"] = "raise",
        margins: Literal[False, "overall", "all"] = False,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.ranking` as a great_tables table."""
    def report(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        by: Hashable | Sequence[Hashable] | None = None,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        interval: bool
        | Literal[
            "score",
            "wilson",
            "scas",
            "jeffreys",
            "exact",
            "mover",
            "posterior",
            "jeffreys_posterior",
        ]
        | None = None,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop", "correct", "bounds"] | Correction = "raise",
        margins: Literal[False, "overall", "all"] = False,
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        min_support: int = 10,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.report` as a great_tables table."""
    def slices(
        self,
        frame: FrameT,
        y_true: Hashable = None,
        y_pred: Hashable = None,
        *,
        over: Any = None,
        metrics: str | Sequence[str] = "balanced_accuracy",
        depth: int = 3,
        order: Literal["p_value", "lower", "impact"] = "p_value",
        top: int = 10,
        bins: int | Mapping[Hashable, int | Sequence[float] | None] | None = 4,
        min_difference: float = 0.0,
        max_slices: int = 2000000,
        level: float = 0.95,
        min_support: int = 30,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        class_weight: Mapping[bool | int | float | str | date | datetime, float]
        | Literal["balanced", "prevalence"]
        | None = None,
        missing: Literal["raise", "drop"] = "raise",
        outcome: Hashable | Sequence[Hashable] | None = None,
        title: str | None = None,
        subtitle: str | None = None,
        decimals: int = 3,
        bars: bool = True,
        worst: int = 1,
        max_rows: int | None = 60,
        **settings: Unpack[Settings],
    ) -> GT:
        """Return the result of `bf.slices` as a great_tables table."""

table: _Table
