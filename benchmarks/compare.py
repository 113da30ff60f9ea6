"""Compare the speed of the working tree with that of another version of balframe.

    python -m benchmarks compare HEAD~1

In each round, a process of either version times the same cases, each by the fastest of several
calls. Of each case, the ratio of a round is the time here over the time there. A case is "slower"
or "faster" where the confidence interval of the mean ratio, a t interval of logarithms, omits 1;
otherwise "same", and the interval says how much it may differ. The intervals of all cases hold
together in 95% of runs. Exit code 1 if a case is slower.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_1samp

ROOT = Path(__file__).parents[1]
ROUNDS, ALPHA = 15, 0.05
_MIN_ROUNDS = 5  # with fewer, intervals would be very wide
_CHILD = "from benchmarks.compare import time_cases; time_cases()"


class Verdict(NamedTuple):
    """The mean ratio of a case with its confidence interval, and the word for it."""

    ratio: float
    lower: float
    upper: float
    word: str


def judge(ratios: Sequence[float], n_cases: int) -> Verdict:
    """Judge the ratios of a case, one of so many."""
    logs = np.log(ratios)
    limits = ttest_1samp(logs, 0).confidence_interval(1 - ALPHA / n_cases)
    ratio, lower, upper = (float(np.exp(value)) for value in (logs.mean(), *limits))
    word = "slower" if lower > 1 else "faster" if upper < 1 else "same"
    return Verdict(ratio, lower, upper, word)


def time_cases() -> None:
    """Time every case, as far as this version has it, and print the seconds as JSON."""
    from itertools import chain

    from benchmarks.waits import medium, small, timed

    times = {}
    for wait in chain(small(), medium()):
        if wait.counts_calls:
            continue
        try:
            (times[wait.name],) = map(min, timed([wait.run], budget=0.2))
        except Exception as error:
            print(f"{wait.name}: {error}", file=sys.stderr)
    print(json.dumps(times))


def _times(package: Path, folder: str) -> Mapping[str, float]:
    """Time the cases in a process that imports balframe from a folder."""
    paths = os.pathsep.join([str(package), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        check=True,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        text=True,
    )
    times: Mapping[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def _export(revision: str, folder: Path) -> None:
    """Write the package as it was at a revision."""
    archive = subprocess.run(
        ["git", "archive", revision, "balframe"], check=True, stdout=subprocess.PIPE, cwd=ROOT
    )
    subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive.stdout)


def compare(revision: str, rounds: int) -> Mapping[str, Verdict]:
    """Time both versions in turns, and judge each case that both have."""
    pairs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as there, tempfile.TemporaryDirectory() as work:
        _export(revision, Path(there))
        versions = [ROOT, Path(there)]
        for number in range(rounds + 1):
            order = versions if number % 2 else versions[::-1]
            times = {version: _times(version, work) for version in order}
            here, other = (times[version] for version in versions)
            print(f"round {number} of {rounds}", file=sys.stderr, flush=True)
            for name in here if number else ():  # the first one compiles the modules
                if name in other:
                    pairs.setdefault(name, []).append(here[name] / other[name])
    return {name: judge(ratios, len(pairs)) for name, ratios in pairs.items()}


def main(words: Sequence[str]) -> None:
    """Compare, print a table, and exit with 1 if a case is slower."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("revision", help="a revision of git, such as HEAD~1")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"at least {_MIN_ROUNDS}")
    asked = parser.parse_args(words)
    if asked.rounds < _MIN_ROUNDS:
        parser.error(f"--rounds {asked.rounds} is too few; give at least {_MIN_ROUNDS}")
    verdicts = compare(asked.revision, asked.rounds)
    width = max(map(len, verdicts))
    for name, verdict in verdicts.items():
        limits = f"{verdict.ratio:.2f} ({verdict.lower:.2f} to {verdict.upper:.2f})"
        print(f"{name:{width}}  {limits:22}  {verdict.word}")
    sys.exit(any(verdict.word == "slower" for verdict in verdicts.values()))
