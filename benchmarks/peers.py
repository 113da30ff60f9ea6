"""The ways of doing the same job, what each of them reads, gives and is able to do."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import pandas as pd
import polars as pl

import balframe  # noqa: F401 (registers .bal)
from benchmarks import in_duckdb, in_pandas, in_polars
from benchmarks.cases import MILLION, Case
from benchmarks.data import Codes, Data, FloatArray, IntArray

Answer = pl.DataFrame | pd.DataFrame | IntArray | FloatArray
Library = Literal["polars", "pandas"]

LARGEST_TABLE = 50 * MILLION
IN_CLUSTERS = ["accuracy", "balanced_accuracy"]
THREE_KEYS, FOUR_KEYS = "three keys, counts only", "four keys, counts only"


def frame_of(data: Data) -> pl.DataFrame | pd.DataFrame:
    """Take the rows as they are."""
    return data.frame


def codes_of(data: Data) -> Codes:
    """Take the codes that were there before the rows."""
    return data.codes


def anything(case: Case) -> bool:
    """Take every case."""
    return True


def two_labels(case: Case) -> bool:
    """Take what sums of booleans can score."""
    return case.labels == 2


def more_labels(case: Case) -> bool:
    """Take what sums of booleans cannot score."""
    return case.labels > 2


def small_numbers(case: Case) -> bool:
    """Take segments and labels that fit into one number."""
    return case.by == "int64" and case.label_type in ("int64", "int8")


def small_table(case: Case) -> bool:
    """Take what fits into a table of all pairs of labels."""
    return case.table_size <= LARGEST_TABLE


def numbered_labels(case: Case) -> bool:
    """Take one by-column, and labels that are numbers or have codes."""
    return small_table(case) and len(case.by_columns) == 1 and case.label_type != "string"


def few_rows(case: Case) -> bool:
    """Take only what ways that are slow, or know 0 and 1 alone, can finish in reasonable time."""
    plain = case.by == case.label_type == "int64" and case.labels == 2 and not case.weighted
    return plain and case.rows <= MILLION and case.segments <= 1_000


@dataclass(frozen=True)
class Peer:
    """One way: `run(prepare(data), case)`, of which `run` alone is timed."""

    name: str
    libraries: tuple[Library, ...]
    run: Callable[..., Answer]
    gives: Literal["scores", "counts", "table of counts"] = "scores"
    fits: Callable[[Case], bool] = anything
    prepare: Callable[[Data], object] = frame_of
    package: str = "balframe"
    rounds: int = 5
    reads: Literal["rows", "clusters", "both"] = "rows"

    def takes(self, case: Case) -> bool:
        """Tell whether this way is measured on a case."""
        library = "polars" if case.frame == "polars" else "pandas"
        is_read = self.reads in ("clusters" if case.clusters else "rows", "both")
        is_read &= self.reads == "both" or not case.everything
        return library in self.libraries and is_read and self.fits(case)


def report(frame: pl.DataFrame | pd.DataFrame, case: Case) -> Answer:
    """Ask for all default metrics, as a user does; where rows are in clusters, for intervals."""
    weight = "weight" if case.weighted else None
    asked: dict[str, object] = {"by": case.by_columns, "sample_weight": weight}
    if case.everything:
        asked |= {"metrics": "all", "interval": True}
    if case.clusters:
        asked |= {"cluster": "cluster", "interval": True, "metrics": IN_CLUSTERS}
    answer: Answer = frame.bal.report("y", "yhat", **asked)  # type: ignore[union-attr]
    return answer


def count_codes(codes: Codes, case: Case) -> Answer:
    """Run the compiled loop, which is imported here for those who have no compiler."""
    from benchmarks import floor

    return floor.count(codes, case)


def unweighted(case: Case) -> bool:
    """Leave weights to others."""
    return not case.weighted


def unweighted_pairs(case: Case) -> bool:
    """Leave weights to the three sums."""
    return two_labels(case) and not case.weighted


def polars_peers(engine: Literal["streaming", "in-memory"]) -> list[Peer]:
    """List what is written by hand, for an engine of polars."""

    def peer(
        name: str,
        run: Callable[..., Answer],
        fits: Callable[[Case], bool] = anything,
        gives: Literal["scores", "counts"] = "scores",
        reads: Literal["rows", "clusters"] = "rows",
    ) -> Peer:
        made = partial(run, engine=engine)
        return Peer(f"polars {engine}, {name}", ("polars",), made, gives, fits, reads=reads)

    return [
        peer("three sums of booleans", in_polars.sums, two_labels),
        peer("one sum per pair of labels", in_polars.sums_of_pairs, unweighted_pairs),
        peer(THREE_KEYS, in_polars.three_keys, gives="counts"),
        peer(FOUR_KEYS, in_polars.three_keys, gives="counts", reads="clusters"),
        peer("one packed key, counts only", in_polars.packed_key, small_numbers, "counts"),
        peer("three keys, then scores", in_polars.three_keys_scored, more_labels),
    ]


BALFRAME = Peer("balframe, report", ("polars", "pandas"), report, reads="both")
FLOOR = Peer(
    "numba, counts only, codes given",
    ("polars", "pandas"),
    count_codes,
    gives="table of counts",
    fits=small_table,
    prepare=codes_of,
    package="numba",
)
STREAMING, IN_MEMORY = polars_peers("streaming"), polars_peers("in-memory")
POLARBEARINGS = [
    Peer(
        f"polarbearings, {engine}",
        ("polars",),
        partial(in_polars.polarbearings, engine=engine),
        fits=few_rows,
        package="polarbearings",
    )
    for engine in ("streaming", "in-memory")
]
DUCKDB = [
    Peer(
        "DuckDB, filtered counts",
        ("polars",),
        in_duckdb.filters,
        fits=two_labels,
        prepare=in_duckdb.load,
        package="duckdb",
    ),
    Peer(
        "DuckDB, three keys, then scores",
        ("polars",),
        in_duckdb.three_keys_scored,
        prepare=in_duckdb.load,
        package="duckdb",
    ),
]
PANDAS_SIZE = Peer(
    "pandas, groupby(three keys).size()", ("pandas",), in_pandas.size, "counts", unweighted
)
PANDAS_COUNTS = Peer(
    f"pandas, {THREE_KEYS}, unsorted", ("pandas",), in_pandas.three_keys, gives="counts"
)
PANDAS_NUMBERED = Peer(
    "pandas, factorize and bincount", ("pandas",), in_pandas.numbered, fits=numbered_labels
)
SCIKIT_LEARN = Peer(
    "scikit-learn, a loop over groups",
    ("pandas",),
    in_pandas.scikit_learn,
    fits=few_rows,
    package="sklearn",
    rounds=3,
)
FAIRLEARN = Peer(
    "fairlearn, MetricFrame",
    ("pandas",),
    in_pandas.fairlearn,
    fits=few_rows,
    package="fairlearn",
    rounds=1,
)
PEERS: list[Peer] = [
    BALFRAME,
    *STREAMING,
    *IN_MEMORY,
    *POLARBEARINGS,
    *DUCKDB,
    PANDAS_SIZE,
    PANDAS_COUNTS,
    Peer("pandas, three keys, then scores", ("pandas",), in_pandas.three_keys_scored),
    Peer("pandas, three sums of booleans", ("pandas",), in_pandas.sums, fits=two_labels),
    PANDAS_NUMBERED,
    SCIKIT_LEARN,
    FAIRLEARN,
    FLOOR,
]


def peers_of(case: Case) -> list[Peer]:
    """List the ways that are measured on a case, as it is before it is shrunk."""
    return [peer for peer in PEERS if peer.takes(case)]
