"""What travels: rows are summed where they are, and cells alone are sent."""

import os
import random
import re
import signal
import sys
import threading
import time

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain


def _rows(n, seed=4):
    rng = random.Random(seed)
    return {
        "g": [rng.choice("abc") for _ in range(n)],
        "y": [rng.choice([0, 1]) for _ in range(n)],
        "p": [rng.choice([0, 1]) for _ in range(n)],
        "q": [rng.choice([0, 1]) for _ in range(n)],
        "s": [rng.choice([0.0, 0.3, 1.0]) for _ in range(n)],
        "t": [rng.choice([0.2, 0.9]) for _ in range(n)],
        "w": [rng.choice([0.5, 1.0]) for _ in range(n)],
    }


CALLS = {
    "labels": lambda df: bf.report(df, "y", "p", by="g"),
    "weights": lambda df: bf.report(df, "y", "p", by="g", sample_weight="w"),
    "models": lambda df: bf.report(df, "y", ["p", "q"], by="g"),
    "scores": lambda df: bf.curve(df, "y", "s", by="g", thresholds=11),
    "scores of models": lambda df: bf.curve(df, "y", ["s", "t"], by="g", thresholds=11),
}
on_each_method = pytest.mark.parametrize("method", CALLS.values(), ids=CALLS)


@pytest.fixture
def sent(monkeypatch):
    """Note the queries that an engine is asked to run, and how many rows each sends."""
    queries = []
    collect = nw.LazyFrame.collect

    def noted(self, *args, **kwargs):
        frame = collect(self, *args, **kwargs)
        queries.append((self.to_native(), len(frame)))
        return frame

    monkeypatch.setattr(nw.LazyFrame, "collect", noted)
    return queries


@pytest.mark.parametrize("n", [300, 3000])
def test_as_many_rows_are_sent_as_there_are_cells(grouping_engine, sent, n):
    rows = _rows(n)
    bf.report(grouping_engine(rows), "y", "p", by="g")
    bf.curve(grouping_engine(rows), "y", "s", by="g", thresholds=11)
    assert [height for _, height in sent] == [3 * 2 * 2, 3 * 2 * 3]


@pytest.mark.parametrize(
    ("method", "n_cells"),
    [(CALLS["models"], 3 * 2 * 2 * 2), (CALLS["scores of models"], 3 * 2 * 5)],
)
def test_several_models_are_one_query(grouping_engine, sent, method, n_cells):
    method(grouping_engine(_rows(500)))
    assert [height for _, height in sent] == [n_cells]


@on_each_method
def test_polars_scans_once_for_several_models(tmp_path, method):
    pl.DataFrame(_rows(50)).write_parquet(tmp_path / "rows.parquet")
    plan = method(pl.scan_parquet(tmp_path / "rows.parquet")).explain()
    assert plan.count("Parquet SCAN") == 1


@on_each_method
def test_spark_sums_before_it_exchanges_rows(spark, sent, method):
    method(spark(_rows(300)))
    ((query, _),) = sent
    plan = query._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
    above, exchanged, below = plan.rpartition("Exchange hashpartitioning")
    assert exchanged
    assert re.search(r"HashAggregate\(.*partial_(sum|count)", below)
    assert "partial_" not in above
    assert len(re.findall(r"\w*Scan\b", plan)) == 1


@on_each_method
def test_dask_sums_each_partition_before_it_puts_them_together(dask, sent, method):
    frame = dask(_rows(300))
    method(frame)
    ((query, _),) = sent
    tree = query.optimize(fuse=False).expr
    names = [type(one).__name__ for one in tree.walk()]
    assert any("Chunk" in name for name in names), names
    assert not any("Shuffle" in name for name in names)


def _slow_part(number, folder):
    """Say that the work has begun, and take a while."""
    with open(f"{folder}/{number}-{os.getpid()}", "w"):
        time.sleep(0.3)
    return pd.DataFrame(_rows(200, seed=number))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_dask_worker_does_not_change_the_result(dask_client, tmp_path):
    from dask import dataframe

    numbers = range(8)
    meta = pd.DataFrame(_rows(1))
    frame = dataframe.from_map(_slow_part, numbers, folder=str(tmp_path), meta=meta)
    begun = {}

    def kill_one():
        while len(list(tmp_path.iterdir())) < 3:
            time.sleep(0.02)
        workers = {worker["pid"] for worker in dask_client.run(_identity).values()}
        begun["killed"] = next(iter(workers))
        os.kill(begun["killed"], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    result = bf.report(frame, "y", "p", by="g", interval=True)
    killer.join()
    assert "killed" in begun
    whole = pd.concat([pd.DataFrame(_rows(200, seed=number)) for number in numbers])
    assert plain(result) == plain(bf.report(whole, "y", "p", by="g", interval=True))


def _identity():
    return {"pid": os.getpid()}


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_dask_callbacks_see_the_tasks_of_a_report(dask):
    from dask import config
    from dask.diagnostics import Callback

    done = []
    with Callback(posttask=lambda *task: done.append(task[0])), config.set(scheduler="sync"):
        bf.report(dask(_rows(300)), "y", "p", by="g")
    assert len(done) >= 3


def test_more_cells_than_allowed_are_refused_before_they_are_sent(grouping_engine, sent):
    frame = grouping_engine(_rows(300))
    assert len(bf.report(frame, "y", "p", by="g", max_cells=12)) == 3
    with pytest.raises(bf.InvalidInputError, match=r"more than 11 cells.*max_cells="):
        bf.report(frame, "y", "p", by="g", max_cells=11)
    with pytest.raises(bf.InvalidInputError, match=r"more than 17 distinct scores.*thresholds=101"):
        bf.curve(frame, "y", "s", by="g", max_cells=17)
    assert [height for _, height in sent] == [12, 12, 18]


def test_max_cells_of_a_lazy_frame_is_checked_at_collect():
    result = bf.report(pl.LazyFrame(_rows(300)), "y", "p", by="g", max_cells=11)
    with pytest.raises(bf.InvalidInputError, match="more than 11 cells"):
        result.collect()


@cases("max_cells", [0, -1, 1.5, True, None, "many"])
def test_max_cells_other_than_a_positive_integer_is_refused(max_cells):
    with pytest.raises(bf.InvalidInputError, match="max_cells="):
        bf.report(pl.DataFrame(_rows(3)), "y", "p", max_cells=max_cells)
