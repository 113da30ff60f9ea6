"""Tracebacks show the caller's line and the message, wherever Python runs."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import polars as pl
import pytest

import balframe as bf
from balframe._traceback import short_traceback
from tests.support.cases import cases

DATA = pl.DataFrame({"y": [0, 1, 1], "p": [0, 1, 0], "s": [0.1, 0.2, 0.3], "g": ["a", "b", "b"]})
CALLS = {
    "a method": lambda: bf.report(DATA, "y", "pp"),
    "a method of the accessor": lambda: DATA.bal.gaps("y", "p", by="g", level=2),
    "an unknown option": lambda: bf.report(DATA, "y", "p", ci=True),
    "a lazy frame": lambda: bf.report(DATA.lazy(), "y", "pp"),
    "a gate that fails": lambda: bf.require(DATA, "y", "p", rules="n >= 9"),
    "a chart": lambda: bf.plot.report(DATA, "y", "p", most=0),
    "an audit": lambda: bf.audit(DATA, "y", "pp"),
    "a table": lambda: bf.table(DATA),
    "a table of a method": lambda: bf.table.report(DATA, "y", "pp"),
    "a chart of a result": lambda: bf.plot(DATA),
    "a function without a frame": lambda: bf.from_matrix([[1, 2]]),
    "cells that do not add up": lambda: bf.combine([]),
    "a list": lambda: bf.list_metrics(backend="spark"),
    "a dataset": lambda: bf.datasets.compas(backend="spark"),
    "a slice": lambda: bf.slice_filter(DATA, {"on": "h"}),
    "verdicts": lambda: bf.passed(DATA),
    "a document of verdicts": lambda: bf.verdicts_document(DATA),
    "a metric": lambda: bf.metric(range=(1, 0)),
    "a registered metric": lambda: bf.metric(range=(0, 1))(3),
}
SCRIPT = """
import balframe as bf
import polars as pl

frame = pl.DataFrame({"y": ["a", 'b'], "p": ["a", "b"]})
bf.report(frame, "y", "pp")
"""
MESSAGE = "UnknownNameError: column 'pp' not found; did you mean 'p'? Columns: y, p."


def is_ours(frame):
    """Return whether a frame is the package's; the checkout may be called `balframe` as well."""
    return Path(frame.filename).is_relative_to(Path(bf.__file__).parent)


@cases("call", CALLS.values())
def test_an_error_has_one_frame_of_ours(call):
    with pytest.raises(bf.BalframeError) as raised:
        call()

    frames = traceback.extract_tb(raised.value.__traceback__)
    ours = [frame for frame in frames if is_ours(frame)]
    assert [frame.filename for frame in frames if frame not in ours] == [__file__] * 2
    assert [frame.line for frame in ours] in (
        ["raise drop_frames(error) from error.__cause__  # BALFRAME_TRACEBACK=full shows more"],
        [],
    )


def test_an_error_at_collect_has_one_frame_of_ours():
    lazy = DATA.lazy().with_columns(p=pl.lit(None, pl.Int64)).bal.report("y", "p")
    with pytest.raises(bf.InvalidInputError) as raised:
        lazy.collect()

    frames = traceback.extract_tb(raised.value.__traceback__)
    assert sum(map(is_ours, frames)) == 1


@short_traceback
def raise_after(error, *, cause):
    try:
        raise error
    except ValueError as caught:
        if cause:
            raise bf.InvalidInputError("outer") from caught
        raise bf.InvalidInputError("outer")  # noqa: B904


def test_a_cause_is_printed_without_its_frames_and_a_context_is_not():
    printed = {}
    for cause in (True, False):
        with pytest.raises(bf.InvalidInputError) as raised:
            raise_after(ValueError("inner"), cause=cause)
        printed[cause] = "".join(traceback.format_exception(raised.value))

    assert printed[True].startswith("ValueError: inner\n\nThe above exception was the direct cause")
    assert "ValueError" not in printed[False].replace('ValueError("inner")', "")


def test_errors_of_other_families_keep_their_frames():
    @short_traceback
    def fail():
        raise LookupError("not ours")

    with pytest.raises(LookupError) as raised:
        fail()
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][-1] == "fail"


@cases("call", [CALLS["a method"], CALLS["a table"], CALLS["a chart"]])
def test_all_frames_are_shown_on_request(call, monkeypatch):
    monkeypatch.setenv("BALFRAME_TRACEBACK", "full")
    with pytest.raises(bf.BalframeError) as raised:
        call()

    assert len(traceback.extract_tb(raised.value.__traceback__)) > 4


def run(*command, **variables):
    environment = {**os.environ, "BALFRAME_TRACEBACK": "", "NO_COLOR": "1", **variables}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.processes
@pytest.mark.any_version
def test_python_prints_the_line_of_the_caller_and_the_message(tmp_path):
    script = tmp_path / "evaluate.py"
    script.write_text(SCRIPT)

    printed, whole = run(script), run(script, BALFRAME_TRACEBACK="full")

    assert 'bf.report(frame, "y", "pp")' in printed
    assert printed.rstrip().endswith(MESSAGE)
    assert printed.count('File "') == 2
    assert whole.count('File "') > 4
    assert whole.rstrip().endswith(MESSAGE)


@pytest.mark.processes
@pytest.mark.any_version
def test_ipython_prints_the_line_of_the_caller_and_the_message(tmp_path):
    pytest.importorskip("IPython")
    script = tmp_path / "evaluate.py"
    script.write_text(SCRIPT)

    printed = run("-m", "IPython", "--no-banner", "--colors=NoColor", script)

    assert 'bf.report(frame, "y", "pp")' in printed
    assert MESSAGE in printed
    assert "_traceback.py" not in printed
    assert "run_method" not in printed
    assert "run_method" in run("-m", "IPython", "--no-banner", script, BALFRAME_TRACEBACK="full")


@pytest.mark.processes
@pytest.mark.any_version
def test_pytest_prints_the_line_of_the_caller_and_the_message(tmp_path):
    script = tmp_path / "test_model.py"
    indented = SCRIPT.strip().replace("\n", "\n    ")
    script.write_text(f"def test_model():\n    {indented}\n")

    printed = run("-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tmp_path, script)

    assert '>       bf.report(frame, "y", "pp")' in printed
    assert MESSAGE in printed
    assert "_traceback.py" not in printed
