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
from balframe.frames.eval_logs import eval_file, read
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
    ("sums/q0", 1, "openai/one", None, "match", True, 1.0),
    ("sums/q1", 1, "openai/one", None, "match", None, 0.5),
    ("sums/q0", 2, "openai/one", None, "match", False, 0.0),
    ("sums/q1", 2, "openai/one", None, "match", False, 0.0),
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
    return bf.read_eval(path, backend="polars", **options).select(COLUMNS).rows()


def test_archives_of_inspect_ai_are_read(tmp_path):
    path = write_archive(tmp_path / "run.eval")

    assert rows(path) == INSPECT_ROWS
    assert [row[3] for row in rows(path, category="subject")] == ["code", "maths"] * 2


def test_documents_of_inspect_ai_are_read(tmp_path):
    path = write(tmp_path / "run.json", HEADER | {"samples": SAMPLES})

    assert sorted(rows(path)) == sorted(INSPECT_ROWS)


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
    run = HEADER["eval"] | {"scorers": [{"name": "package/judge"}, {"name": "exact"}]}
    document = HEADER | {"eval": run, "samples": [sample(0, 1, "C", scores=scores)]}
    path = write(tmp_path / "run.json", document)

    assert [row[4:] for row in rows(path, metric="all")] == [
        ("judge/clear", True, 1.0),
        ("judge/short", None, 0.25),
        ("exact", True, 1.0),
    ]


def test_a_sample_that_an_error_left_unscored_has_no_outcome(tmp_path):
    failed = sample(0, 1, "C", scores={}, error={"message": "timeout"})
    path = write(tmp_path / "run.json", HEADER | {"samples": [failed]})

    assert rows(path) == [("sums/q0", 1, "openai/one", None, "match", None, None)]


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
        outcomes = {(row[0], row[1]): row[5] for row in rows(folder)}
        assert outcomes == {(f"toy/{i}", epoch): i == 1 for i in range(3) for epoch in (1, 2)}


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
    assert rows(path)[1] == ("arc_easy/1", 1, "org__model", None, "acc", False, 0.0)
    assert [row[3] for row in rows(path, category="subject")] == ["s0", "s1", "s0"]
    write(folder / "results_2026-11-27T18-59-31.824131.json", {"model_name": "org/model"})
    assert {row[2] for row in rows(path)} == {"org/model"}


def test_filters_of_lm_evaluation_harness_are_part_of_the_metric(tmp_path):
    strict = [line | {"filter": "strict-match"} for line in lines("exact_match")]
    path = write(tmp_path / "samples_gsm8k.jsonl", *strict)

    assert {row[4] for row in rows(path)} == {"exact_match,strict-match"}


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
        ("sums/sums.0", 1, "gpt-x", None, "match", True, 1.0),
        ("sums/sums.1", 1, "gpt-x", None, "match", False, 0.0),
        ("sums/sums.0", 2, "gpt-x", None, "match", True, 1.0),
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


SEVERAL = [
    sample(i, 1, "C", scores={"match": {"value": "C"}, "judge": {"value": "CI"[i % 2]}})
    for i in range(4)
]


def test_several_metrics_are_not_counted_together(tmp_path, run):
    """A number over several metrics would be of none of them."""
    for log in (
        write_archive(tmp_path / "run.eval", samples=SEVERAL),
        write(tmp_path / "run.json", HEADER | {"samples": SEVERAL}),
    ):
        with pytest.raises(bf.InvalidInputError, match=r"2 metrics, .* 'judge', 'match'"):
            bf.read_eval(log)
        done = run("report", str(log), "--outcome", "passed", "--cluster", "item")
        assert done.code == 2
        assert "Give one as --eval metric=NAME, or name the column" in done.err
        words = ("report", str(log), "--outcome", "passed", "--cluster", "item")
        assert pl.read_csv(run(*words, "--eval", "metric=judge").out.encode())["rate"][0] == 0.5
        by_metric = pl.read_csv(run(*words, "--by", "metric").out.encode())
        assert by_metric.select("metric", "rate").rows() == [("judge", 0.5), ("match", 1.0)]
        assert [row[4:] for row in rows(log, metric="judge")][1] == ("judge", False, 0.0)
    with pytest.raises(bf.UnknownNameError, match="'jugde'"):
        bf.read_eval(log, metric="jugde")


def quiz(*records):
    return [{"quiz": 1, "q": "a", "points": 1.0, **record} for record in records]


def read_quiz(file):
    for row in file.records():
        yield bf.EvalResult(
            item=row["q"],
            metric="exact",
            score=row["points"],
            metadata=row.get("about", {}),
            error=row.get("error"),
            invalid=row.get("void", False),
        )


@pytest.fixture
def readers(monkeypatch):
    """Offer a reader as another package would, by an entry point."""
    reader = bf.EvalReader("quiz", "1", lambda file: "quiz" in file.head, read_quiz)
    point = type("EntryPoint", (), {"load": staticmethod(lambda: reader)})
    monkeypatch.setattr(read, "entry_points", lambda group: [point])
    read.eval_readers.cache_clear()
    yield
    read.eval_readers.cache_clear()


@pytest.mark.usefixtures("readers")
def test_readers_of_other_packages_are_used(tmp_path):
    path = write(tmp_path / "run.jsonl", *quiz({}, {"q": "b", "points": float("nan")}, {}))

    assert rows(path) == [
        ("a", 1, None, None, "exact", True, 1.0),
        ("b", 1, None, None, "exact", None, None),
        ("a", 2, None, None, "exact", True, 1.0),
    ]


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("form", ["list", "json", "jsonl", "pandas", "polars", "parquet"])
def test_logs_in_files_and_in_memory_are_the_same(tmp_path, form):
    records, path = quiz({}, {"q": "b", "points": 0.5}), tmp_path / f"run.{form}"
    frame = pl.DataFrame(records)
    if form == "json":
        path.write_text(json.dumps(records))
    elif form == "jsonl":
        write(path, *records)
    elif form == "parquet":
        frame.write_parquet(path)
    in_memory = {"list": records, "polars": frame, "pandas": frame.to_pandas()}

    assert [row[0::6] for row in rows(in_memory.get(form, path))] == [("a", 1.0), ("b", 0.5)]


@pytest.mark.usefixtures("readers")
def test_errors_and_invalid_samples_are_kept_dropped_or_failed(capsys):
    records = quiz({}, {"q": "b", "points": None, "error": "timeout"}, {"q": "c", "void": True})

    assert [row[5] for row in rows(records)] == [True, None, True]
    assert capsys.readouterr().err == (
        "balframe: read 1 log of quiz: 3 items, 3 trials; 1 with an error, 1 invalid, "
        "1 of 3 results without a score\n"
    )
    assert [row[5:] for row in rows(records, errors="fail")][1] == (False, 0.0)
    assert [row[0] for row in rows(records, errors="drop")] == ["a", "c"]
    assert [row[0] for row in rows(records, invalid="drop")] == ["a", "b"]
    with pytest.raises(bf.InvalidInputError, match="errors='faill' is not one of the options"):
        rows(records, errors="faill")


@pytest.mark.usefixtures("readers")
def test_categories_are_fields_of_the_metadata():
    records = quiz({"about": {"topic": "maths", "tags": ["x"]}}, {"q": "b", "about": {}})
    frame = bf.read_eval(records, category=["topic", "tags"], backend="polars")

    assert frame.select("topic", "tags").rows() == [("maths", '["x"]'), (None, None)]
    assert "category" not in frame.columns
    with pytest.raises(bf.UnknownNameError, match="'topics'"):
        bf.read_eval(records, category="topics")
    with pytest.raises(bf.InvalidInputError, match="category names 'item'"):
        bf.read_eval(records, category=["item"])


@pytest.mark.usefixtures("readers")
def test_models_are_named_where_a_tool_does_not(tmp_path):
    path = write(tmp_path / "run.jsonl", *quiz({}))
    logs = {"v1": path, "v2": quiz({"points": 0.0})}

    assert [row[2::3] for row in rows(logs)] == [("v1", True), ("v2", False)]
    archive = write_archive(tmp_path / "run.eval")
    assert {row[2] for row in rows({"v1": archive})} == {"v1"}  # in place of the model of the log


@pytest.mark.usefixtures("readers")
def test_a_log_without_results_is_an_error(tmp_path):
    path = write(tmp_path / "run.json", HEADER | {"samples": []})
    with pytest.raises(bf.InvalidInputError, match="no sample"):
        bf.read_eval(path)


@pytest.mark.usefixtures("readers")
def test_a_table_is_no_log(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("y,passed\n1,1\n")
    with pytest.raises(bf.InvalidInputError, match="A table of your own needs no reading"):
        bf.read_eval(path)


def test_a_result_without_rows_is_no_success(tmp_path, run):
    failed = [sample(i, 1, "C", scores={}, error={"message": "timeout"}) for i in range(3)]
    path = write_archive(tmp_path / "run.eval", samples=failed)
    done = run("report", path, "--outcome", "passed", "--missing", "drop")

    assert done.code == 2
    assert "--missing drop leaves no row to count" in done.err
    done = run("report", path, "--outcome", "passed", "--eval", "errors=fail")
    assert pl.read_csv(done.out.encode())["rate"][0] == 0


def test_models_are_compared_over_tasks_item_by_item(tmp_path):
    """The second model passes all that the first passes, and 15 items more of each task."""
    paths = []
    for task in ("sums", "products"):
        for model, n_passed in (("one", 5), ("two", 20)):
            samples = [sample(i, 1, "C" if i < n_passed else "I") for i in range(25)]
            about = HEADER["eval"] | {"task": task, "model": model}
            header = HEADER | {"eval": about}
            paths.append(write_archive(tmp_path / f"{task}-{model}.eval", header, samples))
    runs = bf.read_eval(paths, backend="polars")
    out = bf.compare(runs, outcome="passed", model="model", item="item", by="task")

    assert runs["item"].n_unique() == 50  # ids are unique within a task only
    assert out["verdict"].to_list() == ["better", "better"]
    assert bf.compare(runs, outcome="passed", model="model", item="item")["verdict"][0] == "better"


def test_logs_and_tables_are_not_mixed(tmp_path, run):
    log = write_archive(tmp_path / "run.eval")
    table = write(tmp_path / "table.jsonl", {"passed": True})

    done = run("report", log, table, "--outcome", "passed")
    assert (done.code, "table.jsonl' is not a log of a known tool" in done.err) == (2, True)
    done = run("report", tmp_path, "--outcome", "passed", "--missing", "drop")  # as in Python
    assert (done.code, "; 1 file left out" in done.err) == (0, True)


def test_documents_are_read_value_by_value(tmp_path, monkeypatch):
    """Chunks of one character end within every kind of value."""
    monkeypatch.setattr(eval_file, "_CHUNK", 1)
    document = {"n": -12.5e3, "no": None, "a": {"b": [{"c": "]}"}, {"d": [1, {"e": {}}]}], "k": []}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    log = eval_file.EvalFile(path)

    assert log.head == document
    monkeypatch.setattr(eval_file, "_N_OBJECTS", 1)
    assert eval_file.EvalFile(path).head["a"] == {"b": document["a"]["b"][:1], "k": []}
    assert list(log.each("a", "b")) == document["a"]["b"]
    assert list(log.each("a", "k")) == list(log.each("x")) == list(log.each("no")) == []


@cases(
    ("name", "content", "message"),
    [
        ("none.eval", None, "paths={path!r} is no file, folder or pattern of files."),
        (
            "text.eval",
            b"PK\x03\x04 broken",
            "{path!r} is damaged: it is not a complete archive of JSON files.",
        ),
        ("cut.json", b'{"version": 2, "sta', "{path!r} is damaged, or not what its name ends in."),
        (
            "other.json",
            b'{"rows": []}',
            "{path!r} is not a log of a known tool. Known tools are {tools}.",
        ),
        (
            "old.json",
            json.dumps(HEADER | {"version": 1, "samples": []}).encode(),
            "{path!r} is a log of inspect_ai of version 1; the known version is 2.",
        ),
        (
            "new.json",
            b'{"results": {"version": 9, "results": []}}',
            "{path!r} has results of promptfoo of version 9; the known version is 3.",
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

    assert str(caught.value) == message.format(path=str(path), tools=read.tools())


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
