import inspect
import re
import shlex
from itertools import pairwise
from pathlib import Path

import click
import pytest

import balframe as bf
from balframe import accessor
from balframe.api.method import function_parameters
from balframe.cli.app import make_program
from balframe.cli.help_page import wrapped
from balframe.cli.options import parameter_options
from balframe.methods import declarations
from tests.support.cases import cases

METHODS = accessor.public_functions()
NAMES = accessor.methods()
GATES = ["check", "require"]
COMMANDS = [*(method.replace("_", "-") for method in METHODS), "metrics", "demo"]
TYPED = {  # what stands behind an option in the help
    "--y-true": "COLUMN",
    "--by": "COLUMN",
    "--metric": "METRIC",
    "--level": "NUMBER",
    "--max-cells": "NUMBER",
    "--pos-label": "LABEL",
    "--class-weight": "LABEL=NUMBER",
    "--missing": "raise|drop",
    "--margins": "overall|all",
    "--interval-method": "METHOD",
    "--rule": "RULE",
    "--rules": "FILE",
    "--format": "FORMAT",
    "--out": "FILE",
    "--sort": "COLUMN",
    "--reference": "SEGMENT",
    "--time": "COLUMN",
    "--every": "LENGTH",
    "--title": "TEXT",
    "--unit": "ONE,MANY",
    "--thresholds": "THRESHOLDS",
    "--cells": "Read",  # a flag: its sentence begins
    "--interval": "--no-interval",
    "--help": "Show",
}
TYPED_IN_REPORT = TYPED | {"--missing": "CHOICE"}  # of three or four
TYPED_IN_GATES = TYPED_IN_REPORT | {"--interval": "CHOICE"}  # a method there
TYPED_IN_MONITOR = TYPED | {"--baseline": "DATE|FILE", "--exclude": "DATE"}
TYPED_IN = dict.fromkeys(GATES, TYPED_IN_GATES)
TYPED_IN |= dict.fromkeys(
    ["report", "classes", "gaps", "disparity", "power", "confusion", "audit"], TYPED_IN_REPORT
)
TYPED_IN |= {"monitor": TYPED_IN_MONITOR}
OF_PYTHON = {"frame", "backend", "design", "words"}  # parameters that are no options
NAMED_ONE_BY_ONE = {"metrics": "metric", "labels": "label"}


_HELP = {}  # by the commands that there are, and the one that was asked for


@pytest.fixture
def help_of(run, monkeypatch):
    """Give what --help says on a wide terminal, which is written once for all tests."""
    monkeypatch.setenv("COLUMNS", "200")

    def said(*command):
        key = (*accessor.methods(), *command)
        if key not in _HELP:
            done = run(*command, "--help")
            assert (done.code, done.err) == (0, "")
            _HELP[key] = done.out
        return _HELP[key]

    return said


def option_of(name):
    return "--" + NAMED_ONE_BY_ONE.get(name, name).replace("_", "-")


@cases("method", METHODS)
def test_every_command_has_the_options_of_its_method(help_of, method):
    told = help_of(method.replace("_", "-"))

    parameters = set(inspect.signature(getattr(bf, method)).parameters) - OF_PYTHON
    assert {option_of(name) for name in parameters} <= set(told.split())
    assert "--help" in told.split()


def test_no_command_has_two_options_of_one_name():
    program = make_program()
    context = click.Context(program)
    for name in program.list_commands(context):
        names = [text for param in program.get_command(context, name).params for text in param.opts]
        assert len({*names}) == len(names) > 2, (name, names)


@cases("name", NAMES)
def test_only_commands_with_a_result_have_output_options(help_of, name):
    told = set(help_of(name.replace("_", "-")).split())

    has_result = bool(declarations()[name].layouts)
    assert [name in told for name in ("--format", "--out", "--sort")] == [has_result] * 3


def test_only_commands_with_verdicts_list_their_formats(help_of):
    with_junit = {name for name in COMMANDS if "junit" in help_of(name)}

    assert with_junit == {"check", "monitor"}


@cases("method", METHODS)
def test_help_states_purpose_and_required_options_of_every_command(help_of, method):
    told = help_of(method.replace("_", "-"))

    usage, does, *_ = re.split("\n *\n", told.strip())
    parameters = function_parameters(getattr(bf, method))
    needs = "--y-true COLUMN --y-" if "y_true" in parameters else "--by COLUMN"
    if "y_score" in parameters and not any(
        parameters[name].is_required for name in ("y_pred", "y_score") if name in parameters
    ):  # one of both is given
        needs = "--y-true COLUMN [OPTIONS]"
    assert usage.startswith(f"Usage: balframe {method.replace('_', '-')} FILES... {needs}")
    assert usage.split()[-1] == "[OPTIONS]"
    assert does.strip().endswith(".")
    options = {line.strip("│* ").split(" ")[0]: line for line in told.splitlines()[2:]}
    needed = options[needs.split()[0]]
    assert "COLUMN" in needed
    assert "[required]" in needed


@cases("method", METHODS)
def test_help_has_no_python_syntax(help_of, method):
    told = help_of(method.replace("_", "-"))

    parameters = function_parameters(getattr(bf, method))
    assert not [name for name in parameters if f"`{name}`" in told]
    assert not [word for word in ("bf.", "None", "=True", "a list", "DataFrame") if word in told]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", ["80", "160"])
def test_help_states_the_value_type_of_every_option(run, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    told = run(command, "--help").out

    panels = told.partition("─ Examples")[0]
    lines = [line.strip("│ ").removeprefix("* ").split() for line in panels.splitlines()]
    options = [words for words in lines if words and words[0].startswith("--")]
    assert not re.findall("<[a-z]|BOOLEAN|list\\[|…", told)
    expected = TYPED_IN.get(command, TYPED)
    shown = {words[0]: words[1] for words in options if words[0] in expected}
    assert shown == {name: expected[name] for name in shown}
    assert {"--help"} <= shown.keys()
    assert all(len(line) <= int(columns) for line in told.splitlines())


@pytest.mark.parametrize("columns", ["80", "160"])
def test_help_of_the_program_has_no_value_type_for_flags(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)

    assert not re.findall("<[a-z]|BOOLEAN", run("--help").out)


@cases("method", METHODS)
def test_help_of_every_option_is_a_complete_sentence(method):
    declared = function_parameters(getattr(bf, method))
    for options in parameter_options(declared):
        for option in options.options(declared):
            assert option.help[0].isupper(), option.help
            assert option.help.endswith("."), option.help
            assert "gain for" not in option.help  # "again for", "Again for"


@pytest.mark.parametrize("name", GATES)
def test_help_of_check_and_require_explains_exit_codes(help_of, name):
    told = " ".join(help_of(name).split())

    assert (
        "Exit code: 0 if every verdict is pass; 1 if any is fail; 3 if none is fail but any "
        "is inconclusive, or if there are no rows to judge; 2 if the usage or the input is invalid."
    ) in told


def test_help_of_monitor_explains_exit_codes_of_the_last_period(help_of):
    told = " ".join(help_of("monitor").split())

    assert (
        "Exit code: 1 if the status of any segment in the last period is alarm; 3 if none is "
        "alarm but any has no rows there and is inconclusive; otherwise 0; 2 if the usage or the "
        "input is invalid."
    ) in told


def test_help_groups_the_options_on_time(help_of):
    _, panel = help_of("monitor").split("╭─ Time", 1)
    shown = re.findall(r"^│ *\*? *(--[a-z-]+)", panel.partition("╰")[0], re.MULTILINE)
    assert (shown[:2], shown[-1]) == (["--time", "--every"], "--looks")
    for name in ("report", "gaps"):
        shown = re.findall(r"^│ *\*? *(--[a-z-]+)", help_of(name), re.MULTILINE)
        at = shown.index("--by")
        assert shown[at : at + 4] == ["--by", "--bins", "--time", "--every"]


@cases(
    ("command", "option", "title"),
    [
        ("impact", "--selected", "Columns"),
        ("audit", "--selected", "Page"),
        ("audit", "--favourable", "Rows and labels"),
        ("audit", "--y-pred", "Columns"),
    ],
)
def test_words_of_a_page_are_not_among_the_columns(help_of, command, option, title):
    panels = re.findall(r"╭─ ([\w ]+) ─(.*?)╰", help_of(command), re.DOTALL)

    shown_in = [name for name, panel in panels if re.search(rf"│ *\*? *{option} ", panel)]
    assert shown_in == [title]


def test_only_gates_monitor_and_diff_have_exit_codes_of_their_own(help_of):
    told = [name for name in NAMES if "Exit code" in help_of(name.replace("_", "-"))]

    assert told == ["monitor", "diff", *GATES]


def test_the_commands_are_grouped_as_the_methods_are(help_of):
    told = help_of()

    titles = [line.strip("╭╮─ ") for line in told.splitlines() if line.startswith("╭")]
    groups = [group.title() for group in accessor.groups(accessor.Bal)]
    assert titles == ["Options", *groups, "Without files"]


def test_new_method_file_is_enough_to_add_a_command(help_of, run, toy_method, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("g,y,p\na,1,0\na,0,1\na,1,1\nb,1,1\nb,1,0\n")
    columns = ["--y-true", "y", "--y-pred", "p", "--by", "g"]

    told = help_of("error-count")
    listed = help_of()
    done = run("error-count", path, *columns, "--at-least", "2")

    (line,) = [line for line in told.splitlines() if "--at-least" in line]
    parameter = toy_method.parameters["at_least"]
    assert "Count the rows of every segment that are predicted wrong." in told
    assert "error-count" in listed
    assert all(part in line for part in (parameter.first_sentence, "[default: 0]"))
    assert {option_of(name) for name in toy_method.parameters.keys() - OF_PYTHON} <= set(
        told.split()
    )
    assert (done.code, done.err) == (0, "")
    assert done.out == "g,n,errors\na,3,2\n"


def test_toy_method_is_removed_after_its_test(run):
    assert run("error-count").code == 2


@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_commands_without_files_have_the_options_of_the_output(help_of, command):
    assert {"--format", "--out", "--sort"} <= set(help_of(command).split())


def test_program_without_arguments_prints_help_and_exits_with_2(run):
    done = run()

    assert done.code == 2  # a script that calls it so has lost its arguments
    assert "best-threshold" in done.out + done.err
    assert "Traceback" not in done.err


PREDICTIONS = """actual,predicted,other,score,group,age,day
""" + "".join(
    f"{i % 2},{(i % 2) ^ (i % 7 == 0)},{(i % 2) ^ (i % 5 == 0)},{(i % 2) * 0.4 + (i % 6) / 10},"
    f"{'ab'[i % 3 == 0]},{20 + i % 40},2026-{1 + i // 40:02}-{1 + i % 28:02}\n"
    for i in range(400)
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_in_the_help_run(run, help_of, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    for name in ("predictions", "old", "new"):
        (tmp_path / f"{name}.csv").write_text(PREDICTIONS)

    _, panel = help_of(command).split("─ Examples", 1)

    lines = [line.strip("│ ") for line in panel.partition("╰")[0].splitlines()[1:]]
    examples = [
        shlex.split(line) for line in " ".join(lines).replace("\\ ", " ").split("balframe ")[1:]
    ]
    assert len({*map(tuple, examples)}) == len(examples) == 2
    for words in examples:
        assert words[0] == command
        done = run(*words)
        codes = (0, 1, 3) if command in (*GATES, "monitor") else (0,)
        assert done.code in codes, (words, done.err)
        outs = [value for name, value in pairwise(words) if name == "--out"]
        assert all((tmp_path / out).stat().st_size for out in outs)


def test_examples_break_where_a_shell_reads_on():
    command = "balframe check predictions.csv --y-true actual --rule 'accuracy >= 0.7'"

    text = wrapped(command, 50)

    assert text.splitlines() == [
        "balframe check predictions.csv --y-true actual \\",
        "    --rule 'accuracy >= 0.7'",
    ]
    assert shlex.split(text.replace("\\\n", "")) == shlex.split(command)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_says_where_the_docs_are(help_of, command):
    words = " ".join(help_of(*command).split())

    (path,) = re.findall(r"Documentation: (\S+) in the repository", words)
    assert (Path(__file__).parents[2] / path).is_file()
