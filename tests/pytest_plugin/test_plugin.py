"""The fixture, the marker and the summary, in runs of pytest."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from scipy.stats import beta

from balframe.errors import UnsupportedTypeError
from balframe.pytest_plugin.gate import call_values
from tests.pytest_plugin.conftest import ROWS
from tests.support.cases import cases

ROOT = Path(__file__).parents[2]


def clopper_pearson(successes, n, family):
    """Return the limits of a proportion in the table, of which `family` hold together with 95%."""
    tail = 0.025 / family
    lower = beta.ppf(tail, successes, n - successes + 1)
    upper = beta.isf(tail, successes + 1, n - successes)
    return f"{successes / n:.2f} [{lower:.2f}, {upper:.2f}]"


def failure_lines(result):
    return [line[8:] for line in result.outlines if re.match("E {7}|E$", line)]


def test_a_gate_that_passes_returns_the_verdicts(run_tests):
    result = run_tests("""
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_gate(balframe_gate, make):
    verdicts = balframe_gate(make(DATA), "y", "yhat", counts="n", rules=["n >= 202", "n <= 202"])
    assert type(verdicts) is (pd.DataFrame if make is pd.DataFrame else pl.DataFrame)
    assert list(verdicts["rule"]) == ["n >= 202", "n <= 202"]
    assert list(verdicts["status"]) == ["pass", "pass"]
""")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["balframe: 3 gates: 3 passed, 0 failed, 0 inconclusive"])


def test_a_gate_that_fails_shows_the_call_and_the_table(run_tests):
    result = run_tests("""
def test_gate(balframe_gate):
    balframe_gate(ROWS, "y", "yhat", **OPTIONS)
""")

    result.assert_outcomes(failed=1)
    first, _, header, *rows, _, note = failure_lines(result)
    assert first == "Failed: 1 of 3 verdicts fails and 1 is inconclusive (too few rows)."
    assert header.split() == ["group", "rule", "status", "estimate"]
    assert [re.split("  +", row.strip()) for row in rows] == [
        ["a", "recall >= 0.5", "pass", clopper_pearson(90, 100, 3)],
        ["b", "recall >= 0.5", "fail", clopper_pearson(10, 100, 3)],
        ["c", "recall >= 0.5", "inconclusive", clopper_pearson(1, 2, 3)],
    ]
    assert note == "Brackets: decision limits."
    calls = [line for line in result.outlines if line.startswith(">")]
    assert calls == ['>       balframe_gate(ROWS, "y", "yhat", **OPTIONS)']
    # Of pytest's own lines, "balframe_gate = <function ...>" has the value of an argument.
    assert [line for line in result.outlines if re.search(r"balframe/|plugin/gate", line)] == []
    (place,) = (line for line in result.outlines if re.fullmatch(r"\S+:\d+: \w+", line))
    assert place.startswith("test_gates.py:")
    assert place.endswith(": Failed")
    result.stdout.fnmatch_lines(["balframe: 1 gate: 0 passed, 1 failed, 0 inconclusive"])


def test_the_guide_shows_what_pytest_prints(run_tests, pytester):
    page = (ROOT / "docs" / "pages" / "how-to" / "pytest.md").read_text("utf-8")
    source = re.search(r'```python title="test_races.py"\n(.*?)```', page, re.DOTALL)[1]
    printed = re.search(r"```text\n(.*?)```", page, re.DOTALL)[1].splitlines()

    result = run_tests("", pytester.makepyfile(test_races=source))

    lines = [line.rstrip() for line in result.outlines]
    start = lines.index(printed[0])
    assert lines[start : start + len(printed)] == printed


def test_wide_tables_are_split_to_fit_into_80_columns(run_tests):
    result = run_tests("""
class TestOfAClass:
    def test_gate(self, balframe_gate):
        rows = ROWS.with_columns(group="a long name of group " + pl.col("group"))
        rule = {"rule": "false_negative_rate <= 0.5", "reason": "agreed"}
        balframe_gate(rows, "y", "yhat", **OPTIONS | {"rules": [rule]})
""")

    lines = failure_lines(result)
    # names of 22, rules of 26, "inconclusive" and "agreed", two spaces between them, and pytest's 8
    assert max(len(line.rstrip()) for line in lines) == 22 + 26 + 12 + 6 + 3 * 2 == 80 - 8
    assert [line.split() for line in lines if line.startswith("group")] == [
        ["group", "rule", "status", "reason"],
        ["group", "rule", "estimate"],
    ]
    assert sum("a long name of group b" in line for line in lines) == 2


def test_of_many_verdicts_the_worst_are_shown(run_tests):
    # Of 100 rows of group i, i are right. The 24 groups fail, and 24 pass another rule.
    result = run_tests("""
def test_gate(balframe_gate):
    rows = pl.DataFrame({"i": range(1, 25)}).with_columns(wrong=100 - pl.col("i"))
    wrong, right = rows.select("i", n="wrong", yhat=0), rows.select("i", n="i", yhat=1)
    cells = pl.concat([wrong, right])
    options = OPTIONS | {"by": "i", "rules": ["recall >= 0.5", "n >= 100"]}
    balframe_gate(cells.with_columns(y=1), "y", "yhat", **options)
""")

    lines = failure_lines(result)
    assert lines[0] == "Failed: 24 of 48 verdicts fail."
    rows = [line.split() for line in lines if ">=" in line]
    assert [row[0] for row in rows] == [str(i) for i in range(1, 21)]
    assert {row[4] for row in rows} == {"fail"}
    assert lines[-1] == "and 4 more that do not pass"


def test_inconclusive_verdicts_fail_unless_they_are_allowed(run_tests):
    result = run_tests("""
def test_strict(balframe_gate):
    balframe_gate(C, "y", "yhat", **OPTIONS)

def test_allowed(balframe_gate):
    verdicts = balframe_gate(C, "y", "yhat", **OPTIONS, allow_inconclusive=True)
    assert verdicts["status"].to_list() == ["inconclusive"]

@pytest.mark.balframe(allow_inconclusive=True)
def test_allowed_by_the_marker(balframe_gate):
    balframe_gate(C, "y", "yhat", **OPTIONS)

def test_failures_are_never_allowed(balframe_gate):
    balframe_gate(ROWS, "y", "yhat", **OPTIONS, allow_inconclusive=True)
""")

    result.assert_outcomes(passed=2, failed=2)
    first, second = (line for line in failure_lines(result) if line.startswith("Failed"))
    assert first == "Failed: 1 of 1 verdicts is inconclusive (too few rows)."
    assert second == "Failed: 1 of 3 verdicts fails."
    result.stdout.fnmatch_lines(["balframe: 4 gates: 2 passed, 1 failed, 1 inconclusive"])


def test_a_frame_without_rows_fails(run_tests):
    result = run_tests("""
def test_gate(balframe_gate):
    balframe_gate(ROWS.head(0), "y", "yhat", **OPTIONS, allow_inconclusive=True)
""")

    result.assert_outcomes(failed=1)
    assert failure_lines(result) == ["Failed: there is no row to judge, so no rule can pass."]
    result.stdout.fnmatch_lines(["balframe: 1 gate: 0 passed, 1 failed, 0 inconclusive"])


def test_the_closest_marker_wins_and_the_call_over_all(run_tests):
    result = run_tests("""
pytestmark = pytest.mark.balframe(y_true="y", y_pred="yhat", counts="n", rules="n >= 1")

def rules(verdicts):
    return verdicts.select("rule").unique().to_series().to_list()

def test_module(balframe_gate):
    verdicts = balframe_gate(ROWS)
    assert (rules(verdicts), verdicts["estimate"].to_list()) == (["n >= 1"], [202])

@pytest.mark.balframe(by="group", rules="n >= 2")
class TestClass:
    def test_class(self, balframe_gate):
        verdicts = balframe_gate(ROWS)
        assert (rules(verdicts), verdicts["group"].to_list()) == (["n >= 2"], ["a", "b", "c"])

    @pytest.mark.balframe(rules="n <= 300")
    def test_function(self, balframe_gate):
        verdicts = balframe_gate(ROWS)
        assert (rules(verdicts), verdicts.height) == (["n <= 300"], 3)

    @pytest.mark.balframe(rules="n <= 300")
    def test_call(self, balframe_gate):
        rows = ROWS.with_columns(perfect="y")
        verdicts = balframe_gate(rows, "y", "perfect", by=None, rules=["recall >= 0.9"])
        assert (rules(verdicts), verdicts["estimate"].to_list()) == (["recall >= 0.9"], [1])
""")

    result.assert_outcomes(passed=4)


@cases(
    ("mark", "call", "message"),
    [
        ("", 'ROWS, "y", "yhat", rules="recal >= 0.5"', "InvalidInputError: the rule 'recal >= 0."),
        (
            "",
            'ROWS, "y", "yhat"',
            "UnsupportedTypeError: balframe_gate needs rules, in the call or in "
            "@pytest.mark.balframe. Call balframe_gate(frame, y_true, rules=...).",
        ),
        ("", 'ROWS, "y", "yhatt", rules="n >= 1"', "UnknownNameError: column 'yhatt' not found; "),
        ("rule='n >= 1'", 'ROWS, "y", "yhat"', "UnsupportedTypeError: option 'rule' not found; "),
        (
            "'n >= 1'",
            'ROWS, "y", "yhat"',
            "UnsupportedTypeError: @pytest.mark.balframe takes nothing by position; give its ",
        ),
        (
            "allow_inconclusive=1",
            'ROWS, "y", "yhat", rules="n >= 1"',
            "InvalidInputError: allow_inconclusive=1 is not one of the options: ",
        ),
    ],
)
def test_wrong_use_is_an_error_and_no_gate(run_tests, mark, call, message):
    result = run_tests(f"""
@pytest.mark.balframe({mark})
def test_gate(balframe_gate):
    balframe_gate({call})
""")

    result.assert_outcomes(failed=1)
    assert failure_lines(result)[0].startswith(f"balframe.errors.{message}")
    calls = [line for line in result.outlines if line.startswith(">")]
    assert calls == [f">       balframe_gate({call})"]
    result.stdout.no_fnmatch_line("balframe: *")


def test_values_by_position_come_before_those_of_a_marker():
    near = pytest.mark.balframe(y_true="near", rules="n >= 1").mark
    far = pytest.mark.balframe(y_true="far", y_pred="far", by="g").mark

    values = call_values(["frame", "call"], {"level": 0.9}, [near, far])

    assert values == {
        "frame": "frame",
        "y_true": "call",
        "y_pred": "far",
        "by": "g",
        "rules": "n >= 1",
        "level": 0.9,
        "detail": True,
        "allow_inconclusive": False,
    }
    with pytest.raises(UnsupportedTypeError, match="y_true is given by position and by keyword"):
        call_values(["frame", "call"], {"y_true": "call"}, [near, far])


def test_warnings_are_about_the_line_of_the_call(run_tests):
    source = """
def test_gate(balframe_gate):
    balframe_gate(ROWS, "y", "yhat", **OPTIONS | {"rules": "n >= 1"}, expect=["a", "b"])
"""

    result = run_tests(source, "-W", "default")

    result.assert_outcomes(passed=1, warnings=1)
    call_line = (ROWS + source).strip().count("\n") + 1  # the last, where pytester strips the text
    (place,) = (line for line in result.outlines if "BalframeWarning" in line)
    assert re.match(rf"  .*test_gates\.py:{call_line}: BalframeWarning: ", place)


def test_runs_without_gates_say_nothing(run_tests):
    result = run_tests("""
def test_nothing():
    pass
""")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("balframe*")


def test_the_marker_and_the_fixture_are_described(run_tests):
    markers, fixtures = run_tests("", "--markers"), run_tests("", "--fixtures")

    markers.stdout.fnmatch_lines(["@pytest.mark.balframe(rules, by, y_true, y_pred, ...): *"])
    fixtures.stdout.fnmatch_lines(["balframe_gate -- *", "    Judge predictions by rules, *"])


@pytest.fixture
def run_installed(pytester, monkeypatch):
    """Run a test in another process, in which the plugin has an entry point as when installed."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    ((name, module),) = table["project"]["entry-points"]["pytest11"].items()
    pytester.mkdir("balframe-0.dist-info")
    entry_points = pytester.path / "balframe-0.dist-info" / "entry_points.txt"
    entry_points.write_text(f"[pytest11]\n{name} = {module}\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pytester.path), str(ROOT)]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source, *options):
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-p", "no:randomly", *options)

    return run


@pytest.mark.processes
@pytest.mark.any_version
def test_pytest_loads_the_plugin_without_importing_balframe(run_installed):
    result = run_installed("""
        import sys

        def test_nothing():
            assert [name for name in sys.modules if name.partition(".")[0] == "balframe"] == []
            assert "pytest_balframe" in sys.modules

        def test_gate(balframe_gate):
            assert "balframe" in sys.modules
    """)

    result.assert_outcomes(passed=2)
    assert result.stderr.lines == []


@pytest.mark.processes
@pytest.mark.any_version
def test_the_plugin_can_be_switched_off(run_installed):
    result = run_installed("def test_gate(balframe_gate):\n    pass", "-p", "no:balframe")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E       fixture 'balframe_gate' not found"])


def test_a_frame_without_rows_fails_even_if_segments_are_expected(run_tests):
    result = run_tests("""
def test_gate(balframe_gate):
    options = {**OPTIONS, "expect": ["a", "b"], "allow_inconclusive": True}
    balframe_gate(ROWS.head(0), "y", "yhat", **options)
""")

    result.assert_outcomes(failed=1)
    assert failure_lines(result) == ["Failed: there is no row to judge, so no rule can pass."]


def test_a_path_as_baseline_is_refused_with_what_to_give(run_tests):
    result = run_tests("""
@pytest.mark.balframe(baseline="../cells.parquet")
def test_gate(balframe_gate):
    rules = "recall >= baseline - 0.1"
    balframe_gate(ROWS, "y", "yhat", **OPTIONS | {"rules": rules})
""")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*baseline='../cells.parquet' is not a column, and paths are not read; give a frame*"
            "polars.read_parquet('../cells.parquet') reads."
        ]
    )
