"""What is written to standard output arrives whole, or the program fails."""

import io
import os
import subprocess
import sys

import pytest

from balframe.cli.main import main

resource = pytest.importorskip("resource")  # not on Windows

pytestmark = [pytest.mark.any_version, pytest.mark.processes]

PROGRAM = [sys.executable, "-m", "balframe"]
DEMO = ["demo", "--format", "csv"]
TABLE = ["demo", "--format", "table"]
OUTPUTS = [
    *((DEMO, ""), (DEMO, "1"), (TABLE, ""), (["--help"], ""), (["--help"], "1")),
    *((["--version"], "1"), (["--show-completion", "bash"], "")),
]
BUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


def environment(unbuffered):
    return os.environ | {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}


def written_to(stdout, arguments, unbuffered, **options):
    return subprocess.run(
        [*PROGRAM, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(unbuffered),
        check=False,
        **options,
    )


def written_to_nobody(arguments, unbuffered):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        return written_to(theirs, arguments, unbuffered)
    finally:
        os.close(theirs)


def assert_lost(done, why=b""):
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith(b"balframe: standard output cannot be written: " + why)


class Slow(io.RawIOBase):
    """Takes seven bytes at a time, as a system may."""

    def __init__(self):
        self.content = b""

    def writable(self):
        return True

    def write(self, content):
        self.content += bytes(content[:7])
        return min(len(content), 7)


@pytest.mark.parametrize(
    "asked",
    [
        *(["demo", "--format", kind] for kind in ("table", "csv", "json", "ndjson", "markdown")),
        ["demo", "--format", "parquet"],
        ["check", "--format", "junit", "--rule", "accuracy >= 0"],
        ["check", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_output_accepted_in_parts_is_written_completely(monkeypatch, people, asked):
    if "--rule" in asked:
        asked = [*asked, people, "--y-true", "y", "--y-pred", "p", "--by", "g"]
    monkeypatch.setattr(sys, "argv", ["balframe", *map(str, asked)])
    contents = []
    for raw, buffered in ((Slow(), False), (io.BytesIO(), True)):
        stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=not buffered)
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        contents.append(raw.getvalue() if buffered else raw.content)

    in_parts, whole = contents
    assert in_parts == whole != b""


@BUFFERED
def test_failure_to_write_a_page_is_a_one_line_error(people, unbuffered):
    pytest.importorskip("jinja2")
    asked = ["audit", people, "--y-true", "y", "--y-pred", "p", "--pos-label", "yes"]
    asked += ["--format", "html"]

    with open("/dev/full", "wb") as full:
        assert_lost(written_to(full, asked, unbuffered), b"No space left on device.")
    done = written_to_nobody(asked, unbuffered)
    assert (done.returncode, done.stderr) == (0, b"")


@BUFFERED
def test_failure_after_a_partial_write_is_a_one_line_error(tmp_path, unbuffered):
    def limit():  # Python ignores the signal, so that a write falls short and the next one fails
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    with open(tmp_path / "out.csv", "wb") as out:
        done = written_to(out, DEMO, unbuffered, preexec_fn=limit)

    assert_lost(done, b"File too large.")
    assert (tmp_path / "out.csv").stat().st_size == 100


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no full device")
@pytest.mark.parametrize(("asked", "unbuffered"), OUTPUTS)
def test_full_disk_is_a_one_line_error(asked, unbuffered):
    with open("/dev/full", "wb") as full:
        assert_lost(written_to(full, asked, unbuffered), b"No space left on device.")


@BUFFERED
def test_full_nonblocking_pipe_is_a_one_line_error(unbuffered):
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    try:
        while os.write(theirs, b"-" * 4096):
            pass
    except BlockingIOError:
        pass

    done = written_to(theirs, DEMO, unbuffered)

    os.close(ours)
    os.close(theirs)
    assert_lost(done)


@pytest.mark.parametrize(("asked", "unbuffered"), OUTPUTS)
def test_closed_pipe_is_not_an_error(asked, unbuffered):
    done = written_to_nobody(asked, unbuffered)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("rule", "code", "kind"), [("accuracy >= 0", 0, "table"), ("n >= 1000", 1, "csv")]
)
@BUFFERED
def test_closed_pipe_keeps_the_exit_code_of_the_verdict(people, kind, rule, code, unbuffered):
    asked = ["check", people, "--y-true", "y", "--y-pred", "p", "--rule", rule, "--format", kind]

    assert written_to_nobody(asked, unbuffered).returncode == code


def test_closed_standard_output_is_not_an_error():
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *PROGRAM, "demo"], capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")
