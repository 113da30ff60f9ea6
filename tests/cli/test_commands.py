import csv
import io
from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.methods import declarations
from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORES = ["--y-true", "y", "--y-score", "s", "--pos-label", "yes"]
THREE = {"labels": ["yes", "no", "none"]}
EVEN = {"class_weight": {"yes": 0.5, "no": 0.5}}

ALIKE = {  # options that every method on labels has
    "--by g --by sex": {"by": ["g", "sex"]},
    "--by g --sample-weight w": {"by": "g", "sample_weight": "w"},
    "--by g --counts k": {"by": "g", "counts": "k"},
    "--by g --cluster k": {"by": "g", "cluster": "k"},  # where they can be of clusters
    "--by g --label yes --label no --label none": {"by": "g", **THREE},
    "--by g --pos-label yes": {"by": "g", "pos_label": "yes"},
    "--by g --missing drop": {"by": "g", "missing": "drop"},
    "--by g --by sex --margins all": {"by": ["g", "sex"], "margins": "all"},
    "--by g --margins overall": {"by": "g", "margins": "overall"},
    "--by g --y-pred q": {"by": "g", "y_pred": ["p", "q"]},
    "--by g --max-cells 100": {"by": "g", "max_cells": 100},
}
OWN = {
    "report": {
        "": {},
        "--metric recall --metric f1 --pos-label yes": {
            "metrics": ["recall", "f1"],
            "pos_label": "yes",
        },
        "--metric all --pos-label yes": {"metrics": "all", "pos_label": "yes"},
        "--interval --level 0.8": {"interval": True, "level": 0.8},
        "--interval-method jeffreys --metric accuracy": {
            "interval": "jeffreys",
            "metrics": "accuracy",
        },
        "--class-weight balanced": {"class_weight": "balanced"},
        "--class-weight yes=0.8 --class-weight no=0.2": {"class_weight": {"yes": 0.8, "no": 0.2}},
        "--layout long --interval": {"layout": "long", "interval": True},
        "--prior jeffreys --interval-method posterior": {
            "prior": "jeffreys",
            "interval": "posterior",
        },
        "--absent zero --label yes --label no --label none": {"absent": "zero", **THREE},
        "--time d --every 2w --by g": {"time": "d", "every": "2w", "by": "g"},
    },
    "monitor": {
        "": {},
        "--by g --metric recall --metric acc=accuracy --pos-label yes": {
            "by": "g",
            "metrics": {"recall": "recall", "acc": "accuracy"},
            "pos_label": "yes",
        },
        "--margin 0.1 --alpha 0.2 --looks 12 --level 0.8": {
            "margin": 0.1,
            "alpha": 0.2,
            "looks": 12,
            "level": 0.8,
        },
        "--window 2 --window 3 --every 2d": {"windows": [2, 3], "every": "2d"},
        "--by g --by sex --adjust none": {"by": ["g", "sex"], "adjust": None},
        "--dispersion estimate": {"dispersion": "estimate"},
        "--metric weighted_balanced_accuracy --class-weight balanced": {
            "metrics": "weighted_balanced_accuracy",
            "class_weight": "balanced",
        },
    },
    "posterior": {
        "": {},
        "--above 0.6 --by g": {"above": 0.6, "by": "g"},
        "--prior jeffreys --level 0.8": {"prior": "jeffreys", "level": 0.8},
    },
    "fairness": {
        "--by sex --cluster k": {"by": "sex", "cluster": "k"},
        "--by sex --min-support 5 --level 0.9": {"by": "sex", "min_support": 5, "level": 0.9},
        "--by g --margins overall --y-pred q": {"margins": "overall", "y_pred": ["p", "q"]},
        "--by g --sample-weight w": {"sample_weight": "w"},
    },
    "compare": {
        "--by sex --cluster k": {"by": "sex", "cluster": "k"},
        "": {},
        "--by g --adjust none --level 0.9": {"by": "g", "adjust": None, "level": 0.9},
        "--metric recall --metric f1 --pos-label yes": {
            "metrics": ["recall", "f1"],
            "pos_label": "yes",
        },
        "--class-weight balanced --by g --margins overall": {
            "class_weight": "balanced",
            "by": "g",
            "margins": "overall",
        },
        "--counts k --missing drop": {"counts": "k", "missing": "drop"},
    },
    "ranking": {
        "--by sex --cluster k": {"by": "sex", "cluster": "k"},
        "": {},
        "--by g --level 0.8": {"by": "g", "level": 0.8},
        "--by g --reference rest": {"by": "g", "reference": "rest"},
        "--by g --reference b": {"by": "g", "reference": "b"},
        "--y-score t --margins overall --by g": {
            "y_score": ["s", "t"],
            "margins": "overall",
            "by": "g",
        },
        "--sample-weight w --missing drop": {"sample_weight": "w", "missing": "drop"},
    },
    "classes": {"--interval": {"interval": True}, "--interval-method exact": {"interval": "exact"}},
    "confusion": {
        "--complete --normalize true": {"complete": True, "normalize": "true"},
        "--normalize all": {"normalize": "all"},
    },
    "gaps": {
        "--by g --reference best --metric accuracy": {"reference": "best", "metrics": "accuracy"},
        "--by g --reference a --adjust none": {"reference": "a", "adjust": None},
        "--by g --adjust holm --level 0.9": {"adjust": "holm", "level": 0.9},
        "--by g --class-weight prevalence": {"class_weight": "prevalence"},
        "--by g --time d --every 1mo": {"time": "d", "every": "1mo"},
    },
    "disparity": {
        "--by sex --min-support 10 --level 0.9": {"by": "sex", "min_support": 10, "level": 0.9},
        "--by g --class-weight yes=0.5 --class-weight no=0.5": EVEN,
        "--by g --metric recall --pos-label yes": {"metrics": "recall", "pos_label": "yes"},
    },
    "impact": {
        "--by g --by sex --min-share 0.3 --bound 0.9": {
            "by": ["g", "sex"],
            "min_share": 0.3,
            "bound": 0.9,
        },
        "--by g --adjust holm --level 0.9": {"adjust": "holm", "level": 0.9},
        "--by sex --selected q": {"by": "sex", "selected": ["p", "q"]},
    },
    "slices": {
        "--over g --over sex --metric f1 --pos-label yes --min-support 3": {
            "over": ["g", "sex"],
            "metric": "f1",
            "pos_label": "yes",
            "min_support": 3,
        },
        "--over g --metric accuracy --sample-weight w --min-support 3 --top 1 --depth 1": {
            "over": "g",
            "metric": "accuracy",
            "sample_weight": "w",
            "min_support": 3,
            "top": 1,
            "depth": 1,
        },
        "--over sex --over s --metric accuracy --level 0.01 --min-support 6 --order impact": {
            "over": ["sex", "s"],
            "metric": "accuracy",
            "level": 0.01,
            "min_support": 6,
            "order": "impact",
        },
        "--over s --over t --bins s=0.25,0.5 --bins t=0.4, --metric acc --min-support 3": {
            "over": ["s", "t"],
            "bins": {"s": [0.25, 0.5], "t": [0.4]},
            "metric": "acc",
            "min_support": 3,
        },
        "--over s --bins none --metric accuracy --sample-weight w --min-support 6 --counts k": {
            "over": "s",
            "bins": None,
            "sample_weight": "w",
            "min_support": 6,
            "counts": "k",
            "metric": "accuracy",
        },
        "--over s --over g --min-support 5 --sample-weight w --metric acc --min-difference 0.1": {
            "over": ["s", "g"],
            "min_support": 5,
            "sample_weight": "w",
            "metric": "acc",
            "min_difference": 0.1,
        },
    },
    "check": {
        "--decide estimate --by g": {"decide": "estimate"},
        "--adjust none --level 0.8 --by g": {"adjust": None, "level": 0.8},
        "--min-support 15 --by g": {"min_support": 15},
        "--interval exact --absent skip --by g": {"interval": "exact", "absent": "skip"},
        "--interval scas --by g --rule uar>=0.4": {
            "interval": "scas",
            "rules": ["accuracy>=0.6", "uar>=0.4"],
        },
        "--class-weight balanced --by g": {"class_weight": "balanced"},
        "--rule n>=10 --allow-inconclusive --by g": {"rules": ["accuracy>=0.6", "n>=10"]},
        "--by g --baseline q --rule uar>=baseline-0.1": {
            "rules": ["accuracy>=0.6", "uar>=baseline-0.1"],
            "baseline": "q",
        },
    },
    "power": {
        "--by g": {"by": "g"},
        "--rule uar>=0.4 --power 0.5 --power 0.9 --level 0.8 --adjust none": {
            "rules": ["accuracy>=0.6", "uar>=0.4"],
            "power": [0.5, 0.9],
            "level": 0.8,
            "adjust": None,
        },
        "--by sex --min-support 3 --absent skip --power 0.7": {
            "by": "sex",
            "min_support": 3,
            "absent": "skip",
            "power": 0.7,
        },
        "--rule uar>=baseline-0.1 --baseline q": {
            "rules": ["accuracy>=0.6", "uar>=baseline-0.1"],
            "baseline": "q",
        },
        "--rule uar>=baseline-0.1 --disagreement 0.2 --class-weight balanced": {
            "rules": ["accuracy>=0.6", "uar>=baseline-0.1"],
            "disagreement": 0.2,
            "class_weight": "balanced",
        },
    },
    "curve": {
        "": {},
        "--thresholds 5 --by g": {"thresholds": 5, "by": "g"},
        "--thresholds 0.25,0.5": {"thresholds": [0.25, 0.5]},
        "--thresholds 0.5": {"thresholds": [0.5]},
        "--thresholds quantiles,4": {"thresholds": ("quantiles", 4)},
        "--metric accuracy --interval --level 0.9": {
            "metrics": "accuracy",
            "interval": True,
            "level": 0.9,
        },
        "--interval-method posterior": {"interval": "posterior"},
        "--band": {"band": True},
        "--class-weight yes=0.5 --class-weight no=0.5": EVEN,
        "--y-score t --margins overall --by g": {
            "y_score": ["s", "t"],
            "margins": "overall",
            "by": "g",
        },
        "--counts k --max-cells 900": {"counts": "k", "max_cells": 900},
        "--sample-weight w --missing drop": {"sample_weight": "w", "missing": "drop"},
        "--label no --label yes": {"labels": ["no", "yes"]},
    },
    "calibration": {
        "": {},
        "--by g --level 0.8 --adjust none": {"by": "g", "level": 0.8, "adjust": None},
        "--y-score t --by g --margins overall": {
            "y_score": ["s", "t"],
            "by": "g",
            "margins": "overall",
        },
        "--counts k --missing drop --resolution 10": {
            "counts": "k",
            "missing": "drop",
            "resolution": 10,
        },
    },
    "calibration-curve": {
        "--by g --bins 3": {"by": "g", "bins": 3},
        "--resolution 5 --level 0.9": {"resolution": 5, "level": 0.9},
    },
    "calibration-gaps": {
        "--by g --adjust holm --level 0.9": {"by": "g", "adjust": "holm", "level": 0.9},
        "--by g --y-score t --counts k": {"by": "g", "y_score": ["s", "t"], "counts": "k"},
    },
    "best-threshold": {
        "--by g": {"by": "g"},
        "--metric f1 --thresholds 11": {"metric": "f1", "thresholds": 11},
        "--metric weighted_balanced_accuracy --class-weight balanced": {
            "metric": "weighted_balanced_accuracy",
            "class_weight": "balanced",
        },
        "--y-score t --counts k": {"y_score": ["s", "t"], "counts": "k"},
        "--sample-weight w --missing drop": {"sample_weight": "w", "missing": "drop"},
        "--by g --margins overall": {"by": "g", "margins": "overall"},
        "--label no --label yes --max-cells 900": {"labels": ["no", "yes"], "max_cells": 900},
    },
}
WITH_ANSWER = {
    name.replace("_", "-"): method for name, method in declarations().items() if method.layouts
}
ON_LABELS = [
    command
    for command, method in WITH_ANSWER.items()
    if {"cells", "by"} <= method.parameters.keys() and command != "fairness"  # of two labels alone
]
CASES = [(command, *case) for command in OWN for case in OWN[command].items()]
CASES += [
    (command, text, options)
    for command in ON_LABELS
    for text, options in ALIKE.items()
    if options.keys() <= WITH_ANSWER[command].parameters.keys()
]


def columns_of(command):
    if "y_score" in WITH_ANSWER[command].parameters:
        return SCORES
    if command == "impact":
        return ["--selected", "p", "--pos-label", "yes"]
    more = {
        "compare": ["--y-pred", "q"],
        "fairness": ["--pos-label", "yes"],
        "monitor": ["--time", "d", "--every", "1w", "--until", "2026-01-18"],
    }
    return LABELS + more.get(command, [])


def called(command, table, options):
    """Give the result of the method itself."""
    parameters = WITH_ANSWER[command].parameters
    if "y_score" in parameters:
        given = {"y_true": "y", "y_score": "s", "pos_label": "yes"}
    elif command == "impact":
        given = {"selected": "p", "pos_label": "yes"}
    else:
        given = {"y_true": "y", "y_pred": ["p", "q"] if command == "compare" else "p"}
    if command == "fairness":
        given["pos_label"] = "yes"
    if command == "monitor":
        given |= {"time": "d", "every": "1w", "reference": {"until": "2026-01-18"}}
    if "rules" in parameters:
        given["rules"] = ["accuracy>=0.6"]
    if command == "check" or ("by" in parameters and parameters["by"].is_required):
        given["by"] = "g"
    return getattr(bf, command.replace("-", "_"))(table, **given | options)


def test_every_command_with_a_result_is_run():
    assert OWN.keys() == WITH_ANSWER.keys()


def tally(command, result):
    """Count verdicts as the line on standard error does."""
    if command == "monitor":
        of_monitor = ("ok", "alarm", "inconclusive")
        last = result["period"].max()
        latest = counted(result.filter(pl.col("period") == last), of_monitor)
        return f"last period {last}: {latest}; all periods: {counted(result, of_monitor)}\n"
    if command != "check":
        return ""
    return counted(result, ("pass", "fail", "inconclusive")) + "\n"


def counted(result, words):
    statuses = result["status"].to_list()
    return ", ".join(f"{statuses.count(one)} {one}" for one in words)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("command", "text", "options"), CASES, ids=[f"{one[0]} {one[1]}" for one in CASES]
)
def test_every_option_reaches_its_method(run, people, table, tmp_path, command, text, options):
    out = tmp_path / "out.parquet"
    has_rules = "rules" in WITH_ANSWER[command].parameters
    rule = ["--rule", "accuracy>=0.6"] if has_rules else []

    done = run(command, people, *columns_of(command), *rule, *text.split(), "--out", out)

    written = pl.read_parquet(out)
    assert (done.out, done.err) == ("", tally(command, written))
    assert done.code in {"check": (0, 1, 3), "monitor": (0, 1)}.get(command, (0,))
    assert_frame_equal(written, called(command, table, options))


@cases("kind", ["csv", "tsv", "parquet", "ndjson", "jsonl", "arrow", "feather"])
def test_report_scores_every_segment_of_a_file_of_any_kind(run, tmp_path, kind):
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
    bf.datasets.compas(expand=True).write_csv(path)

    done = run(
        "report", path, "--y-true", "reoffended", "--y-pred", "high_risk", "--y-pred",
        "reoffended", "--margins", "overall", "--metric", "accuracy",
    )  # fmt: skip

    right = 1369 + 990 + 505 + 1139 + 103 + 318 + 43 + 208 + 6 + 21 + 9 + 5
    accuracies = {row["model"]: float(row["accuracy"]) for row in rows(done.out)}
    assert accuracies == {"high_risk": pytest.approx(right / 7214), "reoffended": 1}


def test_demo_shows_propublicas_rates(run):
    found = {row["race"]: row for row in rows(run("demo").out)}

    black, white = found["African-American"], found["Caucasian"]
    assert float(black["false_positive_rate"]) == pytest.approx(0.448, abs=5e-4)
    assert float(black["false_negative_rate"]) == pytest.approx(0.280, abs=5e-4)
    assert float(white["false_positive_rate"]) == pytest.approx(0.235, abs=5e-4)
    assert float(white["false_negative_rate"]) == pytest.approx(0.477, abs=5e-4)


def test_metrics_lists_what_the_library_lists(run, tmp_path):
    out = tmp_path / "metrics.parquet"

    assert run("metrics", "--out", out, "--sort", "name").code == 0

    assert_frame_equal(pl.read_parquet(out), bf.list_metrics().sort("name"))


def test_cells_of_confusion_are_read_back(run, people, tmp_path):
    cells = tmp_path / "cells.csv"
    direct = run("report", people, *LABELS, "--by", "g")

    run("confusion", people, *LABELS, "--by", "g", "--out", cells)

    assert run("report", cells, *LABELS, "--by", "g", "--cells").out == direct.out


@cases(
    ("values", "text"),
    [
        ([1, 0], "1"),
        ([1, 0], "1.0"),
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
def test_a_positive_label_is_read_as_the_column(run, tmp_path, values, text):
    first, second = values
    path = tmp_path / "labels.parquet"
    columns = {"y": [first, first, first, second], "p": [first, second, second, second]}
    pl.DataFrame(columns).write_parquet(path)

    done = run("report", path, *LABELS, "--metric", "recall", "--pos-label", text)

    assert [float(row["recall"]) for row in rows(done.out)] == [pytest.approx(1 / 3)]


def test_weights_of_labels_are_read_as_the_column(run, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("y,p\n1,1\n1,0\n0,0\n")

    done = run("report", path, *LABELS, "--class-weight", "1=0.8", "--class-weight", "0=0.2")

    (row,) = rows(done.out)
    assert float(row["weighted_balanced_accuracy"]) == pytest.approx(0.8 * (1 / 2) + 0.2 * 1)


def test_limits_of_a_share_are_wilsons(run, tmp_path):
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


def test_several_files_and_patterns_are_one_table(run, tmp_path):
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gate.toml", 'rules = ["n >= 1", {rule = "recall >= 0.99", reason = "as agreed"}]'),
        ("gate.yaml", "rules:\n- n >= 1\n- {rule: recall >= 0.99, reason: as agreed}\n"),
    ],
)
def test_rules_come_from_a_file(run, people, tmp_path, name, text):
    (tmp_path / name).write_text(text)

    done = run("check", people, *LABELS, "--pos-label", "yes", "--rules", tmp_path / name)

    assert done.code == 1
    assert [(row["rule"], row["reason"], row["status"]) for row in rows(done.out)] == [
        ("n >= 1", "", "pass"),
        ("recall >= 0.99", "as agreed", "fail"),
    ]


@cases(
    ("rules", "code"),
    [
        (["accuracy >= 0.1"], 0),
        (["accuracy >= 0.99"], 1),
        (["accuracy >= 0.75"], 3),
        (["accuracy >= 0.75", "--allow-inconclusive"], 0),
        (["accuracy >= 0.75", "--rule", "accuracy >= 0.99", "--allow-inconclusive"], 1),
    ],
)
def test_the_verdict_is_the_exit_code(run, people, rules, code):
    # 36 of 48 are right
    assert run("check", people, *LABELS, "--rule", *rules).code == code


@cases("command", ["check", "require"])
@cases("allowed", [[], ["--allow-inconclusive"]])
def test_a_file_without_rows_passes_no_rule(run, tmp_path, command, allowed):
    path = tmp_path / "header.csv"
    path.write_text("y,p\n")

    done = run(command, path, *LABELS, "--rule", "accuracy >= 0.1", *allowed)

    assert done.code == 3
    assert done.err == "balframe: there is no row to judge, so no rule can pass.\n"


@cases(
    ("rules", "code", "lines"),
    [
        (["accuracy >= 0.1"], 0, []),
        (["accuracy >= 0.75", "--allow-inconclusive"], 0, []),
        (
            ["accuracy >= 0.75"],
            3,
            ["balframe: 1 of 1 verdicts is inconclusive (too few rows):", "inconclusive: "],
        ),
        (["accuracy >= 0.99"], 1, ["balframe: 1 of 1 verdicts fails:", "fail: accuracy >= 0.99: "]),
        (
            ["accuracy >= 0.75", "--rule", "n >= 100"],
            1,
            [
                "balframe: 1 of 2 verdicts fails and 1 is inconclusive (too few rows):",
                "fail: n >= 100: 48",
                "inconclusive: accuracy >= 0.75: 0.75 [",
            ],
        ),
    ],
)
def test_require_writes_nothing_unless_a_rule_does_not_hold(run, people, rules, code, lines):
    # 36 of 48 are right
    done = run("require", people, *LABELS, "--rule", *rules)

    said = done.err.splitlines()
    assert (done.code, done.out) == (code, "")
    assert len(said) == len(lines)
    assert all(line.strip().startswith(part) for line, part in zip(said, lines, strict=True))


def test_require_steers_no_terminal(run, tmp_path):
    path = tmp_path / "escape.csv"
    path.write_text("g,y,p\n\x1b]0;title\x07,1,1\n")

    done = run("require", path, *LABELS, "--by", "g", "--rule", "n > 1")

    assert done.code == 1
    assert r"where g is \x1b]0;title\x07" in done.err
