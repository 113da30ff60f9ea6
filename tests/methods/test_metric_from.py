import datetime
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain

FUNCTIONS = {
    "sk_mcc": (sk.matthews_corrcoef, (-1, 1)),
    "sk_f1_macro": (partial(sk.f1_score, average="macro", zero_division=0), (0, 1)),
    "sk_f2": (partial(sk.fbeta_score, beta=2, average="micro"), (0, 1)),
    "sk_kappa": (sk.cohen_kappa_score, (-1, 1)),
}


def register(**options):
    return [
        bf.metric_from(function, name=name, range=range_, **options)
        for name, (function, range_) in FUNCTIONS.items()
    ]


def share_correct(y_true, y_pred):
    """Share of correct rows: TP / n."""
    return float(np.mean(y_true == y_pred))


def rows(labels, n=240):
    rng = np.random.default_rng(7)
    y = rng.integers(0, len(labels), n)
    yhat = np.where(rng.random(n) < 0.6, y, rng.integers(0, len(labels), n))
    group = rng.choice(["a", "b", None], n)
    return pl.DataFrame(
        {
            "y": [labels[i] for i in y],
            "yhat": [labels[i] for i in yhat],
            "g": pl.Series(group.tolist(), dtype=pl.String),
        }
    )


LABELS = {
    "strings": ["no", "maybe", "yes"],
    "booleans": [False, True],
    "integers": [3, 1, 2, 0],
}


def expected_scores(frame):
    """Call the functions of scikit-learn on the rows of each group, the null group last."""
    table = frame.sort("g", nulls_last=True).partition_by("g", maintain_order=True)
    return {
        name: [function(part["y"].to_list(), part["yhat"].to_list()) for part in table]
        for name, (function, _) in FUNCTIONS.items()
    }


@pytest.mark.parametrize("counts", [None, "sample_weight"])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.lazy, lambda df: df])
def test_functions_of_scikit_learn_are_scored_in_every_segment(convert, labels, counts):
    frame = rows(labels)
    names = register(counts=counts)

    out = bf.report(convert(frame), "y", "yhat", by="g", metrics=names)

    out = out.collect() if isinstance(out, pl.LazyFrame) else out
    assert len(out) == 3
    for name, expected in expected_scores(frame).items():
        assert list(out[name]) == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("counts", [None, "sample_weight"])
def test_rows_with_counts_score_as_the_repeated_rows(counts):
    frame = rows(LABELS["strings"])
    cells = bf.confusion(frame, "y", "yhat", by="g")
    names = register(counts=counts)

    out = bf.report(cells, "y", "yhat", by="g", counts="n", metrics=names)

    for name, expected in expected_scores(frame).items():
        assert out[name].to_list() == pytest.approx(expected, abs=1e-12), name


@cases(
    ("labels", "kind"),
    [
        (["no", "yes"], str),
        ([False, True], bool),
        ([2, 7], int),
        ([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)], datetime.date),
    ],
)
def test_the_function_gets_the_labels_of_the_columns(labels, kind):
    seen = []

    def record(y_true, y_pred):
        seen.append((y_true.tolist(), y_pred.tolist()))
        return 0.5

    bf.metric_from(record, range=(0, 1))
    frame = pl.DataFrame({"y": labels * 2, "yhat": [labels[0], *labels, labels[1]]})
    bf.report(frame, "y", "yhat", metrics="record")

    [(y_true, y_pred)] = seen
    assert sorted(zip(y_true, y_pred, strict=True)) == sorted(
        zip(frame["y"], frame["yhat"], strict=True)
    )
    assert {type(label) for label in y_true + y_pred} == {kind}


def test_a_metric_is_used_under_its_name_an_alias_and_a_new_name():
    name = bf.metric_from(share_correct, range=(0, 1), aliases=["sc"])
    frame = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 0, 0, 0]})

    assert name == "share_correct"
    out = bf.report(frame, "y", "p", metrics={"mine": name})
    assert out["mine"].to_list() == [3 / 4]
    assert bf.report(frame, "y", "p", metrics=["sc"])["sc"].to_list() == [3 / 4]
    listed = bf.list_metrics(backend="polars").filter(name="share_correct")
    assert listed.select("formula", "range", "aliases").row(0) == ("TP / n", "[0, 1]", "sc")


@cases("metrics", [share_correct, [share_correct], {"mine": share_correct}])
def test_a_function_that_is_not_registered_points_to_metric_from(metrics):
    frame = pl.DataFrame({"y": [1], "p": [1]})

    with pytest.raises(bf.UnsupportedTypeError, match=r"register .* bf\.metric_from, and give its"):
        bf.report(frame, "y", "p", metrics=metrics)


def test_a_class_that_is_absent_from_a_segment_is_absent_from_its_arrays():
    bf.metric_from(lambda y_true, y_pred: len({*y_true, *y_pred}), name="seen", range=(0, 9))
    frame = pl.DataFrame({"g": [1, 1, 2, 2], "y": list("aabc"), "p": list("aaba")})

    out = bf.report(frame, "y", "p", by="g", metrics="seen")

    assert out["seen"].to_list() == [1, 3]


def test_nan_and_segments_without_rows_are_null():
    bf.metric_from(
        lambda y_true, y_pred: np.nan if len({*y_true}) < 2 else 1.0, name="two", range=(0, 1)
    )
    frame = pl.DataFrame({"g": [1, 1, 2, 3, 3], "y": [0, 1, 1, None, None], "p": [0, 1, 1, 1, 0]})

    out = bf.report(frame, "y", "p", by="g", metrics="two", missing="drop", interval=True)

    assert out["two"].to_list() == [1.0, None, None]
    assert out["two_lower"].to_list() == [None] * 3


class TestErrors:
    frame = pl.DataFrame({"g": ["a", "a", "b"], "y": [0, 1, 1], "p": [0, 1, 1]})

    def test_an_error_of_the_function_names_the_segment(self):
        def needs_two(y_true, y_pred):
            if len(set(y_true)) < 2:
                raise ValueError("Only one class is present.")
            return 1.0

        bf.metric_from(needs_two, range=(0, 1))
        with pytest.raises(bf.InvalidInputError) as caught:
            bf.report(self.frame, "y", "p", by="g", metrics="needs_two")

        assert str(caught.value) == (
            "metric 'needs_two' failed where 'g' is 'b' (1 row): ValueError: Only one class is "
            "present. Let the function return NaN where it is undefined; the result is then null."
        )
        assert isinstance(caught.value.__cause__, ValueError)

    def test_an_error_in_a_resample_says_so(self):
        def needs_two(y_true, y_pred):
            return 1 / (len(set(y_true)) - 1)

        bf.metric_from(needs_two, range=(0, 1))
        with pytest.raises(
            bf.InvalidInputError,
            match=r"failed in a bootstrap resample where 'g' is 'a' \(2 rows\): ZeroDivisionError",
        ):
            bf.report(
                self.frame.filter(g="a"), "y", "p", by="g", metrics="needs_two", interval=True
            )

    def test_the_rest_of_a_segment_is_described_by_its_rows(self):
        def fails_on_three(y_true, y_pred):
            return 1 / (len(y_true) - 3)

        bf.metric_from(fails_on_three, range=(-1, 1))
        frame = pl.DataFrame({"g": ["a", "a", "b", "c"], "y": [0, 1, 1, 0], "p": [0, 1, 1, 1]})
        with pytest.raises(bf.InvalidInputError, match=r"failed in 3 rows: ZeroDivisionError"):
            bf.gaps(frame, "y", "p", by="g", metrics="fails_on_three")

    @cases("value", [None, "0.5", True, np.array([0.5, 0.5]), 1j, [0.5]])
    def test_what_is_not_a_number_is_refused(self, value):
        bf.metric_from(lambda y_true, y_pred: value, name="odd", range=(0, 1))

        with pytest.raises(bf.UnsupportedTypeError, match=r"'odd' returned .* must return one num"):
            bf.report(self.frame, "y", "p", metrics="odd")

    @cases("value", [1, np.float32(1), np.array(1.0), np.int64(1)])
    def test_numbers_of_numpy_are_floats(self, value):
        bf.metric_from(lambda y_true, y_pred: value, name="even", range=(0, 1))

        assert bf.report(self.frame, "y", "p", metrics="even")["even"].to_list() == [1.0]

    def test_weights_of_rows_are_refused(self):
        bf.metric_from(share_correct, range=(0, 1))
        frame = self.frame.with_columns(w=pl.Series([0.5, 1, 2]))

        with pytest.raises(bf.InvalidInputError, match=r"cannot use the weights of sample_weight="):
            bf.report(frame, "y", "p", sample_weight="w", metrics="share_correct")

    def test_too_many_rows_are_refused_unless_the_function_takes_their_number(self):
        cells = pl.DataFrame({"y": [0, 1], "p": [0, 0], "n": [30_000_000, 10_000_000]})
        bf.metric_from(share_correct, range=(0, 1))
        counted = bf.metric_from(
            sk.accuracy_score, name="sk_accuracy", range=(0, 1), counts="sample_weight"
        )

        with pytest.raises(
            bf.InvalidInputError, match=r'more than 10,000,000 rows .* counts="sample_weight"'
        ):
            bf.report(cells, "y", "p", counts="n", metrics="share_correct")
        out = bf.report(cells, "y", "p", counts="n", metrics=counted)
        assert out["sk_accuracy"].to_list() == [0.75]

    @cases(
        ("arguments", "options", "message"),
        [
            ([3], {"range": (0, 1)}, "3 of type int is not a function"),
            ([share_correct], {}, "bf.metric_from needs range"),
            ([share_correct], {"range": (1, 0)}, "must be a pair with the smaller value first"),
            ([partial(share_correct)], {"range": (0, 1)}, "has no name of its own; give name="),
            ([lambda y, p: 1], {"range": (0, 1)}, "has no name of its own; give name="),
            ([share_correct], {"range": (0, 1), "name": 3}, "name=3 is not a non-empty string"),
            ([share_correct], {"range": (0, 1), "counts": ""}, "counts='' is not a non-empty"),
            ([share_correct], {"range": (0, 1), "name": "recall"}, "'recall' is built into"),
            ([share_correct], {"range": (0, 1), "n_resamples": 0}, "n_resamples=0 is not a whole"),
            ([share_correct], {"range": (0, 1), "seed": -1}, "seed=-1 is not a whole number"),
        ],
    )
    def test_invalid_arguments_are_refused(self, arguments, options, message):
        with pytest.raises(bf.BalframeError, match=message):
            bf.metric_from(*arguments, **options)


class TestInterval:
    def test_limits_of_accuracy_are_near_the_analytical_ones(self):
        bf.metric_from(share_correct, range=(0, 1))
        out = bf.report(
            rows(LABELS["strings"], 2000),
            "y",
            "yhat",
            by="g",
            metrics=["share_correct", "accuracy"],
            interval=True,
        )

        for end in ("lower", "upper"):
            analytical = out[f"accuracy_{end}"].to_list()
            assert out[f"share_correct_{end}"].to_list() == pytest.approx(analytical, abs=0.005)

    def test_limits_are_the_same_again_and_in_every_library(self):
        frame = rows(LABELS["strings"])
        bf.metric_from(share_correct, range=(0, 1), n_resamples=400)
        first, again, other = (
            bf.report(data, "y", "yhat", by="g", metrics="share_correct", interval=True)
            for data in (frame, frame, frame.to_pandas())
        )

        assert first.equals(again)
        assert_table(other, plain(first))

    def test_limits_depend_on_the_seed_and_not_on_other_segments(self):
        frame = rows(LABELS["booleans"])
        one = bf.metric_from(share_correct, range=(0, 1), n_resamples=400)
        other = bf.metric_from(share_correct, name="other", range=(0, 1), n_resamples=401, seed=5)

        out = bf.report(frame, "y", "yhat", by="g", metrics=[one, other], interval=True)
        alone = bf.report(frame.filter(g="b"), "y", "yhat", metrics=[one], interval=True)

        assert alone["share_correct_lower"][0] == out["share_correct_lower"][1]
        assert out["share_correct_lower"].to_list() != out["other_lower"].to_list()

    def test_percentiles_of_two_cells_are_binomial_quantiles(self):
        from scipy.stats import binom

        frame = pl.DataFrame({"y": [1, 1], "p": [1, 0], "n": [60, 40]})
        name = bf.metric_from(share_correct, range=(0, 1), n_resamples=20_000)

        out = bf.report(frame, "y", "p", counts="n", metrics=name, interval=True, layout="long")

        limits = out.select("lower", "upper").row(0)
        assert limits == pytest.approx(binom.ppf([0.025, 0.975], 100, 0.6) / 100, abs=0.0101)
        detailed = bf.report(
            frame, "y", "p", counts="n", metrics=name, interval=True, layout="long", detail=True
        )
        assert detailed["method"].to_list() == ["bootstrap"]

    def test_without_errors_limits_are_null(self):
        bf.metric_from(share_correct, range=(0, 1))
        frame = pl.DataFrame({"y": [1, 0] * 9, "p": [1, 0] * 9})

        out = bf.report(frame, "y", "p", metrics="share_correct", interval=True)

        assert out.select("^share.*$").row(0) == (1.0, None, None)

    @cases(("level", "has_limits"), [(0.99, True), (0.995, False)])
    def test_limits_need_ten_resamples_beyond_them(self, level, has_limits):
        bf.metric_from(share_correct, range=(0, 1))

        out = bf.report(
            rows([0, 1]), "y", "yhat", metrics="share_correct", interval=True, level=level
        )

        assert (out["share_correct_lower"][0] is not None) == has_limits

    @cases(("n", "has_limits"), [(4, False), (40, True)])
    def test_limits_are_null_if_many_resamples_are_undefined(self, n, has_limits):
        """Of 4 rows, resamples lack a label in 2 (1 / 2)^4 = 12.5%; of 40 hardly ever."""

        def two_labels(y_true, y_pred):
            return np.mean(y_true == y_pred) if len({*y_true}) == 2 else np.nan

        bf.metric_from(two_labels, range=(0, 1))
        frame = pl.DataFrame({"y": [0, 1] * (n // 2), "p": [0, 1, 1, 1] * (n // 4)})

        out = bf.report(frame, "y", "p", metrics="two_labels", interval=True)

        assert (out["two_labels_upper"][0] is not None) == has_limits

    def test_warnings_of_resamples_are_not_shown(self):
        frame = pl.DataFrame({"y": [0, 1, 1, 0], "p": [0, 1, 0, 0]})
        name = bf.metric_from(sk.precision_score, name="sk_precision", range=(0, 1))

        bf.report(frame, "y", "p", metrics=name, interval=True)  # warnings are errors in tests


class TestClusters:
    def test_clusters_are_resampled(self):
        """Rows of a cluster are equal: 60 clusters of 5 rows are worth 60 rows."""
        rng = np.random.default_rng(1)
        right = rng.random(60) < 0.7
        single = pl.DataFrame({"y": [1] * 60, "p": right.astype(int), "c": range(60)})
        name = bf.metric_from(share_correct, range=(0, 1))
        request = {"metrics": name, "interval": True}

        alone = bf.report(single, "y", "p", **request)
        of_five = bf.report(pl.concat([single] * 5), "y", "p", cluster="c", **request)
        each_alone = bf.report(single, "y", "p", cluster="c", **request)

        wanted = "^share.*$"
        assert of_five.select(wanted).row(0) == pytest.approx(alone.select(wanted).row(0), abs=0.04)
        assert each_alone.select(wanted).equals(alone.select(wanted))

    def test_one_cluster_has_no_limits(self):
        name = bf.metric_from(share_correct, range=(0, 1))
        frame = pl.DataFrame({"y": [1, 1, 0], "p": [1, 0, 0], "c": [1, 1, 1]})

        out = bf.report(frame, "y", "p", cluster="c", metrics=name, interval=True)

        assert out.select("^share.*$").row(0) == (2 / 3, None, None)

    def test_gaps_of_clusters_have_no_limits(self):
        name = bf.metric_from(share_correct, range=(0, 1))
        frame = rows([0, 1]).with_columns(c=pl.int_range(pl.len()) // 4)

        out = bf.gaps(frame, "y", "yhat", by="g", cluster="c", metrics=name)

        assert out["lower"].to_list() == [None] * 3
        assert out["difference"].null_count() == 0


class TestOtherMethods:
    frame = rows([0, 1])

    def test_gaps_compares_with_the_rest_without_a_p_value(self):
        name = bf.metric_from(share_correct, range=(0, 1))
        out = bf.gaps(self.frame, "y", "yhat", by="g", metrics=[name, "accuracy"])

        own, accuracy = (out.filter(metric=metric) for metric in (name, "accuracy"))
        assert own["estimate"].to_list() == accuracy["estimate"].to_list()
        assert own["difference"].to_list() == pytest.approx(accuracy["difference"].to_list())
        assert own["lower"].to_list() == pytest.approx(accuracy["lower"].to_list(), abs=0.03)
        assert own["p_adjusted"].null_count() == 3

    def test_gaps_of_many_labels_scores_the_rest(self):
        frame = rows(LABELS["strings"])
        name = bf.metric_from(sk.cohen_kappa_score, name="sk_kappa", range=(-1, 1), n_resamples=1)
        out = bf.gaps(frame, "y", "yhat", by="g", metrics=name)

        for group, difference in zip(["a", "b", None], out["difference"], strict=True):
            is_group = pl.col("g").eq_missing(pl.lit(group))
            inside, outside = frame.filter(is_group), frame.filter(~is_group)
            scores = (
                sk.cohen_kappa_score(part["y"].to_list(), part["yhat"].to_list())
                for part in (inside, outside)
            )
            assert difference == pytest.approx(next(scores) - next(scores), abs=1e-12)

    def test_check_is_decided_by_the_estimate_only(self):
        bf.metric_from(share_correct, range=(0, 1))
        request = {"y_true": "y", "y_pred": "yhat", "rules": "share_correct >= 0.5"}

        for cluster in (None, "c"):
            frame = self.frame.with_columns(c=pl.int_range(pl.len()) // 4)
            match = r"has no confidence interval .* level=None"
            with pytest.raises(bf.InvalidInputError, match=match):
                bf.check(frame, cluster=cluster, **request)
        out = bf.check(self.frame, level=None, **request)
        assert out["status"].to_list() == ["pass"]

    def test_disparity_has_no_limits(self):
        name = bf.metric_from(share_correct, range=(0, 1))
        out = bf.disparity(self.frame, "y", "yhat", by="g", metrics=[name, "accuracy"])

        assert out["difference"][0] == pytest.approx(out["difference"][1])
        assert out.row(0, named=True)["lower"] is None

    def test_compare_has_differences_without_limits(self):
        name = bf.metric_from(share_correct, range=(0, 1))
        frame = self.frame.with_columns(q=pl.lit(1))

        out = bf.compare(frame, "y", ["yhat", "q"], metrics=[name, "accuracy"])

        assert out["difference"][0] == out["difference"][1]
        assert out.row(0, named=True)["lower"] is None

    @cases("labels", [[0, 1], ["no", "yes"]])
    def test_curve_scores_every_threshold(self, labels):
        frame = pl.DataFrame({"y": [labels[i] for i in (0, 1, 0, 1)], "s": [0.1, 0.4, 0.6, 0.9]})
        name = bf.metric_from(
            partial(sk.fbeta_score, beta=2, pos_label=labels[1], zero_division=0),
            name="sk_f2",
            range=(0, 1),
        )
        out = bf.curve(frame, "y", "s", metrics=[name, "fbeta(2)"])

        own, built_in = out["sk_f2"].to_list(), out["fbeta(2)"].to_list()
        assert own[-1] == 0 or own[0] == 0
        assert [value for value in own if value] == pytest.approx(
            [value for value in built_in if value]
        )

    def test_curve_of_three_labels_is_refused(self):
        frame = pl.DataFrame({"y": ["a", "b", "c"], "s": [0.1, 0.4, 0.6]})
        name = bf.metric_from(share_correct, range=(0, 1))

        with pytest.raises(bf.InvalidInputError, match="is a function of two labels, but here all"):
            bf.curve(frame, "y", "s", pos_label="a", metrics=name)
