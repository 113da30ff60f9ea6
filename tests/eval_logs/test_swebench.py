"""Reports that swebench 5.0.2 wrote (swebench/generate.py) of ten instances that never ran."""

import json
from pathlib import Path

import pytest

import balframe as bf

LOGS = Path(__file__).parent / "swebench"
RUNS = [LOGS / f"lab__{model}.nightly.json" for model in ("first", "second")]
REPORTS = LOGS / "logs"


def test_the_file_names_the_model_and_the_id_the_repository():
    runs = bf.read_eval(RUNS, category="repo", backend="polars")

    assert set(runs["model"]) == {"lab__first", "lab__second"}
    counts = runs.group_by("category").len().sort("category").rows()
    assert counts == [("astro/suns", 12), ("botany/leaves", 8)]


@pytest.mark.parametrize(
    ("instance", "row"),
    [
        ("astro__suns-1", (True, None, False)),
        ("astro__suns-3", (False, None, False)),
        ("astro__suns-4", (False, "tests_timed_out", False)),
        ("astro__suns-5", (False, None, False)),  # an empty patch
        ("astro__suns-6", (None, "no prediction was submitted", False)),
        ("botany__leaves-3", (False, "out_of_memory", True)),
        ("botany__leaves-4", (None, "the evaluation gave no report", False)),
    ],
)
def test_what_a_run_of_an_instance_ended_in(instance, row):
    runs = bf.read_eval(RUNS[0], backend="polars").filter(item=instance)

    assert runs.select("passed", "error", "invalid").rows() == [row]


def test_a_failure_of_the_infrastructure_is_left_out_on_request():
    """Of ten, eight were graded, and three of these are resolved; one ran out of memory."""
    kept, dropped = (
        bf.read_eval(RUNS[0], invalid=invalid, backend="polars")["passed"].drop_nulls()
        for invalid in ("keep", "drop")
    )

    assert (kept.sum(), kept.len()) == (3, 8)
    assert (dropped.sum(), dropped.len()) == (3, 7)


def test_reports_of_instances_have_the_share_of_tests_where_the_patch_was_applied():
    """Instance 3 passes one of its two tests; the tests of instance 4 timed out."""
    runs = bf.read_eval(REPORTS, metric="fail_to_pass", backend="polars").sort("item")

    assert set(runs["model"]) == {"lab__first"}
    assert runs["score"].to_list() == [1, 1, 0.5, None, 1, 0, None]
    assert set(bf.read_eval(REPORTS, backend="polars")["metric"]) == {"resolved"}


def test_the_reports_of_a_run_say_the_same_as_its_instances():
    of_run = bf.read_eval(RUNS[0], backend="polars")
    of_instances = bf.read_eval(REPORTS, backend="polars")

    common = of_run.join(of_instances, on=["item", "model", "metric", "passed", "invalid"])
    assert common.height == of_instances.height == 7


def test_a_report_in_memory_has_no_model():
    runs = bf.read_eval(json.loads(RUNS[0].read_text()), backend="polars")

    assert runs["model"].null_count() == runs.height == 10
