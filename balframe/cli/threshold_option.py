"""Scores in the place of predictions: `--threshold` turns them into labels."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from balframe.cli import parse_values
from balframe.cli.command import FLOAT, CommandOption
from balframe.core.label_set import standard_pair
from balframe.errors import InvalidInputError, listed
from balframe.frames.query import N
from balframe.frames.thresholds import as_stored


def threshold_option() -> CommandOption:
    """Make the option."""
    return CommandOption(
        "--threshold",
        panel="Data",
        help="Treat --y-pred as scores: a row is predicted positive if its score is at least this "
        "threshold.",
        metavar="NUMBER",
        type=FLOAT,
    )


def predict_at_threshold(
    rows: pl.LazyFrame, threshold: float, values: Mapping[str, Any], columns: Sequence[str]
) -> pl.LazyFrame:
    """Replace the scores of --y-pred by labels: the positive one where the threshold is reached.

    Those of a column that --baseline names are replaced too. `columns` are all that options name,
    as often as they do.
    """
    if values["y_pred"] is None:
        raise InvalidInputError(
            "--threshold turns the scores of --y-pred into labels, and --y-pred is missing. Omit "
            "--threshold, or give the scores as --y-pred."
        )
    schema, y_true = rows.collect_schema(), values["y_true"]
    scores = values["y_pred"] if isinstance(values["y_pred"], list) else [values["y_pred"]]
    scores = [*scores, *(name for name in [values.get("baseline")] if name in schema)]
    if not {y_true, *scores} <= {*schema}:  # which the method reports
        return rows
    if math.isnan(threshold):
        raise InvalidInputError("--threshold nan is not a number; give one, as in 0.5.")
    _check_scores(scores, schema, Counter(columns))
    labels = _two_labels(rows, values)
    dtype = _dtype_of(labels, schema[y_true])
    positive, negative = (pl.lit(label, dtype) for label in labels)
    predictions = {}
    for name in scores:
        score = pl.col(name).cast(pl.Float64)  # as `curve` compares scores
        reached = float(as_stored(np.array(threshold), schema[name]))
        predictions[name] = (
            pl.when(score.is_nan())
            .then(None)
            .when(score >= reached)
            .then(positive)
            .when(score < reached)
            .then(negative)
        )
    return rows.with_columns(**predictions)


def copy_scores(
    rows: pl.LazyFrame, values: Mapping[str, Any]
) -> tuple[pl.LazyFrame, Mapping[str, Any]]:
    """Copy scores that are --y-pred and --y-score, to be replaced by labels under other names.

    Returns the rows with the copies, and the values of options with their names, such as
    `decile >= 5`.
    """
    threshold, scores = values["threshold"], values["y_score"] or []
    if threshold is None:
        return rows, values
    schema = rows.collect_schema()
    names = {name: f"{name} >= {threshold:g}" for name in values["y_pred"] if name in scores}
    copies = {copy: pl.col(name) for name, copy in names.items() if name in schema}
    predictions = [names.get(name, name) for name in values["y_pred"]]
    return rows.with_columns(**copies), {**values, "y_pred": predictions}


def predict_in_baseline(
    baseline: pl.DataFrame, threshold: float, values: Mapping[str, Any]
) -> pl.DataFrame:
    """Replace the scores of earlier rows by labels, as those of the data are.

    Cells have labels already. Both get the names that `copy_scores` gives predictions.
    """
    predictions, scores = values["y_pred"], values.get("y_score") or []
    predictions = predictions if isinstance(predictions, list) else [predictions]
    copies = {
        copy: name
        for name in scores
        if (copy := f"{name} >= {threshold:g}") in predictions and copy not in baseline.columns
    }
    copies = {copy: name for copy, name in copies.items() if name in baseline.columns}
    if values.get("cells") or _are_cells(baseline.columns, values["y_true"]):
        return baseline.rename({name: copy for copy, name in copies.items()})
    rows = baseline.lazy().with_columns(pl.col(name).alias(copy) for copy, name in copies.items())
    if not {*predictions} <= {*rows.collect_schema()}:  # which the method reports
        return baseline
    labelled = predict_at_threshold(rows, threshold, {**values, "baseline": None}, predictions)
    return labelled.collect(engine="streaming")


def _are_cells(names: Sequence[str], y_true: str) -> bool:
    """Return whether columns are those of cells: two labels, and then the number of rows."""
    position = names.index(N) if N in names else 0
    return position >= 2 and names[position - 2] == y_true


def _check_scores(scores: Sequence[str], schema: pl.Schema, n_uses: Mapping[str, int]) -> None:
    """Refuse columns that are not scores, and those that another option needs as they are."""
    for name in scores:
        if not schema[name].is_numeric():
            raise InvalidInputError(
                f"--threshold is for scores, but column {name!r} is of type {schema[name]}. Give "
                "columns of numbers as --y-pred, or omit --threshold."
            )
        if n_uses[name] > 1:
            raise InvalidInputError(
                f"column {name!r} is given as --y-pred, which --threshold replaces with labels, "
                "and also in another option. Give a copy of the column under another name there."
            )


def _dtype_of(labels: Sequence[Any], dtype: pl.DataType) -> pl.DataType:
    """Return the dtype of the labels: that of the truth, unless its categories lack one."""
    if isinstance(dtype, pl.Enum) and not {*labels} <= {*dtype.categories}:
        return pl.String()
    return dtype


def _two_labels(rows: pl.LazyFrame, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Find the positive label, and the only other one of the truth."""
    y_true = values["y_true"]
    labels = parse_values.values(values["label"] or [], rows, y_true, "label")
    if not labels:
        occurring = rows.select(pl.col(y_true).drop_nulls().unique()).collect(engine="streaming")
        labels = sorted(occurring.get_column(y_true).to_list())
    pair = standard_pair(labels)
    if values["pos_label"] is not None:
        positive = parse_values.label(values["pos_label"], rows, y_true)
    elif pair is not None:
        positive = pair[1]
    else:
        raise InvalidInputError(
            "--threshold needs --pos-label, the label predicted if the score is at least the "
            f"threshold; give one of {listed(map(repr, labels))}."
        )
    others = {*labels, *(pair or ())} - {positive}
    if len(others) != 1:
        raise InvalidInputError(
            f"--threshold needs two labels, the positive one and one other, but column "
            f"{y_true!r} has {listed(map(repr, labels))}. Give both, each with --label."
        )
    return positive, others.pop()
