"""Names of the data that would act on a terminal, in Markdown, or in a spreadsheet."""

import csv
import io
import sys

import polars as pl
import pytest

from tests.support.cases import cases

pytestmark = pytest.mark.any_version

LABELS = ["--y-true", "y", "--y-pred", "p", "--metric", "accuracy"]
TITLE = "\x1b]0;title\x07"  # sets the title of a terminal
RED, LEFT, C1 = "\x1b[31mred", "\u202eevil\u2066", "\x9b31m"
HOSTILE = [TITLE, RED, LEFT, C1, "a\rb", "del\x7f"]
UNSAFE = "\x1b\x07\x9b\x7f\r\u202e\u2066"


@pytest.fixture
def by(run, tmp_path):
    """Report on groups of these names."""

    def report(names, *more, column="g"):
        path = tmp_path / "groups.parquet"
        n = len(names)
        pl.DataFrame({column: names, "y": [1] * n, "p": [1] * n}).write_parquet(path)
        return run("report", path, *LABELS, "--by", column, *more)

    return report


@pytest.fixture
def on_terminal(by, monkeypatch):
    """Report on groups, with a standard output that says that it is a terminal."""

    def report(names, *more):
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return by(names, *more)

    return report


@cases("form", ["csv", "json", "ndjson", "markdown", "table"])
def test_nothing_on_a_terminal_controls_it(on_terminal, form):
    done = on_terminal(HOSTILE, "--format", form)

    assert done.code == 0, done.err
    assert not {*UNSAFE} & {*done.out}
    assert len(done.out.splitlines()) >= (1 if form == "json" else len(HOSTILE))


@cases("form", ["csv", "ndjson", "json"])
def test_data_in_a_pipe_stay_as_they_are(by, form):
    done = by(HOSTILE, "--format", form)

    reader = {"csv": pl.read_csv, "ndjson": pl.read_ndjson, "json": pl.read_json}[form]
    assert sorted(reader(io.BytesIO(done.out.encode())).get_column("g")) == sorted(HOSTILE)


def test_line_ends_and_tabs_of_csv_stay_on_a_terminal(on_terminal):
    done = on_terminal(["two\nlines", "a\tb"], "--format", "csv")

    assert [row[0] for row in csv.reader(io.StringIO(done.out))] == ["g", "a\tb", "two\nlines"]


@cases("name", HOSTILE)
def test_messages_and_warnings_do_not_control_a_terminal(by, run, tmp_path, name):
    path = tmp_path / "labels.parquet"
    pl.DataFrame({"y": ["a", "b"] * 9, "p": [name] * 18}).write_parquet(path)
    warned = run("report", path, *LABELS)
    failed = run("require", path, *LABELS[:4], "--by", "p", "--rule", "accuracy > 0.5")
    refused = by([name], "--sort", name)
    unknown = run(name, f"--{name}")

    for done in (warned, failed, refused, unknown):
        assert done.err.startswith("balframe: "), done
        assert not {*UNSAFE} & {*done.err}


@cases(
    ("name", "cell"),
    [
        ("![i](http://a.b)", r"!\[i\](http\://a.b)"),
        ("[l](javascript:x)", r"\[l\](javascript:x)"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("&#60;b&#62;", "&amp;#60;b&amp;#62;"),
        ("**b** _i_ ~~s~~ `c`", r"\*\*b\*\* \_i\_ \~\~s\~\~ \`c\`"),
        ("a_b", "a_b"),
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("https://a.b www.c.d", r"https\://a.b www\.c.d"),
        ("x@y", "x@\N{WORD JOINER}y"),
        ("$x$", r"\$x\$"),
        ("two\nlines", "two lines"),
        (RED, "\N{REPLACEMENT CHARACTER}\\[31mred"),
        (LEFT, "\N{REPLACEMENT CHARACTER}evil\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_markdown_shows_names_as_text(by, name, cell):
    header, _, row = by([name], "--format", "markdown").out.splitlines()

    assert row == f"| {cell} | 1 | 1.000 |"
    header, *_ = by(["a"], "--format", "markdown", column=name).out.splitlines()
    assert header == f"| {cell} | n | accuracy |"


FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\N{FULLWIDTH EQUALS SIGN}1"]
PLAIN = ["a=1", "-1", "+0.5", "-", "1-2", "a@b", ""]


@cases("name", FORMULAS)
def test_excel_safe_csv_has_no_formulas(by, name):
    plain, safe = by([name], column=name), by([name], "--excel-safe", column=name)

    first, second = (list(csv.reader(io.StringIO(done.out, newline=""))) for done in (plain, safe))
    assert (first[0][0], first[1][0]) == (name, name)
    assert (second[0][0], second[1][0]) == (f"'{name}", f"'{name}")
    assert [row[1:] for row in first] == [row[1:] for row in second]


def test_excel_safe_csv_leaves_other_values_alone(by):
    names = [name for name in PLAIN if name != "-"]

    assert by(names, "--excel-safe").out == by(names).out


def test_excel_safe_holds_for_categories_files_and_negative_numbers(run, tmp_path):
    path, out = tmp_path / "data.parquet", tmp_path / "out.csv"
    frame = pl.DataFrame({"g": ["=1"], "k": [-5], "y": [1], "p": [0]})
    frame.with_columns(pl.col("g").cast(pl.Categorical)).write_parquet(path)

    done = run("report", path, *LABELS, "--by", "g", "--by", "k", "--excel-safe", "--out", out)

    assert (done.code, done.err) == (0, "")
    assert out.read_text().splitlines()[1].startswith("'=1,-5,1,")


@cases("form", ["json", "ndjson", "markdown", "table", "parquet"])
def test_excel_safe_is_only_for_csv(by, form):
    done = by(["a"], "--excel-safe", "--format", form)

    assert (done.code, done.out) == (2, "")
    assert f"--excel-safe is only for csv, but the output is {form}. Omit it" in done.err
