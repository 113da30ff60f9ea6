"""`balframe audit`: its options, its files, the command on its page, and wrong use in its words."""

import re
import shlex
import sys
from html import unescape
from importlib import util

import polars as pl
import pytest
from rich.filesize import decimal

import balframe as bf
from tests.support.cases import cases

pytest.importorskip("jinja2")

LABELS = ["--y-true", "y", "--y-pred", "p", "--pos-label", "yes"]
ASKED = {"y_true": "y", "y_pred": "p", "pos_label": "yes"}
CALLS = re.compile(r"<pre><code>(.*?)</code></pre>", re.DOTALL)
OPTIONS = {
    "": {},
    "--by g --by sex": {"by": ["g", "sex"]},
    "--y-score s": {"y_score": "s"},
    "--y-pred q --y-score s --y-score t": {"y_pred": ["p", "q"], "y_score": ["s", "t"]},
    "--by g --rule recall>=0.5 --rule 'difference(recall) <= 0.2'": {
        "by": "g",
        "rules": ["recall>=0.5", "difference(recall) <= 0.2"],
    },
    "--title 'A title' --subtitle 'of two words'": {"title": "A title", "subtitle": "of two words"},
    "--truth 'found to be so' --call 'said to be so'": {
        "truth": "found to be so",
        "call": "said to be so",
    },
    "--unit person,people": {"unit": ("person", "people")},
    "--unit 'test case, test cases'": {"unit": ("test case", "test cases")},
    "--by g --min-support 5 --level 0.8": {"by": "g", "min_support": 5, "level": 0.8},
    "--counts k --missing drop": {"counts": "k", "missing": "drop"},
    "--label no --label yes --max-cells 900": {"labels": ["no", "yes"], "max_cells": 900},
}


def call_of(page):
    """Take the call out of a page."""
    (call,) = CALLS.findall(page)
    return unescape(call)


def but_for_the_call(page):
    return CALLS.sub("", page)


@cases(("text", "options"), OPTIONS.items())
def test_every_option_reaches_the_page(run, people, table, tmp_path, text, options):
    out = tmp_path / "out.html"

    done = run("audit", people, *LABELS, *shlex.split(text), "--out", out)

    expected = bf.audit(table, **ASKED | options).html()
    size = decimal(out.stat().st_size)
    assert (done.code, done.out, done.err) == (0, "", f"wrote {out} (HTML, {size})\n")
    assert but_for_the_call(out.read_text("utf-8")) == but_for_the_call(expected)


@pytest.mark.parametrize("text", OPTIONS)
def test_command_on_the_page_reproduces_the_page(run, people, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    run("audit", people.name, *LABELS, *shlex.split(text), "--out", "first.html")
    first = (tmp_path / "first.html").read_bytes()

    program, *words = shlex.split(call_of(first.decode()).replace("\\\n", " "))
    done = run(*words)

    size = decimal(len(first))
    assert (program, done.code, done.out) == ("balframe", 0, "")
    assert done.err == f"wrote audit.html (HTML, {size})\n"
    assert words[:2] == ["audit", "people.parquet"]
    assert words[-2:] == ["--out", "audit.html"]
    assert (tmp_path / "audit.html").read_bytes() == first


def test_command_on_the_page_has_only_options_that_are_not_defaults(run, people, monkeypatch):
    monkeypatch.chdir(people.parent)

    done = run(
        "audit", "people.parquet", "--unit", "row,rows", "--title", "It's a $HOME; page", *LABELS,
        "--level", "0.95", "--min-support", "40",
    )  # fmt: skip

    assert call_of(done.out).split(" \\\n    ") == [
        "balframe audit people.parquet",
        "--y-true y",
        "--y-pred p",
        "--min-support 40",
        "--title 'It'\"'\"'s a $HOME; page'",
        "--pos-label yes",
        "--out audit.html",
    ]


def test_command_on_the_page_names_the_first_20_of_many_files(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"{number:02}.csv" for number in range(30)]
    for name in names:
        (tmp_path / name).write_text("y,p\n1,1\n0,1\n")

    first, second, *_ = call_of(run("audit", *names, "--y-true", "y", "--y-pred", "p").out).split(
        "\n"
    )

    assert first == "# 30 files, the first 20 of which are named here"
    assert second == f"balframe audit {' '.join(names[:20])} \\"


def test_file_name_like_an_option_is_written_as_a_path(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.csv").write_text("y,p\n1,1\n0,1\n")

    done = run("audit", "--y-true", "y", "--y-pred", "p", "--", "-x.csv")

    assert call_of(done.out).startswith("balframe audit ./-x.csv \\\n")


@pytest.mark.parametrize("name", ["a.md", "a.MARKDOWN"])
def test_markdown_extension_selects_the_format(run, people, table, tmp_path, name):
    done = run("audit", people, *LABELS, "--out", tmp_path / name)

    written = (tmp_path / name).read_text("utf-8")
    expected = bf.audit(table, **ASKED).markdown()
    size = decimal(len(written.encode()))
    message = f"wrote {tmp_path / name} (Markdown, {size})\n"
    assert (done.code, done.out, done.err) == (0, "", message)
    assert written.partition("### To repeat it")[0] == expected.partition("### To repeat it")[0]
    assert "\nbalframe audit " in written


def test_a_pipe_gets_html_or_the_requested_format(run, people, tmp_path):
    run("audit", people, *LABELS, "--out", tmp_path / "a.htm")
    run("audit", people, *LABELS, "--out", tmp_path / "a.txt", "--format", "markdown")

    assert run("audit", people, *LABELS).out == (tmp_path / "a.htm").read_text("utf-8")
    in_markdown = run("audit", people, *LABELS, "--format", "markdown").out
    assert in_markdown == (tmp_path / "a.txt").read_text("utf-8")
    assert in_markdown.startswith("# Audit of p\n")


def test_terminal_output_is_refused_unless_a_format_is_requested(run, people, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    refused = run("audit", people, *LABELS)
    asked = run("audit", people, *LABELS, "--format", "markdown")

    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "balframe: a page is not for a terminal. Give --out audit.html or --out audit.md, or "
        "redirect the output.\n"
    )
    assert (asked.code, asked.err) == (0, "")
    assert asked.out.startswith("# Audit of p\n")


@cases("kind", ["csv", "tsv", "ndjson", "json", "parquet", "arrow"])
def test_files_of_every_kind_give_the_same_page(run, tmp_path, table, kind):
    path = tmp_path / f"people.{kind}"
    writers = {
        "csv": table.write_csv,
        "tsv": lambda path: table.write_csv(path, separator="\t"),
        "ndjson": table.write_ndjson,
        "json": table.write_json,
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
    }
    writers[kind](path)

    page = run("audit", path, *LABELS, "--by", "g", "--y-score", "s").out

    expected = bf.audit(table, **ASKED, by="g", y_score="s").html()
    assert but_for_the_call(page) == but_for_the_call(expected)


def test_stored_cells_give_the_same_page(run, table, tmp_path):
    path = tmp_path / "cells.csv"
    bf.confusion(table, "y", "p", by=["g", "s"]).write_csv(path)

    page = run("audit", path, *LABELS, "--by", "g", "--y-score", "s", "--cells").out

    expected = bf.audit(table, **ASKED, by="g", y_score="s").html()
    assert but_for_the_call(page) == but_for_the_call(expected)
    assert "--cells" in call_of(page)


def test_score_column_may_also_be_the_prediction_with_a_threshold(run, people, table):
    # a column under another name may be both, as it may not be in Python
    page = run(
        "audit", people, "--y-true", "y", "--y-pred", "s", "--y-score", "s", "--threshold", "0.5",
        "--pos-label", "yes",
    ).out  # fmt: skip

    called = table.with_columns(
        pl.when(pl.col("s") >= 0.5).then(pl.lit("yes")).otherwise(pl.lit("no")).alias("s >= 0.5")
    )
    expected = bf.audit(called, **ASKED | {"y_pred": "s >= 0.5"}, y_score="s").html()
    assert but_for_the_call(page) == but_for_the_call(expected)
    assert "--threshold 0.5" in call_of(page)


def test_rules_come_from_a_file(run, people, table, tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text('rules = ["n >= 1", {rule = "recall >= 0.99", reason = "as agreed"}]')

    page = run("audit", people, *LABELS, "--by", "g", "--rules", rules).out

    expected = bf.audit(table, **ASKED, by="g", rules=rules).html()
    assert but_for_the_call(page) == but_for_the_call(expected)
    assert "as agreed" in page


WRONG = {
    "--out a.csv": "--out 'a.csv' ends in '.csv', which is not a supported format. Give --format, "
    "or use one of the extensions .html, .htm, .md, .markdown.",
    "--out a": "--out 'a' has no file extension. Give --format, or use one of the extensions "
    ".html, .htm, .md, .markdown.",
    "--out no/a.html": "--out 'no/a.html': the directory 'no' does not exist.",
    "--out .": "--out '.' has no file extension. Give --format, or use one of the extensions "
    ".html, .htm, .md, .markdown.",
    "--format html --out .": "--out '.' is a directory. Give the path of a file.",
    "--format csv": "Invalid value for '--format': 'csv' is not one of 'html', 'markdown'. See "
    "balframe audit --help.",
    "--sort g": "No such option: --sort. See balframe audit --help.",
    "--by nope": "column 'nope' not found. Columns: y, p, q, g, sex,",
    "--by g --by g": "--by names a column twice: 'g', 'g'; name each column once.",
    "--by s --y-score s": "column 's' is given as --y-score and as --by; leave it out of one",
    "--y-score s --y-score t": "--y-score names 2 columns and --y-pred 1 column; give one column",
    "--y-score g": "column 'g' is of type String, but --y-score needs numbers.",
    "--unit person": "--unit 'person' is no pair of words; give the singular and the plural, "
    "separated by a comma, as in person,people.",
    "--unit a,b,c": "--unit 'a,b,c' is no pair of words",
    "--title ''": "--title '' is no text; give words for the page, or omit it.",
    "--min-support 0": "--min-support 0 is not a number of rows; give a whole number of at least 1",
    "--level 2": "--level 2.0 is not a confidence level; give a number between 0 and 1",
    "--rule n>=1 --rules gate.toml": "give rules either one by one with --rule 'recall >= 0.7', or "
    "in a file with --rules gate.toml.",
    "--rule recall>=baseline": "rule 'recall>=baseline' compares with a baseline, which an audit "
    "does not have. Leave it out of --rules",
    "--missing keep": "Invalid value for '--missing': 'keep' is not one of 'raise', 'drop'.",
}


@pytest.mark.parametrize(("text", "part"), WRONG.items(), ids=WRONG)
def test_usage_errors_name_command_line_options(refused, people, monkeypatch, text, part):
    monkeypatch.chdir(people.parent)

    line = refused("audit", people.name, *LABELS, *shlex.split(text))

    assert part in line
    assert [path.name for path in people.parent.iterdir()] == [people.name]


def test_an_unknown_positive_label_is_refused(refused, people):
    line = refused("audit", people, *LABELS[:4], "--pos-label", "nix")

    assert "--pos-label 'nix' is not a label; give one of 'no', 'yes'." in line


def test_words_for_a_positive_label_are_refused_for_three_labels(refused, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("y,p\na,a\nb,b\nc,c\n")

    line = refused(
        "audit", path, "--y-true", "y", "--y-pred", "p", "--truth", "ill", "--call", "so"
    )

    assert line.startswith("--truth and --call name the positive label of two, but the labels are")


def test_a_positive_label_is_required_without_a_default(refused, people):
    pl.read_parquet(people).with_columns(truth="g", called="g").write_parquet(people)
    line = refused("audit", people, "--y-true", "truth", "--y-pred", "called")

    assert line.startswith("an audit of two labels needs --pos-label; give the one that counts as")


def test_without_jinja2_the_extra_is_named_before_any_work(refused, run, people, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        "balframe.frames.engines.registry.find_spec",
        lambda name: None if name == "jinja2" else find(name),
    )
    monkeypatch.setattr("balframe.audit_page.audit.audit_frame", None)  # which nothing may call

    line = refused("audit", people, *LABELS, "--out", people.with_name("a.html"))

    assert "need jinja2" in line
    assert "'balframe[audit]'" in line


def test_existing_file_is_kept_if_writing_fails(refused, people, tmp_path, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    out = tmp_path / "out.html"
    out.write_text("before")
    monkeypatch.setattr("balframe._atomic_write.os.replace", full)

    line = refused("audit", people, *LABELS, "--out", out)

    assert line == f"--out '{out}' cannot be written: No space left on device."
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "people.parquet"]


def test_file_without_rows_is_refused(refused, tmp_path):
    path = tmp_path / "header.csv"
    path.write_text("y,p\n")

    line = refused("audit", path, "--y-true", "y", "--y-pred", "p")

    assert line == "there are no rows, so there is nothing to audit."
