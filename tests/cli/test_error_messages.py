"""Errors, warnings and verdicts in the words of the command line."""

import re
import warnings

import pytest

from balframe.cli import method_commands
from balframe.cli.options import parameter_options
from balframe.cli.run import write_parameter
from balframe.errors import BalframeWarning, Message, Spelled
from balframe.methods import declarations
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

LABELS = "--y-true y --y-pred p"
STREAM = "--time d --every 1d --baseline 2020-01-01"
SCORES = "--y-true y --y-score s --pos-label yes"
NAMES = {name for method in declarations().values() for name in method.parameters}
OF_PYTHON = re.compile(
    rf"\b({'|'.join(sorted(NAMES))}|where|reason)=(?!=)"
    r"""|\bbf\.|\(["']|\bpl\.|\bdf\.|\bNone\b|\bTrue\b|\['|DataFrame|\bdict\b|give a mapping\b"""
)
TABLE = """y,p,q,g,h,s,w,f,d,n
yes,yes,no,a,x,0.9,0.5,0.25,2020-01-01,1
yes,no,no,a,y,0.4,-1,0.5,2020-01-02,2
no,no,yes,b,x,1.2,1,0.75,2020-01-03,3
no,no,no,rest,y,0.1,2,0.125,2020-01-04,0
"""
OF_ALL = [
    "--by nope",
    "--by g --by g",
    "--by y --by model",
    "--sample-weight w",
    "--sample-weight g",
    "--counts g",
    "--counts w",
    "--counts n --sample-weight w --by q",
    "--label yes",
    "--label yes --label yes",
    "--label 1 --label 0.5",
    "--pos-label nix",
    "--missing keep",
    "--max-cells 0",
    "--max-cells x",
    "--max-cells 1 --by g --by h --by d",
    "--margins some",
    "--sort nope",
    "--format junit",
    "--format xml",
    "--out x.zip",
    "--out x",
    "--out no/x.csv",
    "--y-true f",
    "--y-true nope",
]
OF_LABELS = [
    "--cells",
    "--cells --counts n",
    "--y-pred f",
    "--y-pred s",
    "--y-pred p",
    "--metric nope",
    "--metric recall",
    "--metric f1 --metric f1",
    "--metric baw",
    "--metric fbeta",
    "--metric acc=accuracy --metric acc=f1",
    "--class-weight yes=1",
    "--class-weight yes=-1 --class-weight no=1",
    "--class-weight yes=0 --class-weight no=0",
    "--class-weight even",
    "--level 95",
    "--level high",
    "--interval-method wald",
    "--interval wilson",
    "--layout tall",
    "--absent drop",
    "--prior even",
    "--adjust x",
    "--decide x",
    "--min-support -1",
    "--reference best --metric prevalence --pos-label yes",
    "--reference a --by g --by h",
    "--reference rest",
    "--above 2",
    "--normalize x",
]
OF_TIMES = [
    "--time d",
    "--every 1w",
    "--time nope --every 1w",
    "--time g --every 1w",
    "--time s --every 1w",
    "--time d --every 1h",
    "--time d --every 0d",
]
OF_STREAMS = [
    *OF_TIMES[2:],
    "--baseline soon",
    "--baseline 2019-12-31",
    "--baseline 2020-01-03",
    "--baseline absent.parquet",
    "--baseline data.csv",
    "--baseline cells.csv",
    "--tolerance 0",
    "--level 0.5",
    "--looks 0",
    "--exclude soon",
    "--exclude 2020-13-01",
    "--metric f1 --pos-label yes",
    "--metric prevalence --pos-label yes",
]
OF_SCORES = [
    "--y-score g",
    "--thresholds x",
    "--thresholds 1",
    "--thresholds 5",
    "--thresholds nan,1",
    "--thresholds quantiles,1",
    "--band --level 2",
    "--metric prevalence",
]
RULES = {
    "not toml": "rules = [",
    "none": "rules = []",
    "a number": "rules = 3",
    "twice": 'rules = ["n > 1", "n > 1"]',
    "no such key": 'rules = [{rul = "n > 1"}]',
    "no rule": 'rules = [{where = {g = "a"}}]',
    "where is no table": 'rules = [{rule = "n > 1", where = 3}]',
    "where has no such column": 'rules = [{rule = "n > 1", where = {zz = "a"}}]',
    "where has no such value": 'rules = [{rule = "n > 1", where = {g = "zz"}}]',
    "reason is no text": 'rules = [{rule = "n > 1", reason = 3}]',
    "beside": 'x = 1\nrules = ["n > 1"]',
    "rest of a rule": 'rules = ["n > 1 and n > 2"]',
}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(TABLE)
    (tmp_path / "cells.csv").write_text("h,y,p,n\nx,yes,yes,1\n")


def wrong_calls():
    """List wrong calls of every command, of the options that it has."""
    for name, method in declarations().items():
        if name == "combine":
            continue
        is_of_scores = "y_score" in method.parameters
        has = {option for one in parameter_options(method.parameters) for option in names(one)}
        has |= {"--sort", "--format", "--out"} if method.layouts else set()
        needed = SCORES if is_of_scores else LABELS
        wrongs = OF_ALL + (OF_SCORES if is_of_scores else OF_LABELS)
        for wrong in wrongs + (OF_STREAMS if name == "monitor" else OF_TIMES):
            if {word for word in wrong.split() if word.startswith("--")} <= has:
                rule = " --rule n>1" if "--rule" in has else ""
                models = " --y-pred q" if name == "compare" else ""
                models = " --baseline q" if name == "diff" else models
                by = " --by g" if "--by" not in wrong else ""
                stream = f" {STREAM}" if name == "monitor" else ""
                if "--baseline" in wrong:
                    stream = stream.partition(" --baseline")[0]
                line = f"data.csv {needed}{stream}{models}{by}{rule} {wrong}"
                yield f"{name.replace('_', '-')} {line}"


def names(one):
    return [f"--{option.name.replace('_', '-')}" for option in one.options({})]


def assert_is_typed(done):
    assert done.code in (0, 1, 2, 3)
    assert "Traceback" not in done.err
    assert OF_PYTHON.search(done.err) is None, done.err
    if done.code == 2:
        (line,) = done.err.splitlines()
        assert line.startswith("balframe: ")


def test_error_messages_have_no_python_syntax(run, data):
    codes = []

    @cases("call", wrong_calls())
    def run_call(call):
        done = run(*call.split())
        codes.append(done.code)
        assert_is_typed(done)

    run_call()
    assert codes.count(2) > 0.8 * len(codes)


@cases("text", RULES.values())
@cases("command", ["check", "require"])
def test_error_messages_on_rule_files_have_no_python_syntax(run, data, tmp_path, command, text):
    (tmp_path / "gate.toml").write_text(text)

    done = run(command, "data.csv", *LABELS.split(), "--by", "g", "--rules", "gate.toml")

    assert done.code == 2
    assert_is_typed(done)


@cases(
    ("call", "parts"),
    [
        (
            "curve SCORES --thresholds 5",
            ["or --thresholds quantiles,10 to take them from the scores"],
        ),
        ("report LABELS --label yes --label nix", ["--label 'yes' --label 'nix'"]),
        (
            "report LABELS --class-weight yes=0 --class-weight no=0",
            ["--class-weight 'yes=0.0' --class-weight 'no=0.0' has no weight above 0"],
        ),
        ("gaps LABELS --by g --by h --reference a", ["give one of 'rest', 'overall'"]),
        ("gaps LABELS --by g --reference rest", ["value of column 'g'. Rename it in the data"]),
        ("report LABELS --by p --metric accuracy --by n", ["for example to 'n_'"]),
        ("report LABELS --max-cells x", ["'--max-cells': ", "a whole number."]),
        ("report LABELS --metric acc=f1 --metric acc=mcc", ["two metrics the same name"]),
        ("report LABELS --metric a=b=f1", ["--metric 'a=b=f1' has more than one =; give a metric"]),
        ("report LABELS --metric a==f1", ["--metric 'a==f1' has more than one ="]),
    ],
)
def test_advice_in_error_messages_is_valid_command_line_syntax(refused, data, call, parts):
    command, *arguments = call.replace("LABELS", LABELS).replace("SCORES", SCORES).split()

    line = refused(command, "data.csv", *arguments)

    assert all(part in line for part in parts), line


@cases(
    ("name", "value", "text"),
    [
        ("by", None, "--by"),
        ("cells", "True", "--cells"),
        ("adjust", "None", "--adjust none"),
        ("level", "1.2", "--level 1.2"),
        ("missing", "drop", "--missing drop"),
        ("pos_label", "'a b'", "--pos-label 'a b'"),
        ("labels", "['a', 1]", "--label 'a' --label 1"),
        ("metrics", "['f1']", "--metric 'f1'"),
        ("class_weight", "{'a': 1.0}", "--class-weight 'a=1.0'"),
        ("thresholds", "('quantiles', 1)", "--thresholds quantiles,1"),
        ("thresholds", "[0.2, 0.5]", "--thresholds 0.2,0.5"),
        ("labels", "[datetime.date(2020, 1, 1)]", "--label [datetime.date(2020, 1, 1)]"),
    ],
)
def test_parameters_are_written_as_command_line_options(name, value, text):
    assert write_parameter(name, value) == text


def warned(method, rows, given):
    pair = Spelled("(1, 2)", "1,2")
    message = Message("{y_pred} is odd: give {}.\nMore.", pair, y_pred="s")
    warnings.warn(BalframeWarning(message), stacklevel=2)
    warnings.warn(BalframeWarning(message), stacklevel=2)
    result = method.function(rows, "y", "p", by="g", rules="n >= 0")
    return method_commands._Call(result, rows, {})


def test_warnings_are_one_line_and_name_command_line_options(run, data, monkeypatch):
    monkeypatch.setattr(method_commands, "_call", warned)

    done = run("check", "data.csv", *LABELS.split(), "--rule", "n >= 0")

    assert done.err.splitlines() == [
        "balframe: warning: --y-pred 's' is odd: give 1,2.",
        "3 pass, 0 fail, 0 inconclusive",
    ]
    assert done.code == 0
    assert done.out.startswith("g,rule,estimate")


def test_warnings_of_other_libraries_are_not_rewritten(run, data, monkeypatch):
    def asked(method, rows, given):
        warnings.warn("of others", FutureWarning, stacklevel=1)
        return method_commands._Call(method.function(rows, "y", "p"), rows, {})

    monkeypatch.setattr(method_commands, "_call", asked)

    with pytest.warns(FutureWarning, match="of others"):
        assert run("report", "data.csv", *LABELS.split()).code == 0


@pytest.mark.parametrize("more", [[], ["--format", "json"], ["--out", "out.csv"]])
def test_check_ends_with_the_number_of_each_verdict(run, data, more):
    rules = ["--rule", "n >= 2", "--rule", "accuracy >= 0.9", "--by", "g"]

    done = run("check", "data.csv", *LABELS.split(), *rules, *more)

    # n is 2, 1 and 1; one or two rows decide nothing about an accuracy
    assert done.err == "1 pass, 2 fail, 3 inconclusive\n"
    assert "inconclusive," not in done.out.splitlines()[-1:]
    assert done.code == 1


def test_require_writes_no_verdict_counts(run, data):
    done = run("require", "data.csv", *LABELS.split(), "--rule", "n >= 1")

    assert (done.code, done.out, done.err) == (0, "", "")


@cases(
    ("names_typed", "value"),
    [
        (["f1"], "f1"),
        (["all"], "all"),
        (["fairness", "f1"], ["fairness", "f1"]),
        (["acc=accuracy"], {"acc": "accuracy"}),
        (["hit rate=recall", "f1"], {"hit rate": "recall", "f1": "f1"}),
    ],
)
def test_metrics_are_parsed_as_names_lists_or_renamings(names_typed, value):
    parameters = declarations()["report"].parameters
    (options,) = parameter_options({"metrics": parameters["metrics"]})

    assert options.parser.parse(None, names_typed) == value
