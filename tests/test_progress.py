"""What a notebook shows while work goes on; tests of the command line look at terminals."""

import sys
import time
from types import SimpleNamespace

import pytest

from balframe import _progress


class Handle:
    def __init__(self, words):
        self.shown = [words]

    def update(self, words, *, raw):
        assert raw
        self.shown.append(words["text/plain"])


@pytest.fixture
def handles(monkeypatch):
    """Let this process be the kernel of a notebook, and list what it shows."""
    shown = []

    def display(words, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(Handle(words["text/plain"]))
        return shown[-1]

    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(_progress, "_AFTER", 0.0)
    monkeypatch.setattr(_progress, "_OFTEN", 0.0)
    return shown


def wait(handles):
    while not handles:
        time.sleep(0.01)
    time.sleep(0.1)  # until it is known to who asked for it


def test_progress_in_a_notebook_counts_up_and_is_cleared(handles):
    with _progress.counting(1_200, "sets of columns searched") as advance:
        wait(handles)
        advance()
        advance()

    (handle,) = handles
    assert handle.shown == [
        "0 of 1,200 sets of columns searched",
        "1 of 1,200 sets of columns searched",
        "2 of 1,200 sets of columns searched",
        "",
    ]


def test_nested_progress_shares_a_single_line(handles):
    with _progress.busy(lambda: "reading"):
        wait(handles)
        with _progress.counting(2, "parts") as advance:
            advance()

    (handle,) = handles
    assert handle.shown == ["reading", "1 of 2 parts", ""]


def test_quick_work_has_no_progress_line(handles, monkeypatch):
    monkeypatch.setattr(_progress, "_AFTER", 60)

    with _progress.counting(2, "parts") as advance:
        advance()

    assert handles == []
