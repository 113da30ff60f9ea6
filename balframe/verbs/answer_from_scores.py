"""From scores, rounded as a caller asks, to an answer."""

from collections.abc import Callable, Mapping
from typing import Any

from balframe.frames.library import FrameT
from balframe.frames.query import Query, Reads
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds
from balframe.verbs.answer import Columns, answer
from balframe.verbs.declaration import Verb

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
