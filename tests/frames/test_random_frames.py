"""Random frames: pandas, polars and lazy give what counting rows in a dict gives."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import balframe as bf
from tests.support.constructors import assert_table, plain
from tests.support.counting_strategies import WAYS

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")  # labels are random


@dataclass(frozen=True)
class Kind:
    """Values in ascending order, and the dtypes that hold them: polars, pandas, pandas on Arrow."""

    values: list[Any]
    polars: Any
    pandas: Any
    arrow: Any


LEVELS = ["mid", "never used", "high", "low"]
TEXTS = ["", "Z", "a", "é", "\ufb00", "\U0001f600"]
DATES = [date(1969, 12, 31), date(1970, 1, 1), date(2020, 2, 29)]
ARROW_TEXT = pd.ArrowDtype(pa.string())
CATEGORIES = pd.CategoricalDtype(LEVELS)
LABELS = {
    "bool": Kind([False, True], pl.Boolean, "bool", "bool[pyarrow]"),
    "int8": Kind([-128, -1, 0, 127], pl.Int8, "int8", "int8[pyarrow]"),
    "int64": Kind([-(2**62), 2**53, 2**53 + 1], pl.Int64, "int64", "int64[pyarrow]"),
    "uint8": Kind([0, 1, 255], pl.UInt8, "uint8", "uint8[pyarrow]"),
    "float": Kind([-2.0, 0.0, 1.0, 3.0], pl.Float64, "float64", "double[pyarrow]"),
    "text": Kind(TEXTS, pl.String, object, ARROW_TEXT),
    "lexical": Kind(TEXTS, pl.Categorical, "string", ARROW_TEXT),
    "level": Kind(["mid", "high", "low"], pl.Enum(LEVELS), CATEGORIES, CATEGORIES),
    "date": Kind(DATES, pl.Date, object, pd.ArrowDtype(pa.date32())),
}
NULLABLE = {"bool": "boolean", "int8": "Int8", "int64": "Int64", "uint8": "UInt8"}
NUMBERS = ["bool", "int8", "uint8", "float"]
FRACTIONS = Kind([-math.inf, -0.5, 0.0, 0.25], pl.Float64, "float64", "double[pyarrow]")
BY = LABELS | {"fraction": FRACTIONS}
WEIGHTS = Kind([0.0, 0.25, 0.75, 2.0, 1000.25], pl.Float64, "float64", "double[pyarrow]")
COUNTS = Kind([0, 1, 3], pl.Int64, "int64", "int64[pyarrow]")


@dataclass(frozen=True)
class Table:
    """Rows as dicts, the kinds of their columns, and how to ask about them."""

    rows: list[dict[str, Any]]
    kinds: dict[str, Kind]
    by: list[str]
    models: list[str]
    options: dict[str, Any]


@st.composite
def tables(draw):
    by = draw(st.lists(st.sampled_from(sorted(BY)), max_size=2))
    models = ["p", "q"][: draw(st.integers(1, 2))]
    label = draw(st.sampled_from(sorted(LABELS)))
    mixed = label in NUMBERS and draw(st.booleans())
    kinds = {f"by{i}": BY[kind] for i, kind in enumerate(by)}
    for name in ("y", *models):
        kinds[name] = LABELS[draw(st.sampled_from(NUMBERS)) if mixed else label]
    weighted, counted, drops = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    kinds |= ({"w": WEIGHTS} if weighted else {}) | ({"k": COUNTS} if counted else {})
    columns = {
        name: st.sampled_from(kind.values + [None] * (drops or name.startswith("by")))
        for name, kind in kinds.items()
    }
    return Table(
        draw(st.lists(st.fixed_dictionaries(columns), max_size=60)),
        kinds,
        [f"by{i}" for i in range(len(by))],
        models,
        {
            "by": [f"by{i}" for i in range(len(by))] or None,
            "sample_weight": "w" if weighted else None,
            "counts": "k" if counted else None,
            "missing": "drop" if drops else "raise",
            "margins": draw(st.sampled_from([False, "overall", "all"])),
        },
    )


def polars_frame(table):
    """Every other null of a float column is NaN."""
    columns = []
    for name, kind in table.kinds.items():
        values = [row[name] for row in table.rows]
        if kind.polars == pl.Float64:
            values = [math.nan if v is None and i % 2 else v for i, v in enumerate(values)]
        columns.append(pl.Series(name, values, dtype=kind.polars))
    return pl.DataFrame(columns)


def pandas_frame(table, backend):
    columns = {}
    for name, kind in table.kinds.items():
        values, dtype = [row[name] for row in table.rows], getattr(kind, backend)
        if None in values and isinstance(dtype, str):
            dtype = NULLABLE.get(dtype, dtype)
        columns[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns).set_axis([7] * len(table.rows))


def counted(table):
    """Count row by row: the labels, and for each segment and model its cells and missing rows."""
    if table.options["margins"] == "all":
        sizes = range(len(table.by), -1, -1)
    else:
        sizes = dict.fromkeys([len(table.by)] + [0] * (table.options["margins"] is not False))
    margins = [kept for size in sizes for kept in combinations(table.by, size)]
    cells = defaultdict(lambda: defaultdict(lambda: [0, 0.0, 0.0, 0.0]))
    missing, labels = Counter(), set()
    for row in table.rows:
        n, weight = row.get("k", 1), row.get("w", 1.0)
        for model in table.models:
            pair = row["y"], row[model]
            left_out = None in (n, weight, *pair)
            if n != 0 and not left_out:
                labels |= set(pair)
            for margin, kept in enumerate(margins):
                values = tuple(row[name] if name in kept else None for name in table.by)
                segment = margin, values, model
                if n == 0:
                    continue
                missing[segment] += (1 if n is None else n) * left_out
                if left_out:
                    continue
                cell = cells[segment][pair]
                for i, amount in enumerate((n, n * weight, n * weight**2)):
                    cell[i] += amount
                cell[3] = max(cell[3], weight)

    def place(segment):
        margin, values, model = segment
        ranks = [
            len(table.kinds[name].values)
            if value is None
            else table.kinds[name].values.index(value)
            for name, value in zip(table.by, values, strict=True)
        ]
        return margin, ranks, table.models.index(model)

    order = LABELS["level"].values
    in_order = sorted(labels, key=order.index if labels <= set(order) else None)
    names = [", ".join(kept) or "overall" for kept in margins]
    segments = sorted(missing, key=place)
    return in_order, [(names[s[0]], s[1], s[2], cells[s], missing[s]) for s in segments]


def columns_of(table, rows, names):
    """Put rows of (margin, by values, model, *others) into named columns."""
    own = [*table.by, "grouped_by", "model"]
    lines = [(*values, margin, model, *others) for (margin, values, model, *others) in rows]
    result = {name: [line[i] for line in lines] for i, name in enumerate([*own, *names])}
    if len(table.models) == 1:
        del result["model"]
    if table.options["margins"] is False:
        del result["grouped_by"]
    return result


def share(part, whole):
    return part / whole if whole else None


def slow_confusion(table, complete):
    labels, segments = counted(table)
    rows = []
    for *segment, cells, _ in segments:
        for pair in ((a, b) for a in labels for b in labels):
            if complete or pair in cells:
                rows.append((*segment, *pair, *cells.get(pair, (0, 0.0, 0.0, 0.0))))
    outcome = "p" if len(table.models) == 1 else "predicted"
    result = columns_of(table, rows, ["y", outcome, "n", "weight", "weight_sq", "weight_max"])
    if "w" not in table.kinds:
        del result["weight"], result["weight_sq"], result["weight_max"]
    return result


def one_versus_rest(cells, label, i):
    """Add up true positives, false negatives, false positives and true negatives."""
    sums = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for (actual, outcome), amounts in cells.items():
        sums[actual == label, outcome == label] += amounts[i]
    return list(sums.values())


def slow_classes(table, *, detail):
    labels, segments = counted(table)
    rows = []
    for *segment, cells, _ in segments:
        for label in labels:
            n_tp, n_fn, n_fp, _ = one_versus_rest(cells, label, 0)
            tp, fn, fp, tn = one_versus_rest(cells, label, 1)
            scores = (
                share(tp, tp + fn),
                share(tp, tp + fp),
                share(2 * tp, 2 * tp + fp + fn),
            )
            details = (
                n_tp + n_fp,
                n_tp,
                share(tp + fn, tp + fn + fp + tn),
                share(tn, tn + fp),
                share(tn, tn + fn),
            )
            rows.append((*segment, label, *scores, n_tp + n_fn, *(details if detail else ())))
    names = ["label", "recall", "precision", "f1", "support"]
    details = ["predicted", "correct", "prevalence", "specificity", "npv"]
    return columns_of(table, rows, [*names, *(details if detail else [])])


def slow_report(table, labels=None, detail=True):
    absent = "skip" if labels is None else labels.parts["absent"]
    labels, segments = counted(table)
    rows = []
    for *segment, cells, missing in segments:
        n = sum(amounts[0] for amounts in cells.values())
        total = sum(amounts[1] for amounts in cells.values())
        counts = {label: one_versus_rest(cells, label, 1) for label in labels}
        support = {
            label: sum(one_versus_rest(cells, label, 0)[:2])
            for label, (tp, fn, _, _) in counts.items()
            if tp + fn > 0
        }

        def mean(values, total=total):
            defined = [value for value in values if value is not None]
            if absent == "zero" and total > 0:
                return sum(defined) / len(labels)
            if absent == "zero" or (absent == "null" and len(defined) < len(labels)):
                return None
            return share(sum(defined), len(defined))

        recalls = [share(tp, tp + fn) for tp, fn, _, _ in counts.values()]
        f1 = [share(2 * tp, 2 * tp + fn + fp) for tp, fn, fp, _ in counts.values()]
        accuracy = share(sum(tp for tp, *_ in counts.values()), total)
        scores = accuracy, mean(recalls), mean(f1)
        fewest = min(support.values(), default=0)
        rows.append((*segment, n, missing, *scores, len(support), fewest))
    names = "n n_missing accuracy balanced_accuracy f1_macro n_labels min_support"
    result = columns_of(table, rows, names.split())
    if table.options["missing"] == "raise":
        del result["n_missing"]
    return result


METRICS = ["accuracy", "balanced_accuracy", "f1_macro"]
METHODS = {
    "confusion": (bf.confusion, {"complete": False}, slow_confusion),
    "confusion complete": (bf.confusion, {"complete": True}, slow_confusion),
    "classes": (bf.classes, {"detail": False}, slow_classes),
    "classes with details": (bf.classes, {"detail": True}, slow_classes),
    "report": (bf.report, {"detail": True}, slow_report),
    "report null": (
        bf.report,
        {"labels": bf.label_set(absent="null"), "detail": True},
        slow_report,
    ),
    "report zero": (
        bf.report,
        {"labels": bf.label_set(absent="zero"), "detail": True},
        slow_report,
    ),
}


profile = settings(
    max_examples=30,
    derandomize=True,
    deadline=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.any_version
@pytest.mark.parametrize(("method", "options", "slow"), METHODS.values(), ids=METHODS)
@profile
@given(table=tables())
def test_results_of_random_frames_equal_rows_counted_in_a_dict(method, options, slow, table):
    assert_is(method, options, slow, table)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize("method", ["confusion", "report"])
@pytest.mark.parametrize("way", WAYS)
@settings(profile, max_examples=12)
@given(table=tables())
def test_every_counting_strategy_equals_rows_counted_in_a_dict(way, method, table):
    with pytest.MonkeyPatch.context() as forced:
        for name, value in WAYS[way].items():
            forced.setattr(name, value)
        assert_is(*METHODS[method], table)


def assert_is(method, options, slow, table):
    predicted = table.models[0] if len(table.models) == 1 else table.models
    asked = table.options | options | ({"metrics": METRICS} if method is bf.report else {})
    frame = polars_frame(table)
    eager = method(frame, "y", predicted, **asked)
    lazy = method(frame.lazy(), "y", predicted, **asked)
    assert_table(eager, slow(table, **options))
    assert lazy.collect_schema() == eager.schema
    assert lazy.collect().equals(eager)
    assert [eager.schema[name] for name in table.by] == [frame.schema[name] for name in table.by]
    for backend in ("pandas", "arrow"):
        result = method(pandas_frame(table, backend), "y", predicted, **asked)
        assert plain(result) == plain(eager)
        assert list(result) == eager.columns
