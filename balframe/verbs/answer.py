"""From a frame to an answer: read its cells, compute columns, build a frame of the same library."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import polars as pl

from balframe.errors import InvalidInputError, listed
from balframe.frames import in_polars
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MARGIN, MODEL, Query, query
from balframe.frames.read import Reading, read, read_reduced
from balframe.frames.recognise import library_of
from balframe.frames.reduce import reduce

Names = Any  # a name, or a list of names; a name is any hashable value
Missing = Literal["raise", "drop"]
Margins = Literal[False, "overall", "all"]
Columns = Mapping[Name, Any]
Compute = Callable[[Reading], Columns]


def answer(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    compute: Compute,
    outputs: Callable[[Query], Iterable[Name]],
    **options: Any,  # noqa: ANN401
) -> FrameT:
    """Run a verb: `compute` turns cells into columns, `outputs` tells their names beforehand.

    On a lazy frame the reduction stays a query of the engine and the rest runs at `collect`. The
    schema comes from the same verb on no rows, which also checks names and types at once.
    """
    if isinstance(frame, pl.LazyFrame):
        empty = frame.collect_schema().to_frame()
        schema = answer(empty, y_true, y_pred, compute, outputs, **options).schema
        asked = query(empty, in_polars, y_true, y_pred, **options)
        dtypes = {name: empty.schema[name] for name in asked.label_columns}

        def finish(cells: pl.DataFrame) -> pl.DataFrame:
            return in_polars.build(compute(read_reduced(cells, dtypes, asked)))

        return reduce(frame, asked).map_batches(
            finish,
            schema=schema,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )
    library = library_of(frame)
    asked = query(frame, library, y_true, y_pred, **options)
    _check_names(asked, outputs(asked))
    built: FrameT = library.build(compute(read(frame, library, asked)))
    return built


def _check_names(query: Query, outputs: Iterable[Name]) -> None:
    own = {MARGIN} if query.margins is not False else set()
    own |= {MODEL} if query.several else set()
    names = [*query.by, *own, *outputs]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(
            f"the output has columns of its own named {listed(map(repr, twice))}, which "
            "is also the name of a column given; rename that column first, as in "
            f"df.rename(...), for example to {twice[0] + '_'!r}."
        )
