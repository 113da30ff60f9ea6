"""Errors know the parameters that they are about, and say them in Python's words and in others."""

import ast
import copy
import inspect
import pickle
import re
import tempfile
import traceback
import warnings
from datetime import date
from pathlib import Path

import polars as pl
import pytest

import balframe as bf
from balframe import errors
from balframe.errors import (
    NAME,
    OPTION,
    Advice,
    Message,
    Spelled,
    join,
    listed_messages,
    not_found,
    parameter,
)
from tests.support.cases import cases

DAYS = [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 9)]
DATA = {"y": [0, 1, 1], "yhat": [0, 1, 0], "s": [0.1, 0.8, 0.4], "g": ["a", "b", "b"]}
DATA |= {"n": [1, 2, 3], "empty": [None, 1, 1], "day": DAYS}

ASKED = {  # what a method needs, by the names of parameters
    "frame": pl.DataFrame(DATA),
    "y_true": "y",
    "y_pred": "yhat",
    "y_score": "s",
    "by": "g",
    "over": "g",
    "time": bf.period("day", "1w"),
    "baseline": "2026-01-04",
    "rules": "recall >= 0.5",
    "frames": [pl.DataFrame(DATA)],
    "matrix": [[1, 0], [0, 1]],
    "function": max,
    "range": (0, 1),
    "row": {"on": "g", "g": "a"},
    "library": "dask",
    "verdicts": bf.check(pl.DataFrame(DATA), "y", "yhat", rules="recall >= 0.5"),
    "table": f"{tempfile.mkdtemp()}/runs",
    "run": "monday",
    "paths": "no.eval",
    "outcome": "yhat",
    "cluster": "g",
    "plan": pl.DataFrame({"yhat": [1], "rule": ["recall >= 0.5"], "labels_needed": [1]}),
    "key": "day",
}


VALUES = (bf.bins, bf.correct, bf.design, bf.expected, bf.intersection, bf.label_set, bf.period)


def pickled(error):
    return pickle.loads(pickle.dumps(error))


def in_other_words(name, value):
    return f"<{name}>" if value is None else f"<{name}: {value}>"


def asked(method, /, **options):
    """Ask a method, with what it needs unless the options give it."""
    needed = {
        name: ASKED[name]
        for name, one in inspect.signature(method).parameters.items()
        if (one.default is one.empty and one.kind is not one.VAR_KEYWORD)
        or (name == "y_true" or (name == "y_pred" and "y_score" not in options))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)
        return method(**needed | options)


def raised(method, **options):
    with pytest.raises(bf.BalframeError) as caught:
        asked(method, **options)
    return caught.value


TABLE = {
    "a value": (
        bf.report,
        {"level": 1.2},
        "level=1.2 is not a confidence level; give a number between 0 and 1, such as 0.95.",
        "<level: 1.2> is not a confidence level; give a number between 0 and 1, such as 0.95.",
        ("level",),
    ),
    "a choice": (
        bf.report,
        {"missing": "keep"},
        "missing='keep' is not one of the options: 'raise', 'drop', 'correct', 'bounds'. 'keep' is "
        "for confusion: others count pairs of two labels.",
        "<missing: 'keep'> is not one of the options: 'raise', 'drop', 'correct', 'bounds'. 'keep' "
        "is for confusion: others count pairs of two labels.",
        ("missing",),
    ),
    "a parameter without a value": (
        bf.gaps,
        {"by": None},
        "by= is missing, but gaps compares segments; name at least one column.",
        "<by> is missing, but gaps compares segments; name at least one column.",
        ("by",),
    ),
    "a parameter without an equals sign": (
        bf.ranking,
        {"y_score": []},
        "y_score is an empty list; name at least one column.",
        "<y_score> is an empty list; name at least one column.",
        ("y_score",),
    ),
    "a word to give": (
        bf.report,
        {"y_pred": "empty"},
        "column 'empty' has 1 null value; fill them, or give missing=\"drop\" to drop those rows.",
        "column 'empty' has 1 null value; fill them, or give <missing: drop> to drop those rows.",
        ("missing",),
    ),
    "several parameters": (
        bf.report,
        {"cluster": "n", "counts": "n"},
        "cluster='n' is also in counts; name the column that identifies rows that belong together, "
        "such as a patient number.",
        "<cluster: 'n'> is also in <counts>; name the column that identifies rows that belong "
        "together, such as a patient number.",
        ("cluster", "counts"),
    ),
    "a parameter that holds labels": (
        bf.report,
        {"labels": [0, "1"]},
        "labels of different types never compare equal: labels= (0) holds numbers, labels= ('1') "
        "holds strings. Cast one to the type of the other.",
        "labels of different types never compare equal: <labels> (0) holds numbers, <labels> ('1') "
        "holds strings. Give them one type: --type COLUMN=int if they are numbers, or "
        "--type COLUMN=str for names.",
        ("labels",),
    ),
    "no parameter": (
        bf.report,
        {"y_pred": "yhatt"},
        "column 'yhatt' not found; did you mean 'yhat'? Columns: y, yhat, s, g, n, empty, day.",
        "column 'yhatt' not found; did you mean 'yhat'? Columns: y, yhat, s, g, n, empty, day.",
        (),
    ),
}
EACH = cases(("method", "options", "python", "other", "parameters"), TABLE.values())


@EACH
def test_an_error_has_a_message_for_python_and_for_the_shell(
    method, options, python, other, parameters
):
    error = raised(method, **options)

    assert (str(error), error.args) == (python, (python,))
    assert repr(error) == f"{type(error).__name__}({python!r})"
    assert traceback.format_exception_only(error)[-1].rstrip().endswith(python)
    assert error.written(in_other_words) == other
    assert error.parameters == parameters


@cases("clone", [copy.copy, copy.deepcopy, pickled])
@EACH
def test_a_copied_error_keeps_both_messages(clone, method, options, python, other, parameters):
    error = raised(method, **options)
    cloned = clone(error)

    assert type(cloned) is type(error)
    assert (str(cloned), cloned.args) == (python, (python,))
    assert (cloned.written(in_other_words), cloned.parameters) == (other, parameters)


@pytest.mark.parametrize("clone", [copy.copy, pickled])
def test_a_copied_check_failed_keeps_both_messages_and_rows(clone):
    error = bf.CheckFailed(Message("{rules} fail", rules=OPTION), "the rows", 2, 1)
    cloned = clone(error)

    assert (str(cloned), cloned.written(in_other_words)) == ("rules= fail", "<rules> fail")
    assert (cloned.frame, cloned.n_failed, cloned.n_inconclusive) == ("the rows", 2, 1)


class Shown:
    """Shows itself as the text given."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


HOSTILE = [
    "level=1.2",
    'missing="drop"',
    "{parameter('level')}",
    "\0",
    "\0" * 8,
    '\0["level", "1", "level=1"]\0',
    '\x000123456789abcdef["level", "1", "level=1"]\x000123456789abcdef',
    "\\",
    r"\g<0> \1 %s {} {0}",
    "two\nlines",
    "\ud800",
    "a" * 500 + "\0" + "b" * 500,
]
EACH_HOSTILE = cases("text", HOSTILE)


@EACH_HOSTILE
def test_values_with_special_characters_are_unchanged_in_messages(text):
    for value in (text, Shown(text)):
        error = raised(bf.report, level=value)

        told = "is not a confidence level; give a number between 0 and 1, such as 0.95."
        assert str(error) == f"level={value!r} {told}"
        assert error.written(in_other_words) == str(error).replace(
            f"level={value!r}", f"<level: {value!r}>", 1
        )
        assert error.parameters == ("level",)


@EACH_HOSTILE
def test_names_with_special_characters_are_unchanged_in_messages(text):
    error = not_found("column", Shown(text), [])
    said = bf.InvalidInputError("{by} names {}: {}", text, error, by=NAME)

    assert str(error) == f"column {text} not found. Columns: none."
    assert error.parameters == ()
    assert error.written(in_other_words) == str(error)
    assert said.written(in_other_words) == f"<by> names {text}: {error}"


def test_an_error_of_a_rules_file_keeps_its_parameters(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text("rules = []")

    error = raised(bf.check, rules=path)

    assert str(error).startswith(f"{path}: rules= is empty; give ")
    assert error.written(in_other_words).startswith(f"{path}: <rules> is empty; give ")


def test_an_error_of_a_rule_keeps_its_parameters():
    error = raised(bf.check, rules="all >= 0.5")

    assert ': metrics="all" is a preset' in str(error)
    assert ": <metrics: all> is a preset" in error.written(in_other_words)


def test_messages_nest_messages_and_shell_spellings():
    quantiles = Spelled('("quantiles", n)', "quantiles,10", parameter="thresholds")
    rename = Spelled("Give {'g': 'a'}, or rename", "Rename")
    columns = join(" and ", [parameter("by", NAME), "{over}", parameter("cluster", "p")])
    message = Message(
        "{} {{}}: give {}. {} it, {missing}.", columns, quantiles, rename, missing=Advice("drop")
    )

    assert str(message) == (
        "by and {over} and cluster='p' {}: give (\"quantiles\", n). Give {'g': 'a'}, or rename it, "
        'missing="drop".'
    )
    assert message.written(in_other_words) == (
        "<by> and {over} and <cluster: 'p'> {}: give <thresholds: quantiles,10>. Rename it, "
        "<missing: drop>."
    )
    assert bf.InvalidInputError(message).parameters == ("by", "cluster", "missing")


def test_long_and_many_messages_are_clipped_when_they_are_listed():
    named = parameter("missing", Advice("drop"))
    long = Message("{}{}", named, "x" * 300)

    assert listed_messages([named, named]).written(in_other_words) == (
        "<missing: drop>, <missing: drop>"
    )
    clipped = f'missing="drop"{"x" * 86} ... {"x" * 50}'
    assert listed_messages([long, "b"]).written(in_other_words) == f"{clipped}, b"
    assert str(listed_messages(map(str, range(1_025)), 2)) == "0, 1, ... (1,023 more)"
    assert str(listed_messages([])) == "none"


def test_columns_of_different_label_types_are_truncated_in_errors():
    names = [f"p{model}" for model in range(30)]
    frame = pl.DataFrame({"y": [0, 1], **{name: ["a", "b"] for name in names}})

    many = raised(bf.report, frame=frame, y_pred=names, by=None)
    long = raised(bf.report, labels=["x" * 9_999, 1])

    assert "column 'p18' holds strings, ... (11 more). Cast one" in str(many)
    assert len(str(long)) < 400


def test_replace_in_a_message_does_not_change_parameters():
    message = Message("{by} of 'a' is by.", by="by")

    assert str(message.replace("by", "c").without_full_stop()) == "by='by' of 'a' is c"
    assert str(message) == "by='by' of 'a' is by."


@cases(
    ("template", "values", "parameters"),
    [
        ("{} and {}", ("a",), {}),
        ("{}", ("a", "b"), {}),
        ("{by}", ("a",), {}),
        ("{}", (), {"by": "a"}),
    ],
)
def test_a_message_with_unmatched_fields_or_values_raises(template, values, parameters):
    with pytest.raises(ValueError, match="fields"):
        Message(template, *values, **parameters)


def methods():
    """List the functions of the package and the charts."""
    functions = [getattr(bf, name) for name in bf.__all__]
    charts = [getattr(bf.plot, name) for name in dir(bf.plot)]
    # The methods of the object of `bf.bal` check theirs, and those that take values check these.
    return [
        one
        for one in functions + charts
        if inspect.isfunction(one)
        and one not in (bf.bal, *VALUES)
        and inspect.signature(one).parameters
    ]


KNOWN = {name for method in methods() for name in inspect.signature(method).parameters}
SPELLED = re.compile(rf"(?<![\w.-])(?:{'|'.join(sorted(KNOWN))})=")


def errors_of(method):
    """Ask a method with wrong values of each parameter: the names, and the errors of the family."""
    for name in inspect.signature(method).parameters:
        for value in (object(), -1, "nonsense", [], {}, [1, 1], 0.5):
            try:
                asked(method, **{name: value})
            except bf.BalframeError as error:
                yield name, error


@cases("method", methods())
def test_every_error_on_a_parameter_names_it_in_parameters(method):
    caught = list(errors_of(method))

    assert caught
    assert not [str(one) for _, one in caught if SPELLED.search(one.written(lambda *_: ""))]
    knows_none = method in (bf.combine, bf.slice_filter)  # whose errors are about data
    assert any(name in one.parameters for name, one in caught) or knows_none


def calls_with_messages():
    """The calls in the source that make an error, a warning or a part of one, and their places."""
    for file in {*Path(bf.__file__).parent.rglob("*.py")} - {Path(errors.__file__)}:
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and re.search(
                r"(Error|Failed|^Message|^warn)$", ast.unparse(call.func)
            ):
                yield f"{file}, line {call.lineno}", call


def test_messages_name_parameters_in_fields_only():
    spelled = [
        f"{place}: {text.value}"
        for place, call in calls_with_messages()
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and SPELLED.search(str(text.value))
    ]
    for_python = [  # texts that have another one for the shell
        text.value
        for place, call in calls_with_messages()
        for part in ast.walk(call)
        if isinstance(part, ast.Call) and ast.unparse(part.func) == "Spelled"
        for text in ast.walk(part)
        if isinstance(text, ast.Constant)
    ]

    assert [line for line in spelled if line.partition(": ")[2] not in for_python] == []


def test_every_message_has_as_many_fields_as_values():
    """Most messages are never raised in tests; an f-string would take braces of data for fields."""
    n = 0
    for place, call in calls_with_messages():
        template, *values = call.args or [ast.Constant("")]
        names = [keyword.arg for keyword in call.keywords]
        if (values or names) and "CheckFailed" not in ast.unparse(call.func):
            assert not any(isinstance(part, ast.JoinedStr) for part in ast.walk(template)), place
            if isinstance(template, ast.Constant) and None not in names:
                Message(template.value, *[0] * len(values), **dict.fromkeys(names, 0))
                n += 1

    assert n > 100


def test_suggested_names_ignore_case():
    message = str(not_found("metric", "TPR", ["recall", "tpr", "f1"]))

    assert message == "metric 'TPR' not found; did you mean 'tpr'? Metrics: recall, tpr, f1."


FEW = ["id", "age", "sex", "race", "score", "label", "count", "month"]
MANY = [*FEW, "pages", "sage"]
LISTS = {
    "few names": ("q", FEW, "", ". Columns: id, age, sex, race, score, label, count, month."),
    "none near": ("q", MANY, "", f". Columns: {', '.join(FEW)}, ... (2 more)."),
    "some near": ("agex", MANY, "", "; did you mean 'age' or 'sage' or 'pages'?"),
    "none near, and what lists them": ("q", MANY, "dir(x)", ". dir(x) lists the columns."),
    "some near, and what lists all": (
        "scoer", MANY, "dir(x)", "; did you mean 'score'? dir(x) lists the columns."
    ),
    "few names, and what lists them": ("q", ["y"], "dir(x)", ". Columns: y."),
}  # fmt: skip


@cases(("name", "names", "listing", "end"), LISTS.values())
def test_a_message_lists_few_names_and_the_nearest_of_many(name, names, listing, end):
    message = str(not_found("column", name, names, listing=listing))

    assert message == f"column {name!r} not found{end}"
