"""Exit codes: what the docs list is what commands end with; 1 is never a crash."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from balframe.cli.exit_codes import ExitCode
from balframe.methods import declarations

resource = pytest.importorskip("resource")  # not on Windows

pytestmark = pytest.mark.any_version

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "reference" / "command-line.md"
LABELS = ["--y-true", "y", "--y-pred", "p"]
STREAM = ["--time", "d", "--every", "1mo", "--baseline", "2026-06-30", "--metric", "accuracy"]
MEMORY = "Unable to allocate 888. PiB for an array with shape (1000000000, 1000000000)"


class Panic(BaseException):
    """An error that is no Exception, as those of polars that should never occur."""


def documented():
    """Read the table of exit codes in the docs: the meaning of each."""
    _, section = PAGE.read_text().split("## Exit codes\n")
    rows = re.findall(r"^\| (\d+) \| (.+?) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return {int(code): meaning for code, meaning in rows}


def days(n_wrong_in_july):
    """Make half a year in which every tenth row is wrong, and July."""
    rows = [(f"2026-0{month}-{1 + i % 28:02}", 1, int(i % 10 > 0)) for month in range(1, 7)
            for i in range(200)]  # fmt: skip
    rows += [(f"2026-07-{1 + i % 28:02}", 1, int(i >= n_wrong_in_july)) for i in range(200)]
    return pl.DataFrame(rows, schema=["d", "y", "p"], orient="row")


@pytest.fixture
def data(tmp_path):
    """Files: group a is always right and b never, and only one row; nothing; and two streams."""
    groups = pl.DataFrame({"g": ["a"] * 400, "y": [1] * 400, "p": [1] * 400})
    groups.write_csv(tmp_path / "right.csv")
    groups.with_columns(p=0).write_csv(tmp_path / "wrong.csv")
    groups.head(1).write_csv(tmp_path / "few.csv")
    groups.head(0).write_parquet(tmp_path / "none.parquet")
    days(20).write_csv(tmp_path / "steady.csv")
    days(150).write_csv(tmp_path / "worse.csv")
    return tmp_path


RUNS = {  # of each exit code: commands that end with it
    ExitCode.OK: [
        ["report", "right.csv", *LABELS],
        ["check", "right.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["require", "right.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["check", "few.csv", *LABELS, "--rule", "accuracy >= 0.5", "--allow-inconclusive"],
        ["monitor", "steady.csv", *LABELS, *STREAM],
        ["diff", "right.csv", "wrong.csv", *LABELS],
        ["diff", "wrong.csv", "right.csv", *LABELS, "--fail-on-worse"],
        ["metrics"],
        ["report", "--help"],
        ["--version"],
    ],
    ExitCode.FAIL: [
        ["check", "wrong.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["require", "wrong.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["check", "wrong.csv", *LABELS, "--rule", "accuracy >= 0.5", "--allow-inconclusive"],
        ["monitor", "worse.csv", *LABELS, *STREAM],
        ["diff", "right.csv", "wrong.csv", *LABELS, "--fail-on-worse"],
    ],
    ExitCode.ERROR: [
        [],
        ["nothing"],
        ["report", "right.csv"],
        ["report", "absent.csv", *LABELS],
        ["report", "right.csv", *LABELS, "--metric", "nothing"],
        ["check", "right.csv", *LABELS, "--rule", "accuracy"],
    ],
    ExitCode.INCONCLUSIVE: [
        ["check", "few.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["require", "few.csv", *LABELS, "--rule", "accuracy >= 0.5"],
        ["check", "none.parquet", *LABELS, "--rule", "n >= 1"],
        ["require", "none.parquet", *LABELS, "--rule", "n >= 1", "--allow-inconclusive"],
    ],
}


def test_docs_list_every_exit_code_with_its_meaning():
    assert documented() == {int(code): code.meaning for code in ExitCode}


@pytest.mark.parametrize("code", RUNS, ids=lambda code: code.name)
def test_commands_end_with_the_exit_code_of_the_docs(run, data, monkeypatch, code):
    monkeypatch.chdir(data)

    ends = {" ".join(arguments): run(*arguments).code for arguments in RUNS[code]}

    assert int(code) in documented()
    assert ends == dict.fromkeys(ends, int(code))


@pytest.fixture
def failing(monkeypatch, data, run):
    """Run a gate in which an error occurs that nothing expects."""

    def started(error, *more):
        def fail(*arguments, **options):
            raise error

        monkeypatch.chdir(data)
        monkeypatch.setattr("balframe.cli.method_commands._call", fail)
        return run("check", "right.csv", *LABELS, "--rule", "accuracy >= 0.5", *more)

    return started


def array_memory_error():
    """Return NumPy's own error for an array of more bytes than there are addresses."""
    with pytest.raises(MemoryError) as raised:
        np.empty((10**9,) * 2, np.int8)
    return raised.value


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (RuntimeError("no\n\x1b[31mway"), ["internal error", r"RuntimeError: no \x1b[31mway"]),
        (Panic("called `unwrap()`\non None"), ["internal error", "Panic: called `unwrap()` on"]),
        (KeyError("n"), ["internal error", "KeyError: 'n'"]),
        (AssertionError(), ["internal error", "AssertionError", "BALFRAME_TRACEBACK=full"]),
        (RecursionError("maximum depth"), ["internal error", "RecursionError: maximum depth"]),
        (MemoryError(), ["not enough memory"]),
        (array_memory_error(), [f": {MEMORY} "]),
        (OSError(12, "Cannot allocate memory"), ["Cannot allocate memory"]),
        (
            ModuleNotFoundError("No module named 'nanoarrow'", name="nanoarrow"),
            ["the package 'nanoarrow' is not installed", "python -m pip install nanoarrow"],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_crash_is_one_line_and_exit_code_2(failing, error, parts):
    done = failing(error)

    (line,) = done.err.splitlines()
    assert (done.code, done.out) == (ExitCode.ERROR, "")
    assert line.startswith("balframe: ")
    assert all(part in line for part in parts), line


def test_ctrl_c_before_a_command_runs_is_no_crash(run, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("balframe.cli.app._command", interrupt)

    done = run("report")

    assert (done.code, done.out, done.err.strip()) == (ExitCode.INTERRUPTED, "", "")


def test_the_traceback_of_a_crash_is_shown_on_request(failing, monkeypatch):
    monkeypatch.setenv("BALFRAME_TRACEBACK", "full")

    done = failing(RuntimeError("no way"))

    assert done.code == ExitCode.ERROR
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("balframe: internal error: RuntimeError: no way")


@pytest.mark.parametrize(
    ("package", "words"),
    [("click", ["metrics"]), ("rich", ["metrics", "--help"]), ("polars", ["metrics"])],
)
def test_a_missing_package_is_one_line_and_exit_code_2(package, words):
    program = f"""
import sys
sys.modules[{package!r}] = None
sys.argv = {["balframe", *words]!r}
from balframe.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (ExitCode.ERROR, "")
    (line,) = done.stderr.splitlines()
    if package == "polars":
        assert "the package 'polars' is not installed" in line
    else:
        assert "python -m pip install 'balframe[cli]'" in line


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.processes
@pytest.mark.parametrize("size", [120, 210, 400, 700, 1000])
def test_too_little_memory_to_load_is_one_line(data, size):
    limit = size * 2**20
    done = subprocess.run(
        [sys.executable, "-m", "balframe", "report", str(data / "right.csv"), *LABELS],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout) == (ExitCode.ERROR, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"balframe: not enough memory: a limit of {size:,} MiB is set (ulimit ")


def test_only_methods_with_a_status_end_with_a_code_of_their_own():
    """So no other command can end with 1 or 3."""
    names = {run[0] for code in (ExitCode.FAIL, ExitCode.INCONCLUSIVE) for run in RUNS[code]}

    statuses = {name for name, method in declarations().items() if method.statuses}
    assert names == {*statuses, "diff", "require"}  # the first of them with --fail-on-worse
