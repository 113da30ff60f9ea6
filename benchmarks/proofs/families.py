"""How often a loop over categories calls two equal models different, beside `compare`.

Both models pass 0.7 of the 50 questions of each category; then the second passes 0.9 of the first
category. evalstats compares models within a category by its row filter, in a loop, as it ignores
`slices=`. balframe compares all categories in one call, whose p-values allow for their number.
"""

import warnings

import numpy as np
import polars as pl

import balframe as bf
from benchmarks.proofs.table import Figures

SETS = 2_000
CATEGORIES, QUESTIONS = 8, 50
PASSED, BETTER = 0.7, 0.9


def draw(better: float, seed: int) -> pl.DataFrame:
    """Draw what two models pass; the second passes the share `better` of the first category."""
    rng = np.random.default_rng(seed)
    category = np.repeat(np.arange(CATEGORIES), QUESTIONS)
    shares = {"a": PASSED, "b": np.where(category == 0, better, PASSED)}
    passed = {name: (rng.random(len(category)) < share) * 1 for name, share in shares.items()}
    return pl.DataFrame({"category": category, "item": range(len(category)), "right": 1, **passed})


def balframe_categories(frame: pl.DataFrame) -> list[int]:
    """Return the categories in which the models differ significantly."""
    result = bf.compare(frame, "right", ["a", "b"], by="category", metrics="accuracy")
    return result.filter(pl.col("p_adjusted") < 0.05)["category"].to_list()


def evalstats_categories(frame: pl.DataFrame) -> list[int]:
    """Return the categories in which evalstats calls the difference significant."""
    try:
        import evalstats
    except ModuleNotFoundError:
        raise SystemExit("evalstats is not installed: python -m pip install '.[bench]'") from None
    long = frame.unpivot(
        ["a", "b"], index=["category", "item"], variable_name="model", value_name="score"
    )
    warnings.simplefilter("ignore")  # of columns that it does not need
    runs = evalstats.load_from(long.to_pandas())
    results = {
        category: evalstats.compare(runs, factors="model", category=category)
        for category in range(CATEGORIES)
    }
    return [
        category
        for category, result in results.items()
        if result.to_frame()["pairwise"]["significant"].any()
    ]


def measure() -> Figures:
    """Count the data sets with a false claim, and those in which a true difference is found."""
    claimed = {}
    for call in (balframe_categories, evalstats_categories):
        false = sum(bool(call(draw(PASSED, seed))) for seed in range(SETS))
        found = sum(0 in call(draw(BETTER, seed)) for seed in range(SETS))
        claimed[call] = (100 * false / SETS, 100 * found / SETS)
        print(f"{call.__name__}: a false claim in {false}, the true one in {found} of {SETS:,}")
    (false_ours, found_ours), (false_theirs, found_theirs) = claimed.values()
    return Figures(
        f"Two equal models on {CATEGORIES} categories of {QUESTIONS} questions: `compare` calls a "
        f"category different in {false_ours:.1f}% of {SETS:,} data sets; a loop over evalstats' "
        f"row filter in {false_theirs:.1f}%. The price: a model that passes {BETTER} instead of "
        f"{PASSED} of one category is found in {found_ours:.0f}% of them, by the loop in "
        f"{found_theirs:.0f}%"
    )
