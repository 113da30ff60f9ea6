"""An unknown option names the one that is probably meant, or what to do in its place."""

import polars as pl
import pytest

import balframe as bf
from balframe.api.unknown_options import unknown_option_message
from balframe.methods import declarations
from tests.support.cases import cases
from tests.support.method_arguments import example_arguments

DATA = pl.DataFrame({"y": [0, 1, 1, 0], "p": [0, 1, 0, 0], "s": [0.1, 0.9, 0.4, 0.2]})
OTHER_NAMES = {
    "ci": "; did you mean 'interval' or 'level'? help(bf.report) lists the options.",
    "confidence": "; did you mean 'interval' or 'level'? ",
    "alpha": "; did you mean 'level'? It is 1 - alpha. help(bf.report) lists the options.",
    "group": "; did you mean 'by'? ",
    "groupby": "; did you mean 'by'? ",
    "sensitive_features": "; did you mean 'by'? ",
    "metric": "; did you mean 'metrics'? ",
    "threshold": ": labels are compared, not scores. Make a column of labels, ",
    "normalize": ": scores are already shares of rows. For shares of a confusion matrix, call ",
    "average": ": an average over labels is a metric of its own, such as 'f1_macro'",
    "Weights": "; did you mean 'sample_weight'? ",
    "positive": "; did you mean 'pos_label'? ",
    "bins": ': bin a numeric column in by: by=bf.bins("age", 4).',
}


def refused(call):
    with pytest.raises(bf.UnsupportedTypeError) as raised:
        call()
    return str(raised.value)


@cases(("name", "words"), OTHER_NAMES.items())
def test_names_of_other_libraries_point_to_the_option(name, words):
    text = refused(lambda: bf.report(DATA, "y", "p", **{name: 1}))

    assert text.startswith(f"option {name!r} not found{words}")


@cases(
    ("method", "name", "words"),
    [
        (bf.gaps, "ci", "; did you mean 'level'? help(bf.gaps) lists the options."),
        (bf.slices, "groupby", "; did you mean 'over'? "),
        (bf.curve, "threshold", "; did you mean 'thresholds'? "),
        (bf.confusion, "normalise", "; did you mean 'normalize'? "),
        (bf.slices, "by", ": slices searches the columns of over."),
        (bf.gaps, "baseline", ": gaps compares segments with the one that reference names."),
        (bf.monitor, "reference", ": periods are compared with the baseline."),
    ],
)
def test_the_option_named_is_one_of_the_method(method, name, words):
    arguments = example_arguments(method.__name__)

    text = refused(lambda: method(DATA, **arguments, **{name: 1}))

    assert text.startswith(f"option {name!r} not found{words}")


@cases("method", declarations().values())
def test_a_long_list_of_options_does_not_hide_the_message(method):
    arguments = example_arguments(method.name)

    text = refused(lambda: getattr(bf, method.name)(DATA, **arguments, nonsense=1))

    assert text == f"option 'nonsense' not found. help(bf.{method.name}) lists the options."


WITHIN = {
    "verdict": ("missing", 'missing=bf.correct(verdict="judge", probability="p", doubt=2)'),
    "every": ("by", 'by=bf.period("day", "1w")'),
    "absent": ("labels", 'labels=bf.label_set([0, 1], absent="zero")'),
    "absent_segments": ("expect", 'expect=bf.expected({"group": ["a", "b"]}, absent="fail")'),
    "decide": ("level", "level=None"),
    "prior": ("interval", 'interval="jeffreys_posterior"'),
}


@cases(("name", "option", "words"), [(name, *of) for name, of in WITHIN.items()])
def test_what_is_part_of_the_value_of_an_option_names_that_value(name, option, words):
    message = str(unknown_option_message(name, ["y_true", option], {}, "bf.report"))
    other = str(unknown_option_message(name, ["y_true", "alpha"], {}, "bf.report"))

    assert message.startswith(f"option {name!r} not found: ")
    assert words in message
    assert words not in other


CELLS = bf.confusion(DATA, "y", "p")
WRONG_CALLS = {
    "an unknown option": (
        lambda: bf.table(CELLS, foo=1),
        "option 'foo' not found. Options: method, title, subtitle, decimals, bars, worst, "
        "min_support, max_rows.",
    ),
    "an option like another": (
        lambda: bf.table(CELLS, titel="x"),
        "option 'titel' not found; did you mean 'title' or 'subtitle'? ",
    ),
    "a method instead of an option": (
        lambda: bf.from_matrix([[1, 2], [3, 4]], label=[0, 1]),
        "option 'label' not found; did you mean 'labels'? Options: matrix, labels, rows, backend.",
    ),
    "an option where there is none": (
        lambda: bf.combine([CELLS], by="g"),
        "option 'by' not found. Options: frames.",
    ),
    "no table": (lambda: bf.table(), "bf.table needs frame. Call bf.table(frame)."),
    "no matrix": (
        lambda: bf.from_matrix(),
        "bf.from_matrix needs matrix. Call bf.from_matrix(matrix).",
    ),
    "no cells": (lambda: bf.combine(), "bf.combine needs frames. Call bf.combine(frames)."),
    "frames one by one": (
        lambda: bf.combine(CELLS, CELLS),
        "bf.combine takes frames by position, but 2 positional arguments were given; omit the "
        "others.",
    ),
    "a title by position": (
        lambda: bf.table(CELLS, "x"),
        "bf.table takes frame by position, but 2 positional arguments were given; give the others "
        "by keyword, such as method=.",
    ),
    "a matrix twice": (
        lambda: bf.from_matrix([[1]], matrix=[[1]]),
        "matrix is given by position and by keyword; give it once.",
    ),
    "no row of a slice": (
        lambda: bf.slice_filter(DATA),
        "bf.slice_filter needs row. Call bf.slice_filter(frame, row).",
    ),
    "no verdicts": (lambda: bf.passed(), "bf.passed needs verdicts. Call bf.passed(verdicts)."),
    "a library of metrics": (
        lambda: bf.list_metrics("pandas"),
        "bf.list_metrics takes nothing by position, but 1 positional argument was given; give the "
        "others by keyword, such as detail=.",
    ),
}


@cases(("call", "words"), WRONG_CALLS.values())
def test_functions_that_are_no_methods_refuse_arguments_as_methods_do(call, words):
    assert refused(call).startswith(words)
