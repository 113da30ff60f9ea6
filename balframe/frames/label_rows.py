"""Make one row per item and label of a frame that has columns for each label."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from balframe.errors import NAME, InvalidInputError, listed
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import STREAMS, find_engine
from balframe.frames.engines.weighted_sums import column_expr
from balframe.frames.query import check_are_columns

ITEM, LABEL = "item", "label"


def stack_labels(
    frame: Any,  # noqa: ANN401
    columns_by_role: Mapping[str, Sequence[Name]],
    labels: Sequence[str],
    item: Name | None,
) -> Any:  # noqa: ANN401
    """Return the rows of all labels, those of the first label first, in the library of the frame.

    Parameters
    ----------
    frame : frame of any library except streams
        One row per item.
    columns_by_role : mapping of lists of names
        The columns of each role, `y_true` for example, one for each label. In the result, they
        share the column with the name of the role.
    labels : list of str
        Value of the column `label` for each of them.
    item : name or None
        Column that identifies items. None numbers the rows in a column `item`.
    """
    native, wrap = unwrap(frame)
    engine = find_engine(native)
    if engine in STREAMS:
        raise InvalidInputError(
            "streams, readers and datasets are read once, but every label needs the rows; read "
            "them into a table first."
        )
    rows: Any = nw.from_native(native)
    schema = rows.collect_schema()
    used = [name for names in columns_by_role.values() for name in names]
    check_are_columns(used if item is None else [*used, item], schema)
    kept = [name for name in schema if name not in used]
    added = [*([ITEM] if item is None else []), LABEL, *columns_by_role]
    if clash := [name for name in added if name in kept]:
        raise InvalidInputError(
            "the result has the new columns {}, and the frame already has {}; rename or drop it.",
            listed(map(repr, added)),
            listed(map(repr, clash)),
        )
    if item is None:
        if isinstance(rows, nw.LazyFrame) and not rows.implementation.is_polars():
            raise InvalidInputError(
                "rows of {} have no order to number them by; give {item}, the name of a column "
                "that identifies them.",
                engine.name,
                item=NAME,
            )
        is_lazy = isinstance(rows, nw.LazyFrame)  # of polars
        rows = nw.from_native(native.with_row_index(ITEM)) if is_lazy else rows.with_row_index(ITEM)
        kept = [ITEM, *kept]
    casts = {role: _common_type(schema, role, names) for role, names in columns_by_role.items()}

    def rows_of(position: int) -> Any:  # noqa: ANN401
        """Return the rows of a label."""
        label = nw.lit(labels[position], nw.String()).alias(LABEL)
        columns = []
        for role, names in columns_by_role.items():
            column, dtype = column_expr(names[position]), casts[role]
            columns.append((column if dtype is None else column.cast(dtype)).alias(role))
        return rows.select(*map(column_expr, kept), label, *columns)

    stacked = nw.concat([rows_of(position) for position in range(len(labels))])
    return wrap(nw.maybe_reset_index(stacked).to_native())


def _common_type(schema: nw.Schema, role: str, names: Sequence[Name]) -> Any:  # noqa: ANN401
    """Return the type to which the columns of a role are cast, None where they have one type."""
    types = {name: schema[name] for name in names}  # type: ignore[index]
    has_decimals = nw.Decimal in types.values()  # whose digits narwhals 2.0 leaves out
    if len({*types.values()}) == 1 and not (has_decimals and len(types) > 1):
        return None
    if all(dtype.is_numeric() for dtype in types.values()):
        return nw.Int64() if all(dtype.is_integer() for dtype in types.values()) else nw.Float64()
    texts = [f"{name!r} {dtype}" for name, dtype in types.items()]
    raise InvalidInputError(
        "the columns of {} have several types: {}. Cast them to one.", role, listed(texts)
    )
