"""The plugin of balframe for pytest, which pytest loads in every environment with balframe.

It is outside of the package, so that pytest starts without importing balframe: that takes time,
adds `.bal` to frames that the tested code might not import it for, and would leave lines of
balframe out of the measured coverage. `pytest -p no:balframe` switches it off.

PYTEST_DONT_REWRITE: it asserts nothing, and a run within a run would warn that it is imported.
"""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

_RECORDS = pytest.StashKey[list[dict[str, Any]]]()  # of a test whose report is not yet made
_ATTRIBUTE = "balframe_gates"  # of a report, in which records reach the controller of xdist
_OUTCOMES = ("passed", "failed", "inconclusive")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the report."""
    group = parser.getgroup("balframe")
    group.addoption(
        "--balframe-report",
        metavar="DIR",
        default=None,
        help="write the verdicts of every gate (balframe_gate), a page of audit and an index.md "
        "into this directory",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse a directory that no report can be written into."""
    config.addinivalue_line(
        "markers",
        "balframe(rules, by, y_true, y_pred, ...): defaults of the fixture balframe_gate; the "
        "closest marker wins",
    )
    if hasattr(config, "workerinput"):  # a worker of xdist
        return
    folder = _folder(config)
    if folder is not None:
        from balframe.errors import BalframeError
        from balframe.pytest_plugin.report_files import check_folder

        config.option.balframe_report = str(folder)  # workers may have other working directories
        try:
            check_folder(folder)
        except BalframeError as error:
            raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(_Run(folder), "balframe-run")


def _folder(config: pytest.Config) -> Path | None:
    path = config.getoption("balframe_report", None)
    return None if path is None else Path(config.invocation_params.dir, path)


@pytest.fixture
def balframe_gate(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Judge predictions by rules, and fail the test if a rule fails or is inconclusive.

    `balframe_gate(df, "y", "yhat", rules=["recall >= 0.7"], by="group")` takes the arguments of
    `bf.check`, and `allow_inconclusive=True`. It returns the verdicts if all of them pass. What a
    call omits is read from `@pytest.mark.balframe(...)` of the test, its class or its module.
    """
    from balframe.pytest_plugin.gate import gate_of_test

    records = request.node.stash.setdefault(_RECORDS, [])
    return gate_of_test(request.node, _folder(request.config), records.append)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Attach the records of gates to the report of the test, which workers send."""
    outcome = yield
    records = item.stash.get(_RECORDS, [])
    if records:
        setattr(outcome.get_result(), _ATTRIBUTE, records[:])
        records.clear()


class _Run:
    """The gates of a whole run, in the process that reports it: with xdist, the controller."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._records: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the records of the gates of a test."""
        self._records += getattr(report, _ATTRIBUTE, [])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the index of the report."""
        if self._folder is not None and not session.config.option.collectonly:
            from balframe.pytest_plugin.report_files import write_index

            write_index(self._records, self._folder)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401
        """Print how many gates passed, failed and were inconclusive."""
        if config.option.collectonly or not (self._records or self._folder):
            return
        n = len(self._records)
        outcomes = [record["outcome"] for record in self._records]
        counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in _OUTCOMES)
        gates = f"{n} gate{'s' * (n != 1)}: {counts}" if n else "no gates"
        report = "" if self._folder is None else f"; report in {self._folder / 'index.md'}"
        terminalreporter.write_line(f"balframe: {gates}{report}")
