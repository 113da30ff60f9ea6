"""Rankings against scikit-learn, scipy and all pairs of rows; what all methods of scores refuse."""

import copy
import re
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, each_constructor, head, plain
from tests.support.oracles.roc_areas import area, limits

INF, NAN = float("inf"), float("nan")
FOUND = ["n", "n_positive", "roc_auc", "roc_auc_lower", "roc_auc_upper"]
FOUND += ["average_precision", "brier_score", "ks_statistic", "log_loss"]
CARRIED = [{}, {"sample_weight": "w"}, {"counts": "k"}, {"sample_weight": "w", "counts": "k"}]
carried = cases("options", CARRIED)
METHODS = (bf.curve, bf.best_threshold, bf.ranking)
each_method = cases("method", METHODS)


def draw(levels, size=300, seed=1):
    """Draw rows of three segments, null one of them; few levels make many ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    columns = {
        "g": np.array(["b", "a", None], object)[rng.integers(0, 3, size)],
        "y": y,
        "s": np.clip(rng.integers(0, levels, size) / levels + y / 8, 0, 1),
        "w": rng.uniform(0.1, 5, size),
        "k": rng.integers(0, 4, size),
    }
    return {name: values.tolist() for name, values in columns.items()}


def segments(data, options=()):
    """Yield y, score, rows, and weight of the rows of each segment, in order."""
    arrays = {name: np.array(values) for name, values in data.items() if name != "g"}
    n = arrays["k"] if "counts" in options else np.ones(len(data["y"]), int)
    weight = n * (arrays["w"] if "sample_weight" in options else 1)
    for key in ("a", "b", None):
        at = np.array([one == key for one in data["g"]]) & (n > 0)
        yield arrays["y"][at], arrays["s"][at], n[at], weight[at]


@cases("options", [{}, {"by": "g", "reference": "rest"}, {"by": "g", "cluster": "k"}])
@each_constructor
def test_interval_adds_limits_to_the_other_scores(constructor, options):
    frame = constructor(draw(40))

    out = plain(bf.ranking(frame, "y", "s", interval=True, detail=True, **options))

    without = plain(bf.ranking(frame, "y", "s", detail=True, **options))
    limits_of = {name: [f"{name}_{end}" for end in ("lower", "upper")] for name in FOUND[5:]}
    names = list(out)
    for name, ends in limits_of.items():
        at = names.index(name)
        assert names[at + 1 : at + 3] == ends
        lower, upper = (out.pop(end) for end in ends)
        values = zip(lower, out[name], upper, strict=True)
        if name == "ks_statistic" and "cluster" in options:
            assert lower == upper == [None] * len(lower)
        else:
            assert all(low < value < high for low, value, high in values)
    assert out == without
    assert plain(bf.ranking(frame, "y", "s", interval=False, detail=True, **options)) == without


@cases("options", [*CARRIED, {"cluster": "c"}, {"cluster": "one"}])
def test_a_partial_area_up_to_1_has_the_value_of_the_area_and_limits_of_its_own(options):
    data = draw(40)
    size = len(data["y"])
    frame = pl.DataFrame({**data, "c": [i % 40 for i in range(size)], "one": range(size)})
    metrics = {"whole": "auc(max_fpr=1)", "part": "auc(max_fpr=0.2)"}
    out = bf.ranking(frame, "y", "s", by="g", metrics=metrics, **options)
    assert out["whole"].to_list() == pytest.approx(out["roc_auc"].to_list(), abs=1e-12)
    for name in metrics:
        assert (out[f"{name}_lower"] < out[name]).all()
        assert (out[name] < out[f"{name}_upper"]).all()
    names = ["roc_auc", "roc_auc_lower", "roc_auc_upper", "average_precision", "brier_score"]
    further = [f"{name}{end}" for name in metrics for end in ("", "_lower", "_upper")]
    assert out.columns == ["g", *names, *further, "n"]


@cases("name", ["roc_auc", "average_precision", "brier_score", "ks_statistic", "log_loss"])
def test_a_metric_may_be_named_that_is_returned_anyway(name):
    frame, detail = pl.DataFrame(draw(6)), name in ("ks_statistic", "log_loss")
    for others in ([], ["auc(max_fpr=0.1)"]):
        out = bf.ranking(frame, "y", "s", metrics=[*others, name], detail=detail)
        expected = bf.ranking(frame, "y", "s", metrics=others or None, detail=detail)
        assert out.rows(named=True) == expected.rows(named=True)
    if detail:
        with pytest.raises(bf.InvalidInputError, match="returns with detail=True; give this"):
            bf.ranking(frame, "y", "s", metrics=name)


@cases(("metrics", "column"), [("auc", "auc"), ({"area": "roc_auc"}, "area")])
def test_the_area_has_the_same_limits_under_another_name(metrics, column):
    out = bf.ranking(pl.DataFrame(draw(6)), "y", "s", metrics=metrics)
    for end in ("", "_lower", "_upper"):
        assert out[f"{column}{end}"].to_list() == out[f"roc_auc{end}"].to_list()


def test_an_unknown_interval_of_ranking_is_refused():
    with pytest.raises(bf.InvalidInputError, match="interval='normal' is not one of the options"):
        bf.ranking(pl.DataFrame(draw(6)), "y", "s", interval="normal", detail=True)


@cases("levels", [6, 40, 10**9])
@carried
@each_constructor
def test_ranking_equals_scikit_learn(constructor, options, levels):
    data = draw(levels)
    data["s"] = [(1 + score) / 3 for score in data["s"]]  # for log loss
    out = plain(bf.ranking(constructor(data), "y", "s", by="g", detail=True, **options))
    peers = {
        "n": lambda y, s, n, w: n.sum(),
        "n_positive": lambda y, s, n, w: n[y == 1].sum(),
        "roc_auc": lambda y, s, n, w: sk.roc_auc_score(y, s, sample_weight=w),
        "average_precision": lambda y, s, n, w: sk.average_precision_score(y, s, sample_weight=w),
        "ks_statistic": lambda y, s, n, w: max(
            abs(np.subtract(*sk.roc_curve(y, s, sample_weight=w)[:2]))
        ),
        "brier_score": lambda y, s, n, w: sk.brier_score_loss(y, s, sample_weight=w),
        "log_loss": lambda y, s, n, w: sk.log_loss(y, s, sample_weight=w),
    }
    assert set(out) == {"g", *FOUND}
    assert out["g"] == ["a", "b", None]
    for name, peer in peers.items():
        expected = [peer(*rows) for rows in segments(data, options)]
        assert out[name] == pytest.approx(expected, abs=1e-12)


@cases("levels", [6, 10**9])
@cases("level", [0.8, 0.95])
@carried
@each_constructor
def test_limits_equal_all_pairs_and_ks_statistic_equals_scipy(constructor, options, level, levels):
    data = draw(levels)
    out = plain(
        bf.ranking(constructor(data), "y", "s", by="g", level=level, detail=True, **options)
    )
    for at, (y, s, n, weight) in enumerate(segments(data, options)):
        y, s, w = (np.repeat(values, n) for values in (y, s, weight / n))
        lower, upper = limits(*area(y, s, w), level)
        assert out["roc_auc_lower"][at] == pytest.approx(lower, abs=1e-11)
        assert out["roc_auc_upper"][at] == pytest.approx(upper, abs=1e-11)
        if "sample_weight" not in options:
            distance = stats.ks_2samp(s[y == 1], s[y == 0], method="asymp").statistic
            assert out["ks_statistic"][at] == pytest.approx(distance, abs=1e-12)


@cases("weight", [0.1, 3.0, 1e-9, 1e-150, 1e150, 1e200])
@each_constructor
def test_equal_weights_give_the_result_without_weights(constructor, weight):
    with warnings.catch_warnings(action="ignore"):  # of pandas 2.2, as it tries integers
        frame = constructor(draw(6) | {"w": [weight] * 300})
    rows = plain(bf.ranking(frame, "y", "s", by="g", detail=True))
    out = plain(bf.ranking(frame, "y", "s", by="g", sample_weight="w", detail=True))
    for name in FOUND if weight < 1e154 else set(FOUND) - {"roc_auc_lower", "roc_auc_upper"}:
        assert out[name] == pytest.approx(rows[name], rel=1e-9)  # squares may leave the range


@cases("size", [1e-12, 1e-3, 1e6])
@cases("other", [1e6, 1e12, 1e20])
@each_method
def test_weights_of_other_segments_do_not_change_the_result(method, size, other):
    data = draw(20)
    data["w"] = [
        one * (size if g == "b" else other) for one, g in zip(data["w"], data["g"], strict=True)
    ]
    frame, only = pl.DataFrame(data), pl.col("g") == "b"
    options = {"sample_weight": "w"}
    if method is bf.curve:
        options |= {"interval": True, "band": True, "metrics": ["recall", "balanced_accuracy"]}
    expected = method(frame.filter(only), "y", "s", by="g", **options)
    found = method(frame, "y", "s", by="g", **options).filter(only)
    for name in (one for one in expected.columns if one != "metric" and "common" not in one):
        if name not in ("g", "gain"):
            assert found[name].to_list() == pytest.approx(expected[name].to_list(), abs=1e-9)


FEW = {
    "perfect": ([0, 0, 1, 1], [1, 2, 3, 4], 1),
    "wrong way round": ([1, 1, 0, 0], [1, 2, 3, 4], 0),
    "all tied": ([0, 0, 1, 1], [5, 5, 5, 5], 1 / 2),
    "one positive": ([0, 0, 1, 0], [1, 2, 3, 4], 2 / 3),
    "one negative": ([0, 1, 1, 1], [2, 1, 3, 4], 2 / 3),
}


@cases(("y", "s", "auc"), FEW.values())
@each_constructor
def test_few_rows_have_limits_even_without_variance(constructor, y, s, auc):
    out = plain(bf.ranking(constructor({"y": y, "s": s}), "y", "s", detail=True))
    lower, upper = limits(*area(np.array(y), np.array(s)))
    assert out["roc_auc"] == pytest.approx([auc])
    assert out["roc_auc_lower"] == pytest.approx([lower], abs=1e-12)
    assert out["roc_auc_upper"] == pytest.approx([upper], abs=1e-12)
    assert 0 <= lower < upper <= 1


@each_constructor
def test_limits_of_five_and_five_rows_ranked_perfectly_are_exact(constructor):
    out = plain(
        bf.ranking(
            constructor({"y": [0] * 5 + [1] * 5, "s": list(range(10))}), "y", "s", detail=True
        )
    )
    assert [round(out["roc_auc_lower"][0], 3), out["roc_auc_upper"]] == [0.643, [1]]


@cases("seed", range(5))
@cases("sign", [-1, 1])
@each_constructor
def test_perfect_separation_is_exact_under_weights(constructor, seed, sign):
    rng = np.random.default_rng(seed)
    y, w = [0] * 40 + [1] * 40, rng.uniform(0.1, 1, 80)
    s = [sign * i for i in range(80)]
    out = plain(
        bf.ranking(constructor({"y": y, "s": s, "w": w}), "y", "s", sample_weight="w", detail=True)
    )
    _, variance, sizes = area(np.array(y), np.array(s), w)
    lower, upper = limits((1 + sign) // 2, variance, sizes)
    assert out["roc_auc"] == [(1 + sign) / 2]
    assert out["roc_auc_lower"] == pytest.approx([lower], abs=1e-12)
    assert out["roc_auc_upper"] == pytest.approx([upper], abs=1e-12)


@each_constructor
def test_weights_whose_squares_underflow_leave_the_area_without_limits(constructor):
    frame = constructor({"y": [0, 1, 0, 1], "s": [1, 2, 3, 4], "w": [1e-200] * 4})
    out = plain(bf.ranking(frame, "y", "s", sample_weight="w", detail=True))
    assert (out["roc_auc"], out["roc_auc_lower"], out["roc_auc_upper"]) == ([0.75], [None], [None])


@each_constructor
def test_metrics_of_four_rows_equal_fractions(constructor):
    frame = constructor({"y": [0, 0, 1, 1], "s": [0.25, 0.5, 0.5, 0.75]})
    out = plain(bf.ranking(frame, "y", "s", detail=True))
    assert [out[name] for name in FOUND[:3]] == [[4], [2], [(1 / 2 + 1 + 1 + 1) / 4]]
    assert out["average_precision"] == pytest.approx([1 / 2 + 1 / 2 * 2 / 3])
    assert out["ks_statistic"] == [1 / 2]
    assert out["brier_score"] == [(1 / 16 + 1 / 4 + 1 / 4 + 1 / 16) / 4]


@each_constructor
def test_scores_outside_of_0_to_1_have_no_brier_score(constructor):
    frame = constructor({"g": [*"aabb"], "y": [0, 1, 0, 1], "s": [0.0, 1.0, 0.5, 1.5]})
    out = plain(bf.ranking(frame, "y", "s", by="g", detail=True))
    assert [out["brier_score"], out["roc_auc"]] == [[0, None], [1, 1]]


@each_constructor
def test_segments_with_one_label_or_no_row_have_null_metrics(constructor):
    data = {"g": [*"aabbc"], "y": [1, 1, 0, 0, None], "s": [0.5, 0.75, 0.5, 0.75, 0.5]}
    with warnings.catch_warnings(action="ignore"):
        frame = constructor(data)
    out = plain(bf.ranking(frame, "y", "s", by="g", missing="drop", detail=True))
    assert (out["n"], out["n_positive"]) == ([2, 2, 0], [2, 0, 0])
    assert out["average_precision"] == [1, None, None]
    assert out["brier_score"] == [(1 / 4 + 1 / 16) / 2, (1 / 4 + 9 / 16) / 2, None]
    for name in ("roc_auc", "roc_auc_lower", "roc_auc_upper", "ks_statistic"):
        assert out[name] == [None] * 3


LABELS = {
    "texts": (["no", "yes"], "yes"),
    "three texts": (["a", "b", "c"], "b"),
    "three ints": ([0, 1, 2], 1),
    "the lower one": ([0, 1], 0),
    "bools": ([False, True], None),
    "minus one": ([-1, 1], None),
}


@each_method
@cases(("labels", "pos_label"), LABELS.values())
@each_constructor
def test_labels_other_than_pos_label_are_negative(constructor, method, labels, pos_label):
    rng = np.random.default_rng(6)
    y = [labels[i] for i in rng.integers(0, len(labels), 60)]
    data = {"y": y, "s": rng.integers(0, 9, 60).tolist(), "r": rng.random(60).tolist()}
    positive = labels[-1] if pos_label is None else pos_label
    binary = data | {"y": [int(one == positive) for one in y]}
    expected = plain(method(constructor(binary), "y", ["s", "r"]))
    assert plain(method(constructor(data), "y", ["s", "r"], pos_label=pos_label)) == expected
    assert 0 < sum(binary["y"]) < 60


DATA = {"g": [*"aab"], "y": [0, 1, 1], "s": [0.1, 0.4, 0.4], "t": ["x", "y", "z"]}
DATA |= {"b": [True, False, True], "three": [0, 1, 2], "texts": ["u", "v", "u"]}
AT_ONCE = {
    "unknown score": (METHODS, {"y_score": "ss"}, KeyError, "'ss' not found"),
    "texts as scores": (METHODS, {"y_score": "t"}, TypeError, "'t'.*scores.*numbers"),
    "bools as scores": (METHODS, {"y_score": "b"}, TypeError, "'b'.*scores.*numbers"),
    "missing": (METHODS, {"missing": "dorp"}, ValueError, "'dorp'"),
    "margins": (METHODS, {"margins": True}, ValueError, "margins=True"),
    "level": (METHODS[::2], {"level": 95}, ValueError, "level.*95"),
    "unknown metric": (METHODS[:1], {"metrics": "acuracy"}, KeyError, "mean 'accuracy'"),
    "no class_weight": (METHODS[:1], {"metrics": "baw"}, ValueError, "'baw' needs class_weight="),
    "band": (METHODS[:1], {"band": "yes"}, ValueError, "band='yes'.*False, True"),
    "interval": (METHODS[:1], {"interval": "wald"}, ValueError, "interval='wald'"),
}
POINTED = r"outside \[0, 1\].*list of thresholds.*quantiles"
NEW = {"s": [0.5, INF, INF]}
VALUES = {
    "infinite": (METHODS, NEW, {}, "'s' has 2 infinite values"),
    "minus infinity": (METHODS, {"s": [0.0, -INF, 1.0]}, {}, "'s' has 1 infinite value;"),
    "infinite, list": (METHODS[:2], NEW, {"thresholds": [0.5]}, "'s' has 2 infinite values"),
    "infinite, even": (METHODS[:2], NEW, {"thresholds": 5}, "'s' has 2 infinite values"),
    "infinite, counts": (
        METHODS,
        {**NEW, "k": [1, 2, 3]},
        {"counts": "k"},
        "'s' has [25] infinite",
    ),
    "infinite, quantiles": (METHODS[:2], NEW, {"thresholds": ("quantiles", 3)}, "'s' has 2 inf"),
    "outside": (
        METHODS[:2],
        {"s": [0.5, 1.5, 1.5]},
        {"thresholds": 3},
        "'s' has 2 scores " + POINTED,
    ),
    "below": (
        METHODS[:2],
        {"s": [0.5, 1.0, -1e-9]},
        {"thresholds": 3},
        "'s' has 1 score " + POINTED,
    ),
    "no pos_label": (METHODS, {}, {"y_true": "texts"}, "pos_label=.*'u', 'v'"),
    "three labels": (METHODS, {}, {"y_true": "three"}, "pos_label=.*0, 1, 2"),
    "unknown pos_label": (METHODS, {}, {"pos_label": 7}, "pos_label=7.*0, 1"),
    "null truth": (METHODS, {"y": [None, 1, None]}, {}, "'y' has 2 null values.*drop"),
    "null score": (METHODS, {"s": [None, 0.5, None]}, {}, "'s' has 2 null values.*drop"),
    "NaN score": (METHODS, {"s": [NAN, 0.5, NAN]}, {}, "'s' has 2 null values"),
    "null weight": (METHODS, {"w": [1.0, None, 1.0]}, {"sample_weight": "w"}, "'w' has 1 null"),
    "negative weight": (METHODS, {"w": [1.0, -1.0, 1.0]}, {"sample_weight": "w"}, "'w' has 1 neg"),
    "null count": (METHODS, {"k": [1, None, None]}, {"counts": "k"}, "'k' has 2 null values"),
    "class_weight of three": (
        *(METHODS[:1], {}),
        {"y_true": "three", "pos_label": 1, "class_weight": {0: 1, 1: 1, 2: 1}},
        "class_weight=.*3: 0, 1, 2.*balanced",
    ),
}


def wrong_uses(table):
    """List the cases of a table for each method that they concern."""
    return [
        pytest.param(method, *case, id=f"{method.__name__}, {about}")
        for about, (methods, *case) in table.items()
        for method in methods
    ]


def message(call):
    """Give the message of the error that the call raises, at collect if it is lazy."""
    with pytest.raises(bf.BalframeError) as raised:
        plain(call())
    return str(raised.value)


def asked(method, frame, options):
    return partial(method, frame, **{"y_true": "y", "y_score": "s", **options})


@cases(("method", "options", "kind", "words"), wrong_uses(AT_ONCE))
@each_constructor
def test_invalid_names_types_and_options_raise_at_once(constructor, method, options, kind, words):
    with pytest.raises(bf.BalframeError, match=words) as raised:
        asked(method, constructor(DATA), options)()
    assert isinstance(raised.value, kind)


@cases(("method", "columns", "options", "words"), wrong_uses(VALUES))
def test_invalid_values_raise_the_same_message_in_every_library(method, columns, options, words):
    with warnings.catch_warnings(action="ignore"):  # of pandas 2.2, as it converts infinities
        frames = [make(DATA | columns) for make in CONSTRUCTORS]
    texts = {message(asked(method, frame, options)) for frame in frames}
    assert len(texts) == 1
    assert re.search(words, texts.pop())


@each_method
@each_constructor
def test_a_by_column_named_as_an_output_column_raises_at_once(constructor, method):
    for name in (one for one in plain(method(constructor(DATA), "y", "s")) if one != "g"):
        call = partial(method, constructor({**DATA, name: DATA["g"]}), "y", "s", by=name)
        assert re.search(f"'{name}'.*[Rr]ename", message(call))


@each_method
@each_constructor
def test_an_empty_frame_gives_no_rows_and_input_is_unchanged(constructor, method):
    frame = constructor(DATA)
    before = copy.deepcopy(plain(frame))
    full = plain(method(frame, "y", "s", by="g"))
    assert plain(frame) == before
    empty = plain(method(head(frame, 0), "y", "s", by="g"))
    assert empty == {name: [] for name in full}
