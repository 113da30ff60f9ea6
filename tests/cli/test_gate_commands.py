"""`balframe check` and `balframe require`: rules from files, verdicts and exit codes."""

import csv
import html
import io
import json
from xml.etree import ElementTree

import polars as pl
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


WITHOUT_ROWS = {  # options that give verdicts to segments without rows
    "baseline": ["--by", "g", "--baseline", "cells.csv", "--rule", "accuracy >= baseline - 0.1"],
    "expect": ["--by", "g", "--expect", "g=a,b", "--rule", "accuracy >= 0.1"],
}


@cases("command", ["check", "require"])
@cases("options", [WITHOUT_ROWS["baseline"], WITHOUT_ROWS["expect"]])
def test_verdicts_without_rows_are_not_allowed(run, tmp_path, monkeypatch, command, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "header.csv").write_text("g,y,p\n")
    (tmp_path / "rows.csv").write_text("g,y,p\na,1,1\nb,0,0\n")
    run("confusion", "rows.csv", *LABELS, "--by", "g", "--out", "cells.csv")

    done = run(command, "header.csv", *LABELS, *options, "--allow-inconclusive")

    assert done.code == 3
    said = ["0 pass, 0 fail, 2 inconclusive"] if command == "check" else []
    assert done.err.splitlines() == [
        *said, "balframe: there is no row to judge, so no rule can pass.",
    ]  # fmt: skip


def test_an_expected_segment_without_rows_still_fails_on_request(run, tmp_path):
    path = tmp_path / "header.csv"
    path.write_text("g,y,p\n")

    done = run("check", path, *LABELS, *WITHOUT_ROWS["expect"], "--absent-segments", "fail")

    assert done.code == 1


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


GROUPS = "g,y,p\n" + "a,1,1\nc,0,0\n" * 30 + ",1,1\n" * 30
EXPECT = ["--by", "g", "--expect"]


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text(GROUPS)
    return path


@cases("command", ["check", "require"])
@cases(
    ("options", "code"),
    [
        (["--expect", "g=a,c,"], 0),  # an empty value is null
        (["--expect", "g=a,b,c,"], 3),
        (["--expect", "g=a,b,c,", "--allow-inconclusive"], 0),
        (["--expect", "g=a,b,c,", "--absent-segments", "fail", "--allow-inconclusive"], 1),
        (["--expect", "g=a,b,c,", "--rule", "n >= 10"], 1),
        (["--expect", "g=a,b,c,", "--rule", "n_segments >= 3"], 3),
        (["--rule", "n_segments >= 3"], 0),
        (["--rule", "n_segments >= 4"], 1),
    ],
)
def test_an_absent_segment_decides_the_exit_code(run, groups, command, options, code):
    done = run(command, groups, *LABELS, "--by", "g", "--rule", "accuracy >= 0.1", *options)

    assert done.code == code


@cases("ending", ["csv", "parquet", "ndjson"])
def test_expected_segments_come_from_a_file(run, groups, tmp_path, ending):
    path = tmp_path / f"last_month.{ending}"
    segments = pl.DataFrame({"g": ["a", "a", "b"], "n": [1, 2, 3]})
    getattr(segments, f"write_{ending}")(path)

    done = run("check", groups, *LABELS, *EXPECT, path, "--rule", "n >= 0", "--format", "json")

    assert done.code == 3
    assert [(row["g"], row["status"], row["note"]) for row in json.loads(done.out)["verdicts"]] == [
        ("a", "pass", None),
        ("b", "inconclusive", "expected, but without rows"),
        ("c", "pass", "not expected"),
        (None, "pass", "not expected"),
    ]
    assert done.err.splitlines() == [
        "balframe: warning: 2 segments are not expected: 'g' is 'c'; 'g' is null. If they should "
        "occur, add them to --expect.",
        "3 pass, 0 fail, 1 inconclusive",
    ]


def test_expected_values_are_read_as_those_of_their_column(run, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text('g,h,y,p\n1,x=y,1,1\n2,"a, b",1,1\n')
    asked = [*LABELS, "--by", "g", "--by", "h", "--rule", "n >= 1", "--decide", "estimate"]
    expect = ["--expect", "g=1,2", "--expect", 'h=x=y,"a, b"']

    done = run("check", path, *asked, *expect)

    assert [
        (row["g"], row["h"], row["status"]) for row in csv.DictReader(io.StringIO(done.out))
    ] == [
        ("1", "a, b", "fail"),
        ("1", "x=y", "pass"),
        ("2", "a, b", "pass"),
        ("2", "x=y", "fail"),
    ]


def test_rule_files_have_expected_segments(run, groups, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('rules = ["n >= 0"]\nexpect = ["a", "b", "c"]\nabsent_segments = "fail"\n')

    done = run("require", groups, *LABELS, "--by", "g", "--rules", path)

    assert done.code == 1
    assert "  fail: n >= 0: no rows where g is b" in done.err.splitlines()


@cases(
    ("allowed", "tag", "totals"),
    [
        ([], "error", {"failures": "0", "errors": "1", "skipped": "0"}),
        (["--allow-inconclusive"], "skipped", {"failures": "0", "errors": "0", "skipped": "1"}),
        (
            ["--absent-segments", "fail"],
            "failure",
            {"failures": "1", "errors": "0", "skipped": "0"},
        ),
    ],
)
def test_junit_shows_the_verdict_on_absent_segments(run, groups, allowed, tag, totals):
    done = run(
        *("check", groups, *LABELS, *EXPECT, "g=a,b,c", "--rule", "accuracy >= 0.1"),
        *("--format", "junit", *allowed),
    )

    suite = ElementTree.fromstring(done.out).find("testsuite")
    assert {name: suite.get(name) for name in totals} == totals
    found = {
        case.get("name"): [(part.tag, part.get("message"), part.text) for part in case]
        for case in suite
    }
    prefix = "" if tag == "failure" else "inconclusive: "
    message = f"{prefix}accuracy >= 0.1: undefined (expected, but without rows)"
    assert found == {
        "g=a": [],
        "g=b": [(tag, message, None)],
        "g=c": [],
        "g=": [("system-out", None, "not expected")],
    }


@cases(
    ("typed", "said"),
    [
        (["--expect", "y=1"], "--expect 'y=1' is neither a column of --by with its values, as in"),
        (["--expect", "none.csv"], "--expect 'none.csv' is neither a column of --by with its"),
        (["--expect", "g=a", "--expect", "g=b"], "--expect gives column 'g' more than once;"),
        (["--absent-segments", "pass"], "--absent-segments"),
        (["--expect", "g="], None),
        *(
            (["--by", "y", "--expect", f"y={text}"], f"--expect {text!r} is not a number as column")
            for text in ("00", "1.0", "+1", "1_0", "x1")
        ),
    ],
)
def test_expect_that_is_invalid_is_refused(refused, run, groups, typed, said):
    asked = ("check", groups, *LABELS, "--by", "g", "--rule", "n >= 1", *typed)
    if said is None:  # the null group
        assert run(*asked).code == 0
    else:
        assert said in refused(*asked)
