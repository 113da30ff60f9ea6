"""How often `monitor` alarms although nothing got worse, and how soon it sees what did: simulated.

    python -m benchmarks.monitor_simulation    # writes docs/pages/error-rates.md
    python -m benchmarks.monitor_simulation --repetitions 200    # fewer, printed only

It takes about ten minutes on two cores.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import balframe as bf
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- monitor: begin -->", "<!-- monitor: end -->"
REPETITIONS, SEED = 2_000, 28
WEEKS, BEFORE, FALL = 104, 26, 20  # monitored, of the baseline, and until the score falls
RECALL, ALPHA, TEN, HOLIDAY = 0.85, 0.05, 10, 0.1
BY_DEFAULT, WITHOUT = "`monitor`", "`dispersion=None`"
BLOCK = 400  # streams that are monitored at a time
FIRST = date(2024, 1, 1)  # a Monday
SUPPORTS = (20, 20), (50, 200), (5, 50)


@dataclass(frozen=True)
class Streams:
    """Weeks of many streams: how many rows of each label, and how recalls change.

    Numbers of rows are Poisson. Recalls are lower by `fall` after `FALL` weeks. All recalls of a
    week differ from these by one deviation: a normal one with a standard deviation of `spread` and
    an `autocorrelation` between weeks, a `season` of 52 weeks with this amplitude, and 0.10 in the
    share `holidays` of weeks.
    """

    supports: tuple[int, ...]
    n: int
    fall: float = 0.0
    spread: float = 0.0
    autocorrelation: float = 0.0
    season: float = 0.0
    holidays: float = 0.0
    before: int = BEFORE
    seed: int = 0

    @property
    def name(self) -> str:
        """Describe the streams."""
        rows = " and ".join(map(str, self.supports))
        return (
            f"{rows} rows a week, {self.before} weeks of baseline, standard deviation "
            f"{self.spread:g}, autocorrelation {self.autocorrelation:g}"
        )

    @cached_property
    def random(self) -> np.random.Generator:
        """Return the source of all that is drawn."""
        return np.random.default_rng([SEED, self.seed, *self.supports])

    @cached_property
    def is_holiday(self) -> BoolArray:
        """Draw the weeks that are holidays in all streams."""
        return self.random.random(self.before + WEEKS) < self.holidays

    @property
    def holiday_dates(self) -> list[date]:
        """The first days of the weeks that are holidays."""
        return [FIRST + timedelta(weeks=int(week)) for week in np.flatnonzero(self.is_holiday)]

    @cached_property
    def deviation(self) -> FloatArray:
        """Draw how much the recalls of each stream and week differ from their mean."""
        shape = self.n, self.before + WEEKS
        steps = self.random.normal(0, 1, shape)
        rho, series = self.autocorrelation, steps.copy()
        for week in range(1, shape[1]):
            series[:, week] = rho * series[:, week - 1] + np.sqrt(1 - rho**2) * steps[:, week]
        phase = self.random.random((self.n, 1)) if self.season else 0.0
        wave = np.sin(2 * np.pi * (np.arange(shape[1]) / 52 + phase))
        return self.spread * series + self.season * wave - HOLIDAY * self.is_holiday

    @cached_property
    def counts(self) -> tuple[Int64Array, Int64Array]:
        """Draw rows and correct rows by stream, week and label."""
        shape = self.n, self.before + WEEKS, len(self.supports)
        recall = np.clip(RECALL + self.deviation, 0, 1)
        recall[:, self.before + FALL :] -= self.fall
        rows = self.random.poisson(np.array(self.supports), shape)
        return rows, self.random.binomial(rows, np.clip(recall, 0, 1)[:, :, None])

    def cells(self) -> pl.DataFrame:
        """Give the cells of all streams and weeks."""
        rows, correct = self.counts
        stream, week, label = (index.ravel() for index in np.indices(rows.shape))
        label = label + 1 if rows.shape[2] == 1 else label  # a single one is positive
        keys = pl.DataFrame({"stream": stream, "week": week, "y": label})
        parts = [
            keys.with_columns(yhat=pl.Series(predicted), n=pl.Series(n.ravel()).cast(pl.Int64))
            for predicted, n in ((label, correct), (1 - label, rows - correct))
        ]
        day = pl.lit(FIRST) + pl.duration(weeks=pl.col("week"))
        columns = "stream", "week", day.alias("day"), "y", "yhat", "n"
        return pl.concat(parts).filter(pl.col("n") > 0).select(*columns)

    def monitored(self, **options: Any) -> pl.DataFrame:  # noqa: ANN401 (of `monitor`)
        """Monitor every stream, each with all of its false alarms."""
        cells, is_before = self.cells(), pl.col("week") < self.before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bf.BalframeWarning)  # of the streams that vary
            return bf.monitor(
                cells.filter(~is_before).drop("week"),
                "y",
                "yhat",
                by="stream",
                time=bf.period("day", "1w"),
                baseline=cells.filter(is_before).drop("week"),
                adjust=None,
                detail=True,
                **options,
            )


def blocks(design: Streams) -> Iterator[Streams]:
    """Draw the streams of a design, some at a time."""
    for seed, start in enumerate(range(0, design.n, BLOCK)):
        yield replace(design, n=min(BLOCK, design.n - start), seed=seed)


def of_each(streams: Streams, is_alarm: pl.Series) -> BoolArray:
    """Put alarms into an array of streams and weeks."""
    return is_alarm.fill_null(value=False).to_numpy().reshape(streams.n, WEEKS)


def alarms(streams: Streams, out: pl.DataFrame) -> BoolArray:
    """Say when `monitor` alarms."""
    return of_each(streams, out["status"] == "alarm")


def of_weekly_intervals(streams: Streams, out: pl.DataFrame) -> BoolArray:
    """Say when the 95% interval of a week is below the score of the baseline."""
    return of_each(streams, out["upper"] < out["baseline_estimate"])


def of_three_deviations(streams: Streams, out: pl.DataFrame) -> BoolArray:
    """Say when a week is three standard deviations of baseline weeks below their mean."""
    rows, correct = (values[:, :BEFORE] for values in streams.counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.nanmean(correct / rows, axis=2)
    limit = scores.mean(axis=1) - 3 * scores.std(axis=1, ddof=1)
    return of_each(streams, out["estimate"] < pl.Series(np.repeat(limit, WEEKS)))


def share_of_any(found: Sequence[BoolArray]) -> float:
    """Give the share of streams with any alarm."""
    return float(np.concatenate([one.any(axis=1) for one in found]).mean())


def false_alarms(design: Streams, **options: Any) -> float:  # noqa: ANN401 (of `monitor`)
    """Give the share of streams with an alarm."""
    return share_of_any([alarms(one, one.monitored(**options)) for one in blocks(design)])


def of_supports(supports: tuple[int, ...], repetitions: int) -> dict[str, float]:
    """Give shares of streams, of which no score changes, with an alarm."""
    found: dict[str, list[BoolArray]] = {}
    for streams in blocks(Streams(supports, repetitions)):
        out = streams.monitored(dispersion=None)
        ten = alarms(streams, streams.monitored(dispersion=None, level=1 - ALPHA / TEN))
        families = ten[: streams.n // TEN * TEN].reshape(-1, TEN * WEEKS)
        for name, one in (
            (BY_DEFAULT, alarms(streams, streams.monitored())),
            (WITHOUT, alarms(streams, out)),
            ("the same, ten segments together", families),
            ("weekly 95% intervals", of_weekly_intervals(streams, out)),
            ("three standard deviations", of_three_deviations(streams, out)),
        ):
            found.setdefault(name, []).append(one)
    return {name: share_of_any(one) for name, one in found.items()}


def weeks_to_see(design: Streams, **options: Any) -> float:  # noqa: ANN401 (of `monitor`)
    """Give the median number of weeks from the fall of the score to an alarm."""
    weeks = []
    for streams in blocks(design):
        after = alarms(streams, streams.monitored(**options))[:, FALL:]
        weeks.append(np.where(after.any(axis=1), after.argmax(axis=1) + 1.0, np.inf))
    return float(np.median(np.concatenate(weeks)))


def of_fall(supports: tuple[int, ...], repetitions: int) -> dict[str, float]:
    """Give median numbers of weeks until falls of several sizes are seen."""
    return {
        f"{fall} {words}": weeks_to_see(Streams(supports, repetitions, fall=fall), **options)
        for fall in (0.05, 0.1)
        for words, options in (("by default", {}), ("without", {"dispersion": None}))
    }


def of_varying(design: Streams) -> dict[str, float]:
    """Give shares of streams with an alarm, whose scores vary but do not get worse."""
    return {
        BY_DEFAULT: false_alarms(design),
        WITHOUT: false_alarms(design, dispersion=None),
    }


def varying(repetitions: int) -> dict[str, Streams]:
    """List designs whose scores vary from week to week, and do not get worse."""
    sd = Streams((200, 200), repetitions, spread=0.02)
    designs = {
        "standard deviation 0.01": replace(sd, spread=0.01),
        "standard deviation 0.02": sd,
    }
    for rho in (0.5, 0.7, 0.9):
        for before in (BEFORE, 2 * BEFORE):
            name = f"0.02, autocorrelation {rho}, {before} weeks of baseline"
            designs[name] = replace(sd, autocorrelation=rho, before=before)
    year = replace(sd, spread=0, season=0.03, before=2 * BEFORE)
    holidays = replace(sd, spread=0, holidays=0.03, supports=(500, 500))
    return designs | {
        "season of 0.03 either way, 52 weeks of baseline": year,
        "3% of weeks lower by 0.1, 500 and 500 rows": holidays,
    }


def named(supports: tuple[int, ...]) -> str:
    """Name how many rows a week has."""
    return " and ".join(f"{one:,}" for one in supports)


def table(title: str, found: Mapping[str, Mapping[str, float]], digits: int = 3) -> str:
    """Write a table; an infinite number of weeks is more than there are."""
    head = [*next(iter(found.values()))]
    rows = [f"| {title} | {' | '.join(head)} |", f"| --- {'| ---: ' * len(head)}|"]
    for name, values in found.items():
        texts = (f"{one:.{digits}f}" for one in values.values())
        written = " | ".join(texts).replace("inf", f"> {WEEKS - FALL}")
        rows.append(f"| {name} | {written} |")
    return "\n".join(rows)


def tables(repetitions: int) -> str:
    """Simulate everything."""
    few = max(repetitions // 5, 1)
    title = "rows of each label, a week"
    same = {named(one): of_supports(one, repetitions) for one in SUPPORTS}
    falls = {named(one): of_fall(one, few) for one in SUPPORTS}
    some = varying(max(repetitions // 5, 1))
    parts = [
        f"No score changes. Share of streams with any alarm in {WEEKS} weeks; {repetitions:,} "
        f"streams each, {repetitions // TEN:,} times ten segments:",
        table(title, same),
        "The score falls. Median number of weeks until an alarm, by default and with "
        f"`dispersion=None`; {few:,} streams each:",
        table(title, falls, 0),
        "Scores vary from week to week, and do not get worse. Share of streams with any alarm; 200 "
        f"rows of each label a week and 26 weeks of baseline, if not said; {few:,} streams each:",
        table("scores of weeks", {name: of_varying(one) for name, one in some.items()}),
    ]
    return "\n\n".join(parts)


def main() -> None:
    given = options(__doc__, "streams")
    made = tables(given.repetitions or REPETITIONS)
    print(made)
    if given.repetitions is not None:
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
