"""Values of options that belong together: what they stand for, and where they are refused."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

FRAME = pl.DataFrame({"g": ["a", "a", "b"], "y": [1, 0, 1], "p": [1, 0, 0], "o": [1, 0, 1]})
PART = pl.DataFrame({"y": [1, 0, None] * 9, "p": [1, 0, 0] * 9})


@cases(
    ("call", "value", "plain"),
    [
        (bf.report, {"labels": bf.label_set([1, 0])}, {"labels": [1, 0]}),
        (bf.report, {"labels": bf.label_set()}, {}),
        (bf.check, {"rules": "n >= 1", "expect": bf.expected(["b"])}, {"expect": ["b"]}),
        (bf.check, {"rules": "n >= 1", "expect": bf.expected(None)}, {}),
        (bf.power, {"rules": "accuracy >= 0.1", "design": bf.design()}, {"design": None}),
    ],
)
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_a_value_without_other_parts_is_its_plain_form(call, value, plain):
    rules = {name: value[name] for name in value if name == "rules"}

    out = call(FRAME, "y", "p", by="g", **value)

    assert out.equals(call(FRAME, "y", "p", by="g", **rules, **plain))


def test_a_correction_is_its_plain_form():
    plain = bf.report(PART, "y", "p", metrics="accuracy", missing="correct")

    assert bf.report(PART, "y", "p", metrics="accuracy", missing=bf.correct()).equals(plain)
    assert PART.bal.report("y", "p", metrics="accuracy", missing=bf.correct()).equals(plain)


def test_an_absent_label_counts_as_zero_in_report_and_in_a_gate():
    labels = bf.label_set([0, 1, 2], absent="zero")

    score = bf.report(FRAME, "y", "p", labels=labels, metrics="balanced_accuracy").item(0, -1)
    rule = "balanced_accuracy >= 0.5"
    verdict = bf.check(FRAME, "y", "p", labels=labels, rules=rule, level=None)

    assert score == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert (verdict["estimate"].item(), verdict["status"].item()) == (score, "pass")


@cases(
    ("call", "options", "message"),
    [
        (
            bf.report,
            {"missing": bf.label_set()},
            "missing= does not take what bf.label_set returns",
        ),
        (bf.report, {"level": bf.label_set()}, "level= .* returns; give it as labels=."),
        (bf.gaps, {"by": bf.correct()}, "by= .* bf.correct returns; give it as missing=."),
        (bf.gaps, {"labels": bf.label_set(absent="zero")}, "bf.label_set gives 'absent', which"),
        (bf.confusion, {"missing": bf.correct(doubt=2)}, "bf.correct gives 'doubt', which"),
        (
            bf.compare,
            {"missing": bf.correct()},
            "missing='correct' is not one of .*'raise', 'drop'",
        ),
        (bf.report, {"design": bf.design()}, "option 'design' not found"),
        (bf.power, {"rules": "n >= 1", "design": {"trials": 2}}, "is not a plan; give what bf.des"),
        (bf.report, {"doubt": 2}, r"'doubt' not found: .*missing=bf.correct\("),
        (bf.report, {"absent": "zero"}, r"'absent' not found: .*labels=bf.label_set\("),
        (bf.gaps, {"by": "g", "absent": "zero"}, r"'absent' not found. help\(bf.gaps\) lists"),
        (bf.check, {"absent_segments": "fail"}, r"not found: .*expect=bf.expected\("),
        (bf.check, {"decide": "estimate"}, "'decide' not found: level=None decides"),
        (bf.check, {"interval": "wilson"}, "'interval' not found"),
        (bf.report, {"cells": True}, "'cells' not found: a result of confusion is known"),
        (bf.report, {"level": None, "interval": True}, "level=None is not a confidence level"),
        (bf.audit, {"by": "g", "words": {"titel": "x"}}, "words=.* but has 'titel'; give words"),
        (bf.audit, {"by": "g", "words": "x"}, "words='x' is not a mapping of 'title'"),
        (bf.audit, {"by": "g", "title": "x"}, r"'title' not found: .*words=\{"),
    ],
)
def test_other_places_and_forms_are_refused(call, options, message):
    y_pred = ["p", "o"] if call is bf.compare else "p"
    with pytest.raises(bf.BalframeError, match=message):
        call(FRAME, "y", y_pred, **options)


@cases(
    ("make", "message"),
    [
        (lambda: bf.label_set(absent="none"), "absent='none' is not one of the options"),
        (lambda: bf.expected(["a"], absent="pass"), "absent='pass' is not one of the options"),
        (lambda: bf.label_set([0], abs="zero"), "'abs' not found; did you mean"),
        (lambda: bf.correct("judge", "p"), "bf.correct takes verdict by position, but 2"),
        (lambda: bf.expected(), "bf.expected needs segments"),
        (lambda: bf.design(0.1), "bf.design takes nothing by position"),
    ],
)
def test_values_with_unknown_parts_are_refused_where_they_are_made(make, message):
    with pytest.raises(bf.BalframeError, match=message):
        make()


@pytest.mark.parametrize("call", [bf.check, bf.require, bf.power, bf.report])
def test_signatures_list_no_parts_and_no_settings(call):
    parts = {"verdict", "label_probability", "doubt", "absent", "absent_segments", "decide"}
    parts |= {"cells", "detail", "backend", "max_cells", "layout", "disagreement", "trials"}

    assert not parts & call.__signature__.parameters.keys()
