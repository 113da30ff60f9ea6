"""What Python's own completer and Jupyter's offer behind `df.bal.`, its charts and its tables."""

import rlcompleter
from itertools import count, takewhile

import jedi
import pandas as pd
import polars as pl
import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

import balframe as bf
from balframe.accessor import Bal, Plots, Tables, groups, public_functions

# one process at a time: what Jedi keeps of modules is in files, which two would write at once
pytestmark = [
    pytest.mark.xdist_group("jedi"),
    pytest.mark.processes,
    pytest.mark.any_version,
]

METHODS = {*public_functions(), "plot", "table"}
CHARTS, TABLES = (
    {name for names in groups(namespace).values() for name in names}
    for namespace in (Plots, Tables)
)
OFFERED = {
    "df.bal.": METHODS,
    "df.bal.cl": {"classes"},
    "df.bal.plot.": CHARTS,
    "df.bal.table.": TABLES,
}
each_offer = pytest.mark.parametrize(("typed", "names"), OFFERED.items(), ids=OFFERED)


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=["pandas", "polars", "lazy"])
def df(request):
    return request.param({"y": [1, 0], "p": [1, 1]})


@pytest.fixture(autouse=True)
def no_files_of_others(monkeypatch, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "jedi"
    monkeypatch.setattr(jedi.settings, "cache_directory", str(folder))


@each_offer
def test_python_completes_methods_of_bal(df, typed, names):
    completer = rlcompleter.Completer({"df": df})

    offered = takewhile(
        lambda one: one is not None, (completer.complete(typed, at) for at in count())
    )

    assert {one.rpartition(".")[2].rstrip("()") for one in offered} == names


@pytest.mark.parametrize("use_jedi", [True, False])
@each_offer
def test_jupyter_completes_methods_of_bal(df, use_jedi, typed, names):
    assert offered_by_jupyter(typed, use_jedi, df=df) == names


def offered_by_jupyter(typed, use_jedi, **namespace):
    completer = IPCompleter(namespace=namespace, use_jedi=use_jedi)
    with provisionalcompleter():
        return {one.text.lstrip(".") for one in completer.completions(typed, len(typed))}


@pytest.mark.parametrize("call", ["df.bal.report", "bf.report"])
def test_jupyter_completes_options_of_methods(df, call):
    assert offered_by_jupyter(f"{call}(interval=True, cou", True, df=df, bf=bf) == {"counts="}


def test_repr_of_bal_lists_the_methods_in_groups(df):
    lines = repr(df.bal).splitlines()

    assert [line.split(maxsplit=1) for line in lines[1:-2]] == [
        [group, ", ".join(names)] for group, names in groups(Bal).items()
    ]
    assert set(lines[-2].removeprefix("plot: ").split(", ")) == CHARTS
    assert set(lines[-1].removeprefix("table: ").split(", ")) == TABLES
