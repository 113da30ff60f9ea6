"""`--threshold`: scores given as predictions become labels."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

SCORES = [0.9, 0.4, 0.5, 0.6, None]
TRUTHS = {
    "0 and 1": ([1, 0, 1, 0, 1], [], "0,1"),
    "-1 and 1": ([1, -1, 1, -1, 1], [], "-1,1"),
    "booleans": ([True, False, True, False, True], [], "false,true"),
    "floats": ([1.0, 0.0, 1.0, 0.0, 1.0], [], "0.0,1.0"),
    "words": (["yes", "no", "yes", "no", "yes"], [], "no,yes"),
    "words in two cases": (["Y", "n", "Y", "n", "Y"], [], "n,Y"),
    "other words": (["ja", "aus", "ja", "aus", "ja"], ["--pos-label", "ja"], "aus,ja"),
    "the lower as positive": ([1, 0, 1, 0, 1], ["--pos-label", "0"], "0,1"),
}
DATA = ["--y-true", "y", "--y-pred", "s", "--missing", "drop", "--format", "csv"]


@pytest.fixture
def scored(tmp_path):
    """Write a truth and scores to a file."""

    def made(truth, **others):
        path = tmp_path / "scored.parquet"
        pl.DataFrame({"y": truth, "s": SCORES, **others}).write_parquet(path)
        return path

    return made


@cases("name", TRUTHS)
def test_a_score_at_the_threshold_is_the_positive_label(run, scored, name):
    truth, options, labels = TRUTHS[name]
    low, high = labels.split(",")
    counts = {(high, high): 2, (low, high): 1, (low, low): 1, (high, low): 0}  # at least 0.5
    if name == "the lower as positive":
        counts = {(high, low): 2, (low, low): 1, (low, high): 1, (high, high): 0}

    done = run("confusion", scored(truth), *DATA, "--threshold", "0.5", *options)

    expected = [f"{t},{p},{n}" for (t, p), n in sorted(counts.items()) if n]
    found = pl.read_csv(done.out.encode(), infer_schema=False)
    assert sorted(map(",".join, found.filter(pl.col("n") != "0").rows())) == sorted(expected)


@cases(
    ("command", "options"),
    [
        ("report", []),
        ("classes", []),
        ("confusion", []),
        ("gaps", ["--by", "g"]),
        ("disparity", ["--by", "g"]),
        ("fairness", ["--by", "g"]),
        ("compare", ["--y-pred", "t"]),
        ("diff", ["--baseline", "t"]),
        ("check", ["--rule", "accuracy >= 0.5", "--allow-inconclusive"]),
        ("posterior", []),
    ],
)
def test_every_command_with_predictions_takes_a_threshold(run, tmp_path, command, options):
    rows = pl.DataFrame(
        {
            "y": [1, 0, 1, 0, 1, 0] * 5,
            "s": [0.9, 0.4, 0.5, 0.6, 0.1, 0.2] * 5,
            "t": [0.5, 0.6, 0.7, 0.1, 0.2, 0.3] * 5,
            "g": ["a", "b", "b"] * 10,
        }
    )
    rows.write_parquet(tmp_path / "scores.parquet")
    labels = rows.with_columns((pl.col("s", "t") >= 0.5).cast(pl.Int64))
    labels.write_parquet(tmp_path / "labels.parquet")
    asked = ["--y-true", "y", "--y-pred", "s", *options, "--format", "csv"]

    done = run(command, tmp_path / "scores.parquet", *asked, "--threshold", "0.5")

    by_labels = run(command, tmp_path / "labels.parquet", *asked)
    assert (done.code, done.out, done.err) == (by_labels.code, by_labels.out, by_labels.err)
    assert done.code in (0, 1)


def test_require_takes_a_threshold(run, scored):
    options = ["--y-true", "y", "--y-pred", "s", "--missing", "drop", "--rule", "n >= 4"]

    assert run("require", scored([1, 0, 1, 0, 1]), *options, "--threshold", "0.5").code == 0


def test_threshold_is_refused_by_commands_of_scores(refused, scored):
    line = refused("ranking", scored([1, 0] * 2 + [1]), "--y-true", "y", "--y-score", "s",
                   "--threshold", "0.5")  # fmt: skip

    assert "No such option: --threshold" in line


def test_null_and_nan_scores_give_missing_predictions(run, tmp_path):
    path = tmp_path / "nan.parquet"
    pl.DataFrame({"y": [1, 1, 1], "s": [0.9, float("nan"), None]}).write_parquet(path)

    done = run("report", path, *DATA, "--threshold", "0.5", "--metric", "accuracy")

    assert done.out.splitlines() == ["n,n_missing,accuracy,n_labels,min_support", "1,2,1.0,1,1"]


def test_scores_as_predictions_are_refused_with_advice_on_threshold(refused, scored):
    line = refused("report", scored([1, 0, 1, 0, 1]), *DATA)

    assert "scores are not labels" in line
    assert "labels first: --threshold 0.5" in line


@cases(
    ("truth", "options", "parts"),
    [
        (["ja", "nein", "ja", "nein", "nein"], [], ["needs --pos-label", "'ja', 'nein'"]),
        (["Yes", "yes", "Yes", "yes", "yes"], [], ["needs --pos-label", "'Yes', 'yes'"]),
        (["a", "b", "c", "a", "b"], ["--pos-label", "a"], ["two labels", "'a', 'b', 'c'"]),
        (["ja"] * 5, ["--pos-label", "ja"], ["two labels", "--label"]),
        ([1, 0, 1, 0, 1], ["--by", "s"], ["'s' is given as --y-pred", "another name"]),
        ([1, 0, 1, 0, 1], ["--y-pred", "g"], ["is for scores, but column 'g'"]),
        ([1, 0, 1, 0, 1], ["--y-pred", "z"], ["column 'z' not found"]),
        ([1, 0, 1, 0, 1], ["--threshold=nan"], ["--threshold nan is not a number"]),
    ],
)
def test_threshold_is_refused_for_unusable_labels_or_columns(
    refused, scored, truth, options, parts
):
    path = scored(truth, g=["a"] * 5)
    threshold = [] if "--threshold=nan" in options else ["--threshold", "0.5"]
    line = refused("report", path, *DATA, *threshold, *options)

    assert all(part in line for part in parts), line


def test_label_option_adds_a_label_absent_from_the_rows(run, scored):
    options = ["--pos-label", "ja", "--label", "aus", "--label", "ja"]

    done = run("confusion", scored(["ja"] * 5), *DATA, "--threshold", "0.5", *options)

    assert done.out.splitlines() == ["y,s,n", "ja,aus,1", "ja,ja,3"]


@cases("dtype", [pl.String, pl.Categorical, pl.Enum(["NO"]), pl.Enum(["NO", "YES"])])
def test_a_word_absent_from_the_rows_is_predicted_in_the_case_of_the_other(run, scored, dtype):
    path = scored(pl.Series(["NO"] * 5, dtype=dtype))

    done = run("confusion", path, *DATA, "--threshold", "0.5")

    assert done.out.splitlines() == ["y,s,n", "NO,NO,1", "NO,YES,3"]


@pytest.mark.parametrize("typed", ["11", "1,2"])
def test_errors_on_thresholds_have_no_python_syntax(run, tmp_path, typed):
    path = tmp_path / "odds.csv"
    path.write_text("y,s\n1,3.5\n0,0.1\n")

    done = run("curve", path, "--y-true", "y", "--y-score", "s", "--thresholds", typed)

    assert "(" not in done.err.replace("[0, 1]", "")
    assert ("--thresholds quantiles,10" in done.err) == (typed == "11")


@cases("dtype", [pl.Float32, pl.Float64])
@cases("threshold", ["0.1", "0.5", "0.7"])
def test_threshold_gives_the_same_rates_as_curve(run, tmp_path, dtype, threshold):
    path = tmp_path / "scores.parquet"
    scores = pl.Series([0.1, 0.1, 0.5, 0.7, 0.7], dtype=dtype)  # 0.7 in 32 bits is below 0.7
    pl.DataFrame({"y": [1, 0, 1, 0, 1], "s": scores}).write_parquet(path)
    shown = ["--metric", "recall", "--metric", "fpr"]

    labels = run("report", path, *DATA, "--pos-label", "1", *shown, "--threshold", threshold)
    curve = run("curve", path, "--y-true", "y", "--y-score", "s", *shown, "--thresholds",
                f"{threshold},1")  # fmt: skip

    found = pl.read_csv(labels.out.encode()).select("recall", "fpr").row(0)
    at = pl.read_csv(curve.out.encode()).filter(pl.col("threshold") == float(threshold))
    assert found == at.select("recall", "fpr").row(0)


def test_score_column_may_have_the_name_of_a_metric(run, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,f1\n1,0.9\n0,0.1\n1,0.2\n")
    options = ["--metric", "f1", "--format", "csv"]

    done = run("report", path, "--y-true", "y", "--y-pred", "f1", "--pos-label", "1", *options,
               "--threshold", "0.5")  # fmt: skip

    assert done.err == ""
    assert pl.read_csv(done.out.encode())["f1"][0] == pytest.approx(
        2 / 3
    )  # 2 * 1 / (2 * 1 + 0 + 1)


SCORED = ["--y-true", "y", "--y-pred", "s"]
EARLIER = pl.DataFrame({"y": [1, 1, 0, 0] * 50, "s": [8, 7, 2, 1] * 50})
LATER = EARLIER.with_columns(s=pl.Series([8, 3, 2, 1] * 50))


@pytest.fixture
def earlier(tmp_path):
    """Write scores of now and of earlier, and the cells and the labels of these."""
    LATER.write_csv(tmp_path / "now.csv")
    EARLIER.write_csv(tmp_path / "rows.csv")
    labels = EARLIER.with_columns(s=(pl.col("s") >= 5).cast(pl.Int64))
    bf.confusion(labels, "y", "s").write_csv(tmp_path / "cells.csv")
    return tmp_path


@pytest.mark.parametrize("score", [[], ["--y-score", "s"]])
@pytest.mark.parametrize("baseline", ["rows.csv", "cells.csv"])
def test_threshold_applies_to_earlier_rows_and_cells_have_labels(run, earlier, score, baseline):
    done = run(
        "audit", earlier / "now.csv", *SCORED, "--threshold", "5", *score, "--rule",
        "recall >= baseline", "--baseline", earlier / baseline, "--out", earlier / "page.md",
    )  # fmt: skip

    assert done.code == 0, done.err
    page = (earlier / "page.md").read_text("utf-8")
    # all were right earlier; now half of the positives, a quarter of all, are missed
    assert "right predictions, of all\u201d \u221225 points (" in page


def test_earlier_rows_without_scores_are_refused(refused, earlier):
    EARLIER.rename({"s": "t"}).write_csv(earlier / "rows.csv")
    page = ["--out", earlier / "page.md"]

    line = refused(
        "audit", earlier / "now.csv", *SCORED, "--threshold", "5", *page,
        "--baseline", earlier / "rows.csv",
    )  # fmt: skip

    assert line.startswith("in --baseline: column 's' not found")
