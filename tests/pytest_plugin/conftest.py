"""Runs of pytest with the plugin, in this process or in another."""

from importlib import import_module

import pytest

import balframe as bf

# Groups of 100, 100 and 2 rows, of which 90, 10 and 1 are right: recall >= 0.5 passes, fails and is
# inconclusive.
ROWS = """
import pandas as pd
import polars as pl
import pytest

DATA = {
    "y": [1] * 6,
    "yhat": [1, 0] * 3,
    "group": ["a", "a", "b", "b", "c", "c"],
    "n": [90, 10, 10, 90, 1, 1],
}
ROWS = pl.DataFrame(DATA)
A, B, C = (ROWS.filter(pl.col("group") == group) for group in "abc")
OPTIONS = {"by": "group", "counts": "n", "rules": "recall >= 0.5", "pos_label": 1}
"""
PLUGINS = ["-p", "pytest_balframe", "-p", "no:randomly", "-p", "no:cacheprovider"]


@pytest.fixture(scope="session")
def _loaded_modules():
    """Load what gates load, because modules that a run in this process loads are forgotten."""
    people = bf.datasets.compas_by_age_and_sex(backend="pandas")
    options = {"by": "sex", "counts": "n", "rules": "recall >= 0.5"}
    page = bf.audit(people, "reoffended", "high_risk", **options)
    page.html()
    bf.verdicts_document(bf.check(people, "reoffended", "high_risk", **options), options=options)
    import_module("balframe.pytest_plugin.gate")


@pytest.fixture
def run_tests(pytester, monkeypatch, _loaded_modules):
    """Run tests that begin with `ROWS` in this process: their result."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source, *options):
        pytester.makepyfile(test_gates=ROWS + source)
        return pytester.runpytest_inprocess(*PLUGINS, "--strict-markers", *options)

    return run
