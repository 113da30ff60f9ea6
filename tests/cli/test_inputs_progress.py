"""What a terminal shows while files are read: how many rows or bytes, and never a share."""

import io
import re
import sys
import time
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console

from balframe import _progress

LABELS = ["--y-true", "y", "--y-pred", "p"]


@pytest.fixture
def screen(monkeypatch):
    """Show progress at once on a terminal that is a text, and let queries take a while."""
    text, collect = io.StringIO(), pl.LazyFrame.collect

    def slowly(self, **options):
        time.sleep(0.3 * (options.get("engine") == "streaming"))
        return collect(self, **options)

    def console(**_):
        return Console(file=text, force_terminal=True, width=80)

    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # other tests may load it
    monkeypatch.setattr("rich.console.Console", console)
    monkeypatch.setattr(_progress, "_AFTER", 0.0)
    monkeypatch.setattr(pl.LazyFrame, "collect", slowly)
    return text


@pytest.mark.parametrize("write", [pl.DataFrame.write_parquet, pl.DataFrame.write_ipc])
def test_progress_of_parquet_and_arrow_has_the_number_of_rows(run, table, tmp_path, screen, write):
    for number in range(30):
        write(table, tmp_path / f"{number}.data")
    kind = "parquet" if write is pl.DataFrame.write_parquet else "arrow"

    done = run("report", tmp_path, *LABELS, "--input-format", kind)

    assert done.code == 0
    assert "counting 1,440 rows" in screen.getvalue()  # 30 of 48


def test_progress_of_text_files_has_the_number_of_bytes(run, tmp_path, screen):
    (tmp_path / "1.csv").write_text("y,p\n" + "1,0\n" * 499)  # 2,000 bytes
    (tmp_path / "2.csv").write_text("y,p\n" + "0,0\n" * 249)  # 1,000

    assert run("report", tmp_path, *LABELS).code == 0

    assert "counting 3.0 kB" in screen.getvalue()


def test_progress_of_standard_input_has_the_bytes_read_so_far(run, monkeypatch, screen):
    class Slow(io.BytesIO):
        def read(self, size=-1):
            time.sleep(0.3)
            return super().read(min(size, 2_000))

    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=Slow(b"y,p\n" + b"1,0\n" * 500 + b"0,0\n" * 499))
    )

    assert run("report", "-", *LABELS).code == 0

    shown = screen.getvalue()
    sizes = [float(size) for size in re.findall(r"reading, ([\d.]+) kB so far", shown)]
    assert sizes
    assert sizes == sorted(sizes)
    assert set(sizes) <= {2.0, 4.0}


def test_require_has_progress_with_the_number_of_rows(run, people, screen):
    assert run("require", people, *LABELS, "--rule", "n >= 1").code == 0
    assert "counting 48 rows" in screen.getvalue()
