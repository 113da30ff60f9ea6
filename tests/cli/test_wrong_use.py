"""Wrong usage and wrong input: exit code 2, and one line that says what to do."""

import polars as pl
import pytest

from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("y,p,g,s\nyes,yes,a,0.9\nyes,no,a,0.4\nno,no,b,0.2\nno,no,b,0.1\n")
    return path


@cases(
    ("name", "content", "parts"),
    [
        ("absent.csv", None, ["absent.csv' is not a file", "or a pattern"]),
        ("absent*.csv", None, ["absent*.csv' matches no file"]),
        ("data.docx", b"", ["ends in '.docx'", ".csv, .tsv, .parquet", "--input-format"]),
        ("data", b"", ["data' has no file extension", ".csv, .tsv, .parquet"]),
        ("empty.csv", b"", ["empty.csv' cannot be read", "header with column names"]),
        ("latin.csv", "y,p\né,é\n".encode("latin-1"), ["latin.csv'", "UTF-8", "iconv"]),
        ("ragged.csv", b"y,p\n1,1\n1,1,1\n", ["ragged.csv'", "more fields"]),
        ("short.csv", b"y,p\n1,1\n1\n", ["'p' has 1 null value", "--missing drop"]),
        ("broken.parquet", b"not parquet", ["broken.parquet' cannot be read"]),
        ("empty.parquet", b"", ["empty.parquet' cannot be read"]),
        ("broken.ndjson", b'{"y": 1, "p": 1}\n{"y"', ["broken.ndjson' cannot be read"]),
        ("broken.arrow", b"not arrow", ["broken.arrow' cannot be read"]),
        ("other.csv", b"y,pp\n1,1\n", ["column 'p' not found", "did you mean 'pp'", "y, pp"]),
        ("kinds.csv", b"y,p\n1,a\n", ["'y' holds numbers", "'p' holds strings"]),
    ],
)
def test_a_file_that_cannot_be_read_is_named(refused, tmp_path, name, content, parts):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    line = refused("report", path, *LABELS)

    assert all(part in line for part in parts), line


@cases("size", [4, 200, -9, -1])
def test_a_truncated_parquet_file_is_named(refused, people, size):
    whole = people.read_bytes()
    people.write_bytes(whole[:size])

    assert "people.parquet' cannot be read" in refused("report", people, *LABELS)


def test_a_parquet_file_with_a_broken_footer_is_named(refused, people):
    whole = people.read_bytes()
    people.write_bytes(whole[:-60] + b"\xff" * 52 + whole[-8:])

    assert "people.parquet' cannot be read" in refused("report", people, *LABELS)


def test_a_folder_without_files_is_refused(refused, tmp_path):
    (tmp_path / "folder").mkdir()

    assert "has no file with a supported extension" in refused("report", tmp_path, *LABELS)
    assert "has no file with a supported extension" in refused("report", tmp_path / "*", *LABELS)


def test_file_passed_twice_is_refused(refused, people):
    assert "people.parquet' is given twice" in refused(
        "report", people, people.parent / "*.parquet", *LABELS
    )


def test_files_of_several_kinds_are_refused(refused, people, small):
    line = refused("report", people, small, *LABELS)

    assert "have more than one format: 'parquet' in " in line
    assert "small.csv'. Give files with the same format" in line


def test_files_with_different_columns_are_named(refused, tmp_path):
    (tmp_path / "1.csv").write_text("y,p\n1,1\n")
    (tmp_path / "2.csv").write_text("y,pp\n1,1\n")

    line = refused("report", tmp_path / "1.csv", tmp_path / "2.csv", *LABELS)

    assert "1.csv' has y, p; " in line
    assert "2.csv' has y, pp. Give files with the same columns." in line


def test_of_several_files_the_broken_one_is_named(refused, people):
    (people.parent / "broken.parquet").write_bytes(b"not parquet")

    line = refused("report", people, people.parent / "broken.parquet", *LABELS)

    assert "broken.parquet' cannot be read" in line
    assert "people" not in line


@pytest.mark.parametrize(
    ("command", "arguments", "parts"),
    [
        ("report", "--y-true y --y-pred pp", ["'pp' not found; did you mean 'p'", "y, p, g, s"]),
        ("report", "--y-true y", ["Missing --y-pred COLUMN.", "balframe report --help"]),
        ("report", "LABELS --by gg", ["'gg' not found; did you mean 'g'"]),
        ("report", "LABELS s@last", ["'s@last' is not a file", "TABLE@RUN", "the table, 's'."]),
        ("report", "LABELS --by g s", ["'s' is not a file", "--by sex --by age"]),
        ("report", "LABELS --by g --by g", ["--by names a column twice"]),
        ("report", "LABELS --by g,s", ["'g,s' not found; to name several, give --by g --by s."]),
        ("gaps", "LABELS --by g,s --by g", ["to name several, give --by g --by s."]),
        ("report", "LABELS --by g,x", ["column 'g,x' not found. Columns: y, p, g, s."]),
        ("slices", "LABELS --over g,s", ["give --over g --over s."]),
        ("compare", "--y-true y --y-pred p,g", ["give --y-pred p --y-pred g."]),
        ("audit", "LABELS --by g,s", ["give --by g --by s."]),
        ("report", "LABELS --metric accuracy,f1", ["give --metric accuracy --metric f1."]),
        ("report", "LABELS --y-pred p", ["--y-pred names a column twice"]),
        ("report", "LABELS --metric acuracy", ["did you mean 'accuracy'"]),
        (
            "report",
            "--y-true g --y-pred s --threshold 0.5 --metric recall",
            ["--pos-label", "'a', 'b'"],
        ),
        ("report", "LABELS --metric all --metric all", ["--metric names a metric twice"]),
        ("report", "LABELS --pos-label nix", ["--pos-label 'nix'", "'no', 'yes'"]),
        ("report", "LABELS --label yes --label nix", ["the data have the label 'no'", "--label"]),
        ("report", "LABELS --label yes --label yes", ["--label lists a label twice"]),
        ("report", "LABELS --class-weight yes=1", ["--class-weight has no weight for 'no'"]),
        ("report", "LABELS --class-weight yes=a", ["--class-weight 'yes=a'", "yes=0.8"]),
        ("report", "LABELS --class-weight even", ["--class-weight 'even'", "or prevalence"]),
        (
            "report",
            "LABELS --class-weight yes=1 --class-weight yes=2",
            ["--class-weight gives 'yes' more than one weight"],
        ),
        ("report", "LABELS --metric baw", ["needs --class-weight", '"balanced"']),
        ("report", "LABELS --level 95", ["--level 95", "between 0 and 1"]),
        ("report", "LABELS --level high", ["'--level'", "number", "balframe report --help"]),
        ("report", "LABELS --interval wilson", ["--interval-method wilson"]),
        ("report", "LABELS --interval-method wald", ["'wald' is not one of", "'wilson'"]),
        ("report", "LABELS --margins some", ["'some' is not one of 'overall', 'all'"]),
        ("report", "LABELS --missing keep", ["'keep' is not one of 'raise', 'drop'"]),
        (
            "slices",
            "LABELS --missing correct",
            ["'correct' is not one of 'raise', 'drop'. 'correct' is for report, classes, gaps"],
        ),
        ("report", "LABELS --sample-weight g", ["column 'g'", "numbers"]),
        ("report", "LABELS --counts s", ["column 's'", "--sample-weight"]),
        ("report", "LABELS --cells", ["column 'n' not found"]),
        ("report", "LABELS --cells --counts n", ["cells have", "with --counts or --sample-w"]),
        ("report", "LABELS --max-cells 0", ["--max-cells 0", "at least 1"]),
        ("report", "LABELS --max-cells 1", ["--max-cells", "--by"]),
        ("report", "LABELS --sort nope", ["--sort: column 'nope' not found", "accuracy"]),
        ("report", "LABELS --format xml", ["'xml' is not one of", "'parquet'."]),
        (
            "report",
            "LABELS --out report.xml",
            ["--format junit is only available for the commands check and monitor."],
        ),
        (
            "report",
            "LABELS --format github",
            ["'github' is not one of 'table', 'csv', 'json', 'ndjson', 'markdown', 'parquet'."],
        ),
        (
            "check",
            "LABELS --rule n>=1 --timestamp 2026-03-31T10:00:00Z --format csv",
            ["--timestamp is only for junit, but the output is csv.", "--format junit"],
        ),
        (
            "check",
            "LABELS --rule n>=1 --timestamp 2026-03-31 --format junit",
            ["--timestamp '2026-03-31' is not a date with a time", "2026-03-31T10:00:00Z"],
        ),
        (
            "check",
            "LABELS --rule n>=1 --timestamp T25:00 --format junit",
            ["--timestamp 'T25:00' is not a date with a time"],
        ),
        (
            "check",
            "LABELS --rule n>=1 --format github --out a.txt",
            ["--format github is read from standard output, but --out is given. Omit --out"],
        ),
        ("report", "LABELS --timestamp 2026-03-31T10:00:00Z", ["No such option: --timestamp"]),
        (
            "report",
            "LABELS --out out.xlsx",
            ["--out 'out.xlsx' ends in '.xlsx', which is not a supported format", "--format"],
        ),
        ("report", "LABELS --out out", ["--out 'out' has no file extension", ".csv, .json"]),
        (
            "report",
            "LABELS --out no/out.csv",
            ["--out 'no/out.csv': the directory 'no' does not exist"],
        ),
        ("report", "LABELS --format csv --out .", ["--out '.' is a directory"]),
        ("report", "LABELS --bogus", ["No such option: --bogus", "balframe report --help"]),
        ("gaps", "LABELS", ["Missing --by COLUMN."]),
        (
            "gaps",
            "LABELS --by g --reference c",
            ["--reference 'c' does not match any segment. Segments: 'a', "],
        ),
        ("disparity", "LABELS --by g --min-support -1", ["--min-support -1", "at least 0"]),
        ("curve", "--y-true g --y-score s", ["--pos-label", "'a', 'b'"]),
        ("curve", "SCORES --thresholds many", ["--thresholds 'many'", "give all,", "quantiles,10"]),
        ("curve", "SCORES --thresholds quantiles", ["--thresholds 'quantiles'", "0.2,0.5"]),
        ("curve", "SCORES --thresholds 1", ["--thresholds", "at least 2"]),
        ("curve", "SCORES --thresholds nan", ["--thresholds contains NaN"]),
        ("curve", "SCORES --y-score g", ["column 'g'", "numbers"]),
        ("best-threshold", "SCORES --metric fpr --metric", ["'--metric'"]),
        ("compare", "LABELS", ["--y-pred 'p' names one model", "at least two"]),
        ("fairness", "LABELS", ["Missing --by COLUMN."]),
        ("posterior", "LABELS --above x", ["'--above'", "balframe posterior --help"]),
        (
            "posterior",
            "LABELS --above 2",
            ["is not a balanced accuracy; give a number from 0"],
        ),
        ("posterior", "LABELS --prior even", ["'even' is not one of 'uniform', 'jeffreys'"]),
        ("ranking", "--y-true g --y-score s", ["--pos-label", "'a', 'b'"]),
        ("require", "LABELS", ["--rule", "--rules"]),
        ("require", "LABELS --rule n>1 --by gg", ["'gg' not found; did you mean 'g'"]),
        ("require", "LABELS --rule n>1 --format csv", ["No such option: --format"]),
        ("combine", "LABELS", ["No such command 'combine'"]),
        ("check", "LABELS", ["--rule", "--rules"]),
        ("check", "LABELS --rule n>1 --interval wald", ["No such option: --interval"]),
        ("check", "LABELS --rule n>1 --absent drop", ["'drop' is not one of", "'skip'"]),
        ("check", "LABELS --rule n>1 --rules gate.toml", ["--rule", "--rules"]),
        ("check", "LABELS --rules gate.toml --rules x.toml", ["gate.toml: the rules cannot be"]),
        (
            "report",
            "LABELS --y-true g",
            ["--y-true is given 2 times, and takes one value; give it once. See balframe report"],
        ),
        ("report", "LABELS --level .9 --level .9 --level .9", ["--level is given 3 times"]),
        ("report", "LABELS --missing drop --missing raise", ["--missing is given 2 times"]),
        ("report", "LABELS --out a.csv --out b.csv", ["--out is given 2 times"]),
        ("report", "LABELS --format csv --format json", ["--format is given 2 times"]),
        ("report", "LABELS --separator ; --separator ,", ["--separator is given 2 times"]),
        ("report", "LABELS --interval --no-interval", ["--interval is given 2 times"]),
        ("report", "LABELS --counts s --counts s", ["--counts is given 2 times"]),
        ("audit", "LABELS --title a --title b", ["--title is given 2 times"]),
        ("check", "LABELS --rule accuracy", ["the rule 'accuracy'", ">=, >, <=, <, =="]),
        ("check", "LABELS --rule acuracy>=0.5", ["did you mean 'accuracy'"]),
        ("check", "LABELS --rule ratio(accuracy)>=0.5", ["--by is missing, but"]),
        ("check", "LABELS --rules gate.toml", ["gate.toml: the rules cannot be read"]),
        ("check", "LABELS --rules .", ["the rules cannot be read", "directory"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_usage_errors_state_what_is_allowed(
    refused, small, monkeypatch, tmp_path, command, arguments, parts
):
    monkeypatch.chdir(tmp_path)
    text = arguments.replace("LABELS", " ".join(LABELS))
    text = text.replace("SCORES", "--y-true y --y-score s --pos-label yes")

    line = refused(command, small, *text.split())

    assert all(part in line for part in parts), line


@cases(
    ("name", "text"),
    [
        ("gate.toml", "rules = ["),
        ("gate.yaml", "rules: ["),
        ("gate.toml", "rules = []"),
        ("gate.toml", 'rule = ["accuracy >= 0.5"]'),
        ("gate.txt", "accuracy"),
    ],
)
def test_a_broken_file_of_rules_is_named(refused, small, tmp_path, name, text):
    (tmp_path / name).write_text(text)

    assert name in refused("check", small, *LABELS, "--rules", tmp_path / name)


@cases(
    ("arguments", "part"),
    [
        (["reprot"], "No such command 'reprot'"),
        (["--bogus"], "No such option: --bogus"),
        (
            ["report"],
            "Missing FILES..., --y-true COLUMN, --y-pred COLUMN. See balframe report --help",
        ),
        (["gaps", "a.csv", "--y-pred", "p"], "Missing --y-true COLUMN, --by COLUMN."),
        (["repotr"], "Did you mean 'report'?"),
        (["report", "--y_true", "y"], "No such option: --y_true. Did you mean --y-true?"),
        (["report", "--metrics", "f1"], "No such option: --metrics. Did you mean --metric?"),
        (["report", "a.csv", "--zzz"], "No such option: --zzz. See balframe report --help."),
        (
            ["report", "--alpha", ".1"],
            "--alpha. Did you mean --level? It is 1 - alpha. See",
        ),
        (["report", "--ci"], "No such option: --ci. Did you mean --interval or --level? See"),
        (["gaps", "--confidence", ".9"], "No such option: --confidence. Did you mean --level? See"),
        (["report", "--group", "g"], "No such option: --group. Did you mean --by? See"),
        (["gaps", "--groupby", "g"], "No such option: --groupby. Did you mean --by? See"),
        (["slices", "--groupby", "g"], "No such option: --groupby. Did you mean --over? See"),
        (["report", "--sensitive-features", "g"], "--sensitive-features. Did you mean --by? See"),
        (["report", "--weights", "w"], "--weights. Did you mean --sample-weight? See"),
        (["report", "--normalize", "true"], "--normalize. Scores are already shares of rows. For"),
        (["report", "--average", "macro"], "--average. An average over labels is a metric of its"),
        (["curve", "--threshold", ".5"], "--threshold. Did you mean --thresholds? See"),
        (["calibration", "--threshold", ".5"], "No such option: --threshold. "),
        (["report", "a.csv", "--y-true"], "Option '--y-true' needs a value."),
        (["demo", "--data", "a.csv", "--data", "b.csv"], "--data is given 2 times"),
        (["metrics", "--sort", "nam"], "did you mean 'name'"),
        (["demo", "extra"], "extra"),
    ],
)
def test_unknown_commands_and_options_are_refused_with_advice(refused, arguments, part):
    assert part in refused(*arguments)


def test_output_errors_are_raised_before_the_input_is_read(refused, tmp_path):
    assert "--out" in refused("report", tmp_path / "absent.csv", *LABELS, "--out", "out.xlsx")


def test_error_keeps_a_column_name_that_looks_like_a_parameter(refused, tmp_path):
    path = tmp_path / "odd.csv"
    pl.DataFrame({"y": [1], "pos_label=": [None]}, schema={"y": int, "pos_label=": int}).write_csv(
        path
    )

    line = refused("report", path, "--y-true", "y", "--y-pred", "pos_label=")

    assert "column 'pos_label='" in line


def test_error_keeps_listed_columns_that_look_like_parameters(refused, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("y,level=,metrics\n1,1,1\n")

    assert refused("report", path, *LABELS).endswith("Columns: y, level=, metrics.")


@cases("name", ["a\nb", "[red]a[/red]", "a b", 'ü, "q" \'', "עברית", "\x1b[31m"])
def test_unknown_column_of_any_name_is_a_one_line_error(refused, small, name):
    refused("report", small, *LABELS, "--by", name)


@cases("typed", ["x", "s=", "s=1,a", "=3", "s=3 s=4", "2 3"])
def test_invalid_bins_are_refused(refused, small, typed):
    bins = [word for one in typed.split() for word in ("--bins", one)]

    line = refused("slices", small, *LABELS, "--over", "s", "--type", "s=float", *bins)

    assert f"--bins {typed!r} is not valid" in line
    assert "age=18,25,45" in line
