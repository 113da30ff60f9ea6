"""What a caller asks of an audit is checked before a row is read."""

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.request import check_rules
from balframe.errors import BalframeError, InvalidInputError, UnknownNameError
from balframe.methods.gates.rules import read_rules
from tests.support.audits.figures import make_request, plain
from tests.support.cases import cases


def test_rules_that_an_audit_cannot_judge_are_refused():
    options = {"baseline": None, "cluster": None}
    check_rules(read_rules("recall >= 0.5"), ["g"], options)
    elsewhere = read_rules([{"rule": "recall >= 0.5", "where": {"h": "a"}}])
    with pytest.raises(BalframeError, match="is about values of 'h', which is not in by"):
        check_rules(elsewhere, ["g"], options)
    relative = read_rules("recall >= baseline - 0.01")
    with pytest.raises(InvalidInputError, match="compares with a baseline"):
        check_rules(relative, ["g"], options)


def test_alpha_equals_one_minus_level_without_rounding_error():
    assert make_request(level=0.95).alpha == 0.05


FRAME = pl.DataFrame(
    {
        **{name: ["no", "yes", "yes"] * 80 for name in ("y", "p")},
        **{name: [name, "x", "x", "y"] * 60 for name in ("a", "b", "c", "d")},
    }
)


def intersections_shown(by):
    """Return the columns of the tables of selection rates that are about several columns."""
    document = bf.audit(FRAME, "y", "p", by=by).document
    (section,) = [section for section in document.sections if section.key == "selections"]
    captions = [plain(block.caption) for block in section.blocks if hasattr(block, "caption")]
    return [text.partition(" by ")[2] for text in captions if " and " in text.partition(" by ")[2]]


@cases(
    ("by", "expected"),
    [
        ("a", []),
        (["a", "b"], ["a and b"]),
        (["a", "b", "c"], ["a and b", "a and c", "b and c"]),
        (["a", "b", "c", "d"], []),
        (["a", "b", "c", bf.intersection()], []),
        (["a", "b", "c", bf.intersection("c", "a")], ["c and a"]),
        ([*"abcd", bf.intersection("d", "a"), bf.intersection("a", "b", "c")],
         ["d and a", "a, b and c"]),
    ],
)  # fmt: skip
def test_intersections_are_all_pairs_of_few_columns_unless_they_are_named(by, expected):
    assert intersections_shown(by) == expected


AB, BA = bf.intersection("a", "b"), bf.intersection("b", "a")


@cases(
    ("intersections", "message"),
    [
        ([bf.intersection("a")], "bf.intersection('a') needs at least two different columns of by"),
        ([bf.intersection("a", "a")], "bf.intersection('a', 'a') needs at least two different"),
        ([AB, BA], "by has the intersection of the columns 'b', 'a' twice; name each"),
    ],
)
def test_intersections_of_another_form_are_refused(intersections, message):
    with pytest.raises(InvalidInputError) as error:
        bf.audit(FRAME, "y", "p", by=["a", "b", *intersections])
    assert str(error.value).startswith(message)


def test_intersection_of_a_column_that_is_not_audited_is_refused():
    with pytest.raises(UnknownNameError, match="names 'c', which is not in by"):
        bf.audit(FRAME, "y", "p", by=["a", "b", bf.intersection("a", "c")])
