"""The configuration file: what it sets, what wins, and what is refused."""

import csv
import io
import os
import tomllib
from pathlib import Path

import click
import pytest

from balframe.cli.app import make_program
from balframe.cli.command import CommandOption
from balframe.cli.config.configured_command import ConfiguredCommand
from balframe.cli.toml.forms import typed_value
from tests.support.cases import cases

# In a, 3 of 4 rows are right and 1 of 2 positives are found; in b, 3 of 4 and 2 of 2.
ROWS = """g,h,y,p,q
a,x,1,1,1
a,x,1,0,1
a,z,0,0,0
a,z,0,0,0
b,x,1,1,0
b,x,1,1,0
b,z,0,1,0
b,z,0,0,0
"""
COLUMNS = 'y_true = "y"\ny_pred = "p"\n'
REPORT = f'{COLUMNS}files = "rows.csv"\nby = "g"\nmetric = "accuracy"\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with data, in which the program is started."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "rows.csv").write_text(ROWS)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def configured(project):
    """Write the configuration of the project."""

    def write(text, name="balframe.toml"):
        (project / name).write_text(text)
        return project / name

    return write


def rows_of(done):
    assert done.code in (0, 1, 3), done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def column(done, name):
    return [row[name] for row in rows_of(done)]


# Where it is.


def test_files_and_options_come_from_the_configuration(run, configured):
    configured(REPORT)

    done = run("report")

    assert [(row["g"], row["accuracy"]) for row in rows_of(done)] == [("a", "0.75"), ("b", "0.75")]
    assert done.err == ""


def test_pyproject_has_it_in_a_table(run, configured):
    configured('[project]\nname = "x"\n', "pyproject.toml")
    assert run("report", "rows.csv", "--y-true", "y").code == 2  # --y-pred is missing
    lines = [line for line in REPORT.splitlines() if "=" in line]
    configured(
        "\n".join(["[tool.balframe]", *lines, '[tool.balframe.report]\nby = "h"']), "pyproject.toml"
    )

    assert column(run("report"), "h") == ["x", "z"]


def test_a_pyproject_that_does_not_mention_balframe_is_not_read(run, configured):
    configured("[broken", "pyproject.toml")

    assert run("report", "rows.csv", "--y-true", "y", "--y-pred", "p").code == 0


def test_it_is_found_above_with_paths_from_its_folder(run, configured, project, monkeypatch):
    configured(REPORT)
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")

    assert column(run("report"), "g") == ["a", "b"]


def test_it_is_not_looked_for_above_the_repository(refused, configured, project, monkeypatch):
    configured(REPORT)
    (project / "other" / ".git").mkdir(parents=True)
    monkeypatch.chdir(project / "other")

    assert refused("report").startswith("Missing FILES..., --y-true COLUMN, --y-pred COLUMN.")


def test_outside_of_a_repository_it_is_in_the_working_folder_only(
    run, configured, project, monkeypatch
):
    configured(REPORT)
    (project / ".git").rmdir()
    assert run("report").code == 0
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")

    assert run("report").code == 2


def test_two_configurations_of_a_folder_are_refused(refused, configured):
    configured(REPORT)
    configured("[tool.balframe]\n", "pyproject.toml")

    assert refused("report") == (
        "balframe.toml and pyproject.toml, [tool.balframe] are both configurations. Keep one, or "
        "name a file with --config."
    )


def test_a_named_file_takes_the_place_of_the_nearest(run, configured):
    configured(REPORT)
    path = configured(REPORT.replace('"g"', '"h"'), "other.toml")

    assert column(run("report", "--config", path), "h") == ["x", "z"]


def test_no_config_reads_none_even_if_it_is_broken(run, refused, configured):
    configured("[broken")
    typed = ["rows.csv", "--y-true", "y", "--y-pred", "p"]

    assert run("report", *typed, "--no-config").code == 0
    message = refused("report", *typed)
    assert message.startswith("the configuration balframe.toml cannot be read: ")
    assert message.endswith("Correct it, or give --no-config.")
    assert run("report", "--help").code == 0


@cases(
    ("words", "message"),
    [
        (["--config", "no.toml"], "the configuration no.toml cannot be read: No such file"),
        (["--config", "pyproject.toml"], "pyproject.toml has no table [tool.balframe]."),
        (["--config", "no.toml", "--no-config"], "--config and --no-config contradict each other"),
    ],
)
def test_a_named_file_must_be_a_configuration(refused, configured, words, message):
    configured('[project]\nname = "x"\n', "pyproject.toml")

    assert refused("report", *words).startswith(message)


def test_the_configuration_is_not_overwritten(refused, configured):
    path = configured(REPORT)
    before = path.read_text()

    message = refused("report", "--out", "balframe.toml", "--format", "csv")

    assert "'balframe.toml' is a file that this command reads" in message
    assert path.read_text() == before


# What wins.


def test_what_is_typed_wins_over_the_file(run, configured, project):
    configured(REPORT)
    (project / "more.csv").write_text("g,h,y,p\nc,x,1,0\n")

    assert column(run("report", "--by", "h"), "h") == ["x", "z"]
    assert column(run("report", "more.csv"), "g") == ["c"]
    assert "recall" in rows_of(run("report", "--metric", "recall"))[0]
    assert "accuracy" not in rows_of(run("report", "--metric", "recall"))[0]


def test_the_ending_of_a_typed_file_wins_over_a_configured_format(run, configured, project):
    configured(f'{REPORT}format = "table"\n')

    assert run("report").out.startswith("g ")
    assert run("report", "--out", "rates.json").code == 0
    assert run("report", "--out", "rates.txt").code == 0
    assert run("report", "--format", "csv", "--out", "other.json").code == 0
    first = [(project / name).read_text()[:2] for name in ("rates.json", "rates.txt", "other.json")]
    assert first == ["[{", "g ", "g,"]


def test_the_table_of_a_command_wins_over_the_top(run, configured):
    configured(f'{REPORT}\n[report]\nby = "h"\n[gaps]\nmetric = "recall"')

    assert column(run("report"), "h") == ["x", "z"]
    assert {*column(run("gaps"), "metric")} == {"recall"}


NAMED = f"""{REPORT}
[check]
rules = ["recall >= 0.1"]
decide = "estimate"
[check.nightly]
rule = "recall >= 0.9"
[check.by-h]
by = "h"
"""


@cases(
    ("words", "expected"),
    [
        ([], [("a", "recall >= 0.1", "pass"), ("b", "recall >= 0.1", "pass")]),
        (["nightly"], [("a", "recall >= 0.9", "fail"), ("b", "recall >= 0.9", "pass")]),
        (["--rule", "n >= 5"], [("a", "n >= 5", "fail"), ("b", "n >= 5", "fail")]),
        (["nightly", "--rule", "n >= 5"], [("a", "n >= 5", "fail"), ("b", "n >= 5", "fail")]),
        (["--rule", "n >= 4", "nightly"], [("a", "n >= 4", "pass"), ("b", "n >= 4", "pass")]),
    ],
)
def test_a_named_check_inherits_and_its_own_rules_replace_others(run, configured, words, expected):
    configured(NAMED)

    done = run("check", *words)

    assert [(row["g"], row["rule"], row["status"]) for row in rows_of(done)] == expected
    assert done.code == int("fail" in [status for *_, status in expected])


def test_a_named_check_may_have_other_segments_and_files(run, configured, project):
    configured(NAMED)
    (project / "more.csv").write_text("g,h,y,p\nc,v,1,1\n")

    assert column(run("check", "by-h", "--rule", "n >= 1"), "h") == ["x", "z"]
    assert column(run("check", "by-h", "more.csv", "--rule", "n >= 1"), "h") == ["v"]


def test_every_command_may_have_named_runs(run, configured):
    configured(f'{REPORT}\n[report.by-h]\nby = "h"')

    assert column(run("report", "by-h"), "h") == ["x", "z"]


def test_a_name_that_is_also_a_file_is_refused(run, refused, configured, project):
    configured(NAMED)
    (project / "nightly").write_text(ROWS)

    assert refused("check", "nightly") == (
        "'nightly' is a file, and also a name in balframe.toml, [check]. Give "
        f"{os.path.join('.', 'nightly')} for the file, or rename the table."
    )
    named = run("check", "./nightly", "--input-format", "csv")
    assert column(named, "rule") == ["recall >= 0.1"] * 2


def test_a_misspelled_name_is_refused_with_the_nearest(refused, configured):
    configured(NAMED)

    assert refused("check", "nightli") == (
        "'nightli' is neither a file nor a name in balframe.toml, [check]; did you mean "
        "'nightly'? Names: nightly, by-h."
    )


@cases(
    ("line", "message"),
    [
        ('expected = {g = ["a"]}', "'expected' is a table, not an option; did you mean 'expect'?"),
        ('expct = {g = ["a"]}', "'expct' is a table, not an option; did you mean 'expect'?"),
        ("class_weigth = {yes = 1}", "'class_weigth' is a table, not an option; did you mean 'cla"),
        ("[check.levels]\nby = 'g'", "'levels' is a table, not an option; did you mean 'level'?"),
        (
            'whatever = {race = ["a"], sx = 1}',
            "'whatever' is a table with the keys 'race', 'sx'. Keys of a named run are options, "
            "but these are not. As the value of an option: key 'whatever' not found",
        ),
    ],
)
def test_a_table_that_is_no_run_is_refused(refused, configured, line, message):
    configured(f'{REPORT}[check]\nrules = ["n >= 1"]\n{line}')

    for words in ([], ["nightly"]):
        assert refused("check", *words).startswith(f"balframe.toml, [check]: {message}")


def test_a_misspelled_key_of_any_run_is_refused(refused, configured):
    configured(f"{NAMED}levle = 0.9\n")

    message = "balframe.toml, [check.by-h]: key 'levle' not found; did you mean 'level'"
    assert refused("check", "nightly").startswith(message)


def test_a_run_cannot_have_the_name_of_an_option(refused, configured):
    configured(f'{REPORT}[check.level]\nrules = ["n >= 1"]')

    assert refused("check", "level") == (
        "'level' is not a file, and balframe.toml, [check.level] is the value of the option "
        "--level, not a named run. Give a file, or rename the table."
    )


def test_a_folder_with_the_name_of_a_run_is_called_a_folder(refused, configured, project):
    configured(NAMED)
    (project / "nightly").mkdir()

    assert refused("check", "nightly") == (
        "'nightly' is a folder, and also a name in balframe.toml, [check]. Give "
        f"{os.path.join('.', 'nightly')} for the folder, or rename the table."
    )


def test_a_named_run_without_files_is_refused(refused, configured):
    configured(f'{COLUMNS}[check.nightly]\nrule = "n >= 1"')

    assert refused("check", "nightly").startswith(
        "Missing FILES..., which balframe.toml, [check.nightly] does not name either."
    )


def test_flags_and_methods_of_intervals_replace_each_other(run, configured):
    configured(f'{REPORT}interval = "wilson"\n')

    assert "accuracy_lower" in rows_of(run("report"))[0]
    assert "accuracy_lower" not in rows_of(run("report", "--no-interval"))[0]


def test_an_empty_list_drops_what_is_inherited(run, configured):
    own = 'baseline = "missing.parquet"\nexpect = {g = ["a", "b", "c"]}\nrules = ["n >= 1"]'
    configured(f"{REPORT}level = 0.9\n[check]\n{own}\n[check.pr]\nbaseline = []\nexpect = []")

    done = run("check", "pr")
    assert column(done, "g") == ["a", "b"]
    assert done.code == 0

    configured(f"{REPORT}level = 0.9\nthresholds = []\n[report]\nlevel = []\nby = []")
    assert "level = 0.95  # default" in run("report", "--show-config").out
    assert len(rows_of(run("report"))) == 1


# Forms of values.


def report_with(run, configured, text, *words):
    configured(f"{COLUMNS}files = 'rows.csv'\n{text}")
    done = run("report", *words)
    assert (done.code, done.err) == (0, "")
    return rows_of(done)


def test_values_may_have_the_types_of_toml(run, configured):
    typed = ["rows.csv", "--no-config", "--y-true", "y", "--y-pred", "p"]
    for text, words in {
        "by = ['g', 'h']": ["--by", "g", "--by", "h"],
        "metrics = {acc = 'accuracy', rec = 'recall'}": [
            *("--metric", "acc=accuracy", "--metric", "rec=recall")
        ],
        "metric = ['recall']\npos-label = 0": ["--metric", "recall", "--pos-label", "0"],
        "interval = true\nlevel = 0.5": ["--interval", "--level", "0.5"],
        "class_weight = {1 = 3, 0 = 0.5}\nmetric='weighted_balanced_accuracy'": [
            *(
                "--class-weight",
                "1=3",
                "--class-weight",
                "0=0.5",
                "--metric",
                "weighted_balanced_accuracy",
            )
        ],
    }.items():
        assert report_with(run, configured, text) == rows_of(run("report", *typed, *words)), text


def option(command, name):
    program = make_program()
    params = program.get_command(click.Context(program), command).params
    return next(param for param in params if param.name == name)


@cases(
    ("command", "name", "value", "typed"),
    [
        ("curve", "thresholds", [0.5], "0.5"),
        ("curve", "thresholds", [1], "1.0"),  # 1 would be their number
        ("curve", "thresholds", 101, "101"),
        (
            "slices",
            "bins",
            {"age": [18, 25], "x": 4, "y": [3], "z": "none"},
            ["age=18,25", "x=4", "y=3,", "z=none"],
        ),
        ("check", "expect", {"race": ["a,b", "c", ""], "n": 3}, ['race="a,b",c,', "n=3"]),
        ("audit", "unit", ["person", "people"], "person,people"),
        ("audit", "intersection", [["sex", "race"], "a,b"], ["sex,race", "a,b"]),
        ("audit", "note", {"auditor": "J", "data": ["a", "b"]}, ["auditor=J", "data=a", "data=b"]),
        ("monitor", "baseline", tomllib.loads("d = 2026-03-31")["d"], "2026-03-31"),
        ("check", "pos_label", True, "true"),
        ("check", "level", 1, 1.0),
        ("check", "min_support", 3, 3),
        ("check", "cells", True, True),
    ],
)
def test_a_value_is_what_would_be_typed(command, name, value, typed):
    declared = option(command, name)

    assert typed_value(declared, value, "") == typed


def test_every_option_refuses_what_no_option_takes():
    program = make_program()
    context = click.Context(program)
    commands = [program.get_command(context, name) for name in program.list_commands(context)]
    options = [
        param
        for command in commands
        if isinstance(command, ConfiguredCommand)
        for param in command.params
        if isinstance(param, CommandOption) and param.expose_value
    ]
    assert len(options) > 300
    for declared in options:
        with pytest.raises(ValueError, match=r"text|number|date|one of|true or false"):
            typed_value(declared, [[object()]], "")


def test_paths_are_those_from_the_folder_of_the_file(run, configured, project, monkeypatch):
    (project / "rules").mkdir()
    (project / "rules" / "gate.toml").write_text('rules = ["n >= 5"]')
    (project / "old.csv").write_text("g,y,p\nc,1,1\n")
    configured(f'{REPORT}[check]\nrules = "rules/gate.toml"\nexpect = "old.csv"\nout = "out.csv"\n')
    monkeypatch.chdir(project / "rules")

    done = run("check")

    assert (done.code, done.out) == (1, "")
    rows = list(csv.DictReader(io.StringIO((project / "out.csv").read_text())))
    assert [(row["g"], row["rule"]) for row in rows] == [(g, "n >= 5") for g in "abc"]


def test_rules_may_be_tables_texts_and_files(run, configured, project):
    (project / "gate.toml").write_text('rules = ["n >= 5"]')
    configured(
        f"""{REPORT}
        [check]
        decide = "estimate"
        [[check.rules]]
        rule = "recall >= 0.9"
        where = {{g = "a"}}
        reason = "as ${{WORD:-agreed}}"
        """
    )
    done = run("check")
    assert [(row["g"], row["reason"]) for row in rows_of(done)] == [("a", "as agreed")]

    configured(f'{REPORT}[check]\nrules = ["n >= 1", "gate.toml", {{rule = "n < 9"}}]')
    assert column(run("check"), "rule") == ["n >= 1", "n >= 5", "n < 9"] * 2


def test_an_error_in_a_rule_names_the_table(refused, configured):
    configured(f'{REPORT}[check.nightly]\nrules = ["n >= 1", {{rule = "recal >= 1"}}]')

    message = refused("check", "nightly")

    assert message.startswith("balframe.toml, [check.nightly]: the rule 'recal >= 1' cannot be ")


def test_a_page_names_the_configuration_of_rules_that_cannot_be_typed(run, configured):
    pytest.importorskip("jinja2")
    own = 'rules = [{rule = "n >= 1"}]\nformat = "html"\n[audit.cover]\nauditor = "J. Doe"'
    configured(f"{REPORT}[audit.yearly]\n{own.replace('[audit.', '[audit.yearly.')}")

    done = run("audit", "yearly")

    assert done.code == 0, done.err
    assert "balframe audit yearly rows.csv" in done.out
    assert "--config balframe.toml" in done.out
    assert "auditor=J. Doe" in done.out.replace("&#39;", "")


# Variables.


def test_variables_of_the_environment_are_put_in_texts(run, configured, monkeypatch):
    monkeypatch.setenv("COLUMN_BY", "h")
    monkeypatch.setenv("EMPTY", "")
    configured(
        COLUMNS + 'files = "${EMPTY:-rows}.${SUFFIX:-csv}"\nby = "${COLUMN_BY}"\n'
        'level = "${LEVEL:-0.5}"\ninterval = "${INTERVAL:-true}"\n'
        'metrics = {"$${a}" = "accuracy"}\n'
    )
    monkeypatch.delenv("SUFFIX", raising=False)

    rows = rows_of(run("report"))

    assert [row["h"] for row in rows] == ["x", "z"]
    assert "$${a}_lower" in rows[0]  # keys stay as they are
    assert [row["$${a}"] for row in rows] == ["0.75", "0.75"]


def test_missing_variables_are_one_error(refused, configured, monkeypatch):
    for name in ("NO_DATA", "NO_BY"):
        monkeypatch.delenv(name, raising=False)
    configured(f'{COLUMNS}files = ["${{NO_DATA}}/a", "${{NO_DATA}}/b"]\nby = "${{NO_BY}}"\n')

    assert refused("report") == (
        "balframe.toml: the environment variables NO_DATA (in 'files'), NO_BY (in 'by') are not "
        "set. Set them, or give a default, as in ${NO_DATA:-text}."
    )


def test_variables_of_other_tables_need_not_be_set(run, configured, monkeypatch):
    monkeypatch.delenv("NO_DATA", raising=False)
    configured(f'{REPORT}[gaps]\nby = "${{NO_DATA}}"\n')

    assert run("report").code == 0
    assert run("gaps", "--by", "g").code == 0  # what is typed takes its place


@pytest.mark.parametrize("text", ["${", "${1}", "${a b}", "${A:default}"])
def test_what_looks_like_a_variable_is_refused(refused, configured, text):
    configured(f'{COLUMNS}files = "{text}"')

    assert "is not the name of an environment variable. Write ${NAME}" in refused("report")


# What is refused.


@cases(
    ("text", "message"),
    [
        ('y_tru = "y"', ": key 'y_tru' not found; did you mean 'y_true'"),
        ("[report]\nlevle = 0.9", ", [report]: key 'levle' not found; did you mean 'level'"),
        ("[repor]\nlevel = 0.9", ": key 'repor' not found; did you mean 'report'"),
        ('[report]\nrules = ["n >= 1"]', ", [report]: key 'rules' not found"),
        ("[report.x]\nlevle = 0.9", ", [report.x]: key 'levle' not found; did you mean 'level'"),
        ("metric = 'a'\nmetrics = 'b'", ": 'metric' and 'metrics' are one option; keep one of"),
        ("[report]\n[Report]", ": key 'Report' not found; did you mean 'report'"),
    ],
)
def test_unknown_keys_are_refused(refused, configured, text, message):
    configured(text)

    name = ["x"] if ".x]" in text else ["rows.csv"]
    assert refused("report", *name).startswith(f"balframe.toml{message}")


@cases(
    ("text", "expected"),
    [
        ("level = 'high'", "a number"),
        ("level = '0.9'", "a number"),
        ("level = true", "a number"),
        ("max_cells = 1.5", "a whole number"),
        ("cells = 'yes'", "true or false"),
        ("by = [1]", "text"),
        ("y_true = ['y']", "text, not a list"),
        ("counts = {a = 1}", "text"),
        ("files = 3", "text"),
        ("missing = 'x'", "one of 'raise', 'drop'"),
        ("metrics = {acc = 1}", "text"),
        ("interval = 'wils'", "one of 'score', 'wilson', "),
    ],
)
def test_values_that_do_not_suit_are_refused(refused, configured, text, expected):
    key = text.partition(" ")[0]
    for table in ("", "[report]\n"):
        configured(f"{table}{text}")

        message = refused("report", "rows.csv")

        place = "balframe.toml, [report]" if table else "balframe.toml"
        assert message.startswith(f"{place}: {key!r} is ")
        assert f". For balframe report, give {expected}" in message
        advice = " A value for other commands belongs in the table of each, such as [report]."
        assert message.endswith(advice) == (not table)


def test_an_error_says_that_a_value_is_that_of_the_file(refused, configured):
    own = 'rules = ["n >= 1"]\nexpect = {g = ["a"]}'
    configured(f"{REPORT}level = 95\n[check]\n{own}")

    origin = " The value of --level is that of balframe.toml."
    assert refused("report").startswith("--level 95.0 is not a confidence level; give a number")
    assert refused("report").endswith(origin)
    assert not refused("report", "--level", "95").endswith(origin)
    message = refused("check", "--by", "h", "--level", "0.9")
    assert message.startswith("--expect 'g=a' is neither a column of --by with its values")
    assert message.endswith("The value of --expect is that of balframe.toml, [check].")


@cases(
    ("text", "written"),
    [
        ("expect = '${EXP:-}'", "'${EXP:-}', which is ''"),
        ("baseline = '${EXP:-}'", "'${EXP:-}', which is ''"),
        ("baseline = ''", "''"),
        ("expect = ['g=a', '']", "['g=a', '']"),
        ("out = ''", "''"),
        ("files = ''", "''"),
        ("files = ['rows.csv', '']", "['rows.csv', '']"),
    ],
)
def test_an_empty_text_is_no_file(refused, configured, text, written):
    configured(f'{COLUMNS}by = "g"\n[check]\nrules = ["n >= 1"]\n{text}')
    key = text.partition(" ")[0]

    message = refused("check", "rows.csv", "--by", "g")

    assert message.startswith(f"balframe.toml, [check]: {key!r} is {written}. For balframe check, ")
    assert message.endswith(f", not empty text. For no value, omit {key!r} or give [].")


@cases("option", ["--expect", "--baseline", "--rules", "--out", "--config"])
def test_an_empty_text_that_is_typed_is_no_file(refused, configured, option):
    configured(f'{REPORT}[check]\nrules = ["n >= 1"]')

    message = refused("check", option, "")

    assert message.startswith(f"{option} '' is empty text, which is not a file; a variable of ")
    assert "FILE, or leave the option out." in message
    assert refused("check", "").startswith("FILES... '' is empty text, which is not a file;")
    assert refused("check", "rows.csv", "--no-config", "").startswith("FILES... '' is empty")


def test_a_value_of_a_variable_is_shown_where_it_does_not_suit(refused, configured, monkeypatch):
    monkeypatch.setenv("LEVEL", "abc")
    configured(f'{REPORT}level = "${{LEVEL:-0.99}}"')

    assert refused("report").startswith(
        "balframe.toml: 'level' is '${LEVEL:-0.99}', which is 'abc'. For balframe report, give a "
    )


def test_a_key_of_another_command_at_the_top_is_left_to_it(run, configured):
    configured(f'{REPORT}y_score = "p"\ntolerance = 0.1\n')

    assert run("report").code == 0


# The effective configuration.


def test_show_config_names_the_place_of_every_value(run, configured):
    configured(NAMED)

    done = run("check", "nightly", "--level", "0.9", "--show-config")

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[:2] == ["# balframe check nightly", "[check]"]
    assert {
        'files = ["rows.csv"]  # balframe.toml',
        'y_true = "y"  # balframe.toml',
        'rule = ["recall >= 0.9"]  # balframe.toml, [check.nightly]',
        'decide = "estimate"  # balframe.toml, [check]',
        "level = 0.9  # command line",
        'adjust = "bonferroni"  # default',
    } <= {*lines}
    assert "rules" in lines[-1].removeprefix("# without a value: ").split(", ")


def test_show_config_works_where_something_is_missing(run, configured):
    configured('y_true = "y"')

    done = run("report", "--show-config")

    assert done.code == 0
    assert tomllib.loads(done.out)["report"]["y_true"] == "y"


def test_show_config_without_a_configuration_shows_what_is_typed(run, project):
    done = run("report", "rows.csv", "--y-true", "y", "--y-pred", "p", "--show-config")

    assert 'files = ["rows.csv"]  # command line' in done.out.splitlines()


ROUND_TRIPS = {
    "check": f"""{REPORT}
        pos_label = 1
        null = ["${{X:-NA}}", "$${{b}}"]
        [check]
        expect = {{g = ["a", "b", "c"]}}
        absent_segments = "fail"
        [[check.rules]]
        rule = "recall >= 0.6"
        where = {{g = ["b", 'c']}}
        reason = 'a "reason" — \\ on $${{lines}}'
        [[check.rules]]
        rule = "n >= 4"
        """,
    "report": f"{REPORT}interval = 'wilson'\nmargins = 'overall'\nlevel = 0.8\n",
    "gaps": f"{REPORT}reference = 'b'\nadjust = 'none'\n",
    "compare": f"{REPORT}[compare]\ny_pred = ['p', 'q']\n",
    "confusion": f"{REPORT}normalize = 'true'\ncomplete = true\n",
}


@pytest.mark.parametrize("command", ROUND_TRIPS)
def test_the_effective_configuration_gives_the_same_result(run, configured, command):
    configured(ROUND_TRIPS[command])
    before = run(command, "--sort", "g")
    assert len(rows_of(before)) >= 2

    shown = run(command, "--sort", "g", "--show-config").out
    Path("shown.toml").write_text(shown)
    after = run(command, "--config", "shown.toml")
    again = run(command, "--config", "shown.toml", "--show-config").out

    assert (after.code, after.out, after.err) == (before.code, before.out, before.err)
    assert tomllib.loads(again) == tomllib.loads(shown)
