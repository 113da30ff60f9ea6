"""Types of columns in files: names keep their texts, numbers are numbers, `--type` decides."""

import csv
import gzip
import io
import sys
from types import SimpleNamespace

import polars as pl
import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
OTHER_WRITINGS = [  # two names that are one number, or that look alike
    ("1.1", "1.10"),
    ("02134", "2134"),
    ("007", "7"),
    ("1e3", "1000"),
    ("+7", "7"),
    ("-0", "0"),
    (" 7", "7"),
    ("1_000", "1000"),
    ("0x10", "16"),
    ("1.0", "1"),
    ("1,5", "1.5"),
    ("12345678901234567890", "12345678901234567891"),
    ("9007199254740993.0", "9007199254740992.0"),
    ("True", "true"),
    ("inf", "Infinity"),
    ("2024-01-05", "2024-1-5"),
]


def table(done):
    assert done.code in (0, 1, 3), done.err
    return [*csv.DictReader(io.StringIO(done.out))]


def segments(done, column="v"):
    return [(row[column], int(row["n"]), float(row["accuracy"])) for row in table(done)]


@pytest.fixture
def written(tmp_path):
    """Write rows as csv, and return the path."""

    def write(header, rows, name="data.csv", **options):
        text = io.StringIO()
        csv.writer(text, **options).writerows([header.split(","), *rows])
        content = text.getvalue().encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        return path

    return write


def half_right(a, b):
    """Return 4 rows of the name a, all right, and 4 of b, of which 2 are right."""
    return [*[(1, 1, a), (0, 0, a)] * 2, *[(1, 1, b), (0, 1, b)] * 2]


@cases("names", OTHER_WRITINGS)
@cases("layout", ["plain", "quoted", "tsv", "semicolon", "gz", "two files", "late"])
def test_names_that_differ_in_writing_are_two_segments(run, written, tmp_path, names, layout):
    rows, expected = half_right(*names), sorted([(names[0], 4, 1.0), (names[1], 4, 0.5)])
    options = {
        "quoted": {"quoting": csv.QUOTE_ALL},
        "tsv": {"name": "data.tsv", "delimiter": "\t"},
        "semicolon": {"delimiter": ";"},
        "gz": {"name": "data.csv.gz"},
    }
    folder = tmp_path / layout / names[0]
    folder.mkdir(parents=True)
    if layout == "two files":
        written("y,p,v", rows[4:], f"{layout}/{names[0]}/b.csv")
        rows = rows[:4]
    elif layout == "late":  # past the rows that types are looked for in first
        rows = [*[(1, 1, "5")] * 10_001, *rows]
        expected = sorted([*expected, ("5", 10_001, 1.0)])
    given = {"name": "a.csv", **options.get(layout, {})}
    written("y,p,v", rows, f"{layout}/{names[0]}/{given.pop('name')}", **given)

    assert segments(run("report", folder, *LABELS, *SCORE, "--by", "v")) == expected


def test_names_of_a_stream_keep_their_writing(run, monkeypatch):
    content = "y,p,v\n" + "".join(f"{y},{p},{v}\n" for y, p, v in half_right("1.1", "1.10"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))

    assert segments(run("report", "-", *LABELS, *SCORE, "--by", "v")) == [
        ("1.1", 4, 1.0),
        ("1.10", 4, 0.5),
    ]


@cases("names", OTHER_WRITINGS)
def test_names_that_differ_in_writing_are_two_clusters_slices_and_labels(run, written, names):
    path = written("y,p,v", half_right(*names) * 30)

    clustered = run("report", path, *LABELS, *SCORE, "--cluster", "v", "--interval")
    slices = run("slices", path, *LABELS, "--metric", "accuracy", "--over", "v", "--format", "csv")
    labels = run("report", path, "--y-true", "v", "--y-pred", "v", *SCORE)  # refused as one column
    confused = run("classes", written("y,p", [names, names[::-1], [names[0]] * 2]), *LABELS)

    assert [row["n_clusters"] for row in table(clustered)] == ["2"]
    assert [(row["v"], row["n"]) for row in table(slices)] == [(names[1], "120")]
    assert labels.code == 2
    assert sorted((row["label"], row["support"]) for row in table(confused)) == sorted(
        [(names[0], "2"), (names[1], "1")]
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("*", marks=pytest.mark.any_version),  # a pattern for polars 1.32
        pytest.param("^y$", marks=pytest.mark.any_version),
        *("a b", "ü=1"),
    ],
)
@pytest.mark.parametrize("n_files", [1, 2])
def test_a_column_of_names_may_be_called_anything(run, written, name, n_files):
    rows = half_right("1.1", "1.10")
    paths = [written(f"y,p,{name}", rows, f"{i}.csv") for i in range(n_files)]

    found = segments(run("report", *paths, *LABELS, *SCORE, "--by", name), name)

    assert found == [("1.1", 4 * n_files, 1.0), ("1.10", 4 * n_files, 0.5)]


def test_whole_numbers_sort_as_numbers_and_nulls_are_segments(run, written):
    rows = [(1, 1, "10"), (1, 1, "9"), (1, 1, "-1"), (1, 1, ""), (0, 1, "")]
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        path = written("y,p,v", rows, quoting=quoting)

        found = segments(run("report", path, *LABELS, *SCORE, "--by", "v"))

        assert found == [("-1", 1, 1.0), ("9", 1, 1.0), ("10", 1, 1.0), ("", 2, 0.5)]


def test_a_segment_may_be_called_as_a_null(run, written):
    path = written("y,p,v", half_right("None", "NA"))

    assert segments(run("report", path, *LABELS, *SCORE, "--by", "v")) == [
        ("NA", 4, 0.5),
        ("None", 4, 1.0),
    ]


@cases(
    ("truth", "predictions"),
    [
        (["1", "0", "1"], ["1", "0", "0"]),
        (["True", "False", "True"], ["1", "0", "0"]),
        (["TRUE", "FALSE", "TRUE"], ["True", "False", "False"]),
        (["true", "false", "true"], ["True", "False", "False"]),
    ],
)
def test_labels_of_two_kinds_have_their_positive_label(run, written, truth, predictions):
    path = written("y,p", zip(truth, predictions, strict=True))

    (row,) = table(run("report", path, *LABELS, "--metric", "recall", "--format", "csv"))

    assert float(row["recall"]) == 0.5  # one of two


@cases("column", ["p", "y"])
def test_labels_are_one_label_set_of_texts_if_one_column_has_texts(run, written, column):
    rows = [("0", "0"), ("1", "1"), ("1", "0"), ("unsure", "0")]
    path = written("y,p" if column == "y" else "p,y", rows)

    (row,) = table(run("report", path, *LABELS, *SCORE))

    assert float(row["accuracy"]) == 0.5


def test_labels_that_are_one_number_in_two_writings_are_refused(run, refused, written):
    path = written("y,p", [("1.0", "1"), ("0.0", "0"), ("", "1")])
    missing = ["--missing", "drop"]

    line = refused("report", path, *LABELS, *missing)
    done = run("report", path, *LABELS, *SCORE, *missing, "--type", "y=int")
    kept = run("report", path, *LABELS, *SCORE, *missing, "--type", "y=str", "--type", "p=str")

    assert line.startswith("column 'y' holds '0.0', and column 'p' holds '0', which are two names")
    assert "Give --type y=int --type p=int if they are numbers" in line
    assert float(table(done)[0]["accuracy"]) == 1.0
    assert float(table(kept)[0]["accuracy"]) == 0.0


def test_scores_are_no_labels_without_a_threshold(run, refused, written):
    path = written("y,p", [("1", "0.9"), ("0", "0.1"), ("1", "1"), ("0", "")])

    assert "scores are not labels" in refused("report", path, *LABELS, "--missing", "drop")
    done = run("report", path, *LABELS, *SCORE, "--threshold", "0.5", "--missing", "drop")
    assert float(table(done)[0]["accuracy"]) == 1.0


@pytest.fixture(params=["csv", "parquet", "ndjson"])
def cells(request, tmp_path):
    """Write a frame in each format."""

    def write(frame):
        path = tmp_path / f"baseline.{request.param}"
        getattr(frame, f"write_{request.param}")(path)
        return path

    return write


@cases(
    ("now", "then", "paired"),
    [
        (["1", "2", "2"], ["1", "2", "2-beta"], {"1": 1, "2": 1, "2-beta": 1}),
        (["1", "2", "2-beta"], [1, 2, 2], {"1": 1, "2": 2, "2-beta": 0}),
        (["1.1", "1.10", "1.10"], ["1.10", "1.10", "1.9"], {"1.1": 0, "1.10": 2, "1.9": 1}),
        (["0.5", "1.25", "x"], [0.5, 1.25, 1.25], {"0.5": 1, "1.25": 2, "x": 0}),
        (["True", "False", "False"], [True, True, False], {"false": 1, "true": 2}),
    ],
)
def test_both_sides_of_a_comparison_have_one_type(run, written, cells, now, then, paired):
    path = written("y,p,v", [(1, 1, value) for value in now])
    baseline = cells(pl.DataFrame({"y": [1] * 3, "p": [1] * 3, "v": then}))

    done = run(
        *("diff", baseline, path, *LABELS, "--by", "v", "--metric", "accuracy", "--format", "csv")
    )

    found = {row["v"]: int(row["baseline_n"]) for row in table(done)}
    assert {key.lower(): n for key, n in found.items()} == paired


def test_whole_floats_of_a_baseline_are_written_as_names_are(run, written, tmp_path):
    path = written("y,p,v", [(1, 1, value) for value in ("1", "x", "x")])
    baseline = pl.DataFrame({"y": [1] * 3, "p": [1] * 3, "v": [1.0, 2.0, 2.0]})
    baseline.write_parquet(tmp_path / "old.parquet")

    done = run("diff", tmp_path / "old.parquet", path, *LABELS, "--by", "v", *SCORE)

    assert [(row["v"], row["n"], row["baseline_n"]) for row in table(done)] == [
        ("1", "1", "1"),
        ("2", "0", "2"),
        ("x", "2", "0"),
    ]


@cases("ending", ["csv", "ndjson", "parquet"])
@cases(
    ("text", "helps"),
    [(" 1", True), ("1 ", True), ("1,5", False), ("$1", False), ("5%", False), ("0x10", False)],
)
@cases(
    ("command", "option"),
    [
        ("report", "--sample-weight"),
        ("report", "--counts"),
        ("ranking", "--y-score"),
    ],
)
def test_texts_that_are_no_numbers_are_named(
    run, refused, tmp_path, ending, text, helps, command, option
):
    path = tmp_path / f"data.{ending}"
    frame = pl.DataFrame({"y": [1, 0], "p": [1, 0], "w": ["1", text]})
    getattr(frame, f"write_{ending}")(path)
    labels = LABELS[: 2 if command == "ranking" else 4]

    line = refused(command, path, *labels, option, "w")

    place = f" on line 3 of {str(path)!r}" if ending == "csv" else ""
    advice = "Give --type w=float to" if helps else "Write numbers as in 1.5"
    assert line.startswith(f"column 'w' must hold numbers, but holds the text {text!r}{place}. ")
    assert advice in line
    assert (run(command, path, *labels, option, "w", "--type", "w=float").code == 0) == helps


@cases("ending", ["csv", "ndjson", "parquet"])
@cases(
    ("options", "message"),
    [
        ([], "column 'when' holds '202601', which is not a date; write dates as in 2026-03-31"),
        (["--type", "when=date"], "column 'when' holds {}, which is not a date as in 2026-03-31"),
    ],
)
def test_numbers_are_no_dates(refused, tmp_path, ending, options, message):
    path = tmp_path / f"data.{ending}"
    frame = pl.DataFrame({"y": [1, 0], "p": [1, 0], "when": [202601, 202602]})
    getattr(frame, f"write_{ending}")(path)

    line = refused("report", path, *LABELS, "--time", "when", "--every", "1mo", *options)

    assert message.format("'202601'" if ending == "csv" else "202601") in line


@cases("text", ["01", "1.0", "+1", "-01", "1e0", "true"])
@cases(
    ("command", "options", "message"),
    [
        ("report", ["--pos-label"], "--pos-label {!r} is not a label; give one of 0, 1"),
        ("report", ["--label", "0", "--label"], "--label {!r} is not a number as column 'y' has "),
        ("gaps", ["--by", "v", "--reference"], "--reference {!r} does not match any segment"),
    ],
)
def test_options_have_numbers_as_columns_write_them(
    refused, written, text, command, options, message
):
    path = written("y,p,v", half_right("1", "8"))

    assert message.format(text) in refused(command, path, *LABELS, *options, text)


def test_options_have_fractions_as_written(run, refused, tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"y": [1, 0], "p": [1, 1], "v": [0.5, 2.0]}).write_parquet(path)
    command = ["gaps", path, *LABELS, "--by", "v", *SCORE, "--reference"]

    assert [{row["reference"] for row in table(run(*command, text))} for text in ("0.5", "2")] == [
        {"0.5"},
        {"2.0"},
    ]
    assert "'0.50' does not match any segment" in refused(*command, "0.50")


def test_labels_of_a_baseline_in_another_type_are_read_as_advised(run, refused, written):
    path = written("y,p", [(1, 1), (0, 0), (1, 0)])
    baseline = written("y,p,n", [("1.0", "1.0", 3), ("0.0", "0.0", 1)], "baseline.csv")
    command = ["diff", baseline, path, *LABELS, *SCORE]

    advice = "Give them one type: --type COLUMN=int if they are numbers"
    assert advice in refused(*command)
    (row,) = table(run(*command, "--type", "y=int", "--type", "p=int"))
    assert float(row["estimate"]) == pytest.approx(2 / 3)
    done = run(*command, "--type", "y=str", "--type", "p=str")
    assert "no label of the baseline occurs in the data: the baseline has '0.0', '1.0'" in done.err


def test_names_of_a_baseline_in_another_writing_are_refused(run, refused, written, cells):
    path = written("y,p,v", [(1, 1, "7"), (0, 0, "8")])
    baseline = cells(pl.DataFrame({"v": ["007", "008"], "y": [1, 0], "p": [1, 0], "n": [5, 5]}))
    asked = ["check", path, *LABELS, "--by", "v", "--baseline", baseline, "--format", "csv"]
    asked += ["--rule", "accuracy >= baseline - 0.9"]

    line = refused(*asked)
    done = run(*asked, "--type", "v=int")

    assert line.startswith("column 'v' holds '7', and one of other files holds '007', which are ")
    assert [(row["v"], row["baseline_n"]) for row in table(done)] == [("7", "5"), ("8", "5")]


@cases("name", ["data.csv", "data.parquet", "data.ndjson"])
@cases(
    ("values", "kind", "shown"),
    [
        ([1, 10, 9], "str", ["1", "10", "9"]),
        ([9.0, 10.0, 1.0], "int", ["1", "9", "10"]),
        (["09", "10", "+1"], "int", ["1", "9", "10"]),
        (["1.50", "10", "9"], "float", ["1.5", "9.0", "10.0"]),
        (["no", "true", "false"], "str", ["false", "no", "true"]),
        ([1, 0, 1], "bool", ["false", "true"]),
        (["2026-01-02", "2025-01-01", "2026-01-02"], "date", ["2025-01-01", "2026-01-02"]),
    ],
)
def test_a_type_that_is_given_holds_in_every_format(run, tmp_path, name, values, kind, shown):
    frame, path = pl.DataFrame({"y": [1] * 3, "p": [1] * 3, "v": values}), tmp_path / name
    getattr(frame, f"write_{path.suffix[1:]}")(path)

    done = run("report", path, *LABELS, *SCORE, "--by", "v", "--type", f"v={kind}")

    assert [row["v"] for row in table(done)] == shown


@cases(
    ("given", "message"),
    [
        ("v", "--type 'v' is not valid; give a column and one of str, int, float, bool, date"),
        ("v=text", "--type 'v=text' is not valid"),
        ("vv=str", "--type: column 'vv' not found; did you mean 'v'?"),
        ("v=int", "column 'v' holds '1.5', which is not a whole number, the type of --type v=int."),
        ("v=bool", "column 'v' holds '1.5', which is not true or false"),
        ("v=date", "column 'v' holds '1.5', which is not a date as in 2026-03-31"),
        ("y=str --type y=int", "--type gives column 'y' more than one type; give one."),
    ],
)
def test_types_that_do_not_suit_are_refused(refused, written, given, message):
    path = written("y,p,v", [(1, 1, "1.5"), (0, 0, "1.5")])

    line = refused("report", path, *LABELS, "--by", "v", "--type", *given.split())

    assert line.startswith(message)


def test_a_configuration_gives_types(run, written, tmp_path):
    path = written("y,p,v", [(1, 1, "1"), (0, 0, "2"), (0, 1, "10")])
    for text in ('type = {v = "str"}\n', 'type = ["v=str"]\n'):
        (tmp_path / "run.toml").write_text(text)

        done = run("report", path, *LABELS, *SCORE, "--by", "v", "--config", tmp_path / "run.toml")

        assert [row["v"] for row in table(done)] == ["1", "10", "2"]


def test_a_number_with_a_point_is_quoted_in_a_configuration(run, refused, written, tmp_path):
    path, config = written("y,p,v", half_right("1.1", "1.10")), tmp_path / "run.toml"
    asked = ["gaps", path, *LABELS, *SCORE, "--by", "v", "--config", config]

    config.write_text("reference = 1.10\n")
    line = refused(*asked)
    config.write_text('reference = "1.10"\n')
    done = run(*asked)

    assert "'reference' is 1.1. For balframe gaps, give a number with a point as text" in line
    assert {row["reference"] for row in table(done)} == {"1.10"}


def test_a_table_of_runs_gives_names_its_type(run, written, tmp_path):
    pytest.importorskip("deltalake")
    asked = ["--by", "v", "--table", tmp_path / "runs"]
    first = written("y,p,v", [(1, 1, "1.1"), (0, 0, "1.10")])
    assert run("store", first, *LABELS, *asked, "--run", "a", "--date", "2026-01-01").code == 0
    second = written("y,p,v", [(1, 1, "2"), (0, 1, "10")])
    assert run("store", second, *LABELS, *asked, "--run", "b", "--date", "2026-01-02").code == 0

    found = segments(run("report", tmp_path / "runs", *SCORE, "--by", "v"))

    assert found == [("1.1", 1, 1.0), ("1.10", 1, 1.0), ("10", 1, 0.0), ("2", 1, 1.0)]


def test_slices_of_all_columns_keep_names_apart(run, written):
    rows = [
        (y, y if names[0] == 0 else 1 - y, ("1.1", "1.10")[names[0]], ("02", "2")[names[1]], w)
        for y in (0, 1)
        for names in ((0, 0), (0, 1), (1, 0), (1, 1))
        for w in range(20)
    ]
    path = written("y,p,v,code,w", rows)

    done = run("slices", path, *LABELS, "--metric", "accuracy", "--depth", "1", "--format", "csv")

    assert [(row["slice"], row["n"]) for row in table(done)] == [("v = 1.10", "80")]


def test_decimals_in_over_are_searched_as_ranges_if_they_are_numbers(run, written):
    rows = [(i % 2, i % 2 if i < 500 else 1, f"{i / 1000:.3f}") for i in range(1000)]
    path = written("y,p,v", rows)
    asked = ["slices", path, *LABELS, "--metric", "accuracy", "--over", "v", "--format", "csv"]

    warned, typed, cut = (
        run(*asked, *more) for more in ([], ["--type", "v=float"], ["--bins", "v=0.5,"])
    )

    assert "Give --type v=float to search ranges of numbers, or --type v=str" in warned.err
    assert typed.err == cut.err == ""
    assert [(row["n"], float(row["estimate"])) for row in table(cut)] == [("500", 0.5)]


def test_a_version_with_points_does_not_hide_decimal_commas(run, written):
    rows = [(1, 1, "1.1", "0,5"), (0, 1, "1.10", "1,5"), (1, 1, "1.10", "2,5")]
    path = written("y,p,v,w", rows, delimiter=";")

    done = run("report", path, *LABELS, *SCORE, "--by", "v", "--sample-weight", "w")

    assert segments(done) == [("1.1", 1, 1.0), ("1.10", 2, 0.625)]  # 2.5 of 4


def test_cells_of_xlsx_are_what_they_are(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book, path = openpyxl.Workbook(), tmp_path / "data.xlsx"
    book.active.append(["y", "p", "number", "text", "mixed"])
    for i in range(1205):
        late = i >= 1200
        book.active.append([1, 1, 10 if late else 9, "10" if late else "9", "007" if late else 7])
    book.save(path)

    for column, expected in (
        ("number", [("9", 1200), ("10", 5)]),
        ("text", [("10", 5), ("9", 1200)]),
        ("mixed", [("007", 5), ("7", 1200)]),
    ):
        found = segments(run("report", path, *LABELS, *SCORE, "--by", column), column)
        assert [row[:2] for row in found] == expected


@cases("kind", ["csv", "ndjson", "json"])
def test_bytes_are_written_as_python_shows_them(run, tmp_path, kind):
    frame, path = half_right(b"\xffz", b"a"), tmp_path / "data.parquet"
    pl.DataFrame(frame, schema=["y", "p", "v"], orient="row").write_parquet(path)

    done = run("confusion", path, *LABELS, "--by", "v", "--format", kind)

    assert done.code == 0
    read = pl.read_csv if kind == "csv" else getattr(pl, f"read_{kind}")
    assert read(done.out.encode())["v"].unique(maintain_order=True).to_list() == [
        "b'a'",
        r"b'\xffz'",
    ]
