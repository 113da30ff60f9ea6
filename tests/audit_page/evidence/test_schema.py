"""The evidence is as its schema says, and the schema says everything."""

import copy
import json
from datetime import date

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.page import Page
from tests.support.audits.random_frames import random_frame
from tests.support.audits.small_audits import random_rows
from tests.support.cases import cases

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = Page.evidence_schema()


def problems(evidence):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(evidence)]


def objects(schema):
    """Iterate over all descriptions of mappings in the schema."""
    if isinstance(schema, dict):
        if "properties" in schema and not isinstance(schema["properties"].get("type"), str):
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_the_schema_is_one_of_draft_2020_12():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_requires_every_field_and_allows_no_other():
    descriptions = [part for part in objects(SCHEMA) if part is not SCHEMA["$defs"]["cover"]]
    assert len(descriptions) > 20
    for part in descriptions:
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False


def test_the_schema_describes_every_field():
    for part in objects(SCHEMA):
        for name, field in part["properties"].items():
            reference = field.get("$ref", "").rpartition("/")[2]
            description = field.get("description") or SCHEMA["$defs"].get(reference, {}).get(
                "description"
            )
            assert description, name


def test_evidence_of_random_audits_is_valid(random_evidence, compas):
    for evidence in (compas, *random_evidence):
        assert problems(evidence) == []


def test_every_list_has_records_in_some_random_audit(random_evidence):
    """Else the schema of its records would be tested by nothing."""
    lists = [name for name, value in SCHEMA["properties"].items() if value.get("type") == "array"]
    kinds = {record["kind"] for one in random_evidence for record in one["comparisons"]}
    for name in lists:
        assert any(evidence[name] for evidence in random_evidence), name
    assert kinds == set(SCHEMA["$defs"]["comparison"]["properties"]["kind"]["enum"])


def test_evidence_of_small_audits_is_valid():
    """Of a single row, of one outcome, of nulls in groups, and of groups that are too small."""
    for seed in range(12):
        by = [["g"], ["g", "h"], None][seed % 3]
        evidence = bf.audit(random_rows(seed), "y", ["p", "q"][: 1 + seed % 2], by=by).evidence()
        assert problems(evidence) == []


def test_evidence_with_a_cover_is_valid(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("y,p\n1,1\n0,1\n")
    cover = {
        "system": "A system",
        "date": date(2026, 5, 1),
        "version": 1.5,
        "excluded": ["one reason", "another"],
        "files": [data],
        "contact": "Jane Doe",
    }
    evidence = bf.audit(pl.read_csv(data), "y", "p", cover=cover).evidence()

    assert problems(evidence) == []
    assert [evidence["cover"][key] for key in ("date", "version", "contact")] == [
        "2026-05-01",
        "1.5",
        "Jane Doe",
    ]
    assert evidence["cover"]["files"][0]["name"] == "data.csv"


def test_evidence_of_several_labels_of_dates_and_of_withheld_counts_is_valid():
    frame, options = random_frame(5)
    dates = [date(2026, 1, day) for day in (1, 2, 3)]
    labels = pl.Series([dates[i % 3] for i in range(frame.height)])
    by_date = frame.with_columns(day=labels, t=labels, u=labels.reverse())
    pages = [
        bf.audit(by_date, "y", "p", by="day"),
        bf.audit(by_date, "t", "u", by="g"),
        bf.audit(frame, "y", "p", by=options["by"], suppress=5),
    ]

    evidence = [page.evidence() for page in pages]

    assert [problems(one) for one in evidence] == [[], [], []]
    groups = {json.dumps(figure["group"]) for figure in evidence[0]["figures"]}
    assert '{"day": "2026-01-02"}' in groups
    assert {figure["pos_label"] for figure in evidence[1]["figures"]} == {
        None,
        "2026-01-01",
        "2026-01-02",
        "2026-01-03",
    }


def first_records(evidence):
    """Return evidence with the first record of each list, which is soon validated."""
    return {
        name: value[:1] if isinstance(value, list) else value for name, value in evidence.items()
    }


def changed(evidence, path, value):
    """Return a copy with another value at a path; a function gets the old value."""
    evidence = copy.deepcopy(evidence)
    *first, last = path
    place = evidence
    for step in first:
        place = place[step]
    place[last] = value
    return evidence


@cases(
    ("path", "value"),
    [
        (("schema",), "balframe.audit/2"),
        (("fingerprint",), "0" * 63),
        (("further",), 1),
        (("figures", 0, "further"), 1),
        (("figures", 0, "estimate"), "0.5"),
        (("figures", 0, "n"), -1),
        (("figures", 0, "n"), 1.5),
        (("figures", 0, "kind"), "share"),
        (("figures", 0, "interval_level"), 95),
        (("comparisons", 0, "established"), None),
        (("comparisons", 0, "kind"), "gap"),
        (("comparisons", 0, "p_value"), 1.5),
        (("comparisons", 0, "compared_with"), "all others"),
        (("comparisons", 0, "null_value"), 0.5),
        (("combinations", 0, "established"), False),
        (("rules", 0, "verdict"), "passed"),
        (("options", "level"), 1),
        (("options", "words", "unit"), ["row"]),
        (("adjustment", "method"), "holm"),
        (("cover",), {"files": [{"name": "a.csv"}]}),
        (("statements", 0), "A sentence."),
    ],
)
def test_a_planted_change_is_found(compas, path, value):
    evidence = first_records(compas)
    assert problems(evidence) == []
    assert problems(changed(evidence, path, value))


def test_a_field_that_is_left_out_is_found(compas):
    evidence = first_records(compas)
    for name in ("figures", "comparisons", "rules", "combinations", "examined"):
        for field in evidence[name][0]:
            record = {key: value for key, value in evidence[name][0].items() if key != field}
            assert problems({**evidence, name: [record]}), (name, field)
