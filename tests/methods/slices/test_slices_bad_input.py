"""What `slices` refuses, in whose words, and what it warns of."""

import re
import warnings

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain
from tests.support.tested_slices import search

RANDOM = np.random.default_rng(8)
N = 400
ROWS = {
    "sex": RANDOM.choice(["F", "M"], N).tolist(),
    "age": RANDOM.integers(18, 80, N).tolist(),
    "id": [f"id {i}" for i in range(N)],
    "day": [str(i % 200) for i in range(N)],
    "k": [1] * N,
    "w": [1.0] * N,
    "y": [1] * 250 + [0] * 150,
    "yhat": [1] * 200 + [0] * 60 + [1] * 10 + [0] * 130,
}
SEARCHED = {"over": ["sex", "age"]}
LIMIT = "give a whole number of at least 1"
BINS = (
    "is not valid; give a number of bins from 2 to 1000, None to take each value on its own, or a "
    r"mapping of columns to these or to the edges between bins, as in \{'age': \[18, 25, 45\]\}\."
)
REFUSED = {
    "unknown column": (
        {"over": ["sex", "agee"]}, KeyError, "column 'agee' not found; did you mean 'age'"
    ),
    "unknown single column": ({"over": "sexx"}, KeyError, "column 'sexx' not found; did you mean"),
    "no name": ({"over": [3]}, (KeyError, TypeError), "3 not found|got int as a column"),
    "column twice": ({"over": ["sex", "sex"]}, ValueError, "over names a column twice: 'sex'"),
    "nothing to search": (
        {"over": []}, ValueError, "over= has no column to search; name at least one column"
    ),
    "the true label": ({"over": ["sex", "y"]}, ValueError, "over= has the column 'y', which holds"),
    "the prediction": (
        {"over": ["yhat", "sex"]}, ValueError, "the column 'yhat', which holds .* leave it out of"
    ),
    "the counts": ({"over": ["sex", "k"], "counts": "k"}, ValueError, "over= has the column 'k'"),
    "the weights": (
        {"over": ["sex", "w"], "sample_weight": "w"}, ValueError, "over= has the column 'w', which"
    ),
    "several models": (
        {"y_pred": ["yhat", "k"]}, ValueError,
        r"y_pred=\['yhat', 'k'\] is a list, but slices searches one model at a time; give one",
    ),
    "by": ({"by": "sex"}, TypeError, "slices searches the columns of over"),
    "metric": ({"metric": "recall"}, TypeError, "did you mean 'metrics'"),
    "margins": ({"margins": "all"}, TypeError, "slices already searches every subset of the"),
    "unknown metric": ({"metrics": "recal"}, KeyError, "'recal'.*did you mean 'recall'"),
    "all metrics": ({"metrics": "all"}, ValueError, "metrics= names .*; slices takes one"),
    "no direction": (
        {"metrics": "selection_rate"}, ValueError,
        "metric 'selection_rate' has no direction .neither higher nor lower is better., so no "
        "slice is worse by it; choose one",
    ),
    "a metric of weights": (
        {"metrics": "weighted_balanced_accuracy"}, ValueError, "needs class_weight=; give a weight"
    ),
    **{
        f"{name} {value!r}": (
            {name: value}, ValueError, f"^{name}={re.escape(repr(value))} is not valid; {LIMIT}"
        )
        for name in ("depth", "top", "min_support", "max_slices")
        for value in (0, -1, 1.5, "3", None, True)
    },
    **{
        f"min_difference {value!r}": (
            {"min_difference": value}, ValueError,
            "min_difference=.* is not valid; give a number of at least 0, in the units of",
        )
        for value in (-0.1, float("nan"), float("inf"), "0", None, True)
    },
    "order": ({"order": "p"}, ValueError, "order='p'.*'p_value', 'lower', 'impact'"),
    **{f"level {value}": ({"level": value}, ValueError, "level=") for value in (0, 1, 95, "x")},
    **{
        f"bins {value!r}": ({"bins": value}, ValueError, BINS)
        for value in (
            1, 1001, 2.5, "4", True, [18, 25], {"age": 1}, {"age": []}, {"age": "25"},
            {"age": [float("nan")]}, {"age": [18, None]}, {"age": ["a"]},
        )
    },
    "bins of an unknown column": (
        {"bins": {"agee": 3}}, KeyError, "column 'agee' not found; did you mean 'age'"
    ),
    "bins of text": (
        {"bins": {"sex": 3}}, ValueError,
        "bins= names the column 'sex', which is not numeric; leave it out. Its values are levels",
    ),
}  # fmt: skip
WHEN_READ = {
    "the rarest label": (
        {"min_support": 80}, ValueError,
        "no slice is large enough: a slice and the rest each need min_support=80 rows of every "
        "label, but label 0 has 150 rows. Decrease min_support=, or choose another metric.",
    ),
    "too few rows that the metric counts": (
        {"min_support": 130, "metrics": "recall"}, ValueError,
        "min_support=130 rows that the metric counts, but label 1 has 250 rows",
    ),
    "too few predictions": (
        {"min_support": 106, "metrics": "precision"}, ValueError, "but there are 210 rows. Decrease"
    ),
    "no slice": (
        {"over": "id"}, ValueError,
        "a slice and the rest each need min_support=30 rows of every label. Decrease min_support=, "
        "search other columns, or give fewer bins.",
    ),
    "more slices": (
        {"max_slices": 3}, ValueError,
        "there are more than max_slices=3 slices; search fewer columns, decrease depth=, increase "
        "min_support=, or increase max_slices= if memory allows.",
    ),
    "pos_label": ({"metrics": "recall", "labels": [0, 1, 2]}, ValueError, "needs pos_label="),
}  # fmt: skip


def message(call, kind):
    with pytest.raises(bf.BalframeError) as raised:
        call()
    assert isinstance(raised.value, kind)
    return str(raised.value)


@cases("about", REFUSED)
def test_invalid_arguments_are_refused_at_once(about):
    options, kind, words = REFUSED[about]
    given = {"y_true": "y", "y_pred": "yhat", **SEARCHED, **options}

    texts = [message(lambda m=m: bf.slices(m(ROWS), **given), kind) for m in CONSTRUCTORS]
    assert [text for text in texts if not re.search(words, text)] == []


@cases("about", WHEN_READ)
def test_invalid_values_are_refused_when_they_are_read(about):
    options, kind, words = WHEN_READ[about]
    given = {"y_true": "y", "y_pred": "yhat", **SEARCHED, **options}

    for make in CONSTRUCTORS:
        if make is pl.LazyFrame:
            continue
        text = message(lambda m=make: plain(bf.slices(m(ROWS), **given)), kind)
        assert re.search(words, text), text


def test_a_search_of_an_empty_frame_raises():
    frame = pl.DataFrame(ROWS).clear()
    message_of_rows = message(lambda: bf.slices(frame, "y", "yhat"), ValueError)

    assert message_of_rows.startswith("no slice is large enough")


def warned(**options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = bf.slices(pl.DataFrame(ROWS), "y", "yhat", **options)
    assert all(one.category is bf.BalframeWarning for one in found)
    assert all(one.filename == __file__ for one in found)
    return result, [str(one.message) for one in found]


def test_a_column_of_rare_levels_is_reported():
    _, texts = warned(over=["sex", "id"], metrics="accuracy")

    assert texts[0] == (
        "columns were barely searched, because most of their rows have levels that are too rare: "
        "400 of 400 levels of 'id'. Leave such columns out of over=, or decrease min_support=30."
    )
    _, texts = warned(over=["id", "sex", "day"], metrics="accuracy")
    assert "400 of 400 levels of 'id', 200 of 200 levels of 'day'" in texts[0]
    _, texts = warned(over=["sex", "age"], metrics="accuracy")
    assert not any("barely searched" in text for text in texts)


def test_an_empty_result_warns_with_the_smallest_adjusted_p_value():
    options = {"over": ["sex"], "metrics": "accuracy", "level": 0.999}
    result, (text,) = warned(**options)
    _, seen = search_quietly(**options)
    adjusted = np.exp(np.minimum(seen.tested.log_adjusted, 0))

    assert result.height == 0
    nearest = seen.slices()[int(np.argmin(seen.tested.log_adjusted))]
    assert text == (
        "no slice is listed: of 2 slices tested, none is significantly worse than the rest at "
        "level 0.999. The smallest adjusted p-value is "
        f"{adjusted.min():.2g}, of sex = {nearest['sex']}."
    )


def test_an_empty_result_warns_if_no_slice_reaches_min_difference():
    result, (text,) = warned(over=["sex"], metrics="accuracy", min_difference=0.9)

    assert result.height == 0
    assert text == ("no slice is listed: none of the 2 slices is that much worse than the rest.")


def search_quietly(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search(pl.DataFrame(ROWS), **options)
