"""Predictions whose labels are mostly not those of the truth are counted, with a warning."""

import warnings

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

Y = [0, 1] * 10
DECILES = [*range(1, 11)] * 2  # two of them are 1, which is a label of the truth


def warnings_of(frame, *columns, method=bf.report, **options):
    """List the warnings that a method gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = method(frame, *columns, **options)
        if isinstance(result, pl.LazyFrame):
            result.collect()
    assert {one.category for one in caught} <= {bf.BalframeWarning}
    return [str(one.message) for one in caught]


@each_constructor
def test_integer_scores_as_predictions_warn(constructor):
    said = warnings_of(constructor({"y": Y, "decile": DECILES}), "y", "decile", metrics="accuracy")

    assert said == [
        "18 of 20 predictions in column 'decile' never occur in column 'y': 2, 3, 4, 5, 6, ... "
        "(4 more). Column 'y' has 0, 1. If 'decile' is a score, turn it into labels first, with "
        "`score >= threshold`. Otherwise use the same class labels in both columns, or list all "
        "of them in labels=."
    ]


@each_constructor
def test_labels_that_are_spelt_differently_warn(constructor):
    frame = constructor({"y": ["No", "Yes"] * 10, "p": ["no", "yes"] * 10})

    assert warnings_of(frame, "y", "p", metrics="accuracy") == [
        "20 of 20 predictions in column 'p' never occur in column 'y': 'no', 'yes'. Column 'y' "
        "has 'No', 'Yes'. Use the same class labels in both columns, or list all of them in "
        "labels=."
    ]


@each_constructor
def test_true_labels_that_are_never_predicted_warn(constructor):
    frame = constructor({"y": ["a"] * 9 + ["b"] * 11, "p": ["a", "c"] * 10})

    assert warnings_of(frame, "y", "p", metrics="accuracy") == [
        "11 of 20 true labels in column 'y' never occur in column 'p': 'b'. Column 'p' has 'a', "
        "'c'. Use the same class labels in both columns, or list all of them in labels=."
    ]


@cases(
    ("y", "p"),
    [
        (["a"] * 10 + ["b"] * 10, ["a", "c"] * 10),  # half of them
        (["a"] * 5 + ["b"] * 15, ["a"] * 20),  # a baseline that always predicts one class
        (["a"] * 20, ["a"] * 10 + ["b"] * 10),
        (["a"] * 9, ["b"] * 9),  # so few rows may be so by chance
        ([True, False] * 10, [1, 0] * 10),
        ([0] * 20, [1] * 20),  # which are labels of one kind, whatever they say of the model
        ([-1] * 20, [1] * 20),
        (["no"] * 20, ["yes"] * 20),
        ([0.0, 1.0] * 10, [1, 0] * 10),
    ],
)
def test_few_or_plausible_unmatched_labels_do_not_warn(y, p):
    assert warnings_of(pl.DataFrame({"y": y, "p": p}), "y", "p", metrics="accuracy") == []


def test_labels_listed_by_the_caller_do_not_warn():
    frame = pl.DataFrame({"y": Y, "p": DECILES})

    assert warnings_of(frame, "y", "p", metrics="accuracy", labels=[*range(11)]) == []


def test_the_warning_weighs_rows_by_their_counts():
    frame = pl.DataFrame({"y": [0, 1, 0], "p": [0, 1, 2], "n": [10, 10, 21]})

    assert warnings_of(frame, "y", "p", counts="n", metrics="accuracy")[0].startswith("21 of 41 ")
    assert warnings_of(frame.with_columns(n=10), "y", "p", counts="n", metrics="accuracy") == []


def test_dropped_rows_do_not_count_for_the_warning():
    y = [*Y, *[None] * 30]
    frame = pl.DataFrame({"y": y, "p": [*Y, *[7] * 30]})

    assert warnings_of(frame, "y", "p", metrics="accuracy", missing="drop") == []


def test_each_model_warns_at_most_once():
    frame = pl.DataFrame({"y": Y, "a": DECILES, "b": Y, "c": [7] * 20})

    for method in (bf.report, bf.compare):
        said = warnings_of(frame, "y", ["a", "b", "c"], method=method, metrics="accuracy")
        assert [one.partition(" never")[0] for one in said] == [
            "18 of 20 predictions in column 'a'",
            "20 of 20 predictions in column 'c'",
        ]


@each_constructor
def test_the_warning_points_to_the_file_of_the_caller(constructor):
    frame = constructor({"y": Y, "p": DECILES})

    with pytest.warns(bf.BalframeWarning) as caught:
        bf.report(frame, "y", "p", metrics="accuracy", backend="polars")
    assert [one.filename for one in caught] == [__file__]


def test_the_warning_can_be_raised_and_reworded_for_other_options():
    frame = pl.DataFrame({"y": Y, "p": DECILES})

    for given in (frame, frame.lazy()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(bf.BalframeWarning) as raised:
                bf.report(given, "y", "p", metrics="accuracy").lazy().collect()
        assert raised.value.parameters == ("labels",)
        assert "labels first, with --threshold." in raised.value.written(
            lambda name, _: f"--{name}"
        )


def test_the_warning_does_not_change_the_result():
    frame = pl.DataFrame({"y": Y, "p": DECILES})

    with pytest.warns(bf.BalframeWarning):
        said = bf.report(frame, "y", "p", metrics="accuracy")
    assert plain(said)["accuracy"] == [0]  # the predictions of 1 stand beside true zeros


N = 2**18  # rows from which a sample is looked at first


@pytest.mark.parametrize("as_frame", [lambda f: f, pl.DataFrame.to_pandas])
def test_scores_as_labels_are_refused_from_a_sample_of_rows(as_frame):
    at = pl.int_range(N)
    score = pl.when(at < N - 1).then(at / N)  # the null of the last row is not come to
    frame = as_frame(pl.select(y=at % 2, s=score))

    with pytest.raises(bf.InvalidInputError, match="'s' holds numbers that are not whole"):
        bf.report(frame, "y", "s")


def test_scores_as_labels_of_a_lazy_frame_are_refused_before_max_cells():
    frame = pl.select(y=pl.int_range(1000) % 2, s=pl.int_range(1000) / 1000 - 0.5).lazy()

    with pytest.raises(bf.InvalidInputError, match="'s' holds numbers that are not whole"):
        bf.report(frame, "y", "s", max_cells=4).collect()


@pytest.mark.parametrize("as_frame", [lambda f: f, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_fractions_in_dropped_rows_are_not_refused(as_frame):
    y = pl.when(pl.int_range(N) % 2 == 0).then(1)
    frame = as_frame(pl.select(y=y, p=pl.when(pl.int_range(N) % 2 == 0).then(1.0).otherwise(0.5)))

    result = bf.report(frame, "y", "p", metrics="accuracy", missing="drop", pos_label=1)
    assert plain(result)["n"] == [N // 2]
    assert plain(result)["n_missing"] == [N // 2]


@pytest.mark.parametrize("as_frame", [lambda f: f, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_the_null_error_counts_the_nulls_of_all_rows(as_frame):
    p = pl.when(pl.int_range(N) >= 5).then(1.0)
    frame = as_frame(pl.select(y=pl.lit(1).repeat_by(N).explode(), p=p))

    with pytest.raises(bf.InvalidInputError, match="'p' has 5 null"):
        bf.report(frame, "y", "p", backend="polars")
