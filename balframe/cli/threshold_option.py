"""Scores given as predictions: `--threshold` turns them into labels."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any

import polars as pl
import typer

from balframe.cli.parse_values import label
from balframe.core.label_set import STANDARD_PAIRS
from balframe.errors import InvalidInputError, listed

_Threshold = Annotated[
    float | None,
    typer.Option(
        help="Treat --y-pred as scores: a row is predicted positive if its score is at least this "
        "threshold.",
        rich_help_panel="Data",
        metavar="NUMBER",
    ),
]
THRESHOLD = Parameter("threshold", Parameter.KEYWORD_ONLY, default=None, annotation=_Threshold)


def predicted(
    rows: pl.LazyFrame, threshold: float, typed: Mapping[str, Any], columns: Sequence[str]
) -> pl.LazyFrame:
    """Replace the scores of --y-pred by labels: the positive one where the threshold is reached.

    Those of a column that --baseline names are replaced too. `columns` are all that options name,
    as often as they do.
    """
    schema, y_true = rows.collect_schema(), typed["y_true"]
    scores = typed["y_pred"] if isinstance(typed["y_pred"], list) else [typed["y_pred"]]
    scores = [*scores, *(name for name in [typed.get("baseline")] if name in schema)]
    if not {y_true, *scores} <= {*schema}:  # which the verb says
        return rows
    if math.isnan(threshold):
        raise InvalidInputError("--threshold nan is not a number; give one, as in 0.5.")
    _check(scores, schema, Counter(columns))
    positive, negative = _labels(rows, typed)
    high, low = (pl.lit(one, schema[y_true]) for one in (positive, negative))
    numbers = {name: pl.col(name).cast(pl.Float64) for name in scores}  # as `curve` compares them
    labels = {
        name: pl.when(number.is_nan())
        .then(None)
        .when(number >= threshold)
        .then(high)
        .when(number < threshold)
        .then(low)
        for name, number in numbers.items()
    }
    return rows.with_columns(**labels)


def beside_scores(rows: pl.LazyFrame, typed: Mapping[str, Any]) -> tuple[pl.LazyFrame, Any]:
    """Copy scores that are --y-pred and --y-score, to be replaced by labels under other names.

    Gives the rows with the copies, and what is typed with their names, such as `decile >= 5`.
    """
    threshold, scores = typed[THRESHOLD.name], typed["y_score"] or []
    if threshold is None:
        return rows, typed
    schema = rows.collect_schema()
    names = {name: f"{name} >= {threshold:g}" for name in typed["y_pred"] if name in scores}
    copies = {new: pl.col(old) for old, new in names.items() if old in schema}
    calls = [names.get(name, name) for name in typed["y_pred"]]
    return rows.with_columns(**copies), {**typed, "y_pred": calls}


def _check(scores: Sequence[str], schema: pl.Schema, uses: Mapping[str, int]) -> None:
    """Refuse columns that are no scores, and those that are to stay as they are too."""
    for name in scores:
        if not schema[name].is_numeric():
            raise InvalidInputError(
                f"--threshold is for scores, but column {name!r} is of type {schema[name]}. Give "
                "columns of numbers as --y-pred, or omit --threshold."
            )
        if uses[name] > 1:
            raise InvalidInputError(
                f"column {name!r} is given as --y-pred, which --threshold replaces with labels, "
                "and also in another option. Give a copy of the column under another name there."
            )


def _labels(rows: pl.LazyFrame, typed: Mapping[str, Any]) -> tuple[Any, Any]:
    """Find the positive label, and the only other one of the truth."""
    y_true = typed["y_true"]
    given = [label(text, rows, y_true) for text in typed["label"] or []]
    if not given:
        occurring = rows.select(pl.col(y_true).drop_nulls().unique()).collect(engine="streaming")
        given = sorted(occurring.get_column(y_true).to_list())
    pairs = [pair for pair in STANDARD_PAIRS if {*given} <= pair]
    if typed["pos_label"] is not None:
        positive = label(typed["pos_label"], rows, y_true)
    elif pairs:
        positive = 1
    else:
        raise InvalidInputError(
            "--threshold needs --pos-label, the label predicted if the score is at least the "
            "threshold; give one of "
            f"{listed(map(repr, given))}."
        )
    others = {*given, *(pairs[0] if pairs else ())} - {positive}
    if len(others) != 1:
        raise InvalidInputError(
            f"--threshold needs two labels, the positive one and one other, but column "
            f"{y_true!r} has {listed(map(repr, given))}. Give both, each with --label."
        )
    return positive, others.pop()
