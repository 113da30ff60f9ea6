"""How often every decision of the package errs where nothing differs, in designs nobody tuned.

    python -m benchmarks.decisions    # writes docs/pages/decisions.md
    python -m benchmarks.decisions --share 0.1 --only gaps    # fewer samples, printed only

For every decision, designs are drawn at random and a few samples of each are decided. Those in
which most samples erred are decided again, in rounds of fewer designs with more samples, until one
is left. Its error is measured with new samples, so that nothing selected the error that is printed.
"""

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import decision_designs as designs
from benchmarks import decision_errors as errors
from benchmarks.simulated import put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "decisions.md"
BEGIN, END = "<!-- decisions: begin -->", "<!-- decisions: end -->"
ROUNDS = ((200, 6), (30, 25), (6, 100))  # designs, and samples of each of them
MANY = 1_500  # samples of the worst design
NAMED = 0.055  # errors above it are discussed on the page

Random = np.random.Generator
Err = Callable[[Any, Random], float | None]


@dataclass(frozen=True)
class Decision:
    """A decision that a column of a method's result states.

    `design` draws a design, and `err` decides one sample of it: 1 where the decision errs, a share
    where there are several decisions that stand alone, and None where none is made.
    """

    method: str
    column: str
    of: str
    design: Callable[[Random], Any]
    err: Err
    effort: float = 1.0  # share of the usual samples, where each takes long


_rest = partial(designs.segments, swapped=False)  # the rest has the score of every segment
_two_labels = partial(designs.segments, swapped=False, n_labels=2)
_ROWS = {
    "rows": (_rest, designs.segments, 1.0),
    "weighted rows": (designs.weighted_segments, designs.weighted_segments, 1.0),
    "rows in clusters": (designs.clustered_segments, designs.clustered_segments, 0.5),
}  # designs of one score, designs whose recalls may differ, and the effort
_SINGLE_AND_ADJUSTED = {"p_value": "single", "limits": "single", "p_adjusted": "Holm"}
_FALSE = {"fail": ">=", "pass": "<="}  # of a rule whose bound is the truth


def _decisions() -> Iterator[Decision]:
    for rows, (rest, any_recalls, effort) in _ROWS.items():
        of_gaps = partial(Decision, "gaps", design=rest, effort=effort)
        yield of_gaps("p_adjusted", f"Holm, {rows}", err=partial(errors.gaps, adjust="holm"))
        yield of_gaps("p_adjusted", f"Benjamini-Hochberg, {rows}", err=errors.gaps)
        yield of_gaps("p_value", f"single, {rows}", err=errors.gaps_single)
        yield of_gaps("limits", f"single, {rows}", err=errors.gaps_limits)
        if rows == "rows":
            yield of_gaps("verdict", f"Holm, {rows}", err=errors.gaps_verdict)
        for column in ("p_value", "p_value_all"):
            err = partial(errors.disparity, column=column)
            yield Decision("disparity", column, rows, any_recalls, err, effort)
        err = errors.disparity_limits
        yield Decision("disparity", "limits", rows, any_recalls, err, effort)
        of_check = partial(Decision, "check", "status", design=any_recalls, effort=effort)
        for status, operator in _FALSE.items():
            err = partial(errors.check, status=status, rule=f"{{metric}} {operator} {{score!r}}")
            yield of_check(f"false {status}, {rows}", err=err)
        for rule in ("difference({metric}) <= 0", "ratio({metric}) >= 1"):
            err = partial(errors.check, status="fail", rule=rule)
            yield of_check(f"false fail of {rule.split('(')[0]}(), {rows}", err=err)

    for reference in ("best", "worst", "largest"):
        err = partial(errors.gaps, adjust="holm", reference=reference)
        yield Decision("gaps", "p_adjusted", f"Holm, against the {reference}", _rest, err)
    err = partial(errors.disparity, column="p_value_recalls")
    yield Decision("disparity", "p_value_recalls", "rows", _rest, err)
    for criterion in ("equal_opportunity", "equalized_odds", "accuracy_equality"):
        err = partial(errors.fairness, criterion=criterion)
        yield Decision("fairness", "p_value", criterion, _two_labels, err, effort=0.5)

    for metric in ("cohen_kappa", "matthews_corrcoef", "f1", "geometric_mean"):
        n_labels = 2 if metric == "f1" else None
        design = partial(designs.segments, swapped=False, n_labels=n_labels, least_labels=2)
        for status, operator in _FALSE.items():
            err = partial(errors.check_smooth, status=status, metric=metric, operator=operator)
            yield Decision("check", "status", f"false {status}, {metric}", design, err)
    of_models = {"another model": errors.check_models, "an earlier run": errors.check_baseline}
    for baseline, function in of_models.items():
        for status, operator in {"fail": ">=", "pass": ">"}.items():
            err = partial(function, status=status, rule=f"{{metric}} {operator} baseline")
            name = f"false {status}, against {baseline}"
            yield Decision("check", "status", name, designs.segments, err)
    for column, name in {**_SINGLE_AND_ADJUSTED, "verdict": "Holm"}.items():
        err = partial(errors.compare, column=column)
        yield Decision("compare", column, name, designs.segments, err)

    for runs, is_paired in {"the same rows": True, "other rows": False}.items():
        for column, name in {"p_value": "single", "p_adjusted": "Holm", "verdict": "Holm"}.items():
            err = partial(errors.diff, column=column, is_paired=is_paired)
            yield Decision("diff", column, f"{name}, {runs}", designs.segments, err)

    yield Decision("ranking", "limits", "differences of areas", designs.scores, errors.ranking)
    no_signal = partial(designs.scores, signal=False)
    err = errors.best_threshold
    yield Decision("best_threshold", "chance_maximum", "scores without signal", no_signal, err)

    of_calibration = partial(Decision, "calibration", design=designs.probabilities)
    for name, adjust in {"Holm": "holm", "Benjamini-Hochberg": "bh"}.items():
        err = partial(errors.calibration, column="p_adjusted", adjust=adjust)
        yield of_calibration("p_adjusted", name, err=err)
    for column in ("p_value", "kuiper_p_value"):
        err = partial(errors.calibration, column=column)
        yield of_calibration(column, "single", err=err)
    for of, truth in {"oe_ratio": 1.0, "slope": 1.0, "intercept": 0.0}.items():
        err = partial(errors.calibration_limits, of=of, truth=truth)
        yield of_calibration("limits", of, err=err)
    for column in ("p_value", "p_adjusted", "p_value_all", "p_value_crossing"):
        err = partial(errors.calibration_gaps, column=column)
        yield Decision("calibration_gaps", column, "segments", designs.probabilities, err)

    yield Decision("slices", "p_adjusted", "any slice listed", designs.columns, errors.slices)
    err = errors.diff_slices
    yield Decision("diff_slices", "p_adjusted", "any slice listed", designs.columns, err)
    for column, name in _SINGLE_AND_ADJUSTED.items():
        err = partial(errors.impact, column=column)
        yield Decision("impact", column, name, designs.selections, err)
    for column in ("status", "dispersion_p_value", "autocorrelation_p_value"):
        design = designs.streams if column == "status" else designs.alike_streams
        err = partial(errors.monitor, column=column)
        yield Decision("monitor", column, "a stream that is not worse", design, err)
    for name, sentence, errs_if_present in (
        ("a group differs", "none is shown to differ by more than chance explains", False),
        ("combinations", "Most clearly shown to fare worse than all others", True),
    ):
        err = partial(errors.audit, sentence=sentence, errs_if_present=errs_if_present)
        yield Decision("audit", "sentence", name, designs.groups, err, effort=0.2)


DECISIONS = tuple(_decisions())


@dataclass(frozen=True)
class Measured:
    """The error of a decision: on average over all designs, and in the worst of them."""

    decision: Decision
    mean: float
    worst: float
    standard_error: float
    design: str


def _samples(decision: Decision, seed: Sequence[int], n: int) -> tuple[str, np.ndarray]:
    """Decide n samples of the design of a seed."""
    design = decision.design(np.random.default_rng(seed[:2]))
    random = np.random.default_rng(seed)
    found = [decision.err(design, random) for _ in range(n)]
    return design.name, np.array([error for error in found if error is not None])


def measure(
    decision: Decision, rounds: Sequence[tuple[int, int]] = ROUNDS, many: int = MANY
) -> Measured:
    """Search the worst design in rounds, and measure it with many new samples."""
    seed = zlib.crc32(f"{decision.method} {decision.column} {decision.of}".encode())
    n_designs, effort = rounds[0][0], decision.effort
    n, sums = np.zeros(n_designs), np.zeros(n_designs)
    worst, first = np.arange(n_designs), np.zeros(n_designs)
    for number, (n_left, n_samples) in enumerate(rounds):
        worst = worst[:n_left]
        for i in worst:
            errors = _samples(decision, (seed, int(i), number), ceil(n_samples * effort))[1]
            n[i] += len(errors)
            sums[i] += errors.sum()
        means = np.divide(sums, n, out=np.full(n_designs, -1.0), where=n > 0)
        first = first if number else means
        worst = worst[np.argsort(-means[worst], kind="stable")]
    last = (seed, int(worst[0]), len(rounds))
    name, errors = _samples(decision, last, ceil(many * effort))
    assert len(errors), decision
    mean, deviation = float(errors.mean()), float(errors.std() / np.sqrt(len(errors)))
    return Measured(decision, float(first[first >= 0].mean()), mean, deviation, name)


def table(measured: Sequence[Measured]) -> str:
    """Write a table of the decisions, with errors above `NAMED` in bold."""
    lines = [
        "| decision | of | mean of all designs | worst | its design |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for m in measured:
        worst = f"{m.worst:.3f} ± {m.standard_error:.3f}"
        worst = f"**{worst}**" if m.worst > NAMED else worst
        decision = f"`{m.decision.method}`, {m.decision.column}"
        lines.append(f"| {decision} | {m.decision.of} | {m.mean:.3f} | {worst} | {m.design} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decisions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--share", type=float, default=1.0, help="of designs and samples")
    parser.add_argument("--only", default="", help="decisions whose names contain this")
    parser.add_argument("--cores", type=int, default=2)
    requested = parser.parse_args()
    share = requested.share
    run = partial(
        measure,
        rounds=[(ceil(n * share), ceil(samples * share)) for n, samples in ROUNDS],
        many=ceil(MANY * share),
    )
    names = [f"{d.method} {d.column} {d.of}" for d in DECISIONS]
    chosen = [d for d, name in zip(DECISIONS, names, strict=True) if requested.only in name]
    measured = []
    with ProcessPoolExecutor(requested.cores, mp_context=get_context("spawn")) as pool:
        for m in pool.map(run, chosen):
            measured.append(m)
            print(table([m]).splitlines()[-1], flush=True)
    if len(measured) == len(DECISIONS) and share == 1:
        put(table(measured), PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
