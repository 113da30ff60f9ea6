# /// script
# dependencies = ["swebench"]
# ///
"""Write reports of SWE-bench, and what the tool says in them, to a folder.

No container is run: the outputs of tests are made up, and graded and reported by the harness. Each
run has ten instances of two repositories, and all that a run can end in.
"""

import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from swebench.harness.constants import (
    END_TEST_OUTPUT,
    LOG_REPORT,
    LOG_TEST_OUTPUT,
    RUN_EVALUATION_LOG_DIR,
    START_TEST_OUTPUT,
)
from swebench.harness.grading import compute_fail_to_pass, get_eval_report
from swebench.harness.reporting import make_run_report
from swebench.types import TestSpec

RUN = "nightly"
INSTANCES = [
    *(f"astro__suns-{number}" for number in range(1, 7)),
    *(f"botany__leaves-{number}" for number in range(1, 5)),
]
FAIL_TO_PASS, PASS_TO_PASS = ["test_new", "test_newer"], ["test_old"]
# How many of FAIL_TO_PASS pass, or what happened instead, instance by instance.
OUTCOMES = {
    "lab/first": [2, 2, 1, "timeout", "empty", "missing", 2, 0, "memory", "damaged"],
    "lab/second": [2, 1, 0, 2, "none", "missing", 1, 0, "memory", 2],
}

MODEL_OF_REPORTS = "lab/first"


def output_of(outcome: int | str) -> str:
    """Return what the tests would have written."""
    if outcome == "memory":
        return "OSError: Cannot allocate memory\n"
    if outcome == "timeout":
        return "Timeout error: 1800 seconds exceeded.\n>>>>> Tests Timed Out\n"
    states = ["PASSED"] * outcome + ["FAILED"] * (2 - outcome) + ["PASSED"]
    names = FAIL_TO_PASS + PASS_TO_PASS
    lines = [f"{state} {name}" for state, name in zip(states, names, strict=True)]
    return "\n".join([START_TEST_OUTPUT, *lines, END_TEST_OUTPUT]) + "\n"


def evaluate(model: str) -> tuple[Path, list[Path]]:
    """Grade the instances of a model; return the report of the run and those of instances."""
    predictions, reports = {}, []
    for instance, outcome in zip(INSTANCES, OUTCOMES[model], strict=True):
        if outcome == "missing":
            continue
        patch = {"empty": "", "none": None}.get(outcome, "diff --git a/a b/a")
        prediction = {
            "instance_id": instance,
            "model_name_or_path": model,
            "model_patch": patch,
        }
        predictions[instance] = prediction
        if not patch:
            continue
        folder = RUN_EVALUATION_LOG_DIR / RUN / model.replace("/", "__") / instance
        folder.mkdir(parents=True)
        if outcome == "damaged":  # as when the run is stopped while it writes
            (folder / LOG_REPORT).write_text("")
            continue
        (folder / LOG_TEST_OUTPUT).write_text(output_of(outcome))
        tests = TestSpec(
            instance_id=instance,
            image="",
            eval_script_list=[],
            repo="",
            version="",
            FAIL_TO_PASS=FAIL_TO_PASS,
            PASS_TO_PASS=PASS_TO_PASS,
            log_parser="parse_log_pytest",
            eval_type="pass_and_fail",
        )
        report = get_eval_report(tests, prediction, str(folder / LOG_TEST_OUTPUT), True)
        (folder / LOG_REPORT).write_text(json.dumps(report, indent=4))
        reports.append(folder / LOG_REPORT)
    dataset = [{"instance_id": instance} for instance in INSTANCES]
    return make_run_report(predictions, dataset, RUN), reports


def statistics_of(file: str, report: dict) -> list[dict]:
    """Return what the report of a run says of all instances, and of those that were graded."""
    n_resolved, n_total = report["resolved_instances"], report["total_instances"]
    n_graded = n_resolved + report["unresolved_instances"] + report["empty_patch_instances"]
    shared = {"files": [file], "metric": "resolved"}
    as_failures = {"options": {"errors": "fail"}}
    return [
        {**shared, "statistic": "n", "value": n_graded},
        {**shared, "statistic": "passed", "value": n_resolved / n_graded},
        {**shared, "statistic": "n", "value": n_total, **as_failures},
        {**shared, "statistic": "passed", "value": n_resolved / n_total, **as_failures},
    ]


def main(folder: Path) -> None:
    """Write the reports and their statistics."""
    statistics = []
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for model in OUTCOMES:
            run, reports = evaluate(model)
            shutil.copy(run, folder / run.name)
            statistics += statistics_of(run.name, json.loads(run.read_text()))
            if model != MODEL_OF_REPORTS:
                continue
            shares = []
            for report in reports:
                (folder / report.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy(report, folder / report)
                (content,) = json.loads(report.read_text()).values()
                if "tests_status" in content:
                    shares.append(compute_fail_to_pass(content["tests_status"]))
            shared = {"files": [str(report) for report in reports], "metric": "fail_to_pass"}
            mean = sum(shares) / len(shares)
            statistics += [
                {**shared, "statistic": "n", "value": len(shares)},
                {**shared, "statistic": "mean", "value": mean},
            ]
        os.chdir(folder)
    summary = {"tool": "swebench", "version": version("swebench"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
