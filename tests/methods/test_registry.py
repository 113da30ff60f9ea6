import functools
import math
import subprocess
import sys
from textwrap import dedent

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.metrics import lookup, registry
from balframe.metrics.lookup import registered_metrics
from tests.support.cases import cases


def half(c):
    """Always one half: 1 / 2."""
    return np.full(c.n_segments, 0.5)


@cases(
    ("options", "message"),
    [
        ({"range": 3}, "range=3 must be a pair"),
        ({"range": (1, 1)}, r"range=\(1, 1\) must be a pair with the smaller value first"),
        ({"range": (1, 0)}, r"range=\(1, 0\) must be a pair with the smaller value first"),
        ({"range": (0, 1), "aliases": "foo"}, "aliases='foo' must be a list of names"),
        ({"range": (0, 1), "needs": 5}, "needs=5 must be a list of names"),
        ({"range": (0, 1), "needs": "pos_label"}, "needs='pos_label' must be a list"),
        ({"range": (0, 1), "needs": ["labels"]}, "needs='labels' is not one of the options"),
        ({"range": (0, 1), "aliases": ["all"]}, "'all' is a preset of metrics"),
        ({"range": (0, 1), "aliases": ["fairness"]}, "'fairness' is a preset of metrics"),
        ({"range": (0, 1), "aliases": ["n"]}, "'n' names a column of results"),
    ],
)
def test_a_refused_metric_does_not_change_the_registry(options, message):
    before = bf.list_metrics()

    with pytest.raises(bf.InvalidInputError, match=message):
        bf.metric(**options)(half)

    assert bf.list_metrics().equals(before)


@cases(
    ("call", "name"),
    [
        (lambda: bf.metric(half), "half"),
        (lambda: bf.metric()(half), "my_metric"),
        (lambda: bf.metric((0, 1)), "my_metric"),
        (lambda: bf.metric(better="lower"), "my_metric"),
    ],
)
def test_metric_without_a_range_shows_the_right_call(call, name):
    with pytest.raises(bf.UnsupportedTypeError) as raised:
        call()

    assert str(raised.value) == (
        "bf.metric needs range, the smallest and the largest possible value, and returns a "
        f"decorator. Write `@bf.metric(range=(0, 1))` above `def {name}(c):`, or "
        f"`bf.metric(range=(0, 1))({name})`."
    )


@cases("function", [3, "half", functools.partial(half)])
def test_what_has_no_name_is_no_metric(function):
    with pytest.raises(bf.UnsupportedTypeError, match="registers a function under its own name"):
        bf.metric(range=(0, 1))(function)


def test_a_registered_metric_is_listed_and_found_by_its_name_and_aliases():
    names = ["half", "one_half", "own_half"]

    bf.metric(range=(0, 1), needs=["pos_label"], aliases=names[1:])(half)

    metric = registered_metrics()[-1]
    assert (metric.name, metric.aliases, metric.needs) == (
        "half",
        ("one_half", "own_half"),
        ("pos_label",),
    )
    assert [lookup.find_metric(name) for name in names] == [metric] * 3


def test_a_metric_without_a_docstring_has_an_empty_meaning():
    @bf.metric(range=(0, 1))
    def undescribed(c):
        return half(c)

    told = lookup.find_metric("undescribed")
    assert (told.meaning, told.formula) == ("", "")


@cases("metrics", [5, np.array(["nope"]), ["all", "all"], {"f1": 1, "nope": 2}])
def test_invalid_values_of_metrics_raise_balframe_errors(metrics):
    with pytest.raises(bf.BalframeError):
        bf.report(pl.DataFrame({"y": [1], "p": [1]}), "y", "p", metrics=metrics)


@pytest.mark.parametrize("pos_label", [np.array([1, 0]), [1], None])
def test_a_pos_label_that_is_not_a_single_label_raises(pos_label):
    frame = pl.DataFrame({"y": ["a", "b"], "p": ["a", "a"]})

    with pytest.raises(bf.BalframeError):
        bf.report(frame, "y", "p", metrics="recall", pos_label=pos_label)


@pytest.mark.parametrize(("label", "other"), [(0, 1), (1, 0), (1, -1)])
def test_pos_label_may_be_the_absent_label_of_a_standard_pair(label, other):
    frame = pl.DataFrame({"y": [label, label], "p": [label, label]})

    out = bf.report(frame, "y", "p", metrics=["recall", "specificity"], pos_label=other)

    assert out.select("recall", "specificity").row(0) == (None, 1.0)


@cases("labels", [{"a", "b"}, {"a": 1, "b": 2}, "ab", 5])
def test_labels_that_are_not_a_list_are_refused(labels):
    frame = pl.DataFrame({"y": ["a", "b"], "p": ["a", "a"]})

    with pytest.raises(bf.InvalidInputError, match="is not a list; give a list of labels"):
        bf.classes(frame, "y", "p", labels=labels)


@pytest.mark.parametrize("backend", ["polars", "pandas"])
def test_true_beside_numbers_in_labels_of_a_matrix_becomes_1(backend):
    cells = bf.from_matrix([[1, 2], [3, 4]], labels=[True, 2], backend=backend)

    assert list(cells["actual"]) == [1, 1, 2, 2]
    assert "int" in str(cells["actual"].dtype).lower()


@pytest.mark.parametrize("name", ["grouped_by", "weight", "weight_sq", "weight_max"])
def test_cells_may_have_by_columns_of_any_name(name):
    frame = pl.DataFrame({name: ["lo", "hi", "hi"], "y": [1, 0, 1], "p": [1, 1, 1]})

    cells = frame.bal.confusion("y", "p", by=name)

    found = cells.bal.report("y", "p", by=name)
    assert found.equals(frame.bal.report("y", "p", by=name))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", ["weight_sq", "weight_max"])
def test_negative_squares_and_largest_weights_in_cells_are_refused(name, lazy):
    cells = pl.DataFrame({"y": [1], "p": [1], "n": [1], "weight": [2.0], "weight_sq": [4.0]})
    cells = cells.with_columns(weight_max=2.0).with_columns(pl.lit(-1.0).alias(name))

    with pytest.raises(bf.InvalidInputError, match=f"'{name}' has 1 negative or infinite"):
        bf.report(cells.lazy() if lazy else cells, "y", "p").lazy().collect()


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_guesses_score_the_chance_level_of_the_registry(labels):
    """Rows of every label are called each label equally often."""
    k = len(labels)
    guessed = bf.from_matrix([[4] * k, *([2] * k for _ in labels[1:])])
    known = [one for one in registered_metrics() if k == 2 or "pos_label" not in one.needs]
    said = {one.name: one.chance for one in known if one.chance not in (None, "majority")}

    out = bf.report(
        guessed, "actual", "predicted", counts="n", metrics=list(said), class_weight="balanced"
    )

    expected = {name: 1 / k if chance == "uniform" else chance for name, chance in said.items()}
    assert out.select(list(expected)).row(0) == pytest.approx(tuple(expected.values()))


def test_majority_predictions_score_the_chance_level_of_the_registry():
    frame = pl.DataFrame({"y": [0] * 4 + [1] * 2 + [2], "p": [0] * 7})
    said = [one.name for one in registered_metrics() if one.chance == "majority"]

    out = bf.report(frame, "y", "p", metrics=[*said, "no_information_rate"])

    assert said == ["accuracy"]
    assert out.select("accuracy", "no_information_rate").row(0) == (4 / 7, 4 / 7)


def test_an_unknown_chance_of_a_metric_is_refused():
    with pytest.raises(bf.InvalidInputError, match="chance='even' is not one of the options"):
        bf.metric(range=(0, 1), chance="even")(half)


@pytest.mark.any_version
@pytest.mark.processes
def test_names_of_built_in_metrics_are_refused_before_any_method_is_used():
    program = """
        import balframe as bf

        def accuracy(c):
            \"\"\"Never right: 0.\"\"\"
            return c.n * 0.0

        try:
            bf.metric(range=(0, 1))(accuracy)
        except bf.InvalidInputError as error:
            print(error)
    """
    command = [sys.executable, "-c", dedent(program)]

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "metric 'accuracy' is built into balframe; choose another name.\n"


@pytest.mark.any_version
@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("from balframe.metrics.registry import registered_metrics", []),
        (
            "from balframe.metrics.lookup import registered_metrics",
            ["accuracy", "balanced_accuracy"],
        ),
    ],
)
def test_lookup_lists_built_in_metrics_in_order_and_registry_none(program, found):
    ask = f"{program}; print([one.name for one in registered_metrics()][:2])"

    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)

    assert done.stdout == f"{found}\n"


def test_a_reserved_name_is_refused_as_name_of_a_metric(monkeypatch):
    monkeypatch.setattr(registry, "_reserved", set(registry._reserved))

    registry.reserve_names(["half"])

    with pytest.raises(bf.InvalidInputError, match="'half' names a column of results"):
        bf.metric(range=(0, 1))(half)


@pytest.mark.parametrize(("absent", "mean"), [("skip", 2 / 3), ("zero", 1 / 3), ("null", math.nan)])
def test_class_counts_from_matrix_follow_the_option_absent(absent, mean):
    matrix, asked = [[0, 0], [1, 2]], {} if absent == "skip" else {"absent": absent}

    counts = bf.ClassCounts.from_matrix(matrix, **asked)

    assert counts.mean_recall.tolist() == pytest.approx([mean], nan_ok=True)
    assert counts.n_labels == 2
