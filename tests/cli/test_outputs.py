"""Formats, and files that are written whole or not at all."""

import errno
import json
import os
import stat
from xml.etree import ElementTree

import polars as pl
import pytest

from balframe.cli.text_columns import split_columns, table_columns
from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p", "--metric", "accuracy"]


@pytest.fixture
def odd(tmp_path):
    """Segments whose names need care in every format."""
    path = tmp_path / "odd.csv"
    path.write_text('"seg, [red]ment",y,p\n"a ""q"", b",1,1\nx|y,1,0\n"two\nlines",1,1\nשפה,1,1\n')
    return path


@pytest.fixture
def by_odd(run, odd):
    return lambda *more: run("report", odd, *LABELS, "--by", "seg, [red]ment", *more)


SEGMENTS = ['a "q", b', "two\nlines", "x|y", "שפה"]


def test_csv_quotes_special_characters(by_odd):
    frame = pl.read_csv(by_odd().out.encode())

    assert frame.get_column("seg, [red]ment").to_list() == SEGMENTS
    assert frame.get_column("accuracy").to_list() == [1, 1, 0, 1]


def test_json_and_ndjson_are_read_back(by_odd):
    rows = json.loads(by_odd("--format", "json").out)
    lines = [json.loads(line) for line in by_odd("--format", "ndjson").out.splitlines()]

    assert rows == lines
    assert [row["seg, [red]ment"] for row in rows] == SEGMENTS


def test_markdown_has_one_line_for_each_row(by_odd):
    header, rule, *rows = by_odd("--format", "markdown").out.splitlines()

    assert header == r"| seg, \[red\]ment | n | accuracy |"
    assert rule == "| --- | ---: | ---: |"
    assert rows == [
        '| a "q", b | 1 | 1.000 |',
        "| two lines | 1 | 1.000 |",
        "| x\\|y | 1 | 0.000 |",
        "| שפה | 1 | 1.000 |",
    ]


def test_table_has_one_line_for_each_row_and_keeps_markup(by_odd):
    header, *rows = by_odd("--format", "table").out.splitlines()

    assert header.split() == ["seg,", "[red]ment", "n", "accuracy"]
    assert [row.split("  ")[0] for row in rows] == ['a "q", b', r"two\nlines", "x|y", "שפה"]


def test_table_escapes_terminal_control_characters(run, tmp_path):
    path = tmp_path / "escape.csv"
    path.write_text("g,y,p\n\x1b]0;title\x07,1,1\n")

    done = run("report", path, *LABELS, "--by", "g", "--format", "table")

    assert r"\x1b]0;title\x07" in done.out


def test_table_aligns_numbers_and_writes_limits_beside_estimates(run, tmp_path):
    path = tmp_path / "limits.csv"
    path.write_text("g,y,p\n" + "a,1,1\n" * 8 + "a,1,0\n" * 2 + "bb,1,1\n")

    done = run("report", path, *LABELS, "--by", "g", "--interval", "--format", "table")

    header, first, second, *below = done.out.splitlines()
    assert below == ["", "Brackets: confidence interval."]
    # Wilson's limits of 8 of 10 and of 1 of 1, by hand
    assert first.endswith("0.80 [0.49, 0.94]")
    assert second.endswith("1.00 [0.21, 1.00]")
    assert len({len(header), len(first), len(second)}) == 1
    assert "lower" not in header


@cases(
    ("command", "below"),
    [
        (["report", "--interval"], ["", "Brackets: confidence interval."]),
        (["report"], []),
        (["check", "--rule", "accuracy >= 0.1"], ["", "Brackets: decision limits."]),
        (
            ["check", "--rule", "accuracy >= 0.1", "--rule", "n >= 1"],
            ["", "Brackets: decision limits."],
        ),
        (["check", "--rule", "n >= 1"], []),
        (["check", "--rule", "accuracy >= 0.1", "--decide", "estimate"], []),
    ],
)
@cases("form", ["table", "markdown"])
def test_a_line_below_a_table_names_the_limits_of_its_method(run, tmp_path, form, command, below):
    path = tmp_path / "limits.csv"
    path.write_text("g,y,p\n" + "a,1,1\n" * 8 + "a,1,0\n" * 2 + "bb,1,1\n")

    done = run(*command[:1], path, *LABELS[:4], "--by", "g", *command[1:], "--format", form)

    assert done.code != 2
    n_rules = command.count("--rule") or 1
    n_head = 2 if form == "markdown" else 1
    assert done.out.splitlines()[n_head + 2 * n_rules :] == below


@cases(
    ("ending", "begins"),
    [
        ("csv", b"n,accuracy"),
        ("json", b"[{"),
        ("ndjson", b'{"n"'),
        ("jsonl", b'{"n"'),
        ("md", b"| n |"),
        ("parquet", b"PAR1"),
        ("txt", b" n  accuracy"),
        ("CSV", b"n,accuracy"),
    ],
)
def test_output_extension_selects_the_format(run, people, tmp_path, ending, begins):
    out = tmp_path / f"out.{ending}"

    done = run("report", people, *LABELS, "--out", out)

    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_bytes().startswith(begins)


def test_the_requested_format_overrides_the_ending(run, people, tmp_path):
    out = tmp_path / "out.txt"

    run("report", people, *LABELS, "--out", out, "--format", "json")

    assert json.loads(out.read_text())[0]["n"] == 48


@pytest.mark.parametrize(
    ("allowed", "children", "counts"),
    [
        ([], ["failure", None, "error"], {"failures": "1", "errors": "1", "skipped": "0"}),
        (
            ["--allow-inconclusive"],
            ["failure", None, "skipped"],
            {"failures": "1", "errors": "0", "skipped": "1"},
        ),
    ],
)
def test_junit_has_a_test_case_for_every_verdict(run, tmp_path, allowed, children, counts):
    path, out = tmp_path / "g.csv", tmp_path / "out.xml"
    # none of 40 right, all of 400 right, 4 of 5 right
    cases = "<a&b>,1,0\n" * 40 + "b\x08,1,1\n" * 400 + "c,1,1\n" * 4 + "c,1,0\n"
    path.write_text("g,y,p\n" + cases)

    code = run(
        "check", path, *LABELS[:4], "--by", "g", "--rule", "accuracy >= 0.7", "--out", out, *allowed
    ).code

    suite = ElementTree.parse(out).getroot().find("testsuite")
    assert code == 1
    assert suite.attrib == {"name": "balframe check", "tests": "3", "time": "0", **counts}
    assert [case.get("classname") for case in suite] == ["accuracy >= 0.7"] * 3
    assert [case.get("name") for case in suite] == ["g=<a&b>", "g=b\ufffd", "g=c"]
    assert [next((child.tag for child in case), None) for case in suite] == children


def test_existing_output_file_is_replaced_and_keeps_its_mode(run, people, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old" * 10_000)
    out.chmod(0o640)
    mode = stat.S_IMODE(out.stat().st_mode)  # on Windows, what it makes of that

    run("report", people, *LABELS, "--out", out)

    assert out.read_text().startswith("n,accuracy")
    assert "old" not in out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.parquet"]


def test_new_output_file_has_default_permissions(run, people, tmp_path):
    (tmp_path / "other").touch()

    run("report", people, *LABELS, "--out", tmp_path / "out.csv")

    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_file_stays_as_it_was_when_the_command_fails(refused, people, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")

    refused("report", people, *LABELS, "--by", "nope", "--out", out)

    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.parquet"]


def test_output_follows_a_symlink(run, people, tmp_path):
    link, target = tmp_path / "link.csv", tmp_path / "target.csv"
    link.symlink_to(target)

    run("report", people, *LABELS, "--out", link)

    assert link.is_symlink()
    assert target.read_text().startswith("n,accuracy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_output_to_a_named_pipe_does_not_replace_it(run, people, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("report", people, *LABELS, "--out", pipe).code == 0
        assert os.read(reader, 10_000).startswith(b"n,accuracy")
    finally:
        os.close(reader)

    assert pipe.is_fifo()


def test_error_names_an_output_file_that_cannot_be_written(refused, people, tmp_path, monkeypatch):
    def denied(*arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("balframe._atomic_write.tempfile.NamedTemporaryFile", denied)

    line = refused("report", people, *LABELS, "--out", tmp_path / "out.csv")

    assert line.endswith("out.csv' cannot be written: Permission denied.")


def test_worst_mark_is_per_model_and_never_on_a_margin():
    columns = {
        "g": ["a", "b", None, "a", "b", None],
        "grouped_by": ["g", "g", "overall"] * 2,
        "model": ["m"] * 3 + ["k"] * 3,
        "metric": ["accuracy"] * 6,
        "estimate": [0.9, 0.8, 0.1, 0.4, 0.6, 0.5],
        "difference": [-0.1] * 6,
        "p_adjusted": [0.01] * 6,
        "verdict": ["worse"] * 6,
        "n": [20] * 6,
    }
    # the finest rows of all models come first
    frame = pl.DataFrame(columns).sort("grouped_by", maintain_order=True)

    styles = {column.name: set(column.styles) for column in table_columns(frame)}

    marked = frame[sorted(styles["estimate"])].select("g", "model").rows()
    assert marked == [("b", "m"), ("a", "k")]


def of_gaps(**columns):
    rows = {"g": [*"abc"], "metric": ["accuracy"] * 3, "estimate": [0.1, 0.2, 0.3]}
    rows |= {"difference": [-0.1] * 3, "p_adjusted": [0.01] * 3}
    rows |= {"verdict": ["worse"] * 3, "n": [20] * 3}
    return pl.DataFrame(rows | columns)


@pytest.mark.parametrize(
    ("columns", "marked"),
    [
        ({"n": [9, 10, 11]}, {1}),
        ({"verdict": ["not decided", None, "worse"]}, {2}),
        ({"verdict": ["better", "worse", "worse"]}, {1}),
    ],
)
def test_the_worst_is_a_significantly_worse_segment_with_enough_rows(columns, marked):
    columns = table_columns(of_gaps(**columns))

    assert [set(column.styles) for column in columns if column.name == "estimate"] == [marked]


def test_scores_of_a_report_are_not_marked():
    frame = pl.DataFrame({"g": [*"abc"], "n": [90, 100, 110], "accuracy": [0.1, 0.2, 0.3]})

    assert not any(column.styles for column in table_columns(frame))


def test_placeholders_are_written_for_null_and_all_segments(run, tmp_path):
    path = tmp_path / "nulls.csv"
    path.write_text("g,y,p\n,1,1\n(missing),1,1\na,0,1\n")
    asked = ["report", path, *LABELS, "--by", "g", "--margins", "overall", "--format"]

    table = run(*asked, "table").out.splitlines()
    markdown = run(*asked, "markdown").out.splitlines()
    csv = pl.read_csv(run(*asked, "csv").out.encode())

    texts = ['"(missing)"', "a", "(missing)", "(all)"]
    assert [line.split()[0] for line in table[1:]] == texts
    assert [line.split("|")[1].strip() for line in markdown[2:]] == texts
    assert csv.get_column("g").to_list() == ["(missing)", "a", None, None]


def test_null_as_lowest_segment_is_written_as_missing(run, tmp_path):
    path = tmp_path / "nulls.csv"
    path.write_text("g,y,p\n,1,0\na,1,1\n")

    options = ["--by", "g", "--min-support", "1", "--format", "table"]
    done = run("disparity", path, *LABELS, *options)

    assert done.out.splitlines()[1].split()[:3] == ["accuracy", "(missing)", "a"]


def headers(frame, width):
    """The names of the columns in each block of a terminal so wide."""
    blocks = split_columns(table_columns(frame), width)
    return [[column.name for column in block] for block in blocks]


def test_narrow_tables_keep_the_rule_in_every_block():
    frame = pl.DataFrame(
        {
            "g": ["a"],
            "rule": ["false_positive_rate <= 0.1"],
            "estimate": [0.1],
            "lower": [0.05],
            "upper": [0.2],
            "bound": [0.1],
            "status": ["inconclusive"],
        }
    )
    least = 1 + 2 + 26 + 2 + 12  # g, rule and status, with two blanks between them

    whole = least + 2 + 17 + 2 + 5  # 0.10 [0.05, 0.20] and bound
    assert headers(frame, whole) == [["g", "rule", "status", "estimate", "bound"]]
    assert headers(frame, whole - 1) == [
        ["g", "rule", "status"],
        ["g", "rule", "estimate", "bound"],
    ]
    fits = [["g", "rule", "status", "bound"], ["g", "rule", "estimate"]]
    assert headers(frame, least + 2 + 5) == fits
    assert headers(frame, least)[0] == ["g", "rule", "status"]
    assert headers(frame, 10)[0] == ["g", "rule", "status"]


def test_narrow_tables_balance_columns_between_blocks():
    scores = ["accuracy", "recall", "precision", "f1"]
    frame = pl.DataFrame({"g": ["a"], **{name: [0.5] for name in scores}})
    width = 1 + 2 + 8 + 2 + 6 + 2 + 9  # room for three of them, in order

    assert headers(frame, width) == [["g", "accuracy", "recall"], ["g", "precision", "f1"]]


def test_small_p_values_are_written_as_below_0_001(run, tmp_path):
    path = tmp_path / "apart.csv"
    path.write_text("g,y,p\n" + "a,1,1\n" * 400 + "b,1,0\n" * 400)

    done = run("gaps", path, *LABELS, "--by", "g", "--format", "table")

    assert "<0.001" in done.out
    assert "e-" not in done.out


@cases("ending", ["csv", "ndjson"])
def test_times_and_durations_keep_their_nanoseconds(run, tmp_path, ending):
    units = pl.Series([1, 3_600_000_000_000])
    frame = pl.DataFrame({"y": [1, 1], "p": [1, 1], "t": units, "d": units - 1})
    frame = frame.cast({"t": pl.Time, "d": pl.Duration("ns")})
    frame.write_parquet(tmp_path / "rows.parquet")
    names = {"t": ["00:00:00.000000001", "01:00:00"], "d": ["0:00:00", "0:59:59.999999999"]}
    for name, texts in names.items():
        options = ["--y-true", "y", "--y-pred", "p", "--by", name, "--format", ending]
        lines = run("confusion", tmp_path / "rows.parquet", *options).out.splitlines()
        rows = lines[1:] if ending == "csv" else [json.loads(line)[name] for line in lines]
        assert [row.split(",")[0] for row in rows] == texts
