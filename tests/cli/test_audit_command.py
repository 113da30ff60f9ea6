"""`balframe audit`: its options, its files, the command on its page, and wrong use in its words."""

import json
import re
import shlex
import sys
from hashlib import sha256
from html import unescape
from importlib import util
from io import BytesIO
from types import SimpleNamespace

import polars as pl
import pytest
from rich.filesize import decimal

import balframe as bf
from tests.support.cases import cases

pytest.importorskip("jinja2")

LABELS = ["--y-true", "y", "--y-pred", "p", "--pos-label", "yes"]
ASKED = {"y_true": "y", "y_pred": "p", "pos_label": "yes"}
CALLS = re.compile(r"<pre><code>(.*?)</code></pre>", re.DOTALL)
COVERS = re.compile(r'<dl class="cover">.*?</dl>\n', re.DOTALL)
SHA_256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
OPTIONS = {
    "": {},
    "--by g --by sex": {"by": ["g", "sex"]},
    "--by g --by sex --intersection sex,g": {"by": ["g", "sex", bf.intersection("sex", "g")]},
    "--by g --by sex --intersection none": {"by": ["g", "sex", bf.intersection()]},
    "--y-score s": {"y_score": "s"},
    "--y-pred q --y-score s --y-score t": {"y_pred": ["p", "q"], "y_score": ["s", "t"]},
    "--by g --rule recall>=0.5 --rule 'difference(recall) <= 0.2'": {
        "by": "g",
        "rules": ["recall>=0.5", "difference(recall) <= 0.2"],
    },
    "--title 'A title' --subtitle 'of two words'": {
        "words": {"title": "A title", "subtitle": "of two words"}
    },
    "--truth 'found to be so' --selected 'said to be so'": {
        "words": {"truth": "found to be so", "selected": "said to be so"}
    },
    "--favourable 'not selected' --prediction-word decision,decisions": {
        "favourable": "not selected",
        "words": {"prediction": ("decision", "decisions")},
    },
    "--unit person,people": {"words": {"unit": ("person", "people")}},
    "--unit 'test case, test cases'": {"words": {"unit": ("test case", "test cases")}},
    "--by g --min-support 5 --level 0.8": {"by": "g", "min_support": 5, "level": 0.8},
    "--by g --sample-weight w": {"by": "g", "sample_weight": "w"},
    "--time d --every 2w": {"by": bf.period("d", "2w")},
    "--by g --by k --bins k=2": {"by": ["g", bf.bins("k", 2)]},
    "--by g --cluster k": {"by": "g", "cluster": "k"},
    "--counts k --missing drop": {"counts": "k", "missing": "drop"},
    "--label no --label yes --max-cells 900": {"labels": ["no", "yes"], "max_cells": 900},
    "--note auditor='Jane Doe' --note sites=12": {"cover": {"auditor": "Jane Doe", "sites": 12}},
}


def call_of(page):
    """Take the call out of a page."""
    (call,) = CALLS.findall(page)
    return unescape(call)


def but_for_call_and_cover(page):
    return COVERS.sub("", CALLS.sub("", page))


def cover_of(page):
    """Take the labels and texts of the cover out of a page."""
    (cover,) = COVERS.findall(page)
    lines = [re.sub("</?(bdi|code)>", "", unescape(line)) for line in cover.splitlines()[1:-1]]
    labels = [re.search("<dt>(.*?)</dt>", line)[1] for line in lines]
    return dict(zip(labels, (re.findall("<dd>(.*?)</dd>", line) for line in lines), strict=True))


@cases(("text", "options"), OPTIONS.items())
def test_every_option_reaches_the_page(run, people, table, tmp_path, text, options):
    out = tmp_path / "out.html"

    done = run("audit", people, *LABELS, *shlex.split(text), "--out", out)

    expected = bf.audit(table, **ASKED | options).html()
    size = decimal(out.stat().st_size)
    assert (done.code, done.out, done.err) == (0, "", f"wrote {out} (HTML, {size})\n")
    assert but_for_call_and_cover(out.read_text("utf-8")) == but_for_call_and_cover(expected)


@cases(
    ("text", "options"),
    [
        ("--outcome p --by g", {"outcome": "p", "by": "g"}),
        (
            "--outcome p --outcome q --cluster k --truth 'did it' --unit run,runs",
            {
                "outcome": ["p", "q"],
                "cluster": "k",
                "words": {"truth": "did it", "unit": ("run", "runs")},
            },
        ),
        ("--outcome p --by g --rule rate>=0.2", {"outcome": "p", "by": "g", "rules": "rate>=0.2"}),
    ],
)
def test_outcomes_take_the_place_of_labels(
    run, people, table, tmp_path, monkeypatch, text, options
):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(text)
    run("audit", people.name, *words, "--pos-label", "yes", "--out", "out.html")
    page = (tmp_path / "out.html").read_text("utf-8")
    expected = bf.audit(table, pos_label="yes", **options).html()
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)

    _, *again = shlex.split(call_of(page).replace("\\\n", " "))
    run(*again)
    assert (tmp_path / "audit.html").read_text("utf-8") == page


def test_outcomes_come_from_a_configuration_and_a_baseline_from_a_file(
    run, people, table, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "balframe.toml").write_text('[audit]\noutcome = "p"\npos_label = "yes"\n')
    then = table.head(40)
    then.write_csv("then.csv")
    bf.confusion(then, outcome="p", by="g", pos_label="yes").write_csv("cells.csv")
    expected = bf.audit(table, outcome="p", by="g", pos_label="yes", baseline=then).markdown()
    figures = re.compile("## In brief.*### To repeat it", re.DOTALL)
    for file in ("then.csv", "cells.csv"):
        done = run("audit", people.name, "--by", "g", "--baseline", file, "--format", "markdown")
        assert done.code == 0
        assert figures.findall(done.out) == figures.findall(expected)


@cases(
    ("text", "line"),
    [
        ("", "Missing --y-true COLUMN, --y-pred COLUMN. See balframe audit --help."),
        (
            "--outcome p --y-true y",
            "--outcome takes the place of --y-true and --y-pred, but --y-true is given too; omit "
            "one.",
        ),
        (
            "--outcome p --y-score s --favourable selected",
            "--y-score and --favourable are about predictions, but --outcome has rows that passed "
            "or not, without a truth and predictions. Omit them.",
        ),
        (
            "--outcome p --intersection none",
            "--intersection is about predictions, but --outcome has rows that passed or not, "
            "without a truth and predictions. Omit it.",
        ),
        (
            "--outcome p",
            "column 'p' is given as --outcome and is neither 0 and 1 nor false and true; give "
            "--pos-label, the value of a row that passes.",
        ),
    ],
)
def test_wrong_use_of_outcomes_is_named_as_the_shell_has_it(refused, people, text, line):
    assert refused("audit", people, *shlex.split(text), "--format", "html") == line


def test_baseline_is_a_file_of_rows_or_of_cells(run, people, table, tmp_path):
    then = table.head(40)
    rows, cells = tmp_path / "then.csv", tmp_path / "cells.csv"
    then.write_csv(rows)
    bf.confusion(then, "y", "p", by="g").write_csv(cells)
    options = {"by": "g", "rules": "recall >= baseline - 0.1"}
    expected = bf.audit(table, **ASKED, baseline=then, **options).html()
    for file in (rows, cells):
        text = ["--by", "g", "--rule", "recall >= baseline - 0.1", "--baseline", file]
        done = run("audit", people, *LABELS, *text, "--out", tmp_path / "out.html")
        page = (tmp_path / "out.html").read_text("utf-8")
        assert done.code == 0
        assert f"--baseline {file.name}" in call_of(page)
        assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)


def test_baseline_that_is_no_file_is_refused(run, people):
    done = run("audit", people, *LABELS, "--baseline", "q", "--out", "out.md")
    assert (done.code, done.err) == (
        2,
        "balframe: --baseline 'q' is not a file. Give a file with the rows of an earlier audit, or "
        "with their cells, as balframe confusion writes them, or a run of a Delta table, as in "
        "runs@last.\n",
    )


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


def test_bins_are_edges_or_a_number_for_each_column(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pl.DataFrame(
        {
            "my age": [18 + i % 70 for i in range(280)],
            "income": [i * 7 % 280 / 4 for i in range(280)],
            "y": [i % 2 for i in range(280)],
            "p": [i // 2 % 2 for i in range(280)],
        }
    )
    data.write_csv("loans.csv")
    words = ["audit", "loans.csv", "--y-true", "y", "--y-pred", "p", "--by", "my age"]

    page = run(*words, "--by", "income", "--bins", "my age=25,45", "--bins", "income=3").out
    two = run(*words, "--bins", "my age=40,").out

    bins = [bf.bins("my age", [25, 45]), bf.bins("income", 3)]
    expected = bf.audit(data, "y", "p", by=bins).html()
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)
    assert "25 to 45" in page
    assert "    --bins 'my age=25,45' \\\n    --bins income=3 \\\n" in call_of(page)
    assert "40 or more" in two
    assert refused(*words) == (
        "column 'my age' in --by has 70 different numbers, each of which is a group. Cut it into "
        "bins of about equally many rows with --bins 'my age=4', or at edges of yours with --bins "
        "'my age=35,52,70'."
    )
    line = refused(*words, "--bins", "my age=x")
    assert line.startswith("--bins 'my age=x' is not valid; give a number of bins, as in 4, none, ")


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
    expected = bf.audit(table, **ASKED, cover={"files": [people]}).markdown()
    size = decimal(len(written.encode()))
    message = f"wrote {tmp_path / name} (Markdown, {size})\n"
    assert (done.code, done.out, done.err) == (0, "", message)
    assert written.partition("### To repeat it")[0] == expected.partition("### To repeat it")[0]
    assert "\nbalframe audit " in written


def test_evidence_is_written_beside_the_page(run, people, table, tmp_path):
    out, evidence = tmp_path / "a.md", tmp_path / "evidence.txt"

    done = run("audit", people, *LABELS, "--by", "g", "--out", out, "--evidence", evidence)

    page, data = out.read_text("utf-8"), json.loads(evidence.read_text("utf-8"))
    sizes = [decimal(path.stat().st_size) for path in (out, evidence)]
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        f"wrote {evidence} (evidence, {sizes[1]})\nwrote {out} (Markdown, {sizes[0]})\n"
    )
    expected = bf.audit(table, **ASKED, by="g").evidence()
    of_command = {"call", "cover"}
    assert {k: v for k, v in data.items() if k not in of_command} == {
        k: v for k, v in expected.items() if k not in of_command
    }
    assert data["call"] in page
    assert "--evidence" not in data["call"]  # the name of the file does not matter
    assert [file["name"] for file in data["cover"]["files"]] == [people.name]


def test_evidence_is_written_to_a_file_where_the_page_goes_to_a_pipe(run, people, tmp_path):
    evidence = tmp_path / "evidence.json"

    done = run("audit", people, *LABELS, "--format", "markdown", "--evidence", evidence)

    assert done.out == run("audit", people, *LABELS, "--format", "markdown").out
    assert json.loads(evidence.read_text("utf-8"))["schema"] == "balframe.audit/1"


def test_existing_evidence_is_kept_if_writing_fails(refused, people, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    evidence, out = tmp_path / "evidence.json", tmp_path / "a.md"
    evidence.write_text("before")
    monkeypatch.setattr("balframe._atomic_write.os.replace", full)

    line = refused("audit", people, *LABELS, "--out", out, "--evidence", evidence)

    assert line == f"--evidence '{evidence}' cannot be written: No space left on device."
    assert evidence.read_text() == "before"
    assert not out.exists()


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
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)


def test_stored_cells_give_the_same_page(run, table, tmp_path):
    path = tmp_path / "cells.csv"
    bf.confusion(table, "y", "p", by=["g", "s"]).write_csv(path)

    page = run("audit", path, *LABELS, "--by", "g", "--y-score", "s", "--cells").out

    expected = bf.audit(table, **ASKED, by="g", y_score="s").html()
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)
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
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)
    assert "--threshold 0.5" in call_of(page)


def test_rules_come_from_a_file(run, people, table, tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text('rules = ["n >= 1", {rule = "recall >= 0.99", reason = "as agreed"}]')

    page = run("audit", people, *LABELS, "--by", "g", "--rules", rules).out

    expected = bf.audit(table, **ASKED, by="g", rules=rules).html()
    assert but_for_call_and_cover(page) == but_for_call_and_cover(expected)
    assert "as agreed" in page


def test_cover_comes_from_a_file_and_from_notes_which_win(run, people, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "method.txt").write_bytes(b"abc")
    cover = tmp_path / "folder" / "cover.toml"
    cover.write_text(
        'sites = 12\nauditor = "Jane Doe"\ndate = 2026-05-04\nfiles = ["method.txt"]\n'
        'organization = "Example"\n'
    )

    page = run(
        "audit", people, *LABELS, "--cover", cover, "--note", "auditor=J. Roe = Doe",
        "--note", "contact=a", "--note", "contact=b",
    ).out  # fmt: skip

    digest = sha256(people.read_bytes()).hexdigest()
    assert list(cover_of(page).items()) == [
        ("Organisation", ["Example"]),
        ("Auditor", ["J. Roe = Doe"]),
        ("Date of the audit", ["2026-05-04"]),
        ("Files", [f"method.txt SHA-256 {SHA_256_OF_ABC}", f"people.parquet SHA-256 {digest}"]),
        ("sites", ["12"]),
        ("contact", ["a", "b"]),
        ("Made with", [f"balframe {bf.__version__}"]),
    ]


def test_files_of_a_note_stand_in_the_place_of_those_of_the_cover(run, people, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"abc")
    (tmp_path / "b.txt").write_bytes(b"abc")
    (tmp_path / "cover.toml").write_text("files = ['a.txt']")

    page = run(
        "audit", people, *LABELS, "--cover", tmp_path / "cover.toml", "--note",
        f"files={tmp_path / 'b.txt'}", "--note", f"files={people}",
    ).out  # fmt: skip

    digest = sha256(people.read_bytes()).hexdigest()
    files = [f"b.txt SHA-256 {SHA_256_OF_ABC}", f"people.parquet SHA-256 {digest}"]
    assert cover_of(page)["Files"] == files
    assert "--note files=b.txt \\\n    --note files=people.parquet" in call_of(page)


def test_cover_has_the_first_20_files_of_rows_and_the_number_of_the_others(run, tmp_path):
    (tmp_path / "data").mkdir()
    for number in range(23):
        (tmp_path / "data" / f"{number:02}.csv").write_text("y,p\n1,1\n0,1\n" + "1,1\n" * number)

    of_folder, of_pattern = (
        run("audit", tmp_path / name, "--y-true", "y", "--y-pred", "p").out
        for name in ("data", "data/*.csv")
    )

    *files, more = cover_of(of_folder)["Files"]
    assert files == [
        f"{number:02}.csv SHA-256 "
        + sha256(("y,p\n1,1\n0,1\n" + "1,1\n" * number).encode()).hexdigest()
        for number in range(20)
    ]
    assert more == "3 more files"
    assert cover_of(of_pattern) == cover_of(of_folder)
    assert call_of(of_folder).startswith("balframe audit data \\\n")
    assert call_of(of_pattern).startswith("balframe audit '*.csv' \\\n")


def test_standard_input_has_no_file_on_the_cover(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(b"y,p\n1,1\n0,1\n")))
    page = run("audit", "-", "--y-true", "y", "--y-pred", "p").out

    assert COVERS.findall(page) == []
    assert call_of(page).startswith("balframe audit - \\\n")


def test_page_does_not_depend_on_the_folder_that_the_command_runs_in(
    run, people, tmp_path, monkeypatch
):
    other = tmp_path / "other" / "folder"
    other.mkdir(parents=True)
    (tmp_path / "gate.toml").write_text("rules = ['n >= 1']")
    (tmp_path / "method.txt").write_bytes(b"abc")
    (tmp_path / "cover.toml").write_text("files = ['method.txt']\nauditor = 'Jane Doe'")

    pages = []
    for folder, prefix in ((tmp_path, ""), (other, "../../"), (other, f"{tmp_path}/")):
        monkeypatch.chdir(folder)
        done = run(
            "audit", f"{prefix}people.parquet", *LABELS, "--by", "g", "--rules",
            f"{prefix}gate.toml", "--cover", f"{prefix}cover.toml", "--out", "audit.html",
        )  # fmt: skip
        assert done.code == 0, done.err
        pages.append((folder / "audit.html").read_bytes())

    assert pages[0] == pages[1] == pages[2]
    assert str(tmp_path).encode() not in pages[0]
    assert call_of(pages[0].decode()).split(" \\\n    ") == [
        "balframe audit people.parquet",
        "--y-true y",
        "--y-pred p",
        "--by g",
        "--rules gate.toml",
        "--cover cover.toml",
        "--pos-label yes",
        "--out audit.html",
    ]


def test_a_file_that_the_cover_names_is_not_overwritten(refused, people, tmp_path):
    earlier = tmp_path / "earlier.md"
    earlier.write_bytes(b"abc")

    line = refused("audit", people, *LABELS, "--note", f"files={earlier}", "--out", earlier)

    assert line == (
        f"--out '{earlier}' is a file that the cover names, and would be overwritten. Give another "
        "path."
    )
    assert earlier.read_bytes() == b"abc"


WRONG = {
    "--out a.csv": "--out 'a.csv' ends in '.csv', which is not a supported format. Give --format, "
    "or use one of the extensions .html, .htm, .md, .markdown.",
    "--out a": "--out 'a' has no file extension. Give --format, or use one of the extensions "
    ".html, .htm, .md, .markdown.",
    "--out no/a.html": "--out 'no/a.html': the directory 'no' does not exist.",
    "--out .": "--out '.' has no file extension. Give --format, or use one of the extensions "
    ".html, .htm, .md, .markdown.",
    "--format html --out .": "--out '.' is a directory. Give the path of a file.",
    "--evidence no/a.json": "--evidence 'no/a.json': the directory 'no' does not exist.",
    "--evidence .": "--evidence '.' is a directory. Give the path of a file.",
    "--format csv": "Invalid value for '--format': 'csv' is not one of 'html', 'markdown'. See "
    "balframe audit --help.",
    "--sort g": "No such option: --sort. Did you mean --format? See balframe audit --help.",
    "--by nope": "column 'nope' not found. Columns: y, p, q, g, sex,",
    "--by g --by g": "--by names a column twice: 'g', 'g'; name each column once.",
    "--by s --y-score s": "column 's' is given as --y-score and as --by; leave it out of one",
    "--y-score s --y-score t": "--y-score names 2 columns and --y-pred 1 column; give one column",
    "--y-score g": "column 'g' must hold numbers, but holds the text 'a'.",
    "--unit person": "'person' is not a pair of words; give the singular and the plural, "
    "separated by a comma, as in person,people.",
    "--unit a,b,c": "'a,b,c' is not a pair of words",
    "--title ''": "--title '' is not text; give words for the page, or omit it.",
    "--min-support 0": "--min-support 0 is not a number of rows; give a whole number of at least 1",
    "--level 2": "--level 2.0 is not a confidence level; give a number between 0 and 1",
    "--rule n>=1 --rules gate.toml": "give rules either one by one with --rule 'recall >= 0.7', or "
    "in a file with --rules gate.toml.",
    "--rule recall>=baseline": "rule 'recall>=baseline' compares with a baseline; give earlier "
    "data as --baseline, or leave the rule out of --rules.",
    "--note abc": "--note 'abc' is not valid; give a key and its value, as in auditor='Jane Doe'.",
    "--note =abc": "--note '=abc' is not valid; give a key",
    "--note purpsoe=abc": "--note: the key 'purpsoe' is not known; did you mean 'purpose'?",
    "--note auditor=": "--note: the value of 'auditor' is ''; give text",
    "--note files=no.pdf": "--note: the file 'no.pdf' cannot be read: No such file or directory.",
    "--cover no.toml": "no.toml: the cover cannot be read: No such file or directory. Give the "
    "path of a .toml file.",
    "--missing keep": "Invalid value for '--missing': 'keep' is not one of 'raise', 'drop', "
    "'correct'.",
}


@pytest.mark.parametrize(("text", "part"), WRONG.items(), ids=WRONG)
def test_usage_errors_name_command_line_options(refused, people, monkeypatch, text, part):
    monkeypatch.chdir(people.parent)

    line = refused("audit", people.name, *LABELS, *shlex.split(text))

    assert part in line
    assert [path.name for path in people.parent.iterdir()] == [people.name]


def test_an_unknown_positive_label_is_refused(refused, people):
    line = refused("audit", people, *LABELS[:4], "--pos-label", "nix")

    assert "--pos-label 'nix' is not a label; give one of 'no', 'yes', or add it to --label" in line


def test_words_for_a_positive_label_are_refused_for_three_labels(refused, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("y,p\na,a\nb,b\nc,c\n")

    line = refused(
        "audit", path, "--y-true", "y", "--y-pred", "p", "--truth", "ill", "--selected", "so"
    )

    assert line.startswith("--truth and --selected are about two labels, but the labels are")


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
