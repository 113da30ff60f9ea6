"""What commands write, as arithmetic and other programs read it."""

import csv
import io
from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]


SCORES = ["--y-true", "y", "--y-score", "s", "--pos-label", "yes"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@cases(
    ("text", "expected"),
    [
        ("y,p\nYes,Yes\nYes,No\nNo,No\n", "0.5,1.0"),
        ("y,p\nno,no\nno,yes\n", ",0.5"),
        ("y,p\nno,no\nno,no\n", ",1.0"),
        ("y,p\nN,N\nY,Y\nY,N\n", "0.5,1.0"),
        ("y,p\nTRUE,TRUE\nfalse,TRUE\n", "1.0,0.0"),
    ],
)
def test_report_takes_the_affirmative_word_as_positive(run, tmp_path, text, expected):
    path = tmp_path / "words.csv"
    path.write_text(text)
    asked = ["--y-true", "y", "--y-pred", "p", "--metric", "recall", "--metric", "specificity"]

    done = run("report", path, *asked, "--format", "csv")

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].split(",", 1)[1].startswith(expected)


@cases("kind", ["csv", "tsv", "parquet", "ndjson", "jsonl", "arrow", "feather"])
def test_report_scores_every_segment_of_every_file_format(run, tmp_path, kind):
    path = tmp_path / f"predictions.{kind}"
    compas = bf.datasets.compas(expand=True)
    writers = {
        "csv": compas.write_csv,
        "tsv": lambda path: compas.write_csv(path, separator="\t"),
        "parquet": compas.write_parquet,
        "ndjson": compas.write_ndjson,
        "jsonl": compas.write_ndjson,
    }
    writers.get(kind, compas.write_ipc)(path)

    done = run(
        "report", path, "--y-true", "reoffended", "--y-pred", "high_risk", "--by", "race",
        "--metric", "accuracy", "--metric", "fpr",
    )  # fmt: skip

    found = {row["race"]: row for row in rows(done.out)}
    assert len(found) == 6
    assert float(found["Asian"]["accuracy"]) == pytest.approx((6 + 21) / 32)
    assert float(found["Asian"]["fpr"]) == pytest.approx(2 / 23)
    assert float(found["Caucasian"]["accuracy"]) == pytest.approx((505 + 1139) / 2454)
    assert float(found["Caucasian"]["fpr"]) == pytest.approx(349 / 1488)


def test_report_compares_models_and_rolls_up(run, tmp_path):
    path = tmp_path / "compas.csv"
    compas = bf.datasets.compas(expand=True)
    compas.with_columns(perfect="reoffended").write_csv(path)

    done = run(
        "report", path, "--y-true", "reoffended", "--y-pred", "high_risk", "--y-pred",
        "perfect", "--margins", "overall", "--metric", "accuracy",
    )  # fmt: skip

    right = 1369 + 990 + 505 + 1139 + 103 + 318 + 43 + 208 + 6 + 21 + 9 + 5
    accuracies = {row["model"]: float(row["accuracy"]) for row in rows(done.out)}
    assert accuracies == {"high_risk": pytest.approx(right / 7214), "perfect": 1}


def test_demo_has_the_error_rates_published_by_propublica(run):
    found = {row["race"]: row for row in rows(run("demo").out)}

    black, white = found["African-American"], found["Caucasian"]
    assert float(black["fpr"]) == pytest.approx(0.448, abs=5e-4)
    assert float(white["fpr"]) == pytest.approx(0.235, abs=5e-4)


def test_metrics_command_equals_list_metrics(run, tmp_path):
    out = tmp_path / "metrics.parquet"

    assert run("metrics", "--out", out, "--sort", "name").code == 0

    assert_frame_equal(pl.read_parquet(out), bf.list_metrics(detail=True).sort("name"))


def test_cells_of_confusion_are_read_back(run, people, tmp_path):
    cells = tmp_path / "cells.csv"
    direct = run("report", people, *LABELS, "--by", "g")

    run("confusion", people, *LABELS, "--by", "g", "--out", cells)

    assert run("report", cells, *LABELS, "--by", "g", "--cells").out == direct.out


@cases(
    ("values", "text"),
    [
        ([1, 0], "1"),
        ([-1, 1], "-1"),
        ([1.0, 0.0], "1"),
        ([True, False], "true"),
        ([True, False], "True"),
        (["1", "0"], "1"),
        (["-", "--by"], "-"),
        (['é, "x" [red]', "b"], 'é, "x" [red]'),
        ([date(2024, 1, 2), date(2025, 1, 2)], "2024-01-02"),
    ],
)
def test_positive_label_is_parsed_as_the_type_of_the_column(run, tmp_path, values, text):
    first, second = values
    path = tmp_path / "labels.parquet"
    columns = {"y": [first, first, first, second], "p": [first, second, second, second]}
    pl.DataFrame(columns).write_parquet(path)

    done = run("report", path, *LABELS, "--metric", "recall", "--pos-label", text)

    assert [float(row["recall"]) for row in rows(done.out)] == [pytest.approx(1 / 3)]


def test_class_weight_labels_are_parsed_as_the_type_of_the_column(run, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("y,p\n1,1\n1,0\n0,0\n")

    done = run("report", path, *LABELS, "--class-weight", "1=0.8", "--class-weight", "0=0.2")

    (row,) = rows(done.out)
    assert float(row["weighted_balanced_accuracy"]) == pytest.approx(0.8 * (1 / 2) + 0.2 * 1)


def test_limits_of_recall_equal_the_wilson_interval(run, tmp_path):
    path = tmp_path / "text.csv"
    path.write_text("y,p\nyes,yes\nyes,no\nno,no\nno,no\n")

    done = run("report", path, *LABELS, "--metric", "recall", "--pos-label", "yes", "--interval")

    (row,) = rows(done.out)
    # of 1 in 2, with z = 1.96: 1/2 plus or minus z / 2 / sqrt(2 + z^2)
    half = 1.959963984540054 / 2 / (2 + 1.959963984540054**2) ** 0.5
    assert float(row["recall_lower"]) == pytest.approx(0.5 - half)
    assert float(row["recall_upper"]) == pytest.approx(0.5 + half)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (["--sort", "accuracy"], ["low", "mid", "top", "top2"]),
        (["--sort", "-accuracy"], ["top", "top2", "mid", "low"]),
        (["--sort", "-accuracy", "--sort", "-g"], ["top2", "top", "mid", "low"]),
    ],
)
def test_rows_are_sorted_by_columns(run, tmp_path, sort, expected):
    path = tmp_path / "scores.csv"
    path.write_text("g,y,p\ntop,1,1\ntop2,1,1\nmid,1,1\nmid,1,0\nlow,1,0\n")

    done = run("report", path, *LABELS, "--by", "g", "--metric", "accuracy", *sort)

    assert [row["g"] for row in rows(done.out)] == expected


def test_a_column_whose_name_begins_with_a_minus_can_be_sorted_by(run, tmp_path):
    path = tmp_path / "minus.csv"
    path.write_text("-g,y,p\nb,1,1\na,1,1\n")

    done = run("report", path, *LABELS, "--by", "-g", "--sort", "-g")

    assert [row["-g"] for row in rows(done.out)] == ["a", "b"]


def test_several_files_and_patterns_are_read_as_a_single_table(run, tmp_path):
    for day in (1, 2, 3):
        (tmp_path / f"day={day}").mkdir()
        columns = {"y": [1] * day, "p": [1] * day}
        pl.DataFrame(columns).write_parquet(tmp_path / f"day={day}" / "part.parquet")
    first, second, _ = parts = [tmp_path / f"day={day}" / "part.parquet" for day in (1, 2, 3)]

    done = run("confusion", tmp_path / "day=*" / "*.parquet", *LABELS, "--by", "day")

    assert [(row["day"], row["n"]) for row in rows(done.out)] == [
        ("1", "1"),
        ("2", "2"),
        ("3", "3"),
    ]
    assert rows(run("confusion", first, second, *LABELS).out)[0]["n"] == "3"
    assert rows(run("confusion", *parts, *LABELS).out)[0]["n"] == "6"


def test_curve_returns_at_most_1000_thresholds_unless_all_are_requested(run, tmp_path):
    path = tmp_path / "scores.csv"
    lines = [f"{['no', 'yes'][i % 2]},{(7 * i) % 3000}" for i in range(3000)]
    path.write_text("\n".join(["y,s", *lines]))

    short, whole = (
        run("curve", path, *SCORES, "--format", "csv", *options)
        for options in ([], ["--thresholds", "all"])
    )

    assert (short.code, short.err, whole.code, whole.err) == (0, "", 0, "")
    assert [row["threshold"] for row in rows(whole.out)] == [
        *(f"{i}.0" for i in range(3000)),
        "inf",
    ]
    assert 600 < len(rows(short.out)) <= 1000
    assert {*short.out.splitlines()} < {*whole.out.splitlines()}
