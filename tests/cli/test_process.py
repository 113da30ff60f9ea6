"""The command line as a process: what only pipes, signals and terminals show."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys

import polars as pl
import pytest

import balframe as bf
from balframe.accessor import public_functions

terminal = pytest.importorskip("docs.generators.terminal")  # not on Windows

pytestmark = [pytest.mark.any_version, pytest.mark.processes]

BASH = shutil.which("bash")
PROGRAM = [sys.executable, "-m", "balframe"]
CALL = "from balframe.cli.main import main; main()"
LABELS = ["--y-true", "y", "--y-pred", "p"]
COMMANDS = [*(name.replace("_", "-") for name in public_functions()), "metrics", "demo"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")
RED = "\x1b[1;31m"


def started(*arguments, **options):
    texts = [str(argument) for argument in arguments]
    return subprocess.run([*PROGRAM, *texts], capture_output=True, check=False, **options)


def on_terminal(*arguments, columns=200, program=PROGRAM, stdout=None, **variables):
    """Run with a terminal for its streams: the exit code and what the terminal got."""
    command = [*program, *map(str, arguments)]
    variables = {"TERM": "xterm-256color", **variables}
    return terminal.run(command, columns=columns, stdout=stdout, **variables)


def result(text):
    """Take what stands behind the line of progress, which a slow machine shows and clears."""
    return text.rpartition("\x1b[2K")[2]


@pytest.fixture
def groups(tmp_path):
    """Group a is always right, group b never."""
    path = tmp_path / "groups.csv"
    path.write_text("g,y,p\n" + "a,1,1\n" * 400 + "b,1,0\n" * 40)
    return path


@pytest.mark.parametrize(
    ("rule", "code"), [("accuracy >= 0", 0), ("accuracy >= 0.5", 1), ("n >= x", 2)]
)
def test_the_verdict_is_the_exit_code_of_the_process(groups, rule, code):
    done = started("check", groups, *LABELS, "--by", "g", "--rule", rule, text=True)

    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert line.startswith("balframe: ") == (code == 2)
    assert bool(done.stdout) == (code != 2)


def test_inconclusive_rule_exits_with_3(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("y,p\n1,1\n0,0\n")

    assert run("check", path, *LABELS, "--rule", "accuracy >= 0.9").code == 3


def test_csv_is_read_from_standard_input_and_written_to_a_pipe(groups):
    done = started(
        "report", "-", *LABELS, "--by", "g", "--metric", "accuracy", input=groups.read_bytes()
    )

    frame = pl.read_csv(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert frame.select("g", "n", "accuracy").rows() == [("a", 400, 1.0), ("b", 40, 0.0)]


@pytest.mark.parametrize(("content", "why"), [(b"", b"empty"), (b"y,p\n\xff,\xff\n", b"UTF-8")])
def test_invalid_csv_on_standard_input_is_a_one_line_error(content, why):
    done = started("report", "-", *LABELS, input=content)

    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, b"")
    assert line.startswith(b"balframe: standard input cannot be read as csv: ")
    assert why in line


def test_nonblocking_standard_input_is_refused():
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    os.write(theirs, b"y,p\n1,1\n")

    done = started("report", "-", *LABELS, stdin=ours)  # while more may come

    os.close(ours)
    os.close(theirs)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, b"")
    assert line.startswith(b"balframe: standard input cannot be read: ")


@pytest.mark.parametrize("form", ["csv", "ndjson", "markdown", "table"])
def test_names_of_the_data_do_not_control_a_terminal(tmp_path, form):
    path = tmp_path / "names.csv"
    path.write_text("g,y,p\n\x1b]0;title\x07,1,1\n\u202eevil,1,1\n")

    code, text = on_terminal(
        *("report", path, *LABELS, "--by", "g", "--metric", "accuracy", "--format", form)
    )

    shown = STYLE.sub("", result(text))
    assert code == 0
    assert "title" in shown
    assert not {*"\x1b\x07\u202e"} & {*shown}


def test_parquet_goes_through_a_pipe(groups, tmp_path):
    done = started("confusion", groups, *LABELS, "--by", "g", "--format", "parquet")

    (tmp_path / "out.parquet").write_bytes(done.stdout)
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == [
        ("a", 1, 1, 400),
        ("b", 1, 0, 40),
    ]


@pytest.mark.parametrize(("rule", "code"), [("accuracy >= 0", 0), ("accuracy >= 0.5", 1)])
def test_a_closed_pipe_is_no_error_and_keeps_the_verdict(tmp_path, rule, code):
    path = tmp_path / "many.csv"
    path.write_text("g,y,p\n" + "".join(f"g{g},1,0\ng{g},1,1\ng{g},0,1\n" for g in range(20_000)))
    process = subprocess.Popen(
        [*PROGRAM, "check", path, *LABELS, "--by", "g", "--rule", rule, "--decide", "estimate"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    assert process.stdout.readline().startswith(b"g,rule,estimate")
    process.stdout.close()

    passed, failed = (20_000, 0) if code == 0 else (0, 20_000)
    tally = f"{passed} pass, {failed} fail, 0 inconclusive"
    assert process.stderr.read().decode().splitlines() == [tally]
    process.stderr.close()
    assert process.wait(60) == code


def test_column_names_with_special_characters_are_accepted(tmp_path):
    path = tmp_path / 'it\'s a "file", [red]ö.parquet'
    name = 'the [red]"group"[/red], it\'s\nשפה'
    pl.DataFrame({name: ["a", "b"], "true label": [1, 0], "-p": [1, 1]}).write_parquet(path)

    done = started(
        "report", path, "--y-true", "true label", "--y-pred", "-p", "--by", name,
        "--metric", "accuracy",
    )  # fmt: skip

    header, *rows = csv.reader(io.StringIO(done.stdout.decode()))
    assert (done.returncode, done.stderr) == (0, b"")
    assert header[:3] == [name, "n", "accuracy"]
    assert [row[:3] for row in rows] == [["a", "1", "1.0"], ["b", "1", "0.0"]]


def test_a_missing_file_is_one_line_and_no_traceback(refused):
    assert refused("report", "absent.csv", *LABELS) == (
        "'absent.csv' is not a file; give the path of a file, or a pattern."
    )


def test_a_terminal_gets_a_table_with_colours(groups):
    rule = ["--rule", "accuracy >= 0.5"]
    code, text = on_terminal("check", groups, *LABELS, "--by", "g", *rule)

    header, right, wrong, empty, note, tally = result(text).splitlines()
    assert code == 1
    assert STYLE.sub("", header).split() == ["g", "rule", "status", "estimate", "bound"]
    assert "\x1b[32mpass" in right
    assert f"{RED}fail" in wrong
    assert (empty, note) == ("", "Brackets: decision limits.")
    assert tally == "1 pass, 1 fail, 0 inconclusive"


def test_worst_segment_is_red_and_bold_where_no_color_is_set(groups):
    arguments = ["gaps", groups, *LABELS, "--by", "g", "--metric", "accuracy"]

    coloured = result(on_terminal(*arguments)[1])
    plain = result(on_terminal(*arguments, NO_COLOR="1")[1])

    assert [RED in line for line in coloured.splitlines()][:3] == [False, False, True]
    assert re.search(f"{re.escape(RED)} *0.000", coloured)
    note = "Red: the worst of those significantly worse than the reference."
    assert coloured.splitlines()[-1] == note
    assert "31m" not in plain
    assert STYLE.sub("", plain) == STYLE.sub("", coloured).replace("Red:", "Bold:")


def test_a_terminal_without_styles_has_no_note_about_them(groups):
    arguments = ["gaps", groups, *LABELS, "--by", "g", "--metric", "accuracy"]

    text = on_terminal(*arguments, TERM="dumb")[1]

    assert "\x1b" not in text
    assert result(text).splitlines()[-1] == "Brackets: confidence interval."


def test_a_narrow_terminal_gets_blocks_of_columns_that_fit():
    code, text = on_terminal("demo", columns=60)

    _, _, tables = STYLE.sub("", result(text)).partition("\n\n")
    lines = tables.partition("Brackets:")[0].splitlines()
    headers = [line.split() for line in lines if line.startswith("race")]
    shown = [name for header in headers for name in header[1:]]
    assert code == 0
    assert max(map(len, lines)) <= 60
    assert len(headers) > 1
    assert all(header[0] == "race" for header in headers)
    assert (shown[0], shown[-3:]) == ("n", ["accuracy", "balanced_accuracy", "fpr"])
    assert len(shown) == len(set(shown))


def test_progress_line_appears_on_a_terminal_and_is_cleared(groups, tmp_path):
    slow = (
        "import time, polars as pl; collect = pl.LazyFrame.collect\n"
        "def slowly(self, **options):\n"
        "    time.sleep(1.5 * (options.get('engine') == 'streaming'))\n"
        "    return collect(self, **options)\n"
        "pl.LazyFrame.collect = slowly\n"
    )
    program = [sys.executable, "-c", slow + CALL]

    with open(tmp_path / "out.csv", "wb") as out:
        code, seen = on_terminal("report", groups, *LABELS, program=program, stdout=out)
    silent = subprocess.run([*program, "report", groups, *LABELS], capture_output=True, check=False)

    assert (code, silent.returncode, silent.stderr) == (0, 0, b"")
    assert (tmp_path / "out.csv").read_bytes() == silent.stdout
    assert "counting" in seen
    assert "0:00:01" in seen
    assert seen.rstrip().endswith("\x1b[2K")  # the line is cleared


def test_parquet_is_refused_on_a_terminal(groups):
    code, text = on_terminal("report", groups, *LABELS, "--format", "parquet")

    assert (code, len(text.splitlines())) == (2, 1)
    assert (
        "--format parquet is binary, which a terminal cannot show. Give --out FILE or redirect"
        in text
    )


def test_the_version_is_that_of_the_package(run):
    done = run("--version")

    assert (done.code, done.out) == (0, f"balframe {bf.__version__}\n")


def test_help_names_the_program_balframe():
    lines = started("report", "--help", text=True).stdout.splitlines()

    assert next(filter(None, map(str.strip, lines))).startswith("Usage: balframe report ")


def test_the_help_names_the_commands_in_order(run):
    done = run("--help")

    found = [line.split()[1] for line in done.out.splitlines() if re.match(r"│ \S", line)]
    assert done.code == 0
    assert [name for name in found if name in COMMANDS] == COMMANDS
    assert {"--install-completion", "--show-completion", "--version"} <= set(found)


@pytest.mark.skipif(BASH is None, reason="has no bash")
def test_completion_script_is_for_the_program_balframe():
    done = in_bash("--show-completion")

    assert (done.returncode, done.stderr) == (0, "")
    assert "_BALFRAME_COMPLETE=bash_complete" in done.stdout


@pytest.mark.skipif(BASH is None, reason="has no bash")
def test_completion_is_installed_once(tmp_path):
    (tmp_path / ".bashrc").write_text("# mine")

    for _ in range(2):
        done = in_bash("--install-completion", HOME=str(tmp_path))

        script = tmp_path / ".bash_completions" / "balframe.sh"
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"bash completion installed in {script}\n")
        assert "_BALFRAME_COMPLETE=bash_complete" in script.read_text()
        assert (tmp_path / ".bashrc").read_text() == f"# mine\nsource '{script}'\n"


def in_bash(*arguments, **variables):
    """Run the program as a child of a shell, which stays for what follows."""
    words = [BASH, "-c", '"$@"; exit $?', "bash", *PROGRAM, *arguments]
    return subprocess.run(words, capture_output=True, text=True, env=os.environ | variables)


@pytest.mark.parametrize("package", ["click", "rich"])
def test_missing_cli_extra_is_named_in_the_error(package):
    code = f"import sys; sys.modules['{package}'] = None\n" + CALL

    done = subprocess.run(
        [sys.executable, "-c", code, "demo", "--format", "table"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "balframe: the command line needs an extra: python -m pip install 'balframe[cli]'"
    ]
