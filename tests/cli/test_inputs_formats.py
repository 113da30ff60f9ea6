"""What is read: every format by its ending or first bytes, separators, and streams."""

import gzip
import io
import shutil
import subprocess
import sys
from types import SimpleNamespace

import polars as pl
import pytest

import balframe as bf
from balframe.cli.files.formats import FORMATS
from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
ROWS = pl.DataFrame({"y": [1, 1, 0, 0, 1], "p": [1, 0, 0, 1, 1], "g": ["a", "b", "é", "a", "b"]})
ANSWER = "5,0.6,2,2"  # 3 of 5
TEXTS = {
    "csv": ROWS.write_csv().encode(),
    "tsv": ROWS.write_csv(separator="\t").encode(),
    "semicolon.csv": ROWS.write_csv(separator=";").encode(),
    "pipe.csv": ROWS.write_csv(separator="|").encode(),
    "bom.csv": b"\xef\xbb\xbf" + ROWS.write_csv().encode(),
    "ndjson": ROWS.write_ndjson().encode(),
    "jsonl": ROWS.write_ndjson().encode(),
    "json": ROWS.write_json().encode(),
    "lines.json": ROWS.write_ndjson().encode(),
}


def binary(write, **options):
    content = io.BytesIO()
    write(ROWS, content, **options)
    return content.getvalue()


def zstd(content):
    done = subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True)
    return done.stdout


WHOLE = (
    TEXTS
    | {
        "parquet": binary(pl.DataFrame.write_parquet),
        "arrow": binary(pl.DataFrame.write_ipc),
        "arrows": binary(pl.DataFrame.write_ipc_stream),
        "stream.arrow": binary(pl.DataFrame.write_ipc_stream),
    }
    | {f"{name}.gz": gzip.compress(text) for name, text in TEXTS.items()}
)
if shutil.which("zstd"):
    WHOLE |= {f"{name}.zst": zstd(text) for name, text in TEXTS.items() if "json" not in name}
    WHOLE["ndjson.zst"] = zstd(TEXTS["ndjson"])
IN_ALL_PARTS = gzip.compress(b"y,p\n1,1\n1,0\n") + gzip.compress(b"0,0\n0,1\n1,1\n")


@pytest.fixture
def piped(monkeypatch, run):
    """Run with bytes on standard input."""

    def started(content, *arguments):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        return run(*arguments)

    return started


def result(done):
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[1]


def test_every_input_format_has_a_test_file():
    others = {"xlsx", "delta", "eval"}  # written by hand below, a folder, and a log of another tool
    assert FORMATS.keys() <= WHOLE.keys() | others


@cases("name", WHOLE)
def test_every_format_is_read_by_its_file_extension(run, tmp_path, name):
    path = tmp_path / f"data.{name}"
    path.write_bytes(WHOLE[name])

    assert result(run("report", path, *LABELS, *SCORE)) == ANSWER


@cases("name", WHOLE)
def test_standard_input_of_every_format_is_read_by_its_first_bytes(piped, name):
    assert result(piped(WHOLE[name], "report", "-", *LABELS, *SCORE)) == ANSWER


def test_compressed_text_in_several_parts_is_read_to_its_end(piped):
    assert result(piped(IN_ALL_PARTS, "report", "-", *LABELS, *SCORE)) == ANSWER


@cases("kind", ["csv", "parquet", "arrow", "ndjson", "json", "tsv"])
def test_input_format_overrides_an_unknown_extension(run, tmp_path, kind):
    path = tmp_path / "data.dat"
    path.write_bytes(WHOLE[kind])

    assert result(run("report", path, *LABELS, *SCORE, "--input-format", kind)) == ANSWER


def test_file_with_the_extension_of_another_format_is_refused(refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(WHOLE["parquet"])

    assert "but contains parquet. Give --input-format parquet" in refused("report", path, *LABELS)


@cases("kind", [None, "csv", "json", "parquet", "arrow", "xlsx", "ndjson"])
@cases(
    "content", [b"\x7fELF\x02\x01\x01" + bytes(64), bytes(range(256)) * 9, WHOLE["parquet"][:-20]]
)
def test_unreadable_standard_input_is_a_printable_one_line_error(piped, kind, content):
    asked = [] if kind is None else ["--input-format", kind]

    done = piped(content, "report", "-", *LABELS, *asked)

    (line,) = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert line.isprintable()


def test_utf_16_is_refused_with_advice_to_convert(piped):
    done = piped("y,p\n1,1\n".encode("utf-16"), "report", "-", *LABELS)

    assert "it is encoded in UTF-16. Convert it to UTF-8, as in: iconv -f UTF-16" in done.err


def test_separator_option_is_used_where_none_is_recognised(run, refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("y:p\n1:1\n0:1\n")

    assert result(run("report", path, *LABELS, *SCORE, "--separator", ":")) == "2,0.5,2,1"
    path.write_text("y;a|b;p\n1;x;1\n0;x;1\n")
    assert "--separator ';'" in refused("report", path, *LABELS)
    assert result(run("report", path, *LABELS, *SCORE, "--separator", ";")) == "2,0.5,2,1"


def test_separator_option_is_refused_for_json(refused, tmp_path):
    path = tmp_path / "data.json"
    path.write_bytes(WHOLE["json"])

    assert "--separator is only for csv" in refused("report", path, *LABELS, "--separator", ";")


@pytest.mark.parametrize("separator", ["tab", "\\t", "\t"])
def test_separator_accepts_names_of_the_tab(run, tmp_path, separator):
    path = tmp_path / "data.csv"
    path.write_bytes(WHOLE["tsv"])

    done = run("report", path, *LABELS, *SCORE, "--separator", separator)

    assert result(done) == ANSWER


@cases(
    ("options", "part"),
    [
        (["--separator", ";;"], "--separator ';;' is not a single character"),
        (["--separator", ""], "--separator '' is not a single character"),
        (["--separator", '"'], "is not a single character"),
        (["--input-format", "json"], "contains csv, not json"),
        (["--input-format", "xls"], "'--input-format'"),
    ],
)
def test_wrong_options_of_the_input_are_refused(refused, tmp_path, options, part):
    path = tmp_path / "data.csv"
    path.write_bytes(WHOLE["csv"])

    assert part in refused("report", path, *LABELS, *options)


def test_files_with_different_separators_are_refused(refused, tmp_path):
    (tmp_path / "1.csv").write_bytes(WHOLE["csv"])
    (tmp_path / "2.csv").write_bytes(WHOLE["semicolon.csv"])

    line = refused("report", tmp_path, *LABELS)

    assert "more than one separator: ',' in '" in line


def test_a_sheet_of_xlsx_is_read(run, refused, tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    for row in (ROWS.columns, *ROWS.rows()):
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")

    assert result(run("report", tmp_path / "data.xlsx", *LABELS, *SCORE)) == ANSWER
    (tmp_path / "broken.xlsx").write_bytes(b"no book")
    assert "broken.xlsx' cannot be read: " in refused("report", tmp_path / "broken.xlsx", *LABELS)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    line = refused("report", tmp_path / "data.xlsx", *LABELS)
    assert line.endswith("python -m pip install 'balframe[excel]'")


def sheet(tmp_path, **cells):
    """Save a table of two columns and cells elsewhere, each a value or None for a format alone."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    for row in (ROWS.columns, *ROWS.rows()):
        book.active.append(row)
    for place, value in cells.items():
        book.active[place] = value
        book.active[place].number_format = "0.00"
    book.create_sheet("other")["XFD1048576"] = 1
    book.save(tmp_path / "data.xlsx")
    return tmp_path / "data.xlsx"


def test_a_cell_of_xlsx_far_from_the_table_is_refused(refused, tmp_path):
    line = refused("report", sheet(tmp_path, XFD1048576=1), *LABELS)

    n = ROWS.width * (ROWS.height + 1)
    assert line == (
        f"'{tmp_path / 'data.xlsx'}' cannot be read: its cells reach to column XFD and row "
        f"1,048,576, but only {n + 1} of these {16384 * 1048576:,} cells have a value. Delete "
        "those far from the table, or save it as csv."
    )


@cases("cells", [{"XFD1048576": None}, {"XFD1": "far"}, {"A1048576": None, "XFD2": None}])
def test_a_cell_of_xlsx_far_from_the_table_may_have_a_format(run, tmp_path, cells):
    assert result(run("report", sheet(tmp_path, **cells), *LABELS, *SCORE)) == ANSWER


def test_a_column_of_xlsx_without_values_agrees_with_any_type(run, tmp_path, caplog):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    for number, weights in enumerate([[1, 3], [None, None]]):
        book = openpyxl.Workbook()
        for row in ("ypw", (1, 1, weights[0]), (1, 0, weights[1])):
            book.active.append(tuple(row))
        book.save(tmp_path / f"{number}.xlsx")

    done = run("report", tmp_path, *LABELS, *SCORE, "--sample-weight", "w", "--missing", "drop")

    assert result(done) == "2,2,0.25,1,2"  # 1 / (1 + 3), and two rows without a weight
    assert "dtype" not in caplog.text


def test_pipes_of_the_shell_are_read_as_files(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    (tmp_path / "1.csv").write_text("y,p\n1,1\n")
    (tmp_path / "2.csv").write_text("y,p\n0,1\n")
    program = f"{sys.executable} -m balframe report"
    options = " ".join([*LABELS, *SCORE])

    def out(command):
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, check=True, cwd=tmp_path, text=True
        )
        return done.stdout.splitlines()[1]

    assert out(f"{program} <(cat 1.csv) <(cat 2.csv) {options}") == "2,0.5,2,1"
    assert out(f"{program} /dev/stdin {options} < 1.csv") == "1,1.0,1,1"
    assert out(f"cat 2.csv | {program} /dev/stdin 1.csv {options}") == "2,0.5,2,1"


def test_arrow_result_of_confusion_is_read_from_standard_input(run, piped):
    cells = bf.confusion(ROWS, "y", "p").rename({"y": "a", "p": "b"})

    done = piped(
        cells.write_ipc(None).getvalue(),
        *("report", "-", "--y-true", "a", "--y-pred", "b", "--cells", *SCORE),
    )

    assert result(done) == ANSWER


@cases("packed", [bytes, gzip.compress])
@cases(
    ("text", "columns"),
    [
        ("[y],p\n1,1\n0,1\n", ["[y]", "p"]),
        ('[ {"y": 1, "p": 1}, {"y": 0, "p": 1}]', ["y", "p"]),
        ('[\n{"y": 1, "p": 1}, {"y": 0, "p": 1}]', ["y", "p"]),
    ],
)
def test_leading_bracket_is_json_only_before_an_object(piped, packed, text, columns):
    y, p = columns

    done = piped(packed(text.encode()), "report", "-", "--y-true", y, "--y-pred", p, *SCORE)

    assert result(done) == "2,0.5,2,1"


@pytest.mark.parametrize("given", ["csv", "ndjson", "arrow"])
def test_input_format_that_contradicts_the_first_bytes_is_refused(refused, piped, tmp_path, given):
    path = tmp_path / "data.dat"
    path.write_bytes(WHOLE["parquet"])
    advice = f"contains parquet, not {given}. Give --input-format parquet."

    assert advice in refused("report", path, *LABELS, "--input-format", given)
    done = piped(WHOLE["parquet"], "report", "-", *LABELS, "--input-format", given)
    assert done.err == f"balframe: standard input {advice}\n"
