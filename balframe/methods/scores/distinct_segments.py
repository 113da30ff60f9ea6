"""Segments that differ in their counts: what depends on counts alone is computed once for each."""

from collections.abc import Callable, Mapping

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import Int64Array
from balframe.core.cells import Cells
from balframe.core.sample import Sample
from balframe.core.unique_rows import unique_segments
from balframe.frames.counted_frame import CountedFrame
from balframe.metrics.registry import Metric


def distinct_segments(
    counted_frame: CountedFrame, metrics: Mapping[str, Metric], cells: Callable[[], Cells]
) -> tuple[Int64Array, Int64Array] | None:
    """Return one segment of each set with equal counts, and the set of every segment.

    None if computing each set once does not pay, if rows are in clusters, and with metrics of
    users, which may read more than one segment.
    """
    if counted_frame.clusters is not None or not all(
        metric.is_shipped for metric in metrics.values()
    ):
        return None
    return unique_segments(cells(), len(counted_frame.labels))


def distinct_sample(
    counted_frame: CountedFrame, selection: MetricSelection
) -> tuple[Sample, Int64Array | None]:
    """Return the sample of the distinct segments, and the position of every segment in it.

    The positions are None if the sample has every segment.
    """
    distinct = distinct_segments(counted_frame, selection.metrics, lambda: counted_frame.cells)
    if distinct is None or counted_frame.strata is not None:
        return selection.sample(counted_frame), None
    first, copies = distinct
    cells = counted_frame.cells.at(first)
    return Sample(selection.class_counts(counted_frame, cells), lambda: cells), copies
