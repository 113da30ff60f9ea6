"""What tests share: frames of every library, runs of the command line, and programs."""

import ast
import gc
import os
import sys
from datetime import date, timedelta
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, settings

import balframe as bf
from balframe import accessor, methods
from balframe.api.method import DECLARED
from balframe.cli.main import main
from balframe.methods import declarations, scores
from balframe.metrics import lookup, registry
from tests.lanes import FAST, LANES, MARKED
from tests.support.constructors import CONSTRUCTORS
from tests.support.programs import browser as browser
from tests.support.programs import npm_package as npm_package
from tests.support.recipes import recipe

# Only a conftest of all tests can name them. A page of the docs uses the marker of the second.
pytest_plugins = ["pytester", "pytest_balframe"]

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # of processes that share the cores
    os.environ.setdefault(name, "1")

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    max_examples=15,
    derandomize=True,
    deadline=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=SLOW_DRAWS,
)
settings.register_profile(
    "long", max_examples=1000, deadline=None, database=None, suppress_health_check=SLOW_DRAWS
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure(config):
    """Run the fast lane, unless a lane, a path or a name is given."""
    for lane in MARKED:
        config.addinivalue_line("markers", f"{lane.name}: {lane.tests}")
    config.pluginmanager.register(MetricsOfTests())
    is_everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_everything and not (config.option.markexpr or config.option.keyword):
        config.option.markexpr = FAST


class MetricsOfTests:
    """Forget after every test, those of docstrings too, which metrics it registered."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        assert lookup.registered_metrics()  # balframe's own are there
        before = {name: getattr(registry, name) for name in ("_registry", "_names")}
        try:
            return (yield)
        finally:
            vars(registry).update(before)


def pytest_collection_modifyitems(items):
    """Let simulations number their samples in `by`; elsewhere many numbers are an error."""
    for item in items:
        if item.get_closest_marker("simulation"):
            item.add_marker(pytest.mark.filterwarnings("ignore:column .* in by has .* numbers"))


def pytest_collection_finish():
    """Let the collector of garbage pass over the modules and tests, of which there are many."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter, config):
    """List the lanes after the fast one."""
    if config.option.markexpr == FAST and not config.option.collectonly:
        terminalreporter.section("lanes")
        for lane in LANES:
            terminalreporter.write_line(f"{lane.name}: {lane.tests}")
            terminalreporter.write_line(
                f"    {lane.command}    # {lane.minutes} min; needs {lane.needs}"
            )


@pytest.fixture(params=CONSTRUCTORS, ids=lambda constructor: constructor.__name__)
def constructor(request):
    """Make a frame from a dict of lists."""
    return request.param


@pytest.fixture
def toy_method(tmp_path, monkeypatch):
    """Add the method of CONTRIBUTING's recipe, `error_count`, and forget it afterwards."""
    name, code = "error_count", recipe("a method")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / f"{name}.py").write_text(code[f"methods/scores/{name}.py"])
    monkeypatch.setattr(scores, "__path__", [*scores.__path__, str(folder)])
    row = ast.literal_eval(f"{{{code['methods/__init__.py']}}}")
    monkeypatch.setitem(methods.METHODS, "segments", methods.METHODS["segments"] | row)
    added = accessor._NamespaceFunction(methods.load_method, name, "segments")
    monkeypatch.setattr(accessor.Bal, name, added, raising=False)
    yield declarations()[name]
    del DECLARED[name], sys.modules[f"{scores.__name__}.{name}"]
    delattr(scores, name)
    vars(bf).pop(name, None)


@pytest.fixture
def table():
    """Predicted labels and scores of two models."""
    return pl.DataFrame(
        {
            "y": ["yes", "yes", "yes", "no", "no", "no", "no", "yes"] * 6,
            "p": ["yes", "no", "yes", "no", "yes", "no", "no", "yes"] * 6,
            "q": ["yes", "yes", "no", "no", "no", "yes", "no", "no"] * 6,
            "g": ["a"] * 20 + ["b"] * 28,
            "sex": ["f", "m", "m"] * 16,
            "w": [0.5, 1.0, 2.0, 1.5] * 12,
            "k": [1, 2, 0, 3, 1, 2] * 8,
            "s": [0.9, 0.4, 0.8, 0.1, 0.6, 0.3, 0.2, 0.7] * 6,
            "t": [0.5, 0.5, 0.6, 0.2, 0.1, 0.7, 0.3, 0.9] * 6,
            "d": [date(2026, 1, 1) + timedelta(days=day) for day in range(48)],
        }
    )


@pytest.fixture
def people(tmp_path, table):
    """The table in a file."""
    path = tmp_path / "people.parquet"
    table.write_parquet(path)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line within this process: its exit code and what it wrote."""

    def started(*arguments):
        monkeypatch.setattr(sys, "argv", ["balframe", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        written = capsys.readouterr()
        return SimpleNamespace(code=end.value.code or 0, out=written.out, err=written.err)

    return started


@pytest.fixture
def refused(run):
    """Run what has to end with exit code 2 and one line of error: that line.

    Nothing is on standard output but, for a workflow, an annotation.
    """

    def started(*arguments):
        done = run(*arguments)
        assert done.code == 2
        assert done.out == "" or ("github" in arguments and done.out.startswith("::error title="))
        (line,) = done.err.splitlines()
        assert line.startswith("balframe: ")
        return line.removeprefix("balframe: ")

    return started
