"""Text with separators: names of columns, decimal commas, and commas of thousands."""

import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]


def result(done):
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[1]


def test_quoted_column_name_may_contain_a_comma(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('y;"p, of two";"a|b"\n1;1;2\n0;1;2\n')

    done = run("report", path, "--y-true", "y", "--y-pred", "p, of two", *SCORE)

    assert result(done) == "2,0.5,2,1"


DECIMALS = "y;p;w\n1;1;0,5\n0;1;1\n0;0;2,5\n"


def test_decimal_commas_are_read_if_the_separator_is_not_a_comma(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(DECIMALS)

    done = run("report", path, *LABELS, *SCORE, "--sample-weight", "w")

    assert result(done) == "3,0.75,2,1"  # (0.5 + 2.5) / 4


THOUSANDS = "y\tp\tw\n0\t0\t1,234\n1\t1\t900\n1\t0\t12,000\n"


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_ambiguous_thousands_commas_are_refused_in_used_columns(run, refused, tmp_path, separator):
    path = tmp_path / "data.csv"
    path.write_text(THOUSANDS.replace("\t", separator))

    line = refused("report", path, *LABELS, "--sample-weight", "w")

    assert "column 'w' has values such as '1,234': the comma may separate thousands" in line
    assert result(run("report", path, *LABELS, *SCORE)) == "3,0.6666666666666666,2,1"


def test_ambiguous_commas_are_decimal_if_another_value_decides(run, tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("y\tp\tw\n0\t0\t1,250\n1\t1\t0,250\n1\t0\t1\n")

    done = run("report", path, *LABELS, *SCORE, "--sample-weight", "w")

    assert result(done) == "3,0.6,2,1"  # 1.5 / 2.5


@pytest.mark.parametrize("values", ["1,2 1,20", "a,b 0,5", "1,2,3 0,5"])
def test_numbers_with_commas_stay_text_beside_points_or_words(run, tmp_path, values):
    first, second = values.split()
    path = tmp_path / "data.csv"
    path.write_text(f"y;p;g;s\n1;1;{first};0.5\n0;1;{second};1.5\n")

    done = run("report", path, *LABELS, *SCORE, "--by", "g")

    assert {line.partition('",')[0] for line in done.out.splitlines()[1:]} == {
        f'"{first}',
        f'"{second}',
    }


@cases("header", ["y,p,p", '"y","p","p"', "p;y;p", "\ufeffp\tp\ty", "y,p,p\r"])
def test_duplicate_column_names_in_csv_are_refused(refused, tmp_path, header):
    separator = next(one for one in ",;\t" if one in header)
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\n{separator.join('110')}\n", encoding="utf-8")

    line = refused("report", path, *LABELS)

    assert line.endswith(
        "data.csv' cannot be read: more than one column has the name 'p'. Rename all but one."
    )


def test_columns_without_a_name_may_repeat(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("y,p,,\n1,1,,\n0,1,,\n")

    assert result(run("report", path, *LABELS, *SCORE)) == "2,0.5,2,1"
