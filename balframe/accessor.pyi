# Written by .ci/accessor_stub.py: run it again after a change of a signature.
from collections.abc import Hashable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from os import PathLike
from typing import Any, Generic, Literal, Unpack

from altair import ConcatChart, FacetChart, LayerChart
from great_tables import GT

from balframe.api.option_types import Correction, ExpectedSegments, LabelSetting, PlannedDesign
from balframe.api.settings import Settings
from balframe.audit_page.page import Page
from balframe.frames.adapter import FrameT
from balframe.frames.by_entries import Period
from balframe.methods.gates.rules import Rule, RuleSet
from balframe.methods.history.store import StoredRun

def groups(namespace: type) -> dict[str, list[str]]:
    """Return the names of the methods of a namespace by their group, in order."""

class Plots(Generic[FrameT]):
    """Charts of a frame: `df.bal.plot.report("y", "yhat", by="group")`."""
    def __init__(self, frame: FrameT) -> None: ...
    def report(
        self,
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
    def confusion(
        self,
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
    def gaps(
        self,
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
    def compare(
        self,
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
    def slices(
        self,
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
    def impact(
        self,
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
    def monitor(
        self,
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
    def power(
        self,
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
    def pass_curve(
        self,
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
    def curve(
        self,
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
    def roc(
        self,
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
    def precision_recall(
        self,
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
    def decision_curve(
        self,
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
    def lift(
        self,
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
    def calibration(
        self,
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

class Tables(Generic[FrameT]):
    """Tables of a frame: `df.bal.table.report("y", "yhat", by="group")`."""
    def __init__(self, frame: FrameT) -> None: ...
    def report(
        self,
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
    def classes(
        self,
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
    def confusion(
        self,
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
    def posterior(
        self,
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
    def monitor(
        self,
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
    def gaps(
        self,
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
    def disparity(
        self,
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
    def compare(
        self,
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
    def diff(
        self,
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
    def slices(
        self,
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
    def diff_slices(
        self,
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
    def impact(
        self,
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
    def curve(
        self,
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
    def best_threshold(
        self,
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
    def ranking(
        self,
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
    def calibration(
        self,
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
    def power(
        self,
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

class Bal(Generic[FrameT]):
    """The methods of balframe on a frame: `df.bal.report("y", "yhat")`."""
    def __init__(self, frame: FrameT) -> None: ...
    @cached_property
    def plot(self) -> Plots[FrameT]:
        """Charts of the frame, each with the name of the method whose result it draws."""
    @cached_property
    def table(self) -> Tables[FrameT]:
        """Tables of the frame, each with the name of the method whose result it shows."""
    def report(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment with its scores: accuracy, balanced accuracy, or other metrics."""
    def classes(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and class label with recall, precision and other scores."""
    def confusion(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment, true label and predicted label with its number of rows."""
    def posterior(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment with the posterior distribution of its balanced accuracy."""
    def monitor(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and period that shows whether its score got worse."""
    def gaps(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and metric with its difference from the rest or a reference."""
    def disparity(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per metric with its lowest and highest segment, and tests of equality."""
    def fairness(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per criterion of group fairness with its largest difference and ratio."""
    def compare(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment, model and metric, with the difference from the baseline's score."""
    def diff(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and metric with its change since an earlier run: better or worse."""
    def slices(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per slice on which the model is significantly worse than on the others."""
    def diff_slices(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per slice on which a model got significantly worse since an earlier run."""
    def impact(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per category with its rate of the favourable result and its impact ratio."""
    def curve(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and threshold with the scores at this operating point."""
    def best_threshold(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment with its best threshold, and the best common threshold."""
    def ranking(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment with its ROC AUC and other scores that need no threshold."""
    def calibration(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment that shows whether its scores are calibrated probabilities."""
    def calibration_curve(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and bin of scores with its observed share of positive rows."""
    def calibration_gaps(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment with its share of positives and the share expected at its scores."""
    def check(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and rule with its verdict: pass, fail or inconclusive."""
    def require(
        self,
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
        allow_inconclusive: bool = False,
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
        outcome: Hashable | Sequence[Hashable] | None = None,
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return the data unchanged if every segment satisfies the rules, and fail otherwise."""
    def power(
        self,
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
        **settings: Unpack[Settings],
    ) -> FrameT:
        """Return one row per segment and rule with its power: how likely `check` is to decide it."""
    def audit(
        self,
        y_true: Hashable = None,
        y_pred: Hashable | Sequence[Hashable] | None = None,
        *,
        outcome: Hashable | Sequence[Hashable] | None = None,
        by: Hashable | Sequence[Hashable] | None = None,
        y_score: Hashable | Sequence[Hashable] | None = None,
        rules: str
        | PathLike[str]
        | Mapping[str, Any]
        | Sequence[str | PathLike[str] | Mapping[str, Any]]
        | Sequence[Rule]
        | RuleSet
        | None = None,
        favourable: Literal["selected", "not selected"] | None = None,
        baseline: object = None,
        words: Mapping[str, Any] | None = None,
        cover: Mapping[str, Any] | str | PathLike[str] | None = None,
        min_support: int = 10,
        suppress: int | None = None,
        level: float = 0.95,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        pos_label: bool | int | float | str | date | datetime | None = None,
        labels: Sequence[bool | int | float | str | date | datetime] | LabelSetting | None = None,
        missing: Literal["raise", "drop", "correct"] | Correction = "raise",
        **settings: Unpack[Settings],
    ) -> Page:
        """Return a page that shows how often a classifier is right, for whom, and how sure that is."""
    def store(
        self,
        table: str | PathLike[str],
        y_true: Hashable,
        y_pred: Hashable | Sequence[Hashable] | None,
        *,
        run: str,
        by: Hashable | Sequence[Hashable] | None = None,
        date: date | str | None = None,
        time: Hashable | None = None,
        model: str | None = None,
        source: str | None = None,
        replace: bool = False,
        cluster: Hashable | None = None,
        sample_weight: Hashable | None = None,
        counts: Hashable | None = None,
        missing: Literal["raise", "drop"] = "raise",
        **settings: Unpack[Settings],
    ) -> StoredRun:
        """Return the status of a run after adding its cells to a Delta table."""

def public_functions() -> list[str]:
    """List the names of all methods, pages and others of a frame, in the order of their groups."""

def methods() -> list[str]:
    """List the names of the methods, whose results are frames, in the order of their groups."""

def bal(frame: FrameT) -> Bal[FrameT]:
    """Return the namespace of a frame, which pandas and polars frames have as `frame.bal`."""

def register(library: Literal["dask"]) -> None:
    """Add the attribute `bal` to frames of a library that `import balframe` does not cover."""

def register_pandas_and_polars() -> None:
    """Add the attribute to the frames of pandas and polars."""
