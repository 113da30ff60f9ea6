"""The lanes of the tests: what each runs, how long it takes on two cores, and what it needs.

A test belongs to the lane that it is marked with, and to `fast` without a mark.
"""

from dataclasses import dataclass

_NOX = "nox -f .ci/noxfile.py -s"


@dataclass(frozen=True)
class Lane:
    """A part of the tests that is run on its own."""

    name: str
    tests: str
    minutes: int
    command: str
    needs: str = "nothing else"


MARKED = (
    Lane(
        "processes",
        "what only other programs show: pipes, signals, terminals, imports, types, pipelines",
        minutes=3,
        command="python -m pytest -m processes",
        needs="jq",
    ),
    Lane(
        "engines",
        "Spark, Dask, Ibis with PostgreSQL and SQLite, SQLFrame, streams of Arrow, recipes",
        minutes=3,
        command="python -m pytest -m engines",
        needs="Java 17 and PostgreSQL",
    ),
    Lane(
        "browser",
        "the site and pages of audits, opened in a browser, and pictures of charts",
        minutes=2,
        command="python -m pytest -m browser",
        needs="Chromium, its driver and npm",
    ),
    Lane(
        "simulation",
        "error rates, coverage and power, each estimated from many samples",
        minutes=2,
        command="python -m pytest -m simulation",
    ),
    Lane(
        "thorough",
        "many random cases against loops and other packages, and long simulations",
        minutes=9,
        command="python -m pytest -m thorough",
    ),
)
LANES = (
    Lane(
        "fast",
        "everything on pandas, polars, PyArrow and DuckDB, the command line, charts, docs",
        minutes=5,
        command="python -m pytest",
    ),
    *MARKED,
    Lane(
        "oldest",
        "fast and engines with the oldest versions, less what depends on none",
        minutes=5,
        command=f"{_NOX} oldest",
        needs="Python 3.11, Java 17 and PostgreSQL",
    ),
    Lane(
        "mutants",
        "changes of the code of counting, metrics and intervals, which tests have to notice",
        minutes=1,
        command=f"{_NOX} mutation -- short",
    ),
)
FAST = " and ".join(f"not {lane.name}" for lane in MARKED)
