"""Scores on the command line: compared, judged, and metrics with a number in brackets."""

import polars as pl
import pytest

import balframe as bf
from tests.methods.comparisons.test_compare_scores import draw
from tests.support.cases import cases

TWO = ["--y-true", "y", "--y-score", "s", "--y-score", "t"]
ONE = ["--y-true", "y", "--y-score", "s"]


@pytest.fixture
def scored(tmp_path):
    path = tmp_path / "scored.parquet"
    pl.DataFrame(draw()).write_parquet(path)
    return path


@cases(
    ("options", "metrics"),
    [
        (["auc", "roc_auc(max_fpr=0.1)"], ["auc", "roc_auc(max_fpr=0.1)"]),
        (["auc", "p=auc(max_fpr=0.2)"], {"auc": "auc", "p": "auc(max_fpr=0.2)"}),
    ],
)
def test_compare_reads_metrics_with_a_number_in_brackets(run, scored, options, metrics):
    named = [text for name in options for text in ("--metric", name)]
    done = run("compare", scored, *TWO, *named, "--format", "csv")
    expected = bf.compare(
        pl.read_parquet(scored), "y", y_score=["s", "t"], metrics=metrics, detail=True
    )
    out = pl.read_csv(done.out.encode())
    assert out["metric"].to_list() == list(metrics)
    assert out["p_value"].to_list() == pytest.approx(expected["p_value"].to_list())


def test_check_judges_scores_and_sets_the_exit_code(run, scored):
    rule = ["--rule", "roc_auc >= baseline - 0.9", "--baseline", "t"]
    assert run("check", scored, *ONE, *rule).code == 0
    assert run("check", scored, *ONE, "--rule", "roc_auc >= 0.99").code == 1


@cases(
    ("options", "parts"),
    [
        (["--rule", "auc >= 0.5"], ["either --y-pred or --y-score, and both are missing"]),
        (["--y-pred", "c", "--rule", "auc >= 0.5"], ["on a metric of scores", "as --y-score"]),
        (
            ["--y-score", "s", "--rule", "auc >= 0.5", "--threshold", "0.5"],
            ["--threshold turns", "--y-pred is missing"],
        ),
    ],
)
def test_wrong_uses_are_refused_in_the_words_of_the_command_line(refused, scored, options, parts):
    line = refused("check", scored, "--y-true", "y", *options)
    assert all(part in line for part in parts), line
