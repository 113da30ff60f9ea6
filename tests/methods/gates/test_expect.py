"""Segments that are expected: those without rows are judged, and never pass."""

import json
import warnings
from datetime import date, datetime

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

ROWS = {
    "g": ["a"] * 60 + ["c"] * 60 + [None] * 30,
    "size": [1, 2, 2] * 50,
    "y": [1, 0] * 75,
    "p": [1, 0] * 75,
}
ALL = ["a", "c", None]
ABSENT, PART = "expected, but without rows", "an expected segment is without rows"
UNEXPECTED = "not expected"

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")


def judged(frame, rules, expect, by="g", **options):
    """Return the status and the note by the by-columns and the rule."""
    out = plain(
        bf.check(frame, "y", "p", by=by, rules=rules, expect=expect, detail=True, **options)
    )
    names = [by] if isinstance(by, str) else [*by]
    keys = zip(*(out[name] for name in (*names, "rule")), strict=True)
    return dict(zip(keys, zip(out["status"], out["note"], strict=True), strict=True))


@each_constructor
def test_an_absent_segment_never_passes_any_rule(constructor):
    rules = ["accuracy >= 0.1", "n >= 10", "n <= 100", "n_labels <= 2", "recall <= 1"]
    for absent, verdict in ((None, "inconclusive"), ("fail", "fail")):
        expect = bf.expected([*ALL, "b"], absent=absent)
        out = judged(constructor(ROWS), rules, expect)

        assert [out["b", rule] for rule in rules] == [
            (verdict, ABSENT),
            ("fail", ABSENT),  # 0 rows violate it in any case
            (verdict, ABSENT),
            (verdict, ABSENT),
            (verdict, ABSENT),
        ]
        assert {out[g, rule] for g in ALL for rule in rules} == {("pass", None)}


@each_constructor
def test_the_rows_of_absent_segments_are_in_order_and_undefined(constructor):
    expect = ["z", "b", *ALL]
    out = plain(
        bf.check(
            constructor(ROWS), "y", "p", by="g", rules="recall >= 0.1", expect=expect, detail=True
        )
    )

    assert out["g"] == ["a", "b", "c", "z", None]
    for name in ("estimate", "lower", "upper"):
        assert [value is None for value in out[name]] == [False, True, False, True, False]


@each_constructor
def test_a_null_group_can_be_expected(constructor):
    frame = {name: values[:120] for name, values in ROWS.items()}
    for null in (None, float("nan"), pd.NA):
        out = judged(constructor(frame), "n >= 0", ["a", "c", null])
        assert out == {
            ("a", "n >= 0"): ("pass", None),
            ("c", "n >= 0"): ("pass", None),
            (None, "n >= 0"): ("inconclusive", ABSENT),
        }


@cases(
    "options",
    [
        {},
        {"margins": "overall"},
        {"cluster": "size"},
        {"by": ["g", "size"], "margins": "all"},
        {"y_pred": ["p", "q"]},
        {"sample_weight": "w"},
        {"rules": ["recall >= baseline - 0.1", "n >= 40"], "baseline": "q"},
    ],
)
def test_the_other_verdicts_are_those_without_expected_segments(options):
    frame = pl.DataFrame(ROWS | {"q": [1, 1, 0] * 50, "w": [0.5, 2.0, 1.0] * 50})
    asked = {"y_true": "y", "y_pred": "p", "by": "g"}
    asked |= {"rules": ["recall >= 0.9", "balanced_accuracy >= 0.95", "n >= 40"]} | options
    plain_verdicts = bf.check(frame, detail=True, **asked)

    out = bf.check(
        frame, detail=True, **asked, expect=pl.DataFrame({"g": [*ALL, "b"], "size": [1, 2, 1, 2]})
    )

    is_absent = pl.col("note") == ABSENT
    assert out.filter(~is_absent.fill_null(False)).drop("note").equals(plain_verdicts)
    absent = out.filter(is_absent)
    assert {*absent["g"]} <= {"b", None}
    assert {*absent["status"]} <= {"inconclusive", "fail"}
    if options.get("margins") == "all":  # 4 expected segments, of which (b, 2) has no rows
        assert absent.select("grouped_by", "g", "size").unique(maintain_order=True).rows() == [
            ("g, size", "b", 2),
            ("g", "b", None),
        ]
    else:
        assert absent.height == len(asked["rules"]) * (2 if "y_pred" in options else 1)


def test_margins_name_the_absent_roll_ups():
    out = bf.check(
        pl.DataFrame(ROWS), "y", "p", by=["g", "size"], margins="all", rules="n >= 1",
        expect={"g": ["b"], "size": [1]},
    detail=True)  # fmt: skip

    absent = out.filter(pl.col("note") == ABSENT)
    assert absent.select("g", "size", "grouped_by").rows() == [
        ("b", 1, "g, size"),
        ("b", None, "g"),
    ]
    unexpected = out.filter(pl.col("note") == UNEXPECTED)
    assert {*unexpected["grouped_by"]} == {"g, size"}
    assert unexpected.height == 6


@each_constructor
def test_a_mapping_expects_every_combination(constructor):
    frame = {name: values[:61] for name, values in ROWS.items()}  # c, of size 1, has one row
    out = judged(constructor(frame), "n >= 1", {"size": [1, 2], "g": ["a", "c"]}, ["g", "size"])
    assert out == {
        ("a", 1, "n >= 1"): ("pass", None),
        ("a", 2, "n >= 1"): ("pass", None),
        ("c", 1, "n >= 1"): ("pass", None),
        ("c", 2, "n >= 1"): ("fail", ABSENT),
    }

    out = judged(constructor(frame), "n >= 0", {"g": "b"}, ["g", "size"])
    assert {key: value for key, value in out.items() if value[1] == ABSENT} == {
        ("b", 1, "n >= 0"): ("inconclusive", ABSENT),
        ("b", 2, "n >= 0"): ("inconclusive", ABSENT),
    }


@each_constructor
def test_a_frame_expects_its_segments_whatever_else_it_has(constructor):
    frame = constructor(ROWS)
    last_month = constructor(ROWS | {"g": ["a"] * 70 + ["b"] * 80})
    columns = {"by": ["g", "size"], "rules": "n >= 0"}
    segments = [
        last_month,
        bf.confusion(last_month, "y", "p", by=["size", "g"]),
        bf.report(last_month, "y", "p", by=["size", "g"], margins="all"),
        [{"g": g, "size": size} for g in "ab" for size in (1, 2)],
    ]
    for expect in segments:
        out = judged(frame, expect=expect, **columns)
        absent = [key for key, value in out.items() if value == ("inconclusive", ABSENT)]
        unexpected = [key[:2] for key, value in out.items() if value == ("pass", UNEXPECTED)]
        assert absent == [("b", 1, "n >= 0"), ("b", 2, "n >= 0")]
        assert unexpected == [("c", 1), ("c", 2), (None, 1), (None, 2)]


def test_expected_segments_that_are_lazy_are_collected():
    frame = pl.DataFrame(ROWS)
    lazy = pl.LazyFrame({"g": ["b"]})
    assert judged(frame, "n >= 1", lazy)["b", "n >= 1"] == ("fail", ABSENT)
    out = bf.check(frame.lazy(), "y", "p", by="g", rules="n >= 1", expect=lazy, detail=True)
    assert out.collect().filter(g="b")["status"].to_list() == ["fail"]


def test_words_of_options_are_values_like_any_other():
    words = ["rest", "overall", "(all)", "null", "None", "nan", ""]
    frame = pl.DataFrame({"g": words[:3], "y": [1, 0, 1], "p": [1, 0, 1]})
    out = judged(frame, "n >= 0", words, margins="overall")
    assert {g: value for (g, _), value in out.items() if g is not None} == {
        word: ("pass", None) if word in words[:3] else ("inconclusive", ABSENT) for word in words
    }


@cases(
    ("dtype", "expect", "absent"),
    [
        (pl.Enum(["c", "b", "a"]), ["a", "b", "c"], ["b"]),
        (pl.Categorical, ["a", "b", "c"], ["b"]),
        (pl.String, ["a", "b", "c"], ["b"]),
    ],
)
def test_categories_keep_their_order_and_type(dtype, expect, absent):
    rows = pl.DataFrame(ROWS).drop_nulls().with_columns(pl.col("g").cast(dtype))
    out = bf.check(rows, "y", "p", by="g", rules="n >= 1", expect=expect, detail=True)
    order = ["c", "b", "a"] if isinstance(dtype, pl.Enum) else ["a", "b", "c"]
    assert out["g"].to_list() == order
    assert out["g"].dtype == dtype
    assert out.filter(pl.col("note") == ABSENT)["g"].to_list() == absent


def test_pandas_categories_keep_their_order():
    kind = pd.CategoricalDtype(["c", "b", "a"])
    rows = pd.DataFrame(ROWS).dropna().astype({"g": kind})
    out = bf.check(rows, "y", "p", by="g", rules="n >= 1", expect=["a", "b", "c"], detail=True)
    assert out["g"].tolist() == ["c", "b", "a"]
    assert out["g"].dtype == kind
    assert out["status"].tolist() == ["pass", "fail", "pass"]


@cases(
    ("values", "expect", "absent"),
    [
        ([1, 2], [1.0, 2, 3], [3]),
        ([1, 2], [True, 2.0], []),
        ([True, False], [1, 0], []),
        ([date(2026, 1, 1), date(2026, 1, 2)], [date(2026, 1, 3)], [date(2026, 1, 3)]),
        (
            [datetime(2026, 1, 1), datetime(2026, 1, 2)],
            [date(2026, 1, 1), date(2026, 1, 3)],
            [datetime(2026, 1, 3)],
        ),
    ],
)
@each_constructor
def test_equal_values_are_the_same_segment(constructor, values, expect, absent):
    frame = constructor({"g": values, "y": [1, 0], "p": [1, 0]})
    out = judged(frame, "n >= 1", expect)
    assert [key[0] for key, value in out.items() if value == ("fail", ABSENT)] == absent
    assert len(out) == 2 + len(absent)


@cases(
    ("dtype", "values", "expect", "result"),
    [
        (pl.Int8, [1, 2], 300, pl.Int64),
        (pl.UInt8, [1, 2], -1, pl.Int64),
        (pl.Boolean, [True, False], 2, pl.Int64),
        (pl.Enum(["a", "b"]), ["a", "b"], "c", pl.String),
        (pl.Null, [None, None], 0.5, pl.Float64),
        (pl.Null, [None, None], -1, pl.Int64),
        (pl.Null, [None, None], "a", pl.String),
    ],
)
def test_a_segment_that_the_type_of_the_column_lacks_is_absent(dtype, values, expect, result):
    """As in pandas, whose categories are often those of the rows."""
    frame = pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": pl.Series(values, dtype=dtype)})
    asked = {"y_true": "y", "y_pred": "p", "by": "g", "rules": "n >= 1", "expect": [expect]}

    eager = bf.check(frame, detail=True, **asked)

    assert eager.schema["g"] == result
    assert eager.filter(pl.col("g") == expect)["status"].to_list() == ["fail"]
    assert bf.check(frame.lazy(), detail=True, **asked).collect().equals(eager)
    in_pandas = plain(bf.check(frame.to_pandas(), detail=True, **asked))
    assert in_pandas["g"] == eager["g"].to_list()
    assert in_pandas["note"] == eager["note"].to_list()


@cases(
    ("dtype", "values", "expect"),
    [
        (pl.Int64, [1, 2], 2.5),
        (pl.Int64, [1, 2], 2**70),
        (pl.Boolean, [True, False], 0.5),
        (pl.Datetime("ms"), [datetime(2026, 1, 1)] * 2, datetime(2026, 1, 1, 0, 0, 0, 5)),
    ],
)
@cases("form", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_a_segment_that_no_value_of_the_type_equals_is_refused(form, dtype, values, expect):
    frame = form(pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": pl.Series(values, dtype=dtype)}))

    with pytest.raises(bf.InvalidInputError) as raised:
        bf.check(frame, "y", "p", by="g", rules="n >= 1", expect=[expect], detail=True)

    assert f"column 'g' cannot hold {expect!r}, which expect= has for it" in str(raised.value)


@each_constructor
def test_differences_ratios_and_numbers_of_segments_do_not_pass_without_a_segment(constructor):
    rules = ["difference(accuracy) <= 0.9", "ratio(accuracy) >= 0.1", "n_segments >= 3"]
    frame = constructor(ROWS)
    assert set(judged(frame, rules, ALL).values()) == {("pass", None)}
    for absent, verdict in ((None, "inconclusive"), ("fail", "fail")):
        expect = bf.expected([*ALL, "b"], absent=absent)
        out = judged(frame, [*rules, "n_segments >= 4"], expect)
        assert [out[None, rule] for rule in rules] == [(verdict, PART)] * 3
        assert out[None, "n_segments >= 4"] == ("fail", PART)


@each_constructor
def test_the_number_of_segments_is_that_of_segments_with_rows(constructor):
    rows = ROWS | {"p": [*ROWS["p"][:120], *[None] * 30]}
    rules = ["n_segments >= 3", "n_segments == 2", {"rule": "n_segments <= 1", "where": {"g": "a"}}]
    out = plain(
        bf.check(
            constructor(rows),
            "y",
            "p",
            by=["g"],
            rules=rules,
            missing="drop",
            margins="overall",
            detail=True,
        )
    )
    assert out["estimate"] == out["lower"] == out["upper"] == [2, 2, 1]
    assert out["status"] == ["fail", "pass", "pass"]
    assert out["grouped_by"] == ["g"] * 3
    with pytest.raises(bf.InvalidInputError, match="by= is missing, but a rule on n_segments"):
        bf.check(constructor(ROWS), "y", "p", rules="n_segments >= 1", detail=True)
    with pytest.raises(bf.InvalidInputError, match="compared with a number, not with the baseline"):
        bf.check(constructor(ROWS), "y", "p", by="g", rules="n_segments >= baseline", detail=True)


def test_where_and_a_baseline_have_the_same_verdict_as_no_option():
    """A group that is gone: one answer, whichever way a gate is written."""
    frame = pl.DataFrame(ROWS)
    before = pl.DataFrame(ROWS | {"g": ["a"] * 60 + ["b"] * 60 + ["c"] * 30})
    cells = bf.confusion(before, "y", "p", by="g")
    asked = {"y_true": "y", "y_pred": "p", "by": "g"}
    where = {"rule": "recall >= 0.1", "where": {"g": ["b"]}}
    relative = "recall >= baseline - 0.5"
    for absent, verdict in (("inconclusive", "inconclusive"), ("fail", "fail")):
        for rules, options in (
            ("recall >= 0.1", {}),
            (where, {}),
            ([where, relative], {"baseline": cells}),
        ):
            options |= {"rules": rules, "expect": bf.expected([*ALL, "b"], absent=absent)}
            out = bf.check(frame, detail=True, **asked, **options)
            assert {*out.filter(g="b")["status"]} == {verdict}
            assert {*out.filter(g="b")["note"]} == {ABSENT}
            with pytest.raises(bf.CheckFailed) as raised:
                bf.require(frame, **asked, **options)
            assert f"{verdict}: recall >= " in str(raised.value)
            assert "no rows where g is b" in str(raised.value)
            assert not bf.passed(out)

    fails = bf.expected(None, absent="fail")
    out = bf.check(frame, detail=True, rules=relative, baseline=cells, expect=fails, **asked)
    assert out.select("g", "status", "n").row(1) == ("b", "fail", 0)
    assert "note" not in out.columns
    with pytest.raises(bf.UnknownNameError, match="A segment that may be absent belongs in"):
        bf.check(frame, detail=True, **asked, rules=where)


def test_a_frame_without_rows_has_verdicts_on_expected_segments():
    frame = pl.DataFrame(ROWS).clear()
    rules = ["recall >= 0.1", "difference(recall) <= 0.9", "n_segments >= 1"]
    out = judged(frame, rules, ["a", None])
    assert out == {
        ("a", "recall >= 0.1"): ("inconclusive", ABSENT),
        (None, "recall >= 0.1"): ("inconclusive", ABSENT),
        (None, "difference(recall) <= 0.9"): ("inconclusive", PART),
        (None, "n_segments >= 1"): ("fail", PART),
    }


def test_a_segment_whose_rows_are_all_left_out_is_absent():
    rows = ROWS | {"p": [*ROWS["p"][:60], *[None] * 60, *ROWS["p"][120:]]}
    out = judged(pl.DataFrame(rows), ["n >= 0", "recall >= 0.1"], ALL, missing="drop")
    assert out["c", "n >= 0"] == out["c", "recall >= 0.1"] == ("inconclusive", ABSENT)


@pytest.mark.filterwarnings("default::balframe.BalframeWarning")
def test_a_segment_that_is_not_expected_is_named():
    frame = pl.DataFrame(ROWS | {"g": ["a\x1b"] * 60 + ["c"] * 60 + [None] * 30})
    words = r"2 segments are not expected: 'g' is 'a\\x1b'; 'g' is null\. If they should occur, add"
    for call in (bf.check, bf.require):
        with pytest.warns(bf.BalframeWarning, match=words):
            call(frame, "y", "p", by="g", rules="n >= 1", expect=["c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bf.require(frame, "y", "p", by="g", rules="n >= 1", expect=["a\x1b", *ALL[1:]])
    many = pl.DataFrame({"g": range(20), "y": 1, "p": 1})
    with pytest.warns(bf.BalframeWarning, match="19 segments are not.*; and 9 more. If they"):
        bf.check(many, "y", "p", by="g", rules="n >= 1", expect=[0], detail=True)


@cases("form", ["toml", "yaml", "mapping"])
def test_rule_files_have_expected_segments(tmp_path, form):
    expect = {"g": ["a", "b", "c"]}
    rules = {"rules": ["n >= 0"], "expect": expect, "absent_segments": "fail"}
    if form == "toml":
        rules = tmp_path / "gate.toml"
        rules.write_text(
            'rules = ["n >= 0"]\nexpect = {g = ["a", "b", "c"]}\nabsent_segments = "fail"\n'
        )
    elif form == "yaml":
        path = tmp_path / "gate.yaml"
        path.write_text(json.dumps(rules))
        rules = path
    frame = pl.DataFrame(ROWS)

    out = bf.check(frame, "y", "p", by="g", rules=rules, detail=True)

    assert out.filter(g="b")["status"].to_list() == ["fail"]
    assert out["note"].to_list() == [None, ABSENT, None, UNEXPECTED]
    both = bf.check(frame, "y", "p", by="g", rules=rules, expect=[None, "z"], detail=True)
    assert both["note"].to_list() == [None, ABSENT, None, ABSENT, None]
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(frame, "y", "p", by="g", rules=rules)
    assert raised.value.frame.equals(out)


def test_several_rule_files_expect_the_segments_of_all(tmp_path):
    first, second = tmp_path / "one.toml", tmp_path / "two.toml"
    first.write_text('rules = ["n >= 0"]\nexpect = ["a", "b"]\n')
    second.write_text('rules = ["recall >= 0.1"]\nabsent_segments = "fail"\nexpect = ["z"]\n')
    out = judged(pl.DataFrame(ROWS), [first, second], None)
    assert [key for key, value in out.items() if value == ("fail", ABSENT)] == [
        (g, rule) for g in "bz" for rule in ("n >= 0", "recall >= 0.1")
    ]


@cases(
    ("expect", "options", "error", "words"),
    [
        (["a"], {"by": None}, bf.InvalidInputError, "expect= has segments, but there is no by-"),
        ("a", {}, bf.UnsupportedTypeError, "expect= has the type str; give a list of values"),
        (5, {}, bf.UnsupportedTypeError, "expect= has the type int; give a list of values"),
        ([], {}, bf.InvalidInputError, "expect= has no segment; give a list of values"),
        ({}, {}, bf.InvalidInputError, "expect= has no segment; give a list of values"),
        ({"g": []}, {}, bf.InvalidInputError, "expect= has no segment; give a list of values"),
        (pl.DataFrame({"g": []}), {}, bf.InvalidInputError, "expect= has no segment"),
        ({"G": ["a"]}, {}, bf.UnknownNameError, "expect=: by-column 'G' not found"),
        (pl.DataFrame({"h": [1]}), {}, bf.UnknownNameError, "expect=: column 'g' not found"),
        ([1], {}, bf.InvalidInputError, "column 'g' holds strings, but expect= has numbers"),
        ([["a"]], {}, bf.InvalidInputError, "column 'g' holds strings, but expect= has values of"),
        (
            ["a"],
            {"by": ["g", "size"]},
            bf.InvalidInputError,
            "there are the by-columns 'g', 'size'",
        ),
        ([{"g": "a"}, {"size": 1}], {"by": ["g", "size"]}, bf.InvalidInputError, "different col"),
        (
            ["b"],
            {"rules": {"rule": "n >= 1", "where": {"g": "a"}}},
            bf.InvalidInputError,
            "a segment is expected and without rows, and no rule applies to it: 'g' is 'b'",
        ),
        (
            None,
            {"rules": {"rules": "n >= 1", "expected": ["a"]}},
            bf.InvalidInputError,
            "unexpected key 'expected' beside 'rules'; only 'expect', 'absent_segments' are",
        ),
    ],
)
def test_what_cannot_be_expected_raises(expect, options, error, words):
    asked = {"by": "g", "rules": "n >= 1"} | options
    with pytest.raises(error) as raised:
        bf.check(pl.DataFrame(ROWS), "y", "p", expect=expect, detail=True, **asked)
    assert words in str(raised.value)


def test_expected_values_of_two_types_are_refused_without_rows():
    with pytest.raises(bf.InvalidInputError, match="expect= has strings and numbers for col"):
        bf.check(pl.LazyFrame(ROWS), "y", "p", by="size", rules="n >= 1", expect=["x", 1])


def test_an_error_in_a_file_of_rules_names_the_file(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('rules = ["n >= 1"]\nexpect = "segments.csv"\n')

    for ask in (bf.check, bf.audit):
        with pytest.raises(bf.UnsupportedTypeError) as raised:
            ask(pl.DataFrame(ROWS), "y", "p", by="g", rules=path)
        assert str(raised.value).startswith(f"{path}: expect= has the type str; give a list of ")


def test_absence_cannot_fail_where_nothing_is_expected(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('rules = ["n >= 1"]\nabsent_segments = "fail"\n')
    frame = pl.DataFrame(ROWS)

    fails = bf.expected(None, absent="fail")
    for options in ({"rules": "n >= 1", "expect": fails}, {"rules": path}):
        with pytest.raises(bf.InvalidInputError) as raised:
            bf.check(frame, "y", "p", by="g", detail=True, **options)
        assert str(raised.value) == (
            'absent="fail" is given, but no segment is expected; name the segments that must have '
            "rows in expect=."
        )
    with pytest.raises(bf.InvalidInputError, match='absent="fail" is given, but no seg'):
        bf.audit(frame, "y", "p", by="g", rules=path)
    assert judged(frame, path, [*ALL, "b"])["b", "n >= 1"] == ("fail", ABSENT)


def test_periods_are_those_of_the_data():
    days = [date(2026, 1, 5)] * 60 + [date(2026, 2, 5)] * 90
    frame = pl.DataFrame(ROWS | {"day": days, "g": ["a"] * 60 + ["b"] * 30 + ["a"] * 60})
    cells = bf.confusion(frame, "y", "p", by=["g", "day"])
    out = bf.check(
        cells, "y", "p", by=["g", "day"], rules="n >= 1", expect={"g": ["a", "b"]}, detail=True
    )
    assert out.filter(pl.col("note") == ABSENT).select("g", "day").rows() == [("b", days[0])]
