"""The data sets of the benchmarks: one base case, and one axis changed at a time."""

from dataclasses import dataclass, replace
from typing import Literal

By = Literal["int64", "string", "long string", "categorical", "enum", "bool", "string and int64"]
LabelType = Literal["bool", "int8", "int64", "string", "categorical"]
Frame = Literal["polars", "pandas", "pandas, pyarrow"]

FEWEST_ROWS = 1_000
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """What the rows look like, and which library holds them."""

    rows: int = 10 * MILLION
    segments: int = 1_000
    labels: int = 2
    by: By = "int64"
    label_type: LabelType = "int64"
    weighted: bool = False
    frame: Frame = "polars"
    everything: bool = False  # all metrics with their limits, not the default report
    clusters: int = 0  # in which the rows come, each in one segment; 0 for independent rows

    @property
    def by_columns(self) -> list[str]:
        """The columns that make the segments."""
        return ["region", "store"] if self.by == "string and int64" else ["segment"]

    @property
    def keys(self) -> list[str]:
        """The columns by which rows are counted, beside the labels."""
        return [*self.by_columns, "cluster"] if self.clusters else self.by_columns

    @property
    def table_size(self) -> int:
        """How many counts a table of all segments and pairs of labels has."""
        return self.segments * self.labels**2

    @property
    def title(self) -> str:
        """The case in words."""
        weights = ", weighted" if self.weighted else ""
        rest = f", {in_words(self.clusters)} clusters" if self.clusters else ""
        rest += ", all metrics, limits" if self.everything else ""
        return (
            f"{self.frame}: {in_words(self.rows)} rows, {in_words(self.segments)} segments "
            f"({self.by}), {in_words(self.labels)} labels ({self.label_type}){weights}{rest}"
        )

    def shrunk(self, divisor: int) -> "Case":
        """Take fewer rows, and segments few enough to have about as many rows as before."""
        rows = min(self.rows, max(FEWEST_ROWS, self.rows // divisor))
        segments = min(self.segments, max(rows // 50, self.segments // divisor))
        clusters = min(self.clusters, max(rows // 10, self.clusters // divisor))
        return replace(self, rows=rows, segments=segments, clusters=clusters)


def in_words(number: int) -> str:
    """Write 10000000 as 10 million and 1000 as 1,000."""
    millions, rest = divmod(number, MILLION)
    return f"{millions} million" if millions and not rest else f"{number:,}"


POLARS = Case()
PANDAS = Case(frame="pandas")
PYARROW = Case(frame="pandas, pyarrow")
IN_CLUSTERS = Case(clusters=MILLION)


def _rows(base: Case) -> dict[str, Case]:
    few = replace(base, rows=1_000, segments=5)
    return {
        "1,000 rows, 5 segments": few,
        "1,000 rows, all metrics, limits": replace(few, everything=True),
        "1 million rows, 1,000 segments": replace(base, rows=MILLION),
        "10 million rows, 1,000 segments": base,
    }


def _by(base: Case) -> dict[str, Case]:
    enum: dict[str, Case] = {"enum": replace(base, by="enum")} if base.frame == "polars" else {}
    return {
        "int64": base,
        "string": replace(base, by="string"),
        "long string": replace(base, by="long string"),
        "categorical": replace(base, by="categorical"),
        **enum,
        "bool, 2 segments": replace(base, by="bool", segments=2),
        "string and int64": replace(base, by="string and int64"),
        "categorical, 10 segments": replace(base, by="categorical", segments=10),
    }


def _label_types(base: Case) -> dict[str, Case]:
    return {
        "int64": base,
        "bool": replace(base, label_type="bool"),
        "int8": replace(base, label_type="int8"),
        "string": replace(base, label_type="string"),
        "categorical": replace(base, label_type="categorical"),
        "categorical, of `by` too": replace(base, by="categorical", label_type="categorical"),
    }


def _numbers(base: Case) -> dict[str, Case]:
    clusters = {"1 million clusters, intervals": IN_CLUSTERS} if base.frame == "polars" else {}
    return {
        "1,000 segments, 2 labels": base,
        "10 segments": replace(base, segments=10),
        "1 million segments": replace(base, segments=MILLION),
        "10 labels": replace(base, labels=10),
        "1,000 labels": replace(base, labels=1_000),
        "weighted": replace(base, weighted=True),
        **clusters,
    }


GROUPS: dict[str, dict[str, Case]] = {
    "polars, by the number of rows": _rows(POLARS),
    "polars, by the type of `by`": _by(POLARS),
    "polars, by the type of the labels": _label_types(POLARS),
    "polars, by the number of segments and labels, and with weights": _numbers(POLARS),
    "pandas, by the number of rows": _rows(PANDAS),
    "pandas, by the type of `by`": _by(PANDAS),
    "pandas, by the type of the labels": _label_types(PANDAS),
    "pandas, by the number of segments and labels, and with weights": _numbers(PANDAS),
    "pandas backed by pyarrow": {
        "int64": PYARROW,
        "`by` of strings": replace(PYARROW, by="string"),
        "labels of strings": replace(PYARROW, label_type="string"),
    },
}
# The base case is in several groups, and is measured once.
CASES: list[Case] = list(
    dict.fromkeys(case for group in GROUPS.values() for case in group.values())
)
