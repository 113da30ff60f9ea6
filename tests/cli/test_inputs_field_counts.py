"""Lines of csv with more fields than the header are refused, whichever columns a command reads."""

import gzip

import polars as pl
import pytest

from balframe.cli.files import csv_dialect
from tests.support.cases import cases

MORE_FIELDS = "has more fields than the header. Put values that have the separator in quotes."
LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
RAGGED = {
    "in the middle": "id,age,y,p\n1,2,1,1\n3,1,200,1,1\n2,3,0,1\n",
    "at the end": "y,p,note\n1,1,a\n0,1,b,c",
    "an amount with a comma": "amount,g,y,p\n1,250,a,1,1\n2,b,0,1\n",
    "only a separator": "y,p,note\n1,1,a,\n0,1,b\n",
    "a field before the one left empty": "id,y,p,note\n1,1,1,\n2,0,0,1,\n",
    "beside a line that is too short": "id,y,p,note\n1,1,1\n2,0,0,1,a\n",
    "with ends of Windows": "y,p,note\r\n1,1,a\r\n0,1,b,c\r\n",
    "beside quoted separators": 'y,p,note\n1,1,"a,b"\n0,1,b,c\n',
    "in a quoted field": 'y,p,note\n1,1,a\n0,1,b,"c"\n',
    "over two lines": 'y,p,note\n1,1,a\n0,1,"b\nb",c\n',
    "after an empty line": "y,p,note\n\n1,1,a\n0,1,b,c\n",
}
WHOLE = {
    "quoted separators": 'y,p,note\n1,1,"a,b,c,d"\n0,0,"e"\n1,0,"f ""g"", h"\n',
    "quoted ends of lines": 'y,p,note\n1,1,"a\nb,c,d,e\nf"\n0,0,"g\n,,,,,,"\n1,0,h\n',
    "quotes within fields": 'y,p,note\n1,1,5" by 6" pipe\n0,0,7""\n1,0,a\n',
    "short lines": "y,p,note\n1,1\n0,0,a\n1,0\n",
    "ends of Windows": "y,p,note\r\n1,1,a\r\n0,0,b\r\n1,0,c\r\n",
    "an empty line first": "\ny,p,note\n1,1,a\n0,0,b\n1,0,c",
    "a name over two lines": 'y,p,"note\nof it"\n1,1,a\n0,0,b\n1,0,c\n',
}


@pytest.fixture(params=[str.encode, lambda text: gzip.compress(text.encode())])
def path(request, tmp_path):
    """Write a text, plain or compressed, to a file."""

    def written(text):
        file = tmp_path / "data.csv"
        file.write_bytes(request.param(text))
        return file

    return written


@cases("text", RAGGED.values())
def test_a_line_with_too_many_fields_is_refused_in_columns_that_are_not_read(refused, path, text):
    line = refused("report", path(text), *LABELS)

    assert line.endswith(f" {MORE_FIELDS}")


def test_an_empty_field_too_many_is_refused_at_the_very_end(refused, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text('y,p,note\n1,1,"a, b",')

    assert refused("report", file, *LABELS).endswith(f"line 2 {MORE_FIELDS}")


@cases("text", WHOLE.values())
def test_a_text_without_extra_fields_is_read(run, path, text):
    done = run("report", path(text), *LABELS, *SCORE)

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1] == "3,0.6666666666666666,2,1"


def test_the_line_with_too_many_fields_is_named(refused, tmp_path):
    path = tmp_path / "data.csv"
    n_lines = 300_000  # of several blocks
    path.write_text("id;y;p\n" + "7;1;0\n" * n_lines + "7;1;0;0\n" + "7;1;0\n" * n_lines)

    line = refused("report", path, *LABELS)

    where = "line 300,002" if int(pl.__version__.split(".")[0]) > 1 else "a line"
    assert line == f"'{path}' cannot be read: {where} {MORE_FIELDS}"


def test_a_gate_does_not_pass_on_shifted_columns(refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("amount,g,y,p\n1,250,b,1,1\n" + "2,b,1,1\n" * 50)

    line = refused("check", path, *LABELS, "--rule", "accuracy >= 0.5")

    assert "cannot be read: " in line


# Headers


def wide(names):
    n = len(names) - 2
    rows = [["1", "1"], ["0", "1"], ["0", "0"], ["1", "1"]]
    return "\n".join([",".join(names), *(",".join([*row, *["5"] * n]) for row in rows)])


def test_names_after_the_first_bytes_are_no_duplicates(run, tmp_path):
    path = tmp_path / "wide.csv"
    before, begun = "y,p,long,", ",long"
    filler = "a" * (csv_dialect.N_FIRST_BYTES - len(before) - len(begun))
    path.write_text(wide(["y", "p", "long", filler, "longer", *map(str, range(20_000))]))

    done = run("report", path, *LABELS, *SCORE)

    assert (done.err, done.out.splitlines()[1]) == ("", "4,0.75,2,2")


@cases("compress", [bytes, gzip.compress])
def test_a_repeated_name_late_in_a_long_header_is_refused(refused, tmp_path, compress):
    path = tmp_path / "wide.csv"
    names = ["y", "p", *(f"feature_{i}" for i in range(20_000)), "y"]
    path.write_bytes(compress(wide(names).encode()))

    line = refused("report", path, *LABELS)

    assert "more than one column has the name 'y'." in line


def test_a_name_longer_than_the_first_bytes_is_read(run, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(wide(["y", "p", "a" * 200_000]))

    assert run("report", path, *LABELS, *SCORE).out.splitlines()[1] == "4,0.75,2,2"
