"""The block `model-index` of a model card, as YAML reads it."""

import polars as pl
import pytest

import balframe as bf
from tests.support.audits.random_frames import random_frame
from tests.support.cases import cases

yaml = pytest.importorskip("yaml")


def read(text):
    (key,) = yaml.safe_load(text)
    assert key == "model-index"
    return yaml.safe_load(text)[key]


@pytest.fixture(scope="module")
def frame():
    return random_frame(3)[0]


def test_metrics_are_those_of_all_rows_with_their_intervals(frame):
    page = bf.audit(frame, "y", "p", by="g", words={"title": "A title", "subtitle": "Some rows"})
    (model,) = read(page.model_index())

    (result,) = model["results"]
    assert model["name"] == "A title"
    assert result["task"] == {"type": "tabular-classification"}
    assert result["dataset"] == {"type": "Some rows", "name": "Some rows"}
    accuracy = next(one for one in result["metrics"] if one["type"] == "accuracy")
    (row,) = bf.report(frame, "y", "p", metrics="accuracy", interval=True).to_dicts()
    assert accuracy == {
        "type": "accuracy",
        "value": row["accuracy"],
        "name": "Accuracy",
        "args": {
            "lower": row["accuracy_lower"],
            "upper": row["accuracy_upper"],
            "confidence_level": 0.95,
            "n": frame.height,
            "pos_label": 1,
        },
    }
    metrics = [one["type"] for one in result["metrics"]]
    assert len(set(metrics)) == len(metrics) == 9


def test_names_come_from_the_cover_and_from_options(frame):
    cover = {"system": "A system", "source": ["a table", "a file"]}
    page = bf.audit(frame, "y", "p", cover=cover, words={"title": "A title"})
    (by_cover,) = read(page.model_index())
    (named,) = read(
        page.model_index("me/model", dataset_name="Data", dataset_type="me/d", task_type="a-task")
    )

    assert by_cover["name"] == "A system"
    assert by_cover["results"][0]["dataset"]["name"] == "a table, a file"
    assert named["name"] == "me/model"
    assert named["results"][0]["dataset"] == {"type": "me/d", "name": "Data"}
    assert named["results"][0]["task"] == {"type": "a-task"}


def test_each_model_has_its_own_metrics(frame):
    frame = frame.with_columns(q=1 - pl.col("p"))
    first, second = read(bf.audit(frame, "y", ["p", "q"], words={"title": "T"}).model_index())

    assert [first["name"], second["name"]] == ["T (p)", "T (q)"]
    values = [model["results"][0]["metrics"][0]["value"] for model in (first, second)]
    assert sum(values) == pytest.approx(1)


def test_undefined_metrics_are_left_out():
    page = bf.audit(pl.DataFrame({"y": [0, 0], "p": [0, 0]}), "y", "p", labels=[0, 1])
    (model,) = read(page.model_index())
    metrics = [one["type"] for one in model["results"][0]["metrics"]]

    assert "recall" not in metrics
    assert "specificity" in metrics


@cases(
    "name",
    [
        'a "quoted" name',
        "a: b # c",
        "- x",
        "é \N{SNAKE}",
        "tab\there",
        "line\nbreak",
        "\x7f\x85\u2028\ufeff",
        "yes",
        "1e3",
        "C:\\path",
    ],
)
def test_any_name_is_read_back_as_it_is(frame, name):
    page = bf.audit(frame, "y", "p")
    assert read(page.model_index(name))[0]["name"] == name


def test_small_numbers_are_read_back_as_numbers():
    frame = pl.DataFrame({"y": [0, 0, 1], "p": [0, 1, 1], "n": [10_000_000, 1, 10]})
    text = bf.audit(frame, "y", "p", counts="n").model_index()
    (model,) = read(text)
    values = {one["type"]: one["value"] for one in model["results"][0]["metrics"]}

    assert values["false_positive_rate"] == 1 / 10_000_001
