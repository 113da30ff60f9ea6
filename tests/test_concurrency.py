"""Threads, processes, and nothing kept between calls but the registry of metrics."""

import multiprocessing
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from textwrap import dedent

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.core import threads
from balframe.methods import declarations
from balframe.metrics import lookup, registry
from tests.support.counting_strategies import WAYS
from tests.support.method_arguments import METHODS_WITH_COLUMNS, days, example_arguments

pytestmark = pytest.mark.any_version


def has_limits_on_request(method):
    columns = [one for layout in declarations()[method].layouts.values() for one in layout]
    return any(one.only_with == "interval" for one in columns)


METHODS = {
    name: partial(
        getattr(bf, name),
        **example_arguments(name),
        **({"interval": True} if has_limits_on_request(name) else {}),
    )
    for name in METHODS_WITH_COLUMNS
}


def rows(n=400):
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 2, n) for name in "ypq"}
    return columns | {"g": rng.integers(0, 3, n), "s": rng.random(n).round(2), "day": days(n)}


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": lambda columns: pl.DataFrame(columns).lazy(),
}


def plain(frame):
    """Turn any answer into rows, whose text says of NaN and null what they are."""
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    return repr(frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame.to_dicts())


@pytest.mark.parametrize("kind", FRAMES)
def test_results_in_threads_equal_those_of_a_single_thread(kind):
    frame = FRAMES[kind](rows())
    expected = {name: plain(method(frame)) for name, method in METHODS.items()}
    with ThreadPoolExecutor(8) as pool:
        waiting = [
            (name, pool.submit(lambda method: plain(method(frame)), method))
            for name, method in list(METHODS.items()) * 4
        ]
    for name, found in waiting:
        assert found.result() == expected[name], name


def test_threads_treat_floating_point_errors_as_the_calling_thread_does(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 2)

    def divide(one):
        return np.array([one]) / np.zeros(1)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        threads.run_on_all_cores(divide, [1.0, 2.0])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        assert threads.run_on_all_cores(divide, [1.0, 2.0]) == [np.inf, np.inf]


def result_of_a_child(names):
    """Run methods on pandas in another process."""
    frame = pd.DataFrame(rows())
    return {name: plain(METHODS[name](frame)) for name in names}


def weighted_result(_):
    """Report on pandas as where many weighted rows have to be put in order or hashed."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rows()).assign(g=rng.integers(0, 10**15, 400), w=rng.random(400))
    return plain(bf.report(frame, "y", "p", by="g", sample_weight="w", metrics="accuracy"))


def squares_of_a_child(_):
    """Use a pool of threads of our own in another process."""
    return threads.run_on_all_cores(abs, range(-50, 50))


@pytest.mark.filterwarnings("ignore:(?s).*fork")  # of Python and of polars
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_pools_work_after_a_fork_from_within_a_thread_of_a_pool():
    def forked(_):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.map_async(squares_of_a_child, [0]).get(60)[0]

    found = threads.run_on_all_cores(forked, [0, 1])

    assert found == [[abs(i) for i in range(-50, 50)]] * 2


@pytest.mark.filterwarnings("ignore:(?s).*fork")
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:column 'g' in by has 400 different numbers")
def test_a_forked_process_counts_pandas_without_polars(monkeypatch):
    for name, value in WAYS["the engine or a hash table"].items():
        monkeypatch.setattr(name, value)
    collected = []
    collect = pl.LazyFrame.collect
    monkeypatch.setattr(
        pl.LazyFrame, "collect", lambda self, **how: collected.append(1) or collect(self, **how)
    )
    expected = weighted_result(None)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.map_async(weighted_result, [0]).get(60)[0]

    assert collected  # with its threads, which a fork does not have
    assert found == expected


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_fork_is_detected_if_it_is_the_first_to_use_balframe():
    program = """
        import os
        import balframe
        child = os.fork()
        from balframe.frames.fork_detection import is_fork
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 and not is_fork()
        else:
            os._exit(7 if is_fork() else 1)
    """

    subprocess.run([sys.executable, "-W", "ignore", "-c", dedent(program)], check=True, timeout=60)


@pytest.mark.filterwarnings("ignore:(?s).*fork")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.processes
def test_results_in_other_processes_equal_those_of_this_process(method):
    names = list(METHODS)
    expected = result_of_a_child(names)
    pl.DataFrame({"a": range(1000)}).lazy().group_by("a").len().collect()  # a fork has no threads

    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map_async(result_of_a_child, [names]).get(120)[0]

    assert found == expected


def state():
    """Take every value of every module of balframe, by identity and by what it shows."""
    plain_types = (dict, list, set, bytearray, np.ndarray)
    return {
        (module, name): (id(value), repr(value) if isinstance(value, plain_types) else None)
        for module, loaded in list(sys.modules.items())
        if module.partition(".")[0] == "balframe"
        for name, value in vars(loaded).items()
        if not name.startswith("__")
    }


def test_methods_do_not_change_the_state_of_modules():
    frames = [make(rows()) for make in FRAMES.values()]

    def run():
        for frame in frames:
            for method in METHODS.values():
                plain(method(frame))

    run()  # modules are loaded when they are first used
    before = state()
    run()

    assert before
    assert state() == before


def test_registering_metrics_in_threads_does_not_break_lookups():
    done, faults = threading.Event(), []

    def register(thread):
        for i in range(100):

            def one(c):
                """Accuracy again: n."""
                return c.total_correct

            one.__name__ = f"own_{thread}_{i}"
            bf.metric(range=(0, 1), aliases=(f"alias_{thread}_{i}",))(one)

    def read():
        while not done.is_set():
            try:
                for one in registry.registered_metrics():
                    for name in (one.name, *one.aliases):
                        assert lookup.find_metric(name).name == one.name
            except Exception as fault:
                faults.append(fault)
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(register, range(4)))
    finally:
        done.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(interval)

    assert not faults
    for thread in range(4):
        for i in range(100):
            assert lookup.find_metric(f"alias_{thread}_{i}").name == f"own_{thread}_{i}"
