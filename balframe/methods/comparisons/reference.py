"""The reference of segments, which is the rest, the whole or one segment, and the comparison."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from balframe.api.metric_selection import lowest_segment, sample_values
from balframe.api.option_types import REFERENCE_KEYWORDS, DefaultKeyword
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.leave_one_out import (
    ClusterTotals,
    sum_other_cells,
    sum_other_segments,
    sum_segments,
)
from balframe.core.sample import Sample
from balframe.errors import NAME, OPTION, InvalidInputError, Spelled, UnknownNameError, listed
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.frames.query import Query
from balframe.methods.comparisons.segments import Comparison, differences
from balframe.methods.scores.distinct_segments import distinct_segments
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest

_BY_SCORE = ("best", "worst")
_BLOCK_SIZE = 2**21  # labels of segments at work at once
_MAX_SUGGESTED = 1000  # segments among which similar ones are looked for


@dataclass(frozen=True, slots=True)
class SegmentReference:
    """The rest or the whole (position None), or the segment at a position of its group."""

    name: str
    position: int | None = None

    def shares_rows(self, segments: Int64Array) -> BoolArray:
        """Return which segments are the reference, or a part of it: there is nothing to test."""
        if self.position is None:
            return np.full(len(segments), self.name == "overall")
        return np.asarray(segments == self.position)

    def max_parts(self, members: Sample) -> int:
        """Return the largest number of strata, clusters, or sums of clusters, of a reference."""
        if members.strata is not None:
            return members.strata.rows.size
        if members.clusters is None:
            return 0
        n = np.bincount(members.clusters.segment, minlength=members.clusters.n_segments)
        if self.position is not None:
            return int(n[self.position])
        return (
            0
            if self.name != "rest"
            else len(_cluster_totals(members).example) + int(n.max(initial=0))
        )

    def sample_for(self, members: Sample, segments: Int64Array) -> Sample:
        """Return the sample of the reference of each of these segments."""
        if self.position is not None:
            return members.at(np.full_like(segments, self.position))
        if self.name == "rest":
            counts, clusters = sum_other_segments(members.counts, segments), None
            if members.clusters is not None:
                clusters = _cluster_totals(members).rest(segments, counts)
            strata = None if members.strata is None else members.strata.others(segments)
            return Sample(
                counts, lambda: sum_other_cells(members.cells(), segments), clusters, strata
            )
        everything = Sample(
            sum_segments(members.counts),
            lambda: members.cells().rolled_up((), (0,)),
            strata=None if members.strata is None else members.strata.together(),
        )
        return everything.at(np.zeros_like(segments))


def _cluster_totals(members: Sample) -> ClusterTotals:
    """Add up the clusters of all segments, once."""
    clusters = members.clusters
    assert clusters is not None
    return members.once(ClusterTotals, lambda: ClusterTotals.of(clusters))


def check_reference(reference: object, query: Query, metrics: Mapping[str, Metric]) -> None:
    """Raise if the reference does not suit the by-columns or the metrics."""
    if isinstance(reference, Mapping):
        if {*reference} != {*query.by}:
            raise InvalidInputError(
                "{reference} must give one value for each column of {by}: {}.",
                listed(map(repr, query.by)),
                reference=dict(reference),
                by=NAME,
            )
        if not all(isinstance(value, Hashable) for value in reference.values()):
            raise InvalidInputError(
                "{reference} has a value that is not a single value; give one value for each "
                "column.",
                reference=dict(reference),
            )
    elif not _is_keyword(reference) and len(query.by) > 1:
        keys = ", ".join(f"{name!r}: ..." for name in query.by)
        one_of = Spelled(f"a mapping, as in reference={{{keys}}}, or one of", "one of")
        raise InvalidInputError(
            "{reference} does not identify one segment of the columns {}; give {} {}.",
            listed(map(repr, query.by)),
            one_of,
            listed(map(repr, REFERENCE_KEYWORDS)),
            reference=reference,
        )
    elif not _is_keyword(reference) and not isinstance(reference, Hashable):
        raise InvalidInputError(
            "{reference} is not a single value; name one segment by its value.", reference=reference
        )
    if _is_chosen_by_score(reference) and query.cluster is not None:
        raise InvalidInputError(
            "{reference} chooses a segment by its score, which intervals for rows in clusters do "
            "not allow for; omit {cluster}, or choose another reference.",
            reference=reference,
            cluster=OPTION,
        )
    undirected = [name for name, metric in metrics.items() if metric.better is None]
    if _is_chosen_by_score(reference) and undirected:
        raise InvalidInputError(
            f"metric {undirected[0]!r} has no direction (neither higher nor lower is better), so "
            f"no segment is the {reference}; omit the metric, or choose another reference."
        )


def _is_keyword(reference: object) -> bool:
    return isinstance(reference, str) and reference in REFERENCE_KEYWORDS


def _is_chosen_by_score(reference: object) -> bool:
    return isinstance(reference, str) and reference in _BY_SCORE


def check_unambiguous(reference: object, counted_frame: CountedFrame) -> None:
    """Raise if a keyword that the caller gives is also the value of a segment."""
    is_default = isinstance(reference, DefaultKeyword)
    if is_default or not _is_keyword(reference) or len(counted_frame.query.by) != 1:
        return
    name = counted_frame.query.by[0]
    if (counted_frame.codes[name] == counted_frame.level_code(name, reference)).any():
        rename = Spelled(f"Give {{{name!r}: {reference!r}}} for that segment, or rename", "Rename")
        raise InvalidInputError(
            "{reference} is both an option and a value of column {!r}. {} it in the data for the "
            "option.",
            name,
            rename,
            reference=reference,
        )


def find_reference(
    reference: object,
    scores: FloatArray,
    better: str | None,
    group: SegmentGroup,
    c: ClassCounts,
    counted_frame: CountedFrame,
) -> SegmentReference:
    """Return the reference of the segments of a group, which have these scores."""
    if _is_chosen_by_score(reference) and c.n_segments:
        return _reference_at(counted_frame, group, _extreme_position(scores, better, reference, c))
    return _reference_by_name(reference, group, c.n, counted_frame)


def n_candidates(reference: object, c: ClassCounts) -> int:
    """Return the number of segments a reference is chosen from by its score, 1 for others."""
    return c.n_segments - 1 if _is_chosen_by_score(reference) else 1


def _reference_by_name(
    reference: object, group: SegmentGroup, n: Int64Array, counted_frame: CountedFrame
) -> SegmentReference:
    """Return a reference that does not depend on scores; segments have n rows."""
    if isinstance(reference, str) and reference == "largest" and len(n):
        return _reference_at(counted_frame, group, int(np.argmax(n)))
    if _is_keyword(reference) or not len(n):
        return SegmentReference(str(reference))
    values = reference if isinstance(reference, Mapping) else {counted_frame.query.by[0]: reference}
    return _reference_at(counted_frame, group, _segment_position(values, counted_frame, group))


def _segment_position(
    values: Mapping[Name, Any], counted_frame: CountedFrame, group: SegmentGroup
) -> int:
    """Return the position of the segment with these values in the by-columns of the group."""
    _, first_cells = counted_frame.cells.segments
    is_match = np.ones(len(group.segments), np.bool_)
    for name in group.by:
        code = counted_frame.level_code(name, values[name])
        is_match &= counted_frame.codes[name][first_cells[group.segments]] == code
    if not is_match.any():
        segments = [
            {name: counted_frame.by_value(name, int(cell)) for name in group.by}
            for cell in first_cells[group.segments[:_MAX_SUGGESTED]]
        ]
        raise _unknown_segment_error(
            {name: values[name] for name in group.by}, segments, counted_frame.query
        )
    return int(np.argmax(is_match))


def _unknown_segment_error(
    values: Mapping[Name, Any], segments: Sequence[Mapping[Name, Any]], query: Query
) -> UnknownNameError:
    """Return the error that no segment has these values, with similar segments."""
    is_single = len(query.by) == 1
    spelled_segments = {
        ", ".join(map(str, segment.values())): (
            repr(segment[query.by[0]]) if is_single else str(segment)
        )
        for segment in segments
    }
    candidates = {**{word: repr(word) for word in REFERENCE_KEYWORDS}, **spelled_segments}
    similar = get_close_matches(", ".join(map(str, values.values())), candidates, n=3, cutoff=0.6)
    hint = (
        f"; did you mean {' or '.join(candidates[name] for name in similar)}?" if similar else "."
    )
    reference = values[query.by[0]] if is_single else values
    return UnknownNameError(
        "{reference} does not match any segment{} Segments: {}.",
        hint,
        listed(spelled_segments.values()),
        reference=reference,
    )


def _reference_at(
    counted_frame: CountedFrame, group: SegmentGroup, position: int
) -> SegmentReference:
    return SegmentReference(_segment_name(counted_frame, group, position), position)


def _segment_name(counted_frame: CountedFrame, group: SegmentGroup, position: int) -> str:
    """Return the value of a segment or, with several by-columns, the columns and values."""
    _, first_cells = counted_frame.cells.segments
    cell = int(first_cells[group.segments[position]])
    values = {name: counted_frame.by_value(name, cell) for name in group.by}
    texts = {name: "null" if value is None else str(value) for name, value in values.items()}
    if len(counted_frame.query.by) == 1:
        return texts.get(counted_frame.query.by[0], "overall")
    return ", ".join(f"{name}={text}" for name, text in texts.items()) or "overall"


def compare_group(
    option: object,
    metrics: Mapping[str, Metric],
    level: float,
    group: SegmentGroup,
    members: Sample,
    counted_frame: CountedFrame,
) -> dict[str, Comparison]:
    """Compare the segments of a group, which have this sample, with their reference.

    The level and the p-values allow for the choice of a reference by its score (Bonferroni).
    """
    c = members.counts
    every = np.arange(c.n_segments)
    distinct = None
    if members.strata is None:
        distinct = distinct_segments(counted_frame, metrics, members.cells)
    first, copies = distinct or (every, every)
    n_choices = n_candidates(option, c)
    request = IntervalRequest(None, level).bonferroni(n_choices)
    comparisons: dict[str, Comparison] = {}
    for reference, names in _references(option, metrics, group, members, counted_frame):
        own_metrics = {name: metrics[name] for name in names}
        tables = []
        for block in _segment_blocks(c, len(first), reference.max_parts(members)):
            segments = first[block]
            samples = members.at(segments), reference.sample_for(members, segments)
            tables.append(differences(own_metrics, *samples, reference.name, request))
        shares_rows = reference.shares_rows(every)
        for name in names:
            comparison = Comparison.concat([table[name] for table in tables])
            p_value = np.minimum(comparison.p_value * n_choices, 1)
            comparison = replace(comparison, p_value=p_value).at(copies)
            comparisons[name] = comparison.without_test(shares_rows)
    return comparisons


def _references(
    option: object,
    metrics: Mapping[str, Metric],
    group: SegmentGroup,
    members: Sample,
    counted_frame: CountedFrame,
) -> Iterator[tuple[SegmentReference, Sequence[str]]]:
    """Yield each reference and the names of the metrics that are compared with it."""
    c = members.counts
    if not _is_chosen_by_score(option):
        yield _reference_by_name(option, group, members.n, counted_frame), list(metrics)
        return
    for name, metric in metrics.items():
        scores = sample_values(metric, members)
        yield find_reference(option, scores, metric.better, group, c, counted_frame), [name]


def _extreme_position(
    scores: FloatArray, better: str | None, reference: object, c: ClassCounts
) -> int:
    """Return the position of the best or worst segment; in a tie, the one with the most rows."""
    if np.isnan(scores).all():
        return 0
    is_highest = (better == "higher") == (reference == "best")
    return lowest_segment(-scores if is_highest else scores, c)


def _segment_blocks(c: ClassCounts, n_segments: int, n_parts: int) -> Iterator[slice]:
    """Yield blocks of segments that fit into memory together with their references."""
    size = max(1, _BLOCK_SIZE // max(1, len(np.unique(c.label)) * (1 + n_parts)))
    for start in range(0, max(1, n_segments), size):
        yield slice(start, min(start + size, n_segments))
