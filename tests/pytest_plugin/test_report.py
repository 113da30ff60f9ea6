"""The files of `--balframe-report`."""

import json
import re
import sys
from itertools import chain
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import balframe as bf
from balframe.errors import InvalidInputError
from balframe.pytest_plugin.report_files import check_folder, file_stem
from tests.support.cases import cases

GATES = """
@pytest.mark.parametrize("rows", [pd.DataFrame(DATA), ROWS], ids=["../pandas", "a|b"])
def test_two_calls(balframe_gate, rows):
    balframe_gate(rows, "y", "yhat", counts="n", rules="n >= 2")
    balframe_gate(rows, "y", "yhat", **OPTIONS)

def test_inconclusive(balframe_gate):
    balframe_gate(C, "y", "yhat", **OPTIONS)

def test_passes(balframe_gate):
    balframe_gate(A, "y", "yhat", **OPTIONS)

def test_without_a_gate():
    pass
"""
SUMMARY = "balframe: 6 gates: 3 passed, 2 failed, 1 inconclusive; report in "


@pytest.fixture
def report(pytester):
    return pytester.path / "made" / "report"


@pytest.fixture
def run_report(run_tests, report):
    """Run tests with a report; the texts of its files by name."""

    def run(source, *options):
        run.result = run_tests(source, "--balframe-report", "made/report", *options)
        return contents(report)

    return run


def contents(folder):
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def index_rows(text):
    """Return the cells of the index, with the names of the linked files in place of the links."""
    lines = [line for line in text.splitlines() if line.startswith("| test")][1:]
    return [
        [re.sub(r"\[\w+\]\((.*?)\)", r"\1", cell) for cell in line[2:-2].split(" | ")]
        for line in lines
    ]


def test_each_call_has_files_and_a_row_of_the_index(run_report, report):
    files = run_report(GATES)

    run_report.result.stdout.fnmatch_lines([f"{SUMMARY}{report / 'index.md'}"])
    rows = index_rows(files.pop("index.md"))
    assert [row[:6] for row in rows] == [
        ["test_gates.py::test_inconclusive", "inconclusive", "0", "0", "1", "0"],
        ["test_gates.py::test_passes", "passed", "1", "0", "0", "0"],
        [r"test_gates.py::test_two_calls\[../pandas\]", "passed", "1", "0", "0", "0"],
        [r"test_gates.py::test_two_calls\[../pandas\] (2)", "failed", "1", "1", "1", "0"],
        [r"test_gates.py::test_two_calls\[a\|b\]", "passed", "1", "0", "0", "0"],
        [r"test_gates.py::test_two_calls\[a\|b\] (2)", "failed", "1", "1", "1", "0"],
    ]
    listed = [row[6].split(", ") for row in rows]
    assert sorted(chain.from_iterable(listed)) == sorted(files)
    assert all(
        re.fullmatch(r"test_gates-[\w.-]+-[0-9a-f]{8}(-2)?\.(json|(audit\.)?\w+)", name)
        for name in files
    )
    for markdown, document, page in listed:
        assert markdown.removesuffix(".md") == document.removesuffix(".json")
        assert page == markdown.removesuffix(".md") + ".audit.html"
        Draft202012Validator(bf.verdicts_schema()).validate(json.loads(files[document]))


def test_files_of_a_call_hold_its_verdicts_and_its_page(run_report):
    files = run_report(GATES, "-k", "inconclusive")

    stem = file_stem("test_gates.py::test_inconclusive", 1)
    document = json.loads(files[f"{stem}.json"])
    assert document["summary"] == {
        "pass": 0,
        "fail": 0,
        "inconclusive": 1,
        "expected_segments": None,
    }
    options = {"y_true": "y", "y_pred": "yhat", "by": "group", "counts": "n", "pos_label": 1}
    assert document["options"].items() >= options.items()
    (verdict,) = document["verdicts"]
    assert (verdict["group"], verdict["estimate"], verdict["bound"]) == ("c", 0.5, 0.5)
    assert files[f"{stem}.md"].splitlines() == [
        r"# test_gates.py::test_inconclusive",
        "",
        "Inconclusive: 1 of 1 verdicts is inconclusive (too few rows).",
        "",
        "| group | rule | status | estimate | bound |",
        "| --- | --- | --- | ---: | ---: |",
        # The limits of a proportion of 1 in 2 are those where both right, or both wrong, has the
        # probability 2.5%: 1 - sqrt(0.975) and sqrt(0.975).
        r"| c | recall &gt;= 0.5 | inconclusive | 0.50 \[0.01, 0.99\] | 0.5 |",
        "",
        "Brackets: decision limits.",
        "",
        f"Files: [JSON]({stem}.json), [audit]({stem}.audit.html)",
    ]
    page = files[f"{stem}.audit.html"]
    assert "<title>test_gates.py::test_inconclusive</title>" in page
    assert "recall &gt;= 0.5" in page


def test_the_same_tests_write_the_same_report(run_report):
    first = run_report(GATES)

    assert run_report(GATES) == first


@pytest.mark.processes
@pytest.mark.any_version
def test_workers_of_xdist_write_the_same_report(run_report, pytester, report):
    files = run_report(GATES)
    options = ["-p", "pytest_balframe", "--balframe-report", "parallel", "-n", "2"]

    result = pytester.runpytest_subprocess(*options)

    result.stdout.fnmatch_lines([f"{SUMMARY}{pytester.path / 'parallel' / 'index.md'}"])
    assert contents(pytester.path / "parallel") == files


def test_a_run_without_gates_has_an_empty_index(run_report, report):
    files = run_report("def test_nothing():\n    pass")

    (name,) = files
    assert (name, files[name].splitlines()[-1]) == ("index.md", "No test called `balframe_gate`.")
    run_report.result.stdout.fnmatch_lines([f"balframe: no gates; report in {report / 'index.md'}"])


def test_wrong_use_has_no_files(run_report):
    files = run_report(
        'def test_gate(balframe_gate):\n    balframe_gate(ROWS, "y", "yhat", rules="n")'
    )

    assert [*files] == ["index.md"]


def test_only_collecting_writes_nothing(run_tests, report):
    run_tests(GATES, "--balframe-report", "made/report", "--collect-only")

    assert not report.exists()


@cases("text", ["", "# Mine\n"])
def test_a_folder_with_another_index_is_refused(run_tests, pytester, text):
    index = pytester.path / "index.md"
    index.write_text(text)

    result = run_tests(GATES, "--balframe-report", ".")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --balframe-report * has an index.md that is not a report of*"]
    )
    assert index.read_text() == text
    assert sorted(path.name for path in pytester.path.iterdir()) == ["index.md", "test_gates.py"]


@cases("name", ["file", "file/below"])
def test_a_path_that_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "file").touch()

    with pytest.raises(InvalidInputError, match="is not a directory"):
        check_folder(tmp_path / name)


def test_a_page_is_written_without_rules_that_an_audit_refuses(run_report):
    files = run_report("""
@pytest.mark.balframe(y_true="y", y_pred="yhat", counts="n", pos_label=1, by="group")
def test_gate(balframe_gate):
    rows = ROWS.with_columns(other="y")
    balframe_gate(rows, rules=["n >= 1", "recall <= baseline + 0.01"], baseline="other")
""")

    stem = file_stem("test_gates.py::test_gate", 1)
    assert "The page of audit has no rules: " in files[f"{stem}.md"].splitlines()[-1]
    assert "<title>test_gates.py::test_gate</title>" in files[f"{stem}.audit.html"]
    assert "baseline" not in files[f"{stem}.audit.html"]


def test_a_note_says_why_there_is_no_page(run_report):
    files = run_report("""
@pytest.mark.filterwarnings("ignore:column 'i' in by")
def test_gate(balframe_gate):
    rows = pl.DataFrame({"y": [0, 1] * 51, "yhat": [0, 1] * 51, "i": range(102)})
    balframe_gate(rows, "y", "yhat", by="i", rules="n >= 1")
""")

    stem = file_stem("test_gates.py::test_gate", 1)
    assert sorted(files) == ["index.md", f"{stem}.json", f"{stem}.md"]
    assert files[f"{stem}.md"].splitlines()[-1].startswith("There is no page of audit: ")
    (row,) = index_rows(files["index.md"])
    assert row == [
        "test_gates.py::test_gate",
        "passed",
        "102",
        "0",
        "0",
        "0",
        f"{stem}.md, {stem}.json",
    ]


def test_without_jinja2_the_page_is_markdown(run_report, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)

    files = run_report(GATES, "-k", "passes")

    page = files[file_stem("test_gates.py::test_passes", 1) + ".audit.md"]
    assert page.startswith("# `test_gates.py::test_passes`\n")


def test_a_report_of_another_baseline_compares_with_it(run_report):
    # 90 of 100 are right now, and 10 of 100 were.
    files = run_report("""
def test_gate(balframe_gate):
    before = B.bal.confusion("y", "yhat", counts="n")
    options = OPTIONS | {"by": None, "rules": "recall >= baseline - 0.1", "baseline": before}
    balframe_gate(A, "y", "yhat", **options)
""")

    stem = file_stem("test_gates.py::test_gate", 1)
    document = json.loads(files[f"{stem}.json"])
    assert document["options"]["baseline"] == "a frame of polars"
    (verdict,) = document["verdicts"]
    assert verdict["score"] == 0.9
    assert verdict["baseline_score"] == 0.1
    assert "recall &gt;= baseline - 0.1" in files[f"{stem}.audit.html"]


@cases(
    ("one", "other"),
    [
        ("tests/a/test_x.py::test", "tests/b/test_x.py::test"),
        ("test_x.py::test_a", "test_x.py::test_A"),
        ("test_x.py::test[a/b]", "test_x.py::test[a b]"),
        (f"test_x.py::test[{'a' * 300}]", f"test_x.py::test[{'a' * 301}]"),
    ],
)
def test_names_of_files_are_safe_and_differ(one, other):
    stems = [file_stem(one, 1), file_stem(other, 1), file_stem(one, 2)]

    assert len({stem.casefold() for stem in stems}) == 3
    for stem in stems:
        assert re.fullmatch(r"test_x-[A-Za-z0-9_.-]+", stem)
        assert len(stem) <= 80 + 1 + 8 + 2


def test_names_of_files_read_as_the_tests_do():
    name = "tests/models/test_adult.py::TestGate::test_rule[polars-0.5]"

    assert Path(file_stem(name, 3)).name.startswith("test_adult-TestGate-test_rule-polars-0.5-")
    assert file_stem(name, 3) == f"{file_stem(name, 1)}-3"


def test_the_index_counts_warnings_as_the_document_does(run_report):
    files = run_report("""
def test_warn(balframe_gate):
    rules = ["n >= 2", {"rule": "recall >= 0.5", "severity": "warn"}]
    balframe_gate(ROWS, "y", "yhat", **OPTIONS | {"rules": rules})
""")

    (row,) = index_rows(files["index.md"])
    # recall passes in a, fails in b and is inconclusive in c
    assert row[1:6] == ["passed", "3", "0", "0", "2"]
    (document,) = (json.loads(text) for name, text in files.items() if name.endswith(".json"))
    summary = document["summary"]
    assert [summary[status] for status in ("pass", "fail", "inconclusive")] == [3, 0, 0]
    assert summary["warnings"]["fail"] + summary["warnings"]["inconclusive"] == 2
    (text,) = (text for name, text in files.items() if text.startswith("# test_gates"))
    assert "Passed: 3 of 3 verdicts pass, and none fails." in text
