"""Simulate how often decisions on many segments err, and write the tables of a page.

`.venv/bin/python -m benchmarks.comparisons` prints the tables, and with `--write` puts them into
docs/pages/explanations/comparisons.md; it takes about a quarter of an hour.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.families import (
    Design,
    Draws,
    Ranks,
    Weights,
    equal,
    false_areas,
    false_differences_of_models,
    false_disparities,
    false_gaps,
    false_verdicts,
)
from benchmarks.simulated import put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "explanations" / "comparisons.md"
BEGIN, END = "<!-- comparisons -->", "<!-- /comparisons -->"

RULES = {
    "5 rows, recall .95": equal(5, recall=0.95),
    "30 rows, recall .98": equal(30, recall=0.98),
    "100 rows, recall .99": equal(100, recall=0.99),
    "1000 rows, recall .999": equal(1000, recall=0.999),
    "1000 rows, recall .8": equal(1000, recall=0.8),
    "10 and 10 rows, recalls .98": equal(10, 10, recall=0.98),
    "50 and 500 rows, recalls .95": equal(50, 500, recall=0.95),
    "30 and 300 rows, recalls .6 and .9": Design(((30, 300),), ((0.6, 0.9),)),
    "five labels of 20, recalls .9": equal(*[20] * 5, recall=0.9),
    "five labels of 1, recalls .995": equal(*[1] * 5, recall=0.995),
    "a hundred labels of 3, recalls .6": equal(*[3] * 100, recall=0.6),
}
SWAPPED = ((0.6, 0.95), (0.95, 0.6))
ALIKE = {
    "30 rows, recall .99": equal(30, recall=0.99),
    "3, 30 or 300 rows, recall .99": Design(((3,), (30,), (300,)), ((0.99,),) * 3),
    "10 and 10 rows, recalls .8": equal(10, 10, recall=0.8),
    "50 and 50 rows, recalls .8": equal(50, 50, recall=0.8),
    "50 and 50 rows, recalls .99": equal(50, 50, recall=0.99),
    "30 and 300 rows, recalls .95": equal(30, 300, recall=0.95),
    "five labels of 10, recalls .9": equal(*[10] * 5, recall=0.9),
    "100 and 100 rows, recalls .6 and .95 or swapped": Design(((100, 100),) * 2, SWAPPED),
    "30 and 300 rows, recalls .6 and .95 or swapped": Design(((30, 300),) * 2, SWAPPED),
}
MODELS = {
    "30 rows": (equal(30, recall=0.5), 0.05),
    "100 rows": (equal(100, recall=0.5), 0.05),
    "1000 rows, rarely different": (equal(1000, recall=0.5), 0.005),
    "50 and 50 rows": (equal(50, 50, recall=0.5), 0.1),
    "30 and 300 rows": (equal(30, 300, recall=0.5), 0.1),
    "five labels of 30": (equal(*[30] * 5, recall=0.5), 0.1),
}
AREAS = {
    "5 and 5, area .8": Ranks(5, 5, 0.8),
    "3 and 100, area .9": Ranks(3, 100, 0.9),
    "20 and 500, area .8": Ranks(20, 500, 0.8),
    "20 and 500, area .8, positives spread 3": Ranks(20, 500, 0.8, 3),
    "50 and 50, area .95": Ranks(50, 50, 0.95),
    "200 and 2000, area .8, positives spread 3": Ranks(200, 2000, 0.8, 3),
    "20 and 500, area .95, positives spread 3": Ranks(20, 500, 0.95, 3),
    "3 and 100, area .9, positives spread 3": Ranks(3, 100, 0.9, 3),
}
INFORMATIVE = Weights(0.05, 10, recall_of_heavy=0.2)
WEIGHTED = {
    "400 rows, 5% weigh 10 and are right .2 of the time": (equal(400, recall=0.7), INFORMATIVE),
    "100 rows, the same": (equal(100, recall=0.7), INFORMATIVE),
    "400 rows, 10% weigh 20, recall .9": (equal(400, recall=0.9), Weights(0.1, 20)),
    "400 rows, 10% weigh 20, recall .98": (equal(400, recall=0.98), Weights(0.1, 20)),
    "100 rows, a fifth weighs 5, recall .95": (equal(100, recall=0.95), Weights(0.2, 5)),
}


def shares(found: Iterable[float]) -> list[str]:
    """Write shares down."""
    return [f"{share:.3f}" for share in found]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of_rules() -> str:
    """Tabulate false verdicts of `check`, fails and passes, by the number of segments."""
    sizes = {1: 20_000, 6: 5_000, 60: 2_000, 500: 400}

    def cells(design: Design, **options: object) -> list[str]:
        size = 10 if len(design.supports[0]) > 20 else 1  # such frames are large
        found = (
            false_verdicts(Draws(design, n, families // size), **options)
            for n, families in sizes.items()
        )
        return [" / ".join(shares(one)) for one in found]

    rows = [(name, *cells(design)) for name, design in RULES.items()]
    header = ("each segment", "1 segment", *(f"{n} segments" for n in list(sizes)[1:]))
    return table(header, rows)


def of_segments(
    ask: Callable[[Draws], tuple[float, ...]], sizes: dict[int, int], header: Sequence[str]
) -> str:
    """Ask about segments that score the same, by their number."""
    rows = (
        (name, str(n), *shares(ask(Draws(design, n, families))))
        for name, design in ALIKE.items()
        for n, families in sizes.items()
    )
    return table(("each segment", "segments", *header), rows)


def of_models() -> str:
    """Tabulate false differences of two models that are equally good."""
    rows = (
        (name, str(n), *shares(false_differences_of_models(Draws(design, n, families), share)))
        for name, (design, share) in MODELS.items()
        for n, families in ((1, 20_000), (6, 5_000), (60, 1_000), (500, 200))
    )
    return table(("each segment", "segments", "single tests", "any false alarm, Holm"), rows)


def of_areas() -> str:
    """Tabulate how often limits of areas under the ROC curve miss what they should hold."""
    rows = (
        (name, *shares(false_areas(ranks, 6, 300 if ranks.n_negative > 1_000 else 1_500)))
        for name, ranks in AREAS.items()
    )
    header = (
        "positives and negatives of each of six segments",
        "interval misses the area",
        "interval misses the difference",
    )
    return table(header, rows)


def of_weights() -> str:
    """Tabulate false verdicts, gaps and disparities of weighted segments."""

    def cells(design: Design, weights: Weights, n_segments: int, families: int) -> list[str]:
        draws = Draws(design, n_segments, families)
        frame = draws.weighted(weights)
        verdicts = false_verdicts(draws, frame=frame, sample_weight="w")
        _, holm, _ = false_gaps(draws, frame=frame, sample_weight="w")
        _, equality, _ = false_disparities(draws, frame=frame, sample_weight="w")
        return [" / ".join(shares(verdicts)), *shares((holm, equality))]

    rows = (
        (name, str(n), *cells(*case, n, families))
        for name, case in WEIGHTED.items()
        for n, families in ((6, 1_000), (60, 300), (500, 60))
    )
    header = ("each segment", "segments", "false fail / pass", "any false gap, Holm")
    return table((*header, "test of equality"), rows)


def tables() -> str:
    """Make all tables."""
    gaps = ("single tests", "any false alarm, Holm", "any false alarm, Benjamini-Hochberg")
    disparity = (
        "interval of the extremes",
        "test of equality, scores",
        "test of equality, recalls",
    )
    few, many = {6: 2_000, 60: 1_000, 500: 200}, {2: 2_000, 6: 2_000, 60: 1_000, 500: 200}
    return "\n\n".join(
        [
            f"`check`, false fail / false pass, scores exactly at the bound:\n\n{of_rules()}",
            f"`gaps`, each segment compared with the rest:\n\n{of_segments(false_gaps, few, gaps)}",
            f"`disparity`:\n\n{of_segments(false_disparities, many, disparity)}",
            f"`compare`, for equally good models:\n\n{of_models()}",
            f"`ranking`, areas and their differences from the rest:\n\n{of_areas()}",
            f"With `sample_weight=`:\n\n{of_weights()}",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    asked = parser.parse_args()
    made = tables()
    print(made)
    if asked.write:
        put(made, PAGE, BEGIN, END)
