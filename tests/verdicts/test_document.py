"""`bf.verdicts_document`: the same dict for the same verdicts, of every library."""

import json
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.api.method import function_parameters
from tests.support.cases import cases
from tests.support.frames.weekly_stream import ASKED, LAST, STREAM

# none of 40 right, all of 400 right, 4 of 5 right
ROWS = pl.DataFrame(
    {"g": ["a"] * 40 + ["b"] * 400 + ["c"] * 5, "y": 1, "p": [0] * 40 + [1] * 404 + [0]}
)
OPTIONS = {"by": "g", "rules": ["accuracy >= 0.7", "n >= 40"], "level": 0.9}


@pytest.fixture(scope="module")
def verdicts():
    return bf.check(ROWS, "y", "p", **OPTIONS)


def errors_of(document):
    """List what the schema has against a document that is written and read again."""
    validator = jsonschema.Draft202012Validator(bf.verdicts_schema())
    read_again = json.loads(json.dumps(document, allow_nan=False))
    return [error.message for error in validator.iter_errors(read_again)]


def test_the_document_has_all_rows_and_their_number_by_status(verdicts):
    found = bf.verdicts_document(verdicts)

    assert list(found) == [
        *("schema", "version", "method", "command", "inputs", "options", "summary", "verdicts")
    ]
    assert (found["schema"], found["version"]) == ("balframe.verdicts/1", bf.__version__)
    assert (found["method"], found["command"], found["options"]) == ("check", None, None)
    assert found["inputs"] == []
    rows = [(row["g"], row["rule"], row["estimate"], row["status"]) for row in found["verdicts"]]
    assert rows == [
        ("a", "accuracy >= 0.7", 0, "fail"),
        ("a", "n >= 40", 40, "pass"),
        ("b", "accuracy >= 0.7", 1, "pass"),
        ("b", "n >= 40", 400, "pass"),
        ("c", "accuracy >= 0.7", 4 / 5, "inconclusive"),
        ("c", "n >= 40", 5, "fail"),
    ]
    assert found["summary"] == {"pass": 3, "fail": 2, "inconclusive": 1, "expected_segments": None}
    assert errors_of(found) == []


def test_every_library_has_the_same_document(constructor, verdicts):
    frame = constructor(ROWS.to_dict(as_series=False))

    of_library = bf.verdicts_document(bf.check(frame, "y", "p", **OPTIONS))

    assert of_library == bf.verdicts_document(verdicts)


def test_a_lazy_result_is_collected(verdicts):
    assert bf.verdicts_document(verdicts.lazy()) == bf.verdicts_document(verdicts)


def test_options_that_are_left_out_have_their_defaults(verdicts):
    options = bf.verdicts_document(verdicts, options=OPTIONS)["options"]

    declared = function_parameters(bf.check)
    left_out = {"frame", "backend", "detail", "y_true"}  # of which the last has no default
    assert list(options) == [name for name in declared if name not in left_out]
    assert {name: options[name] for name in OPTIONS} == OPTIONS
    for name in options.keys() - OPTIONS.keys():
        assert options[name] == declared[name].default


def test_parts_of_values_are_options_of_their_own(verdicts):
    options = {"expect": bf.expected(["a"], absent="fail"), "labels": bf.label_set(absent="skip")}
    options |= {"level": None, "missing": bf.correct("judge", doubt=2)}

    document = bf.verdicts_document(verdicts, options=options)

    written = document["options"]
    assert (written["expect"], written["absent_segments"]) == (["a"], "fail")
    assert (written["labels"], written["absent"]) == (None, "skip")
    assert (written["level"], written["decide"]) == (0.95, "estimate")
    assert [written[name] for name in ("missing", "verdict", "doubt")] == ["correct", "judge", 2]
    assert errors_of(document) == []


@cases(
    ("name", "value", "written"),
    [
        ("y_true", "y", "y"),
        ("rules", Path("/home/me/gate.toml"), "gate.toml"),
        ("rules", "below/gate.yaml", "gate.yaml"),
        ("rules", ["n >= 1", "/srv/gate.toml"], ["n >= 1", "gate.toml"]),
        ("rules", {"n": ">= 1"}, {"n": ">= 1"}),
        ("by", ("g", "a/b.toml"), ["g", "a/b.toml"]),
        ("labels", np.array([0, 1]), [0, 1]),
        ("level", np.float32(0.5), 0.5),
        ("pos_label", date(2026, 3, 31), "2026-03-31"),
        ("class_weight", {0: 0.25, 1: 0.75}, {"0": 0.25, "1": 0.75}),
        ("baseline", pl.DataFrame({"y": [1]}), "a frame of polars"),
        ("expect", pd.DataFrame({"g": ["a"]}), "a frame of pandas"),
        ("expect", {"g": ["a", None]}, {"g": ["a", None]}),
    ],
)
def test_options_are_values_of_json(verdicts, name, value, written):
    document = bf.verdicts_document(verdicts, options={**OPTIONS, name: value})

    assert document["options"][name] == written
    assert errors_of(document) == []


def test_inputs_are_names_with_the_sha_256_of_their_bytes(verdicts, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_bytes(b"y,p\n1,1\n" * 200_000)  # more than a block
    second.write_bytes(b"")
    sums = [sha256(path.read_bytes()).hexdigest() for path in (first, second)]

    listed = bf.verdicts_document(verdicts, inputs=[first, str(second)])
    counted = bf.verdicts_document(verdicts, inputs={first: 7, second: np.int64(0)})

    for document, n in ((listed, (None, None)), (counted, (7, 0))):
        assert document["inputs"] == [
            {"path": "first.csv", "sha256": sums[0], "rows": n[0], "option": None},
            {"path": "second.csv", "sha256": sums[1], "rows": n[1], "option": None},
        ]
        assert errors_of(document) == []


def test_a_command_is_as_it_is_given(verdicts):
    document = bf.verdicts_document(verdicts, command="make gate")

    assert document["command"] == "make gate"


@cases(
    ("rows", "options", "n"),
    [
        ({"g": ["a", "b"]}, {"by": "g", "expect": ["a", "c"]}, 2),
        ({"g": ["a", None]}, {"by": "g", "expect": [None, "c"]}, 2),
        ({"g": ["a", "b"]}, {"by": "g", "expect": ["a", "b"], "margins": "overall"}, 2),
        (
            {"g": ["a", "b"], "h": [1, 1]},
            {"by": ["g", "h"], "expect": {"g": ["a", "b", "c"], "h": [1, 2]}, "margins": "all"},
            6,
        ),
        ({"g": ["a", "b"]}, {"by": "g", "expect": ["a"], "rules": ["n >= 1", "n_segments > 0"]}, 1),
        ({"g": ["a", "b"], "q": [1, 1]}, {"by": "g", "expect": ["a"], "y_pred": ["p", "q"]}, 1),
        ({"note": ["a", "b"]}, {"by": "note"}, None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*not expected")
def test_expected_segments_are_counted_once(rows, options, n):
    frame = pl.DataFrame({**rows, "y": [1, 1], "p": [1, 1]})
    verdicts = bf.check(frame, "y", **{"y_pred": "p", "rules": "n >= 1", **options})

    document = bf.verdicts_document(verdicts)

    assert document["summary"]["expected_segments"] == n
    assert errors_of(document) == []


@cases("library", ["polars", "pandas"])
def test_monitor_has_the_number_of_verdicts_in_the_last_period(library):
    frame = STREAM if library == "polars" else STREAM.to_pandas()
    verdicts = bf.monitor(frame, "y", "yhat", by="site", **ASKED)

    found = bf.verdicts_document(verdicts, options={**ASKED, "by": "site"})

    assert found["method"] == "monitor"
    summary, last = found["summary"], found["verdicts"][-1]
    assert summary["last_period"] == {
        "period": LAST.isoformat(), "ok": 1, "alarm": 1, "inconclusive": 0,
    }  # fmt: skip
    assert summary["ok"] + summary["alarm"] + summary["inconclusive"] == 2 * 20
    assert summary["expected_segments"] is None
    assert (last["site"], last["period"], last["status"]) == ("south", LAST.isoformat(), "ok")
    assert all(row["since"] is None or len(row["since"]) == 10 for row in found["verdicts"])
    assert found["options"]["baseline"] == {"until": "2025-07-06"}
    assert found["options"]["looks"] == 104
    assert errors_of(found) == []


@cases(
    ("value", "written"),
    [
        (date(2026, 3, 31), "2026-03-31"),
        (datetime(2026, 3, 31, 9, 30), "2026-03-31T09:30:00"),
        (2.5, 2.5),
        (float("inf"), "inf"),
        (True, True),
        (None, None),
        (Decimal("1.10"), "1.10"),
    ],
)
def test_values_of_by_columns_are_those_of_json(value, written):
    frame = pl.DataFrame({"g": [value], "y": [1], "p": [1]})

    document = bf.verdicts_document(bf.check(frame, "y", "p", by="g", rules="n >= 1"))

    assert document["verdicts"][0]["g"] == written
    assert type(document["verdicts"][0]["g"]) is type(written)
    assert errors_of(document) == []


def test_names_of_by_columns_are_texts():
    frame = pd.DataFrame({7: ["a"], "y": [1], "p": [1]})

    document = bf.verdicts_document(bf.check(frame, "y", "p", by=7, rules="n >= 1"))

    assert document["verdicts"][0]["7"] == "a"


def test_a_frame_without_rows_has_no_verdicts():
    verdicts = bf.check(ROWS.clear(), "y", "p", **OPTIONS)

    document = bf.verdicts_document(verdicts)

    assert document["summary"] == {
        "pass": 0, "fail": 0, "inconclusive": 0, "expected_segments": None,
    }  # fmt: skip
    assert document["verdicts"] == []
    assert errors_of(document) == []


@cases(
    ("change", "reason"),
    [
        ({"time": "2026-03-31"}, "Additional properties are not allowed"),
        ({"schema": "balframe.verdicts/2"}, "'balframe.verdicts/1' was expected"),
        ({"method": "report"}, "is not one of"),
        ({"inputs": [{"path": "a.csv"}]}, "is a required property"),
        ({"options": {"level": 95}}, "95 is greater than or equal to the maximum of 1"),
        ({"summary": {"pass": 1, "fail": 0, "inconclusive": 0}}, "'expected_segments' is a req"),
        ({"summary": {"expected_segments": None}}, "not valid under any of the given schemas"),
        ({"verdicts": [{"g": "a", "rule": "n >= 1", "estimate": 1, "status": "ok"}]}, "not valid"),
        ({"verdicts": [{"g": ["a"], "rule": "n > 1", "estimate": 1, "status": "fail"}]}, "type"),
    ],
)
def test_the_schema_refuses_other_documents(verdicts, change, reason):
    document = bf.verdicts_document(verdicts)

    assert any(reason in error for error in errors_of({**document, **change}))


@pytest.mark.parametrize("method", ["check", "monitor"])
def test_the_schema_names_statuses_and_options_as_the_methods_do(method):
    schema = bf.verdicts_schema()
    (of_method,) = (
        branch["properties"]
        for branch in schema["oneOf"]
        if branch["properties"]["method"]["const"] == method
    )
    statuses = {"check": {"pass", "fail"}, "monitor": {"ok", "alarm"}}[method] | {"inconclusive"}

    assert {*of_method["verdicts"]["items"]["properties"]["status"]["enum"]} == statuses
    assert statuses <= {*of_method["summary"]["required"]}
    if method == "check":
        declared = function_parameters(bf.check)
        assert schema["properties"]["options"]["properties"].keys() <= declared.keys()


def test_the_schema_is_one_of_json_schema():
    jsonschema.Draft202012Validator.check_schema(bf.verdicts_schema())


@cases(
    ("arguments", "error", "message"),
    [
        ({"options": {"levl": 0.9}}, bf.UnknownNameError, "option 'levl' not found; did you mean"),
        ({"options": [0.9]}, bf.UnsupportedTypeError, "options= has the type list; give a map"),
        ({"inputs": "a.csv"}, bf.InvalidInputError, "the file 'a.csv' cannot be read: No such"),
        ({"inputs": [3]}, bf.InvalidInputError, "inputs= is [3]; give a list of paths"),
        ({"inputs": {"a.csv": -1}}, bf.InvalidInputError, "inputs= has -1 as a number of rows"),
        ({"command": 3}, bf.UnsupportedTypeError, "command has the type int; give a text."),
    ],
)
def test_invalid_arguments_are_refused(verdicts, arguments, error, message):
    with pytest.raises(error) as raised:
        bf.verdicts_document(verdicts, **arguments)

    assert str(raised.value).startswith(message)


def test_a_result_without_verdicts_is_refused():
    result = bf.report(ROWS, "y", "p", by="g", metrics="accuracy")

    with pytest.raises(bf.InvalidInputError) as raised:
        bf.verdicts_document(result)

    assert str(raised.value) == (
        "the frame is a result of report, which has no verdicts; give a result of check or monitor."
    )
