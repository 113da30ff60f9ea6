"""Writers that are killed, and writers at the same time: no run is lost, halved or there twice."""

import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

import balframe as bf
from balframe.frames.history import commit_run
from tests.store.runs import assert_whole, read_numbers, store_number

ROOT = Path(__file__).parents[2]
ENDLESS = 10**6


def start(table, first, last, model="m"):
    """Start a writer, which is ready to store runs from `first` to `last`."""
    command = [sys.executable, "-m", "tests.store.runs", *map(str, (table, first, last, model))]
    pipe = subprocess.PIPE
    writer = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert writer.stdout.readline() == "ready\n"
    return writer


def go(*writers):
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()


def statuses(output):
    """Return the status of each run that a writer reported on a whole line."""
    lines = [line.split() for line in output.splitlines(keepends=True) if line.endswith("\n")]
    return {int(number): status for number, status in lines}


def kill_after(table, first, n_runs, seconds):
    """Let a writer report runs, kill it some time later, and return what it reported."""
    with start(table, first, ENDLESS) as writer:
        go(writer)
        lines = [writer.stdout.readline() for _ in range(n_runs)]
        time.sleep(seconds)
        writer.kill()
        return statuses("".join(lines) + writer.stdout.read())


def is_made(table):
    return any((table / "_delta_log").glob("*.json"))


def kill_often(folder, times, seed):
    """Kill writers at random times, ten of each table, and check the table after each."""
    draw = random.Random(seed)
    n_reported = 0
    for kill in range(times):
        is_new = kill % 10 == 0
        if is_new:  # the first of which is killed while the table is made
            table, reported = folder / f"runs{kill}", {}
        first = max(reported, default=0)
        n_runs = 0 if is_new else draw.randint(0, 4)
        new = kill_after(table, first, n_runs, draw.uniform(0, 0.06))
        if first in new and reported:  # is written again
            assert new[first] == "unchanged"
        assert {*new.values()} <= {"added", "unchanged"}
        reported |= new
        if not is_made(table):
            assert not reported
            assert not [*table.rglob("*.parquet")]  # which would be read as files of a folder
            continue
        stored = read_numbers(table)
        assert {*reported} <= {*stored}
        assert len(stored) <= len(reported) + 1  # that which was committed and not yet reported
        for number, frame in stored.items():
            assert_whole(number, frame)
        n_reported += len(new)
    return n_reported


@pytest.mark.thorough
def test_no_run_is_lost_or_halved_where_writers_are_killed(tmp_path):
    assert kill_often(tmp_path, 20, seed=1) > 20


@pytest.mark.thorough
def test_no_run_is_lost_or_halved_in_200_kills(tmp_path):
    assert kill_often(tmp_path, 200, seed=2) > 200


def store_together(table, *ranges):
    """Store ranges of runs by a writer each, all at the same time; return what each reported."""
    with ExitStack() as stack:
        writers = [
            stack.enter_context(start(table, first, last, model)) for first, last, model in ranges
        ]
        go(*writers)
        reports = [statuses(writer.communicate(timeout=120)[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    return reports


def test_two_writers_at_the_same_time_lose_no_run(tmp_path):
    table = tmp_path / "runs"

    reports = store_together(table, (1, 20, "m"), (21, 40, "m"))

    assert [[*report] for report in reports] == [[*range(1, 21)], [*range(21, 41)]]
    assert {status for report in reports for status in report.values()} == {"added"}
    stored = read_numbers(table)
    assert sorted(stored) == [*range(1, 41)]
    for number, frame in stored.items():
        assert_whole(number, frame)


def test_two_writers_of_the_same_runs_store_each_once(tmp_path):
    table = tmp_path / "runs"

    reports = store_together(table, (1, 20, "m"), (1, 20, "m"))

    for number in range(1, 21):
        assert Counter(report[number] for report in reports) == {"added": 1, "unchanged": 1}
    for number, frame in read_numbers(table).items():
        assert_whole(number, frame)


def test_two_writers_of_different_runs_of_the_same_id_store_the_first(tmp_path):
    table = tmp_path / "runs"

    reports = store_together(table, (1, 20, "a"), (1, 20, "b"))

    stored = read_numbers(table)
    assert sorted(stored) == [*range(1, 21)]
    for number, frame in stored.items():
        assert_whole(number, frame)
        (model,) = frame["model"].unique()
        by_model = dict(zip("ab", (report[number] for report in reports), strict=True))
        assert by_model.pop(model) == "added"
        assert [*by_model.values()] == ["refused"]


@pytest.fixture
def between(monkeypatch):
    """Do something once between the look at a table and the commit of a run."""

    def prepare(action):
        original, done = commit_run._commit, []

        def commit(*arguments):
            if not done:
                done.append(True)
                action()
            original(*arguments)

        monkeypatch.setattr(commit_run, "_commit", commit)

    return prepare


def test_a_run_that_another_writer_was_first_to_store_is_unchanged(tmp_path, between):
    store_number(tmp_path / "runs", 0)
    between(lambda: store_number(tmp_path / "runs", 1))

    assert store_number(tmp_path / "runs", 1).status == "unchanged"

    assert read_numbers(tmp_path / "runs").keys() == {0, 1}
    assert_whole(1, read_numbers(tmp_path / "runs")[1])


def test_a_run_that_another_writer_stored_with_other_cells_raises(tmp_path, between):
    store_number(tmp_path / "runs", 0)
    between(lambda: store_number(tmp_path / "runs", 1, "other"))

    with pytest.raises(bf.InvalidInputError, match="has run 'r1' with other cells"):
        store_number(tmp_path / "runs", 1)

    assert read_numbers(tmp_path / "runs")[1]["model"].unique().to_list() == ["other"]


def test_a_run_beside_one_of_another_writer_is_added(tmp_path, between):
    store_number(tmp_path / "runs", 0)
    between(lambda: store_number(tmp_path / "runs", 2))

    assert store_number(tmp_path / "runs", 1).status == "added"

    assert read_numbers(tmp_path / "runs").keys() == {0, 1, 2}


def test_a_run_is_there_once_after_a_checkpoint_and_a_vacuum(tmp_path):
    from deltalake import DeltaTable

    for number in range(3):
        store_number(tmp_path / "runs", number)
    table = DeltaTable(tmp_path / "runs")
    table.create_checkpoint()
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    assert [store_number(tmp_path / "runs", number).status for number in range(4)] == [
        "unchanged",
        "unchanged",
        "unchanged",
        "added",
    ]
    for number, frame in read_numbers(tmp_path / "runs").items():
        assert_whole(number, frame)


def test_a_writer_that_never_comes_first_raises_and_stores_nothing(tmp_path, monkeypatch):
    from deltalake.exceptions import CommitFailedError

    store_number(tmp_path / "runs", 0)

    def refuse(*arguments):
        raise CommitFailedError("Failed to commit transaction: Concurrent transaction failed.")

    monkeypatch.setattr(commit_run, "_commit", refuse)
    monkeypatch.setattr(commit_run, "_MOST_ATTEMPTS", 3)

    with pytest.raises(bf.InvalidInputError, match=r"run 'r1' is not stored.* each of 3 attempts"):
        store_number(tmp_path / "runs", 1)

    assert read_numbers(tmp_path / "runs").keys() == {0}
