"""Results of experiments of langfuse 5.0.4, saved as JSON (langfuse/generate.py)."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import balframe as bf

LOGS = Path(__file__).parent / "langfuse"


def read(source, metric="all", **options):
    source = LOGS / source if isinstance(source, str) else source
    return bf.read_eval(source, metric=metric, backend="polars", **options)


def test_equal_inputs_are_trials_and_the_run_is_the_model():
    runs = read("careful.json", "exact", category="subject")

    assert runs["item"].n_unique() == 6
    assert runs["passed"].to_list() == [True, False, True, True, False, True] * 2
    assert runs["trial"].to_list() == [1] * 6 + [2] * 6
    assert runs["category"].to_list() == ["even", "odd"] * 6
    assert set(runs["model"]) == {"careful, first run"}
    assert runs.select("target", "answer").row(1) == ("2", "none")


def test_evaluations_of_text_are_categories():
    runs = read("careful.json", category="tone")

    assert set(runs["metric"]) == {"exact", "short"}
    assert set(runs["category"]) == {"terse"}
    with pytest.raises(bf.InvalidInputError, match="'exact', 'short'"):
        read("careful.json", None)


def test_evaluations_that_are_absent_or_nan_are_nulls():
    """langfuse 5.0.4 leaves them out if they raised, and items whose task raised."""
    runs = read("grades.json")

    assert runs["item"].n_unique() == 5  # of six
    assert runs.filter(metric="grade")["score"].to_list() == [0.5, None, None, None, 0]
    assert runs.filter(metric="exact")["passed"].to_list() == [True, False, True, True, True]
    assert runs["error"].count() == 0


def test_items_of_a_data_set_are_known_by_their_ids():
    runs = read("dataset.json")

    assert runs["item"].to_list() == [f"parity/item-{i}" for i in range(4)]
    assert runs["passed"].to_list() == [True, False, True, False]
    assert set(runs["target"]) == {"even"}


def test_an_input_with_several_expected_outputs_is_several_items():
    rows = json.loads((LOGS / "grades.json").read_text())
    rows = (rows["item_results"] if isinstance(rows, dict) else rows)[:2]
    for row, target in zip(rows, "ab", strict=True):
        row["item"] = {"input": "Sum up.", "expected_output": target}

    assert set(read(rows)["item"]) == {"Sum up. -> a", "Sum up. -> b"}


@pytest.mark.parametrize("name", ["careful.json", "dataset.json"])
def test_results_in_memory_are_read(name):
    log = json.loads((LOGS / name).read_text())
    for row in log["item_results"]:
        row["evaluations"] = [SimpleNamespace(**value) for value in row["evaluations"]]
        if "id" in row["item"]:
            names = {"expectedOutput": "expected_output", "datasetName": "dataset_name"}
            row["item"] = SimpleNamespace(
                **{names.get(key, key): value for key, value in row["item"].items()}
            )
    log["item_results"] = [SimpleNamespace(**row) for row in log["item_results"]]

    assert read(SimpleNamespace(**log)).equals(read(name))
    assert read(log["item_results"])["score"].equals(read(name)["score"])
