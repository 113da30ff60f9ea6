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


def test_every_collect_warns_at_its_line():
    lazy = bf.report(pl.LazyFrame({"y": Y, "p": DECILES}), "y", "p", metrics="accuracy")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # once for each line, as in a script
        lazy.collect()
        lazy.collect(engine="streaming")
    assert [one.filename for one in caught] == [__file__] * 2


@pytest.mark.any_version  # with polars 1.32 no frame of the caller is on the stack
def test_collect_all_warns_at_its_line():
    lazy = bf.report(pl.LazyFrame({"y": Y, "p": DECILES}), "y", "p", metrics="accuracy")

    with pytest.warns(bf.BalframeWarning) as caught:
        pl.collect_all([lazy])
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


# One of ten groups is spelled differently; in the others, eight of ten predictions are right.
GROUPS = [f"{i % 10}" for i in range(400)]
LETTERS = [("cat", "dog")[i // 10 % 2] for i in range(400)]
PREDICTED = [
    ("dog" if y == "cat" else "cat") if i // 10 % 10 < 2 else y for i, y in enumerate(LETTERS)
]
HOURS = [f"{i // 10 % 40}" for i in range(400)]  # each segment of both columns is one row
BY_GROUP = {
    "upper case": (str.upper, "'CAT', 'DOG'"),
    "outer spaces": (lambda text: f"{text} ", "'cat ', 'dog '"),
    "codes": ({"cat": "1", "dog": "2"}.get, "'1', '2'"),
}
SEGMENT_METHODS = {
    "report": (bf.report, {"by": "g"}),
    "finer segments": (bf.report, {"by": ["hour", "g"]}),
    "gaps": (bf.gaps, {"by": "g", "metrics": "accuracy"}),
    "check": (bf.check, {"by": "g", "rules": ["accuracy >= 0.5"]}),
    "lazy report": (lambda df, *c, **options: bf.report(df.lazy(), *c, **options), {"by": "g"}),
    "slices": (bf.slices, {"over": ["hour", "g"], "metrics": "accuracy"}),
    "cells": (
        lambda df, *columns, **options: bf.report(
            bf.confusion(df, *columns, by="g", labels=sorted({*df["y"], *df["p"]})),
            *columns,
            **options,
        ),
        {"by": "g"},
    ),
}


def spelled(spell, *, group="7"):
    predicted = [spell(p) if g == group else p for g, p in zip(GROUPS, PREDICTED, strict=True)]
    return pl.DataFrame({"g": GROUPS, "hour": HOURS, "y": LETTERS, "p": predicted})


@cases(("spell", "labels"), BY_GROUP.values())
@cases(("method", "options"), SEGMENT_METHODS.values())
def test_one_group_that_is_spelled_differently_warns(spell, labels, method, options):
    assert warnings_of(spelled(spell), "y", "p", method=method, **options)[:1] == [
        f"40 of 40 predictions in column 'p', where 'g' is '7', never occur in column 'y': "
        f"{labels}. Column 'y' has 'cat', 'dog'. Use the same class labels in both columns, or "
        "list all of them in labels=."
    ]


@cases("missing", ["drop", "correct", bf.correct(verdict="v"), "bounds", "keep"])
@cases("as_frame", [lambda f: f, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_rows_without_a_true_label_do_not_hide_the_labels_of_a_group(missing, as_frame):
    is_lost = pl.int_range(400) // 10 % 4 == 0  # a quarter of each group
    frame = spelled({"cat": "1", "dog": "2"}.get).with_columns(
        y=pl.when(~is_lost).then("y"), v=pl.col("p")
    )
    method = bf.confusion if missing == "keep" else bf.report
    said = warnings_of(as_frame(frame), "y", "p", by="g", missing=missing, method=method)
    assert said[0].startswith(
        "30 of 30 predictions in column 'p', where 'g' is '7', never occur in column 'y': '1', '2'."
    )
    clean = as_frame(frame.filter(pl.col("g") != "7"))
    said = warnings_of(clean, "y", "p", by="g", missing=missing, method=method)
    assert not any("never occur" in one for one in said)


def test_few_true_labels_do_not_hide_labels_that_only_look_different():
    frame = spelled(str).with_columns(y=pl.when(pl.int_range(400) < 4).then("y"))
    frame = frame.with_columns(p=pl.when(pl.int_range(400) < 4).then("p").otherwise(pl.lit("Dog")))
    said = warnings_of(frame, "y", "p", missing="correct", metrics="accuracy")
    assert any(one.startswith("the labels 'Dog', 'dog' differ only in case") for one in said)
    assert any("fewer than 5 rows of some prediction have a true label" in one for one in said)


@cases("by", ["g", ["h", "g"]])
@cases(("n_of_b", "warns"), [(100, True), (25, True), (22, False)])
def test_one_label_that_is_spelled_differently_in_a_group_warns(by, n_of_b, warns):
    """Of b, 4 of 10 rows have true label 0: 40 of 100, 10 of 25, and 8 of 22 predictions."""
    n_zero = n_of_b * 2 // 5
    frame = pl.DataFrame(
        {
            "g": ["a"] * 100 + ["b"] * n_of_b,
            "h": 1,
            "y": [1] * 60 + [0] * 40 + [1] * (n_of_b - n_zero) + [0] * n_zero,
            "p": [1] * 60 + [0] * 40 + [1] * (n_of_b - n_zero) + [-1] * n_zero,
        }
    )
    said = warnings_of(frame, "y", "p", by=by, metrics="accuracy")
    expected = f"{n_zero} of {n_of_b} predictions in column 'p', where 'g' is 'b', never occur"
    assert [one.startswith(expected) for one in said] == [True] * warns


CODED, CLEAN = spelled({"cat": "1", "dog": "2"}.get), spelled(str)
WEEKS = CLEAN.with_columns(day=pl.date(2026, 1, 5) + pl.duration(days=pl.int_range(400) // 20))
COMPARED = {"by": "g", "metrics": "accuracy"}
BASELINES = {
    "diff": (bf.diff, CLEAN, CODED, COMPARED),
    "diff of lazy frames": (bf.diff, CLEAN.lazy(), CODED.lazy(), COMPARED),
    "diff with cells": (bf.diff, CLEAN, "cells", COMPARED),
    "check": (bf.check, CLEAN, CODED, {"by": "g", "rules": ["accuracy >= baseline - 0.5"]}),
    "check with cells": (
        *(bf.check, CLEAN, "cells"),
        {"by": "g", "rules": ["accuracy >= baseline - 0.5"]},
    ),
    "monitor": (
        *(bf.monitor, WEEKS, "cells"),
        {**COMPARED, "time": bf.period("day", "1w"), "dispersion": None},
    ),
}


@cases(("method", "frame", "baseline", "options"), BASELINES.values())
def test_labels_of_a_baseline_warn_once_and_say_so(method, frame, baseline, options):
    if isinstance(baseline, str):
        with pytest.warns(bf.BalframeWarning):
            baseline = bf.confusion(CODED, "y", "p", by="g")
    (warning,) = warnings_of(frame, "y", "p", method=method, baseline=baseline, **options)
    assert warning.startswith("in the baseline, 40 of 40 predictions in column 'p', where 'g' is")


def test_true_labels_of_one_group_that_are_spelled_differently_warn():
    frame = spelled(str.upper).rename({"y": "p", "p": "y"})
    (warning,) = warnings_of(frame, "y", "p", by="g")
    assert warning.startswith("40 of 40 true labels in column 'y', where 'g' is '7', never occur")


def test_codes_that_share_a_label_with_the_others_warn():
    signs = spelled(str).with_columns(
        y=(pl.col("y") == "dog").cast(pl.Int64),
        p=pl.when(pl.col("p") == "dog").then(1).when(pl.col("g") == "7").then(-1).otherwise(0),
    )
    (warning,) = warnings_of(signs, "y", "p", by="g", metrics="accuracy")
    assert warning.startswith("20 of 40 predictions in column 'p', where 'g' is '7', never occur")


@cases("method", [bf.report, bf.compare])
def test_labels_that_only_look_different_warn_without_segments(method):
    options = {} if method is bf.report else {"baseline": "y2", "metrics": "accuracy"}
    frame = spelled(str.upper).with_columns(y2=pl.col("p").str.to_lowercase())
    expected = (
        "the labels {} differ only in case or in spaces around them, and count as different labels."
        " Write each label in one way, or list all labels in labels=."
    )
    said = warnings_of(frame, "y", "p", method=method, **options)
    assert said == [expected.format("'CAT', 'cat'")]
    listed_labels = ["cat", "dog", "CAT", "DOG"]
    assert warnings_of(frame, "y", "p", method=method, labels=listed_labels, **options) == []


def test_labels_that_only_look_different_warn_beside_scores_and_earlier_runs():
    frame = spelled(str).with_columns(s=pl.int_range(400) / 400)
    true = frame.with_columns(y=pl.when(pl.col("g") == "7").then(pl.lit("dog ")).otherwise("y"))
    (of_scores,) = warnings_of(true, "y", "s", method=bf.ranking, pos_label="dog")
    assert of_scores.startswith("the labels 'dog', 'dog ' differ only in case or in spaces")
    earlier = frame.with_columns(pl.col("y", "p").str.to_titlecase())
    (of_runs,) = warnings_of(frame, "y", "p", method=bf.diff, baseline=earlier, metrics="accuracy")
    assert of_runs.startswith("the labels 'Cat', 'cat' differ only in case")


def unmatched(prediction, groups, every=1):
    """Return the frame with another prediction in every n-th row of some groups."""
    at = (pl.col("g").is_in(groups)) & (
        (pl.int_range(400) // 10 + pl.int_range(400) % 10) % every == 0
    )
    return spelled(str).with_columns(p=pl.when(at).then(pl.lit(prediction)).otherwise("p"))


@cases(
    "frame",
    {
        "all right": spelled(str),
        "small segments without a right prediction": spelled(str)
        .filter(~((pl.col("g") == "7") & (pl.int_range(400) >= 50)))
        .with_columns(p=pl.when(pl.col("g") == "7").then(pl.lit("bird")).otherwise("p")),
        "a group in which all is wrong": spelled({"cat": "dog", "dog": "cat"}.get),
        "a group in which all is one label": unmatched("cat", ["7"]),
        "an answer for rows in doubt, in all groups": pl.concat(
            [unmatched("unknown", GROUPS, 3), unmatched("unknown", ["7"])]
        ),
        "an answer for rows in doubt, in some groups more": pl.concat(
            [unmatched("unknown", GROUPS, 5), unmatched("unknown", ["3", "7"], 2)]
        ),
        "an answer that is rare in all groups": unmatched("unknown", GROUPS, 20),
        "some answers in one group": unmatched("unknown", ["7"], 5),
        "a rare label that is never predicted": spelled(str).with_columns(
            y=pl.when(pl.col("g") == "7").then(pl.lit("rare")).otherwise("y")
        ),
    }.values(),
)
@cases("by", ["g", ["g", "hour"]])
def test_wrong_predictions_of_plausible_labels_do_not_warn(frame, by):
    assert warnings_of(frame, "y", "p", by=by, metrics="accuracy") == []
