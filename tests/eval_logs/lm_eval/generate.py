# /// script
# requires-python = ">=3.11"
# dependencies = ["lm_eval"]
# ///
"""Write samples of lm-evaluation-harness, and what it computed itself, into a folder.

A class answers in place of a model, by rules. lm_eval has no errors of single samples: a metric
or filter that raises ends the run.
"""

import json
import math
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

MODELS = {"careful": 3, "quick": 2}
DOCS = [
    {"question": f"{i} + {i} =", "answer": str(2 * i), "subject": "even" if i % 2 == 0 else "odd"}
    for i in range(6)
]
CHOICES = [
    {"question": f"Which comes {i}th?", "choices": ["a", "bb", "ccc"], "gold": i % 3}
    for i in range(6)
]
GENERATE = """
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/docs.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], do_sample: true, temperature: 1.0}}
"""
EXACT = "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]"
TASKS = {
    "two_filters": EXACT
    + """
filter_list:
  - {name: strict-match, filter: [{function: regex, regex_pattern: "answer is (\\\\d+)"},
                                  {function: take_first}]}
  - {name: flexible-extract, filter: [{function: regex, regex_pattern: "(\\\\d+)"},
                                      {function: take_first}]}
""",
    "repeats": EXACT
    + """
repeats: 3
filter_list:
  - {name: first, filter: [{function: regex, regex_pattern: "(\\\\d+)"}, {function: take_first}]}
  - {name: vote, filter: [{function: regex, regex_pattern: "(\\\\d+)"},
                          {function: majority_vote}, {function: take_first}]}
""",
    "every_repeat": """
repeats: 3
process_results: !function scoring.score_each
metric_list:
  - {metric: correct, aggregation: !function scoring.mean_of_lists, higher_is_better: true}
filter_list:
  - {name: each, filter: [{function: regex, regex_pattern: "(\\\\d+)"},
                          {function: take_first_k, k: 3}]}
""",
    "partial": EXACT
    + """
process_results: !function scoring.score_partly
""",
}
CHOOSE = """
task: choose
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/choices.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: gold
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
  - {{metric: mcc}}
"""
SCORING = '''
import math


def score_each(doc, results):
    [responses] = results
    return {"correct": [float(response == doc["answer"]) for response in responses]}


def mean_of_lists(items):
    return sum(map(sum, items)) / sum(map(len, items))


def score_partly(doc, results):
    """Return a partial score, one that may be NaN, and a truth value that one document lacks."""
    values = [1.0, 0.5, 0.0, 0.75, 0.25, 1.0]
    i = int(doc["answer"]) // 2
    scores = {"quality": values[i], "rated": math.nan if i == 3 else values[i]}
    return scores if i == 4 else {**scores, "judged": i != 1}
'''


class Answers(LM):
    """A model that is wrong in each second or third document, by its name, and in some repeats."""

    def __init__(self, every):
        super().__init__()
        self.every, self.n_answers = every, {}

    def generate_until(self, requests):
        return [self._answer(request.doc, request.task_name) for request in requests]

    def _answer(self, doc, task):
        repeat = self.n_answers[task, doc["question"]] = 1 + self.n_answers.get(
            (task, doc["question"]), -1
        )
        number = int(doc["answer"]) // 2
        answer = doc["answer"] if (number + repeat) % self.every else "99"
        return f"the answer is {answer}" if number % 2 else f"{answer} is my answer"

    def loglikelihood(self, requests):
        out = []
        for request in requests:
            number = int(re.search(r"\d+", request.args[0])[0])
            best = request.doc["gold"] if number % self.every else (request.doc["gold"] + 1) % 3
            out.append((-1.0 if request.idx == best else -2.0 - request.idx, False))
        return out

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


def write_tasks(folder):
    for name, rows in (("docs", DOCS), ("choices", CHOICES)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "scoring.py").write_text(SCORING)
    (folder / "choose.yaml").write_text(CHOOSE.format(folder=folder))
    for name, text in TASKS.items():
        generate = GENERATE.format(folder=folder)
        (folder / f"{name}.yaml").write_text(f"task: {name}\n{generate}{text}")


def run(model, tasks, folder):
    """Evaluate as the command line does, with the names that it would write."""
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.log_experiment_args(
        model_source="made-up",
        model_args=f"pretrained=made-up/{model}",
        system_instruction=None,
        chat_template=None,
        fewshot_as_multiturn=False,
    )
    results = simple_evaluate(
        model=Answers(MODELS[model]),
        tasks=[*TASKS, "choose"],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=1000,
        log_samples=True,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return results


def statistics(model, results, folder):
    for task, metrics in results["results"].items():
        [file] = folder.rglob(f"made-up__{model}/samples_{task}_*.jsonl")
        for key, value in metrics.items():
            name, _, filtered = key.partition(",")
            is_number = isinstance(value, float) and math.isfinite(value)
            of = name.removesuffix("_stderr")
            # The matrix behind mcc has no mean; the error of `correct` is none over items.
            if not is_number or of == "mcc" or name == "correct_stderr":
                continue
            yield {
                "files": [str(file.relative_to(folder))],
                "metric": name.removesuffix("_stderr") + (filtered != "none") * f",{filtered}",
                "statistic": "stderr" if name.endswith("_stderr") else "mean",
                "value": value,
                "where": {"task": task, "model": f"made-up/{model}"},
                "options": {},
            }


def clean(folder, *places):
    """Leave out of what was written what it says of this machine."""
    for path in folder.rglob("*.json*"):
        text = path.read_text()
        for place in places:
            text = text.replace(str(place), "/made-up")
        if path.name.startswith("results_"):
            document = json.loads(text)
            for key in ("pretty_env_info", "git_hash", "lm_eval_version", "transformers_version"):
                document.pop(key, None)
            text = json.dumps(document, indent=1) + "\n"
        path.write_text(text)


def main(folder):
    folder = Path(folder).resolve()
    tasks, home = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    os.environ.update(HF_HOME=str(home), HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    os.chdir(home)
    write_tasks(tasks)
    out = []
    for model in MODELS:
        out += statistics(model, run(model, tasks, folder), folder)
    summary = {"tool": "lm-evaluation-harness", "version": version("lm_eval"), "statistics": out}
    clean(folder, tasks, home, folder)
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
