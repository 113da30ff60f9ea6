"""The stub of `.bal` is current, and says what the namespace does."""

import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.accessor import Bal

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / ".ci" / "accessor_stub.py"
CALLS = """\
import pandas as pd
import polars as pl

import balframe as bf

reveal_type(bf.bal(pl.DataFrame()).report("y", "p", by="g", interval=True))
reveal_type(bf.bal(pl.LazyFrame()).gaps("y", "p", by="g"))
reveal_type(bf.bal(pd.DataFrame()).require("y", "p", rules="accuracy > 0.5"))
reveal_type(bf.bal(pd.DataFrame()).audit("y", "p"))
bf.bal(pl.DataFrame()).report("y", "p", cuonts="n")
bf.bal(pl.DataFrame()).report("y", "p", missing="dorp")
bf.bal(pl.DataFrame()).plot.report("y", "p", sort="nmae")
bf.bal(pl.DataFrame()).reprot("y", "p")
reveal_type(bf.bal(pl.DataFrame()).table.gaps("y", "p", by="g", title="Gaps"))
reveal_type(bf.table(pl.DataFrame(), title="Gaps"))
reveal_type(bf.plot(pl.DataFrame(), sort="n"))
reveal_type(bf.plot.gaps(pl.DataFrame(), "y", "p", by="g"))
bf.table.gaps(pl.DataFrame(), "y", "p", by="g", titel="Gaps")
"""
SAID = {
    6: r'Revealed type is "polars\.[\w.]*DataFrame"',
    7: r'Revealed type is "polars\.[\w.]*LazyFrame"',
    8: r'Revealed type is "pandas\.[\w.]*DataFrame"',
    9: r'Revealed type is "balframe\.audit_page\.page\.Page"',
    10: 'Unexpected keyword argument "cuonts".*did you mean "counts"',
    11: 'Argument "missing" .* has incompatible type',
    12: 'Argument "sort" .* has incompatible type',
    13: 'has no attribute "reprot"; maybe "report"',
    14: r'Revealed type is "great_tables\.gt\.GT"',
    15: r'Revealed type is "great_tables\.gt\.GT"',
    16: r'Revealed type is "altair\.[\w.]*LayerChart \| .*FacetChart \| .*ConcatChart"',
    17: r'Revealed type is "altair\.[\w.]*LayerChart \| .*FacetChart \| .*ConcatChart"',
    18: 'Unexpected keyword argument "titel".*did you mean "title"',
}


@pytest.mark.any_version  # as the format depends on the version of Ruff
@pytest.mark.skipif(not GENERATOR.exists(), reason="in a source distribution")
@pytest.mark.parametrize(
    ("name", "function"), [("accessor", "stub"), ("presentation", "presentation_stub")]
)
def test_stubs_equal_the_generated_stubs(name, function):
    written = (ROOT / "balframe" / f"{name}.pyi").read_text("utf-8")

    assert written == runpy.run_path(str(GENERATOR))[function](), "run .ci/accessor_stub.py"


@pytest.mark.any_version
@pytest.mark.processes
def test_mypy_infers_the_methods_of_bal(tmp_path):
    path = tmp_path / "calls.py"
    path.write_text(CALLS)

    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    said = dict(re.findall(r"calls\.py:(\d+): (?:error: |note: (?=Revealed))(.*)", done.stdout))
    assert {int(line) for line in said} == set(SAID), done.stdout + done.stderr
    for line, words in SAID.items():
        assert re.search(words, said[str(line)]), said[str(line)]


@pytest.mark.parametrize("library", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_bal_returns_the_namespace_of_a_frame(library):
    df = library({"y": [1, 0], "p": [1, 1]})

    assert isinstance(bf.bal(df), type(df.bal))
    assert repr(bf.bal(df)) == repr(df.bal)
    assert inspect.signature(bf.bal(df).report) == inspect.signature(df.bal.report)


def test_bal_accepts_arrow_tables_and_frames_with_a_column_named_bal():
    table = pl.DataFrame({"y": [1, 0], "bal": [1, 1]})
    arrow = table.to_arrow()

    assert isinstance(bf.bal(arrow), Bal)
    assert bf.bal(arrow).report("y", "bal")["accuracy"].to_pylist() == [0.5]
    assert bf.bal(table.to_pandas()).report("y", "bal")["accuracy"].tolist() == [0.5]
