"""From a frame to an answer: read its cells, compute columns, build a frame of the same library."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from balframe.errors import InvalidInputError, listed
from balframe.frames.lazy import finish_later, is_lazy, without_rows
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Options, Query, query
from balframe.frames.recognise import library_of
from balframe.frames.source import Labels, Source

Names = Any  # a name, or a list of names; a name is any hashable value
Missing = Literal["raise", "drop"]
Margins = Literal[False, "overall", "all"]
Columns = Mapping[Name, Any]
Compute = Callable[[Any], Columns]

_LABELS = Labels()


def answer(
    frame: FrameT,
    options: Options,
    compute: Compute,
    outputs: Callable[[Query], Iterable[Name]],
    source: Source = _LABELS,
) -> FrameT:
    """Run a verb: `compute` turns cells into columns, `outputs` tells their names beforehand.

    `outputs` leaves out `margin` and `model`, which no verb adds by itself.

    On a lazy frame the reduction stays a query of the engine and the rest runs at `collect`. The
    schema comes from the same verb on no rows, which also checks names and types at once.
    """
    if is_lazy(frame):
        empty = without_rows(frame)
        like = answer(empty, options, compute, outputs, source)
        asked = query(empty, library_of(empty), options)
        later: FrameT = finish_later(frame, asked, source, compute, like)
        return later
    library = library_of(frame)
    asked = query(frame, library, options)
    _check_names(asked, outputs(asked))
    built: FrameT = library.build(compute(source.read(frame, library, asked)))
    return built


def _check_names(query: Query, outputs: Iterable[Name]) -> None:
    names = [*query.added, *outputs]
    taken = {name for name in query.added if name in query.by}
    twice = sorted({str(name) for name in names if names.count(name) > 1 or name in taken})
    if twice:
        raise InvalidInputError(
            f"the output would have more than one column named {listed(map(repr, twice))}: columns "
            "given have to differ from each other and from the output's own columns. Rename one "
            f"first, as in df.rename(...), for example to {twice[0] + '_'!r}."
        )
