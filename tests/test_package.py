import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe import errors, stats
from balframe.accessor import Bal, Plots, groups, methods, public_functions
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.method_arguments import (
    EXAMPLE_OPTIONS,
    EXAMPLE_VALUES,
    days,
    example_arguments,
    models,
)

ROOT = Path(__file__).parents[1]
METHODS = methods()
CHARTS = [name for names in groups(Plots).values() for name in names]


@cases("method", METHODS)
def test_methods_of_the_namespace_equal_public_functions(method):
    df = pl.DataFrame({"y": [1, 0, 1], "p": [1, 1, 0], "q": [1, 0, 1], "g": [1, 2, 2]})
    df = df.with_columns(s=pl.col("p") / 2, t=pl.col("q") / 2, day=pl.Series(days(3)))
    request = example_arguments(method, **models(method))
    expected = getattr(bf, method)(df, **request)

    assert getattr(df.bal, method)(**request).equals(expected)
    assert getattr(df.lazy().bal, method)(**request).collect().equals(expected)
    in_pandas = plain(getattr(df.to_pandas().bal, method)(**request))
    assert in_pandas | in_dates(in_pandas) == plain(expected)


def in_dates(table):
    """Pandas has no dates but midnights."""
    names = {"period", "day"} & {*table}
    return {name: [day.date() for day in table[name]] for name in names}


def test_audit_of_the_namespace_equals_the_function():
    df = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 1, 0, 0], "g": [1, 2, 2, 1]})
    expected = bf.audit(df, "y", "p", by="g").markdown()

    for frame in (df, df.lazy(), df.to_pandas()):
        assert frame.bal.audit("y", "p", by="g").markdown() == expected


@cases("name", public_functions())
def test_methods_have_the_parameters_and_docstring_of_functions(name):
    function = getattr(bf, name)
    method = getattr(pd.DataFrame().bal, name)

    assert (
        list(inspect.signature(method).parameters) == [*inspect.signature(function).parameters][1:]
    )
    assert getattr(Bal, name).__doc__ == function.__doc__


@pytest.mark.parametrize("chart", CHARTS)
def test_charts_of_the_namespace_equal_the_functions(chart):
    df = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 1, 0, 1], "g": [1, 2, 2, 1]})
    df = df.with_columns(q=1 - pl.col("p"), day=pl.Series(days(4)))
    function = getattr(bf.plot, chart)
    own = {
        "compare": {"by": "g", "baseline": "q"},
        "impact": {"by": "g", "favourable": "selected"},
        "slices": {"over": "g", "metrics": "f1", "min_support": 1},
        "power": {"by": "g", "rules": "accuracy >= 0.1"},
        "pass_curve": {"cluster": "g", "trials": 2},
        "monitor": {
            **{name: EXAMPLE_VALUES[name] for name in ("time", "baseline")},
            **EXAMPLE_OPTIONS["monitor"],
        },
    }
    options = own.get(chart, {"by": "g"})
    has_truth = chart not in ("impact", "pass_curve")
    labels = ["y", "p"] if has_truth else ["p"]  # which are scores of 0 and 1 too
    expected = function(df, *labels, **options).to_dict()

    for frame in (df, df.lazy(), df.to_pandas()):
        assert getattr(frame.bal.plot, chart)(*labels, **options).to_dict() == expected
    assert getattr(Plots, chart).__doc__ == function.__doc__
    parameters = [*inspect.signature(function).parameters]
    assert list(inspect.signature(getattr(df.bal.plot, chart)).parameters) == parameters[1:]


def test_dir_of_plot_lists_every_chart():
    assert sorted(CHARTS) == dir(bf.plot)


@cases(
    ("module", "names"),
    [
        (bf.datasets, "applicants compas compas_by_age_and_sex compas_deciles"),
        (
            errors,
            "BalframeError BalframeWarning CheckFailed InvalidInputError MissingExtraError "
            "UnknownNameError UnsupportedTypeError",
        ),
        (stats, " ".join(stats.__all__)),
    ],
)
def test_dir_of_a_public_module_lists_only_public_names(module, names):
    assert dir(module) == names.split()
    assert all(hasattr(module, name) for name in dir(module))


LISTED = "\nprint(type(bf.list_metrics()).__module__.split('.')[0])"


@pytest.mark.processes
@cases(
    ("program", "library"),
    [
        ("import balframe as bf", "polars"),
        ("import pandas\nimport balframe as bf", "pandas"),
        ("import balframe as bf\nimport pandas", "pandas"),
        ("import balframe as bf\nimport polars", "polars"),
        ("import pandas, polars\nimport balframe as bf", "polars"),
        ("import pandas\nimport balframe as bf\nimport polars", "polars"),
        (  # balframe has loaded polars, the caller has not
            "import pandas\nimport balframe as bf\n"
            "bf.report(pandas.DataFrame({'y': [0, 1], 'p': [0, 1]}), 'y', 'p')",
            "pandas",
        ),
    ],
)
def test_list_metrics_returns_a_frame_of_the_only_library_imported(program, library):
    command = [sys.executable, "-c", program + LISTED]
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.stdout.strip(), done.stderr) == (library, "")


def test_every_public_name_has_a_docstring_with_an_example():
    things = {name: getattr(bf, name) for name in bf.__all__}
    for name, thing in (things | {name: getattr(bf.plot, name) for name in CHARTS}).items():
        assert thing.__doc__, name
        if inspect.isfunction(thing):
            assert ">>>" in thing.__doc__, name
            for parameter in inspect.signature(thing).parameters:
                assert re.search(
                    rf"^ *(\w+, )*(\*\*)?{parameter}( :|(, \w+)* :|$)", thing.__doc__, re.M
                ), (
                    name,
                    parameter,
                )


LIBRARIES = ("pandas", "polars", "pyarrow", "numpy", "scipy", "narwhals")
HEAVY = (*LIBRARIES, "click", "altair", "great_tables", "balframe.methods.scores.report")
OF_PANDAS = """import pandas as pd
pd.DataFrame({"y": [0, 1], "p": [0, 1]}).bal.report("y", "p", interval=True)
"""
OF_POLARS = """import polars as pl
frame = pl.DataFrame({"y": [0, 1, 1], "p": [0, 1, 0], "g": ["a", "b", "b"], "s": [0.1, 0.8, 0.4]})
for data in (frame, frame.lazy()):
    data.bal.report("y", "p", by="g", interval=True)
    data.bal.gaps("y", "p", by="g")
    data.bal.curve("y", "s", by="g")
    data.bal.ranking("y", "s")
    data.bal.check("y", "p", rules="accuracy > 0")
"""


@pytest.mark.parametrize(
    ("call", "heavy"),
    [("", HEAVY), (OF_PANDAS, ("scipy.stats", "click")), (OF_POLARS, ("pandas", "scipy.stats"))],
    ids=["import", "pandas", "polars"],
)
@pytest.mark.processes
def test_heavy_libraries_are_not_imported_before_use(call, heavy):
    code = f"import sys, balframe\n{call}\nprint([m for m in {heavy} if m in sys.modules])"

    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert printed.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "order",
    [
        "balframe, {}",
        "{}, balframe",
        pytest.param("dask.dataframe, balframe, {}", marks=pytest.mark.engines),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.processes
def test_frames_have_bal_in_every_order_of_imports(library, order):
    code = f"import {order.format(library)}\n" + (
        f"frame = {library}.DataFrame({{'y': [0, 1], 'p': [0, 1]}})\n"
        "print(*(one.bal.report('y', 'p').shape for one in (frame, frame.head(1))))"
    )

    printed = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )

    assert printed.stdout.strip() == "(1, 4) (1, 4)"


IMPORTS = "import importlib\nfor module in {modules}:\n    importlib.import_module(module)"
COMMAND = "import sys\nfrom balframe.cli.main import main\nsys.argv = {words}\nmain()"
FROM_A_FILE = ["report", "people.csv", "--y-true", "y", "--y-pred", "p", "--by", "g", "--interval"]


def modules():
    for path in sorted((ROOT / "balframe").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.any_version
@pytest.mark.parametrize(
    "code",
    [
        IMPORTS.format(modules=list(modules())),
        COMMAND.format(words=["balframe", "--help"]),
        COMMAND.format(words=["balframe", *FROM_A_FILE]),
    ],
    ids=["imports", "help", "report"],
)
@pytest.mark.processes
def test_imports_and_commands_emit_no_warnings(code, table, tmp_path):
    table.write_csv(tmp_path / "people.csv")

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_dir_of_the_package_lists_more_than_its_public_names():
    assert set(bf.__all__) < set(dir(bf))


@cases(
    ("name", "namespace"),
    {
        "bf": bf,
        "df.bal": bf.bal(pl.DataFrame({"y": [0]})),
        "df.bal.plot": bf.bal(pl.DataFrame({"y": [0]})).plot,
        "df.bal.table": bf.bal(pl.DataFrame({"y": [0]})).table,
        "bf.plot": bf.plot,
        "bf.table": bf.table,
    }.items(),
)
def test_unknown_attributes_raise_attribute_error_with_the_nearest_name(name, namespace):
    message = f"'{name}' has no attribute 'reprot'; did you mean 'report'"
    for error in (AttributeError, bf.UnknownNameError):
        with pytest.raises(error, match=message) as raised:
            _ = namespace.reprot
        assert str(raised.value).endswith(f"? dir({name}) lists the attributes.")
    assert not hasattr(namespace, "reprot")
    assert getattr(namespace, "_repr_mimebundle_", None) is None


def test_version_is_that_of_the_installed_package():
    assert importlib.metadata.version("balframe") == bf.__version__


def test_readme_has_two_commands_for_a_clone():
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text(), re.M)

    assert [command.rpartition("&& ")[2] for command in commands] == [
        ".venv/bin/balframe demo",
        ".venv/bin/python -m pytest",
    ]
