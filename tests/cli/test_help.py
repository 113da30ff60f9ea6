import inspect

import pytest

import balframe as bf

VERBS = ["report", "classes", "confusion", "gaps", "disparity", "check", "curve", "best_threshold"]
OF_PYTHON = {"frame", "backend", "layout", "prior"}  # parameters that are no options
NAMED_ONE_BY_ONE = {"metrics": "metric", "labels": "label"}


@pytest.fixture
def help_of(run, monkeypatch):
    """Give what --help says on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "200")

    def said(*command):
        done = run(*command, "--help")
        assert (done.code, done.err) == (0, "")
        return done.out

    return said


def option_of(name):
    return "--" + NAMED_ONE_BY_ONE.get(name, name).replace("_", "-")


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_the_options_of_its_verb(help_of, verb):
    told = help_of(verb.replace("_", "-"))

    parameters = set(inspect.signature(getattr(bf, verb)).parameters) - OF_PYTHON
    assert {option_of(name) for name in parameters} <= set(told.split())
    assert {"--format", "--out", "--sort", "--help"} <= set(told.split())


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_says_what_it_does_and_what_it_needs(help_of, verb):
    told = help_of(verb.replace("_", "-"))

    usage, does = [line.strip() for line in told.splitlines() if line.strip()][:2]
    assert usage.startswith(f"Usage: balframe {verb.replace('_', '-')} [OPTIONS] ")
    assert does.endswith(".")
    (needed,) = [line for line in told.splitlines() if "--y-true" in line]
    assert "COLUMN" in needed
    assert "[required]" in needed


def test_check_says_what_its_exit_codes_mean(help_of):
    assert "Exit code 0: all pass; 1: one fails; 3: one is inconclusive." in help_of("check")


@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_commands_without_files_have_the_options_of_the_output(help_of, command):
    assert {"--format", "--out", "--sort"} <= set(help_of(command).split())


def test_without_arguments_the_help_is_shown(run):
    done = run()

    assert "best-threshold" in done.out + done.err
    assert "Traceback" not in done.err
