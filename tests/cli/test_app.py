import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

import balframe as bf
from balframe.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path):
    path = tmp_path / f"predictions.{request.param}"
    people = bf.datasets.compas(expand=True)
    people.write_csv(path) if request.param == "csv" else people.write_parquet(path)
    return path


def row_of(output, segment):
    (line,) = [line for line in output.splitlines() if segment in line]
    return [cell.strip() for cell in line.strip("│").split("┆")]


def test_report_prints_every_segment_of_a_file(file):
    result = run(
        "report", file, "--y-true", "reoffended", "--y-pred", "high_risk", "--by", "race",
        "--metric", "accuracy", "--metric", "fpr",
    )  # fmt: skip

    assert result.exit_code == 0
    # (6 + 21) / 32 and 2 / 23; (505 + 1139) / 2454 and 349 / 1488
    assert row_of(result.output, "Asian") == ["Asian", "32", "2", "9", "0.844", "0.087"]
    assert row_of(result.output, "Caucasian") == ["Caucasian", "2454", "2", "966", "0.670", "0.235"]


def test_report_compares_models_and_rolls_up(file):
    result = run(
        "report", file, "--y-true", "reoffended", "--y-pred", "high_risk", "--y-pred",
        "reoffended", "--margins", "overall", "--metric", "accuracy",
    )  # fmt: skip

    assert result.exit_code == 0
    # 1369 + 990 + 505 + 1139 + 103 + 318 + 43 + 208 + 6 + 21 + 9 + 5 = 4716 right of 7214
    assert row_of(result.output, "high_risk")[-1] == "0.654"
    assert row_of(result.output, "overall ┆ reoffended")[-1] == "1.000"


def test_demo_prints_propublicas_rates():
    result = run("demo")

    assert result.exit_code == 0
    assert row_of(result.output, "African-American")[-2:] == ["0.448", "0.280"]
    assert row_of(result.output, "Caucasian")[-2:] == ["0.235", "0.477"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "absent.csv",
            None,
            "'.*absent.csv' is not a file; give the path of a csv or parquet file",
        ),
        ("data.xlsx", b"", "ends in '.xlsx'; the files that can be read end in .csv or .parquet"),
        ("broken.parquet", b"not parquet", "balframe: "),
        ("empty.csv", b"", "balframe: "),
        ("other.csv", b"y,yhatt\n1,1\n", "column 'yhat' not found; did you mean 'yhatt'"),
        ("null.csv", b"y,yhat\n1,\n0,1\n", "column 'yhat' has 1 null value"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    result = run("report", path, "--y-true", "y", "--y-pred", "yhat")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert pl.Series([result.stderr]).str.contains(message).all()


def test_version():
    assert run("--version").output == f"balframe {bf.__version__}\n"


def test_binary_metrics_of_text_labels_and_limits(tmp_path):
    path = tmp_path / "text.csv"
    path.write_text("y,yhat\nyes,yes\nyes,no\nno,no\nno,no\n")

    result = run(
        "report", path, "--y-true", "y", "--y-pred", "yhat", "--metric", "recall", "--pos-label",
        "yes", "--interval",
    )  # fmt: skip

    assert result.exit_code == 0
    # Wilson's limits of 1 of 2
    assert row_of(result.output, "0.500")[-3:] == ["0.500", "0.095", "0.905"]


@pytest.mark.parametrize(("text", "code"), [("1", 0), ("1.0", 0), ("2", 2), ("one", 2)])
def test_a_positive_label_is_read_as_the_column(tmp_path, text, code):
    path = tmp_path / "numbers.csv"
    path.write_text("y,yhat\n1,1\n0,1\n")

    result = run(
        "report", path, "--y-true", "y", "--y-pred", "yhat", "--metric", "recall", "--pos-label",
        text,
    )  # fmt: skip

    assert result.exit_code == code


def test_unreadable_files_are_named(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("")

    assert f"{path}: " in run("report", path, "--y-true", "y", "--y-pred", "yhat").stderr


def test_help_names_the_commands_and_their_options():
    assert {"report", "demo"} <= set(run("--help").output.split())
    helped = run("report", "--help").output
    for option in ("--y-true", "--y-pred", "--by", "--metric", "--interval", "--pos-label"):
        assert option in helped


def test_without_the_extra_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None\nfrom balframe.cli.main import main\nmain()"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "pip install 'balframe[cli]'" in done.stderr
