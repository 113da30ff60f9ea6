"""The verb `classes`."""

from typing import Unpack

import numpy as np

from balframe.analyses.scores_of_labels import scores_of_labels
from balframe.core.class_counts import ClassCounts
from balframe.core.entries import Entries
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.read import Reading
from balframe.intervals.request import Request
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import SEGMENTS, Kind, count, key, limits, score
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Intervals, Names, OfLabels

SCORES = ("recall", "precision", "specificity", "npv", "f1")

VERB = Verb.of(
    *SEGMENTS,
    key("label", kind=Kind.LABEL, tells=True),
    count("support", tells=True),
    score("prevalence", compared=True),
    count("predicted"),
    count("correct"),
    *(one for name in SCORES for one in (score(name, compared=True), *limits(name, "interval"))),
)


class _Options(Intervals, OfLabels, total=False): ...


@VERB
def classes(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Score each label of each segment against all others.

    Every segment has a row for every label of the label set, also for one that does not occur in
    it: its support is 0 and its recall null. The output grows with segments times labels.

    Parameters
    ----------
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"}, optional
        Add limits to the scores, which are proportions: Wilson's by default, or "jeffreys" or
        "exact". A method of other metrics gives Wilson's too. Those of f1 are mapped from the
        Jaccard index.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and label, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`], `label`
        - `support`: rows that truly have the label
        - `prevalence`: share of the segment that has it, so that the sum of prevalence x recall
          is the accuracy
        - `predicted`, `correct`: rows predicted to have it, and rightly so
        - `recall`, `precision`, `specificity`, `npv`, `f1`: in [0, 1], null where undefined
        - with `interval`, `<score>_lower` and `<score>_upper` behind each of them

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": ["a", "a", "b", "b"], "yhat": ["a", "b", "b", "b"]})
    >>> out = bf.classes(df, "y", "yhat")
    >>> out.select("label", "support", "prevalence", "recall", "precision").rows()
    [('a', 2, 0.5, 0.5, 1.0), ('b', 2, 0.5, 1.0, 0.6666666666666666)]
    """
    request = Request.of(options["interval"], options["level"], "uniform")

    def compute(reading: Reading) -> Columns:
        n_labels = len(reading.labels)
        c = ClassCounts.of(Entries.of(reading.cells, n_labels))
        first = reading.cells.segments[1]
        label = np.tile(np.arange(n_labels), c.n_segments)
        columns = reading.by_columns(np.repeat(first, n_labels))
        columns["label"] = reading.label_column(label)
        return columns | scores_of_labels(c, SCORES, request)

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        shown=() if request is None else ("interval",),
        reads=Reads(squares=request is not None),
        suits=Reading.pos_label,
    )
