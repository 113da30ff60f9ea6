"""The recipes of CONTRIBUTING.md, followed: what they add is there, and works."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Unpack

import click
import pandas as pd
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

import balframe as bf
from balframe import accessor
from balframe.api import options
from balframe.api.method import with_options
from balframe.cli.app import make_program
from balframe.cli.command_descriptions import descriptions_text
from balframe.cli.files import formats
from balframe.frames.engines import registry
from balframe.methods import declarations
from balframe.methods.comparisons import fairness
from balframe.metrics.definitions import accuracies
from balframe.stats.proportions import wilson
from docs.generators import generated
from tests.lanes import LANES
from tests.support.recipes import TEXT, recipe

ROOT = Path(__file__).parents[1]

FRAME = pl.DataFrame(
    {"g": list("aaabb"), "y": [1, 0, 1, 0, 1], "p": [1, 1, 0, 0, 1], "q": [1, 0, 1, 1, 1]}
)
LIBRARIES = {"polars": FRAME, "lazy": FRAME.lazy(), "pandas": FRAME.to_pandas()}


def run_recipe(heading, module):
    """Run the code of a section in the place of its file, as if it stood below what is there."""
    (code,) = recipe(heading).values()
    namespace = dict(vars(module))
    exec(code, namespace)
    return namespace


def test_every_recipe_of_contributing_has_a_test():
    headings = re.findall(r"^## Add (.+)$", TEXT, re.MULTILINE)

    assert headings == [
        "a metric",
        "an interval",
        "a method",
        "an engine",
        "a criterion",
        "an option",
        "an input format",
    ]
    assert all(recipe(heading) for heading in headings)


def test_recipe_for_a_metric_works_in_report_and_check():
    run_recipe("a metric", accuracies)
    metrics = ["ber", "share_of_misses"]

    out = bf.report(FRAME, "y", "p", by="g", metrics=metrics, interval=True)

    assert out["ber"].to_list() == [3 / 4, 0.0]
    assert out["share_of_misses"].to_list() == [1 / 2, None]
    assert out["share_of_misses_lower"][0] == pytest.approx(wilson(1.0, 2.0, 0.95)[0])
    assert {"balanced_error_rate", "share_of_misses"} <= set(bf.list_metrics()["name"])
    assert bf.check(FRAME, "y", "p", rules="ber <= 0.4", level=None)["status"][0] == "fail"
    assert "## share_of_misses { #share_of_misses }" in generated.metrics_of("accuracies")


@pytest.fixture
def method(toy_method):
    """The function of the recipe's method, by its name."""
    return bf.error_count


@pytest.mark.parametrize("frame", LIBRARIES.values(), ids=LIBRARIES)
def test_recipe_for_a_method_returns_results_in_every_library(method, frame):
    results = method(frame, "y", "p", by="g"), frame.bal.error_count("y", "p", by="g")
    few = method(frame, "y", "p", by="g", at_least=1, margins="overall")

    for result in results:
        assert rows(result) == [("a", 3, 2), ("b", 2, 0)]
    assert rows(few) == [("a", "g", 3, 2), (None, "overall", 5, 2)]
    assert rows(method(frame, "y", ["q", "p"]))[0] == ("q", 5, 1)
    with pytest.raises(TypeError, match="did you mean 'at_least'"):
        method(frame, "y", "p", at_lest=1)


def rows(frame):
    if isinstance(frame, pd.DataFrame):
        return [
            tuple(None if pd.isna(value) else value for value in row) for row in frame.to_numpy()
        ]
    return frame.lazy().collect().rows()


def test_recipe_for_a_method_adds_it_to_the_namespace_and_docs(method):
    described = inspect.getdoc(method)

    assert declarations()["error_count"].function is method
    for name, parameter in inspect.signature(method).parameters.items():
        assert parameter.kind is not parameter.VAR_KEYWORD
        assert f"\n{name} : " in described
    assert "error_count" in accessor.groups(accessor.Bal)["segments"]
    assert "error_count" in repr(FRAME.bal)
    assert "error_count" in dir(FRAME.bal)
    assert "](methods/error_count.md)" in generated.methods()
    assert "::: balframe.methods.scores.error_count.error_count" in generated.method("error_count")
    assert doctest.testmod(sys.modules["balframe.methods.scores.error_count"]) == (0, 4)


def test_recipe_for_a_method_exports_it_for_type_checkers(method):
    namespace = {}

    exec(recipe("a method")["__init__.py"], namespace)

    assert namespace["error_count"] is method


def test_recipe_for_an_engine_reads_duckdb_relations(monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(FRAME.to_arrow())
    others = tuple(engine for engine in registry.ENGINES if engine.name != "DuckDB")
    names = {key: engine for key, engine in registry._NARWHALS.items() if engine in others}
    monkeypatch.setattr(registry, "ENGINES", others)
    monkeypatch.setattr(registry, "_NARWHALS", names)
    with pytest.raises(bf.UnsupportedTypeError, match="not a frame that balframe can read"):
        bf.report(relation, "y", "p")

    added = run_recipe("an engine", registry)
    for name in ("DUCKDB", "ENGINES", "_NARWHALS"):
        monkeypatch.setattr(registry, name, added[name])

    assert registry.find_engine(relation) is registry.ENGINES[-1]
    assert bf.report(relation, "y", "p", by="g").equals(bf.report(FRAME, "y", "p", by="g"))


def test_recipe_for_a_criterion_adds_it_to_fairness(monkeypatch):
    (code,) = recipe("a criterion").values()
    row = eval(code, dict(vars(fairness)))
    monkeypatch.setattr(fairness, "CRITERIA", (*fairness.CRITERIA, row))

    out = bf.fairness(FRAME, "y", "p", by="g", min_support=1).filter(
        criterion="predictive_equality"
    )

    assert out["measure"].to_list() == ["difference", "ratio"]
    assert out["estimate"].to_list() == [1.0, 0.0]


def test_recipe_for_an_interval_sets_limits_and_rule_status():
    added = run_recipe("an interval", accuracies)

    @bf.metric(range=(0, 1), interval=added["AgrestiCoull"](accuracies._accuracy_parts))
    def share_right(c):
        return c.total_correct / c.total

    for interval in (True, "exact"):
        out = bf.report(
            FRAME, "y", "p", metrics="share_right", interval=interval, layout="long", detail=True
        )
        expected = proportion_confint(3, 5, method="agresti_coull")
        assert out["method"].to_list() == ["agresti-coull"]
        assert (out["lower"][0], out["upper"][0]) == pytest.approx(expected)
    verdict = bf.check(FRAME, "y", "p", rules="share_right >= 0.1", detail=True)

    assert verdict["status"].to_list() == ["pass"]


def test_recipe_for_an_option_adds_and_documents_it():
    group = run_recipe("an option", options)["RoundingOptions"]

    def double(frame: object, **options: object) -> object:
        """Return the options.

        Returns
        -------
        mapping
        """
        return options

    double.__annotations__["options"] = Unpack[group]
    described = {"frame": options.Option("", "")}
    complete = with_options(double, "double", described, "", bf.UnsupportedTypeError)

    assert complete(FRAME) == {"decimals": None}
    assert complete(FRAME, decimals=2) == {"decimals": 2}
    assert "decimals : int, optional\n    Round the scores" in inspect.getdoc(complete)


def test_recipe_for_an_input_format_reads_avro_files(monkeypatch, run, tmp_path):
    avro = run_recipe("an input format", formats)["_ROWS"][-1]
    monkeypatch.setitem(formats.FORMATS, avro.name, avro)
    monkeypatch.setitem(formats._ENDINGS, *avro.endings, avro)
    FRAME.write_avro(tmp_path / "data.avro")
    (tmp_path / "data.avro").rename(tmp_path / "data")
    FRAME.write_avro(tmp_path / "data.avro")

    for name in ("data", "data.avro"):
        done = run("classes", tmp_path / name, "--y-true", "y", "--y-pred", "p", "--format", "csv")
        assert done.code == 0, done.err
        assert done.out.startswith("label,")
    program = make_program()
    report = program.get_command(click.Context(program), "report")
    assert "json, xlsx, eval, delta or avro." in descriptions_text([report])


def test_functions_named_in_contributing_exist():
    section = TEXT.partition("\n## Where a number comes from\n")[2].partition("\n## ")[0]
    names = re.findall(r"`([a-z_.]+\.\w+)`", section)

    assert len(names) == 19
    for name in names:
        assert callable(resolve_name(f"balframe.{name}"))


def test_the_table_of_lanes_is_their_declaration():
    rows = [f"| `{one.name}` | {one.tests} | {one.minutes} | {one.needs} |" for one in LANES]

    written = [line for line in TEXT.splitlines() if line in rows]
    assert written == rows


@pytest.mark.processes
@pytest.mark.any_version
def test_the_page_of_tests_does_not_exaggerate_their_number():
    page = (ROOT / "docs" / "pages" / "how-it-is-tested.md").read_text("utf-8")
    (claimed,) = re.findall(r"more than ([\d,]+) tests", page)
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-n", "0"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    (collected,) = re.findall(r"/(\d+) tests collected", done.stdout)
    assert int(collected) > int(claimed.replace(",", ""))
