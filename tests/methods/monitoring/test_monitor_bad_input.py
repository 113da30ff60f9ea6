"""What `monitor` refuses, in the same words on every library."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain, polars_lazy

DAYS = [date(2026, 1, 5) + timedelta(i) for i in range(30)]
ROWS = {
    "day": DAYS,
    "y": [0, 1] * 15,
    "p": [0, 1, 1, 0, 0, 1] * 5,
    "g": ["a", "b", "b"] * 10,
    "w": [0.5] * 30,
    "n": [2] * 30,
}
FRAME = pl.DataFrame(ROWS).drop("n")
CELLS = bf.confusion(FRAME, "y", "p")
ASKED = (
    "give the cells of a run, a result of `confusion`, or the last day of the rows that are the "
    'reference, as {"until": "2026-03-31"}.'
)
NOT_CELLS = (
    "the reference has the columns y, p, g, which are not those of a result of `confusion`: the "
    "true and the predicted labels must be in the two columns before 'n'. Give results of "
    "`confusion`."
)
NO_PERIOD = (
    " is not the length of a period; give a positive number and one unit: d (days), w (weeks from "
    "Monday), mo (months), q (quarters) or y (years), such as '1d', '2w' or '1mo'."
)
NOT_LINEAR = (
    "metric {!r} cannot be monitored, as it is neither a proportion nor a mean of recalls; choose "
    "another metric, such as balanced_accuracy or recall."
)
SEGMENTS = (
    "the by-columns of the reference are {}, but those requested are {}. Give cells of the same "
    "segments; `confusion` with cells=True adds up finer ones."
)
INSTEAD = {
    "sample_weight": "how often monitor alarms is not known for weighted rows.",
    "cluster": "monitor needs independent rows. For scores that vary from period to period, "
    "dispersion='estimate' allows by default.",
    "margins": "monitor the segments that matter; for all rows together, omit by.",
    "interval": "the limits of monitor are those of its tests.",
    "absent": "monitor compares periods with their reference on the labels that both have.",
}
NUMBERS = {
    "margin": ([0, -0.05, True, "0.05", None, np.nan, np.inf], "a margin; give a number above 0, "
               "in the units of the metric, such as 0.05."),
    "alpha": ([0, -0.05, 0.5, 0.7, 1, 5, True, "5%", None, np.nan], "a probability of false "
              "alarms; give a number above 0 and below 0.5, such as 0.05."),
    "looks": ([0, -1, 1.5, 104.0, True, "104", None], "a number of periods; give a whole number of "
              "at least 1."),
    "level": ([0, 1, 95, True, "x"], "a confidence level; give a number between 0 and 1, such as "
              "0.95."),
}  # fmt: skip
NOT_DATES = [["2026-13-01"], "soon", 20260105, [datetime(2026, 1, 5)], [None], {"2026-01-05": 1}]
AT_ONCE = [  # options, the kind of error, and its message
    ({"reference": "last"}, TypeError, f"reference= has the type str; {ASKED}"),
    ({"reference": None}, TypeError, f"reference= has the type NoneType; {ASKED}"),
    ({"reference": [1]}, TypeError, f"reference= has the type list; {ASKED}"),
    (
        {"reference": {"until": "soon"}},
        ValueError,
        "reference={'until': 'soon'} has no date: Invalid isoformat string: 'soon'; " + ASKED,
    ),
    (
        {"reference": {"since": "2026-01-01"}},
        ValueError,
        "reference={'since': '2026-01-01'} is not valid; " + ASKED,
    ),
    ({"reference": {}}, ValueError, "reference={} is not valid; " + ASKED),
    (
        {"reference": {"until": date(2026, 1, 5), "by": "g"}},
        ValueError,
        "reference={'until': datetime.date(2026, 1, 5), 'by': 'g'} is not valid; " + ASKED,
    ),
    (
        {"reference": {"until": datetime(2026, 1, 5)}},
        ValueError,
        "reference={'until': datetime.datetime(2026, 1, 5, 0, 0)} has no day, but datetime; "
        + ASKED,
    ),
    (
        {"reference": {"until": 20260105}},
        ValueError,
        "reference={'until': 20260105} has no day, but int; " + ASKED,
    ),
    ({"reference": FRAME.select("y", "p", "g")}, ValueError, NOT_CELLS),
    (
        {"reference": bf.confusion(FRAME, "y", "p", by="g")},
        ValueError,
        SEGMENTS.format("'g'", "none"),
    ),
    ({"by": "g", "reference": CELLS}, ValueError, SEGMENTS.format("none", "'g'")),
    (
        {"by": ["w", "g"], "reference": bf.confusion(FRAME, "y", "p", by=["g", "day"])},
        ValueError,
        SEGMENTS.format("'g'", "'g', 'w'"),
    ),
    (
        {"reference": bf.confusion(FRAME, "y", "p", sample_weight="w")},
        ValueError,
        "the reference has weights, but monitor counts rows. Count it without weights.",
    ),
    (
        {"by": "g", "reference": bf.confusion(FRAME, "y", "p", by="g", margins="overall")},
        ValueError,
        "the reference has a column 'margin', so rows would be counted again in the roll-ups. Keep "
        "the finest rows only, and drop that column.",
    ),
    *(
        ({"metrics": one}, ValueError, NOT_LINEAR.format(one))
        for one in ("kappa", "mcc", "f1", "f1_macro", "geometric_mean")
    ),
    (
        {"metrics": "selection_rate"},
        ValueError,
        "metric 'selection_rate' has no better direction, so that no change of it is for the "
        "worse; choose another metric, such as recall or false_positive_rate.",
    ),
    (
        {"metrics": {"agreement": "kappa"}},
        ValueError,
        NOT_LINEAR.format("agreement"),
    ),
    *(
        ({name: one}, ValueError, f"{name}={one!r} is not {words}")
        for name, (values, words) in NUMBERS.items()
        for one in values
    ),
    *(
        (
            {"exclude": one},
            ValueError,
            f"exclude={one!r} has {(one[0] if isinstance(one, list) else one)!r}, which is not a "
            "date; give dates, such as '2026-12-25'.",
        )
        for one in NOT_DATES
    ),
    (
        {"adjust": "holm"},
        ValueError,
        "adjust='holm' is not one of the options: 'bonferroni', None.",
    ),
    (
        {"dispersion": True},
        ValueError,
        "dispersion=True is not one of the options: 'estimate', None.",
    ),
    *(({"every": one}, ValueError, f"every={one!r}{NO_PERIOD}") for one in ("1h", "0d", None, 7)),
    (
        {"time": None},
        ValueError,
        "time=None names no column; name the one that holds dates or datetimes.",
    ),
    (
        {"time": "dya"},
        KeyError,
        "column 'dya' not found; did you mean 'day'? Columns: day, y, p, g, w, n.",
    ),
    (
        {"time": ["day"]},
        TypeError,
        "got list as a column; give a column name, or a list of column names.",
    ),
    ({"by": ["g", "g"]}, ValueError, "by names a column twice: 'g', 'g'; name each column once."),
    *(
        ({name: "w"}, TypeError, f"option {name!r} not found: {words}")
        for name, words in INSTEAD.items()
    ),
]
WHEN_READ = [  # other columns, options, and the message
    (
        {},
        {"reference": {"until": "2026-01-04"}},
        "reference= has no rows. Give the cells of a run, or a later date.",
    ),
    (
        {},
        {"reference": {"until": DAYS[-1]}},
        "there are no rows after reference= to monitor; give an earlier date.",
    ),
    (
        {},
        {"reference": CELLS.clear()},
        "reference= has no rows. Give the cells of a run, or a later date.",
    ),
    (
        {"day": [*DAYS[:27], None, None, None]},
        {},
        "column 'day' has 3 null values; fill them, or give missing=\"drop\" to drop those rows.",
    ),
    (
        {"day": [None] * 30},
        {},
        "column 'day' has 30 null values; fill them, or give missing=\"drop\" to drop those rows.",
    ),
    (
        {},
        {"exclude": ["2026-01-07", "2026-01-12"]},
        "exclude= leaves no rows of reference=; exclude fewer periods.",
    ),
    (
        {"y": list("ab") * 15, "p": list("ba") * 15},
        {"reference": CELLS},
        "labels of different types never compare equal: column 'y' holds strings, column 'y' of "
        "the reference holds numbers. Cast one to the type of the other.",
    ),
    (
        {"g": [1, 2, 3] * 10},
        {"by": "g", "reference": bf.confusion(FRAME, "y", "p", by="g")},
        "column 'g' holds numbers in the data and strings in the reference, which never compare "
        "equal. Cast one to the type of the other.",
    ),
    ({}, {"metrics": "recall", "pos_label": 7}, "pos_label=7 is not a label; give one of 0, 1."),
]


def about(part):
    """Name a case by what it gives."""
    return str(part)[:60] if isinstance(part, dict) else ""


def message(call, kind=ValueError):
    with pytest.raises(bf.BalframeError) as raised:
        call()
    assert isinstance(raised.value, kind)
    return str(raised.value)


def ask(frame, **options):
    reference = {"until": "2026-01-18"}
    defaults = {"time": "day", "every": "1w", "reference": reference, "dispersion": None}
    return bf.monitor(frame, "y", "p", **(defaults | options))


@cases(("options", "kind", "words"), AT_ONCE)
def test_names_and_options_raise_at_once(options, kind, words):
    for make in CONSTRUCTORS:
        assert message(lambda make=make: ask(make(ROWS), **options), kind) == words


@cases(("columns", "options", "words"), WHEN_READ)
def test_values_raise_when_they_are_read(columns, options, words):
    for make in CONSTRUCTORS:
        frame = make(ROWS | columns)
        assert message(lambda frame=frame: plain(ask(frame, **options))) == words


def test_a_lazy_frame_raises_when_it_is_collected():
    lazy = ask(polars_lazy(ROWS), reference={"until": "2026-02-20"})

    assert isinstance(lazy, pl.LazyFrame)
    assert message(lazy.collect).startswith("there are no rows after reference=")


@cases("name", ["period", "metric", "since", "control_limit", "status"])
def test_a_by_column_named_like_a_column_of_the_result_is_refused(name):
    frame = FRAME.rename({"g": name})

    assert f"'{name}'" in (text := message(lambda: ask(frame, by=name)))
    assert f"rename one first, for example to '{name}_'." in text.replace("yours", "one")


def test_cells_with_weights_or_roll_ups_are_refused():
    weighted = bf.confusion(FRAME, "y", "p", by="day", sample_weight="w")
    rolled_up = bf.confusion(FRAME, "y", "p", by="day", margins="overall")

    assert message(lambda: ask(weighted, cells=True)) == (
        "the cells have weights, but monitor counts rows; count them without sample_weight= in "
        "`confusion`."
    )
    assert message(lambda: ask(rolled_up, cells=True)).startswith(
        "the frame has a column 'margin', so rows would be counted again in the roll-ups."
    )


def test_missing_required_arguments_raise_type_error():
    for name in ("time", "every", "reference"):
        given = {"time": "day", "every": "1w", "reference": CELLS}
        del given[name]
        with pytest.raises(TypeError, match=f"^bf.monitor needs {name}[.] Call bf.monitor"):
            bf.monitor(FRAME, "y", "p", **given)


def test_a_tiny_margin_raises_no_warning():
    assert ask(FRAME, margin=1e-300)["status"].to_list().count("ok") == 0


def test_the_frame_and_the_reference_are_not_modified():
    frame, reference = pd.DataFrame(ROWS), CELLS.to_pandas()
    before = frame.copy(), reference.copy()

    ask(frame, reference=reference, cells=False)

    pd.testing.assert_frame_equal(frame, before[0])
    pd.testing.assert_frame_equal(reference, before[1])
