"""Every command with every option, beside the call of Python that it stands for."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.methods import declarations

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
        "--interval-method jeffreys_posterior": {
            "interval": "jeffreys_posterior",
        },
        "--absent zero --label yes --label no --label none": {
            "labels": bf.label_set(THREE["labels"], absent="zero"),
        },
        "--time d --every 2w --by g": {"by": ["g", bf.period("d", "2w")]},
        "--by g --by s --bins s=0.25,0.5": {"by": ["g", bf.bins("s", [0.25, 0.5])]},
    },
    "monitor": {
        "": {},
        "--by g --metric recall --metric acc=accuracy --pos-label yes": {
            "by": "g",
            "metrics": {"recall": "recall", "acc": "accuracy"},
            "pos_label": "yes",
        },
        "--tolerance 0.1 --looks 12 --level 0.8": {
            "tolerance": 0.1,
            "looks": 12,
            "level": 0.8,
        },
        "--exclude 2026-01-13 --exclude 2026-12-25 --every 2d": {
            "exclude": ["2026-01-13", "2026-12-25"],
            "time": bf.period("d", "2d"),
        },
        "--by g --by sex --adjust none": {"by": ["g", "sex"], "adjust": None},
        "--dispersion estimate --every 1d": {
            "dispersion": "estimate",
            "time": bf.period("d", "1d"),
        },
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
        "--counts k --missing drop --baseline q": {
            "counts": "k",
            "missing": "drop",
            "baseline": "q",
        },
    },
    "diff": {
        "--by sex --cluster k": {"by": "sex", "cluster": "k"},
        "": {},
        "--by g --adjust holm --level 0.9": {"by": "g", "adjust": "holm", "level": 0.9},
        "--by g --metric recall --pos-label yes": {
            "by": "g",
            "metrics": "recall",
            "pos_label": "yes",
        },
        "--by g --margins overall --class-weight balanced": {
            "by": "g",
            "margins": "overall",
            "class_weight": "balanced",
        },
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
        "--by g --time d --every 1mo": {"by": ["g", bf.period("d", "1mo")]},
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
    "diff-slices": {
        "--over g --over sex --min-support 3 --level 0.3": {
            "over": ["g", "sex"],
            "min_support": 3,
            "level": 0.3,
        },
        "--over g --metric recall --pos-label yes --min-support 3 --depth 1 --level 0.1": {
            "over": "g",
            "metrics": "recall",
            "pos_label": "yes",
            "min_support": 3,
            "depth": 1,
            "level": 0.1,
        },
    },
    "slices": {
        "--over g --over sex --metric f1 --pos-label yes --min-support 3": {
            "over": ["g", "sex"],
            "metrics": "f1",
            "pos_label": "yes",
            "min_support": 3,
        },
        "--over g --metric accuracy --sample-weight w --min-support 3 --top 1 --depth 1": {
            "over": "g",
            "metrics": "accuracy",
            "sample_weight": "w",
            "min_support": 3,
            "top": 1,
            "depth": 1,
        },
        "--over sex --over s --metric accuracy --level 0.01 --min-support 6 --order impact": {
            "over": ["sex", "s"],
            "metrics": "accuracy",
            "level": 0.01,
            "min_support": 6,
            "order": "impact",
        },
        "--over s --over t --bins s=0.25,0.5 --bins t=0.4, --metric acc --min-support 3": {
            "over": ["s", "t"],
            "bins": {"s": [0.25, 0.5], "t": [0.4]},
            "metrics": "acc",
            "min_support": 3,
        },
        "--over s --bins none --metric accuracy --sample-weight w --min-support 6 --counts k": {
            "over": "s",
            "bins": None,
            "sample_weight": "w",
            "min_support": 6,
            "counts": "k",
            "metrics": "accuracy",
        },
        "--over s --over g --min-support 5 --sample-weight w --metric acc --min-difference 0.1": {
            "over": ["s", "g"],
            "min_support": 5,
            "sample_weight": "w",
            "metrics": "acc",
            "min_difference": 0.1,
        },
    },
    "check": {
        "--decide estimate --by g": {"level": None},
        "--adjust none --level 0.8 --by g": {"adjust": None, "level": 0.8},
        "--min-support 15 --by g": {"min_support": 15},
        "--absent skip --by g --rule uar>=0.4": {
            "labels": bf.label_set(absent="skip"),
            "rules": ["accuracy>=0.6", "uar>=0.4"],
        },
        "--rule baw>=0.4 --class-weight balanced --by g": {
            "rules": ["accuracy>=0.6", "baw>=0.4"],
            "class_weight": "balanced",
        },
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
            "labels": bf.label_set(absent="skip"),
            "power": 0.7,
        },
        "--rule uar>=baseline-0.1 --baseline q": {
            "rules": ["accuracy>=0.6", "uar>=baseline-0.1"],
            "baseline": "q",
        },
        "--rule baw>=baseline-0.1 --disagreement 0.2 --class-weight balanced": {
            "rules": ["accuracy>=0.6", "baw>=baseline-0.1"],
            "design": bf.design(disagreement=0.2),
            "class_weight": "balanced",
        },
    },
    "curve": {
        "": {},
        "--thresholds 5 --by g": {"thresholds": 5, "by": "g"},
        "--thresholds 0.25,0.5": {"thresholds": [0.25, 0.5]},
        "--thresholds 0.5": {"thresholds": [0.5]},
        "--thresholds quantiles,4": {"thresholds": ("quantiles", 4)},
        "--thresholds all": {"thresholds": "all"},
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
        "--metric f1 --thresholds 11": {"metrics": "f1", "thresholds": 11},
        "--metric weighted_balanced_accuracy --class-weight balanced": {
            "metrics": "weighted_balanced_accuracy",
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
    if {"cells", "by"} <= method.parameters.keys()
    and command not in ("fairness", "diff")  # of two labels alone, or of two runs
]
CASES = [(command, *case) for command in OWN for case in OWN[command].items()]
CASES += [
    (command, text, options)
    for command in ON_LABELS
    for text, options in ALIKE.items()
    if options.keys() <= WITH_ANSWER[command].parameters.keys()
]


ALIKE_PERIODS = ["--dispersion", "none"]  # of a baseline of few weeks


def is_on_scores(command):
    """Whether a command reads scores, and not predictions."""
    parameters = WITH_ANSWER[command].parameters
    return "y_score" in parameters and "y_pred" not in parameters


def columns_of(command):
    if is_on_scores(command):
        return SCORES
    if command == "impact":
        return ["--selected", "p", "--pos-label", "yes", "--favourable", "selected"]
    more = {
        "compare": ["--y-pred", "q"],
        "diff": ["--baseline", "q"],
        "diff-slices": ["--baseline", "q"],
        "fairness": ["--pos-label", "yes"],
        "monitor": ["--time", "d", "--every", "1w", "--baseline", "2026-01-18", *ALIKE_PERIODS],
    }
    return LABELS + more.get(command, [])


def called(command, table, options):
    """Give the result of the method itself."""
    parameters = WITH_ANSWER[command].parameters
    options = options | {"detail": True} if "detail" in parameters else options
    if is_on_scores(command):
        given = {"y_true": "y", "y_score": "s", "pos_label": "yes"}
    elif command == "impact":
        given = {"selected": "p", "pos_label": "yes", "favourable": "selected"}
    else:
        given = {"y_true": "y", "y_pred": ["p", "q"] if command == "compare" else "p"}
    if command in ("diff", "diff-slices"):
        given["baseline"] = "q"
    if command == "fairness":
        given["pos_label"] = "yes"
    if command == "monitor":
        given |= {"time": bf.period("d", "1w"), "baseline": "2026-01-18"}
        given["dispersion"] = None
    if "rules" in parameters:
        given["rules"] = ["accuracy>=0.6"]
    if command == "check" or ("by" in parameters and parameters["by"].is_required):
        given["by"] = "g"
    return getattr(bf, command.replace("-", "_"))(table, **given | options)


def test_every_command_with_a_result_has_test_options():
    assert OWN.keys() == WITH_ANSWER.keys()


def tally(command, result):
    """Count verdicts as the line on standard error does."""
    if command == "diff":
        return f"p against q: {counted(result, ('better', 'worse', 'not decided'))}\n"
    if command == "diff-slices":
        return f"p against q: {len(result)} slice{'' if len(result) == 1 else 's'} listed\n"
    if command == "monitor":
        of_monitor = ("ok", "alarm", "inconclusive")
        last = result["period"].max()
        latest = counted(result.filter(pl.col("period") == last), of_monitor)
        return f"last period {last}: {latest}; all periods: {counted(result, of_monitor)}\n"
    if command != "check":
        return ""
    return counted(result, ("pass", "fail", "inconclusive")) + "\n"


def counted(result, words):
    statuses = result["status" if "status" in result.columns else "verdict"].to_list()
    return ", ".join(f"{statuses.count(one)} {one}" for one in words)


@pytest.mark.filterwarnings("ignore:no slice is listed")
@pytest.mark.parametrize(
    ("command", "text", "options"), CASES, ids=[f"{one[0]} {one[1]}" for one in CASES]
)
def test_every_option_reaches_its_method(run, people, table, tmp_path, command, text, options):
    out = tmp_path / "out.parquet"
    has_rules = "rules" in WITH_ANSWER[command].parameters
    rule = ["--rule", "accuracy>=0.6"] if has_rules else []

    words = text.split()
    columns = columns_of(command)
    needed = [
        word
        for name, value in zip(columns[::2], columns[1::2], strict=True)
        if name not in words or name in ("--y-pred", "--y-score", "--selected")  # which repeat
        for word in (name, value)
    ]
    done = run(command, people, *needed, *rule, *words, "--out", out)

    written = pl.read_parquet(out)
    warning = ""
    if command == "diff-slices" and written.is_empty():
        warning = done.err.splitlines(keepends=True)[0]
        assert "no slice is listed" in warning
    assert (done.out, done.err) == ("", warning + tally(command, written))
    assert done.code in {"check": (0, 1, 3), "monitor": (0, 1, 3)}.get(command, (0,))
    assert_frame_equal(written, called(command, table, options))
