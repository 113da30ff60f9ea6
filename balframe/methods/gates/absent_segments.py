"""Expected segments without rows: every rule on them has a verdict, which is never a pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.errors import OPTION, InvalidInputError, warn
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.expected_segments import (
    ExpectedSegments,
    ExpectedValues,
    add_expected_segments,
)
from balframe.methods.gates.baseline import BaselineScores, ClusterStatistics
from balframe.methods.gates.evidence import Evidence, number_of_segments, rule_groups, rule_segments
from balframe.methods.gates.rules import Rule

_MAX_NAMED = 10  # segments in a warning


@dataclass(frozen=True)
class Expectation:
    """The segments that verdicts are on, with those that are expected.

    `n` counts the rows of each.
    """

    segments: ExpectedSegments
    n: Int64Array

    @classmethod
    def of(
        cls,
        counted_frame: CountedFrame,
        expected: Sequence[ExpectedValues],
        n: Int64Array,
    ) -> "Expectation":
        """Add the expected segments to those of a frame, which have `n` rows."""
        segments = add_expected_segments(counted_frame, expected)
        all_n = np.zeros(len(segments.is_expected), np.int64)
        all_n[segments.positions] = n
        return cls(segments, all_n)

    @property
    def counted_frame(self) -> CountedFrame:
        """The frame with all segments."""
        return self.segments.counted_frame

    @property
    def is_absent(self) -> BoolArray:
        """Whether each segment is expected and has no rows."""
        return np.asarray(self.segments.is_expected & (self.n == 0))

    @property
    def is_unexpected(self) -> BoolArray:
        """Whether each segment has rows and is not expected; no roll-up is meant."""
        is_finest = self.counted_frame.segment_margins() == 0
        return np.asarray(is_finest & ~self.segments.is_expected & (self.n > 0))

    def complete(self, rules: Sequence[Rule], evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the evidence with that on the segments that are absent."""
        positions = self.segments.positions
        moved = [replace(item, segments=positions[item.segments]) for item in evidence]
        completed: list[Evidence] = []
        for number, rule in enumerate(rules):
            own = [item for item in moved if item.rule == number]
            if rule.is_over_segments:
                completed += self._group_evidence(number, rule, own)
            else:
                completed += self._segment_evidence(number, rule, own)
        return completed

    def _segment_evidence(
        self, number: int, rule: Rule, own: Sequence[Evidence]
    ) -> Iterator[Evidence]:
        """Mark the evidence on absent segments, and add what is missing of it."""
        for item in own:
            yield replace(item, is_absent=self.is_absent[item.segments] | _is_gone(item))
        listed = [item.segments for item in own]
        segments = rule_segments(rule, self.counted_frame)
        segments = np.setdiff1d(segments[self.is_absent[segments]], np.concatenate([[], *listed]))
        size = len(segments)
        if not size:
            return
        undefined, none = np.full(size, np.nan), np.zeros(size, np.int64)
        estimate = none if rule.is_on_count else undefined
        scores: BaselineScores | None = None
        if rule.is_relative:
            scores = BaselineScores(none, none, undefined, undefined, none, none)
        clusters: ClusterStatistics | None = None
        if self.counted_frame.query.cluster is not None:
            clusters = none, undefined, undefined
        yield Evidence(
            number,
            segments,
            estimate,
            estimate,
            estimate,
            np.zeros(size, np.bool_),
            baseline_scores=scores,
            clusters=clusters,
            is_absent=np.ones(size, np.bool_),
        )

    def _group_evidence(
        self, number: int, rule: Rule, own: Sequence[Evidence]
    ) -> Iterator[Evidence]:
        """Return the evidence on groups of segments, undecided if a segment of them is absent."""
        for segments in rule_groups(rule, self.counted_frame):
            of_group = [item for item in own if item.segments[0] in segments]
            if of_group:
                (item,) = of_group
            elif rule.disparity is None:
                item = number_of_segments(number, segments, np.zeros(1, np.int64))
            else:
                item = _undefined_disparity(number, segments)
            is_absent = self.is_absent[segments].any()
            yield replace(
                item,
                is_complete=item.is_complete and not is_absent,
                is_absent=np.array([is_absent]),
            )

    def check_are_judged(self, rules: Sequence[Rule]) -> None:
        """Raise if a segment is absent and no rule applies to it, so that this has no verdict."""
        is_judged = np.zeros(len(self.n), np.bool_)
        for rule in rules:
            is_judged[rule_segments(rule, self.counted_frame)] = True
        is_finest = self.counted_frame.segment_margins() == 0
        names = self._names(self.is_absent & is_finest & ~is_judged)
        if names:
            raise InvalidInputError(
                "{} expected and without rows, and no rule applies to {}: {}. Give a rule without "
                "'where', such as 'n >= 1', or remove {} from {expect}.",
                "a segment is" if len(names) == 1 else f"{len(names)} segments are",
                "it" if len(names) == 1 else "them",
                _listed(names),
                "it" if len(names) == 1 else "them",
                expect=OPTION,
            )

    def _names(self, is_named: BoolArray) -> list[str]:
        """Describe segments by the values of their by-columns, once for all models."""
        frame = self.counted_frame
        cells = frame.cells.segments[1][is_named]
        return list(dict.fromkeys(frame.describe_segment(int(cell)) for cell in cells))

    def warn_of_unexpected(self) -> None:
        """Name the segments that are not expected."""
        names = self._names(self.is_unexpected)
        if names:
            warn(
                "{} not expected: {}. If {} should occur, add {} to {expect}.",
                "a segment is" if len(names) == 1 else f"{len(names)} segments are",
                _listed(names),
                "it" if len(names) == 1 else "they",
                "it" if len(names) == 1 else "them",
                expect=OPTION,
            )


def _undefined_disparity(rule: int, segments: Int64Array) -> Evidence:
    nan = np.full(1, np.nan)
    return Evidence(rule, segments[:1], nan, nan, nan, np.zeros(1, np.bool_), is_disparity=True)


def gone_since_baseline(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Mark the segments that only the baseline has, which it is evidence that are expected."""
    return [
        item if item.baseline_scores is None else replace(item, is_absent=_is_gone(item))
        for item in evidence
    ]


def _listed(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _MAX_NAMED} more"] if len(names) > _MAX_NAMED else []
    return "; ".join([*names[:_MAX_NAMED], *more])


def _is_gone(evidence: Evidence) -> BoolArray:
    """Return whether only the baseline has rows."""
    scores = evidence.baseline_scores
    if scores is None:
        return np.zeros(len(evidence.segments), np.bool_)
    return np.asarray((scores.n == 0) & (scores.baseline_n > 0))
