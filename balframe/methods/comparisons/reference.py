"""What segments are compared with: the rest, the whole, or one of them."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from balframe.api.metric_selection import smallest, value_of
from balframe.api.option_types import REFERENCE_KEYWORDS
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.leave_one_out import Totals, rest, rest_of_cells, whole
from balframe.core.sample import Sample
from balframe.errors import (
    InvalidInputError,
    UnknownNameError,
    bare_parameter,
    listed,
    parameter,
    spelled,
)
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, Group
from balframe.frames.query import Query
from balframe.methods.comparisons.segments import Comparison, differences
from balframe.methods.scores.scored_segments import distinct_segments
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

    def max_clusters(self, members: Sample) -> int:
        """Count the clusters, or groups of them, that stand beside each segment, at most."""
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
        """Put beside each of some segments what it is compared with."""
        if self.position is not None:
            return members.at(np.full_like(segments, self.position))
        if self.name == "rest":
            counts, clusters = rest(members.counts, segments), None
            if members.clusters is not None:
                clusters = _cluster_totals(members).rest(segments, counts)
            return Sample(counts, lambda: rest_of_cells(members.cells(), segments), clusters)
        everything = Sample(whole(members.counts), lambda: members.cells().rolled_up((), (0,)))
        return everything.at(np.zeros_like(segments))


def _cluster_totals(members: Sample) -> Totals:
    """Add up the clusters of all segments, once."""
    clusters = members.clusters
    assert clusters is not None
    return members.once(Totals, lambda: Totals.of(clusters))


def check_reference(reference: object, query: Query, metrics: Mapping[str, Metric]) -> None:
    """Raise where the columns and metrics already tell that the reference cannot be used."""
    if isinstance(reference, Mapping):
        if {*reference} != {*query.by}:
            raise InvalidInputError(
                f"{parameter('reference', dict(reference))} must give one value for each column of "
                f"{bare_parameter('by')}: {listed(map(repr, query.by))}."
            )
        if not all(isinstance(value, Hashable) for value in reference.values()):
            raise InvalidInputError(
                f"{parameter('reference', dict(reference))} has a value that is not a single "
                "value; give one value for each column."
            )
    elif not _is_keyword(reference) and len(query.by) > 1:
        keys = ", ".join(f"{name!r}: ..." for name in query.by)
        one_of = spelled(f"a mapping, as in reference={{{keys}}}, or one of", "one of")
        raise InvalidInputError(
            f"{parameter('reference', reference)} does not identify one segment of the columns "
            f"{listed(map(repr, query.by))}; give {one_of} "
            f"{listed(map(repr, REFERENCE_KEYWORDS))}."
        )
    elif not _is_keyword(reference) and not isinstance(reference, Hashable):
        raise InvalidInputError(
            f"{parameter('reference', reference)} is not a single value; name one segment by its "
            "value."
        )
    if _is_chosen_by_score(reference) and query.cluster is not None:
        raise InvalidInputError(
            f"{parameter('reference', reference)} chooses a segment by its score, which intervals "
            f"for rows in clusters do not allow for; omit {parameter('cluster')}, or choose "
            "another reference."
        )
    undirected = [name for name, one in metrics.items() if one.better is None]
    if _is_chosen_by_score(reference) and undirected:
        raise InvalidInputError(
            f"metric {undirected[0]!r} has no direction (neither higher nor lower is better), so "
            f"no segment is the {reference}; omit the metric, or choose another reference."
        )


def _is_keyword(reference: object) -> bool:
    return isinstance(reference, str) and reference in REFERENCE_KEYWORDS


def _is_chosen_by_score(reference: object) -> bool:
    return isinstance(reference, str) and reference in _BY_SCORE


def check_unambiguous(asked: object, reading: CountedFrame) -> None:
    """Raise where a keyword is a segment's name too."""
    if not _is_keyword(asked) or len(reading.query.by) != 1:
        return
    name = reading.query.by[0]
    if (reading.codes[name] == reading.code_of(name, asked)).any():
        rename = spelled(f"Give {{{name!r}: {asked!r}}} for that segment, or rename", "Rename")
        raise InvalidInputError(
            f"{parameter('reference', asked)} is both an option and a value of column {name!r}. "
            f"{rename} it in the data for the option."
        )


def find_reference(
    asked: object,
    scores: FloatArray,
    better: str | None,
    group: Group,
    c: ClassCounts,
    reading: CountedFrame,
) -> SegmentReference:
    """Find what the segments of a group, of which the scores are given, are compared with."""
    if _is_chosen_by_score(asked) and c.n_segments:
        return _reference_at(reading, group, _extreme_position(scores, better, asked, c))
    return _reference_by_name(asked, group, c, reading)


def n_candidates(asked: object, c: ClassCounts) -> int:
    """Count the segments that the reference is chosen from by its score, 1 where it is not."""
    return c.n_segments - 1 if _is_chosen_by_score(asked) else 1


def _reference_by_name(
    asked: object, group: Group, c: ClassCounts, reading: CountedFrame
) -> SegmentReference:
    """Find what is asked for without a look at scores."""
    if isinstance(asked, str) and asked == "largest" and c.n_segments:
        return _reference_at(reading, group, int(np.argmax(c.n)))
    if _is_keyword(asked) or not c.n_segments:
        return SegmentReference(str(asked))
    values = asked if isinstance(asked, Mapping) else {reading.query.by[0]: asked}
    return _reference_at(reading, group, _segment_position(values, reading, group))


def _segment_position(values: Mapping[Name, Any], reading: CountedFrame, group: Group) -> int:
    """Find the segment of a group that has these values in the columns that the group keeps."""
    _, first = reading.cells.segments
    found = np.ones(len(group.segments), np.bool_)
    for name in group.by:
        code = reading.code_of(name, values[name])
        found &= reading.codes[name][first[group.segments]] == code
    if not found.any():
        segments = [
            {name: reading.by_value(name, int(cell)) for name in group.by}
            for cell in first[group.segments[:_MAX_SUGGESTED]]
        ]
        raise _unknown_segment_error(
            {name: values[name] for name in group.by}, segments, reading.query
        )
    return int(np.argmax(found))


def _unknown_segment_error(
    wanted: Mapping[Name, Any], segments: Sequence[Mapping[Name, Any]], query: Query
) -> UnknownNameError:
    """Say that no segment has the values asked for, and which have similar ones."""
    is_value = len(query.by) == 1
    shown = {
        ", ".join(map(str, one.values())): repr(one[query.by[0]]) if is_value else str(one)
        for one in segments
    }
    known = {**{word: repr(word) for word in REFERENCE_KEYWORDS}, **shown}
    near = get_close_matches(", ".join(map(str, wanted.values())), known, n=3, cutoff=0.6)
    meant = f"; did you mean {' or '.join(known[one] for one in near)}?" if near else "."
    asked = wanted[query.by[0]] if is_value else wanted
    return UnknownNameError(
        f"{parameter('reference', asked)} does not match any segment{meant} Segments: "
        f"{listed(shown.values())}."
    )


def _reference_at(reading: CountedFrame, group: Group, position: int) -> SegmentReference:
    return SegmentReference(_segment_name(reading, group, position), position)


def _segment_name(reading: CountedFrame, group: Group, position: int) -> str:
    """Name a segment by its value, or by all of them with their columns."""
    _, first = reading.cells.segments
    cell = int(first[group.segments[position]])
    values = {name: reading.by_value(name, cell) for name in group.by}
    texts = {name: "null" if value is None else str(value) for name, value in values.items()}
    if len(reading.query.by) == 1:
        return texts.get(reading.query.by[0], "overall")
    return ", ".join(f"{name}={text}" for name, text in texts.items()) or "overall"


@dataclass(frozen=True, slots=True)
class ReferenceComparison:
    """Comparisons with what the caller asked for."""

    reference: object
    metrics: Mapping[str, Metric]
    level: float

    def compare_group(
        self, group: Group, members: Sample, reading: CountedFrame
    ) -> dict[str, Comparison]:
        """Compare the segments of a group, whose sample is given, on every metric."""
        c = members.counts
        every = np.arange(c.n_segments)
        first, copies = distinct_segments(reading, self.metrics, members.cells) or (every, every)
        out: dict[str, Comparison] = {}
        for one, metrics in self._references(group, c, reading):
            alone = one.shares_rows(every)
            parts = [
                self._compare_block(one, metrics, members, first[block])
                for block in _segment_blocks(c, len(first), one.max_clusters(members))
            ]
            for name in metrics:
                found = Comparison.concat([part[name] for part in parts])
                out[name] = found.at(copies).without_test(alone)
        return out

    def _references(
        self, group: Group, c: ClassCounts, reading: CountedFrame
    ) -> Iterator[tuple[SegmentReference, Mapping[str, Metric]]]:
        """Find what the segments are compared with, and on which metrics."""
        if _is_chosen_by_score(self.reference):
            for name, metric in self.metrics.items():
                scores = value_of(metric, c)
                one = find_reference(self.reference, scores, metric.better, group, c, reading)
                yield one, {name: metric}
        else:
            yield _reference_by_name(self.reference, group, c, reading), self.metrics

    def _compare_block(
        self,
        one: SegmentReference,
        metrics: Mapping[str, Metric],
        members: Sample,
        segments: Int64Array,
    ) -> dict[str, Comparison]:
        """Compare some of the segments; choosing the reference by its score has a price."""
        choices = n_candidates(self.reference, members.counts)
        request = IntervalRequest(None, self.level).together(choices)
        sides = members.at(segments), one.sample_for(members, segments)
        return {
            name: replace(found, p_value=np.minimum(found.p_value * choices, 1))
            for name, found in differences(metrics, *sides, one.name, request).items()
        }


def _extreme_position(scores: FloatArray, better: str | None, asked: object, c: ClassCounts) -> int:
    """Find the best or worst segment, of several the one with the most rows."""
    if np.isnan(scores).all():
        return 0
    wants_highest = (better == "higher") == (asked == "best")
    return smallest(-scores if wants_highest else scores, c)


def _segment_blocks(c: ClassCounts, n_segments: int, n_clusters: int) -> Iterator[slice]:
    """Cut segments into parts that fit into memory beside their references."""
    size = max(1, _BLOCK_SIZE // max(1, len(np.unique(c.label)) * (1 + n_clusters)))
    for start in range(0, max(1, n_segments), size):
        yield slice(start, min(start + size, n_segments))
