"""What surrounds the records: options, statements, and the same bytes whatever holds the rows."""

import json
import re

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.document import Cell, Facts, Table
from balframe.audit_page.evidence.gather import evidence_text
from tests.audit_page.evidence.conftest import people
from tests.support.audits.figures import plain
from tests.support.audits.random_frames import random_frame
from tests.support.audits.suppressed_pages import LEAST, matrices

REQUEST = {"by": ["g", "h"], "words": {"title": "A title"}, "rules": ["recall >= 0.5"]}


@pytest.fixture(scope="module")
def frame():
    return random_frame(2)[0]


def test_pandas_and_polars_give_the_same_bytes_in_any_order_of_rows(frame, tmp_path):
    frame = frame.with_columns(h=pl.when(pl.col("h") == "low").then(1).otherwise(None))
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    of_pandas = pd.DataFrame(frame.to_dict(as_series=False))  # where h is a float beside NaN
    pages = [bf.audit(rows, "y", "p", **REQUEST) for rows in (frame, shuffled, of_pandas)]
    for number, page in enumerate(pages):
        page.save(tmp_path / f"{number}.json")

    first, *others = [(tmp_path / f"{number}.json").read_bytes() for number in range(3)]
    assert others == [first, first]
    assert json.loads(first) == pages[0].evidence()
    assert {"h": 1} in [figure["group"] for figure in pages[0].evidence()["figures"]]


def test_evidence_is_a_copy(frame):
    page = bf.audit(frame, "y", "p")
    page.evidence()["figures"].clear()
    page.evidence_schema().clear()

    assert page.evidence()["figures"]
    assert page.evidence_schema()["title"]


def test_options_and_words_are_those_of_the_call(frame):
    evidence = bf.audit(
        frame,
        "y",
        "p",
        by="g",
        level=0.9,
        min_support=7,
        favourable="selected",
        words={
            "subtitle": "Below",
            "truth": "ill",
            "selected": "treated",
            "unit": ("person", "people"),
        },
    ).evidence()

    options = evidence["options"]
    assert options["columns"] == {
        "y_true": "y",
        "by": ["g"],
        "intersections": [],
        "models": [{"y_pred": "p", "y_score": None}],
        "counts": None,
        "sample_weight": None,
        "cluster": None,
        "time": None,
        "verdict": [],
        "label_probability": None,
    }
    assert [options[name] for name in ("level", "min_support", "favourable", "missing")] == [
        0.9,
        7,
        "selected",
        "raise",
    ]
    assert options["words"]["truth"] == "ill"
    assert options["words"]["unit"] == ["person", "people"]
    assert evidence["adjustment"]["alpha"] == 0.1
    assert evidence["subtitle"] == "Below"
    assert evidence["balframe"] == bf.__version__
    assert evidence["call"].startswith("import balframe as bf\n")


def test_statements_are_the_sentences_of_the_summary(frame):
    page = bf.audit(frame, "y", "p", **REQUEST)
    evidence = page.evidence()

    expected = [
        {"section": section.key, "text": plain(text)}
        for section in page.document.sections
        for text in section.brief
    ]
    assert evidence["statements"] == expected
    assert len(expected) > 5
    assert [one["key"] for one in evidence["sections"]] == [
        section.key for section in page.document.sections
    ]
    assert "Why." in [one["about"] for one in evidence["limitations"]]


def test_every_record_names_a_section_of_the_page(random_evidence):
    for evidence in random_evidence:
        keys = {section["key"] for section in evidence["sections"]}
        for name, records in evidence.items():
            if isinstance(records, list):
                named = {record["section"] for record in records if "section" in record}
                assert named <= keys, name


PERCENT = re.compile(r"(\d+(?:\.\d+)?)% \((\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)\)")


def test_percentages_with_limits_of_the_page_are_in_the_evidence(random_evidence):
    """Each is rounded to the decimals that it is shown with."""
    n_found = 0
    for evidence in random_evidence:
        intervals = list(_intervals(evidence))
        for statement in evidence["statements"]:
            for numbers in PERCENT.findall(statement["text"]):
                assert any(_is_shown(one, numbers, 100) for one in intervals), statement
                n_found += 1
    assert n_found > 100


def test_every_number_with_limits_in_a_table_is_in_the_evidence():
    n_found = dict.fromkeys(SECTIONS_WITH_LIMITS, 0)
    rules = ["recall >= 0.6", "difference(accuracy) <= 0.1"]
    by = ["sex", "race", "age"]
    pages = [bf.audit(people(), "reoffended", "high_risk", by=by, counts="n")]
    for seed in range(8):
        rows, options = random_frame(seed)
        y_pred = options.pop("y_pred", "p")
        pages.append(bf.audit(rows, "y", y_pred, rules=rules, **options))
    for page in pages:
        intervals = list(_intervals(page.evidence()))
        for section, cell in _cells_with_limits(page.document):
            numbers = [*NUMBER.findall(cell.text), *NUMBER.findall(cell.limits)]
            assert len(numbers) == 3, cell
            scale = 1 if section in ("rules", "selections") and "%" not in cell.text else 100
            scales = [1, 100] if section == "calibrated" else [scale]
            assert any(_is_shown(one, numbers, by) for one in intervals for by in scales), (
                section,
                cell,
            )
            n_found[section] += 1
    assert min(n_found.values()) > 1, n_found


SECTIONS_WITH_LIMITS = ("right", "whom", "errors", "chance", "worst", "threshold", "calibrated")
SECTIONS_WITH_LIMITS += ("criteria", "selections", "rules", "models")
NUMBER = re.compile(r"[+\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)?")


def _intervals(part):
    """Iterate over all intervals, wherever they are."""
    if isinstance(part, dict):
        if "estimate" in part and None not in (part["lower"], part["upper"]):
            yield part["estimate"], part["lower"], part["upper"]
        for item in part.values():
            yield from _intervals(item)
    elif isinstance(part, list):
        for item in part:
            yield from _intervals(item)


def _cells_with_limits(document):
    for section in document.sections:
        for block in section.blocks:
            for inner in getattr(block, "blocks", [block]):
                if isinstance(inner, Facts):
                    yield from ((section.key, Cell(x.number, x.limits)) for x in inner.items)
                if isinstance(inner, Table):
                    rows = [row for group in inner.groups for row in group.rows]
                    for row in [*rows, *([inner.total] if inner.total else [])]:
                        cells = [cell for cell in row.cells if " to " in cell.limits]
                        yield from ((section.key, cell) for cell in cells)


def _is_shown(interval, texts, scale):
    """Return whether numbers are those of an interval, rounded as they are shown."""
    for value, text in zip(interval, texts, strict=True):
        digits = text.replace("\N{MINUS SIGN}", "-").replace(",", "")
        error = 0.5 * 10 ** -len(digits.partition(".")[2]) + 1e-9
        if abs(scale * value - float(digits)) > error:
            return False
    return True


def test_withheld_groups_have_no_numbers(suppressed_pages):
    n_withheld = 0
    for rows, options, page in suppressed_pages:
        evidence = page.evidence()
        assert evidence["fingerprint"] is None
        assert evidence["options"]["suppress"] == LEAST
        for column in options["by"]:
            small = {name for name, cells in matrices(rows, column).items() if min(cells) < LEAST}
            withheld = {
                record["group"][column]
                for record in evidence["examined"]
                if record["is_withheld"] and column in record["group"]
            }
            assert small <= withheld
            n_withheld += len(withheld)
            for record in evidence["examined"]:
                if (record["group"] or {}).get(column) in withheld:
                    n = rows.filter(pl.col(column) == record["group"][column]).height
                    assert record["labels"] == []
                    assert record["n"] in (None, n)
                    assert n >= LEAST or record["n"] is None
            for name in ("figures", "comparisons", "combinations", "thresholds", "calibration"):
                for record in evidence[name]:
                    ends = [record["group"], (record.get("compared_with") or {}).get("group")]
                    assert not [end for end in ends if end and end.get(column) in withheld], record
            for rule in evidence["rules"]:
                if (rule["group"] or {}).get(column) in withheld:
                    assert rule["is_withheld"]
                    assert [rule[name] for name in ("estimate", "lower", "upper")] == [None] * 3
    assert n_withheld > 10


def test_text_of_evidence_has_no_constants_that_json_lacks(random_evidence):
    for evidence in random_evidence:
        json.loads(evidence_text(evidence), parse_constant=pytest.fail)


def test_a_small_number_of_rows_that_were_left_out_is_withheld():
    frame = pl.DataFrame({"y": [None] * 3 + [0, 1] * 40, "p": [1] * 3 + [0, 1, 1, 0] * 20})
    evidence = bf.audit(frame, "y", "p", missing="drop", suppress=LEAST).evidence()

    (left_out,), (examined,) = evidence["left_out"], evidence["examined"]
    counts = [value for name, value in left_out.items() if name.startswith("n")]
    assert left_out["is_withheld"]
    assert counts == [None] * 9
    assert (examined["n"], examined["n_missing"], examined["n_only_selected"]) == (80, None, None)


def test_small_counts_of_one_of_several_labels_are_withheld():
    labels = ["a"] * 40 + ["b"] * 40 + ["c"] * 30 + ["d"] * 2
    frame = pl.DataFrame({"y": labels, "p": labels[::-1]})
    (examined,) = bf.audit(frame, "y", "p", suppress=LEAST).evidence()["examined"]

    counts = {one.pop("label"): list(one.values()) for one in examined["labels"]}
    assert counts["d"] == counts["c"] == [None] * 4  # of the two, 32 rows are known together
    assert counts["a"] == [40, 40, 40 / 112, 40 / 112]
