"""Ctrl-C at any time: no traceback, no files left; and other processes keep their signals."""

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cases import cases

termios, fcntl = map(pytest.importorskip, ("termios", "fcntl"))  # not on Windows

pytestmark = [pytest.mark.any_version, pytest.mark.processes]

ROOT = Path(__file__).parents[2]
LABELS = ["--y-true", "y", "--y-pred", "p"]
SCRIPT = "from balframe.cli.main import main\nif __name__ == '__main__':\n    main()\n"
INTERRUPTED = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
AT_IMPORT = """
import os, signal, sys

imports = iter(range({number}))

def interrupt(event, _):
    is_ours = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    if event == "import" and is_ours and next(imports, None) == {number} - 1:
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
"""
SLOW_QUERY = """
import os, signal, threading, time
import polars as pl

collect = pl.LazyFrame.collect

def slowly(self, **options):
    if options.get("engine") == "streaming":
        def interrupt():
            while True:
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        self = self.map_batches(lambda frame: time.sleep(0.5) or frame)
    return collect(self, **options)

pl.LazyFrame.collect = slowly
"""


@pytest.fixture
def script(tmp_path):
    """Write what an installer makes of the entry point."""
    path = tmp_path / "bin" / "balframe"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def program(request, script):
    return [str(script)] if request.param == "script" else ["-m", "balframe"]


both = pytest.mark.parametrize("program", ["script", "module"], indirect=True)


def started(words, *folders, before=(), **options):
    """Start Python, with folders whose modules come before those that are installed."""
    path = os.pathsep.join(map(str, [*folders, ROOT]))
    return subprocess.Popen(
        [*before, sys.executable, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path, "TMPDIR": str(folders[0])} if folders else None,
        **options,
    )


def ended(process, timeout=60):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


@both
@pytest.mark.parametrize("loading", ["numpy", "polars", "click"])
def test_interrupt_while_a_library_loads_ends_silently(program, tmp_path, loading):
    (tmp_path / f"{loading}.py").write_text(INTERRUPTED)

    assert ended(started([*program, "demo"], tmp_path)) == (-signal.SIGINT, b"", b"")


@both
@pytest.mark.parametrize("number", [1, 30, 300, 700])
def test_interrupt_at_any_import_ends_silently(program, tmp_path, number):
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT.format(number=number))

    code, out, err = ended(started([*program, "demo"], tmp_path))

    assert (code in (-signal.SIGINT, 130), out, err) == (True, b"", b"")


def waiting(stream):
    """Count the bytes in a pipe that nobody has read yet."""
    return struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, b"\0" * 4))[0]


@both
def test_interrupt_while_reading_standard_input_removes_its_copy(program, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = started([*program, "report", "-", *LABELS], folder, stdin=subprocess.PIPE)
    process.stdin.write(b"y,p\n")
    process.stdin.flush()
    while waiting(process.stdin):  # until it has begun to read
        time.sleep(0.05)
    assert len(list(folder.iterdir())) > 0
    process.send_signal(signal.SIGINT)

    assert process.wait(30) == 130  # with more to come
    assert ended(process) == (130, b"", b"")
    assert list(folder.iterdir()) == []


@both
def test_interrupt_during_a_query_ends_silently_without_files(program, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(SLOW_QUERY)
    (tmp_path / "rows.csv").write_text("y,p\n1,1\n")
    folder = tmp_path / "temporary"
    folder.mkdir()

    with open(tmp_path / "rows.csv") as rows:
        words = [*program, "report", "-", *LABELS]
        code, out, err = ended(started(words, folder, tmp_path, stdin=rows))

    assert (code in (130, -signal.SIGINT), out, err) == (True, b"", b"")
    assert list(folder.iterdir()) == []


@both
def test_ignored_interrupt_does_not_end_the_program(program, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(SLOW_QUERY)
    (tmp_path / "rows.csv").write_text("y,p\n1,1\n")
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    words = [*program, "report", tmp_path / "rows.csv", *LABELS, "--metric", "accuracy"]

    code, out, err = ended(started(words, tmp_path, before=ignoring))

    assert (code, err) == (0, b"")
    assert out.splitlines()[1] == b"1,1.0,1,1"


KEPT = "import signal, sys\nprint(signal.getsignal(signal.SIGINT) is {handler})"
DEFAULT = KEPT.format(handler="signal.default_int_handler")
OWN = "import signal\nown = lambda *_: None\nsignal.signal(signal.SIGINT, own)\nimport balframe\n"
CALL = (
    "import sys\nfrom balframe.cli.main import main\nsys.argv = ['balframe', 'metrics']\n"
    "sys.stdout = sys.stderr = open('/dev/null', 'w')\n"
    "try: main()\nexcept SystemExit: sys.stdout = sys.__stdout__\n"
)
IN_A_THREAD = (
    "import importlib, threading\n"
    "thread = threading.Thread(target=importlib.import_module, args=['balframe'])\n"
    "thread.start()\nthread.join()\n"
)


@cases(
    ("name", "code"),
    [
        ("train.py", f"import balframe\n{DEFAULT}"),
        ("balframe", f"import balframe\n{DEFAULT}"),
        ("balframe", OWN + KEPT.format(handler="own")),
        ("balframe", IN_A_THREAD + DEFAULT),
        ("called.py", OWN + CALL + KEPT.format(handler="own")),
        ("called.py", "import polars\n" + CALL + DEFAULT),
    ],
)
def test_importing_the_library_keeps_the_signal_handler(tmp_path, name, code):
    path = tmp_path / name
    path.write_text(code)

    assert ended(started([path], tmp_path)) == (0, b"True\n", b"")


def test_script_named_balframe_can_use_the_accessor(tmp_path):
    path = tmp_path / "balframe"
    path.write_text(
        "import balframe, polars as pl\n"
        "print(pl.DataFrame({'y': [0, 1], 'p': [0, 1]}).bal.report('y', 'p')['accuracy'].item())"
    )

    assert ended(started([path], tmp_path)) == (0, b"1.0\n", b"")


@pytest.mark.parametrize(
    "words",
    [
        ["-c", f"import balframe\n{DEFAULT}", "balframe"],
        ["-m", "training", "-m", "balframe"],
    ],
)
def test_argument_named_balframe_keeps_the_signal_handler(tmp_path, words):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").write_text(f"import balframe\n{DEFAULT}")
    (tmp_path / "training" / "__main__.py").write_text("")

    assert ended(started(words, tmp_path)) == (0, b"True\n", b"")
