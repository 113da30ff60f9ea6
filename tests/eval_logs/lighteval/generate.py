# /// script
# requires-python = ">=3.11"
# dependencies = ["lighteval", "xxhash<4"]  # lighteval 0.13.0 hashes texts, xxhash 4 bytes only
# ///
"""Write details of lighteval, and what it computed itself, into a folder.

A class answers in place of a model, by rules. No part of the run uses torch, so that a stand-in
serves where torch is not installed. lighteval has no errors of single samples: a metric that raises
ends the run. The names of its files have a "|", which not all systems allow, and here a "_".
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from types import ModuleType


class _Name(type):
    def __getattr__(cls, name):
        return cls


class _StandIn(ModuleType):
    __version__ = "2.0.0"
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name("Tensor", (), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        is_missing = name.split(".")[0] == "torch" or name == "lighteval.models.model_loader"
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_missing else None

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        pass


home = Path(tempfile.mkdtemp())
os.environ.update(HF_HOME=str(home), HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
if importlib.util.find_spec("torch") is None:
    sys.meta_path.insert(0, _Finder())

from lighteval.logging.evaluation_tracker import EvaluationTracker  # noqa: E402
from lighteval.metrics.metrics import Metrics  # noqa: E402
from lighteval.metrics.metrics_sample import SampleLevelComputation  # noqa: E402
from lighteval.metrics.utils.metric_utils import SampleLevelMetric  # noqa: E402
from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig  # noqa: E402
from lighteval.models.model_output import ModelResponse  # noqa: E402
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters  # noqa: E402
from lighteval.tasks.lighteval_task import LightevalTaskConfig  # noqa: E402
from lighteval.tasks.registry import Registry  # noqa: E402
from lighteval.tasks.requests import Doc, SamplingMethod  # noqa: E402

# Those of lighteval are not needed, and one of them loads a file of the internet.
Registry._load_from_files = Registry._load_from_subdirs = staticmethod(lambda *_: {})

MODELS = {"made-up/careful": 3, "made-up/quick": 2}
N = 6


class Partial(SampleLevelComputation):
    """A partial score, and NaN for one document."""

    def compute(self, doc, model_response, **kwargs):
        return [1.0, 0.5, 0.0, float("nan"), 0.25, 1.0][int(doc.id)]


def mean(values):
    return sum(values) / len(values)


PARTIAL = SampleLevelMetric(
    metric_name="partial",
    sample_level_fn=Partial(),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn=mean,
    higher_is_better=True,
)


def prompt(line, task_name):
    return Doc(
        task_name=task_name,
        query=line["question"],
        choices=line["choices"],
        gold_index=line["gold"],
        specific={"subject": line["subject"]},
    )


def config(name, metrics, folder, **options):
    return LightevalTaskConfig(
        name=name,
        prompt_function=prompt,
        hf_repo=str(folder),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=metrics,
        generation_size=8,
        stop_sequence=["\n"],
        **options,
    )


class Answers(DummyModel):
    """A model that is wrong in each second or third document, and in the second of two samples."""

    def greedy_until(self, docs):
        return [ModelResponse(text=self._texts(doc), input_tokens=[1, 2]) for doc in docs]

    def _texts(self, doc):
        right, wrong = doc.choices[doc.gold_index], "99"
        if int(doc.id) % self.config.seed == 0:
            return [wrong] * doc.num_samples
        return [wrong if i == 1 else right for i in range(doc.num_samples)]

    def loglikelihood(self, docs):
        return [
            ModelResponse(logprobs=self._logprobs(doc), argmax_logits_eq_gold=[False] * 3)
            for doc in docs
        ]

    def _logprobs(self, doc):
        is_wrong = int(doc.id) % self.config.seed == 0
        best = (doc.gold_index + is_wrong) % 3
        return [-1.0 if i == best else -2.0 - i for i in range(3)]


def write_tasks(folder):
    data = folder / "data"
    data.mkdir()
    rows = [
        {
            "question": f"{i} + {i} =",
            "choices": [str(2 * i), str(2 * i + 1), str(2 * i + 2)],
            "gold": 0,
            "subject": "even" if i % 2 == 0 else "odd",
        }
        for i in range(N)
    ]
    (data / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    module = ModuleType("made_up_tasks")
    module.TASKS_TABLE = [
        config("exact", [Metrics.exact_match, PARTIAL], data),
        config("choose", [Metrics.loglikelihood_acc, Metrics.exact_match], data),
        config(
            "repeats",
            [
                Metrics.pass_at_k(sample_params={"k": 1, "n": 2}),
                Metrics.avg_at_n(sample_params={"n": 2}),
            ],
            data,
        ),
    ]
    return module


def run(model, tasks, folder):
    tracker = EvaluationTracker(output_dir=str(folder), save_details=True)
    parameters = PipelineParameters(
        launcher_type=ParallelismManager.NONE, custom_tasks_directory=tasks, max_samples=None
    )
    pipeline = Pipeline(
        tasks="exact|0,choose|0,repeats|0",
        pipeline_parameters=parameters,
        evaluation_tracker=tracker,
        model=Answers(DummyModelConfig(model_name=model, seed=MODELS[model])),
    )
    pipeline.evaluate()
    pipeline.save_and_push_results()


def statistics(model, folder):
    [path] = folder.glob(f"results/{model}/results_*.json")
    for task, metrics in json.loads(path.read_text())["results"].items():
        files = folder.rglob(f"details/{model}/*/details_{task.replace('|', '_')}_*")
        for file in files:  # none of "all"
            for name, value in metrics.items():
                if value == value:
                    yield {
                        "files": [str(file.relative_to(folder))],
                        "metric": name.removesuffix("_stderr"),
                        "statistic": "stderr" if name.endswith("_stderr") else "mean",
                        "value": value,
                        "where": {"task": task, "model": model},
                        "options": {},
                    }


def main(folder):
    folder = Path(folder).resolve()
    os.chdir(home)
    tasks = write_tasks(home)
    for model in MODELS:
        run(model, tasks, folder)
    for path in list(folder.rglob("details_*.parquet")):
        path.rename(path.with_name(path.name.replace("|", "_")))
    for path in folder.rglob("results_*.json"):
        path.write_text(path.read_text().replace(str(home), "/made-up") + "\n")
    out = [row for model in MODELS for row in statistics(model, folder)]
    summary = {"tool": "lighteval", "version": version("lighteval"), "statistics": out}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
