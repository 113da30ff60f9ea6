"""What options mean, on small tables written by hand and the same on every library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from balframe.metrics import registry
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

METHODS = cases("method", [bf.report, bf.classes, bf.confusion])


def rows(out, *names):
    """List the rows of a frame of any library, or of some of its columns; floats roughly."""
    table = plain(out)
    return [
        tuple(pytest.approx(value, rel=1e-12) if type(value) is float else value for value in row)
        for row in zip(*(table[name] for name in names or table), strict=True)
    ]


@cases(
    ("absent", "in_b"),
    [
        ("skip", ((1 + 1 / 2) / 2, (1 * 1 + 3 / 2) / 4, (1 / 2) ** (1 / 2), (3 / 4 - 1 / 2) * 2)),
        ("null", (None, None, None, None)),
        ("zero", ((1 + 1 / 2) / 3, (1 * 1 + 3 / 2) / 8, 0.0, (1 / 2 - 1 / 3) * 3 / 2)),
    ],
)
@each_constructor
def test_absent_label_is_skipped_null_or_zero(constructor, absent, in_b):
    y, yhat = [0, 0, 0, 0, 1, 2, 0, 0, 1, 1], [0, 2, 2, 2, 1, 2, 0, 0, 1, 2]
    frame = constructor({"g": [*"aaaaaabbbb"], "y": y, "yhat": yhat})
    metrics = ["balanced_accuracy", "baw", "geometric_mean", "adjusted_balanced_accuracy"]
    labels = bf.label_set(absent=absent)
    options = {"metrics": metrics, "class_weight": {0: 1, 1: 3, 2: 4}, "labels": labels}
    in_a = ((1 / 4 + 2) / 3, (1 / 4 + 3 + 4) / 8, (1 / 4) ** (1 / 3), (3 / 4 - 1 / 3) * 3 / 2)
    out = bf.report(frame, "y", "yhat", by="g", detail=True, **options)
    assert rows(out) == [("a", 6, *in_a, 3, 1), ("b", 4, *in_b, 2, 2)]


HOLES = {"g": [*"aaab"], "y": [0, 1, None, 0], "k": [2, 3, 4, 5]}
HOLES |= {"p": [0, None, 1, 1], "q": [0, 1, 1, None]}


@each_constructor
def test_rows_with_nulls_are_dropped_separately_for_each_model(constructor):
    frame = constructor(HOLES)
    options = {"missing": "drop", "metrics": ["accuracy", "uar"]}
    out = rows(bf.report(frame, "y", ["p", "q"], by="g", detail=True, **options))
    assert out[:2] == [("a", "p", 1, 2, 1.0, 1.0, 1, 1), ("a", "q", 2, 1, 1.0, 1.0, 2, 1)]
    assert out[2:] == [("b", "p", 1, 0, 0.0, 0.0, 1, 1), ("b", "q", 0, 1, None, None, 0, 0)]
    assert rows(bf.report(frame, "y", "p", counts="k", **options), "n", "n_missing") == [(7, 7)]


@each_constructor
def test_classes_and_confusion_keep_segments_whose_rows_are_all_dropped(constructor):
    frame = constructor(HOLES)
    classes = bf.classes(frame, "y", "q", by="g", missing="drop", detail=True)
    out = rows(classes, "g", "label", "support", "prevalence", "predicted", "recall")
    assert out[:2] == [("a", 0, 1, 0.5, 1, 1.0), ("a", 1, 1, 0.5, 1, 1.0)]
    assert out[2:] == [("b", 0, 0, None, 0, None), ("b", 1, 0, None, 0, None)]
    counted = bf.confusion(frame, "y", "q", by="g", missing="drop")
    assert rows(counted) == [("a", 0, 0, 1), ("a", 1, 1, 1)]
    full = bf.confusion(frame, "y", "q", by="g", missing="drop", complete=True)
    assert rows(full, "g", "n") == [*zip("aaaabbbb", [1, 0, 0, 1, 0, 0, 0, 0], strict=True)]


@each_constructor
def test_weights_change_estimates_but_not_support_and_n(constructor):
    frame = constructor({"y": [0, 0, 0, 1], "yhat": [0, 0, 1, 1], "w": [2.5, 0.5, 1.0, 4.0]})
    options = {"sample_weight": "w", "metrics": ["accuracy", "uar"], "detail": True}
    assert rows(bf.report(frame, "y", "yhat", **options)) == [(4, 7 / 8, (3 / 4 + 1) / 2, 2, 1)]
    classes = bf.classes(frame, "y", "yhat", sample_weight="w", detail=True)
    names = ["support", "prevalence", "predicted", "correct", "recall", "precision"]
    assert rows(classes, *names) == [(3, 0.5, 2, 2, 0.75, 1.0), (1, 0.5, 2, 1, 1.0, 4 / 5)]


@each_constructor
def test_a_label_without_weight_is_absent(constructor):
    frame = constructor({"y": [0, 0, 1], "yhat": [0, 1, 1], "w": [1.0, 1.0, 0.0]})
    metrics = ["uar", "adjusted_balanced_accuracy", "normalized_accuracy"]
    out = bf.report(frame, "y", "yhat", sample_weight="w", metrics=metrics, detail=True)
    assert rows(out) == [(3, 0.5, None, 0.0, 1, 2)]
    assert plain(bf.classes(frame, "y", "yhat", sample_weight="w"))["recall"] == [0.5, None]


COUNTED = {"g": [*"aabbc"], "y": [0, 1, 1, 0, 2], "yhat": [0, 0, 1, 0, 0], "k": [3, 1, 2, 0, 0]}


@METHODS
@each_constructor
def test_counts_equal_repeated_rows(constructor, method):
    repeated = {name: np.repeat(COUNTED[name], COUNTED["k"]).tolist() for name in COUNTED}
    expected = plain(method(constructor(repeated), "y", "yhat", by="g"))
    assert plain(method(constructor(COUNTED), "y", "yhat", by="g", counts="k")) == expected


@each_constructor
def test_rows_with_count_0_are_ignored(constructor):
    frame = constructor({**COUNTED, "holes": [0, 1, 1, None, None]})
    options = {"by": "g", "counts": "k", "metrics": ["accuracy", "normalized_accuracy"]}
    out = bf.report(frame, "holes", "yhat", detail=True, **options)
    assert rows(out) == [("a", 4, 0.75, 0.5, 2, 1), ("b", 2, 1.0, 1.0, 1, 2)]
    assert rows(bf.classes(frame, "y", "yhat", counts="k"), "label", "support") == [(0, 3), (1, 3)]


@each_constructor
def test_counts_with_weights_equal_repeated_weighted_rows(constructor):
    frame = constructor({"y": [0, 1], "yhat": [0, 0], "k": [3, 2], "w": [0.5, 4.0]})
    out = bf.confusion(frame, "y", "yhat", counts="k", sample_weight="w")
    assert rows(out) == [(0, 0, 3, 3 * 0.5, 3 * 0.25, 0.5), (1, 0, 2, 2 * 4.0, 2 * 16.0, 4.0)]


@each_constructor
def test_labels_set_the_order_and_the_size_of_the_label_set(constructor):
    frame = constructor({"y": [0, 0, 1, 2], "yhat": [0, 1, 1, 2]})
    options = {"labels": [2, 7, 0, 1]}
    classes = rows(bf.classes(frame, "y", "yhat", **options), "label", "support", "recall")
    assert classes == [(2, 1, 1.0), (7, 0, None), (0, 2, 0.5), (1, 1, 1.0)]
    confusion = rows(bf.confusion(frame, "y", "yhat", **options))
    assert confusion == [(2, 2, 1), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    options |= {"metrics": ["normalized_accuracy", "uar"], "detail": True}
    out = bf.report(frame, "y", "yhat", **options)
    assert rows(out) == [(4, (3 / 4 - 1 / 4) / (3 / 4), 2.5 / 3, 3, 1)]


@each_constructor
def test_predicted_labels_outside_the_dtype_of_y_true_are_kept(constructor):
    frame = constructor({"y": [False, True], "p": [-1, 1]})
    assert rows(bf.confusion(frame, "y", "p")) == [(0, -1, 1), (1, 1, 1)]


WORDS = {"y": ["no", "no", "no", "Yes", "Yes"], "yhat": ["no", "no", "Yes", "Yes", "no"]}
SCORES = pl.Series([0.1, 0.2, 0.8, 0.9, 0.3])


@cases(
    ("y", "yhat", "pos_label", "expected"),
    [
        ([0, 1, 1], [0, 1, 0], None, (0.5, 1.0)),
        ([-1, 1, 1], [-1, 1, -1], None, (0.5, 1.0)),
        ([False, True, True], [False, True, False], None, (0.5, 1.0)),
        ([0, 0, 0], [0, 0, 0], None, (None, 1.0)),
        ([-1, -1, -1], [-1, -1, -1], None, (None, 1.0)),
        ([1, 1], [1, 1], None, (1.0, None)),
        ([True, True], [1.0, 1.0], None, (1.0, None)),
        ([0, 1, 1], [0, 1, 0], 0, (1.0, 0.5)),
        (["a", "b", "b"], ["a", "b", "a"], "b", (0.5, 1.0)),
        (["no", "yes", "yes"], ["no", "yes", "no"], None, (0.5, 1.0)),
        (["No", "YES", "YES"], ["No", "YES", "No"], None, (0.5, 1.0)),
        (["n", "Y", "Y"], ["n", "Y", "n"], None, (0.5, 1.0)),
        (["false", "true", "true"], ["false", "true", "false"], None, (0.5, 1.0)),
        (["negative", "Positive"], ["Positive", "Positive"], None, (1.0, 0.0)),
        (["no", "no"], ["no", "no"], None, (None, 1.0)),
        (["no", "no"], ["no", "no"], "yes", (None, 1.0)),
        (["NO", "NO"], ["NO", "YES"], None, (None, 0.5)),
        (["yes", "yes"], ["yes", "yes"], None, (1.0, None)),
        (["no", "yes", "yes"], ["no", "yes", "no"], "no", (1.0, 0.5)),
    ],
)
@each_constructor
def test_pos_label_defaults_to_the_positive_of_standard_pairs(
    constructor, y, yhat, pos_label, expected
):
    options = {"metrics": ["recall", "specificity"], "pos_label": pos_label}
    out = bf.report(constructor({"y": y, "yhat": yhat}), "y", "yhat", **options)
    assert rows(out, *options["metrics"]) == [expected]


@cases(
    "frame",
    [
        pl.DataFrame(WORDS, schema_overrides=dict.fromkeys(WORDS, pl.Categorical)),
        pl.DataFrame(WORDS, schema_overrides=dict.fromkeys(WORDS, pl.Enum(["Yes", "?", "no"]))),
        pl.LazyFrame(WORDS, schema_overrides=dict.fromkeys(WORDS, pl.Enum(["no", "Yes"]))),
        pd.DataFrame(WORDS).astype("category"),
        pd.DataFrame(WORDS).astype(pd.CategoricalDtype(["Yes", "yes", "no"], ordered=True)),
        pd.DataFrame(WORDS).astype(object),
    ],
)
def test_categories_have_the_positive_label_of_their_words(frame):
    names = ["recall", "specificity"]
    out = bf.report(frame, "y", "yhat", metrics=names)
    assert rows(out, *names) == [(1 / 2, 2 / 3)]  # categories that do not occur are no labels
    scores = frame.assign(s=SCORES) if hasattr(frame, "assign") else frame.with_columns(s=SCORES)
    assert rows(bf.ranking(scores, "y", "s", detail=True), "n_positive") == [(2,)]


@each_constructor
def test_words_in_several_cases_have_no_positive_label(constructor):
    frame = constructor({"y": ["Yes", "yes"], "yhat": ["Yes", "yes"]})
    says = (
        "metric 'recall' needs pos_label=; give one of the labels: 'Yes', 'yes'. Labels that "
        "differ only in case, such as 'Yes' and 'yes', are different labels, and then it has no "
        "default. If they mean the same, write them in the same case."
    )
    with pytest.raises(bf.InvalidInputError) as error:
        plain(bf.report(frame, "y", "yhat", metrics="recall"))
    assert str(error.value) == says
    with pytest.warns(bf.BalframeWarning, match="'Yes', 'yes' differ only in case"):
        found = rows(bf.report(frame, "y", "yhat", metrics="recall", pos_label="yes"), "recall")
    assert found == [(1.0,)]


def test_scores_of_words_in_several_cases_have_no_positive_label():
    frame = pl.DataFrame({"y": ["Yes", "no", "yes"], "s": [0.2, 0.3, 0.4]})
    with pytest.raises(bf.InvalidInputError, match=r"'Yes', 'no', 'yes'\. Labels that differ only"):
        bf.ranking(frame, "y", "s")


@each_constructor
def test_binary_metrics_of_three_labels_are_null_without_pos_label(constructor):
    frame = constructor({"y": [0, 1, 2, 2], "yhat": [0, 1, 2, 0]})
    names = ["accuracy", "balanced_accuracy", "recall", "f1", "prevalence", "informedness"]
    out = bf.report(frame, "y", "yhat", metrics="all")
    assert rows(out, *names) == [(3 / 4, 2.5 / 3, None, None, None, None)]
    out = bf.report(frame, "y", "yhat", metrics="all", pos_label=2)
    assert rows(out, *names) == [(3 / 4, 2.5 / 3, 1 / 2, 2 / 3, 1 / 2, 1 / 2)]


PEOPLE = {"sex": ["m", "f", "f", None], "race": [1, 1, 2, 2], "y": [0, 1, 1, 0], "p": [0, 1, 0, 1]}
PEOPLE |= {"q": [0, 1, 1, 1]}
FINEST = [
    ("f", 1, "sex, race", 1, 1.0),
    ("f", 2, "sex, race", 1, 0.0),
    ("m", 1, "sex, race", 1, 1.0),
    (None, 2, "sex, race", 1, 0.0),
]
BY_SEX = [("f", None, "sex", 2, 0.5), ("m", None, "sex", 1, 1.0), (None, None, "sex", 1, 0.0)]
BY_RACE = [(None, 1, "race", 2, 1.0), (None, 2, "race", 2, 0.0)]
OVERALL = [(None, None, "overall", 4, 0.5)]


@cases(("margins", "coarser"), [("overall", OVERALL), ("all", BY_SEX + BY_RACE + OVERALL)])
@each_constructor
def test_margins_come_after_the_finest_rows(constructor, margins, coarser):
    out = bf.report(constructor(PEOPLE), "y", "p", by=["sex", "race"], margins=margins)
    assert rows(out, "sex", "race", "grouped_by", "n", "accuracy") == FINEST + coarser
    options = {"metrics": "uar", "margins": margins, "detail": True}
    whole = bf.report(constructor(PEOPLE), "y", ["p", "q"], **options)
    assert rows(whole) == [("overall", "p", 4, 0.5, 2, 2), ("overall", "q", 4, 0.75, 2, 2)]


def test_rolled_up_pandas_columns_are_nullable():
    frame = pd.DataFrame({**PEOPLE, "old": [True, False, True, True]})
    out = bf.report(frame, "y", "p", by=["race", "old"], margins="all")
    assert out.dtypes[["race", "old"]].astype(str).tolist() == ["Int64", "boolean"]


@cases(
    ("normalize", "shares"),
    [
        ("true", [2 / 8, 6 / 8, None, None]),
        ("pred", [1.0, 1.0, 0.0, 0.0]),
        ("all", [2 / 8, 6 / 8, 0.0, 0.0]),
    ],
)
@each_constructor
def test_normalized_shares_of_complete_confusion_include_empty_pairs(
    constructor, normalize, shares
):
    frame = constructor({"y": [0, 0, 0, 1], "p": [0, 0, 1, 1], "w": [1.5, 0.5, 6.0, 0.0]})
    options = {"sample_weight": "w", "complete": True, "normalize": normalize}
    out = bf.confusion(frame, "y", "p", **options)
    cells = [(0, 0, 2, 2.0, 2.5, 1.5), (0, 1, 1, 6.0, 36.0, 6.0)]
    cells += [(1, 0, 0, 0.0, 0.0, 0.0), (1, 1, 1, 0.0, 0.0, 0.0)]
    assert rows(out) == [(*cell, share) for cell, share in zip(cells, shares, strict=True)]


@each_constructor
def test_models_are_in_the_order_of_y_pred(constructor):
    frame = constructor({"y": [0, 1], "b": [0, 0], "a": [0, 1]})
    out = bf.report(frame, "y", ["b", "a"], metrics="accuracy", detail=True)
    assert rows(out) == [("b", 2, 0.5, 2, 1), ("a", 2, 1.0, 2, 1)]
    assert rows(bf.confusion(frame, "y", ["a"])) == [("a", 0, 0, 1), ("a", 1, 1, 1)]
    assert list(plain(bf.confusion(frame, "y", ["a"]))) == ["model", "y", "predicted", "n"]


DAYS = {
    "g": [*"abcab" * 6],
    "y": [i * i % 5 % 3 for i in range(30)],
    "p": [i * i % 7 % 3 for i in range(30)],
    "q": [i % 3 for i in range(30)],
    "w": [2.0 ** (i % 4 - 2) for i in range(30)],
}


@METHODS
@cases("weights", [{}, {"sample_weight": "w"}])
@each_constructor
def test_concatenated_cells_equal_their_rows(constructor, method, weights):
    options, days = {"by": "g", **weights}, []
    for day in (slice(0, 7), slice(7, 20), slice(20, 30)):
        part = constructor({name: values[day] for name, values in DAYS.items()})
        days.append(bf.confusion(part, "y", ["p", "q"], **options))
    concat = {pd.DataFrame: pd.concat, pa.Table: pa.concat_tables}.get(type(days[0]), pl.concat)
    cells = concat(days)
    expected = plain(method(constructor(DAYS), "y", ["p", "q"], **options))
    how = {} if weights else {"counts": "n"}
    assert plain(method(cells, "y", "predicted", by=["g", "model"], **how)) == expected


def test_from_matrix_returns_cells():
    out = plain(bf.from_matrix([[45, 11], [5, 39]], labels=["+", "-"], rows="pred"))
    assert out == {"actual": [*"++--"], "predicted": [*"+-+-"], "n": [45, 5, 11, 39]}
    out = bf.from_matrix(np.array([[45.0, 5], [11, 39]]), backend="pandas").to_dict("split")
    assert out["columns"] == ["actual", "predicted", "n"]
    assert out["data"] == [[0, 0, 45], [0, 1, 5], [1, 0, 11], [1, 1, 39]]


@cases(
    ("matrix", "options", "words"),
    [
        *((matrix, {}, "square") for matrix in ([[1, 2]], [1, 2], [[1, 2], [3]], [], 5)),
        *(([[entry, 1], [1, 1]], {}, "counts") for entry in (-1, 0.5, np.nan, np.inf, "1", 2**63)),
        *((np.eye(2), {"labels": labels}, "2 different labels") for labels in ([0], [0, 0])),
        (np.eye(2), {"rows": "predicted"}, "rows='predicted'.*'true', 'pred'"),
        (np.eye(2), {"backend": "numpy"}, "backend='numpy'.*'polars', 'pandas'"),
    ],
)
def test_from_matrix_refuses_invalid_matrices_and_options(matrix, options, words):
    with pytest.raises(bf.InvalidInputError, match=words):
        bf.from_matrix(matrix, **options)


@pytest.fixture
def register(monkeypatch):
    """Register a metric of one's own, to be forgotten after the test."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_names", dict(registry._names))

    def register(name, function, **options):
        function.__name__, function.__doc__ = name, "Share of rows that are wrong: 1 - TP / n."
        bf.metric(**{"range": (0, 1), **options})(function)

    return register


def test_a_registered_metric_is_reported_and_listed(constructor, register):
    for scale in (100, 1):  # the second time as when a notebook cell runs again
        own = {"better": "lower", "aliases": ["wrong"], "source": "us"}
        register("lost", lambda c, scale=scale: scale * (1 - c.sum(c.correct) / c.total), **own)
    frame = constructor({"g": [*"abb"], "y": [0, 1, 1], "p": [0, 1, 0]})
    out = bf.report(frame, "y", "p", by="g", metrics=["wrong", "lost"])
    assert rows(out, "wrong", "lost") == [(0.0, 0.0), (0.5, 0.5)]
    listed = plain(bf.list_metrics(detail=True))
    told = ["name", "aliases", "of", "formula", "range", "better", "interval", "limits_for"]
    told += ["needs", "presets", "source"]
    assert [*listed] == told
    *_, before, last = zip(*listed.values(), strict=True)
    own = ("lost", "wrong", "labels", "1 - TP / n", "[0, 1]", "lower", "linearised", "decisions")
    assert last == (*own, "", "", "us") != before
    assert plain(bf.list_metrics(backend="pandas", detail=True)) == listed
    assert list(plain(bf.list_metrics())) == told[:8]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("accuracy", {}, "'accuracy' is built into balframe; choose another name"),
        ("uar", {}, "'uar' already names the metric 'balanced_accuracy'"),
        ("mine", {"aliases": ["mcc"]}, "'mcc' already names the metric 'matthews_corrcoef'"),
        ("mine", {"better": "up"}, "better='up'.*'higher', 'lower', None"),
        ("mine", {"needs": ["labels"]}, "needs='labels'.*'pos_label', 'class_weight'"),
    ],
)
def test_a_refused_metric_does_not_change_the_registry(register, name, options, words):
    before = bf.list_metrics()
    with pytest.raises(bf.InvalidInputError, match=words):
        register(name, lambda c: c.total, **options)
    assert bf.list_metrics().equals(before)


def test_a_metric_of_the_wrong_shape_raises(constructor, register):
    register("mine", lambda c: c.recall)
    frame = constructor({"y": [0, 1], "p": [0, 1]})
    with pytest.raises(bf.InvalidInputError, match=r"'mine'.*shape \(2,\).*1 segment"):
        plain(bf.report(frame, "y", "p", metrics="mine"))


@cases("counts", [None, "k"])
@each_constructor
def test_n_missing_of_each_model_counts_its_own_null_rows(constructor, counts):
    frame = constructor(
        {
            "g": ["a", "a", "a", "a", "b", "b"],
            "y": ["1", "0", None, "1", "0", "1"],
            "p": ["1", None, "0", "1", "0", "1"],
            "q": ["1", "1", "1", None, "0", "1"],
            "k": [5, 7, 3, 2, 4, 6],
        }
    )
    options = {"by": "g", "missing": "drop", "metrics": "accuracy", "counts": counts}

    out = plain(bf.report(frame, "y", ["p", "q"], **options))

    with_both, missing = ([2, 2, 2, 2], [2, 2, 0, 0])
    if counts:
        with_both, missing = ([5 + 2, 5 + 7, 10, 10], [7 + 3, 3 + 2, 0, 0])
    assert (out["g"], out["model"]) == (["a", "a", "b", "b"], ["p", "q"] * 2)
    assert (out["n"], out["n_missing"]) == (with_both, missing)
