"""Logs of tools that evaluate language models, as small files in the form that each tool writes.

The forms are those of inspect_ai 0.3 (log version 2), lm-evaluation-harness 0.4, promptfoo 0.119
(results version 3), OpenAI evals 3 and DeepEval 3.
"""

import json
import zipfile
from contextlib import chdir

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

COLUMNS = ["item", "trial", "model", "category", "metric", "passed", "score"]


def sample(number, epoch, value, **fields):
    return {
        "id": f"q{number}",
        "epoch": epoch,
        "input": "?",
        "target": "!",
        "metadata": {"subject": "maths" if number else "code"},
        "scores": {"match": {"value": value, "answer": "a"}},
        **fields,
    }


SAMPLES = [sample(0, 1, "C"), sample(0, 2, "I"), sample(1, 1, "P"), sample(1, 2, "N")]
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "sums", "model": "openai/one", "scorers": [{"name": "match"}]},
}
INSPECT_ROWS = [
    ("q0", 1, "openai/one", "sums", "match", True, 1.0),
    ("q1", 1, "openai/one", "sums", "match", None, 0.5),
    ("q0", 2, "openai/one", "sums", "match", False, 0.0),
    ("q1", 2, "openai/one", "sums", "match", False, 0.0),
]


def write_archive(path, header=HEADER, samples=SAMPLES, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("_journal/start.json", "{}")
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        if header is not None:
            archive.writestr("header.json", json.dumps(header))
    return path


def write(path, *documents):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    return path


def rows(path, **options):
    frame = bf.read_eval(path, backend="polars", **options)
    assert frame.columns == COLUMNS
    return frame.rows()


def test_archives_of_inspect_ai_are_read(tmp_path):
    path = write_archive(tmp_path / "run.eval")

    assert rows(path) == INSPECT_ROWS
    assert {row[3] for row in rows(path, category="subject")} == {"maths", "code"}


def test_documents_of_inspect_ai_are_read(tmp_path):
    path = write(tmp_path / "run.json", HEADER | {"samples": SAMPLES})

    assert rows(path) == INSPECT_ROWS


def test_archives_compressed_with_zstandard_are_read(tmp_path):
    """The members are compressed by pyarrow, and their method is set to 93 by hand."""
    import pyarrow as pa

    plain, path = write_archive(tmp_path / "plain.eval"), tmp_path / "run.eval"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(source.read(name))
            target.writestr(name, sink.getvalue().to_pybytes())
    content = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.find(magic)
        while at >= 0:
            content[at + offset : at + offset + 2] = (93).to_bytes(2, "little")
            at = content.find(magic, at + 4)
    path.write_bytes(content)

    assert rows(path) == INSPECT_ROWS


def test_several_scorers_and_parts_of_a_score_are_metrics(tmp_path):
    scores = {"judge": {"value": {"clear": 1, "short": 0.25}}, "exact": {"value": True}}
    path = write(tmp_path / "run.json", HEADER | {"samples": [sample(0, 1, "C", scores=scores)]})

    assert [row[4:] for row in rows(path)] == [
        ("judge/clear", True, 1.0),
        ("judge/short", None, 0.25),
        ("exact", True, 1.0),
    ]


def test_a_sample_that_an_error_left_unscored_has_no_outcome(tmp_path):
    failed = sample(0, 1, "C", scores={}, error={"message": "timeout"})
    path = write(tmp_path / "run.json", HEADER | {"samples": [failed]})

    assert rows(path) == [("q0", 1, "openai/one", "sums", "match", None, None)]


def test_a_run_that_ended_in_an_error_warns(tmp_path):
    path = write(tmp_path / "run.json", HEADER | {"status": "error", "samples": SAMPLES[:1]})
    with pytest.warns(bf.BalframeWarning, match="has the status 'error': samples that were not"):
        assert len(rows(path)) == 1


def test_logs_of_the_installed_inspect_ai_are_read(tmp_path):
    """A solver answers in place of a model, so that nothing is asked of a network."""
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import match
    from inspect_ai.solver import solver

    @solver
    def answer():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("mockllm/model", "1")
            return state

        return solve

    samples = [Sample(id=str(i), input="?", target=str(i)) for i in range(3)]
    task = inspect_ai.Task(dataset=samples, solver=answer(), scorer=match(), epochs=2, name="toy")
    for form in ("eval", "json"):
        folder = str(tmp_path / form)
        inspect_ai.eval(
            task, model="mockllm/model", log_dir=folder, log_format=form, display="none"
        )
        found = {(row[0], row[1]): row[5] for row in rows(folder)}
        assert found == {(str(i), epoch): i == 1 for i in range(3) for epoch in (1, 2)}


def lines(metric="acc"):
    return [
        {
            "doc_id": i,
            "doc": {"question": "?", "subject": f"s{i % 2}"},
            "target": "1",
            "resps": [["1"]],
            "filtered_resps": ["1"],
            "filter": "none",
            "metrics": [metric],
            metric: float(i != 1),
        }
        for i in range(3)
    ]


def test_samples_of_lm_evaluation_harness_are_read(tmp_path):
    folder = tmp_path / "org__model"
    path = write(folder / "samples_arc_easy_2026-11-27T18-59-31.824131.jsonl", *lines())
    found = rows(path)

    assert found[1] == ("arc_easy/1", 1, "org__model", "arc_easy", "acc", False, 0.0)
    assert [row[3] for row in rows(path, category="subject")] == ["s0", "s1", "s0"]
    write(folder / "results_2026-11-27T18-59-31.824131.json", {"model_name": "org/model"})
    assert {row[2] for row in rows(path)} == {"org/model"}


def test_filters_of_lm_evaluation_harness_are_part_of_the_metric(tmp_path):
    strict = [line | {"filter": "strict-match"} for line in lines("exact_match")]
    path = write(tmp_path / "samples_gsm8k.jsonl", *strict)

    assert {row[4] for row in rows(path)} == {"exact_match,strict-match"}


def promptfoo_row(x, *, success, description=None, provider="openai:gpt", label="Say {{x}}"):
    return {
        "testIdx": 0,
        "promptIdx": 0,
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Say {x}", "label": label},
        "vars": {"x": x},
        "testCase": {"vars": {"x": x}, "metadata": {"category": "say"}, "description": description},
        "success": success,
        "score": float(success),
        "namedScores": {"length": 0.5},
    }


def test_results_of_promptfoo_are_read(tmp_path):
    again = promptfoo_row("1", success=False)
    results = [
        promptfoo_row("1", success=True),
        again,
        promptfoo_row("2", success=True, description="two"),
    ]
    path = write(tmp_path / "results.json", {"results": {"version": 3, "results": results}})

    assert rows(path) == [
        ('{"x": "1"}', 1, "openai:gpt", "say", "success", True, 1.0),
        ('{"x": "1"}', 1, "openai:gpt", "say", "length", None, 0.5),
        ('{"x": "1"}', 2, "openai:gpt", "say", "success", False, 0.0),
        ('{"x": "1"}', 2, "openai:gpt", "say", "length", None, 0.5),
        ("two", 1, "openai:gpt", "say", "success", True, 1.0),
        ("two", 1, "openai:gpt", "say", "length", None, 0.5),
    ]
    results.append(promptfoo_row("1", success=True, label="Tell {{x}}"))
    write(path, {"results": {"version": 3, "results": results}})
    assert {row[2] for row in rows(path)} == {"openai:gpt · Say {{x}}", "openai:gpt · Tell {{x}}"}


def test_records_of_openai_evals_are_read(tmp_path):
    spec = {"completion_fns": ["gpt-x"], "eval_name": "sums.dev.v0", "base_eval": "sums"}
    events = [
        {"sample_id": f"sums.{i}", "type": "match", "data": {"correct": i == 0}} for i in (0, 1, 0)
    ]
    other = {"sample_id": "sums.0", "type": "sampling", "data": {"prompt": "?"}}
    path = write(
        tmp_path / "run.jsonl", {"spec": spec}, other, *events, {"final_report": {"accuracy": 0.5}}
    )

    assert rows(path) == [
        ("sums.0", 1, "gpt-x", "sums", "match", True, 1.0),
        ("sums.1", 1, "gpt-x", "sums", "match", False, 0.0),
        ("sums.0", 2, "gpt-x", "sums", "match", True, 1.0),
    ]


def test_runs_of_deepeval_are_read(tmp_path):
    case = {
        "name": "test_case_0",
        "input": "?",
        "success": False,
        "metricsData": [{"name": "Answer Relevancy", "score": 0.9, "success": True}],
        "additionalMetadata": {"category": "faq"},
    }
    path = write(
        tmp_path / "test_run.json", {"testCases": [case], "hyperparameters": {"model": "m"}}
    )

    assert rows(path) == [
        ("?", 1, "m", "faq", "success", False, 0.0),
        ("?", 1, "m", "faq", "Answer Relevancy", True, 1.0),
    ]


@pytest.mark.filterwarnings("ignore:.* results repeat an item")
def test_folders_patterns_and_lists_are_read(tmp_path):
    write(tmp_path / "b" / "notes.json", {"some": "notes"})
    first, second = write_archive(tmp_path / "a.eval"), write_archive(tmp_path / "b" / "b.eval")

    assert len(rows(tmp_path)) == len(rows([first, second])) == 8
    with chdir(tmp_path):
        assert len(rows("*.eval")) == 4
        assert len(rows("**/*.eval")) == 4


def test_commands_read_logs(tmp_path, run):
    path = write_archive(
        tmp_path / "run.eval", samples=[sample(i, 1, "CI"[i % 2]) for i in range(4)]
    )
    for log in (path, write(tmp_path / "run.json", HEADER | {"samples": SAMPLES[:2]})):
        done = run("report", str(log), "--outcome", "passed", "--cluster", "item")
        assert pl.read_csv(done.out.encode())["rate"][0] == 0.5


def test_commands_warn_of_every_log_with_several_metrics(tmp_path, run):
    scores = {"match": {"value": "C"}, "judge": {"value": "I"}}
    samples = [sample(i, 1, "C", scores=scores) for i in range(4)]
    for log in (
        write_archive(tmp_path / "run.eval", samples=samples),
        write(tmp_path / "run.json", HEADER | {"samples": samples}),
        write(tmp_path / "samples_gsm8k.jsonl", *lines(), *lines("exact_match")),
    ):
        done = run("report", str(log), "--outcome", "passed", "--cluster", "item")
        assert "which are counted together. Give metric in --by" in done.err


@cases(
    ("name", "content", "message"),
    [
        ("none.eval", None, "path={path!r} is no file, folder or pattern of files."),
        (
            "text.eval",
            b"PK\x03\x04 broken",
            "{path!r} is damaged: it is not a complete archive of JSON files.",
        ),
        ("cut.json", b'{"version": 2, "sta', "{path!r} is damaged, or not JSON."),
        (
            "other.json",
            b'{"rows": []}',
            "{path!r} is not a log of a known tool. Known tools are inspect_ai, "
            "lm-evaluation-harness, promptfoo, OpenAI evals and DeepEval.",
        ),
        (
            "old.json",
            json.dumps(HEADER | {"version": 1, "samples": []}).encode(),
            "{path!r} is a log of inspect_ai of version 1; the known version is 2.",
        ),
        (
            "new.json",
            b'{"results": {"version": 9, "results": []}}',
            "{path!r} has results of promptfoo of version 9; known versions are 2 and 3.",
        ),
        (
            "odd.json",
            json.dumps(HEADER | {"samples": [sample(0, 1, "C", scores=["C"])]}).encode(),
            "{path!r} does not have the form that its tool documents: AttributeError(\"'list' "
            "object has no attribute 'items'\").",
        ),
        (
            "cut.jsonl",
            (json.dumps(lines()[0]) + '\n{"doc_id": 1').encode(),
            "{path!r} is damaged: line 2 is not JSON.",
        ),
    ],
)
def test_what_is_no_log_is_refused(tmp_path_factory, name, content, message):
    path = tmp_path_factory.mktemp("logs") / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.read_eval(str(path))

    assert str(caught.value) == message.format(path=str(path))


def test_a_run_that_has_not_ended_is_refused(tmp_path):
    with pytest.raises(bf.InvalidInputError, match=r"is an archive without header\.json: the run"):
        bf.read_eval(write_archive(tmp_path / "run.eval", header=None))


def test_logs_lead_to_a_report_of_items(tmp_path):
    runs = bf.read_eval(write_archive(tmp_path / "run.eval"), backend="polars")
    request = {"outcome": "passed", "cluster": "item", "metrics": ["rate", "pass_at(2)"]}
    with pytest.warns(bf.BalframeWarning, match="of 2 items, some have fewer trials"):
        out = bf.report(runs.drop_nulls("passed"), **request)

    assert out["rate"].item() == pytest.approx(1 / 3)
    assert out["pass_at(2)"].item() == 1  # one item has two trials, of which one passed
    assert isinstance(runs, pl.DataFrame)


def test_results_that_occur_twice_are_warned_of(tmp_path):
    first, second = (tmp_path / name for name in ("a.eval", "b.eval"))
    write_archive(first)
    second.write_bytes(first.read_bytes())
    n = bf.read_eval(first).shape[0]
    with pytest.warns(bf.BalframeWarning) as caught:
        bf.read_eval(tmp_path)

    assert str(caught[0].message) == (
        f"{n} of {2 * n} results repeat an item, trial, model and metric, as of an evaluation that "
        "was run twice. Read its runs one by one, or renumber their trials."
    )
