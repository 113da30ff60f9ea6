"""Wrong use of `audit`: each is one error that says what was given, what is allowed, what to do."""

from datetime import date

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.errors import InvalidInputError, UnknownNameError, UnsupportedTypeError
from tests.support.cases import cases

N = 100
FRAME = pl.DataFrame(
    {
        "y": [0, 1] * 50,
        "p": [0, 1, 1, 1] * 25,
        "q": [1, 1, 0, 1] * 25,
        "g": ["a", "b", "c", "a"] * 25,
        "s": [at / 10 for at in range(10)] * 10,
        "three": [0, 1, 2, 1] * 25,
        "yes": ["yes", "no"] * 50,
        "also": ["no", "no"] * 50,
        "ja": ["ja", "nein"] * 50,
        "auch": ["nein", "nein"] * 50,
        "w": [0.5] * N,
        "endless": [float("inf")] + [0.5] * (N - 1),
        "holes": [None, None] + [0.5] * (N - 2),
        "hole": [None] + [0.5] * (N - 1),
        "flag": [True, False] * 50,
        "day": [date(2026, 1, 1)] * N,
    }
)
COLUMNS = f"{', '.join(FRAME.columns[:8])}, ... ({len(FRAME.columns) - 8} more)"


def raised(kind, frame=FRAME, y_true="y", y_pred="p", **options):
    with pytest.raises(kind) as error:
        bf.audit(frame, y_true, y_pred, **options)
    return str(error.value)


@cases("empty", [FRAME.clear(), FRAME.clear().lazy(), FRAME.clear().to_pandas()])
@cases("options", [{}, {"by": "g"}, {"y_score": "s"}])
def test_frame_without_rows_is_refused(empty, options):
    message = raised(InvalidInputError, empty, **options)

    assert message == "there are no rows, so there is nothing to audit."


def test_frame_without_rows_after_dropping_nulls_is_refused():
    nothing = FRAME.with_columns(p=pl.lit(None, pl.Int64))

    message = raised(InvalidInputError, nothing, missing="drop")

    assert message == "there are no rows, so there is nothing to audit."


@cases("role", ["y_true", "y_pred", "by", "y_score", "counts"])
def test_unknown_column_is_refused_in_every_role(role):
    message = raised(UnknownNameError, **{role: "nope"})

    assert message == f"column 'nope' not found. Columns: {COLUMNS}."


@cases(
    ("options", "message"),
    [
        ({"by": ["g", "g"]}, "by names a column twice: 'g', 'g'; name each column once."),
        ({"y_pred": ["p", "p"]}, "y_pred names a column twice: 'p', 'p'; name each column once."),
        ({"by": "y"}, "column 'y' is given as y_true and as by; leave it out of one of them, or"),
        ({"by": "p"}, "column 'p' is given as y_pred and as by;"),
        ({"by": ["g", "s"], "y_score": "s"}, "column 's' is given as y_score and as by;"),
        ({"y_score": "p"}, "column 'p' is given as y_pred and as y_score;"),
        ({"y_pred": "y"}, "column 'y' is given as y_true and as y_pred;"),
        ({"y_pred": []}, "y_pred names no column; name at least one."),
        ({"y_pred": None}, "y_pred names no column; name at least one."),
    ],
)
def test_column_in_two_roles_or_named_twice_is_refused(options, message):
    assert raised(InvalidInputError, **options).startswith(message)


@pytest.mark.parametrize("options", [{"by": [3]}, {"y_score": {"s": 1}}, {"y_true": ["y"]}])
def test_column_names_of_other_types_are_refused(options):
    assert raised(UnsupportedTypeError, **options).endswith(
        "as a column; give a column name, or a list of column names."
    )


@pytest.mark.parametrize(
    ("calls", "scores", "message"),
    [
        (["p", "q"], "s", "y_score names 1 column and y_pred 2 columns; give one column of scores"),
        ("p", ["s", "w"], "y_score names 2 columns and y_pred 1 column; give one column of scores"),
        ("p", [], "y_score names 0 columns and y_pred 1 column; give one column of scores for"),
    ],
)
def test_number_of_score_and_prediction_columns_must_be_equal(calls, scores, message):
    assert raised(InvalidInputError, y_pred=calls, y_score=scores).startswith(message)


@cases(
    ("column", "message"),
    [
        ("g", "column 'g' is of type String, but y_score needs numbers."),
        ("flag", "column 'flag' is of type Boolean, but y_score needs numbers."),
        ("day", "column 'day' is of type Date, but y_score needs numbers."),
        ("endless", "column 'endless' has infinite values; scores must be finite. Remove those"),
        ("hole", "column 'hole' has 1 null value. Remove those rows, or give missing=\"drop\" to"),
        ("holes", "column 'holes' has 2 null values. Remove those rows, or give missing=\"drop\""),
    ],
)
@cases("convert", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_scores_that_are_not_finite_numbers_are_refused(column, message, convert):
    found = raised(InvalidInputError, convert(FRAME), y_score=column)

    assert found.replace("type Datetime(time_unit='ms', time_zone=None)", "type Date").startswith(
        message
    )


def test_two_labels_without_pos_label_are_refused():
    message = raised(InvalidInputError, y_true="ja", y_pred="auch")

    assert message == (
        "an audit of two labels needs pos_label=; give the one that counts as positive: 'ja', "
        "'nein'. It has a default only if the labels are among 0 and 1, -1 and 1, no and yes, n "
        "and y, false and true, or negative and positive, in upper or lower case."
    )
    assert raised(InvalidInputError, y_true="yes", y_pred="also", pos_label="maybe") == (
        "pos_label='maybe' is not a label; give one of 'no', 'yes', or add it to labels= if it may "
        "be absent."
    )


@cases("convert", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_yes_is_the_positive_of_yes_and_no_also_where_it_does_not_occur(convert):
    frame = convert(FRAME.with_columns(again=pl.col("also")))

    page = bf.audit(frame, "yes", "also").markdown()
    assert "50% were labelled yes, and 0% had been predicted yes" in page
    page = bf.audit(frame, "again", "also").markdown()
    assert "0% were labelled yes, and 0% had been predicted yes" in page


def test_pos_label_is_refused_for_more_than_two_labels():
    message = raised(InvalidInputError, y_true="three", pos_label=1)

    assert message == (
        "pos_label=1 is for two labels, but there are 3: 0, 1, 2. Omit it for an audit of all "
        "labels, or turn them into two."
    )


@pytest.mark.parametrize(
    ("words", "named", "them"),
    [
        ({"words": {"truth": "ill"}}, "truth is", "it"),
        ({"words": {"selected": "said to be ill"}}, "selected is", "it"),
        ({"favourable": "selected"}, "favourable is", "it"),
        (
            {"words": {"truth": "ill", "selected": "said to be ill"}},
            "truth and selected are",
            "them",
        ),
    ],
)
def test_words_for_a_positive_label_are_refused_for_three_labels(words, named, them):
    assert raised(InvalidInputError, y_true="three", **words) == (
        f"{named} about two labels, but the labels are 0, 1, 2. Omit {them}, or turn the labels "
        "into two."
    )


@cases("name", ["title", "subtitle", "truth", "selected"])
@cases("given", ["", " \n", 3, True, ["a"], b"a"])
def test_words_that_are_empty_or_not_strings_are_refused(name, given):
    assert raised(InvalidInputError, words={name: given}) == (
        f"{name}={given!r} is not text; give words for the page, or omit it."
    )


@cases("nouns", ["person", (), ("a",), ("a", "b", "c"), ("a", 3), ("", "b"), {"a": "b"}])
@cases(
    ("option", "example"),
    [("unit", '("person", "people")'), ("prediction_word", '("decision", "decisions")')],
)
def test_nouns_that_are_not_a_pair_of_words_are_refused(nouns, option, example):
    assert raised(InvalidInputError, words={option.removesuffix("_word"): nouns}) == (
        f"{option}={nouns!r} is not a pair of words; give the singular and the plural, such as "
        f"{example}."
    )


@cases("favourable", ["called", "", True, 1, ["selected"]])
def test_favourable_that_is_not_a_choice_is_refused(favourable):
    message = raised(bf.BalframeError, favourable=favourable)

    assert message.startswith(f"favourable={favourable!r} is not")
    assert "'selected'" in message
    assert "'not selected'" in message


@cases("given", [0, -1, True, 2.5, "30", None])
def test_min_support_that_is_not_a_positive_integer_is_refused(given):
    assert raised(InvalidInputError, min_support=given) == (
        f"min_support={given!r} is not a number of rows; give a whole number of at least 1."
    )


@cases("given", [0, 1, 2, -0.5, "x", None])
def test_level_that_is_not_between_0_and_1_is_refused(given):
    assert raised(InvalidInputError, level=given) == (
        f"level={given!r} is not a confidence level; give a number between 0 and 1, such as 0.95."
    )


@cases(
    ("rules", "options", "message"),
    [
        (
            "recall >= baseline - 0.1",
            {"by": "g"},
            "rule 'recall >= baseline - 0.1' compares with a baseline; give earlier data as "
            "baseline=, or leave the rule out of rules=.",
        ),
        (
            [{"rule": "recall >= 0.1", "where": {"h": "a"}}],
            {"by": "g"},
            "rule 'recall >= 0.1' is about values of 'h', which is not in by. Name the column "
            "there, or leave the rule out.",
        ),
        (
            [{"rule": "recall >= 0.1", "where": {"g": "a"}}],
            {},
            "rule 'recall >= 0.1' is about values of 'g', which is not in by.",
        ),
        (
            [{"rule": "recall >= 0.1", "where": {"g": "d"}}],
            {"by": "g"},
            "the rule 'recall >= 0.1' applies where 'g' is 'd', which does not occur in the data.",
        ),
        ([], {"by": "g"}, "rules= is empty; give at least one rule, such as"),
        ("recal >= 0.1", {"by": "g"}, "the rule 'recal >= 0.1' cannot be read at position 1:"),
        (
            "difference(recall) <= 0.1",
            {},
            "by= is missing, but a rule on a difference or ratio compares segments; name at least",
        ),
    ],
)
def test_rules_that_an_audit_cannot_judge_are_refused(rules, options, message):
    assert raised(bf.BalframeError, rules=rules, **options).startswith(message)


@cases(
    ("name", "given", "advice"),
    [
        ("metrics", "f1", "an audit has the same metrics on every page."),
        ("margins", "all", "an audit has all rows and the groups of each column."),
        ("interval", True, "an audit has an interval for every estimate."),
        ("adjust", None, "an audit adjusts the p-values of all differences on the page together."),
        ("backend", "pandas", "an audit returns a page, not a frame."),
        ("out", "audit.html", "an audit returns a page. Save it with page.save."),
    ],
)
def test_options_of_other_methods_are_refused_with_advice(name, given, advice):
    assert raised(UnsupportedTypeError, **{name: given}).startswith(
        f"option {name!r} not found: {advice}"
    )


def test_misspelled_option_is_refused_with_a_suggestion():
    message = raised(UnsupportedTypeError, rulse="n >= 1")

    assert message.startswith("option 'rulse' not found; did you mean 'rules'")


def test_arrays_in_place_of_a_frame_are_refused():
    for arrays in ((FRAME["y"], FRAME["p"]), (np.array([0, 1]), np.array([0, 1])), ([0], [1])):
        message = raised(UnsupportedTypeError, *arrays[:1], *arrays)

        assert message.startswith("bf.audit takes a frame and the names of its columns, not arrays")


def test_objects_that_are_not_frames_are_refused():
    for given in (None, {"y": [0], "p": [1]}, 3):
        assert "is not a frame that balframe can read" in raised(UnsupportedTypeError, given)


def test_group_columns_by_position_are_refused():
    with pytest.raises(UnsupportedTypeError) as error:
        bf.audit(FRAME, "y", "p", "g")

    assert str(error.value) == (
        "bf.audit takes frame, y_true, y_pred by position, but 4 positional arguments were given; "
        "give the others by keyword, such as by= or baseline=."
    )


def test_a_frame_is_not_modified():
    in_pandas = FRAME.to_pandas()
    before, before_in_pandas = FRAME.clone(), in_pandas.copy(deep=True)

    for frame in (FRAME, in_pandas):
        bf.audit(frame, "y", "p", by="g", y_score="s")

    assert FRAME.equals(before)
    assert in_pandas.equals(before_in_pandas)
