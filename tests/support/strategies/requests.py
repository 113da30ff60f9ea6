"""Random requests: a method, options and a small frame, and its result as plain lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

import balframe as bf
from balframe.methods import declarations
from balframe.metrics.lookup import registered_metrics
from tests.support.constructors import Table, plain

LABEL_COLUMNS = ["y", "p", "q"]


@dataclass(frozen=True)
class MethodCase:
    """A method, what it reads beside the true labels, and options to call it with."""

    function: Callable[..., Any]
    columns: list[Any]
    options: list[dict[str, Any]] = field(repr=False)
    needs_segments: bool = False
    searches: bool = False
    takes_cells: bool = True
    takes_weights: bool = True

    @property
    def takes_clusters(self) -> bool:
        """Tell whether its rows may come in clusters."""
        return "cluster" in self._parameters

    @property
    def takes_times(self) -> bool:
        """Tell whether its segments may be periods here."""
        return self.needs_times or self.function in (bf.report, bf.gaps, bf.confusion)

    @property
    def needs_times(self) -> bool:
        """Tell whether it is about periods."""
        return "time" in self._parameters

    @property
    def takes_margins(self) -> bool:
        """Tell whether it adds roll-ups that are asked for."""
        return "margins" in self._parameters

    @property
    def has_details(self) -> bool:
        """Tell whether its result may have details."""
        return "detail" in self._parameters

    @property
    def has_truth(self) -> bool:
        """Tell whether it reads true labels."""
        return "y_true" in self._parameters

    @property
    def _parameters(self) -> Mapping[str, Any]:
        return declarations()[self.function.__name__].parameters


OF_ORDERED_LABELS = {"cohen_kappa_linear", "cohen_kappa_quadratic"}
NOMINAL = sorted({one.name for one in registered_metrics()} - OF_ORDERED_LABELS)
PREDICTIONS, SCORES = ["p", ["q", "p"]], ["s", ["t", "s"]]
RULES = ["uar >= 0.5", "recall > 0.2", "n >= 9", "difference(accuracy) <= 0.3", "ratio(f1) >= 0.5"]
AGAINST = ["uar >= baseline - 0.1", "accuracy > baseline", "recall <= baseline + 0.2", "n >= 9"]
PLANNED = ["uar >= 0.5", "recall > 0.2", "accuracy < 0.9", "specificity <= 0.7"]
EXPECTED = [{"h": [-1], "g": ["a"]}, {"h": [0, 300], "g": ["B", None]}]
UNTIL = {"until": "2024-02-29"}
METHOD_CASES = {
    "report": MethodCase(
        bf.report,
        PREDICTIONS,
        [
            {"metrics": "all", "class_weight": "balanced"},
            {"metrics": NOMINAL, "absent": "zero", "class_weight": "prevalence", "layout": "long"},
            {"interval": True, "absent": "null"},
            {"interval": "mover", "metrics": ["uar", "f1", "mcc", "geometric_mean"]},
            {"interval": "scas", "metrics": ["uar", "accuracy", "informedness"]},
        ],
    ),
    "classes": MethodCase(bf.classes, PREDICTIONS, [{}, {"interval": True, "level": 0.8}]),
    "confusion": MethodCase(
        bf.confusion, PREDICTIONS, [{}, {"complete": True}, {"normalize": "true"}], takes_cells=True
    ),
    "posterior": MethodCase(bf.posterior, PREDICTIONS, [{"above": 0.5}, {"prior": "jeffreys"}]),
    "gaps": MethodCase(
        bf.gaps,
        PREDICTIONS,
        [
            {},
            {"reference": "overall"},
            {"reference": "largest", "adjust": "holm"},
            {"reference": "worst", "metrics": ["uar", "f1", "informedness", "specificity"]},
        ],
        needs_segments=True,
    ),
    "disparity": MethodCase(
        bf.disparity,
        PREDICTIONS,
        [{}, {"min_support": 1}, {"metrics": "recall", "min_support": 3}],
        needs_segments=True,
    ),
    "fairness": MethodCase(
        bf.fairness, PREDICTIONS, [{}, {"min_support": 1}, {"min_support": 2}], needs_segments=True
    ),
    "compare": MethodCase(
        bf.compare, [["p", "q"]], [{}, {"metrics": "accuracy"}], takes_cells=False
    ),
    "diff": MethodCase(
        bf.diff,
        PREDICTIONS,
        [
            {"baseline": "q"},
            {"baseline": "q", "metrics": ["accuracy", "fpr", "f1"], "adjust": "holm"},
        ],
        takes_cells=False,
    ),
    "curve": MethodCase(
        bf.curve,
        SCORES,
        [
            {},
            {"thresholds": 5, "band": True},
            {"thresholds": [0.3, 0.1], "metrics": "all", "class_weight": "balanced"},
            {"thresholds": ("quantiles", 3), "interval": True},
        ],
        takes_cells=False,
    ),
    "best_threshold": MethodCase(
        bf.best_threshold,
        SCORES,
        [{"min_support": 0}, {"metrics": "f1"}, {"thresholds": 11}],
        takes_cells=False,
    ),
    "ranking": MethodCase(
        bf.ranking,
        SCORES,
        [{}, {"reference": "rest"}, {"reference": "worst", "level": 0.8}],
        takes_cells=False,
    ),
    "impact": MethodCase(
        bf.impact,
        PREDICTIONS,
        [
            {"favourable": "selected"},
            {"favourable": "not selected", "min_share": 0.3, "adjust": None},
            {"favourable": "selected", "min_share": 0, "bound": 0.9},
        ],
        needs_segments=True,
        takes_cells=False,
        takes_weights=False,
    ),
    "calibration": MethodCase(
        bf.calibration, SCORES, [{}, {"level": 0.8}], takes_cells=False, takes_weights=False
    ),
    "calibration_curve": MethodCase(
        bf.calibration_curve,
        SCORES,
        [{}, {"bins": 2}],
        takes_cells=False,
        takes_weights=False,
    ),
    "calibration_gaps": MethodCase(
        bf.calibration_gaps,
        SCORES,
        [{}, {"adjust": "holm"}],
        needs_segments=True,
        takes_cells=False,
        takes_weights=False,
    ),
    "monitor": MethodCase(
        bf.monitor,
        PREDICTIONS,
        [
            {"every": "1w", "baseline": UNTIL},
            {
                "every": "1d",
                "baseline": UNTIL,
                "metrics": ["recall", "fpr"],
                "exclude": "2024-03-04",
            },
            {"every": "1mo", "baseline": UNTIL, "adjust": None, "class_weight": "balanced"},
            {"every": "3d", "baseline": UNTIL, "dispersion": None, "looks": 2},
        ],
        takes_weights=False,
    ),
    "slices": MethodCase(
        bf.slices,
        ["p"],
        [
            {"metrics": "accuracy", "min_support": 1, "level": 1e-3},
            {"metrics": "recall", "min_support": 3, "order": "lower", "depth": 1, "level": 0.2},
            {"min_support": 2, "order": "impact", "bins": 2, "level": 0.5},
            {"metrics": "f1", "min_support": 1, "top": 100},
        ],
        needs_segments=True,
        searches=True,
    ),
    "check": MethodCase(
        bf.check,
        PREDICTIONS,
        [
            {"rules": RULES},
            {"rules": RULES, "level": None},
            {"rules": RULES, "absent": "skip"},
            {"rules": RULES, "absent": "zero", "min_support": 0},
            {"rules": AGAINST, "baseline": "q"},
            {"rules": AGAINST, "baseline": "q", "level": None, "min_support": 2},
            {"rules": RULES, "expect": [{"g": ["", "B", None]}]},
            {"rules": RULES[:3], "expect": EXPECTED, "absent_segments": "fail"},
            {"rules": AGAINST, "baseline": "q", "expect": [{"g": ["a"]}]},
        ],
    ),
    "power": MethodCase(
        bf.power,
        PREDICTIONS,
        [
            {"rules": PLANNED, "power": [0.5, 0.9]},
            {"rules": PLANNED, "absent": "skip", "level": 0.7, "adjust": None},
            {"rules": PLANNED, "absent": "zero", "min_support": 2},
            {"rules": AGAINST[:3], "baseline": "q"},
            {"rules": AGAINST[:1], "design": bf.design(disagreement=0.2)},
        ],
        takes_weights=False,
    ),
}


@dataclass(frozen=True)
class MethodRequest:
    """A method, a frame and options; `restore` takes its result back to that of the original."""

    case: MethodCase
    frame: Any
    columns: Any
    options: Mapping[str, Any]
    restore: Callable[[Table], Table] = lambda result: result
    is_exact: bool = True
    is_renamed: bool = False
    y_true: str = "y"

    @property
    def models(self) -> list[str]:
        """List the columns of predictions or scores."""
        return [self.columns] if isinstance(self.columns, str) else self.columns

    @property
    def used(self) -> list[str]:
        """List the columns in which a null leaves a row out."""
        names = ("sample_weight", "counts", "cluster", "time")
        others = [self.baseline_column, *(self.options.get(name) for name in names)]
        truth = [self.y_true] if self.case.has_truth else []
        return [*truth, *self.models, *(name for name in others if name is not None)]

    @property
    def baseline_column(self) -> str | None:
        """Return the column of predictions that rules compare with; `monitor` has days instead."""
        return baseline_column(self.options)

    def having(self, frame: Any, **options: Any) -> "MethodRequest":
        """Ask the same of another frame, or with other options."""
        return replace(self, frame=frame, options=self.options | options)

    def undoing(self, undo: Callable[[Table], Table], **changes: Any) -> "MethodRequest":
        """Take answers back by this first."""
        before = self.restore
        return replace(self, restore=lambda result: before(undo(result)), **changes)

    def result(self) -> Table | type[Exception]:
        """Ask; what is refused has the class of the error as its result."""
        try:
            result = self.function_result()
        except bf.BalframeError as error:
            return type(error)
        for name in result.keys() & {"period", "since"}:  # as pandas has dates
            result[name] = [getattr(day, "date", lambda d=day: d)() for day in result[name]]
        for name in ("reference", "slice", "on"):  # spell values or names of by-columns out
            result.pop(name, None)
        if self.case.searches:  # objects of pandas are no numeric columns, whose levels are text
            for name in result.keys() & {*self.options["by"]}:
                result[name] = [f"{one:g}" if is_number(one) else one for one in result[name]]
        return result

    def function_result(self) -> Table:
        """Ask, and raise if it is refused."""
        options = dict(self.options)
        options.pop("cells", None)  # which are known by their columns
        if not self.case.takes_weights:
            del options["sample_weight"]
        if self.case.searches:
            options["over"] = options.pop("by")
        if not self.case.takes_margins:
            del options["margins"]
        if "time" in options:
            period = bf.period(options.pop("time"), options.pop("every"))
            if self.case.needs_times:
                options["time"] = period
            else:
                options["by"] = [*(options["by"] or []), period]
        if "absent" in options:
            options["labels"] = bf.label_set(options["labels"], absent=options.pop("absent"))
        if "absent_segments" in options:
            absent = options.pop("absent_segments")
            options["expect"] = bf.expected(options.get("expect"), absent=absent)
        truth = [self.y_true] if self.case.has_truth else []
        return plain(self.case.function(self.frame, *truth, self.columns, **options))


def baseline_column(options: Mapping[str, Any]) -> str | None:
    baseline = options.get("baseline")
    return baseline if isinstance(baseline, str) else None


def is_number(value: object) -> bool:
    return isinstance(value, int | float)


VALUES = {
    "g": ["", "a", "B", None],
    "h": [-1, 0, 300, None],
    "c": ["u", "V", "é", ""],
    "s": [-0.0, 0.0, 0.1, 0.3, 0.1 + 0.2, 1.0],
    "t": [0.0, 0.5, 1.0],
    "w": [0.0, 0.25, 0.75, 2.0, 1000.25],
    "k": [0, 1, 1, 3],
    "d": [date(2024, 2, 29) + timedelta(i) for i in (-60, -59, -1, 0, 1, 2, 3, 31)],
}
DTYPES = {"g": pl.String, "c": pl.String, "s": pl.Float64, "t": pl.Float64, "w": pl.Float64}
DTYPES |= {"d": pl.Date}


@st.composite
def method_requests(draw: st.DrawFn, case: MethodCase) -> MethodRequest:
    """Ask about few distinct rows, each repeated: small and large supports, and many ties."""
    labels = draw(st.sampled_from([[0, 1], [0, 1], [0, 1, 2]]))
    drops = draw(st.booleans())
    values = dict.fromkeys(LABEL_COLUMNS, labels) | VALUES
    if drops:
        values = {name: [*found, found[0], None] for name, found in values.items()}
    columns = {name: st.sampled_from(found) for name, found in values.items()}
    columns["times"] = st.sampled_from([1, 1, 2, 5, 17])
    least = draw(st.sampled_from([0, 4, 8]))
    rows = draw(st.lists(st.fixed_dictionaries(columns), min_size=least, max_size=12))
    schema = {name: DTYPES.get(name, pl.Int64) for name in columns}
    frame = pl.DataFrame(rows, schema=schema)
    frame = frame[np.repeat(np.arange(frame.height), frame["times"])].drop("times")
    by = draw(st.sampled_from([["g"], ["h", "g"]] + [None] * (not case.needs_segments)))
    given = labels if draw(st.booleans()) else None
    is_clustered = case.takes_clusters and draw(st.booleans())
    is_counted, is_weighted = draw(st.booleans()), case.takes_weights and draw(st.booleans())
    options = {
        "by": by,
        "labels": given,
        "pos_label": 1 if len(labels) > 2 or draw(st.booleans()) else None,
        "counts": "k" if is_counted else None,
        "sample_weight": "w" if is_weighted else None,
        "missing": "drop" if drops and draw(st.integers(0, 9)) else "raise",
        "margins": draw(st.sampled_from([False, "overall", "all"])),
    }
    unused = [] if is_counted else ["k"]
    unused += [] if is_weighted else ["w"]
    if is_clustered:
        options["cluster"] = "c"
    else:
        unused.append("c")
    asked = draw(st.sampled_from(case.options))
    if case.has_details:
        options["detail"] = draw(st.booleans())
    if case.needs_times or (case.takes_times and draw(st.booleans())):
        options |= {"time": "d", "every": draw(st.sampled_from(["1d", "2w", "1mo", "1y"]))}
    else:
        unused.append("d")
    asked_of = "p" if baseline_column(asked) is not None else draw(st.sampled_from(case.columns))
    return MethodRequest(case, frame.drop(unused), asked_of, options | asked)
