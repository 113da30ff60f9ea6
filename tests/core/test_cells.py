"""Counting: every way to count gives what a dictionary gives, and parts sum to the whole."""

import random
import tracemalloc
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.core import counting_strategy
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.group_sum import sum_by_group
from balframe.core.integer_codes import Codes
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.frames import count_frame
from balframe.frames.count_frame import hash_rows
from tests.support.cases import cases
from tests.support.constructors import (
    each_constructor,
    pandas_numpy,
    plain,
    polars_eager,
    polars_lazy,
)

WAYS = ["table", "table on all cores", "runs", "order"]
FORCED = pytest.mark.parametrize("way", WAYS)
MEASURED = pytest.mark.parametrize(
    "kinds", ["", "n", "weight", "n missing weight weight_sq weight_max"]
)


def force(monkeypatch, way):
    """Count in one of the ways; sorting keys alone is for rows that carry nothing."""
    chosen, _, is_shared = way.partition(" ")
    is_for_all = chosen != "runs"
    monkeypatch.setattr(
        counting_strategy,
        "choose_strategy",
        lambda _, rows: chosen if is_for_all or rows.is_plain else "order",
    )
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_SHARE", 1 if is_shared else 10**9)
    monkeypatch.setattr(counting_strategy, "BLOCK", 100)


def draw(n, sizes, *, seed=1):
    """Draw rows of codes below the sizes."""
    return np.random.default_rng(seed).integers(0, sizes, (n, len(sizes))).T


def carry(n, kinds, *, seed=2):
    """Draw what rows carry; sums of such weights are exact in any order, and 0 for no row."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, n) if "n" in kinds.split() else np.ones(n, np.int64)
    drawn = {
        "n": counts,
        "missing": rng.integers(0, 2, n),
        "weight": 2.0 ** rng.integers(-3, 4, n) * (counts > 0),
        "weight_sq": 2.0 ** rng.integers(-6, 8, n) * (counts > 0),
        "weight_max": 2.0 ** rng.integers(-6, 8, n) * (counts > 0),
    }
    return RowSums(**{kind: drawn[kind] for kind in kinds.split()})


def count(columns, measures):
    """Count rows of by-columns, the actual label and the outcome."""
    (*by, actual, outcome), sums = sum_by_group(columns, measures)
    return Cells(tuple(by), actual, outcome, sums)


def by_dictionary(rows, measures):
    """Add up rows one by one: rows, rows left out, weights, squares, largest of each cell."""
    total = defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0])
    for at, key in enumerate(zip(*(column.tolist() for column in rows), strict=True)):
        one = measures.at(at)
        weight = 0.0 if one.weight is None else float(one.weight)
        total[key][0] += 1 if one.n is None else int(one.n)
        total[key][1] += 0 if one.missing is None else int(one.missing)
        total[key][2] += weight
        total[key][3] += weight**2 if one.weight_sq is None else float(one.weight_sq)
        largest = weight if one.weight_max is None else float(one.weight_max)
        total[key][4] = max(total[key][4], largest)
    return {key: tuple(sums) for key, sums in sorted(total.items()) if sums[0] or sums[1]}


def as_dictionary(cells):
    """Give the cells as `by_dictionary` does, in their order."""
    nothing = np.zeros(len(cells.n))
    weight = nothing if cells.weight is None else np.ldexp(cells.weight, cells.sums.exponent)
    weight_sq = nothing if cells.sums.weight_sq is None else cells.sums.weight_sq
    largest = nothing if cells.weight is None else np.ldexp(cells.largest, cells.sums.exponent)
    keys = zip(*(codes.tolist() for codes in (*cells.by, cells.actual, cells.outcome)), strict=True)
    carried = (cells.n, cells.missing, weight, weight_sq, largest)
    sums = zip(*(values.tolist() for values in carried), strict=True)
    return dict(zip(keys, sums, strict=True))


SIZES = [7, 5, 3, 4]  # of two by-columns, the actual labels and the outcomes


def columns(rows):
    return [Codes(column, 0, size) for column, size in zip(rows, SIZES, strict=True)]


@pytest.mark.thorough
@FORCED
@MEASURED
@pytest.mark.parametrize("n", [1, 1000, 70_000])
def test_cells_equal_counts_by_a_dictionary(monkeypatch, way, kinds, n):
    force(monkeypatch, way)
    rows, measures = draw(n, SIZES), carry(n, kinds)
    counted = as_dictionary(count(columns(rows), measures))
    assert [*counted.items()] == [*by_dictionary(rows, measures).items()]


@FORCED
def test_no_rows_give_no_cells(monkeypatch, way):
    force(monkeypatch, way)
    assert as_dictionary(count(columns(draw(0, SIZES)), RowSums())) == {}


@FORCED
@pytest.mark.parametrize(
    ("dtype", "low"),
    [
        (np.int8, -128),
        (np.int8, 120),
        (np.uint8, 248),
        (np.int64, -(2**63)),
        (np.int64, 2**63 - 8),
        (np.uint64, 2**63 - 4),
        (np.uint64, 2**64 - 8),
    ],
)
def test_codes_at_the_limits_of_their_dtype_are_counted(monkeypatch, way, dtype, low):
    force(monkeypatch, way)
    rows = draw(200, [8, 2, 2])
    first = np.array([low + code for code in rows[0].tolist()], dtype)
    cells = count([Codes(first, low, 8), *(Codes(row, 0, 2) for row in rows[1:])], RowSums())
    assert [*as_dictionary(cells).items()] == [*by_dictionary(rows, RowSums()).items()]


def test_more_possible_cells_than_64_bits_are_counted():
    rows = np.repeat(draw(300, [2**20] * 5), 2, axis=1)
    cells = count([Codes(column, 0, 2**20) for column in rows], RowSums())
    assert [*as_dictionary(cells).items()] == [*by_dictionary(rows, RowSums()).items()]


@FORCED
@MEASURED
def test_parts_sum_to_the_whole(monkeypatch, way, kinds):
    force(monkeypatch, way)
    rows, measures = draw(900, SIZES), carry(900, kinds)
    cuts = np.split(np.arange(900), [10, 400])
    a, b, c = (count(columns(rows[:, cut]), measures.at(cut)) for cut in cuts)
    whole = [*by_dictionary(rows, measures).items()]
    assert [*as_dictionary(a + b + c).items()] == whole
    assert [*as_dictionary(c + (b + a)).items()] == whole


def test_parts_sum_to_the_whole_past_the_range_of_a_float():
    rows = np.zeros((4, 3), np.int64)
    carried = [RowSums(weight=np.full(3, weight)) for weight in (2.0**1000, 2.0**1023)]
    small, large = (count(columns(rows), measures) for measures in carried)
    for whole in (small + large, large + small):
        mantissa, exponent = np.frexp(whole.weight)
        assert (mantissa, exponent + whole.sums.exponent) == (0.75 + 0.75 * 2.0**-23, 1025)


@cases("kept", [(), (0,), (1,), (0, 1)])
def test_roll_up_sums_over_the_other_columns(kept):
    rows, measures = draw(500, SIZES), carry(500, "n missing weight")
    cells = count(columns(rows), measures).rolled_up(kept, [9, 8])
    for column, code in ((0, 9), (1, 8)):
        rows[column] = rows[column] if column in kept else code
    assert [*as_dictionary(cells).items()] == [*by_dictionary(rows, measures).items()]


def test_segments_are_the_distinct_codes_of_the_by_columns():
    cells = count(columns([[2, 0, 2, 0], [1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 3]]), RowSums())
    segment, first = cells.segments
    assert (segment.tolist(), first.tolist()) == ([0, 1, 2, 2], [0, 1, 2])


@MEASURED
def test_hash_table_gives_the_same_cells(monkeypatch, kinds):
    force(monkeypatch, "order")
    rows, measures = draw(2000, SIZES), carry(2000, kinds)
    codes, sums = hash_rows(columns(rows), measures)
    assert len(sums.n) == len(set(zip(*rows.tolist(), strict=True)))
    counted = as_dictionary(count(codes, sums))
    assert [*counted.items()] == [*by_dictionary(rows, measures).items()]


def people(n):
    """Draw rows of a frame, with texts and nulls, as lists."""
    rng = random.Random(n)
    return {
        "g": [rng.choice(["z", "a", "ä", None]) for _ in range(n)],
        "h": [rng.choice([-5, 2**40, None]) for _ in range(n)],
        "y": [rng.choice(["no", "yes", "maybe"]) for _ in range(n)],
        "p": [rng.choice(["no", "yes", None]) for _ in range(n)],
        "q": [rng.choice(["no", "yes", "maybe"]) for _ in range(n)],
        "w": [rng.choice([0.0, 0.5, 4.0, None]) for _ in range(n)],
        "k": [rng.choice([0, 1, 5]) for _ in range(n)],
    }


@pytest.mark.parametrize("method", [bf.report, bf.classes, bf.confusion])
@pytest.mark.parametrize("carried", [{}, {"counts": "k"}, {"counts": "k", "sample_weight": "w"}])
def test_the_group_by_of_polars_gives_the_same_reports(monkeypatch, method, carried):
    frame = pl.DataFrame(people(3000))
    options = {"by": ["g", "h"], "missing": "drop", "margins": "all", **carried}
    expected = method(frame, "y", ["p", "q"], **options)
    called = []
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_HASH", 1)
    reduce = count_frame.group_by.reduce
    monkeypatch.setattr(
        count_frame.group_by, "reduce", lambda *given: called.append(1) or reduce(*given)
    )
    assert plain(method(frame, "y", ["p", "q"], **options)) == plain(expected)
    assert called == [1]
    assert plain(method(frame.to_pandas(), "y", ["p", "q"], **options)) == plain(expected)


EDGES = [
    ("Int8", [127, 126, -128]),
    ("Int8", [127, None, 126]),
    ("Int8", [-128, None, -127]),
    ("UInt8", [255, None, 254]),
    ("Int64", [2**63 - 1, None, 2**63 - 2]),
    ("Int64", [-(2**63), None, 2**63 - 1]),
    ("UInt64", [2**64 - 1, None, 2**64 - 2]),
    ("UInt64", [2**64 - 1, None, 0]),
    ("UInt64", [2**63, None, 2**63 - 1]),
]


@cases(("dtype", "values"), EDGES)
@cases("library", ["pandas", "polars", "lazy"])
def test_integers_at_the_limits_of_their_dtype_are_counted(library, dtype, values):
    data = {"g": values * 2, "y": values * 2, "p": values * 2}
    if library == "pandas":
        frame = pd.DataFrame({name: pd.array(column, dtype) for name, column in data.items()})
    else:
        frame = pl.DataFrame(data, schema=dict.fromkeys(data, getattr(pl, dtype)))
    out = bf.confusion(
        frame.lazy() if library == "lazy" else frame, "y", "p", by="g", missing="drop"
    )
    known = sorted(value for value in values if value is not None)
    assert plain(out) == {**dict.fromkeys(data, known), "n": [2] * len(known)}
    out = out.collect() if library == "lazy" else out
    assert [out[name].dtype for name in data] == [frame[name].dtype for name in data]
    missing = bf.report(frame, "y", "p", by="g", missing="drop", metrics="accuracy")
    assert plain(missing)["g"] == known + [None] * (None in values)


@pytest.mark.parametrize(
    ("n", "segments", "labels"), [(300_000, 20, 1000), (300_000, 10**5, 1000), (600_000, 10**6, 2)]
)
def test_memory_is_in_proportion_to_rows(n, segments, labels):
    g, y, p = rows = draw(n, [segments, labels, labels])
    sizes = (segments, labels, labels)
    columns = [Codes(codes, 0, size) for codes, size in zip(rows, sizes, strict=True)]

    tracemalloc.start()
    counts = ClassCounts.of(LabelCounts.of(count(columns, RowSums()), labels))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 320 * n  # bytes a row, however many cells are possible
    n_rows = np.bincount(g, minlength=segments)
    assert np.array_equal(counts.n, n_rows[n_rows > 0])
    hits = np.bincount(g[y == p], minlength=segments)
    assert np.array_equal(counts.sum(counts.correct), hits[n_rows > 0])
    supports = np.unique(g * labels + y, return_counts=True)[1]
    assert np.array_equal(counts.n_support[counts.present], supports)


@each_constructor
def test_counts_are_exact_up_to_the_largest_integer(constructor):
    data = {"y": [0, 0, 1], "p": [0, 0, 0], "k": [2**62, 2**62 - 3, 2]}
    out = plain(bf.confusion(constructor(data), "y", "p", counts="k"))
    assert out["n"] == [2**63 - 3, 2]
    out = plain(bf.report(constructor(data), "y", "p", counts="k", detail=True))
    assert (out["n"], out["min_support"]) == ([2**63 - 1], [2])
    assert out["balanced_accuracy"] == [0.5]


@cases("method", [bf.report, bf.classes, bf.confusion])
@cases("p", [[0, 0, 0], [0, 1, 0]])
@each_constructor
def test_counts_past_the_largest_integer_raise(constructor, method, p):
    frame = constructor({"y": [0, 0, 1], "p": p, "k": [2**62, 2**62, 0]})
    with pytest.raises(bf.InvalidInputError, match=r"add up to .*64-bit"):
        plain(method(frame, "y", "p", counts="k"))


HITS = {"y": [0, 0, 1, 1], "p": [0, 1, 1, 0]}


FLOATS = pytest.mark.parametrize("make", [pandas_numpy, polars_eager, polars_lazy])


@FLOATS
@cases("unit", [1e-300, 1e-160, 1.0, 1e160, 1e300, 1.7e307])
def test_scores_do_not_depend_on_the_unit_of_weights(make, unit):
    frame = make({**HITS, "w": [1 * unit, 3 * unit, 9 * unit, 3 * unit]})
    scores = {"accuracy": 10 / 16, "uar": (1 / 4 + 9 / 12) / 2, "precision": 9 / 12}
    out = plain(bf.report(frame, "y", "p", sample_weight="w", metrics=[*scores]))
    assert {name: out[name][0] for name in scores} == pytest.approx(scores, rel=1e-9)


@FLOATS
def test_small_weights_count_beside_sums_past_the_range_of_a_float(make):
    small, large = [1e-300, 3e-300, 9e-300, 3e-300], [1e308, 1e308, 1e308, 1e308]
    rows = {"g": [*"aaaabbbb"], **{name: HITS[name] * 2 for name in HITS}, "w": small + large}
    options = {"by": "g", "sample_weight": "w", "metrics": "accuracy", "detail": True}
    out = plain(bf.report(make(rows), "y", "p", **options))
    assert out["n_labels"] == [2, 2]
    assert out["accuracy"] == pytest.approx([10 / 16, 1 / 2], rel=1e-9)
