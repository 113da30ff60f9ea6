"""`--format junit` and `--format github` of `check` and `monitor`."""

from datetime import timedelta
from xml.etree import ElementTree

import polars as pl
import pytest

from tests.support.cases import cases
from tests.support.frames.weekly_stream import LAST, STREAM, UNTIL, WORSE

LABELS = ["--y-true", "y", "--y-pred", "p"]
ACCURATE = ["--rule", "accuracy >= 0.7"]
WEEKS = ["--y-true", "y", "--y-pred", "yhat", "--counts", "n", "--time", "when", "--every", "1w"]
HELD = [*WEEKS, "--baseline", UNTIL, "--by", "site"]

# what the schema junit-10 of Jenkins knows: the attributes, those required, and the parts in order
_RESULT = ({"message", "type"}, set(), [])
JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), ["testsuite"]),
    "testsuite": (
        {
            *("name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp"),
            *("hostname", "id", "package", "file", "log", "url", "version"),
        },
        {"name", "tests"},
        ["properties", "testcase", "system-out", "system-err", "testsuite"],
    ),
    "properties": (set(), set(), ["property"]),
    "property": ({"name", "value"}, {"name", "value"}, []),
    "testcase": (
        {"name", "classname", "time", "group"},
        {"name"},
        ["skipped", "error", "failure", "system-out", "system-err"],
    ),
    **dict.fromkeys(("skipped", "error", "failure"), _RESULT),
    "system-out": (set(), set(), []),
}


@pytest.fixture
def rows(tmp_path):
    """Write rows: none of 40 right, all of 400 right, 4 of 5 right."""
    path = tmp_path / "rows.csv"
    path.write_text("g,y,p\n" + "a,1,0\n" * 40 + "b,1,1\n" * 400 + "c,1,1\n" * 4 + "c,1,0\n")
    return path


@pytest.fixture
def stream(tmp_path):
    """Write the stream, or a part of it."""

    def written(frame=STREAM):
        path = tmp_path / "stream.parquet"
        frame.write_parquet(path)
        return path

    return written


def check_names(element):
    """Compare the elements and attributes with those that the schema of viewers has."""
    attributes, required, parts = JUNIT[element.tag]
    assert required <= element.attrib.keys() <= attributes, element.attrib
    order = [parts.index(part.tag) for part in element]
    assert order == sorted(order)
    for part in element:
        check_names(part)


def read_junit(text):
    """Return the only suite of tests, whose totals are those of its tests and of the document."""
    root = ElementTree.fromstring(text)
    check_names(root)
    (suite,) = root
    totals = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name, tag in totals.items():
        assert suite.get(name) == str(len(list(suite.iter(tag))))
        assert root.get(name, suite.get(name)) == suite.get(name)
    assert root.get("name") == suite.get("name")
    return suite


def test_junit_has_totals_and_a_test_of_every_segment_and_rule(run, rows):
    done = run(
        "check", rows, *LABELS, "--by", "g", *ACCURATE, "--rule", "n >= 40", "--format=junit"
    )

    suite = read_junit(done.out)
    assert done.code == 1
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "errors")} == {
        "name": "balframe check", "tests": "6", "failures": "2", "errors": "1",
    }  # fmt: skip
    tests = [(test.get("name"), test.get("classname"), [*test]) for test in suite]
    assert [test[:2] for test in tests] == [
        (f"g={name}", rule) for name in "abc" for rule in ("accuracy >= 0.7", "n >= 40")
    ]
    parts = [(part.tag, part.get("type"), part.get("message")) for test in suite for part in test]
    # 4 of 5 and 0 of 40 by Clopper and Pearson, at a level of 1 - 0.05 / 3 for three segments
    assert parts == [
        ("failure", "fail", "accuracy >= 0.7: 0.00 [0.00, 0.11]"),
        ("error", "inconclusive", "inconclusive: accuracy >= 0.7: 0.80 [0.21, 1.00]"),
        ("failure", "fail", "n >= 40: 5"),
    ]


@cases(
    ("typed", "written"),
    [
        ("2026-03-31T10:00:00Z", "2026-03-31T10:00:00+00:00"),
        ("2026-03-31T10:00:00", "2026-03-31T10:00:00"),
        ("2026-03-31T10:00+02:00", "2026-03-31T10:00:00+02:00"),
        ("20260331T100000", "2026-03-31T10:00:00"),
    ],
)
def test_junit_has_the_time_that_is_given_and_no_other(run, rows, typed, written):
    asked = ["check", rows, *LABELS, *ACCURATE, "--format", "junit"]

    without, timed = run(*asked).out, run(*asked, "--timestamp", typed).out

    assert read_junit(timed).get("timestamp") == written
    assert without == timed.replace(f' timestamp="{written}"', "")


EXPECT = ["--expect", "g=a,b"]


@cases(("options", "n_skipped"), [([], 0), ([*EXPECT, "--allow-inconclusive"], 2)])
def test_junit_of_verdicts_without_rows_is_an_error(run, rows, options, n_skipped):
    rows.write_text("g,y,p\n")

    done = run("check", rows, *LABELS, "--by", "g", *ACCURATE, *options, "--format", "junit")

    suite = read_junit(done.out)
    assert done.code == 3
    assert (suite.get("errors"), suite.get("skipped")) == ("1", str(n_skipped))
    (error,) = suite.iter("error")
    assert error.get("message") == ("inconclusive: there is no row to judge, so no rule can pass.")
    (test,) = (test for test in suite if error in test)
    assert (test.get("classname"), test.get("name")) == ("balframe check", "all rows")


def test_junit_has_times_of_zero(run, rows):
    done = run("check", rows, *LABELS, "--by", "g", *ACCURATE, "--format", "junit")

    root = ElementTree.fromstring(done.out)
    assert {part.get("time") for part in [root, *root, *root[0]]} == {"0"}


def last_week(n):
    """Return the stream, in whose last week the north has `n` rows."""
    is_old_or_south = (pl.col("when") < WORSE) | (pl.col("site") == "south")
    few = STREAM.filter(pl.col("site") == "north").head(n)
    return pl.concat(
        [STREAM.filter(is_old_or_south), few.with_columns(when=LAST, n=pl.lit(1, pl.Int64))]
    )


@cases(
    ("frame", "allowed", "code", "tag"),
    [
        (STREAM, [], 1, "failure"),
        (STREAM, ["--allow-inconclusive"], 1, "failure"),
        (last_week(0), [], 3, "error"),
        (last_week(0), ["--allow-inconclusive"], 0, "skipped"),
        (last_week(4), [], 0, "skipped"),  # inconclusive with rows
    ],
)
def test_junit_of_monitor_agrees_with_the_exit_code(run, stream, frame, allowed, code, tag):
    done = run("monitor", stream(frame), *HELD, *allowed, "--format", "junit")

    suite = read_junit(done.out)
    assert done.code == code
    assert (suite.get("name"), suite.get("tests")) == ("balframe monitor", "2")
    (name,) = suite.iter("property")
    assert name.attrib == {"name": "period", "value": LAST.isoformat()}
    north, south = suite.iter("testcase")
    assert (north.get("name"), north.get("classname")) == ("site=north", "balanced_accuracy")
    assert ([part.tag for part in north], [*south]) == ([tag], [])


@cases(
    ("frame", "message"),
    [
        # 150 of 200 of each label
        (
            STREAM,
            f"balanced_accuracy in the period {LAST}: 0.75 [0.71, 0.79], baseline 0.90, "
            f"worse since {WORSE}",
        ),
        (
            last_week(0),
            f"inconclusive: balanced_accuracy in the period {LAST}: no rows",
        ),
        (
            STREAM.filter((pl.col("when") < LAST - timedelta(7)) | (pl.col("site") == "south")),
            f"balanced_accuracy in the period {LAST}: no rows, worse since {WORSE}",
        ),
    ],
)
def test_messages_of_monitor_name_the_period_and_since_when(run, stream, frame, message):
    done = run("monitor", stream(frame), *HELD, "--format", "junit")

    (part,) = (part for test in read_junit(done.out).iter("testcase") for part in test)
    assert part.get("message") == message


def test_cases_of_monitor_name_models_and_metrics(run, stream):
    frame = STREAM.with_columns(other="yhat")
    asked = ["--y-pred", "other", "--metric", "recall", "--metric", "accuracy", "--pos-label", "1"]

    done = run("monitor", stream(frame), *HELD, *asked, "--format", "junit")

    tests = [(test.get("name"), test.get("classname")) for test in read_junit(done.out)][1:]
    assert tests == [
        (f"site={site}, model={model}", metric)
        for site in ("north", "south")
        for model in ("yhat", "other")
        for metric in ("recall", "accuracy")
    ]


# Annotations of GitHub.


def test_github_has_an_annotation_of_every_verdict_that_does_not_pass(run, rows, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    done = run("check", rows, *LABELS, "--by", "g", *ACCURATE, "--rule=n >= 40", "--format=github")

    assert done.code == 1
    assert done.out.splitlines() == [
        "::error title=fail%3A g=a::accuracy >= 0.7: 0.00 [0.00, 0.11]",
        "::warning title=inconclusive%3A g=c::accuracy >= 0.7: 0.80 [0.21, 1.00]",
        "::error title=fail%3A g=c::n >= 40: 5",
    ]


@cases(
    ("frame", "allowed", "command"),
    [
        (STREAM, [], "error title=alarm%3A"),
        (last_week(0), [], "warning title=inconclusive%3A"),
        (last_week(0), ["--allow-inconclusive"], "notice title=inconclusive%3A"),
        (last_week(4), [], "notice title=inconclusive%3A"),
    ],
)
def test_github_annotates_the_last_period_of_monitor(run, stream, frame, allowed, command):
    done = run("monitor", stream(frame), *HELD, *allowed, "--format", "github")

    (line,) = done.out.splitlines()
    assert line.startswith(f"::{command} site=north::balanced_accuracy in the period {LAST}: ")


@cases(
    ("name", "title", "message"),
    [
        ("a,b:c", "a%2Cb%3Ac", "a,b:c"),
        ("100%", "100%25", "100%25"),
        ("x\r\n::error::y", "x%0D%0A%3A%3Aerror%3A%3Ay", "x%0D%0A::error::y"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_github_escapes_names_of_the_data_as_its_toolkit(run, tmp_path, name, title, message):
    path, rules = tmp_path / "rows.parquet", tmp_path / "gate.toml"
    pl.DataFrame({"g": [name], "y": [1], "p": [1]}).write_parquet(path)
    reason = name.replace("\r\n", r"\r\n")
    rules.write_text(f'rules = [{{rule = "n >= 2", reason = "{reason}"}}]')

    done = run("check", path, *LABELS, "--by", "g", "--rules", rules, "--format", "github")

    assert done.out == f"::error title=fail%3A g={title}::n >= 2: 1 ({message})\n"


def test_github_annotates_that_there_is_no_row_to_judge(run, rows):
    rows.write_text("g,y,p\n")

    done = run("check", rows, *LABELS, "--by", "g", *ACCURATE, "--format", "github")

    assert done.code == 3
    assert done.out == (
        "::error title=balframe check::there is no row to judge, so no rule can pass.\n"
    )


def test_github_annotates_that_no_verdict_is_on_a_row(run, rows):
    rows.write_text("g,y,p\n")
    asked = ["check", rows, *LABELS, "--by", "g", *ACCURATE, *EXPECT, "--allow-inconclusive"]

    done = run(*asked, "--format", "github")

    assert done.code == 3
    first, *others = done.out.splitlines()
    assert first == ("::error title=balframe check::there is no row to judge, so no rule can pass.")
    assert [line.partition(" ")[0] for line in others] == ["::notice"] * 2


@cases("options", [["absent.csv", *LABELS], ["rows.csv", "--y-true", "y", "--y-pred", "q"]])
@cases("command", ["check", "monitor"])
def test_github_annotates_why_there_is_no_result(run, rows, monkeypatch, command, options):
    monkeypatch.chdir(rows.parent)
    asked = ACCURATE if command == "check" else ["--time", "g", "--every", "1w", "--baseline", "a"]

    done = run(command, *options, *asked, "--format", "github")

    assert done.code == 2
    message = done.err.removeprefix("balframe: ")
    assert command == "monitor" or "absent.csv" in message or "'q'" in message
    assert done.out == f"::error title=balframe {command}::{message}"


@cases("name", ["100%", "\x1b]0;title\x07"])
def test_github_escapes_what_an_error_names(run, rows, name):
    done = run("check", rows, "--y-true", name, "--y-pred", "p", *ACCURATE, "--format", "github")

    assert done.code == 2
    (line,) = done.out.splitlines()
    assert line.startswith("::error title=balframe check::")
    assert ("100%25" if name == "100%" else r"\x1b]0;title\x07") in line


def test_github_writes_nothing_where_all_pass(run, rows):
    done = run("check", rows, *LABELS, "--rule", "n >= 1", "--format", "github")

    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize("command", ["check", "monitor"])
def test_the_summary_of_github_is_the_markdown_after_what_is_there(
    run, rows, stream, tmp_path, monkeypatch, command
):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n\n")
    asked = [command, rows, *LABELS, "--by", "g", *ACCURATE, "--sort", "-estimate", "--detail"]
    if command == "monitor":
        asked = [command, stream(), *HELD]
    markdown = run(*asked, "--format", "markdown").out
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    run(*asked, "--format", "github")
    run(*asked, "--format", "github")
    run(*asked, "--format", "csv")

    assert markdown.startswith("| ")
    assert summary.read_text() == f"before\n\n{markdown}\n{markdown}\n"


def test_a_summary_that_cannot_be_written_is_an_error(run, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary.md"))

    done = run("check", rows, *LABELS, *ACCURATE, "--format", "github")

    assert done.code == 2
    assert "which GITHUB_STEP_SUMMARY in the environment names, cannot be written" in done.err


def test_an_empty_variable_names_no_summary(run, rows, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "")

    assert run("check", rows, *LABELS, "--rule", "n >= 1", "--format", "github").code == 0
