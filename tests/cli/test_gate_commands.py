"""`balframe check` and `balframe require`: rules from files, verdicts and exit codes."""

import csv
import html
import io

import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]


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
    assert [
        (row["rule"], row["reason"], row["status"]) for row in csv.DictReader(io.StringIO(done.out))
    ] == [
        ("n >= 1", "", "pass"),
        ("recall >= 0.99", "as agreed", "fail"),
    ]


@cases("command", ["check", "require", "audit"])
def test_rules_of_several_files_all_apply(run, people, tmp_path, command):
    (tmp_path / "a.toml").write_text('rules = ["n >= 999"]')
    (tmp_path / "b.yaml").write_text("rules: [accuracy >= 0.1]")
    files = [text for name in ("a.toml", "b.yaml") for text in ("--rules", tmp_path / name)]

    done = run(command, people, *LABELS, "--by", "g", "--pos-label", "yes", *files)

    if command == "require":  # 20 and 28 rows, which are fewer than 999
        assert done.code == 1
        assert "n >= 999" in done.err
    elif command == "check":
        texts = [row["rule"] for row in csv.DictReader(io.StringIO(done.out))]
        assert (done.code, texts) == (1, ["n >= 999", "accuracy >= 0.1"] * 2)
    else:
        assert done.code == 0, done.err
        assert all(text in html.unescape(done.out) for text in ("n >= 999", "accuracy >= 0.1"))


def test_a_rule_in_two_files_is_refused(refused, people, tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text('rules = ["n >= 1"]')
    files = [text for name in ("a.toml", "b.toml") for text in ("--rules", tmp_path / name)]

    assert "--rules has the rule 'n >= 1' twice" in refused("check", people, *LABELS, *files)


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
def test_require_writes_only_verdicts_that_are_not_pass(run, people, rules, code, lines):
    # 36 of 48 are right
    done = run("require", people, *LABELS, "--rule", *rules)

    said = done.err.splitlines()
    assert (done.code, done.out) == (code, "")
    assert len(said) == len(lines)
    assert all(line.strip().startswith(part) for line, part in zip(said, lines, strict=True))


def test_require_escapes_terminal_control_characters(run, tmp_path):
    path = tmp_path / "escape.csv"
    path.write_text("g,y,p\n\x1b]0;title\x07,1,1\n")

    done = run("require", path, *LABELS, "--by", "g", "--rule", "n > 1")

    assert done.code == 1
    assert r"where g is \x1b]0;title\x07" in done.err
