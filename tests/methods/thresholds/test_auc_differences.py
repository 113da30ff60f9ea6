"""Areas of segments against a reference: which it is, and limits of the difference."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.oracles.roc_areas import NAMES, check, close, draw, limits_in, of_difference


def test_differences_of_two_segments_equal_exact_values():
    # a: .9 and .4 against .5 and .1 are right in 3 pairs of 4; b: .8 and .2 against .3 in 1 of 2
    g, y = [*"aaaabbb"], [1, 1, 0, 0, 1, 1, 0]
    frame = pl.DataFrame({"g": g, "y": y, "s": [0.9, 0.4, 0.5, 0.1, 0.8, 0.2, 0.3]})

    rest = bf.ranking(frame, "y", "s", by="g", reference="rest", detail=True)
    of_b = bf.ranking(frame, "y", "s", by="g", reference="b", detail=True)

    assert rest.select(NAMES[:3]).rows() == [("rest", 0.5, 0.25), ("rest", 0.75, -0.25)]
    assert of_b.select(NAMES).row(1) == ("b", 0.5, 0, None, None)
    assert of_b.select(NAMES[1:]).row(0) == pytest.approx(rest.select(NAMES[1:]).row(0))
    a, b = rest.to_dicts()
    expected = of_difference(0.75, limits_in(a), 0.5, limits_in(b))
    assert limits_in(a, "roc_auc_difference") == pytest.approx(expected)
    assert limits_in(b, "roc_auc_difference") == pytest.approx((-expected[1], -expected[0]))


REFERENCES = {
    "a value": ("b", "b"),
    "a mapping": ({"g": "a"}, "a"),
    "a null": ({"g": None}, None),
    "the largest": ("largest", "c"),
}


@cases(("asked", "segment"), REFERENCES.values())
@each_constructor
def test_differences_from_a_reference_segment_equal_two_separate_areas(constructor, asked, segment):
    frame = draw(7, shares=(0.2, 0.2, 0.2, 0.4))
    data = frame.to_dict(as_series=False)

    found = plain(bf.ranking(constructor(data), "y", "s", by="g", reference=asked, detail=True))

    rows = [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]
    (other,) = (row for row in rows if row["g"] == segment)
    assert {row["reference"] for row in rows} == {segment or "null"}
    assert [other[name] for name in NAMES[2:]] == [0, None, None]
    for row in rows:
        if row is not other:
            check(row, other)


@pytest.mark.parametrize(("asked", "choose"), [("best", max), ("worst", min)])
def test_limits_against_a_segment_chosen_by_its_area_allow_for_the_choice(asked, choose):
    frame = draw(8)
    found = bf.ranking(frame, "y", "s", by="g", reference=asked, level=0.9, detail=True).to_dicts()
    level = 1 - 0.1 / (len(found) - 1)
    wide = bf.ranking(frame, "y", "s", by="g", level=level, detail=True).to_dicts()

    chosen = choose((row for row in found if row["g"] != "lone"), key=lambda row: row["roc_auc"])
    (theirs,) = (row for row in wide if row["g"] == chosen["g"])

    for row, own in zip(found, wide, strict=True):
        assert row["reference"] == str(chosen["g"] or "null")
        if row is chosen:
            assert [row[name] for name in NAMES[2:]] == [0, None, None]
        else:
            check(row | {name: own[name] for name in ("roc_auc_lower", "roc_auc_upper")}, theirs)


def test_differences_from_overall_have_no_limits():
    frame = draw(9)
    (whole,) = bf.ranking(frame, "y", "s", sample_weight="w", detail=True).to_dicts()

    found = bf.ranking(
        frame, "y", "s", by="g", reference="overall", sample_weight="w", detail=True
    ).to_dicts()

    for row in found:
        assert row["reference_roc_auc"] == close(whole["roc_auc"])
        assert limits_in(row, "roc_auc_difference") == (None, None)
        if row["g"] != "lone":
            assert row["roc_auc_difference"] == close(row["roc_auc"] - whole["roc_auc"])


def test_reference_columns_are_absent_by_default_and_empty_without_rows():
    frame = draw()
    plain_result = bf.ranking(frame, "y", "s", by="g")

    compared = bf.ranking(frame, "y", "s", by="g", reference="rest")

    assert not set(NAMES) & set(plain_result.columns)
    assert compared.select(plain_result.columns).equals(plain_result)
    for asked in ("rest", "best", "largest", "overall", "b"):
        empty = bf.ranking(frame.clear(), "y", "s", by="g", reference=asked)
        assert empty.schema == compared.schema
        assert empty.height == 0


REFUSED = {
    "no by": ({"by": None}, ValueError, "by=.*ranking with a reference compares segments"),
    "no such segment": (
        {"reference": "z"},
        KeyError,
        "reference='z' does not match any segment.*'a', ",
    ),
    "one of two columns": (
        {"by": ["g", "h"], "reference": "a"},
        ValueError,
        "'g' and 'h'|'g', 'h'",
    ),
    "other columns": ({"reference": {"h": "x"}}, ValueError, "each column of by: 'g'"),
    "a list": ({"reference": ["a"]}, ValueError, "not a single value"),
}


@cases(("options", "kind", "words"), REFUSED.values())
def test_invalid_references_are_refused(options, kind, words):
    with pytest.raises(bf.BalframeError, match=words) as raised:
        bf.ranking(draw(), "y", "s", **{"by": "g", "reference": "rest"} | options)
    assert isinstance(raised.value, kind)


def test_a_reference_that_is_both_option_and_segment_is_refused():
    frame = draw().with_columns(g=pl.lit("rest"))
    with pytest.raises(bf.BalframeError, match="both an option and a value of column 'g'"):
        bf.ranking(frame, "y", "s", by="g", reference="rest")


def test_a_by_column_named_reference_is_refused_only_with_a_reference():
    frame = draw().rename({"g": "reference"})
    assert bf.ranking(frame, "y", "s", by="reference").height == 5
    with pytest.raises(bf.BalframeError, match=r"'reference'.*[Rr]ename"):
        bf.ranking(frame, "y", "s", by="reference", reference="rest")
