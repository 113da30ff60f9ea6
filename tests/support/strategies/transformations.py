"""What should change no result: other rows, names and types that mean the same."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import polars as pl

import balframe as bf
from tests.support.constructors import Table
from tests.support.option_words import words_of_options
from tests.support.strategies.requests import LABEL_COLUMNS, MethodRequest

Transformation = Callable[[MethodRequest, Random], MethodRequest]


def shuffled(request: MethodRequest, random: Random) -> MethodRequest:
    order = random.sample(range(request.frame.height), request.frame.height)
    return request.having(request.frame[order])


def counted_or_repeated(request: MethodRequest, _: Random) -> MethodRequest:
    """Count equal rows, or repeat those that are counted."""
    frame = request.frame
    if request.options.get("cells", False):
        return request
    if request.options["counts"] is None:
        return request.having(frame.group_by(pl.all()).len("k"), counts="k")
    if frame["k"].null_count():  # missing rows are no rows
        return request
    rows = frame[np.repeat(np.arange(frame.height), frame["k"])]
    return request.having(rows.drop("k"), counts=None)


def with_rows_that_stand_for_none(request: MethodRequest, _: Random) -> MethodRequest:
    if request.options["counts"] is None:
        return request
    none = request.frame.head(3).with_columns(
        pl.lit(0).cast(request.frame["k"].dtype).alias("k"),
        pl.lit(None).cast(request.frame["y"].dtype).alias("y"),
        pl.lit(float("inf")).alias("s"),
    )
    return request.having(pl.concat([none, request.frame]))


def in_cells_of_parts(request: MethodRequest, random: Random) -> MethodRequest:
    """Count parts, add the cells up, and ask about them."""
    options = request.options
    has_models = len(request.models) > 1 or request.baseline_column is not None
    is_of_rows = has_models or options["missing"] == "drop"
    if is_of_rows or not request.case.takes_cells:
        return request
    if request.frame.select(request.used).null_count().sum_horizontal().item():
        return request
    cut = random.randint(0, request.frame.height)
    carried = {"by", "counts", "sample_weight", "cluster"} & options.keys()
    kept = {name: options[name] for name in carried}
    if "time" in options:  # days are kept, of which periods are made
        kept["by"] = [*(options["by"] or []), options["time"]]
    parts = [request.frame[:cut], request.frame[cut:]]
    cells = bf.combine([bf.confusion(part, "y", request.columns, **kept) for part in parts])
    return request.having(cells, cells=True, counts=None, sample_weight=None)


def with_other_columns(request: MethodRequest, random: Random) -> MethodRequest:
    """Put columns in another order, among others named as those of results are."""
    names = random.sample(request.frame.columns, request.frame.width)
    unused = pl.lit(None).alias("bal"), pl.lit("x").alias("support"), pl.lit(0.5).alias("threshold")
    return request.having(request.frame.select(*unused[:2], *names, unused[2]))


def beside_names_in_the_other_case(request: MethodRequest, random: Random) -> MethodRequest:
    """Add columns that differ from those in use only in case, with the values of other rows."""
    frame = request.frame
    others = {name: name.upper() for name in frame.columns if name.upper() not in frame.columns}
    added = [frame[name].reverse().alias(other) for name, other in others.items()]
    columns = [*frame, *added]
    return request.having(pl.DataFrame(random.sample(columns, len(columns))))


def beside_constant_columns(request: MethodRequest, random: Random) -> MethodRequest:
    """Search columns without two values too, up to more than an array has axes."""
    if not request.case.searches:
        return request
    same = pl.lit(random.choice([1, 0.5, "a", True]))
    value = random.choice([same, pl.lit(None, pl.String)])
    names = [f"same{number}" for number in range(random.choice([1, 62, 130]))]
    first = random.randint(0, len(names))
    by = [*names[:first], *request.options["by"], *names[first:]]
    wider = request.having(request.frame.with_columns(value.alias(name) for name in names), by=by)
    return wider.undoing(lambda result: {n: v for n, v in result.items() if n not in names})


ZONES = ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati"]


def with_times_in_a_zone(request: MethodRequest, random: Random) -> MethodRequest:
    """Give days a time after or before midnight, where other zones have another day."""
    name = request.options.get("time")
    if name is None or request.frame[name].dtype != pl.Date:
        return request
    minutes = random.choice([30, 24 * 60 - 30])
    zone = random.choice([None, *ZONES])
    local = request.frame[name].cast(pl.Datetime("us")) + timedelta(minutes=minutes)
    return request.having(request.frame.with_columns(local.dt.replace_time_zone(zone)))


def weighted_by_a_power_of_two(request: MethodRequest, random: Random) -> MethodRequest:
    if not _has_weights(request):
        return request
    factor = 2.0 ** random.randint(-60, 60)
    scaled = request.having(request.frame.with_columns(pl.col("w") * factor))
    return scaled.undoing(lambda result: _with_weights_over(result, factor))


def weighted_by_any_factor(request: MethodRequest, random: Random) -> MethodRequest:
    if not _has_weights(request) or request.case.function is bf.best_threshold:
        return request  # of equal thresholds, rounding may find another the best
    factor = random.choice([0.1, 3.7e-9, 1e7 / 3])
    scaled = request.having(request.frame.with_columns(pl.col("w") * factor))
    return scaled.undoing(lambda result: _with_weights_over(result, factor), is_exact=False)


def _has_weights(request: MethodRequest) -> bool:
    return request.options["sample_weight"] is not None


def _with_weights_over(result: Table, factor: float) -> Table:
    powers = {"weight": factor, "weight_sq": factor**2, "weight_max": factor}
    scaled = {
        name: [value / power for value in result[name]]
        for name, power in powers.items()
        if name in result
    }
    return result | scaled


NUMBERS = [pl.Int8, pl.UInt8, pl.Int16, pl.UInt32, pl.Int64, pl.UInt64, pl.Float32, pl.Float64]


def with_labels_of_other_dtypes(request: MethodRequest, random: Random) -> MethodRequest:
    """Cast each column of labels apart: 1, 1.0 and True are one label."""
    frame = request.frame
    if request.is_renamed:
        return request
    columns = [name for name in LABEL_COLUMNS if name in frame.columns]
    is_binary = all(frame[name].max() in (None, 0, 1) for name in columns)
    dtypes = NUMBERS + [pl.Boolean] * (3 * is_binary)
    return request.having(
        frame.with_columns(pl.col(name).cast(random.choice(dtypes)) for name in columns)
    )


INCREASING: list[list[Any]] = [
    [-7, 1, 100],
    [2**52, 2**52 + 1, 2**62],
    ["", "Z", "a"],
    ["1", "2", "é"],
]


def with_labels_renamed(request: MethodRequest, random: Random) -> MethodRequest:
    return _renamed(request, random.choice(INCREASING))


def with_labels_permuted(request: MethodRequest, random: Random) -> MethodRequest:
    n = 2 if max(request.options["labels"] or [2]) == 1 else 3
    if n > 2 and request.options.get("metrics") == "all":
        return request  # some are about the order of labels
    permuted = _renamed(request, random.sample(range(n), n))
    # three numbers, or four cells, add up to another sum in another order
    is_exact = request.is_exact and n == 2 and "cluster" not in request.options
    return replace(
        permuted,
        restore=lambda result: _in_order_of_labels(permuted.restore(result), request),
        is_exact=is_exact,
    )


def _renamed(request: MethodRequest, names: list[Any]) -> MethodRequest:
    """Rename the labels 0, 1 and 2."""
    if request.is_renamed or not _has_positive(request):
        return request
    new = dict(enumerate(names))
    dtype = pl.String if isinstance(names[0], str) else pl.Int64
    columns = [
        pl.col(name).cast(pl.Int64).replace_strict(new, return_dtype=dtype)
        for name in LABEL_COLUMNS
        if name in request.frame.columns
    ]
    given = request.options["labels"]
    renamed = request.having(
        request.frame.with_columns(columns),
        pos_label=new[1],
        labels=given and [new[label] for label in given],
    )
    old = {value: label for label, value in new.items()}
    return renamed.undoing(
        lambda result: _replaced(result, _holders(result, request), old), is_renamed=True
    )


def _holders(result: Table, request: MethodRequest) -> list[str]:
    """List the columns of a result that hold labels; a column of counts is `predicted` too."""
    names = ["label"] if "label" in result else ["y", "predicted", *request.models]
    return [name for name in names if name in result]


def _in_order_of_labels(result: Table, request: MethodRequest) -> Table:
    """Put the rows of each segment and model in the order of their labels."""
    kept = [name for name in ("g", "h", "c", "period", "grouped_by", "model") if name in result]
    found = zip(*(result[name] for name in _holders(result, request)), strict=True)
    labels = dict(enumerate(found))
    if not labels:
        return result
    segments = list(zip(*(result[name] for name in kept), strict=True)) or [()] * len(labels)
    order = sorted(labels, key=lambda row: (segments.index(segments[row]), labels[row]))
    return {name: [values[row] for row in order] for name, values in result.items()}


def _has_positive(request: MethodRequest) -> bool:
    """Tell whether the positive label occurs, where no name but those of the default may lack."""
    if request.options["labels"] is not None:
        return True
    frame, labels = (
        request.frame,
        request.models if request.models[0] in "pq" else [],
    )
    if request.options["counts"] is not None:
        frame = frame.filter(pl.col(request.options["counts"]) > 0)
    whole = frame.drop_nulls(request.used)
    return any((whole[name].cast(pl.Int64) == 1).any() for name in ["y", *labels])


SEGMENTS: list[list[Any]] = [
    [-128, 0, 127],
    [-0.5, 0.0, 0.25],
    [Decimal("-0.5"), Decimal(0), Decimal("0.25")],
    [date(1969, 12, 31), date(1970, 1, 1), date(2026, 1, 1)],
    ["a", "b", "\U0001f600"],
]


def with_segments_renamed(request: MethodRequest, random: Random) -> MethodRequest:
    frame = request.frame
    if "g" not in (request.options["by"] or []) or frame["g"].dtype != pl.String:
        return request
    words = [word for word in words_of_options() if word != request.options.get("reference")]
    names = random.choice([*SEGMENTS, sorted(random.sample(words, 3))])
    if request.case.searches and not isinstance(names[0], str | date):
        return request  # numbers would come back as texts
    new = dict(zip(["", "B", "a"], names, strict=True))
    dtype = pl.Series(new.values()).dtype
    renamed = request.having(
        frame.with_columns(pl.col("g").replace_strict(new, return_dtype=dtype)),
        **_expecting(
            request, value_of=lambda name, value: new.get(value) if name == "g" else value
        ),
    )
    old = {value: name for name, value in new.items()}
    return renamed.undoing(lambda result: _replaced(result, ["g", "lowest_g", "highest_g"], old))


def _expecting(
    request: MethodRequest,
    name_of: Callable[[str], str] = str,
    value_of: Callable[[str, Any], Any] = lambda _, value: value,
) -> dict[str, Any]:
    """Rename the columns and the values of expected segments, if there are any."""
    expect = request.options.get("expect")
    if expect is None:
        return {}
    segments = [
        {name_of(name): [value_of(name, value) for value in values] for name, values in one.items()}
        for one in expect
    ]
    return {"expect": segments}


def _replaced(result: Table, holders: list[str], old: dict[Any, Any]) -> Table:
    def one(value: Any) -> Any:
        value = value.date() if isinstance(value, datetime) else value  # as pandas has dates
        return None if value is None else old[value]

    return {
        name: list(map(one, values)) if name in holders else values
        for name, values in result.items()
    }


ODD_NAMES = ["*", "1", "a.b", "^y.*$", "", " ", "select", "null", "`", '"', "é", "n_low", "by0"]


def under_odd_names(request: MethodRequest, random: Random) -> MethodRequest:
    """Rename columns; what is asked afterwards must not name them."""
    names = request.frame.columns
    kept = ("k", "n", "weight", "weight_sq", "weight_max")  # counts, and what makes cells
    old = dict(zip(random.sample(ODD_NAMES, 13), names, strict=False))
    old = {new: name for new, name in old.items() if name not in kept}
    new = {name: odd for odd, name in old.items()}

    def of(given: Any) -> Any:
        return [of(name) for name in given] if isinstance(given, list) else new.get(given, given)

    named = {"by", "counts", "sample_weight", "cluster", "time"}
    named |= {"baseline"} if request.baseline_column is not None else set()
    named &= request.options.keys()
    options = {name: of(request.options[name]) for name in named}
    options |= _expecting(request, name_of=of)
    renamed = request.having(request.frame.rename(new), **options)
    return renamed.undoing(
        lambda result: _under_names(result, old),
        y_true=of(request.y_true),
        columns=of(request.columns),
    )


def _under_names(result: Table, old: dict[str, str]) -> Table:
    """Put names back in the heads of columns, and in those that tell models and margins."""

    def head(name: str) -> str:
        prefix = next((p for p in ("lowest_", "highest_") if name.startswith(p)), "")
        rest = name.removeprefix(prefix)
        return prefix + old.get(rest, rest)

    def joined(text: str, mark: str) -> str:
        return mark.join(old.get(part, part) for part in text.split(mark))

    marks = {"grouped_by": ", ", "model": " - ", "baseline": " - "}
    return {
        head(name): [joined(value, marks[name]) for value in values] if name in marks else values
        for name, values in result.items()
    }


def with_nan_for_null(request: MethodRequest, random: Random) -> MethodRequest:
    """Some nulls of floats are NaN."""
    return _with_floats(request, random, pl.Expr.is_null, float("nan"))


def with_signed_zeros(request: MethodRequest, random: Random) -> MethodRequest:
    """Some zeros of floats are -0.0."""
    return _with_floats(request, random, lambda column: column == 0, -0.0)


def _with_floats(
    request: MethodRequest, random: Random, are: Callable[[pl.Expr], pl.Expr], value: float
) -> MethodRequest:
    frame = request.frame
    where = pl.Series([random.random() < 0.5 for _ in range(frame.height)], dtype=pl.Boolean)
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    changed = [
        pl.when(where & are(pl.col(n))).then(value).otherwise(pl.col(n)).alias(n) for n in floats
    ]
    return request.having(frame.with_columns(changed))


TRANSFORMATIONS: list[Transformation] = [
    shuffled,
    counted_or_repeated,
    with_rows_that_stand_for_none,
    in_cells_of_parts,
    with_other_columns,
    beside_names_in_the_other_case,
    beside_constant_columns,
    with_times_in_a_zone,
    weighted_by_a_power_of_two,
    weighted_by_any_factor,
    with_labels_of_other_dtypes,
    with_labels_renamed,
    with_labels_permuted,
    with_segments_renamed,
]
LAST: list[Transformation] = [with_nan_for_null, with_signed_zeros, under_odd_names]
