"""Results of promptfoo: what `promptfoo eval -o results.json` or `-o results.jsonl` writes."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from balframe.errors import warn
from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, digest, number

_VERSION = 3
_ERROR = 2  # the failureReason of a test whose provider failed; 1 is a failed assertion
_TABLE = {"Status", "Score", "Grader Reason", "Comment"}  # columns of a csv, for each output
_LINE = {"promptIdx", "testIdx", "testCase", "provider", "success", "namedScores"}


def _recognizes(file: EvalFile) -> bool:
    results = file.head.get("results") if file.is_document else None
    if isinstance(results, Mapping):
        return "version" in results and isinstance(results.get("results"), list)
    return not file.is_document and (file.head.keys() >= _LINE or file.head.keys() >= _TABLE)


def _read(file: EvalFile) -> Iterator[EvalResult]:
    if file.head.keys() >= _TABLE:
        raise UnreadableLogError("is a table that does not identify tests: write results.json")
    run: Document = file.head if file.is_document else {"results": {"version": _VERSION}}
    if run["results"]["version"] != _VERSION:
        version = f"version {run['results']['version']}; the known version is {_VERSION}"
        raise UnreadableLogError(f"has results of promptfoo of {version}")
    rows = partial(file.each, "results", "results") if file.is_document else file.records
    prompts: dict[int, Document] = {}  # a result of each promptIdx
    positions: defaultdict[str, set[int]] = defaultdict(set)  # every testIdx of a test
    metrics: defaultdict[str, dict[str, None]] = defaultdict(dict)  # of a test, in order
    counts = run["results"].get("stats") or {}
    n_lost = sum(counts.get(count, 0) for count in ("successes", "failures", "errors"))
    for row in rows():
        n_lost -= 1
        if not prompts.get(row["promptIdx"], {}).get("promptId"):  # empty beside a score of NaN
            prompts[row["promptIdx"]] = row
        test, assertions = _test(row), row["testCase"].get("assert") or ()
        positions[test].add(row["testIdx"])
        names = [part["metric"] for part in assertions if part.get("metric")]
        metrics[test] |= dict.fromkeys([*names, *row["namedScores"]])
    if n_lost > 0:  # promptfoo 0.121 leaves out of JSON what has a score of NaN
        warn("promptfoo counted {:,} results that are not in the file; jsonl has all.", n_lost)
    models = _models(dict(sorted(prompts.items())), (run.get("config") or {}).get("providers"))
    for row in rows():
        case, test, response = row["testCase"], _test(row), row.get("response") or {}
        variables, usage = case.get("vars") or {}, response.get("tokenUsage") or {}
        options = {**(run.get("runtimeOptions") or {}), **(case.get("options") or {})}
        repeats = sorted(positions[test])
        copy, repeat = divmod(repeats.index(row["testIdx"]), options.get("repeat") or len(repeats))
        item = f"{case.get('description') or json.dumps(variables, sort_keys=True)} #{test}"
        for metric, values in _scores(row, metrics[test]):
            yield EvalResult(
                item=f"{item} ({copy + 1})" if copy else item,
                metric=metric,
                trial=repeat + 1,
                model=models[row["promptIdx"]],
                metadata={**variables, **(case.get("metadata") or {})},
                answer=response.get("output"),
                input_tokens=usage.get("prompt"),
                output_tokens=usage.get("completion"),
                seconds=row["latencyMs"] / 1000 if "latencyMs" in row else None,
                **values,
            )


def _test(row: Document) -> str:
    """Return a digest of what tells a test from others; its repeats have the same."""
    return digest([row["testCase"].get(field) for field in ("vars", "assert", "description")])


def _models(prompts: Mapping[int, Document], providers: Any) -> dict[int, str]:  # noqa: ANN401
    """Return a name for each promptIdx: all prompts of a provider, then all of the next."""
    labels = [str(of["prompt"].get("label") or of["prompt"].get("raw")) for of in prompts.values()]
    ids = [row.get("promptId") or labels[at] for at, row in enumerate(prompts.values())]
    n_prompts = len(set(ids))
    has_options = isinstance(providers, list) and len(providers) * n_prompts == len(prompts)
    names: dict[int, str] = {}
    for position, (index, row) in enumerate(prompts.items()):
        provider, options = row["provider"], providers[position // n_prompts] if has_options else {}
        name = str(provider.get("label") or provider["id"])
        if isinstance(options, Mapping) and options.get("config") and not provider.get("label"):
            name = f"{name} {json.dumps(options['config'], sort_keys=True)}"
        label = labels[position]
        short = label if len(label) <= 60 else f"{label[:40]}… {ids[position][:8]}"
        names[index] = f"{name} · {short}" if n_prompts > 1 else name
    n_equal = Counter(names.values())
    return {at: f"{name} #{at}" if n_equal[name] > 1 else name for at, name in names.items()}


def _scores(row: Document, names: Mapping[str, None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the verdict and the named scores, without values where a provider or judge failed."""
    parts = (row.get("gradingResult") or {}).get("componentResults") or []
    tests = [part.get("assertion") or {} for part in parts]
    notes = [part.get("metadata") or {} for part in parts]
    errors = [notes[at].get("graderError") and part["reason"] for at, part in enumerate(parts)]
    equal = [at for at, test in enumerate(tests) if test.get("type") == "equals"]
    expected = [notes[at].get("renderedAssertionValue", tests[at].get("value")) for at in equal]
    target = {"target": expected[0] if len(expected) == 1 else None}
    n_failed, n_errors = sum(not part["pass"] for part in parts), sum(map(bool, errors))
    is_error = row.get("failureReason") == _ERROR or 0 < n_failed == n_errors
    of_all = row.get("error") if is_error else None
    values = {"score": number(row.get("score")), "passed": row["success"]}
    yield "success", target | ({"error": of_all} if of_all else values)
    for name in names:
        own = [at for at, test in enumerate(tests) if test.get("metric") == name]
        error = next((errors[at] for at in own if errors[at]), None if own else of_all)
        passed = parts[own[0]].get("pass") if len(own) == 1 else None
        values = {"score": number(row["namedScores"].get(name)), "passed": passed}
        yield name, target | ({"error": error} if error else values)


READER = EvalReader("promptfoo", "0.121.20", _recognizes, _read, default_metric="success")
