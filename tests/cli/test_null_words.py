"""Words that stand for no value in csv: `--null`, and hints where it is missing."""

import gzip
import html

import polars as pl
import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
R_FILE = '"y","p","q","g"\n1,1,1,"a"\n0,NA,0,"NA"\n1,0,1,"b"\n'


@pytest.fixture
def written(tmp_path):
    """Write a file of text, and return its path."""

    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def rows(done):
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[1:]


def test_null_words_are_missing_values(run, refused, written):
    path = written(R_FILE)

    line = refused("report", path, *LABELS, "--null", "NA")
    assert "column 'p' has 1 null value" in line
    done = run("report", path, *LABELS, *SCORE, "--null", "NA", "--missing", "drop")
    assert rows(done) == ["2,1,0.5,1,2"]  # one of two right; the row of NA is left out
    groups = run(
        "report", path, "--y-true", "y", "--y-pred", "q", *SCORE, "--by", "g", "--null", "NA"
    )
    assert [row.split(",")[0] for row in rows(groups)] == ["a", "b", ""]


@cases("words", [["NA", "NULL"], ["NULL", "NA", "?"]])
def test_several_null_words_are_missing_values(run, written, words):
    path = written("y,p\n1,1\nNA,1\nNULL,0\n0,0\n")
    options = [text for word in words for text in ("--null", word)]

    done = run("report", path, *LABELS, *SCORE, *options, "--missing", "drop")

    assert rows(done) == ["2,2,1.0,2,1"]


@cases("name", ["data.tsv", "data.csv.gz"])
def test_null_words_hold_for_all_text_with_separators(run, written, name):
    text = "y\tp\n1\t1\nNA\t1\n0\t0\n".replace("\t", "\t" if "tsv" in name else ";")
    path = written(gzip.compress(text.encode()) if name.endswith("gz") else text, name)

    done = run("report", path, *LABELS, *SCORE, "--null", "NA", "--missing", "drop")

    assert rows(done) == ["2,1,1.0,2,1"]


def test_decimal_commas_are_found_beside_null_words(run, written):
    path = written("y;p;w\n1;1;0,5\n0;1;1\n0;0;2,5\n0;1;NA\n")

    done = run(
        "report", path, *LABELS, *SCORE, "--sample-weight", "w", "--null", "NA", "--missing", "drop"
    )

    assert rows(done) == ["3,1,0.75,2,1"]


@cases("name", ["data.parquet", "data.arrow"])
def test_null_words_are_not_for_files_that_have_types(refused, tmp_path, name):
    frame, path = pl.DataFrame({"y": [1], "p": [1]}), tmp_path / name
    frame.write_ipc(path) if name.endswith("arrow") else frame.write_parquet(path)

    line = refused("report", path, *LABELS, "--null", "NA")

    assert line.startswith("--null is only for csv, JSON and xlsx, but the input is ")


ITEMS = ['{"y":1,"p":1,"w":0.5}', '{"y":"NA","p":"NA","w":1}', '{"y":0,"p":1,"w":"?"}']
IN_JSON = {"data.ndjson": "\n".join(ITEMS), "data.json": f"[{','.join(ITEMS)}]"}
NULLS = ["--null", "NA", "--null", "?", "--missing", "drop"]


@cases("name", IN_JSON)
def test_null_words_of_json_are_missing_values_beside_numbers(run, refused, written, name):
    path = written(IN_JSON[name], name)

    line = refused("report", path, *LABELS)
    done = run("report", path, *LABELS, *SCORE, *NULLS)
    weighted = run("report", path, *LABELS, *SCORE, *NULLS, "--sample-weight", "w")

    assert line.startswith("column 'y' holds numbers, and 'NA'. Give --null NA if ")
    assert rows(done) == ["2,1,0.5,2,1"]  # the row of NA is left out
    assert rows(weighted) == ["1,2,1.0,1,1"]  # that without a weight too


def test_null_words_of_json_are_missing_values_beside_true_and_false(run, written):
    path = written('{"y":true,"p":true}\n{"y":false,"p":"NA"}\n{"y":false,"p":true}\n', "a.ndjson")

    assert rows(run("report", path, *LABELS, *SCORE, *NULLS)) == ["2,1,0.5,2,1"]


def test_null_words_of_xlsx_are_missing_values(run, refused, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book, path = openpyxl.Workbook(), tmp_path / "data.xlsx"
    for values in (["y", "p"], [1, 1], [0, "?"], [0, 1]):
        book.active.append(values)
    book.save(path)

    assert "column 'p' holds numbers, and '?'. Give " in refused("report", path, *LABELS)
    assert rows(run("report", path, *LABELS, *SCORE, *NULLS)) == ["2,1,0.5,2,1"]


@cases("ending", ["csv", "parquet", "ndjson"])
def test_null_words_hold_for_stored_cells_and_expected_segments(run, written, tmp_path, ending):
    data, path = written("y,p,g\n" + "1,1,a\n0,0,NA\n" * 30), tmp_path / f"cells.{ending}"
    cells = pl.DataFrame({"g": ["a", "NA"], "y": [1, 0], "p": [1, 0], "n": [30, 30]})
    getattr(cells, f"write_{ending}")(path)
    asked = ["check", data, *LABELS, "--by", "g", "--null", "NA", "--format", "csv"]

    compared = run(*asked, "--rule", "accuracy >= baseline - 0.9", "--baseline", path)
    expected = run(*asked, "--rule", "n >= 1", "--expect", path)

    for done in (compared, expected):
        assert done.code == 0, done.err
        assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["a", ""]


@cases(
    ("word", "typed"),
    [
        ("NA", "NA"),
        ("NULL", "NULL"),
        ("nan", "nan"),
        ("n/a", "n/a"),
        ("n.a.", "n.a."),
        ("#N/A", "'#N/A'"),
        ("?", "'?'"),
        (".", "."),
        ("-", "-"),
        ("\\N", "'\\N'"),
        (" NA", "' NA'"),
    ],
)
def test_strings_that_look_like_nulls_beside_numbers_are_refused(run, written, word, typed):
    path = written(f"y,p\n1,1\n0,0\n{word},0\n0,{word}\n1,1\n")

    done = run("report", path, *LABELS)

    assert done.code == 2
    (line,) = done.err.splitlines()
    assert f"column 'y' holds numbers, and {word!r} on line 4 of '{path}'. " in line
    assert f"Give --null {typed} if that means that there is no value" in line


@cases(
    ("values", "words"),
    [
        (["true", "NA", "false"], "true and false"),
        (["0.5", "NA", "1e-3"], "numbers"),
        (["-1", "1", "NA"], "numbers"),
    ],
)
def test_words_beside_other_values_are_refused(refused, written, values, words):
    path = written("y,p\n" + "".join(f"{value},{value}\n" for value in values))

    line = refused("report", path, *LABELS)

    assert f"column 'y' holds {words}, and 'NA' on line " in line


def test_all_null_words_of_a_column_are_advised(refused, written):
    path = written("y,p\n1,1\n0,1\nNA,0\n?,0\n")

    assert "Give --null NA --null '?' if" in refused("report", path, *LABELS)


@cases(
    ("option", "column"),
    [("--sample-weight", "w"), ("--time", "d"), ("--y-score", "w"), ("--counts", "k")],
)
def test_every_column_of_numbers_or_dates_is_checked(refused, written, option, column):
    path = written("y,p,w,k,d\n1,1,.5,1,2026-01-01\n0,0,NA,NA,NA\n")
    command = "ranking" if option == "--y-score" else "report"
    labels = LABELS[:2] if command == "ranking" else LABELS
    more = ["--every", "1d"] if option == "--time" else []

    line = refused(command, path, *labels, option, column, *more)

    assert f"column {column!r} holds " in line
    assert "and 'NA' on line 3 of " in line


def test_a_group_beside_numbers_is_a_warning(run, written):
    path = written("y,p,g\n1,1,10\n0,0,NA\n1,1,9\n")

    done = run("report", path, *LABELS, *SCORE, "--by", "g")

    assert done.code == 0
    assert [row.split(",")[0] for row in done.out.splitlines()[1:]] == ["10", "9", "NA"]
    (line,) = done.err.splitlines()
    assert line.startswith("balframe: warning: column 'g' holds numbers, and 'NA' on line 3 of ")
    assert "Give --null NA if that means that there is no value" in line


@cases(
    "text",
    ["y,p\nyes,NA\nno,no\n", "y,p\nNA,NA\nNA,NA\n", "y,p\n1,1\n0,0\n", "y,p,x\n1,1,1\n0,0,NA\n"],
)
def test_words_beside_strings_and_columns_that_are_not_used_are_left_alone(run, written, text):
    done = run("report", written(text), *LABELS, "--metric", "accuracy")

    assert (done.code, done.err) == (0, "")


def test_a_null_word_in_one_of_several_files_is_named(refused, written, tmp_path):
    written("y,p\n1,1\n0,0\n", "a.csv")
    path = written("y,p\n1,1\nNA,0\n", "b.csv")

    line = refused("report", tmp_path, *LABELS)

    assert f"column 'y' holds numbers, and 'NA' on line 3 of '{path}'. Give --null NA if " in line


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_late_word_is_quoted_with_its_line(run, refused, written, name):
    text = 'y,p,c\n0,0,"two\nlines"\n' + "1,1,c\n" * 10_001 + "1,NA,c\n1,1,c\n"
    path = written(gzip.compress(text.encode()) if name.endswith("gz") else text, name)

    line = refused("report", path, *LABELS)

    assert "column 'p' holds numbers, and 'NA' on line 10,005 of " in line
    assert f"of '{path}'. Give --null NA if that means that there is no value" in line
    done = run("report", path, *LABELS, *SCORE, "--null", "NA", "--missing", "drop")
    assert rows(done) == ["10003,1,1.0,2,1"]


def test_the_page_of_an_audit_repeats_null_words(run, written):
    pytest.importorskip("jinja2")
    path = written("y,p\n" + "1,1\n0,0\nNA,0\n" * 5)

    done = run("audit", path, *LABELS, "--null", "NA", "--missing", "drop")

    assert done.code == 0, done.err
    assert "--null NA" in html.unescape(done.out)
