"""From scores, rounded as a caller asks, to an answer."""

from collections.abc import Callable, Mapping
from typing import Any

from balframe.api.method import Verb
from balframe.api.run import Columns, answer
from balframe.frames.adapter import FrameT
from balframe.frames.query import Query, Reads
from balframe.frames.scores import Scored
from balframe.frames.sources import Scores
from balframe.frames.thresholds import Thresholds

_READS = Reads(scores=True, coarser="resolution")


def answer_from_scores(
    frame: FrameT,
    verb: Verb,
    given: Mapping[str, Any],
    compute: Callable[[Scored], Columns],
    *,
    check: Callable[[Query], None] = lambda query: None,
) -> FrameT:
    """Run a verb that takes the option `resolution`, as `answer` does."""
    source = Scores(Thresholds.rounding(given["resolution"]))
    return answer(frame, verb, given, compute, reads=_READS, source=source, check=check)
