"""What balframe promises: the one place that says how fast and how small."""

from dataclasses import dataclass, replace
from typing import Protocol

from benchmarks.cases import IN_CLUSTERS, MILLION, PANDAS, POLARS, Case
from benchmarks.importing import BOTH, COMMAND, HELP, LIBRARY, PYTHON, ROWS
from benchmarks.measurements import Measurements
from benchmarks.peers import (
    BALFRAME,
    FAIRLEARN,
    FLOOR,
    FOUR_KEYS,
    IN_MEMORY,
    PANDAS_NUMBERED,
    PANDAS_SIZE,
    POLARBEARINGS,
    SCIKIT_LEARN,
    STREAMING,
    THREE_KEYS,
    Peer,
)


class Target(Protocol):
    """A promise, and what was measured of it."""

    @property
    def about(self) -> tuple[str, str]:
        """What is measured, and what it is compared with."""

    @property
    def at_most(self) -> float:
        """The most that is allowed."""

    def found(self, measured: Measurements) -> float | None:
        """Look up what was measured, None where that was impossible."""

    def written(self, value: float) -> str:
        """Write a value in its unit."""


@dataclass(frozen=True)
class Ratio:
    """Time of a report over that of the fastest of some peers, on the same or another case."""

    case: Case
    against: str
    peers: list[Peer]
    at_most: float
    on: Case | None = None

    @property
    def about(self) -> tuple[str, str]:
        """The case, and the peers in words."""
        return self.case.title, self.against

    def found(self, measured: Measurements) -> float:
        """Divide; of the peers, those that are measured on the case."""
        names = [peer.name for peer in self.peers]
        on = self.on or self.case
        theirs = min(measured.times[on, name].seconds for name in names_on(measured, on, names))
        return measured.times[self.case, BALFRAME.name].seconds / theirs

    def written(self, value: float) -> str:
        """Write small ratios as one over something."""
        return f"1/{float(f'{1 / value:.3g}'):,g}" if value < 0.5 else f"{value:.2f}"


def names_on(measured: Measurements, case: Case, names: list[str]) -> list[str]:
    """Choose the peers that are measured on a case, at least one."""
    there = [name for name in names if (case, name) in measured.times]
    if not there:
        raise LookupError(f"none of {names} is measured on: {case.title}")
    return there


@dataclass(frozen=True)
class Memory:
    """Peak memory of a report beyond its input, in megabytes."""

    case: Case
    at_most: float

    @property
    def about(self) -> tuple[str, str]:
        """The case; nothing to compare with."""
        return self.case.title, "peak memory beyond the input"

    def found(self, measured: Measurements) -> float | None:
        """Look up the peak, which not every system tells."""
        peak = measured.memory[self.case]
        return None if peak is None else peak / 1e6

    def written(self, value: float) -> str:
        """Write megabytes."""
        return f"{value:.0f} MB"


@dataclass(frozen=True)
class Importing:
    """Time of importing balframe with polars over that of polars alone."""

    at_most: float

    @property
    def about(self) -> tuple[str, str]:
        """The two statements."""
        return f"`{BOTH}`", f"`{LIBRARY}`"

    def found(self, measured: Measurements) -> float:
        """Divide the medians."""
        return measured.imports.both / measured.imports.library

    def written(self, value: float) -> str:
        """Write a ratio."""
        return f"{value:.2f}"


@dataclass(frozen=True)
class Process:
    """Time of the whole process of a command."""

    at_most: float

    @property
    def about(self) -> tuple[str, str]:
        """The command."""
        return f"`{COMMAND}`, {ROWS:,} rows", "time of the process"

    def found(self, measured: Measurements) -> float:
        """Look up the median."""
        return measured.imports.command

    def written(self, value: float) -> str:
        """Write seconds."""
        return f"{value:.2f} s"


@dataclass(frozen=True)
class Help:
    """Time of the process of a help over that of Python, which does nothing."""

    at_most: float

    @property
    def about(self) -> tuple[str, str]:
        """The two commands."""
        return f"`{HELP}`", f"`{PYTHON}`"

    def found(self, measured: Measurements) -> float:
        """Divide the medians."""
        return measured.imports.help / measured.imports.python

    def written(self, value: float) -> str:
        """Write a ratio."""
        return f"{value:.1f}"


BY_HAND, BEST = [*STREAMING, *IN_MEMORY], "the fastest hand-written polars"
STREAMED = [peer for peer in STREAMING if peer.name.endswith(THREE_KEYS)]
STREAMED_CLUSTERS = [peer for peer in STREAMING if peer.name.endswith(FOUR_KEYS)]

FAST_KEYS = [
    POLARS,
    replace(POLARS, segments=10),
    replace(POLARS, by="bool", segments=2),
    replace(POLARS, by="categorical"),
    replace(POLARS, by="categorical", segments=10),
]
FAST_KEYS_OF_PANDAS = [
    PANDAS,
    replace(PANDAS, by="categorical"),
    replace(PANDAS, by="categorical", label_type="categorical"),
]
HASHED = [
    replace(POLARS, by="string"),
    replace(POLARS, by="long string"),
    replace(POLARS, by="string and int64"),
    replace(POLARS, label_type="bool"),
    replace(POLARS, label_type="string"),
    replace(POLARS, segments=MILLION),
    replace(POLARS, labels=1_000),
]
MANY = [
    replace(POLARS, labels=10),
    replace(POLARS, labels=1_000),
    replace(POLARS, segments=MILLION),
]

TARGETS: list[Target] = [
    *(Ratio(case, BEST, BY_HAND, 1.0) for case in FAST_KEYS),
    *(Ratio(case, FLOOR.name, [FLOOR], 4.0) for case in FAST_KEYS),
    *(Ratio(case, BEST, BY_HAND, 1.05) for case in HASHED),
    Ratio(replace(POLARS, by="categorical", label_type="categorical"), BEST, BY_HAND, 0.9),
    *(Ratio(case, STREAMED[0].name, STREAMED, 1.0) for case in MANY),
    Ratio(IN_CLUSTERS, STREAMED_CLUSTERS[0].name, STREAMED_CLUSTERS, 4.0),
    *(Ratio(case, PANDAS_SIZE.name, [PANDAS_SIZE], 1 / 15) for case in FAST_KEYS_OF_PANDAS),
    Ratio(replace(PANDAS, by="string"), PANDAS_SIZE.name, [PANDAS_SIZE], 1 / 4),
    Ratio(replace(PANDAS, by="string"), PANDAS_NUMBERED.name, [PANDAS_NUMBERED], 0.6),
    Ratio(replace(POLARS, rows=MILLION), "polarbearings", POLARBEARINGS, 1 / 15),
    Ratio(replace(PANDAS, rows=MILLION), SCIKIT_LEARN.name, [SCIKIT_LEARN], 1 / 200),
    Ratio(replace(PANDAS, rows=MILLION), FAIRLEARN.name, [FAIRLEARN], 1 / 700),
    *(
        Ratio(replace(case, weighted=True), "the same without weights", [BALFRAME], 2.0, on=case)
        for case in (POLARS, PANDAS)
    ),
    *(Memory(case, 100.0) for case in (POLARS, PANDAS)),
    *(Memory(replace(case, by="string"), 200.0) for case in (POLARS, PANDAS)),
    Memory(IN_CLUSTERS, 1_000.0),
    Importing(1.3),
    Process(0.5),
    Help(15),
]
