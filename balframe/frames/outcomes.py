"""Outcomes without a truth: rows that pass or fail, each of which is expected to pass.

The expectation is one more column, whose value is the outcome of a row that passes. So everything
that counts true and predicted labels counts outcomes too.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw

from balframe.core.label_set import Label, label_kind
from balframe.errors import NAME, OPTION, InvalidInputError, listed
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.inputs import InputFrame, unwrap
from balframe.frames.query import EXPECTED, ExpectedOutcome, check_are_columns


def expect_outcome(
    frame: Any,  # noqa: ANN401 (of any library)
    outcomes: Sequence[Name],
    pos_label: Label | None,
) -> tuple[Any, ExpectedOutcome]:
    """Add the column of expected outcomes to a frame, and return its name too."""
    expected = ExpectedOutcome(_free_name(InputFrame.open(frame).column_names))
    return add_expected(frame, expected, outcomes, pos_label), expected


def add_expected(
    frame: Any,  # noqa: ANN401 (of any library)
    expected: ExpectedOutcome,
    outcomes: Sequence[Name],
    pos_label: Label | None,
) -> Any:  # noqa: ANN401
    """Add the column of expected outcomes, of this name, to a frame of rows."""
    data = InputFrame.open(frame)
    check_are_columns(outcomes, data.column_names)
    passed = _passed(data.schema, data.adapter, outcomes, pos_label)
    if isinstance(data.native, ArrowStream):
        return data.rewrap(_stream_with(data.native, expected, passed))
    column = nw.lit(passed).alias(expected)
    return data.rewrap(nw.from_native(data.native).with_columns(column).to_native())


def expect_outcome_of_cells(
    cells: Any,  # noqa: ANN401 (a frame of pandas or polars)
    outcome: Name,
    expected: ExpectedOutcome,
    pos_label: Label | None,
) -> Any:  # noqa: ANN401
    """Add the column to cells, a result of `confusion`, before that of the outcomes."""
    native, rewrap = unwrap(cells)
    data = InputFrame.open(native)
    passed = _passed(data.schema, data.adapter, [outcome], pos_label)
    frame = nw.from_native(native)
    names = list(frame.collect_schema().names())
    position = names.index(outcome)
    with_truth = frame.with_columns(nw.lit(passed).alias(expected))
    order = [*names[:position], str(expected), *names[position:]]
    return rewrap(with_truth.select(order).to_native())


def without_truth(
    result: Any,  # noqa: ANN401
    expected: ExpectedOutcome,
) -> Any:  # noqa: ANN401
    """Drop the column of the truth from a result."""
    native, rewrap = unwrap(result)
    frame = nw.from_native(native, pass_through=True)
    if frame is native:  # a chart
        return result
    has_truth = str(expected) in frame.collect_schema().names()
    return rewrap(frame.drop(str(expected)).to_native()) if has_truth else result


def check_outcomes(counted_frame: CountedFrame) -> None:
    """Raise if a column of outcomes has a third value."""
    query, labels = counted_frame.query, counted_frame.labels
    if not isinstance(query.y_true, ExpectedOutcome) or len(labels) <= 2:
        return
    several = len(query.y_pred) > 1
    raise InvalidInputError(
        "column{} {} given as {outcome} and {} {} values: {}. An outcome has two; make a column "
        "that is true where a row passes.",
        "s" * several,
        f"{listed(map(repr, query.y_pred))} {'are' if several else 'is'}",
        "have together" if several else "has",
        len(labels),
        labels,
        outcome=NAME,
    )


def _passed(
    schema: Frame, adapter: Adapter, outcomes: Sequence[Name], pos_label: Label | None
) -> Label:
    """Return the value of an outcome that passes: the `pos_label`, or else true or 1."""
    if pos_label is not None:
        label_kind(pos_label)
        return pos_label
    kinds = {name: adapter.label_kind(schema, name) for name in outcomes}
    others = [name for name, kind in kinds.items() if kind not in ("number", None)]
    if others:
        raise InvalidInputError(
            "column {!r} is given as {outcome} and is neither 0 and 1 nor false and true; give "
            "{pos_label}, the value of a row that passes.",
            others[0],
            outcome=NAME,
            pos_label=OPTION,
        )
    types = nw.from_native(schema).collect_schema()
    return True if all(types[str(name)] == nw.Boolean for name in outcomes) else 1


def _free_name(names: Sequence[Name]) -> str:
    name = EXPECTED
    while name in names:
        name += "_"
    return name


def _stream_with(stream: ArrowStream, name: str, value: Label) -> Any:  # noqa: ANN401
    """Return a reader of the batches of a stream with one more column, of one value."""
    import pyarrow as pa

    column = pa.scalar(value)
    schema = stream.schema.append(pa.field(name, column.type))

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in stream.reader(list(stream.schema.names)):
            values = pa.repeat(column, batch.num_rows)
            yield pa.RecordBatch.from_arrays([*batch.columns, values], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())
