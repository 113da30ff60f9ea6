"""A verb in a file of its own, for tests that nothing but its declaration is needed."""

SOURCE = '''
"""The verb `error_count`."""

from typing import Unpack

import numpy as np

from balframe.core.class_counts import ClassCounts
from balframe.core.entries import Entries
from balframe.frames.library import FrameT, Name
from balframe.frames.read import Reading
from balframe.verbs.answer import Asked, Columns, answer
from balframe.verbs.columns import SEGMENTS, count
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Names, OfLabels

VERB = Verb.of(*SEGMENTS, count("n"), count("errors", tells=True))


@VERB
def error_count(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    at_least: int = 0,
    **options: Unpack[OfLabels],
) -> FrameT:
    """Count the errors of every segment.

    Parameters
    ----------
    at_least : int, default 0
        Leave out segments with fewer errors. Raise it to see the worst.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: its rows; `errors`: those of them whose predicted label is not the true one
    """
    asked = Asked({"y_true": y_true, "y_pred": y_pred, "by": by, **options}, VERB.layouts[""])

    def compute(reading: Reading) -> Columns:
        c = ClassCounts.of(Entries.of(reading.cells, len(reading.labels)))
        errors = np.bincount(c.segment, c.n_missed, c.n_segments).astype(np.int64)
        has_enough = errors >= at_least
        by_columns = reading.by_columns(reading.cells.segments[1][has_enough])
        return by_columns | {"n": c.n[has_enough], "errors": errors[has_enough]}

    return answer(frame, asked, compute)
'''
