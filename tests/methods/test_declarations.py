"""What a method declares is what its signature, its help and its results have."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe import accessor
from balframe.api.columns import BY, METRIC, PREDICTED, TRUE, Kind
from balframe.methods import declarations
from balframe.metrics import registry
from balframe.metrics.score_metrics import score_metric_names
from tests.support.cases import cases
from tests.support.method_arguments import (
    MODEL_METHODS,
    SEARCH_METHODS,
    days,
    example_arguments,
    layout_arguments,
    models,
)

ROOT = Path(__file__).parents[2]
METHODS = declarations()
each_method = cases("method", METHODS.values())
LAYOUTS = [
    (name, layout)
    for name, method in METHODS.items()
    for layout in method.layouts
    if layout != "strata"  # of `power`, where predictions are by-columns
]
each_layout = pytest.mark.parametrize(("name", "layout"), LAYOUTS)

FRAME = pl.DataFrame(
    {
        "g": list("aaabbb"),
        "c": list("uuvvww"),
        "y": [1, 0, 1, 0, 1, 0],
        "p": [1, 0, 0, 1, 1, 0],
        "q": [1, 1, 1, 0, 1, 0],
        "r": [0, 1, 1, 0, 0, 0],
        "s": [0.9, 0.2, 0.6, 0.4, 0.7, 0.1],
        "t": [0.5, 0.3, 0.6, 0.1, 0.7, 0.2],
        "w": [1.0, 2.0, 0.5, 1.0, 1.5, 1.0],
        "day": days(6),
    }
)
AGAINST = "accuracy >= baseline - 0.1"
WITH_REASON = {"rule": "accuracy >= 0", "reason": "as agreed"}
WARNING = {"rule": "n >= 1", "severity": "warn"}
SHOWING = {  # the options under which further columns are there
    "margins": {"margins": "overall"},
    "missing": {"missing": "drop"},
    "corrected": {"missing": "correct", "metrics": "accuracy"},
    "weights": {"sample_weight": "w"},
    "cluster": {"cluster": "c"},
    "interval": {"interval": True},
    "normalize": {"normalize": "true"},
    "score": {"selected": None, "score": "s"},
    "reference": {"reference": "rest"},
    "metrics": {"metrics": {"further": "roc_auc(max_fpr=0.5)"}},
    "band": {"band": True},
    "reasons": {"rules": [WITH_REASON]},
    "warnings": {"rules": [WITH_REASON, WARNING]},
    "baseline": {"baseline": "q", "rules": [AGAINST, WITH_REASON, WARNING]},
    "key": {"baseline": FRAME, "key": "s"},
    "tables": {"by": ["g", "c"]},
    "expect": {"expect": [*FRAME["g"].unique().to_list(), "another"]},
}
PLACES = {BY: "g|c|period", TRUE: "y", METRIC: r"\w+", PREDICTED: "p|predicted"}
DTYPES = {
    Kind.BY: pl.String,
    Kind.LABEL: pl.Int64,
    Kind.INTEGER: pl.Int64,
    Kind.INTEGER_OR_NULL: pl.Int64,
    Kind.FLOAT: pl.Float64,
    Kind.DATE_OR_NULL: pl.Date,
    Kind.FLAG_OR_NULL: pl.Boolean,
    Kind.TEXT: pl.String,
}
IN_PANDAS = {
    pl.Int64: "int64",
    pl.Float64: "float64",
    pl.Boolean: "boolean",
    pl.Date: "datetime64[s]",
}


def test_the_catalogue_has_the_methods_of_the_accessor():
    assert sorted(METHODS) == sorted(accessor.methods())


@each_method
def test_a_signature_lists_every_option_with_its_default(method):
    parameters = inspect.signature(getattr(bf, method.name)).parameters

    public = {name: one for name, one in method.parameters.items() if one.is_public}
    assert list(parameters) == list(public)
    for name, one in public.items():
        assert parameters[name].default == one.default
        assert parameters[name].kind is not inspect.Parameter.VAR_KEYWORD


@each_method
def test_every_parameter_is_described(method):
    described = section(method, "Parameters")

    names = re.findall(r"^(\w+(?:, \w+)*) : \S.*\n {4}\S", described, re.MULTILINE)
    settings = [name for name, one in method.parameters.items() if one.is_setting]
    public = [name for name, one in method.parameters.items() if one.is_public]
    assert names == public + [", ".join(settings)] * bool(settings)


@each_method
def test_every_column_is_described(method):
    returned = section(method, "Returns")

    for one in columns_of(method):
        if one.placeholder is None and f"`{one.name}`" not in returned:
            metric, _, end = one.name.rpartition("_")  # a limit, of every score
            assert re.search(rf"`<\w+>_{end}`", returned), one.name
            assert f"`{metric}`" in returned


def section(method, heading):
    underlined = f"{heading}\n{'-' * len(heading)}\n"
    after = inspect.getdoc(getattr(bf, method.name)).partition(underlined)[2]
    return re.split(r"^\w+\n-{3,}$", after, flags=re.MULTILINE)[0]


def columns_of(method):
    return [one for layout in method.layouts.values() for one in layout]


@pytest.mark.filterwarnings("ignore:no slice is listed", "ignore:rows whose key")
@each_layout
@pytest.mark.parametrize("shows_all", [False, True])
def test_columns_of_a_result_equal_those_declared(name, layout, shows_all):
    declared = METHODS[name].layouts[layout]
    under = {one.only_with for one in declared if one.only_with is not None} if shows_all else set()
    under |= {"models"} if name in MODEL_METHODS else set()
    under -= {"models"} if "key" in under else set()  # rows are matched for a single model
    under -= {"corrected"}  # it goes with few other options

    assert_declared(name, layout, under, shows_all=shows_all)


@pytest.mark.filterwarnings("ignore:in . of .")
@cases(
    ("name", "layout", "under"),
    [
        ("report", "wide", {"interval"}),
        ("report", "long", {"interval"}),
        ("gaps", "", set()),
    ],
)
def test_columns_of_a_corrected_result_equal_those_declared(name, layout, under):
    assert_declared(name, layout, {"corrected", *under}, shows_all=True)


def assert_declared(name, layout, under, *, shows_all):
    declared = METHODS[name].layouts[layout]
    asked = arguments(name, layout, under)
    if "detail" in METHODS[name].parameters:
        asked |= {"detail": shows_all}
    function = getattr(bf, name)

    result = function(FRAME, **asked)

    patterns = {
        one: pattern(one)
        for one in declared
        if (one.only_with is None or one.only_with in under) and (shows_all or not one.detail)
    }
    kinds = {column: kind_of(column, patterns) for column in result.columns}
    there = {one for one, names in patterns.items() if any(map(names.fullmatch, result.columns))}
    assert there == set(patterns)
    fixed = [one.name for one in patterns if one.placeholder is None]
    assert [column for column in result.columns if column in fixed] == fixed
    dtypes = {column: DTYPES[kind] for column, kind in kinds.items()}
    assert result.schema == dtypes | ({"period": pl.Date} if "period" in dtypes else {})
    for frame in (FRAME,) if name in SEARCH_METHODS else (FRAME, FRAME.clear()):
        assert function(frame, **asked).schema == result.schema
        lazy = function(frame.lazy(), **asked)
        assert lazy.collect_schema() == lazy.collect().schema == result.schema
        in_pandas = function(frame.to_pandas(), **asked)
        assert list(in_pandas) == result.columns
        for column, dtype in result.schema.items():
            if kinds[column] is not Kind.BY and kinds[column] is not Kind.LABEL:
                is_nullable = kinds[column] is Kind.INTEGER_OR_NULL
                expected = "Int64" if is_nullable else IN_PANDAS.get(dtype)
                found = in_pandas.dtypes[column]
                assert found == expected or (expected is None and is_text(found)), column


def arguments(name, layout, under):
    """Ask for all columns that are there under these options."""
    asked = example_arguments(name, **layout_arguments(layout))
    for option in sorted(under - {"models", "pairs"}, key=list(SHOWING).index):
        asked |= SHOWING[option]
    if "models" in under:
        asked |= models(name) | ({"y_pred": ["p", "r"]} if "baseline" in under else {})
        asked |= {"selected": None, "score": ["s", "t"]} if "score" in under else {}
    return asked


def pattern(column):
    """Turn the name of a column into a pattern, its place filled."""
    parts = re.split(r"(\{\w+\})", column.name)
    return re.compile("".join(f"({PLACES.get(one, re.escape(one))})" for one in parts))


def kind_of(column, patterns):
    """Find what the declaration says of a column; a name in full comes before a place."""
    found = [one for one, names in patterns.items() if names.fullmatch(column)]
    return min(found, key=lambda one: METRIC in one.name).kind


def is_text(dtype):
    return isinstance(dtype, pd.StringDtype) or dtype.kind == "O"


@each_method
def test_an_unknown_option_raises_and_suggests_the_nearest_name(method):
    option, misspelled = option_of(method.name)
    message = f"option '{misspelled}' not found; did you mean '{option}'"
    with pytest.raises(TypeError, match=message):
        getattr(bf, method.name)(FRAME, **example_arguments(method.name), **{misspelled: "drop"})


def option_of(name):
    """Return an option of a method whose values are words, and a misspelling of it."""
    has_missing = "missing" in inspect.signature(getattr(bf, name)).parameters
    return ("missing", "misisng") if has_missing else ("backend", "bakcend")


def test_every_method_is_imported_under_type_checking():
    tree = ast.parse((ROOT / "balframe" / "__init__.py").read_text("utf-8"))
    branches = [node for node in tree.body if isinstance(node, ast.If)]
    (checked,) = (node for node in branches if ast.unparse(node.test) == "TYPE_CHECKING")
    lines = {ast.unparse(node) for node in checked.body}

    for name, method in METHODS.items():
        assert f"from {method.function.__module__} import {name} as {name}" in lines
    for name in set(accessor.public_functions()) - set(accessor.methods()):
        module = getattr(bf, name).__module__
        assert f"from {module} import {name} as {name}" in lines


def test_names_of_columns_beside_metrics_are_refused_for_metrics():
    beside = {
        one.name
        for method in METHODS.values()
        if any(one.name == METRIC for one in columns_of(method))
        for one in columns_of(method)
        if one.placeholder is None
    }

    assert bf.metric  # which reserves them
    assert beside - {*score_metric_names()} == registry._reserved
    with pytest.raises(bf.InvalidInputError, match="names a column"):
        bf.metric(range=(0, 1), aliases=["min_support"])(lambda c: c.mean_recall)


@pytest.mark.any_version
@pytest.mark.processes
def test_strict_mypy_infers_the_library_and_checks_options(tmp_path):
    lines = [
        "import pandas as pd",
        "import polars as pl",
        "import balframe as bf",
        "in_polars, in_pandas = pl.DataFrame(), pd.DataFrame()",
    ]
    expected = {}
    for name in METHODS:
        given = ", ".join(f"{key}={value!r}" for key, value in example_arguments(name).items())
        for frame, revealed in (("in_polars", "polars"), ("in_pandas", "pandas")):
            lines.append(f"reveal_type(bf.{name}({frame}, {given}))")
            expected[len(lines)] = rf'Revealed type is "{revealed}\.[\w.]*DataFrame"'
        option, misspelled = option_of(name)
        lines.append(f"bf.{name}(in_polars, {given}, {misspelled}='n')")
        expected[len(lines)] = f'Unexpected keyword .*"{misspelled}".*did you mean "{option}"'
        lines.append(f"bf.{name}(in_polars, {given}, {option}='dorp')")
        expected[len(lines)] = f'Argument "{option}" .* has incompatible type'
    lines.append("reveal_type(bf.audit(in_polars, 'y', 'p', by='g', unit=('row', 'rows')))")
    expected[len(lines)] = r'Revealed type is "balframe\.audit_page\.page\.Page"'
    lines.append("bf.audit(in_polars, 'y', 'p', cuonts='n')")
    expected[len(lines)] = 'Unexpected keyword argument "cuonts".*did you mean "counts"'
    path = tmp_path / "calls.py"
    path.write_text("\n".join(lines) + "\n")

    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    said = dict(re.findall(r"calls\.py:(\d+): (?:error: |note: (?=Revealed))(.*)", done.stdout))
    assert {int(line) for line in said} == set(expected), done.stdout + done.stderr
    for line, words in expected.items():
        assert re.search(words, said[str(line)]), said[str(line)]


LIMITS = {"report": (16, 700)}  # how many parameters, and fewer than how many words of help


@cases("name", accessor.public_functions())
def test_help_is_short_and_parameters_are_few(name):
    function = getattr(bf, name)
    signature = inspect.signature(function)
    most_parameters, words = LIMITS.get(name, (20, 1_200))

    assert len(signature.parameters) <= most_parameters
    assert len(f"{signature} {inspect.getdoc(function)}".split()) < words


@cases("name", dir(bf.plot))
def test_help_of_charts_is_short(name):
    function = getattr(bf.plot, name)

    assert len(f"{inspect.signature(function)} {inspect.getdoc(function)}".split()) < 1_200
