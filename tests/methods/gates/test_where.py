"""Rules that are limited to some segments, and the reasons of rules."""

from datetime import date, datetime

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

ROWS = {
    "g": ["a", "a", "b", None, None, "c"], "size": [1, 2, 1, 1, 2, 2], "y": [1, 0, 1, 0, 1, 1],
    "p": [1, 0, 0, 0, 1, 1],
}  # fmt: skip


def judged(constructor, rules, by=("g",), columns=None, **options):
    """Give the rows of verdicts up to the rule, and their estimate."""
    frame = constructor(ROWS | (columns or {}))
    options = {"by": list(by), "level": None, "rules": rules, **options}
    out = plain(bf.check(frame, "y", "p", **options))
    names = [*list(out)[: list(out).index("rule")], "estimate"]
    return list(zip(*(out[name] for name in names), strict=True))


@cases(
    ("values", "expected"),
    [
        ("a", [("a", 2)]), (["a"], [("a", 2)]), (("c", "a"), [("a", 2), ("c", 1)]),
        (None, [(None, 2)]), ([None, "b"], [("b", 1), (None, 2)]), (float("nan"), [(None, 2)]),
    ])  # fmt: skip
@each_constructor
def test_a_rule_applies_to_the_segments_that_where_names(constructor, values, expected):
    assert judged(constructor, {"rule": "n >= 1", "where": {"g": values}}) == expected


@each_constructor
def test_a_segment_must_match_all_columns_of_where(constructor):
    by = ("size", "g")
    rule = {"rule": "n >= 1", "where": {"g": ["a", "b"], "size": 1}}
    assert judged(constructor, rule, by) == [(1, "a", 1), (1, "b", 1)]
    assert judged(constructor, {"rule": "n >= 1", "where": {"size": 2.0}}, ("size",)) == [(2, 3)]
    assert len(judged(constructor, {"rule": "n >= 1", "where": {}}, by)) == 6


@each_constructor
def test_a_null_in_where_does_not_match_roll_ups(constructor):
    rule = {"rule": "n >= 1", "where": {"g": None}}
    found = judged(constructor, rule, ("g", "size"), margins="all")
    assert found == [(None, 1, "g, size", 1), (None, 2, "g, size", 1), (None, None, "g", 2)]
    rule = {"rule": "n >= 1", "where": {"size": None}}
    with pytest.raises(KeyError, match=r"applies where {'size': \[None\]}, and no segment has"):
        bf.check(pl.DataFrame(ROWS), "y", "p", rules=rule, by=["g", "size"], margins="all")


@each_constructor
def test_differences_use_only_the_segments_of_where(constructor):
    by_hand = [(None, 1.0), (None, 0.0)]  # accuracies 1 of a, 0 of b, 1 of null and of c
    rules = [
        {"rule": "difference(accuracy) <= 1", "where": {"g": ["a", "b"]}},
        {"rule": "difference(accuracy) <= 0", "where": {"g": ["a", None, "c"]}},
    ]
    assert judged(constructor, rules) == by_hand
    margins = judged(constructor, rules[0], ("g", "size"), margins="all")
    assert [margin for *_, margin, _ in margins] == ["g, size", "g"]


@each_constructor
def test_values_that_do_not_occur_and_columns_not_in_by_raise(constructor):
    cases = [
        (
            {"g": "z"},
            r"the rule 'n >= 1' applies where 'g' is 'z', which does not occur in the data\.",
        ),
        ({"g": ["a", 5]}, "where 'g' is 5, which does not occur .* Check its quotes, as of text"),
        ({"g": [["a"]]}, r"applies where 'g' is \['a'\], which does not occur"),
        ({"G": "a"}, r"'where' of the rule 'n >= 1': by-column 'G' not found.*By-columns: g\."),
        ({"y": 1}, r"'where' of the rule 'n >= 1': by-column 'y' not found"),
        ({"g": []}, r"applies where {'g': \[\]}, and no segment has"),
    ]
    for where, words in cases:
        with pytest.raises(bf.UnknownNameError, match=words):
            judged(constructor, {"rule": "n >= 1", "where": where})
    rule = {"rule": "n >= 1", "where": {"g": "a", "size": 3}}
    with pytest.raises(
        bf.UnknownNameError, match="applies where 'size' is 3, which does not occur"
    ):
        judged(constructor, rule, ("g", "size"))


@each_constructor
def test_values_that_never_occur_in_the_same_segment_raise(constructor):
    rule = {"rule": "n >= 1", "where": {"g": "b", "size": 2}}
    with pytest.raises(bf.UnknownNameError, match=r"'size'.*and no segment has"):
        judged(constructor, rule, ("g", "size"))


@cases("kind", [date, datetime])
@each_constructor
def test_where_in_toml_matches_dates_and_integers(constructor, tmp_path, kind):
    path = tmp_path / "gate.toml"
    path.write_text("[[rules]]\nrule = 'n >= 1'\nwhere = { day = [2026-01-02], size = 1 }\n")
    days = [kind(2026, 1, day) for day in (1, 1, 2, 2, 2, 2)]
    ((day, size, n),) = judged(constructor, path, ("day", "size"), {"day": days})
    assert (str(day)[:10], size, n) == ("2026-01-02", 1, 2)


@each_constructor
def test_the_reason_of_a_rule_is_returned_in_its_row(constructor):
    rules = ["n >= 2", {"rule": "n >= 1", "reason": "law [5]\nand more"}]
    rules.append({"rule": "accuracy >= 0", "reason": ""})
    out = plain(bf.check(constructor(ROWS), "y", "p", rules=rules, level=None))
    assert list(out)[:3] == ["rule", "reason", "estimate"]
    assert out["reason"] == [None, "law [5]\nand more", ""]
    same = [{"rule": rule, "reason": "x"} for rule in ("n >= 2", "n >= 1")]
    assert plain(bf.check(constructor(ROWS), "y", "p", rules=same))["reason"] == ["x", "x"]


@each_constructor
def test_the_reason_column_is_omitted_without_reasons(constructor):
    out = bf.check(constructor(ROWS), "y", "p", rules={"rule": "n >= 2"})
    assert "reason" not in plain(out)


def test_bands_and_months_of_pandas_are_named_by_their_texts():
    ages, days = [20, 30, 30, 40], pd.to_datetime(["2026-01-05", "2026-01-20", "2026-02-01"] * 2)
    frame = pd.DataFrame(
        {"y": [1, 1, 0, 1], "p": [1, 0, 0, 1], "band": pd.cut(ages, [0, 25, 35, 50])}
    )
    frame["month"] = days[:4].to_period("M")
    for column, text, accuracy in (("band", "(25, 35]", 1 / 2), ("month", "2026-01", 2 / 3)):
        rule = {"rule": "accuracy >= 0.2", "where": {column: text}}
        out = bf.check(frame, "y", "p", by=column, rules=[rule], level=None)
        assert [str(value) for value in out[column]] == [text]
        assert out["estimate"].tolist() == [accuracy]
    out = bf.gaps(frame, "y", "p", by="band", metrics="accuracy", reference="(25, 35]")
    assert out["difference"].tolist() == [1 / 2, 0, 1 / 2]
