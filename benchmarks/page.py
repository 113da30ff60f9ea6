"""The page of results, in markdown."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks import growth
from benchmarks.cases import GROUPS, Case
from benchmarks.importing import BOTH, COMMAND, HELP, LIBRARY, PYTHON, ROWS
from benchmarks.measurements import Measurements
from benchmarks.peers import BALFRAME, PEERS
from benchmarks.targets import TARGETS, Target

PACKAGES = (
    *("balframe", "numpy", "pandas", "polars", "pyarrow", "duckdb", "numba"),
    *("scikit-learn", "fairlearn", "polarbearings"),
)
METHOD = """\
## How it was measured

- balframe computes its default report: all default metrics, checked and sorted, in a frame. Of rows
  in clusters, it computes accuracy and balanced accuracy with their confidence intervals. Each
  cluster lies in one segment.
- A peer is the best code that we know how to write, with or without the named library. Each is a
  short function in `benchmarks/`. Some peers return counts only, which is less work.
- The lower bound is a single-threaded loop, compiled by numba, over integer codes of segments and
  labels. It returns counts only, and users do not have such codes ready.
- Before a peer is timed, its scores or counts are checked against balframe's, to within 1e-12.
- Frames are made, converted, and loaded into DuckDB before the clock starts.
- Times are medians of {rounds}.
  Timing starts after that check{warm}. All rounds of one peer run before those of the next.
- Predictions agree with the truth in 80% of the rows. The seed is fixed. All segments are equally
  likely.
- scikit-learn's loop, fairlearn and polarbearings are measured on at most a million rows, because
  they are slow or support only the labels 0 and 1. A dash marks a peer that was left out, for this
  reason or because it does not support the case."""
FULL = "5 rounds (scikit-learn 3, fairlearn 1; 20 times as many for 1,000 rows)"
SHRUNK = "3 rounds (fairlearn 1; 20 times as many for 1,000 rows)"


MEMORY = """\
The table shows the peak of resident memory during one report, beyond what was resident before. Each
process reads the frame from a file and makes one report. The largest peak of all these processes is
shown. Allocators return freed memory at once, because memory that they keep would hide what the
report uses."""

IMPORTS = f"""\
Medians over fresh processes, in turn. The time of a statement begins after the start of Python. The
time of a command is that of the whole process. The first one starts Python, imports what it needs,
reads a file of {ROWS:,} rows and writes the report."""

GROWTH = """\
## How cost grows

`python -m benchmarks.growth` measures these curves in a run of its own, and writes
`docs/growth.csv`. One number grows in each figure. The others are {rows:,} rows, {segments:,}
segments, {labels} class labels and {columns} by-column. All values are small integers.

- Every way starts from the same Parquet files, and ends with the accuracy and balanced accuracy of
  every segment. pandas reads all rows into memory first, for scikit-learn too. The others read the
  files piece by piece.
- "polars by hand" and "DuckDB by hand" are one query that counts the rows and the correct
  predictions of each label. balframe counts the whole confusion matrix. "With limits" adds
  confidence intervals.
- Each measurement is a process of its own. Its clock starts after a report on {few:,} rows. Time is
  the median of up to {rounds} rounds, fewer if they take long. Memory is the peak of the first
  round beyond what was resident before. Less than 1 MB is drawn as 1 MB.
- Spark and Dask use the same cores, in processes whose memory is not shown. They are measured from
  a million rows and a thousand segments on.
- All ways on the same files must count all rows and give the same scores.
- A colour stands for a library, and a dashed line for a way without balframe. A line ends where a
  process takes longer than {longest} seconds or runs out of memory.

<!-- figure: growth_with_rows | Time and peak memory against the number of rows. -->

Each way needs some time for any number of rows; then time grows in proportion to the rows, and that
of pandas faster. The memory of those that read piece by piece levels off. That of pandas grows with
the rows, because it holds all of them.

<!-- figure: growth_with_segments | Time and peak memory against the number of segments. -->

More segments cost little up to a thousand, except in a loop. With very many, time and memory grow
with the number of cells.

<!-- figure: growth_with_labels | Time and peak memory against the number of class labels. -->

Every pair of labels that occurs in a segment is a cell. Queries written by hand count two numbers
for each label, so more labels cost them less.

<!-- figure: growth_with_columns | Time and peak memory against the number of by-columns. -->

Here the columns make about the same number of segments together. Each is one more to read and to
group by.

[Plan for data beyond one machine](how-to/beyond-one-machine.md) has the costs of rows and cells
that these measurements give."""


def page(measured: Measurements) -> str:
    """Put all of the page together."""
    groups = [f"### {title}\n\n{group_table(group, measured)}" for title, group in GROUPS.items()]
    parts = [
        method(measured.divisor),
        machine(measured.divisor),
        f"## Targets\n\n{targets_table(measured)}",
        "## Times\n\nNanoseconds per row, with the ratio to balframe's time in parentheses.",
        *groups,
        f"## Memory\n\n{memory_table(measured)}",
        f"## Import\n\n{import_table(measured)}",
        growth_section(),
    ]
    return "\n\n".join(parts) + "\n"


def method(divisor: int) -> str:
    """Say how it was measured."""
    full = divisor == 1
    return METHOD.format(
        rounds=FULL if full else SHRUNK, warm=" and one warm-up round" if full else ""
    )


def machine(divisor: int) -> str:
    """Say where it was measured, and with which versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    said = (
        f"The machine: {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, "
        f"{platform.system()}. Python {platform.python_version()}, {versions}."
    )
    if divisor == 1:
        return said
    fewer = f"**The cases have up to {divisor} times fewer rows than their names say.**"
    return f"{said}\n\n{fewer}"


def processor() -> str:
    """Name the processor, on Linux by its model."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def targets_table(measured: Measurements) -> str:
    """Say of every target whether it holds."""
    header = ("case", "compared with", "measured", "target, at most", "holds")
    return table(header, (target_row(target, measured) for target in TARGETS))


def target_row(target: Target, measured: Measurements) -> Sequence[str]:
    """Compare what was measured with what is allowed."""
    value, allowed = target.found(measured), target.written(target.at_most)
    if value is None:
        return *target.about, "not possible on this system", allowed, "unknown"
    holds = "yes" if value <= target.at_most else "**no**"
    return *target.about, target.written(value), allowed, holds


def group_table(group: dict[str, Case], measured: Measurements) -> str:
    """Show a row for each peer that is in any case of the group, the fastest way to read them."""
    rows = []
    for peer in PEERS:
        cells = [cell(case, peer.name, measured) for case in group.values()]
        if set(cells) != {"-"}:
            rows.append((peer.name, *cells))
    return table(("", *group), rows)


def cell(case: Case, peer: str, measured: Measurements) -> str:
    """Write nanoseconds per row, and the ratio to balframe's."""
    timing = measured.times.get((case, peer))
    if timing is None:
        return "-"
    ratio = timing.seconds / measured.times[case, BALFRAME.name].seconds
    beside = "" if peer == BALFRAME.name else f" ({rounded(ratio)}x)"
    return f"{rounded(timing.nanoseconds_per_row)}{beside}"


def rounded(value: float) -> str:
    """Round to what can be told apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def memory_table(measured: Measurements) -> str:
    """Show the peaks, or that the system does not tell them."""
    rows = (
        (case.title, "not possible on this system" if peak is None else f"{peak / 1e6:.0f} MB")
        for case, peak in measured.memory.items()
    )
    return f"{MEMORY}\n\n{table(('case', 'peak beyond the input'), rows)}"


def import_table(measured: Measurements) -> str:
    """Show the times of the statements, and of the command."""
    rows = (
        (f"`{BOTH}`", f"{measured.imports.both * 1e3:.0f} ms"),
        (f"`{LIBRARY}`", f"{measured.imports.library * 1e3:.0f} ms"),
        (f"`{COMMAND}`", f"{measured.imports.command * 1e3:.0f} ms"),
        (f"`{HELP}`", f"{measured.imports.help * 1e3:.0f} ms"),
        (f"`{PYTHON}`", f"{measured.imports.python * 1e3:.0f} ms"),
    )
    return f"{IMPORTS}\n\n{table(('statement or command', 'time'), rows)}"


def growth_section() -> str:
    """Say how the curves were measured, and what they show."""
    return GROWTH.format(
        **asdict(growth.Case()),
        few=growth.ROWS_OF_THE_FIRST_REPORT,
        rounds=growth.MOST_ROUNDS,
        longest=growth.LONGEST,
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; all columns but the first are numbers or short."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
