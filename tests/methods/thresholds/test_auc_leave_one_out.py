"""The area of all rows but a segment's, beside what dropping its rows gives."""

import math
import tracemalloc

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.oracles.roc_areas import CARRIED, check, close, draw, dropping

carried = cases("options", CARRIED)


def check_against_rests(frame, columns=("g",), **options):
    found = bf.ranking(frame, "y", "s", by=list(columns), reference="rest", detail=True, **options)
    for row in found.to_dicts():
        (other,) = dropping(frame, row, columns, **options)
        assert row["reference"] == "rest"
        check(row, other)
    return found


@pytest.mark.thorough
@carried
@cases("levels", [4, 40, 10**9])
@cases("seed", range(3))
def test_area_of_the_rest_equals_dropping_the_rows_of_the_segment(options, levels, seed):
    found = check_against_rests(draw(seed, levels), **options)

    assert found["g"].to_list() == ["a", "b", "c", "lone", None]
    assert found["roc_auc"].is_null().to_list() == [False, False, False, True, False]
    assert found["reference_roc_auc"].null_count() == 0


@carried
@each_constructor
def test_area_of_the_rest_is_the_same_in_every_library(constructor, options):
    frame = draw()
    expected = bf.ranking(
        frame, "y", "s", by="g", reference="rest", detail=True, **options
    ).to_dict(as_series=False)

    data = frame.to_dict(as_series=False)
    found = plain(
        bf.ranking(constructor(data), "y", "s", by="g", reference="rest", detail=True, **options)
    )

    assert list(found) == list(expected)
    for name, values in expected.items():
        assert found[name] == (close(values) if name != "g" and name != "reference" else values)


@cases("options", [{}, {"sample_weight": "w"}])
@cases("rows", [3, 40])
def test_area_of_a_rest_much_smaller_than_the_segment_is_precise(options, rows):
    large = draw(1, 10**9, 20_000, shares=(0.0, 1.0)).filter(pl.col("g") == "b")
    small = draw(2, 10**9, rows, shares=(0.0, 0.0, 0.5, 0.5)).filter(pl.col("g") != "lone")
    frame = pl.concat([large.with_columns(pl.col("w") * 1e12), small])

    found = check_against_rests(frame, **options)

    assert found.height == 3


@cases("size", [1e-140, 1e-12, 1e12, 1e140])
def test_area_of_the_rest_with_very_different_weights_is_precise(size):
    frame = draw(3)
    is_b = pl.col("g") == "b"
    frame = frame.with_columns(pl.when(is_b).then(pl.col("w") * size).otherwise(pl.col("w")))

    check_against_rests(frame, sample_weight="w")


@pytest.mark.parametrize("label", [0, 1])
def test_area_of_the_rest_without_nearly_all_of_a_class_is_precise(label):
    heavy = (pl.col("g") == "b") & (pl.col("y") == label)
    frame = draw(3).with_columns(pl.when(heavy).then(pl.col("w") * 1e12).otherwise(pl.col("w")))

    check_against_rests(frame, sample_weight="w")


@cases("sign", [-1, 1])
@cases("options", [{}, {"sample_weight": "w"}])
def test_area_of_a_perfectly_ranked_rest_is_exact(options, sign):
    frame = draw(4, 10**9).with_columns(
        s=pl.when(pl.col("g").is_null()).then(pl.col("s")).otherwise(sign * (1e6 * pl.col("y")))
    )

    found = check_against_rests(frame, **options)

    rest_of_null = found.filter(pl.col("g").is_null()).row(0, named=True)
    assert rest_of_null["reference_roc_auc"] == (1 + sign) / 2


def test_area_of_a_rest_without_a_class_is_null():
    y = [1, 0, 0, 1, 0, 0, 0, 0, 0]
    frame = pl.DataFrame({"g": [*"aaabbbccc"], "y": y, "s": [3, 1, 4, 1, 5, 0, 2, 6, 5]})
    found = check_against_rests(frame)
    assert found["reference_roc_auc"].null_count() == 0

    alone = check_against_rests(frame.filter(pl.col("g") != "b"))
    assert alone["reference_roc_auc"].is_null().to_list() == [True, False]
    nothing = check_against_rests(frame.with_columns(y=0), pos_label=1)
    assert nothing["reference_roc_auc"].null_count() == 3


def test_areas_are_compared_within_each_margin_and_model():
    frame = draw(5).filter(pl.col("g") != "lone")
    options = {"by": ["g", "h"], "margins": "all", "reference": "rest", "sample_weight": "w"}

    found = bf.ranking(frame, "y", ["s", "t"], detail=True, **options).to_dicts()

    assert {row["grouped_by"] for row in found} == {"g, h", "g", "h", "overall"}
    for row in found:
        columns = row["grouped_by"].split(", ")
        if columns == ["overall"]:
            assert (row["reference"], row["reference_roc_auc"]) == ("rest", None)
            continue
        (other,) = dropping(frame, row, columns, row["model"], sample_weight="w")
        check(row, other)


def test_rows_with_nulls_are_left_out_of_the_rest():
    frame = draw(6).with_columns(s=pl.when(pl.col("k") == 0).then(None).otherwise(pl.col("s")))
    frame = frame.vstack(frame[:3].with_columns(g=pl.lit("gone"), s=pl.lit(None, pl.Float64)))

    found = check_against_rests(frame, missing="drop")

    assert found.filter(pl.col("g") == "gone")["n"].item() == 0


def test_memory_of_many_segments_stays_bounded():
    # 4,000 segments of 50 rows: one number for each segment and score would be 6.4 GB
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200_000)
    g, s = np.char.mod("%04d", np.arange(200_000) % 4000), rng.normal(size=200_000) + y
    frame = pl.DataFrame({"g": g, "y": y, "s": s})

    tracemalloc.start()
    found = bf.ranking(frame, "y", "s", by="g", reference="rest", detail=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 200_000 * 1000
    (other,) = bf.ranking(frame.filter(pl.col("g") != "0017"), "y", "s", detail=True).to_dicts()
    check(found.row(17, named=True), other)
    assert math.isclose(found["reference_roc_auc"].mean(), 0.76, abs_tol=0.01)
