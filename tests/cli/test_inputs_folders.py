"""Folders and patterns: which of their files are read, and the columns that Hive partitions add."""

import polars as pl
import pytest

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
GOOD, BAD = pl.DataFrame({"y": [1, 0], "p": [1, 0]}), pl.DataFrame({"y": [1, 0], "p": [0, 1]})
WRITE = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "ndjson": pl.DataFrame.write_ndjson,
    "arrow": pl.DataFrame.write_ipc,
}


def lines(done):
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[1:]


@pytest.fixture
def folder(tmp_path):
    """Write frames to paths below a folder."""

    def made(kind, **frames):
        for name, frame in frames.items():
            path = tmp_path / "data" / f"{name}.{kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            WRITE[kind](frame, path)
        return tmp_path / "data"

    return made


@pytest.mark.parametrize("kind", WRITE)
def test_all_files_below_a_folder_are_read(run, folder, kind):
    path = folder(kind, **{"a": GOOD, "in/b": BAD, "in/deep/c": GOOD})

    assert lines(run("report", path, *LABELS, *SCORE)) == ["6,0.6666666666666666,2,3"]


@pytest.mark.parametrize("kind", WRITE)
def test_hidden_files_and_folders_are_not_read(run, folder, kind):
    path = folder(kind, **{"a": GOOD, "_temporary/b": BAD, ".hidden/c": BAD, "_d": BAD, ".e": BAD})
    for name in ("_SUCCESS", f".a.{kind}.crc"):
        (path / name).write_text("no data")

    assert lines(run("report", path, *LABELS, *SCORE)) == ["2,1.0,2,1"]
    for pattern in (f"*.{kind}", f"**/*.{kind}"):
        assert lines(run("report", path / pattern, *LABELS, *SCORE)) == ["2,1.0,2,1"]
    assert lines(run("report", path / "_[d]*", *LABELS, *SCORE)) == ["2,0.0,2,1"]


def test_hidden_files_are_not_read_by_a_pattern_below_a_hidden_folder(run, folder, tmp_path):
    path = folder("csv", **{"a": GOOD, "_temporary/b": BAD, ".e": BAD})
    path = path.rename(tmp_path / ".cache")

    for pattern in ("*.csv", "**/*.csv"):
        assert lines(run("report", path / pattern, *LABELS, *SCORE)) == ["2,1.0,2,1"]
    assert lines(run("report", path / "_temporary" / "*.csv", *LABELS, *SCORE)) == ["2,0.0,2,1"]


@pytest.mark.parametrize("kind", WRITE)
def test_hive_partitions_become_columns(run, folder, kind):
    names = {"day=2026-01-02/part": BAD, "day=2026-01-01/part": GOOD, "day=2026-01-01/more": GOOD}
    path = folder(kind, **names)
    expected = ["2026-01-01,4,1.0,2,2", "2026-01-02,2,0.0,2,1"]

    assert lines(run("report", path, *LABELS, *SCORE, "--by", "day")) == expected
    for pattern in ("day=*", "**/*", f"day=*/*.{kind}"):
        assert lines(run("report", path / pattern, *LABELS, *SCORE, "--by", "day")) == expected


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["2", "10"], ["2", "10"]),
        (["b", "10"], ["10", "b"]),
        (["1.10", "1.9"], ["1.10", "1.9"]),
        (["a%20b", "__HIVE_DEFAULT_PARTITION__"], ["a b", ""]),
        (["2026-01-01", "later"], ["2026-01-01", "later"]),
        (["02134", "2134"], ["02134", "2134"]),
        (["02134", "2135"], ["02134", "2135"]),
        (["1", "1.0"], ["1", "1.0"]),
        (
            ["9223372036854775808", "9223372036854775809"],
            ["9223372036854775808", "9223372036854775809"],
        ),
        (["nan", "1"], ["1", "nan"]),
        (["1e999", "1"], ["1", "1e999"]),
    ],
)
def test_partition_values_have_the_same_type_in_all_files(run, folder, kind, values, shown):
    path = folder(kind, **{f"k={value}/part": GOOD for value in values})

    found = lines(run("report", path, *LABELS, *SCORE, "--by", "k"))

    assert [line.partition(",")[0] for line in found] == shown


def test_types_of_partitions_are_those_of_polars(run, folder):
    path = folder("parquet", **{"k=10/d=2026-01-01/x": GOOD, "k=2/d=2026-01-02/x": BAD})
    ours = run("confusion", path, *LABELS, "--by", "k", "--by", "d", "--format", "csv")

    rows = pl.read_parquet(path / "**/*.parquet", hive_partitioning=True)
    theirs = rows.group_by("k", "d", "y", "p").len("n").sort("k", "d", "y", "p")
    assert ours.out == theirs.write_csv()


def test_single_partition_folder_adds_its_column(run, folder):
    path = folder("csv", **{"day=2026-01-01/part": GOOD, "day=2026-01-02/part": BAD})

    done = run("report", path / "day=2026-01-02", *LABELS, *SCORE, "--by", "day")

    assert lines(done) == ["2026-01-02,2,0.0,2,1"]


def test_files_outside_a_partition_are_refused_only_if_its_column_is_used(run, refused, folder):
    path = folder("csv", **{"day=2026-01-01/part": GOOD, "rest": BAD})

    assert lines(run("report", path, *LABELS, *SCORE)) == ["4,0.5,2,2"]
    assert "the files have different columns" in refused("report", path, *LABELS, "--by", "day")


def test_folder_of_several_formats_needs_input_format(run, refused, folder):
    path = folder("csv", a=GOOD)
    folder("parquet", b=BAD)

    assert "more than one format: 'csv' in " in refused("report", path, *LABELS)
    for kind, score in (("csv", "1.0"), ("parquet", "0.0")):
        done = run("report", path, *LABELS, *SCORE, "--input-format", kind)
        assert lines(done) == [f"2,{score},2,1"]


def test_files_without_extension_need_input_format(run, refused, folder):
    path = folder("parquet", a=GOOD)
    (path / "a.parquet").rename(path / "part-00000")

    assert "no file with a supported extension" in refused("report", path, *LABELS)
    done = run("report", path, *LABELS, *SCORE, "--input-format", "parquet")
    assert lines(done) == ["2,1.0,2,1"]


def test_a_link_to_a_folder_above_is_followed_once(run, folder):
    path = folder("csv", **{"in/a": GOOD})
    try:
        (path / "in" / "up").symlink_to(path)
    except OSError:
        pytest.skip("no links here")

    assert lines(run("report", path, *LABELS, *SCORE)) == ["2,1.0,2,1"]


def test_file_passed_together_with_its_folder_is_refused(refused, folder):
    path = folder("csv", a=GOOD)

    assert "a.csv' is given twice" in refused("report", path, path / "a.csv", *LABELS)


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("files", [["q"], ["q", "r"]])
def test_column_in_both_path_and_file_is_refused_if_used(run, refused, folder, kind, files):
    path = folder(kind, **{f"y=3/x=1/{name}": GOOD.with_columns(x=2, q="p") for name in files})
    asked = ["--y-true", "p", "--y-pred", "q", *SCORE]

    line = refused("report", path, *LABELS)

    assert f"y=3/x=1/q.{kind}' has a column 'y', and so has its path, as y=..." in line
    assert run("report", path, *asked).code == 0
    assert "has a column 'x'" in refused("report", path, *asked, "--by", "x")


def test_partition_column_must_agree_with_the_column_of_another_file(run, refused, folder):
    path = folder("csv", **{"k=1/a": GOOD})

    for value in ("x", 2.5):
        folder("csv", **{"b": BAD.with_columns(k=pl.lit(value))})
        assert lines(run("report", path, *LABELS, *SCORE, "--by", "k")) == [
            "1,2,1.0,2,1",
            f"{value},2,0.0,2,1",
        ]
    folder("parquet", **{"k=1/a": GOOD, "b": BAD.with_columns(k=pl.lit("x"))})
    line = refused("report", path, *LABELS, "--by", "k", "--input-format", "parquet")
    assert "column 'k' holds strings in" in line


def test_warning_counts_folder_files_of_unknown_format(run, folder):
    path = folder("csv", **{"k=1/a": GOOD, "k=2/b": BAD})
    for name in ("k=1/README.md", "k=2/notes.md", "k=2/c.csv.bak", "k=2/LICENSE"):
        (path / name).write_text("no data")

    for name in (path, path / "k=*"):
        done = run("report", name, *LABELS, *SCORE)
        assert (done.code, done.out.splitlines()[1:]) == (0, ["4,0.5,2,2"])
        assert done.err == (
            "balframe: warning: 4 files of folders left out, whose endings stand for no format: "
            ".bak, .md, no ending. Give a pattern without them, or --input-format to read them.\n"
        )
    assert lines(run("report", path / "**/*.csv", *LABELS, *SCORE)) == ["4,0.5,2,2"]
