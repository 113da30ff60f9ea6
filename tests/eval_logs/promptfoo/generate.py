# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""Write small logs of promptfoo, and what promptfoo itself computes, to a folder.

promptfoo is a package of npm, not of PyPI: `npm` has to be installed, with Node.js 20 or later.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# A pupil answers sums: at temperature 0 always right but for 9 * 9, at temperature 1 seldom.
PROVIDER = """
let n = 0;
module.exports = class Pupil {
  constructor(options) { this.options = options; }
  id() { return 'pupil'; }
  async callApi(prompt, context) {
    const { question, answer } = context.vars;
    if (question === 'unreachable') return { error: 'API error: 503 Service Unavailable' };
    if (question === 'silent') return { output: null };
    const careless = this.options.config.temperature > 0;
    const wrong = question === '9 * 9' || (careless && answer % 2 === 1) || prompt.includes('bad');
    const changes = context.repeatIndex === 1 && question === '1 + 1';
    return {
      output: String(Number(answer) + (wrong || changes ? 1 : 0)),
      tokenUsage: { total: 12, prompt: 10, completion: 2 },
      cost: 0.001,
    };
  }
};
"""
JUDGE_PROVIDER = """
module.exports = class Judge {
  id() { return 'judge'; }
  async callApi(prompt) {
    if (prompt.includes('15')) return { error: 'judge is down' };
    return { output: JSON.stringify({ pass: true, score: 0.9, reason: 'kind' }) };
  }
};
"""
BEGINNING = (
    "You are a pupil who answers sums with a number and nothing else, and who is never in doubt. "
)


def case(question: str, answer: int, category: str, *extra: Any, **fields: Any) -> dict[str, Any]:
    """Return a test with an assertion that compares the answer."""
    exact = {"type": "equals", "value": "{{answer}}", "metric": "exact"}
    return {
        "vars": {"question": question, "answer": answer},
        "metadata": {"category": category},
        "assert": [exact, *extra],
        **fields,
    }


def script(code: str, metric: str) -> dict[str, Any]:
    """Return an assertion of a piece of JavaScript."""
    return {"type": "javascript", "value": code, "metric": metric}


SHORT = script("({pass: true, score: output.length === 1 ? 1 : 0.5, reason: 'length'})", "short")
RAISES = script("(() => { throw new Error('no such judge'); })()", "short")
JUDGE = {"type": "llm-rubric", "value": "is kind", "provider": "file://judge.js", "metric": "kind"}
NAN = script("({pass: true, score: NaN, reason: 'no score'})", "short")
NOTHING = script("null", "short")
SUMS = [
    case("1 + 1", 2, "easy", SHORT, description="a sum"),
    case("2 + 3", 5, "easy", SHORT, description="a sum"),
    case("7 + 8", 15, "hard", SHORT, description="a sum"),
    case("9 * 9", 81, "hard", SHORT),
    case("4 + 4", 8, "easy", RAISES),
    case("5 + 3", 8, "easy", NOTHING),
    case("unreachable", 0, "hard", SHORT),
    case("silent", 0, "hard", SHORT),
    case("6 * 8", 48, "hard"),
]
# Tests with one description, with equal variables and with an assertion more, and one twice.
SAME = [
    case("1 + 1", 2, "easy", description="a sum"),
    case("1 + 1", 2, "easy", SHORT, description="a sum"),
    case("2 + 3", 5, "easy", description="a sum"),
    case("2 + 3", 5, "easy", description="a sum"),
]


def pupil(temperature: float) -> dict[str, Any]:
    """Return a provider, which promptfoo records by its id alone."""
    return {"id": "file://pupil.js", "config": {"temperature": temperature}}


def config(tests: list[Any], *temperatures: float, good_only: bool = True) -> dict[str, Any]:
    """Return the configuration of an evaluation."""
    prompts = [BEGINNING + "{{question}}", BEGINNING + "{{question}} (bad)"]
    return {
        "description": "sums",
        "prompts": prompts[: 1 if good_only else 2],
        "providers": [pupil(temperature) for temperature in temperatures],
        "tests": tests,
    }


RUNS: Mapping[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "careful": (config(SUMS, 0), [], ["json", "jsonl", "csv"]),
    "careless": (config(SUMS, 1), [], ["json"]),
    "columns": (config(SAME, 0, 1, good_only=False), [], ["json", "jsonl"]),
    "not_a_number": (config([*SUMS[:2], case("3 + 3", 6, "easy", NAN)], 0), [], ["json", "jsonl"]),
    "judged": (
        config([case(q, a, "kind", JUDGE) for q, a in (("7 + 8", 15), ("1 + 1", 2))], 0, 1),
        [],
        ["json"],
    ),
    "repeats": (config([*SUMS[:3], SUMS[7]], 0), ["--repeat", "3"], ["json", "jsonl"]),
    "test_repeats": (
        config([SUMS[0] | {"options": {"repeat": 2}}, *SAME[2:], SUMS[7]], 1),
        [],
        ["json"],
    ),
}


def main(folder: Path) -> None:
    """Write the logs and summary.json."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "promptfoo"],
            cwd=work,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        version = json.loads((work / "node_modules/promptfoo/package.json").read_bytes())["version"]
        (work / "pupil.js").write_text(PROVIDER)
        (work / "judge.js").write_text(JUDGE_PROVIDER)
        statistics = []
        for name, (configuration, options, endings) in RUNS.items():
            evaluate(work, name, configuration, options, endings)
            for ending in endings:
                log = work / f"{name}.{ending}"
                text = log.read_text().replace(str(work.resolve()), "/project")
                (folder / log.name).write_text(text.replace(str(work), "/project"))
            document = json.loads((folder / f"{name}.json").read_bytes())
            files = [f"{name}.{ending}" for ending in endings]
            for file in files:
                statistics += of_run(file, document["results"])
    summary = {"tool": "promptfoo", "version": version, "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def evaluate(
    work: Path, name: str, configuration: dict[str, Any], options: list[str], endings: list[str]
) -> None:
    """Run `promptfoo eval -c CONFIG -o FILE`; it exits with 100 if a test fails."""
    (work / "promptfooconfig.json").write_text(json.dumps(configuration))
    outputs = [f"{name}.{ending}" for ending in endings]
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PROMPTFOO_CONFIG_DIR": str(home),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    }
    command = ["npx", "promptfoo", "eval", "-c", "promptfooconfig.json", "--no-cache", "-j", "1"]
    run = subprocess.run(
        [*command, *options, "-o", *outputs],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 100):
        raise SystemExit(f"promptfoo has ended with {run.returncode}:\n{run.stdout}\n{run.stderr}")


def of_run(file: str, results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what promptfoo counts over all, and its averages of named scores."""
    counts = results["stats"]
    n = sum(counts[count] for count in ("successes", "failures", "errors"))
    values = [("success", "passed", counts["successes"] / n, {"errors": "fail"})]
    if "judged" not in file:  # promptfoo counts a test whose judge fails as failed
        values.append(("success", "n_errors", counts["errors"], {}))
    of_prompts = [prompt["metrics"] for prompt in results["prompts"]]
    for name in of_prompts[0]["namedScoresCount"]:
        scores = [of["namedScores"][name] for of in of_prompts]  # null if one is NaN
        n_scores = sum(of["namedScoresCount"][name] for of in of_prompts)
        if None not in scores and "judged" not in file:
            values.append((name, "mean", sum(scores) / n_scores, {}))
    fields = ("metric", "statistic", "value", "options")
    return [
        {"files": [file], "where": {}, **dict(zip(fields, row, strict=True))}
        for row in values
        if not file.endswith(".csv")
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
