"""From a frame to an answer: read its cells, compute columns, build a frame of the same library."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from balframe.errors import InvalidInputError, check_choice, listed
from balframe.frames.deliver import BACKENDS, deliver
from balframe.frames.engines.lazy import finish_later, finish_now
from balframe.frames.engines.supported import POLARS_LAZY, engine_of, in_memory, without_rows
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Options, Query, query
from balframe.frames.source import Labels, Source

Names = Any  # a name, or a list of names; a name is any hashable value
Missing = Literal["raise", "drop"]
Margins = Literal[False, "overall", "all"]
Backend = Literal["pandas", "polars", "pyarrow"] | None
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

    On a lazy frame the reduction is a query of the engine. The same verb on no rows comes first: it
    checks names and types before any work, and gives a LazyFrame of polars its schema.
    """
    check_choice("backend", options.backend, (None, *BACKENDS))
    engine = engine_of(frame)
    library = engine.library
    head = without_rows(frame, engine)
    asked = query(head, library, options)
    _check_names(asked, outputs(asked))
    if not engine.is_lazy:
        built = library.build(compute(source.read(in_memory(frame, engine, asked), library, asked)))
    else:
        like = library.build(compute(source.read(head, library, asked)))
        if engine is POLARS_LAZY and options.backend is None:
            later: FrameT = finish_later(frame, engine, asked, source, compute, like)
            return later
        built = finish_now(frame, engine, asked, source, compute)
    delivered: FrameT = deliver(built, options.backend or engine.answer, frame, engine)
    return delivered


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
