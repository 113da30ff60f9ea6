"""Members of a family of metrics are taken wherever names of metrics are."""

import polars as pl
import pytest
from sklearn.metrics import fbeta_score

import balframe as bf
from balframe.metrics.lookup import find_metric, metric_families
from tests.support.cases import cases

ROWS = [(0, 0, 0.1)] * 3 + [(0, 1, 0.7)] * 2 + [(1, 0, 0.2)] * 3 + [(1, 1, 0.9)] * 4
FRAME = pl.DataFrame(ROWS, schema=["y", "p", "s"], orient="row").with_columns(g=pl.lit("a"))
TP, FN, FP = 4, 3, 2
F2, F_HALF = 5 * TP / (5 * TP + 4 * FN + FP), 1.25 * TP / (1.25 * TP + 0.25 * FN + FP)


def value(name, frame=FRAME, **options):
    return bf.report(frame, "y", "p", metrics=[name], **options)[name].item()


@pytest.mark.parametrize(("name", "expected"), [("fbeta(2)", F2), ("fbeta(0.5)", F_HALF)])
def test_fbeta_equals_its_formula_and_scikit_learn(name, expected):
    beta = float(name[6:-1])

    assert value(name) == pytest.approx(expected, rel=1e-14)
    assert fbeta_score(FRAME["y"], FRAME["p"], beta=beta) == pytest.approx(expected, rel=1e-14)


@cases("name", ["fbeta(2.0)", "fbeta(2e0)", "fbeta( 2 )", "fbeta (2)"])
def test_the_number_of_a_metric_may_be_written_in_other_ways(name):
    assert value(name) == value("fbeta(2)")


@cases("beta", ["1e-200", "1e-9", "1e9", "1e200"])
def test_fbeta_tends_to_precision_or_recall_at_extreme_beta(beta):
    expected = TP / (TP + FP) if float(beta) < 1 else TP / (TP + FN)

    assert value(f"fbeta({beta})") == pytest.approx(expected, rel=1e-14)


@cases(("y", "p", "expected"), [(0, 0, None), (0, 1, 0), (1, 0, 0), (1, 1, 1)])
def test_fbeta_is_null_without_positives_in_truth_and_prediction(y, p, expected):
    assert value("fbeta(2)", pl.DataFrame({"y": [y], "p": [p]})) == expected


def test_fbeta_of_a_number_has_limits_around_it():
    assert find_metric("fbeta(1)").interval == metric_families["fbeta"].representative.interval
    assert find_metric("fbeta(2)").interval != find_metric("fbeta(1)").interval
    out = bf.report(FRAME, "y", "p", metrics=["fbeta(2)"], interval=True).row(0, named=True)
    assert out["fbeta(2)_lower"] < out["fbeta(2)"] < out["fbeta(2)_upper"]


def test_a_parametric_metric_is_listed_once_and_not_part_of_all():
    listed = bf.list_metrics(detail=True).filter(pl.col("name").str.starts_with("fbeta"))

    formula = "(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)"
    columns = ["name", "formula", "range", "better", "needs"]
    assert listed.select(columns).rows() == [
        ("fbeta(beta)", formula, "[0, 1]", "higher", "pos_label")
    ]
    assert not [n for n in bf.report(FRAME, "y", "p", metrics="all").columns if "fbeta" in n]


@cases(
    "name", ["fbeta", "fbeta()", "fbeta(x)", "fbeta(beta)", "fbeta(0)", "fbeta(-1)", "fbeta(inf)"]
)
def test_fbeta_without_a_number_above_0_is_refused(name):
    with pytest.raises(bf.InvalidInputError) as raised:
        value(name)

    assert str(raised.value) == (
        f"metric {name!r} takes a finite number above 0 in brackets, as in 'fbeta(2)'."
    )


@cases("name", ["fbeta(2", "fbeta(2))", "f_beta(2)", "recall(2)", "(2)"])
def test_malformed_parametric_metrics_raise_not_found(name):
    with pytest.raises(bf.UnknownNameError, match="not found"):
        value(name)


def test_best_threshold_and_curve_support_fbeta():
    best = bf.best_threshold(FRAME, "y", "s", metrics="fbeta(2)", min_support=0)
    curve = bf.curve(FRAME, "y", "s", metrics="fbeta(2)")

    highest = max(fbeta_score(FRAME["y"], FRAME["s"] >= t, beta=2) for t in FRAME["s"].unique())
    assert best.select("metric", "estimate").row(0) == ("fbeta(2)", pytest.approx(highest))
    assert curve["fbeta(2)"].max() == pytest.approx(highest)


TWO = pl.concat([FRAME, FRAME.with_columns(g=pl.lit("b"), p=pl.col("y"))])


@cases(
    ("rule", "estimate", "status"),
    [
        ("fbeta(2) >= 0.6", F2, "fail"),
        ("fbeta (0.5) > 0.6", F_HALF, "pass"),
        ("difference(fbeta(2)) <= 0.5", 1 - F2, "pass"),
        ("ratio( fbeta( 2 ) ) >= 0.9", F2, "fail"),
        ({"fbeta(2)": ">= 0.6"}, F2, "fail"),
    ],
)
def test_check_supports_rules_on_fbeta(rule, estimate, status):
    out = bf.check(TWO, "y", "p", by="g", rules=rule, level=None)

    assert out.select("estimate", "status").row(0) == (pytest.approx(estimate), status)


@cases(
    ("rule", "marks", "words"),
    [
        ("fbeta >= 1", "      ^", "a number in brackets is expected, as in 'fbeta(2)'"),
        ("fbeta(2 >= 1", "     ^", "a number in brackets is expected, as in 'fbeta(2)'"),
        ("fbeta(-1) >= 1", "^^^^^^^^^", "metric 'fbeta(-1)' takes a finite number above 0"),
        ("difference(fbeta(x)) > 1", " " * 11 + "^^^^^^^^", "metric 'fbeta(x)' takes a finite"),
        ("difference(fbeta(2) > 1", " " * 20 + "^", "')' is missing"),
    ],
)
def test_a_syntax_error_in_a_rule_on_fbeta_is_marked(rule, marks, words):
    with pytest.raises(bf.InvalidInputError) as raised:
        bf.check(TWO, "y", "p", by="g", rules=rule)

    first, *below = str(raised.value).split("\n")
    assert words in first
    assert below == [f"    {rule}", f"    {marks}"]


def test_a_rule_on_fbeta_is_decided():
    out = bf.check(FRAME, "y", "p", rules="fbeta(2) >= 0.01")

    assert out["status"].to_list() in (["pass"], ["inconclusive"])


def test_disparity_and_gaps_support_fbeta():
    apart = bf.disparity(TWO, "y", "p", by="g", metrics=["fbeta(2)"])
    beside = bf.gaps(TWO, "y", "p", by="g", metrics=["fbeta(2)"])

    assert apart["difference"].item() == pytest.approx(1 - F2)
    assert beside["difference"].to_list() == pytest.approx([F2 - 1, 1 - F2])


@pytest.mark.parametrize("method", ["report", "curve"])
def test_table_recognizes_results_with_fbeta(method):
    column = {"report": "p", "curve": "s"}[method]

    html = bf.table(getattr(bf, method)(FRAME, "y", column, metrics=["fbeta(2)"])).as_raw_html()

    assert ">Fbeta(2)</th>" in html
    assert "Bars run from 0 to 1." in html


def test_the_command_line_supports_fbeta(run, tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    rows = [path, "--y-true", "y", "--y-pred", "p"]

    report = run("report", *rows, "--metric", "fbeta(2)", "--format", "csv")
    check = run("check", *rows, "--rule", "fbeta(2) >= 0.5", "--decide", "estimate")

    assert pl.read_csv(report.out.encode())["fbeta(2)"].item() == pytest.approx(F2)
    assert check.code == 0
    assert "fbeta(beta)" in run("metrics").out


def test_a_number_that_numpy_wrote_with_its_type_is_named():
    with pytest.raises(bf.InvalidInputError, match=r"has a number with its type; write 'fbeta\(0"):
        value("fbeta(np.float64(0.5))")
