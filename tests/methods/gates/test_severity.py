"""Rules that only warn: they are judged as others are, and no gate fails by them."""

import csv
import io
import json
import warnings
from xml.etree import ElementTree

import polars as pl
import pytest
from jsonschema import Draft202012Validator

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

# In a, 4 of 4 positives are found; in b, 1 of 4.
ROWS = {"g": ["a"] * 4 + ["b"] * 4, "y": [1] * 8, "p": [1, 1, 1, 1, 1, 0, 0, 0]}
CALL = {"y_true": "y", "y_pred": "p", "by": "g"}
RECALL = {"rule": "recall >= 0.5", "severity": "warn"}


def judge(frame, *rules, **options):
    return bf.check(frame, **CALL, rules=list(rules), **{"level": None, **options})


@each_constructor
def test_a_result_has_the_severity_of_its_rules(constructor):
    out = plain(judge(constructor(ROWS), RECALL, "n >= 4"))

    assert list(out)[-2:] == ["status", "severity"]
    names = ("g", "rule", "status", "severity")
    assert list(zip(*(out[name] for name in names), strict=True)) == [
        ("a", "recall >= 0.5", "pass", "warn"),
        ("a", "n >= 4", "pass", "error"),
        ("b", "recall >= 0.5", "fail", "warn"),
        ("b", "n >= 4", "pass", "error"),
    ]


@cases("severity", ["error", None])
def test_without_a_warning_there_is_no_severity(severity):
    rule = {"rule": "recall >= 0.5", **({} if severity is None else {"severity": severity})}

    assert "severity" not in judge(pl.DataFrame(ROWS), rule).columns


def test_the_severity_stands_before_the_note_and_after_the_reason():
    rule = {**RECALL, "reason": "agreed"}

    out = judge(pl.DataFrame(ROWS), rule, expect=["a", "b"])

    assert out.columns == [
        *("g", "rule", "reason", "estimate", "lower", "upper", "bound", "status", "severity"),
        "note",
    ]


@cases(
    ("rules", "options", "passes"),
    [
        ([RECALL], {}, True),  # b fails, which only warns
        ([RECALL, "n >= 4"], {}, True),
        ([RECALL, "n >= 5"], {}, False),
        (["recall >= 0.5"], {}, False),
        ([RECALL], {"level": 0.95}, True),  # inconclusive
        (["recall >= 0.5"], {"level": 0.95}, False),
    ],
)
def test_no_gate_fails_by_a_rule_that_only_warns(rules, options, passes):
    for constructor in (pl.DataFrame, lambda rows: pl.DataFrame(rows).to_pandas()):
        verdicts = judge(constructor(ROWS), *rules, **options)

        assert bf.passed(verdicts) is passes


def test_a_frame_without_rows_passes_no_rule_that_only_warns():
    verdicts = judge(pl.DataFrame(ROWS).head(0), RECALL)

    assert bf.passed(verdicts) is False


def test_a_by_column_named_severity_is_no_severity():
    frame = pl.DataFrame({"severity": ["warn"], "y": [1], "p": [0]})
    out = bf.check(frame, "y", "p", by="severity", rules="recall >= 0.5", level=None)
    assert out.columns[:2] == ["severity", "rule"]

    assert bf.passed(out) is False
    with pytest.raises(bf.InvalidInputError, match="severity"):
        bf.check(frame, "y", "p", by="severity", rules=[RECALL])


def require(*rules, **options):
    frame = pl.DataFrame(ROWS)
    options = {"level": None, **options}
    assert bf.require(frame, **CALL, rules=list(rules), **options) is frame


def test_require_warns_where_a_rule_that_only_warns_fails():
    with pytest.warns(bf.BalframeWarning) as caught:
        require(RECALL, "n >= 4")

    (warning,) = caught
    assert str(warning.message) == (
        "of the rules that only warn, 1 of 2 verdicts fails: fail: recall >= 0.5: 0.25 where g is b"
    )


@cases(
    ("options", "warned"),
    [
        ({"level": 0.95}, ["inconclusive: recall >= 0.9", "fail: n >= 5"]),
        ({"level": 0.95, "allow_inconclusive": True}, ["fail: n >= 5"]),
    ],
)
def test_require_warns_where_it_would_raise(options, warned):
    rules = [{"rule": text, "severity": "warn"} for text in ("recall >= 0.9", "n >= 5")]

    with pytest.warns(bf.BalframeWarning) as caught:
        require(*rules, **options)

    (message,) = [str(warning.message) for warning in caught]
    assert [text in message for text in ("inconclusive: recall >= 0.9", "fail: n >= 5")] == [
        text in warned for text in ("inconclusive: recall >= 0.9", "fail: n >= 5")
    ]


def test_require_is_silent_where_a_rule_that_only_warns_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        require({"rule": "recall >= 0.25", "severity": "warn"}, "n >= 4")


def test_an_error_of_require_counts_the_warnings_apart():
    with pytest.raises(bf.CheckFailed) as raised:
        require(RECALL, "n >= 5")

    assert (raised.value.n_failed, raised.value.n_inconclusive) == (2, 0)
    assert raised.value.frame.height == 4
    assert str(raised.value).splitlines() == [
        "2 of 2 verdicts fail:",
        "  fail: n >= 5: 4 where g is a",
        "  fail: n >= 5: 4 where g is b",
        "  of the rules that only warn, 1 of 2 verdicts fails: fail: recall >= 0.5: 0.25 where g "
        "is b",
    ]


@cases("severity", ["warning", "Warn", None, 1, True, ["warn"]])
def test_other_severities_are_refused(severity):
    with pytest.raises(bf.InvalidInputError) as raised:
        judge(pl.DataFrame(ROWS), {"rule": "n >= 1", "severity": severity})

    assert str(raised.value) == f"'severity' is {severity!r}; give 'error' or 'warn'."


def test_a_rule_that_warns_and_fails_is_given_twice():
    with pytest.raises(bf.InvalidInputError, match=r"has the rule 'recall >= 0.5' twice"):
        judge(pl.DataFrame(ROWS), RECALL, "recall >= 0.5")


# On the command line.

TYPED = ["--y-true", "y", "--y-pred", "p", "--by", "g", "--decide", "estimate"]


@pytest.fixture
def files(tmp_path):
    """Rows and rules in files."""
    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    path = tmp_path / "gate.toml"
    path.write_text(
        '[[rules]]\nrule = "recall >= 0.5"\nseverity = "warn"\n[[rules]]\nrule = "n >= 4"\n'
    )
    return [tmp_path / "rows.csv", *TYPED, "--rules", path]


def test_a_rule_that_only_warns_does_not_change_the_exit_code(run, files, tmp_path):
    done = run("check", *files)

    assert (done.code, done.err) == (
        0,
        "2 pass, 0 fail, 0 inconclusive; rules that only warn: 1 pass, 1 fail, 0 inconclusive\n",
    )
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["severity"] for row in rows] == ["warn", "error"] * 2

    (tmp_path / "more.toml").write_text('rules = ["n >= 5"]')
    assert run("check", *files, "--rules", tmp_path / "more.toml").code == 1


def test_require_writes_a_warning_and_passes(run, files):
    done = run("require", *files)

    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "balframe: warning: of the rules that only warn, 1 of 2 verdicts fails: fail: recall >= "
        "0.5: 0.25 where g is b\n"
    )


def test_a_file_without_rows_is_not_passed_by_rules_that_only_warn(run, tmp_path):
    (tmp_path / "rows.csv").write_text("g,y,p\n")
    (tmp_path / "gate.toml").write_text('rules = [{rule = "n >= 1", severity = "warn"}]')

    done = run("check", tmp_path / "rows.csv", *TYPED, "--rules", tmp_path / "gate.toml")

    assert done.code == 3


def test_junit_has_a_warning_as_a_test_that_passes_with_output(run, files):
    done = run("check", *files, "--format", "junit")

    (suite,) = ElementTree.fromstring(done.out)
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "0", "errors": "0", "skipped": "0"}
    texts = {
        (case.get("classname"), case.get("name")): [(item.tag, item.text) for item in case]
        for case in suite
    }
    assert texts == {
        ("recall >= 0.5", "g=a"): [],
        ("n >= 4", "g=a"): [],
        ("recall >= 0.5", "g=b"): [("system-out", "warning: fail: recall >= 0.5: 0.250")],
        ("n >= 4", "g=b"): [],
    }


def test_github_annotates_a_warning_and_json_counts_it_apart(run, files):
    done = run("check", *files, "--format", "github")
    assert done.out == "::warning title=fail%3A g=b::recall >= 0.5: 0.250\n"

    document = json.loads(run("check", *files, "--format", "json").out)

    Draft202012Validator(bf.verdicts_schema()).validate(document)
    assert document["summary"] == {
        **{"pass": 2, "fail": 0, "inconclusive": 0},
        "warnings": {"pass": 1, "fail": 1, "inconclusive": 0},
        "expected_segments": None,
    }
    assert [row["severity"] for row in document["verdicts"]] == ["warn", "error"] * 2


def test_json_names_the_configuration_and_the_files_of_rules(run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "balframe.toml").write_text(
        'files = "rows.csv"\ny_true = "y"\ny_pred = "p"\nby = "g"\n[check.nightly]\n'
        'rules = ["gate.toml", {rule = "n < 9", severity = "warn"}]\n'
    )

    document = json.loads(run("check", "nightly", "--format", "json").out)

    assert document["command"] == ("balframe check nightly --config balframe.toml --format json")
    assert [(file["path"], file["option"]) for file in document["inputs"]] == [
        ("rows.csv", None),
        ("gate.toml", "rules"),
    ]
    assert document["options"]["rules"] == ["gate.toml", {"rule": "n < 9", "severity": "warn"}]


def test_a_page_marks_a_rule_that_only_warns():
    page = bf.audit(
        pl.DataFrame(ROWS), "y", "p", by="g", pos_label=1, rules=[{**RECALL, "reason": "as agreed"}]
    )

    assert "**`recall >= 0.5` (as agreed; only a warning)**" in page.markdown()
    assert {rule["severity"] for rule in page.data["rules"]} == {"warn"}
