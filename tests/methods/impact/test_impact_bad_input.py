"""What `impact` refuses, in the same words on every library."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain, polars_lazy

ROWS = {
    "sex": ["F", "F", "M", "M", None],
    "race": ["a", "b", "a", "b", "a"],
    "s": [0, 1, 1, 0, 1],
    "t": ["no", "yes", "yes", "no", "yes"],
    "x": [0.1, 0.2, 0.3, 0.4, 0.5],
    "n": [5, 3, 2, 9, 1],
    "w": [0.5, 1.0, 1.0, 1.0, 1.0],
}
INF, NAN = math.inf, math.nan
SCORES = {"selected": None, "score": "x"}
EITHER = (
    "impact needs either selected, a column that shows who is selected, or score, a column of "
    "scores, but {} given."
)
NO_LABELS = "{} is for selected, but score is given, which has no labels; omit it."
NO_BY = "by= is missing, but impact compares segments; name at least one column."
IN_BY = "column {!r} is given as {} and in by; name the columns of categories in by."
INSTEAD = {
    "metrics": "impact compares selection rates. For other metrics, call disparity or gaps.",
    "sample_weight": "impact counts people, and a selection has no weight. Call disparity with "
    "metrics='selection_rate' for weighted rates.",
    "cluster": "impact needs one row per person. For several rows per person, call disparity with "
    "metrics='selection_rate' and cluster.",
    "margins": "impact already returns each by-column alone, and all of them together.",
    "y_true": "impact needs no true labels.",
    "y_pred": "give the column of selections as selected.",
    "y_score": "give the column of scores as score.",
}
LIMITS = {
    "min_share": ([-0.01, 1, 1.5, True, "0.02", None, NAN], "a share; give a number from 0 up to "
                  "1, such as 0.02."),
    "bound": ([0, -0.8, 1.01, 80, True, "0.8", None, NAN], "a ratio to keep; give a number above 0 "
              "and at most 1, such as 0.8."),
    "level": ([0, 1, 95, True, "x"], "a confidence level; give a number between 0 and 1, such as "
              "0.95."),
}  # fmt: skip
AT_ONCE = [  # options, the kind of error, and its message or how it begins
    ({"score": "x"}, ValueError, EITHER.format("both are")),
    ({"selected": None}, ValueError, EITHER.format("neither is")),
    (SCORES | {"labels": [0, 1]}, ValueError, NO_LABELS.format("labels=[0, 1]")),
    (SCORES | {"pos_label": 1}, ValueError, NO_LABELS.format("pos_label=1")),
    ({"by": None}, ValueError, NO_BY),
    ({"by": []}, ValueError, NO_BY),
    ({"by": ["sex", "s"]}, ValueError, IN_BY.format("s", "selected")),
    ({"selected": None, "score": ["x", "w"], "by": "w"}, ValueError, IN_BY.format("w", "score")),
    ({"selected": []}, ValueError, "selected is an empty list; name at least one column."),
    ({"selected": ["s", "s"]}, ValueError, "selected names a column twice: 's'"),
    ({"selected": None, "score": ["x", "x"]}, ValueError, "score names a column twice: 'x'"),
    ({"selected": "ss"}, KeyError, "column 'ss' not found; did you mean 's'"),
    ({"selected": None, "score": "xx"}, KeyError, "column 'xx' not found; did you mean 'x'"),
    ({"by": ["sex", "rase"]}, KeyError, "column 'rase' not found; did you mean 'race'"),
    ({"selected": None, "score": "t"}, TypeError, "column 't' has the type "),
    ({"selected": ["s", "t"]}, ValueError, "labels of different types never compare equal: "),
    ({"adjust": "by"}, ValueError, "adjust='by' is not one of the options: 'bh', 'holm', None."),
    ({"minshare": 0}, TypeError, "option 'minshare' not found"),
    *(
        ({name: "w"}, TypeError, f"option {name!r} not found: {instead}")
        for name, instead in INSTEAD.items()
    ),
    *(
        ({name: one}, ValueError, f"{name}={one!r} is not {must}")
        for name, (values, must) in LIMITS.items()
        for one in values
    ),
]
NO_DEFAULT = (
    "; give the one that means selected as pos_label=. It has a default only if the labels are "
    "among 0 and 1, -1 and 1, no and yes, n and y, false and true, or negative and positive, in "
    "upper or lower case."
)
TIES = (
    "no score in column {!r} is above the median, {}, which is also the highest score, so nobody "
    "counts as selected. Give finer scores, or a column of selections as selected."
)
NULLS = 'column {!r} has {} null value{}; fill them, or give missing="drop" to drop those rows.'
NO_VALUE = (
    "no row with a value in column {!r} is left, so nobody is selected; name a column that has "
    "values."
)
SMALL = (
    " the share of the rows that min_share={} requires, but an impact ratio compares at least two. "
    "Give a lower min_share, where 0 compares all categories, or combine small categories first."
)
ONE = (
    "by has {} that is known, in {}, but an impact ratio compares at least two; name a column with "
    "more."
)
WHEN_READ = [  # columns in place of those above, options, and the message or how it begins
    ({"t": [*"vuuvu"]}, {"selected": "t"}, f"selected has the labels 'u', 'v'{NO_DEFAULT}"),
    ({"s": [0, 1, 2, 1, 0]}, {}, f"selected has the labels 0, 1, 2{NO_DEFAULT}"),
    (
        {},
        {"selected": "t", "pos_label": "ja"},
        "pos_label='ja' is not a label; give one of 'no', 'yes', or add it to labels= if it may be "
        "absent.",
    ),
    ({}, {"selected": "x"}, "column 'x' holds numbers that are not whole: scores are not labels"),
    (
        {"t": ["in"] * 5},
        {"selected": "t", "pos_label": "in", "favourable": "not selected"},
        "column 't' selects every row, so nobody has the favourable result of favourable='not "
        "selected'; give 'selected' or another pos_label, or list both labels in labels=.",
    ),
    (
        {"t": ["out"] * 5},
        {"selected": "t", "pos_label": "in"},
        "pos_label='in' is not a label; give one of 'out', or add it to labels= if it may be "
        "absent.",
    ),
    ({"s": [NAN] * 5}, {"missing": "drop"}, NO_VALUE.format("s")),
    ({"x": [NAN] * 5}, SCORES | {"missing": "drop"}, NO_VALUE.format("x")),
    ({"x": [0.3] * 5}, SCORES, TIES.format("x", "0.3")),
    ({"x": [1.0, 2.0, 2.0, 2.0, 0.0]}, SCORES, TIES.format("x", "2")),
    # 12 of 20 people have the highest score
    ({"x": [1.0, 2.0, 0.0, 2.0, 1.0]}, SCORES | {"counts": "n"}, TIES.format("x", "2")),
    ({}, {"selected": None, "score": ["x", "w"]}, TIES.format("w", "1")),
    ({"x": [0.1, None, 0.3, 0.4, 0.5]}, SCORES, NULLS.format("x", 1, "")),
    ({"s": [0, None, 1, 1, None]}, {}, NULLS.format("s", 2, "s")),
    ({"n": [-1, 2, 3, 4, 5]}, {"counts": "n"}, "column 'n' has 1 value that cannot be counts"),
    ({}, {"min_share": 0.9}, f"none of the 2 categories of 'sex' have{SMALL.format(0.9)}"),
    # 8 of 20 people are a
    (
        {},
        {"by": "race", "min_share": 0.5, "counts": "n"},
        f"1 of the 2 categories of 'race' has{SMALL.format(0.5)}",
    ),
    (
        {},
        {"by": ["sex", "race"], "min_share": 0.9},
        f"none of the 4 categories of 'sex', 'race' have{SMALL.format(0.9)}",
    ),
    ({"sex": ["F"] * 5}, {}, ONE.format("one category", "'sex'")),
    ({"sex": ["F", None, "F", None, None]}, {}, ONE.format("one category", "'sex'")),
    ({"sex": [None] * 5}, {}, ONE.format("no category", "'sex'")),
    (
        {"sex": [None] * 5, "race": [None] * 5},
        {"by": ["race", "sex"]},
        ONE.format("no category", "'race'"),
    ),
]  # fmt: skip


def about(part):
    """Name a case by what it gives."""
    return str(part) if isinstance(part, dict) else ""


def message(call, kind=ValueError):
    with pytest.raises(bf.BalframeError) as raised:
        call()
    assert isinstance(raised.value, kind)
    return str(raised.value)


def ask(frame, **options):
    return bf.impact(
        frame, detail=True, **({"selected": "s", "by": "sex", "favourable": "selected"} | options)
    )


def assert_says(text, words):
    """Compare a message with its words; those without a full stop are its beginning."""
    assert text == words if words.endswith(".") else text.startswith(words)


@cases(("options", "kind", "words"), AT_ONCE)
def test_names_and_options_raise_at_once(options, kind, words):
    texts = {message(lambda make=make: ask(make(ROWS), **options), kind) for make in CONSTRUCTORS}

    for text in texts:
        assert_says(text, words)


@cases(("columns", "options", "words"), WHEN_READ)
def test_values_raise_when_they_are_read(columns, options, words):
    for make in CONSTRUCTORS:
        frame = make(ROWS | columns)
        assert_says(message(lambda frame=frame: plain(ask(frame, **options))), words)


@cases("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_infinite_scores_are_refused_and_counted_in_the_error(make):
    frame = make(ROWS | {"x": [0.1, INF, 0.3, -INF, 0.5]})

    assert message(lambda: plain(ask(frame, **SCORES))) == (
        "column 'x' has 2 infinite values; scores must be finite. Replace them first, for example "
        "by the largest finite score."
    )


def test_a_lazy_frame_raises_when_it_is_collected():
    lazy = ask(polars_lazy(ROWS | {"sex": ["F"] * 5}))

    assert isinstance(lazy, pl.LazyFrame)
    assert message(lazy.collect).startswith("by has one category that is known")


@cases(
    ("name", "options"),
    [
        *((one, {}) for one in ("grouped_by", "role", "share", "highest", "upper", "bound")),
        ("threshold", {"selected": None, "score": "x"}),
        ("model", {"selected": ["s", "z"]}),
        ("n", {"counts": "n"}),
    ],
)
def test_a_by_column_named_like_a_column_of_the_result_is_refused(name, options):
    frame = pl.DataFrame(ROWS | {"z": ROWS["s"], name: ROWS["race"]})

    assert message(lambda: ask(frame, by=["sex", name], **options)) == (
        f"the output would have more than one column named '{name}'. Columns given must differ "
        "from each other and from the columns of the output; rename one first, for example to "
        f"'{name}_'."
    )


def test_a_by_column_named_like_a_highest_column_is_refused():
    frame = pl.DataFrame(ROWS).rename({"race": "highest_sex"})

    text = message(lambda: ask(frame, by=["sex", "highest_sex"]))
    assert text.startswith("the output would have more than one column named 'highest_sex'")
    assert "highest_highest_sex" in ask(frame, by="highest_sex").columns


def test_cells_with_weights_or_roll_ups_are_refused():
    frame = pl.DataFrame(ROWS).with_columns(y=1)

    weighted = bf.confusion(frame, "y", "s", by="sex", sample_weight="w")
    rolled_up = bf.confusion(frame, "y", "s", by="sex", margins="overall")

    assert message(lambda: ask(weighted)) == (
        "the cells have weights, but impact counts people; count them without sample_weight= in "
        "`confusion`."
    )
    assert message(lambda: ask(rolled_up)).startswith(
        "the frame has a column 'grouped_by', so rows would be counted again in the roll-ups."
    )


def test_misplaced_positional_arguments_raise_type_error():
    frame = pl.DataFrame(ROWS)

    text = message(lambda: bf.impact(frame, "s", "sex", detail=True), TypeError)
    assert text.startswith("bf.impact takes frame, selected by position, but 3 positional")
    text = message(lambda: bf.impact(np.array([0, 1]), "s", by="sex", detail=True), TypeError)
    assert "takes a frame" in text
