"""What `cluster` cannot be combined with, in the words of Python and of the shell."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

FRAME = pl.DataFrame(
    {
        "y": [0, 1, 1, 0],
        "p": [0, 1, 0, 0],
        "q": [1, 1, 0, 0],
        "s": [0.1, 0.7, 0.3, 0.4],
        "g": [*"aabb"],
        "c": [*"uvuv"],
        "w": [1.0, 2.0, 1.0, 1.0],
        "k": [1, 2, 1, 1],
    }
)
CELLS = bf.confusion(FRAME, "y", "p", by="g")
LABELS, SCORES = {"y_pred": "p"}, {"y_score": "s"}
METHOD = (
    "interval={!r} needs independent rows and cannot be combined with cluster='c'; give 'wilson', "
    "'score' or 'scas', or omit one of the two."
)
CHOSEN = (
    "reference={!r} chooses a segment by its score, which intervals for rows in clusters do not "
    "allow for; omit cluster=, or choose another reference."
)
TWICE = (
    "cluster={!r} is also in {}; name the column that identifies rows that belong together, such "
    "as a patient number."
)
REFUSED = {
    "exact": (bf.report, {**LABELS, "interval": "exact"}, METHOD.format("exact")),
    "jeffreys": (bf.classes, {**LABELS, "interval": "jeffreys"}, METHOD.format("jeffreys")),
    "mover": (bf.report, {**LABELS, "interval": "mover"}, METHOD.format("mover")),
    "posterior": (bf.report, {**LABELS, "interval": "posterior"}, METHOD.format("posterior")),
    "the best segment": (bf.gaps, {**LABELS, "reference": "best"}, CHOSEN.format("best")),
    "the worst segment": (bf.ranking, {**SCORES, "reference": "worst"}, CHOSEN.format("worst")),
    "by": (bf.report, {**LABELS, "cluster": "g"}, TWICE.format("g", "by")),
    "y_true": (bf.classes, {**LABELS, "cluster": "y"}, TWICE.format("y", "y_true")),
    "y_pred": (bf.disparity, {**LABELS, "cluster": "p"}, TWICE.format("p", "y_pred")),
    "one model": (
        bf.compare, {"y_pred": ["p", "q"], "cluster": "q"}, TWICE.format("q", "y_pred")
    ),
    "y_score": (bf.ranking, {**SCORES, "cluster": "s"}, TWICE.format("s", "y_score")),
    "counts": (
        bf.report, {**LABELS, "cluster": "k", "counts": "k"}, TWICE.format("k", "counts")
    ),
    "baseline": (
        bf.check, {**LABELS, "rules": "uar > baseline", "baseline": "c"},
        TWICE.format("c", "baseline"),
    ),
    "an unknown column": (
        bf.fairness, {**LABELS, "cluster": "cc"},
        "column 'cc' not found; did you mean 'c'? Columns: y, p, q, s, g, c, w, k.",
    ),
    "several columns": (
        bf.report, {**LABELS, "cluster": ["c", "g"]},
        "got list as a column; give a column name, or a list of column names.",
    ),
    "an earlier run": (
        bf.check, {**LABELS, "rules": "uar > baseline", "baseline": CELLS},
        "cluster='c' is not a column of the cells given as baseline=, so it is unknown which "
        "of their rows belong together. Count the earlier run with cluster='c' in "
        "`confusion`, or omit it here.",
    ),
    "a posterior": (
        bf.posterior, LABELS,
        "option 'cluster' not found: the posterior needs independent rows. For rows in clusters, "
        "call report with an interval.",
    ),
    "a curve": (
        bf.curve, SCORES,
        "option 'cluster' not found: limits along a curve need independent rows. For the area "
        "under the ROC curve of rows in clusters, call ranking.",
    ),
    "a threshold": (
        bf.best_threshold, SCORES,
        "option 'cluster' not found: best_threshold has no limits that clusters would change. For "
        "the area under the ROC curve of rows in clusters, call ranking.",
    ),
    "slices": (
        bf.slices, {**LABELS, "over": "g", "by": None},
        "option 'cluster' not found: the tests of slices need independent rows: with ten rows of "
        "each person, in up to 62% of simulated data sets, a slice was listed that is no worse. "
        "For rows in clusters, call gaps or disparity on chosen columns, or keep one row of each "
        "cluster.",
    ),
}  # fmt: skip


@cases(("method", "options", "words"), REFUSED.values())
def test_invalid_options_with_cluster_raise_with_advice(method, options, words):
    asked = {"by": "g", "cluster": "c", **options}
    asked = {name: value for name, value in asked.items() if value is not None}

    with pytest.raises(bf.BalframeError) as caught:
        method(FRAME, "y", **asked)

    assert str(caught.value) == words


def test_cells_without_clusters_are_refused():
    with pytest.raises(bf.BalframeError) as caught:
        bf.report(CELLS, "y", "p", cluster="c", by="g")

    assert str(caught.value) == (
        "the cells have no column 'c', so it is unknown which rows belong together. Count "
        "them with cluster='c' in `confusion`, or omit it here."
    )


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("geometric_mean", "no method for it is known"),
        ("no_information_rate", "a maximum is not smooth"),
    ],
)
def test_a_rule_on_a_metric_without_limits_is_refused(metric, why):
    rule = f"{metric} >= 0.5"

    with pytest.raises(bf.BalframeError) as caught:
        bf.check(FRAME, "y", "p", cluster="c", rules=rule, detail=True)

    words, _, known = str(caught.value).partition(" one: ")
    assert words == (
        f"metric {metric!r} has no confidence interval for rows in clusters to decide the rule "
        f"{rule!r}: {why}. Give level=None, or choose a metric that has"
    )
    assert {"balanced_accuracy", "f1", "cohen_kappa"} <= {*known.rstrip(".").split(", ")}
    assert metric not in known
    found = bf.check(FRAME, "y", "p", cluster="c", rules=rule, detail=True, level=None)
    assert (found["n_clusters"].item(), found["effective_clusters"].item()) == (2, None)


IN_THE_SHELL = {
    "a method": (
        "report", ["--interval-method", "exact"],
        "--interval 'exact' needs independent rows and cannot be combined with --cluster 'c'; give "
        "'wilson', 'score' or 'scas', or omit one of the two.",
    ),
    "a reference": (
        "gaps", ["--by", "g", "--reference", "best"],
        "--reference 'best' chooses a segment by its score, which intervals for rows in clusters "
        "do not allow for; omit --cluster, or choose another reference.",
    ),
    "a column twice": (
        "report", ["--cluster", "y"],
        "--cluster 'y' is also in --y-true; name the column that identifies rows that belong "
        "together, such as a patient number.",
    ),
    "a null": (
        "report", ["--cluster", "d"],
        "column 'd' has 1 null value; fill them, or give --missing drop to drop those rows.",
    ),
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    FRAME.with_columns(d=pl.Series([*"xyz", None])).write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


@cases(("command", "options", "words"), IN_THE_SHELL.values())
def test_error_messages_in_the_shell_name_its_options(refused, path, command, options, words):
    cluster = [] if "--cluster" in options else ["--cluster", "c"]

    line = refused(command, path, "--y-true", "y", "--y-pred", "p", *cluster, *options)

    assert line == words


def test_cells_with_clusters_on_the_command_line_equal_rows(run, refused, path, tmp_path):
    cells = tmp_path / "cells.csv"
    labels, cluster = ["--y-true", "y", "--y-pred", "p"], ["--by", "g", "--cluster", "c"]
    asked = [*cluster, "--interval", "--metric", "accuracy"]
    written = run("confusion", path, *labels, *cluster)
    cells.write_text(written.out)

    from_cells = run("report", cells, *labels, *asked, "--cells")

    from_rows = run("report", path, *labels, *asked)
    assert (from_cells.code, from_cells.out) == (0, from_rows.out)
    assert from_rows.out.startswith("g,n,n_clusters,accuracy,accuracy_lower")
    written = run("confusion", path, *labels, "--by", "g")
    cells.write_text(written.out)
    assert refused("report", cells, *labels, *asked, "--cells") == (
        "the cells have no column 'c', so it is unknown which rows belong together. Count "
        "them with --cluster 'c' in `confusion`, or omit it here."
    )
