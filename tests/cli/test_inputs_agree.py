"""Several files of one call: they agree on the types of the columns that it names, or are named."""

import polars as pl
import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]


@pytest.fixture
def files(tmp_path):
    """Write texts to files of an ending, numbered from 1."""

    def made(*texts, ending="csv"):
        paths = [tmp_path / f"{i}.{ending}" for i, _ in enumerate(texts, 1)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    return made


def lines(done):
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[1:]


@cases("order", [1, -1])
@cases(
    ("ending", "numbers", "words"),
    [
        ("csv", "y,p\n0,1\n1,1\n", "y,p\nno,yes\nyes,yes\n"),
        ("tsv", "y\tp\n0\t1\n", "y\tp\nno\tyes\n"),
        ("csv", "y;p\n0;1\n", "y;p\nno;yes\n"),
        ("ndjson", '{"y": 0, "p": 1}\n', '{"y": "no", "p": "yes"}\n'),
        ("json", '[{"y": 0, "p": 1}]', '[{"y": "no", "p": "yes"}]'),
    ],
)
def test_numbers_and_words_in_one_column_are_refused(refused, files, order, ending, numbers, words):
    paths = files(*(numbers, words)[::order], ending=ending)

    line = refused("report", *paths, *LABELS)

    assert "the files have different types: column 'y' holds " in line
    assert f"whole numbers in '{paths[order == -1]}'" in line
    assert f"strings in '{paths[order == 1]}'" in line
    assert line.endswith("Give files whose columns have the same types.")


@pytest.mark.parametrize("write", [pl.DataFrame.write_parquet, pl.DataFrame.write_ipc])
def test_typed_files_with_different_types_are_refused(refused, tmp_path, write):
    write(pl.DataFrame({"y": [1], "p": [1]}), tmp_path / "1.parquet")
    write(pl.DataFrame({"y": ["a"], "p": [1]}), tmp_path / "2.parquet")
    kind = "parquet" if write is pl.DataFrame.write_parquet else "arrow"

    line = refused("report", tmp_path / "*", *LABELS, "--input-format", kind)

    assert f"whole numbers in '{tmp_path / '1.parquet'}' but strings in" in line
    assert "pl." not in line


@pytest.mark.parametrize(
    ("one", "other", "holds"),
    [
        ("true,1", "1,1", "true or false"),
        ("true,1", "no,1", "strings"),
    ],
)
def test_types_in_the_error_message_are_plain_english(refused, files, one, other, holds):
    line = refused("report", *files(f"y,p\n{one}\n", f"y,p\n{other}\n"), *LABELS)

    assert f"{holds} in " in line


def test_error_names_the_file_whose_type_differs(refused, files):
    texts = ["y,p\n0,1\n1,1\n"] * 40
    texts[33] = "y,p\nno,1\nyes,1\n"
    paths = files(*texts)

    line = refused("report", *paths, *LABELS)

    assert f"whole numbers in '{paths[0]}' but strings in '{paths[33]}'." in line


def test_unused_column_may_differ_in_type_between_files(run, files):
    paths = files("y,p,note\n1,1,7\n0,1,8\n", "note,y,p\nlate,1,1\nlate,0,0\n")

    assert lines(run("report", *paths, *LABELS, *SCORE)) == ["4,0.75,2,2"]


def test_unused_column_may_be_missing_from_a_file(run, files):
    paths = files("y,p,note\n1,1,7\n", "y,p\n0,1\n")

    assert lines(run("report", *paths, *LABELS, *SCORE)) == ["2,0.5,2,1"]


@cases("order", [1, -1])
def test_by_column_with_a_text_in_one_file_is_text_in_all(run, files, order):
    paths = files(*("y,p,g\n1,1,7\n1,1,10\n", "y,p,g\n0,1,07\n0,1,a\n")[::order])

    found = lines(run("report", *paths, *LABELS, *SCORE, "--by", "g"))

    assert [line.split(",")[:3] for line in found] == [
        ["07", "1", "0.0"],
        ["10", "1", "1.0"],
        ["7", "1", "1.0"],
        ["a", "1", "0.0"],
    ]


@cases(
    ("column", "others"),
    [
        (["0.5", "2"], ["1", "2"]),  # numbers here, whole numbers there
        (["", ""], ["1", "2"]),  # nothing here
        (["1", ""], ["0.5", "2"]),
        (["1", "2"], ["", ""]),
    ],
)
def test_shards_give_the_result_of_the_whole_file(run, files, column, others):
    rows = [f"{i % 2},{(i + 1) % 3 % 2},{w}" for i, w in enumerate(column + others)]
    header = "y,p,w"
    parts = ["\n".join([header, *rows[:2], ""]), "\n".join([header, *rows[2:], ""])]
    *shards, whole = files(*parts, "\n".join([header, *rows, ""]))
    options = [*LABELS, "--sample-weight", "w", "--missing", "drop", "--interval"]

    assert lines(run("report", *shards, *options)) == lines(run("report", whole, *options))
    assert lines(run("report", *shards[::-1], *options)) == lines(run("report", whole, *options))


def test_many_shards_give_the_result_of_the_whole_file(run, files):
    rows = [f"{i % 2},{i % 3 % 2},{'ab'[i % 5 % 2]}" for i in range(60)]
    texts = ["\n".join(["y,p,g", *rows[i : i + 2], ""]) for i in range(0, 60, 2)]
    *shards, whole = files(*texts, "\n".join(["y,p,g", *rows, ""]))
    options = [*LABELS, "--by", "g", "--interval"]

    assert lines(run("report", *shards, *options)) == lines(run("report", whole, *options))


@pytest.mark.parametrize("empty", ["y,p\n", "y,p\n,\n"])
def test_file_without_values_agrees_with_any_type(run, files, empty):
    for texts in ((empty, "y,p\n1,1\n0,1\n"), ("y,p\ntrue,true\nfalse,true\n", empty)):
        done = run("report", *files(*texts), *LABELS, *SCORE, "--missing", "drop")
        assert lines(done)[0].endswith(",0.5,2,1")


def test_empty_json_lines_file_adds_no_row(run, files):
    paths = files('{"y": 1, "p": 1}\n', "", '{"y": 0, "p": 1}\n', ending="ndjson")

    assert lines(run("report", *paths, *LABELS, *SCORE)) == ["2,0.5,2,1"]


def test_columns_may_stand_in_another_order(run, files):
    paths = files("y,p\n1,0\n1,0\n", "p,y\n1,0\n1,0\n")

    assert lines(run("confusion", *paths, *LABELS, "--format", "csv")) == ["0,1,2", "1,0,2"]


def test_number_types_of_different_widths_agree_in_parquet(run, tmp_path):
    for number, dtype in enumerate([pl.Int8, pl.Int64, pl.UInt32, pl.Float64]):
        frame = pl.DataFrame({"y": [0, 1], "p": [1, 1]}, schema={"y": dtype, "p": pl.Int64})
        frame.write_parquet(tmp_path / f"{number}.parquet")

    assert lines(run("report", tmp_path, *LABELS, *SCORE)) == ["8,0.5,2,4"]


def test_categories_and_strings_agree(run, tmp_path):
    frame = pl.DataFrame({"y": ["a", "b"], "p": ["a", "a"]})
    frame.write_parquet(tmp_path / "1.parquet")
    frame.cast(pl.Categorical).write_parquet(tmp_path / "2.parquet")
    frame.clear().select(pl.all().cast(pl.Null)).write_parquet(tmp_path / "3.parquet")

    assert lines(run("report", tmp_path, *LABELS, *SCORE)) == ["4,0.5,2,2"]


def test_string_after_10000_integers_in_csv_makes_names_texts_and_is_no_number(run, refused, files):
    whole = "y,p,w\n" + "1,1,1\n" * 10_001
    paths = files("y,p,w\n1,1,1\n", f"{whole}x,1,x\n")

    assert lines(run("report", *paths, *LABELS, *SCORE)) == ["10003,0.9999000299910027,2,1"]
    line = refused("report", *paths, *LABELS, "--sample-weight", "w")
    assert "column 'w' holds whole numbers, then 'x' on line 10,003." in line


def test_number_after_10000_nulls_in_csv_is_read(run, files):
    text = "y,p,w\n" + "1,1,\n" * 10_000 + "0,1,2\n"

    done = run("report", *files(text, "y,p,w\n1,0,1\n"), *LABELS, *SCORE)

    assert lines(done) == ["10002,0.9998000399920016,2,1"]  # 10,000 of 10,002


@pytest.mark.parametrize("order", [1, -1])
def test_integers_beyond_2_to_53_are_refused_beside_floats(run, refused, files, order):
    large = f"y,p,w\n1,1,{2**53}\n0,0,{2**53 + 1}\n"
    paths = files(*(large, "y,p,w\n1,0,0.5\n")[::order])

    line = refused("report", *paths, *LABELS, "--sample-weight", "w")

    assert "column 'w' holds whole numbers beyond 2**53 in '" in line
    assert f"{paths[order == -1]}'" in line
    assert lines(run("report", *paths, *LABELS, *SCORE)) == ["3,0.6666666666666666,2,1"]


def test_integers_up_to_2_to_53_agree_with_floats(run, files):
    paths = files(f"y,p,g\n1,1,{2**53}\n0,0,{-(2**53)}\n", "y,p,g\n1,0,0.5\n")

    found = lines(run("report", *paths, *LABELS, *SCORE, "--by", "g", "--type", "g=float"))

    assert [float(line.partition(",")[0]) for line in found] == [-(2**53), 0.5, 2**53]


def test_times_of_different_units_agree(run, tmp_path):
    times = pl.Series(["2026-01-01 12:00:00"] * 2).str.to_datetime()
    for unit in ("ms", "us", "ns"):
        frame = pl.DataFrame({"y": [0, 1], "p": [1, 1], "t": times.dt.cast_time_unit(unit)})
        frame.write_parquet(tmp_path / f"{unit}.parquet")

    (line,) = lines(run("report", tmp_path, *LABELS, *SCORE, "--by", "t"))

    assert line.startswith("2026-01-01T12:00:00")
    assert line.endswith(",6,0.5,2,3")


@cases(
    ("dtype", "holds"),
    [
        (pl.Datetime("us", "UTC"), "dates with times in UTC"),
        (pl.Date(), "dates"),
        (pl.Duration("us"), "durations"),
        (pl.Time(), "times of day"),
    ],
)
def test_datetimes_of_different_kinds_are_refused(refused, tmp_path, dtype, holds):
    for name, of_type in (("1", pl.Datetime("ns")), ("2", dtype)):
        frame = pl.DataFrame({"y": [1], "p": [1], "t": pl.Series([0]).cast(of_type)})
        frame.write_parquet(tmp_path / f"{name}.parquet")

    line = refused("report", tmp_path, *LABELS, "--by", "t")

    assert "column 't' holds dates with times without a zone in '" in line
    assert f"but {holds} in '" in line


@pytest.mark.parametrize(
    "options", [["--metric", "accuracy"], ["--pos-label", "1"], ["--sort", "accuracy"]]
)
def test_columns_named_like_option_values_need_not_agree(run, files, options):
    paths = files("y,p,accuracy,1\n1,1,7,7\n", "y,p,accuracy\n0,1,x\n")

    assert lines(run("report", *paths, *LABELS, *options, "--format", "csv"))


def of_lines(first, later):
    begin = '{"y": 1, "p": 1, "g": '
    return f"{begin}{first}}}\n" * 10_001 + f"{begin}{later}}}\n"


CASTS = pytest.mark.skipif(pl.__version__ < "2", reason="older versions of Polars cast numbers")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param("1 0.5", marks=CASTS),
        '1 "a"',
        pytest.param("0.5 true", marks=CASTS),
        "true 1",
    ],
)
def test_late_value_of_another_type_in_json_lines_is_refused(refused, files, values):
    paths = files(of_lines(*values.split()), ending="ndjson")

    line = refused("report", *paths, *LABELS, "--by", "g")

    assert "1.ndjson' cannot be read: a column holds" in line


def test_late_number_among_strings_in_json_lines_is_a_string(run, files):
    paths = files(of_lines('"a"', "1"), ending="ndjson")

    done = run("report", *paths, *LABELS, *SCORE, "--by", "g")

    assert lines(done) == ["1,1,1.0,1,1", "a,10001,1.0,1,10001"]
