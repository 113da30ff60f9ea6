"""What each extra of balframe promises, with nothing else installed.

    python .ci/extras.py plot    # in an environment that has balframe[plot] alone
    python .ci/extras.py audit,pandas    # in one with both, and no more
    python .ci/extras.py none    # in one without extras: errors name the extra

The session `extras` of nox makes these environments.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import narwhals as nw

import balframe as bf

PEOPLE = bf.datasets.compas(expand=True)
EXPECTED = bf.report(PEOPLE, "reoffended", "high_risk", by="race")


def same(frame: object) -> None:
    """Raise if a frame of the same rows has another report."""
    result = nw.from_native(bf.report(frame, "reoffended", "high_risk", by="race"))
    assert result.to_dict(as_series=False) == EXPECTED.to_dict(as_series=False), result


def balframe(*words: str) -> str:
    """Run the command line."""
    command = [sys.executable, "-m", "balframe", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pandas() -> None:
    """Frames of pandas are counted, and results converted to pandas and from it."""
    people = bf.datasets.compas(expand=True, backend="pandas")
    same(people)
    columns = {"y_true": "reoffended", "y_pred": "high_risk", "by": "race"}
    for frame, backend in ((people, "polars"), (PEOPLE, "pandas")):
        converted = nw.from_native(bf.report(frame, **columns, backend=backend))
        assert converted.to_dict(as_series=False) == EXPECTED.to_dict(as_series=False), backend


def arrow() -> None:
    """Tables of PyArrow are counted."""
    same(PEOPLE.to_arrow())


def cli() -> None:
    """Commands run."""
    assert balframe("--version") == f"balframe {bf.__version__}\n"
    balframe("demo", "--data", "compas.csv")
    words = ("--y-true", "reoffended", "--y-pred", "high_risk", "--counts", "n", "--by", "race")
    assert balframe("report", "compas.csv", *words).count("\n") == 1 + len(EXPECTED)


def dask() -> None:
    """Frames of Dask are counted."""
    import dask.dataframe as dd
    import pandas as pd

    same(dd.from_pandas(pd.DataFrame(PEOPLE.to_dict(as_series=False)), npartitions=2))


def duckdb() -> None:
    """Relations of DuckDB are counted."""
    import duckdb

    same(duckdb.from_arrow(PEOPLE.to_arrow()))


def ibis() -> None:
    """Tables of Ibis are counted."""
    import ibis

    same(ibis.memtable(PEOPLE.to_arrow()))


def spark() -> None:
    """Frames of Spark are counted."""
    from pyspark.sql import SparkSession

    settings = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    same(session.createDataFrame(PEOPLE.to_arrow()))
    session.stop()


def sqlframe() -> None:
    """Frames of SQLFrame are counted."""
    from sqlframe.duckdb import DuckDBSession

    PEOPLE.write_parquet("people.parquet")
    same(DuckDBSession().read.parquet("people.parquet"))


def excel() -> None:
    """Import what reads `.xlsx` files; commands need the extra `cli` too."""
    import fastexcel

    assert fastexcel.read_excel


def plot() -> None:
    """Charts are drawn, and written as SVG."""
    chart = PEOPLE.bal.plot.report("reoffended", "high_risk", by="race")
    chart.save("chart.svg")
    assert Path("chart.svg").read_text(encoding="utf-8").startswith("<svg")


def table() -> None:
    """Tables are HTML."""
    assert "African-American" in bf.table(EXPECTED).as_raw_html()


def audit() -> None:
    """Pages are written."""
    PEOPLE.bal.audit("reoffended", "high_risk", by="race").save("audit.html")
    assert "African-American" in Path("audit.html").read_text(encoding="utf-8")


def audit_of_pandas() -> None:
    """Pages are written of frames of pandas: of texts, bands and months."""
    import pandas as pd

    people = bf.datasets.compas(expand=True, backend="pandas")
    number = pd.Series(range(len(people)))
    people["band"] = pd.cut(number, [-1, 99, 7213])
    people["month"] = pd.to_datetime(number % 2, unit="D", origin="2026-01-31").dt.to_period("M")
    page = people.bal.audit("reoffended", "high_risk", by=["race", "band", "month"]).html()
    for text in ("African-American", "(-1, 99]", "(99, 7213]", "2026-01", "2026-02"):
        assert text in page, text


def yaml() -> None:
    """Rules are read from YAML."""
    Path("rules.yaml").write_text("rules:\n  - n >= 15\n", encoding="utf-8")
    verdicts = bf.check(PEOPLE, "reoffended", "high_risk", by="race", rules="rules.yaml")
    assert bf.passed(verdicts)


def history() -> None:
    """Store a run, and read it again."""
    bf.store(PEOPLE, "runs", "reoffended", "high_risk", run="first", by="race", date="2026-01-31")
    assert bf.read_run("runs", "first")["n"].sum() == len(PEOPLE)


PROMISES: dict[str, Callable[[], None]] = {
    check.__name__: check
    for check in (
        *(arrow, audit, cli, dask, duckdb, excel, history, ibis),
        *(pandas, plot, spark, sqlframe, table, yaml),
    )
} | {"audit,pandas": audit_of_pandas}


def error_of(attempt: Callable[[], object]) -> str:
    """Return the message about an extra that is missing, empty if nothing is."""
    try:
        attempt()
    except bf.MissingExtraError as error:
        return str(error)
    return ""


def none() -> None:
    """Everything but extras works; what needs one names it."""
    assert len(EXPECTED) == 6
    attempts: dict[str, Callable[[], object]] = {
        "arrow": lambda: bf.report(PEOPLE, "reoffended", "high_risk", backend="pyarrow"),
        "audit": audit,
        "history": history,
        "pandas": lambda: bf.datasets.compas(backend="pandas"),
        "plot": plot,
        "table": table,
        "yaml": yaml,
    }
    for extra, attempt in attempts.items():
        assert f"'balframe[{extra}]'" in error_of(attempt), extra
    done = subprocess.run(
        [sys.executable, "-m", "balframe", "demo"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "'balframe[cli]'" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


if __name__ == "__main__":
    (extra,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        none() if extra == "none" else PROMISES[extra]()
    print(f"{extra}: as promised")
