"""Files that cannot be read: what is wrong with them, and what to do, in one line."""

import gzip
import io
import random
import shutil
import subprocess
import sys
from types import SimpleNamespace

import polars as pl
import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
ROWS = pl.DataFrame({"y": [1, 1, 0, 0, 1] * 99, "p": [1, 0, 0, 1, 1] * 99})
CSV, NDJSON, JSON = ROWS.write_csv(), ROWS.write_ndjson(), ROWS.write_json()
NEITHER = "it is neither Parquet, Arrow, xlsx nor text (csv or JSON, plain, gzip or zstd)."
HTML = b"\n<!DOCTYPE html>\n<html><body>404, not found</body></html>"
RANDOM = random.Random(1).randbytes(3_000)


def binary(write):
    content = io.BytesIO()
    write(ROWS, content)
    return content.getvalue()


PARQUET, ARROW = binary(pl.DataFrame.write_parquet), binary(pl.DataFrame.write_ipc)
STREAM = binary(pl.DataFrame.write_ipc_stream)


def zstd(content):
    if shutil.which("zstd") is None:
        pytest.skip("no zstd")
    done = subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True)
    return done.stdout


def short(value):
    return value if isinstance(value, str) and len(value) < 20 else ""


@pytest.fixture
def reasons(refused, tmp_path, monkeypatch):
    """Give a content as a file and as standard input, and take why each cannot be read."""

    def found(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        of_file = refused("report", path, *LABELS)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        of_stream = refused("report", "-", *LABELS)
        return [line.partition(": ")[2] for line in (of_file, of_stream)]

    return found


@cases(
    ("name", "content", "reason"),
    [
        ("a.parquet.gz", gzip.compress(PARQUET), "it holds parquet inside gzip. Decompress it"),
        ("a.csv.gz", gzip.compress(ARROW), "it holds arrow inside gzip. Decompress it first."),
        ("a.csv", RANDOM, NEITHER),
        ("a.ndjson", RANDOM, NEITHER),
        ("a.parquet", RANDOM, NEITHER),
        ("a.csv.gz", gzip.compress(RANDOM), NEITHER),
        ("a.csv", bytes(500), NEITHER),
        ("a.csv", HTML, "it looks like HTML, not like a table."),
        ("a.html", HTML, "it looks like HTML, not like a table."),
        ("a.csv", b'<?xml version="1.0"?>', "it looks like XML, not like a table."),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "it looks like PDF. Save the table as csv, Parquet"),
    ],
)
def test_unknown_content_is_refused_for_files_and_standard_input(reasons, name, content, reason):
    assert all(found.startswith(reason) for found in reasons(name, content))


@cases(
    ("name", "reason"),
    [
        *((f"a.{ending}", "it is empty.") for ending in ("parquet", "arrow", "feather", "xlsx")),
        *((f"a.{ending}", "it is empty. It has no line.") for ending in ("json", "ndjson")),
        ("a.csv", "it is empty. It has no header with column names."),
    ],
)
def test_empty_file_is_refused_as_empty(reasons, name, reason):
    of_file, of_stream = reasons(name, b"")

    assert of_file == reason
    assert of_stream == "it is empty. It has no header with column names."


DAMAGED = "it is damaged or cut off."
NO_JSON = "it is not valid JSON. It may be damaged or cut off."
LINES = JSON.replace("},", "},\n").encode()


OF_TEXT = pytest.mark.skipif(
    pl.__version__ < "2", reason="older versions of Polars say of it that it is no text"
)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.parquet", PARQUET[:-9], DAMAGED),
        ("a.parquet", PARQUET[:6], DAMAGED),
        ("a.arrow", ARROW[:-9], DAMAGED),
        ("a.arrow", ARROW[:9], DAMAGED),
        ("a.arrows", STREAM[: len(STREAM) // 2], DAMAGED),
        pytest.param("a.csv.gz", gzip.compress(CSV.encode())[:-20], DAMAGED, marks=OF_TEXT),
        pytest.param("a.json.gz", gzip.compress(JSON.encode())[:-20], DAMAGED, marks=OF_TEXT),
        pytest.param("a.json.gz", gzip.compress(LINES)[:-20], DAMAGED, marks=OF_TEXT),
        ("a.json", JSON[:-9].encode(), NO_JSON),
        ("a.ndjson", NDJSON[:-9].encode(), NO_JSON),
        ("a.xlsx", b"PK\x03\x04" + b"a" * 99, "it is damaged or cut off, or no workbook of xlsx."),
    ],
    ids=short,
)
def test_truncated_file_is_refused_as_damaged(reasons, name, content, reason):
    if name.endswith("xlsx"):
        pytest.importorskip("fastexcel")

    assert reasons(name, content) == [reason, reason]


@OF_TEXT
def test_truncated_zstd_file_is_refused_as_damaged(reasons):
    assert reasons("a.csv.zst", zstd(CSV.encode())[:-9]) == [DAMAGED, DAMAGED]


WHOLE = "y,p,w\n" + "1,0,2\n" * 10_001
LATE = "Correct the value, or save the file as Parquet, which stores types."


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,1,yes\n", f"column 'w' holds whole numbers, then 'yes' on line 10,003. {LATE}"),
        ("1,1,0.5\n", f"column 'w' holds whole numbers, then '0.5' on line 10,003. {LATE}"),
        (
            "1,1,1,1\n",
            "line 10,003 has more fields than the header. Put values that have the separator in "
            "quotes.",
        ),
    ],
)
def test_error_names_the_csv_file_with_a_late_invalid_line(refused, tmp_path, line, reason):
    for name in "acd":
        (tmp_path / f"{name}.csv").write_text(WHOLE)
    (tmp_path / "b.csv").write_text(WHOLE + line)

    found = refused("report", tmp_path, *LABELS, "--sample-weight", "w")

    assert found == f"'{tmp_path / 'b.csv'}' cannot be read: {reason}"


def test_error_names_the_json_lines_file_with_a_late_invalid_value(refused, tmp_path):
    lines = '{"y":1,"p":0}\n' * 10_001
    (tmp_path / "a.ndjson").write_text(lines)
    (tmp_path / "b.ndjson").write_text(lines + '{"y":"yes","p":0}\n')

    found = refused("report", tmp_path, *LABELS)

    assert found == (
        f"'{tmp_path / 'b.ndjson'}' cannot be read: a column holds whole numbers, then 'yes'. "
        f"{LATE}"
    )


def test_binary_format_inside_zstd_is_refused(reasons):
    for reason in reasons("a.arrow.zst", zstd(ARROW)):
        assert reason == "it holds arrow inside zstd. Decompress it first."


@cases(
    ("name", "content", "kind"),
    [
        *((f"a.{ending}", CSV, "csv") for ending in ("parquet", "arrow", "xlsx", "ndjson")),
        *((f"a.{ending}", NDJSON, "json") for ending in ("parquet", "arrow", "csv", "tsv")),
        ("a.csv", JSON, "json"),
    ],
)
def test_text_with_a_wrong_extension_is_refused_with_its_format(
    run, refused, tmp_path, name, content, kind
):
    path = tmp_path / name
    path.write_text(content)

    line = refused("report", path, *LABELS)

    given = path.suffix.removeprefix(".")
    advice = f"--input-format {kind}"
    assert line.endswith(f"has a {given} file extension, but contains {kind}. Give {advice}.")
    assert run("report", path, *LABELS, *advice.split()).code == 0


def test_an_input_format_that_is_not_that_of_the_file_is_refused(refused, tmp_path):
    path = tmp_path / "a.dat"
    path.write_text(CSV)

    line = refused("report", path, *LABELS, "--input-format", "arrow")

    assert line.endswith("a.dat' contains csv, not arrow. Give --input-format csv.")


def test_unknown_extension_error_lists_compressed_extensions(refused, tmp_path):
    (tmp_path / "a.docx").write_bytes(b"word")

    line = refused("report", tmp_path / "a.docx", *LABELS)

    assert "Text (csv, tsv, JSON) may be compressed, as in .csv.gz and .csv.zst." in line


@cases(
    ("url", "advice"),
    [
        ("https://example.org/a.json", "curl -fsSL https://example.org/a.json | balframe report -"),
        ("s3://bucket/a.xlsx", "aws s3 cp s3://bucket/a.xlsx - | balframe report -"),
        ("gs://bucket/*.json", "gcloud storage cat 'gs://bucket/*.json' | balframe report -"),
        ("ftp://host/a.csv", "Download the file, or pipe it to: balframe report -"),
        ("file:///a.csv", "give the path of the file, without 'file://'."),
    ],
)
def test_unsupported_url_is_refused_with_advice_to_pipe(refused, url, advice):
    line = refused("report", url, *LABELS)

    assert f"'{url}' is a URL" in line
    assert line.endswith(advice)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["-", "-"], "read only once; give '-' once."),
        (["-", "a.csv"], "cannot be combined with files; give one or the other."),
    ],
)
def test_standard_input_twice_or_beside_files_is_refused(refused, names, words):
    assert words in refused("report", *names, *LABELS)


def test_plain_word_as_file_has_advice_on_repeated_options(refused):
    assert "To give an option several values" in refused("report", "sex", *LABELS)
    assert "An option" not in refused("report", "data/people", *LABELS)
