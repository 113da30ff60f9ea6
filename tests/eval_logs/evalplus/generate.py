# /// script
# dependencies = ["evalplus"]
# ///
"""Write results of evalplus, and what the tool says of them, to a folder.

Two models write six functions. The first tries each of them three times, so that pass@k differs
from the share that passed; the second is checked by the base tests only.
"""

import contextlib
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

FUNCTIONS = {
    "double": ("n", "n * 2"),
    "square": ("n", "n * n"),
    "negate": ("n", "-n"),
    "half": ("n", "n // 2"),
    "is_even": ("n", "n % 2 == 0"),
    "cube": ("n", "n ** 3"),
}
BASE, PLUS = [[1], [2]], [[-3], [10]]
SOLUTIONS = {  # every model and function: trial by trial
    "first": {
        "double": ["n * 2", "n + n", "2 * n"],
        "square": ["n * n", "n ** 2", "n * abs(n)"],  # the last is right by the base tests only
        "negate": ["-n", "n", "0 - n"],
        "half": ["n / 2", "int(n / 2)", "n // 2"],
        "is_even": ["undefined", "n % 2", "not n % 2"],
        "cube": ["n * 3", "n + 2", "max(iter(int, 1))"],  # the last never ends
    },
    "second": {
        "double": ["n + n"],
        "square": ["n * abs(n)"],
        "negate": ["0 - n"],
        "half": ["n"],
        "is_even": ["not n % 2"],
        "cube": ["n * 3"],
    },
}


def prompt(name: str) -> str:
    """Return what a model completes."""
    return f'def {name}({FUNCTIONS[name][0]}):\n    """Return the {name} of a number."""\n'


def statistics_of(file: str, results: dict) -> list[dict]:
    """Return pass@1 and pass@2 as the tool estimates them, in a metric that was checked."""
    from evalplus.eval import PASS, estimate_pass_at_k

    n_trials = [len(trials) for trials in results.values()]
    statistics = []
    for metric, states in {"base": ["base_status"], "plus": ["base_status", "plus_status"]}.items():
        n_passed = [
            sum(all(trial[state] == PASS for state in states) for trial in trials)
            for trials in results.values()
        ]
        was_checked = all(trial[states[-1]] for trials in results.values() for trial in trials)
        statistics += [
            {
                "files": [file],
                "metric": metric,
                "statistic": "passed" if k == 1 else f"pass_at({k})",
                "value": float(estimate_pass_at_k(n_trials, n_passed, k).mean()),
            }
            for k in (1, 2)
            if was_checked and min(n_trials) >= k
        ]
    return statistics


def main(folder: Path) -> None:
    """Write the results and their statistics."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        problems = [
            {
                "task_id": f"HumanEval/{position}",
                "prompt": prompt(name),
                "entry_point": name,
                "canonical_solution": f"    return {FUNCTIONS[name][1]}\n",
                "base_input": BASE,
                "plus_input": PLUS,
                "contract": "",
                "atol": 0,
            }
            for position, name in enumerate(FUNCTIONS)
        ]
        Path("problems.jsonl").write_text("\n".join(map(json.dumps, problems)))
        os.environ |= {"HUMANEVAL_OVERRIDE_PATH": "problems.jsonl", "XDG_CACHE_HOME": place}
        from evalplus.evaluate import evaluate

        statistics = []
        for model, solutions in SOLUTIONS.items():
            samples = [
                {"task_id": problem["task_id"], "completion": f"    return {trial}\n"}
                for problem in problems
                for trial in solutions[problem["entry_point"]]
            ]
            Path(f"{model}.jsonl").write_text("\n".join(map(json.dumps, samples)))
            evaluate("humaneval", f"{model}.jsonl", base_only=model == "second", parallel=1)
            shutil.copy(f"{model}_eval_results.json", folder)
            results = json.loads(Path(f"{model}_eval_results.json").read_text())["eval"]
            statistics += statistics_of(f"{model}_eval_results.json", results)
    summary = {"tool": "evalplus", "version": version("evalplus"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
