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
    "give the last day of the rows that are the baseline, such as '2026-03-31', or the cells of a "
    "run, a result of `confusion`."
)
NO_KEY = 'is not a mapping with the single key "until"; '
NOT_CELLS = (
    "the baseline has the columns y, p, g, which are not those of a result of `confusion`: the "
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
    "the by-columns of the baseline are {}, but those requested are {}. Give cells of the same "
    "segments; `confusion` adds up finer ones."
)
INSTEAD = {
    "sample_weight": "how often monitor raises alarms is not known for weighted rows.",
    "cluster": "monitor needs none: dispersion='estimate', the default, allows for clusters whose "
    "rows lie in one period.",
    "margins": "monitor the segments that matter; for all rows together, omit by.",
    "interval": "the limits of monitor are those of its tests.",
    "absent": "monitor compares periods with their baseline on the labels that both have.",
}
NUMBERS = {
    "tolerance": ([0, -0.05, True, "0.05", None, np.nan, np.inf], "a tolerance; give a number "
                  "above 0, in the units of the metric, such as 0.05."),
    "looks": ([0, -1, 1.5, 104.0, True, "104", None], "a number of periods; give a whole number of "
              "at least 1."),
    "level": ([0, 1, 95, True, "x"], "a confidence level; give a number between 0 and 1, such as "
              "0.95."),
}  # fmt: skip
NOT_DATES = [["2026-13-01"], "soon", 20260105, [datetime(2026, 1, 5)], [None], {"2026-01-05": 1}]
AT_ONCE = [  # options, the kind of error, and its message
    *(
        ({"baseline": one}, ValueError, f"baseline={one!r} is not a date; {ASKED}")
        for one in (
            *("last", "p", "", "2026-02-30", "2026-01-05 10:00", pd.NaT),
            *({"until": value} for value in ("soon", 20260105, None, [DAYS[0]], CELLS.columns)),
        )
    ),
    *(
        ({"baseline": one}, TypeError, f"baseline= has the type {type(one).__name__}; {ASKED}")
        for one in (None, [1], 20260105, True, ["2026-01-05"])
    ),
    *(
        ({"baseline": one}, ValueError, f"baseline={one!r} {NO_KEY}{ASKED}")
        for one in (
            *({}, {"since": "2026-01-01"}, {"until": date(2026, 1, 5), "by": "g"}),
            {"recall": "0.8"},
        )
    ),
    *(
        (
            {"baseline": one},
            ValueError,
            f"baseline={one!r} has scores, but a test needs the numbers of rows behind them; "
            f"{ASKED} `from_matrix` makes cells of a confusion matrix.",
        )
        for one in ({"recall": 0.8}, {"recall": 0.8, "accuracy": 1})
    ),
    ({"baseline": FRAME.select("y", "p", "g")}, ValueError, NOT_CELLS),
    (
        {"baseline": bf.confusion(FRAME, "y", "p", by="g")},
        ValueError,
        SEGMENTS.format("'g'", "none"),
    ),
    ({"by": "g", "baseline": CELLS}, ValueError, SEGMENTS.format("none", "'g'")),
    (
        {"by": ["w", "g"], "baseline": bf.confusion(FRAME, "y", "p", by=["g", "day"])},
        ValueError,
        SEGMENTS.format("'g'", "'g', 'w'"),
    ),
    (
        {"baseline": bf.confusion(FRAME, "y", "p", sample_weight="w")},
        ValueError,
        "the baseline has weights, but monitor counts rows. Count it without weights.",
    ),
    (
        {"by": "g", "baseline": bf.confusion(FRAME, "y", "p", by="g", margins="overall")},
        ValueError,
        "the baseline has a column 'grouped_by', so rows would be counted again in the roll-ups. "
        "Keep the finest rows only, and drop that column.",
    ),
    *(
        ({"metrics": one}, ValueError, NOT_LINEAR.format(one))
        for one in ("kappa", "mcc", "f1", "f1_macro", "geometric_mean")
    ),
    (
        {"metrics": "selection_rate"},
        ValueError,
        "metric 'selection_rate' has no direction (neither higher nor lower is better), so no "
        "change of it is for the worse; choose another metric, such as recall or "
        "false_positive_rate.",
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
            {"level": one},
            ValueError,
            f"level={one!r} is too low: alarms would be false with a probability of 1 - level. "
            "Give a number above 0.5 and below 1, such as 0.95.",
        )
        for one in (0.5, 0.05, 0.01)
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
    *(
        (
            {"time": value},
            ValueError,
            f"time={value!r} is not a period; give the column of times and the length of the "
            'periods, as in time=bf.period("day", "1w").',
        )
        for value in (None, "day", ["day"])
    ),
    (
        {"time": bf.period("dya", "1w")},
        KeyError,
        "column 'dya' not found; did you mean 'day'? Columns: day, y, p, g, w, n.",
    ),
    (
        {"time": bf.period(["day"], "1w")},
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
        {"baseline": {"until": "2026-01-04"}},
        "baseline= has no rows. Give the cells of a run, or a later date.",
    ),
    (
        {},
        {"baseline": {"until": DAYS[-1]}},
        "there are no rows after baseline= to monitor; give an earlier date.",
    ),
    (
        {},
        {"baseline": CELLS.clear()},
        "baseline= has no rows. Give the cells of a run, or a later date.",
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
        "exclude= leaves no rows of baseline=; exclude fewer periods.",
    ),
    (
        {"y": list("ab") * 15, "p": list("ba") * 15},
        {"baseline": CELLS},
        "labels of different types never compare equal: column 'y' holds strings, column 'y' of "
        "the baseline holds numbers. Cast one to the type of the other.",
    ),
    (
        {"g": [1, 2, 3] * 10},
        {"by": "g", "baseline": bf.confusion(FRAME, "y", "p", by="g")},
        "column 'g' holds numbers in the data and strings in the baseline, which never compare "
        "equal. Cast one to the type of the other.",
    ),
    (
        {},
        {"metrics": "recall", "pos_label": 7},
        "pos_label=7 is not a label; give one of 0, 1, or add it to labels= if it may be absent.",
    ),
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
    baseline = {"until": "2026-01-18"}
    defaults = {"time": bf.period("day", "1w"), "baseline": baseline, "dispersion": None}
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
    lazy = ask(polars_lazy(ROWS), baseline={"until": "2026-02-20"})

    assert isinstance(lazy, pl.LazyFrame)
    assert message(lazy.collect).startswith("there are no rows after baseline=")


@cases("name", ["period", "metric", "since", "control_limit", "status"])
def test_a_by_column_named_like_a_column_of_the_result_is_refused(name):
    frame = FRAME.rename({"g": name})

    assert f"'{name}'" in (text := message(lambda: ask(frame, by=name)))
    assert f"rename one first, for example to '{name}_'." in text.replace("yours", "one")


def test_cells_with_weights_or_roll_ups_are_refused():
    weighted = bf.confusion(FRAME, "y", "p", by="day", sample_weight="w")
    rolled_up = bf.confusion(FRAME, "y", "p", by="day", margins="overall")

    assert message(lambda: ask(weighted)) == (
        "the cells have weights, but monitor counts rows; count them without sample_weight= in "
        "`confusion`."
    )
    assert message(lambda: ask(rolled_up)).startswith(
        "the frame has a column 'grouped_by', so rows would be counted again in the roll-ups."
    )


@cases("length", ["1h", "0d", None, 7])
def test_a_length_that_is_none_is_refused(length):
    assert message(lambda: bf.period("day", length)) == f"every={length!r}{NO_PERIOD}"


def test_missing_required_arguments_raise_type_error():
    for name in ("time", "baseline"):
        given = {"time": bf.period("day", "1w"), "baseline": CELLS}
        del given[name]
        with pytest.raises(TypeError, match=f"^bf.monitor needs {name}[.] Call bf.monitor"):
            bf.monitor(FRAME, "y", "p", **given)


def test_a_tiny_margin_raises_no_warning():
    assert ask(FRAME, tolerance=1e-300)["status"].to_list().count("ok") == 0


def test_the_frame_and_the_baseline_are_not_modified():
    frame, baseline = pd.DataFrame(ROWS), CELLS.to_pandas()
    before = frame.copy(), baseline.copy()

    ask(frame, baseline=baseline)

    pd.testing.assert_frame_equal(frame, before[0])
    pd.testing.assert_frame_equal(baseline, before[1])
