"""Models in rows: one row for each item and model, joined to one row for each item."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Number
from typing import Any

import narwhals as nw

from balframe.errors import (
    NAME,
    InvalidInputError,
    Message,
    UnsupportedTypeError,
    listed,
    not_found,
    warn,
)
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.count_frame import encode_columns
from balframe.frames.engines.column_names import ignores_case
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import InputFrame, read_streams
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import PYARROW
from balframe.frames.query import check_are_columns

_MAX_MODELS = 50  # each is one more join


class ModelColumn(str):
    """The name of the column of a model's results; messages name the caller's column, too."""

    __slots__ = ("value",)
    value: Name

    def __new__(cls, model: str, value: Name) -> "ModelColumn":
        """Name a column after a model, with its results in the caller's column `value`."""
        column = super().__new__(cls, model)
        column.value = value
        return column

    def __repr__(self) -> str:
        """Return what a message calls the column."""
        return f"{self.value!r} of model {str(self)!r}"


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The columns of a frame whose rows are the results of one model on one item.

    `model` has the model and `keys` are the items, and trials of them; `value` is the result, and
    `others` are columns of the item. The baseline, if it is given, is the first model.
    """

    model: Name
    keys: tuple[Name, ...]
    value: Name
    others: tuple[Name, ...]
    baseline: object = None

    def join(self, frame: Any) -> tuple[Any, list[str]]:  # noqa: ANN401 (of any library)
        """Return a frame with one row for each item that all models have, and their names.

        It has a column of results for each model, named after it. `others` are those of the first
        model, in sorted order. Warns of rows of items that a model lacks.
        """
        data = InputFrame.open(read_streams(frame))
        columns = (self.model, *self.keys, self.value, *self.others)
        check_are_columns(columns, data.column_names)
        data.check_types(columns)
        with engine_lock(data.native), translate_errors(data.native):
            is_lazy = data.engine.is_lazy
            eager = data.schema if is_lazy else data.eager_rows(dict.fromkeys(columns))
            self._check_types(eager, data.adapter)
            rows: Any = data.lazy_rows if is_lazy else nw.from_native(eager)
            n_rows = self._rows_by_model(rows)
            names = {value: str(value) for value in self._in_order(n_rows)}
            self._check_names([*names.values()], ignores_case=is_lazy and ignores_case(rows))
            joined = self._joined(rows, names)
            n_kept = _collected(joined.select(nw.len().alias("n")))["n"][0]
        left_out = {names[value]: n - n_kept for value, n in n_rows.items() if n > n_kept}
        if left_out:
            warn(
                "{} rows of items that a model lacks are left out: {}. {} rows of each model are "
                "compared.",
                sum(left_out.values()),
                listed(f"{n} of {name!r}" for name, n in left_out.items()),
                n_kept,
            )
        wide = joined.to_native()
        if data.engine is PYARROW:  # of which polars reads the rows: it compares all types
            wide = wide.to_arrow()
        return data.rewrap(wide), [ModelColumn(name, self.value) for name in names.values()]

    def _check_types(self, rows: Frame, adapter: Adapter) -> None:
        """Raise if values of items cannot be grouped, or those of models not be shown as names."""
        encode_columns(rows, (self.model, *self.keys), adapter)
        kind: str | None = None
        with suppress(UnsupportedTypeError):
            kind = adapter.label_kind(rows, self.model) or "object"
        if kind not in {"string", "number", "date", "object"}:
            raise self._unusable_names(adapter.dtype(rows, self.model))

    def _unusable_names(self, dtype: object) -> UnsupportedTypeError:
        return UnsupportedTypeError(
            f"column {self.model!r} has the type {dtype}, which cannot name models: they are named "
            "by texts, numbers, booleans or dates. Cast it to text first."
        )

    def _rows_by_model(self, rows: Any) -> Mapping[Any, int]:  # noqa: ANN401
        """Count the rows of each model; raise if a model has an item twice."""
        model, *keys = (str(name) for name in (self.model, *self.keys))
        per_item = rows.group_by(model, *keys).agg(nw.len().alias("n_rows"))
        by_model = per_item.group_by(model).agg(
            nw.col("n_rows").sum().alias("n"), nw.col("n_rows").max().alias("most")
        )
        has_null = nw.any_horizontal(
            *(nw.col(name).is_null() for name in (model, *keys)), ignore_nulls=True
        )
        n_null = _collected(rows.filter(has_null).select(nw.len().alias("n")))["n"][0]
        if n_null:
            raise InvalidInputError(
                "{} rows have no value in {}, so it is unknown which belong together; drop them.",
                n_null,
                listed(map(repr, (model, *keys))),
            )
        models = _collected(by_model)
        repeated = [value for value, n in zip(models[model], models["most"], strict=True) if n > 1]
        if repeated:
            raise self._repeated_error(rows, sorted(map(str, repeated))[0])
        return dict(zip(models[model], models["n"], strict=True))

    def _repeated_error(self, rows: Any, first: str) -> InvalidInputError:  # noqa: ANN401
        """Return the error for a model with several rows of an item, and what may be their use."""
        model, *keys = (str(name) for name in (self.model, *self.keys))
        others = [str(name) for name in self.others]
        n_values = rows.group_by(model, *keys).agg(nw.col(name).n_unique() for name in others)
        most = _collected(n_values.select(nw.col(name).max() for name in others)) if others else {}
        differing = [name for name in others if most[name][0] > 1]
        advice: str | Message = "keep one row of each"
        if differing:
            advice = Message(
                "an item has one value of {}, so {}, or give each of its rows an item of its own",
                listed(map(repr, differing)),
                advice,
            )
        elif len(keys) == 1:
            advice = Message(
                "name a second column in {item}, which numbers the trials of an item, or {}",
                advice,
                item=NAME,
            )
        return InvalidInputError(
            "model {!r} has several rows with the same {}; {}.",
            first,
            " and ".join(map(repr, keys)),
            advice,
        )

    def _in_order(self, models: Mapping[Any, int]) -> Sequence[Any]:
        """Return the models in sorted order, the baseline first; raise if it is none of them."""
        for value in models:  # objects of pandas
            if not isinstance(value, (str, Number, date)) or isinstance(value, datetime):
                raise self._unusable_names(type(value).__name__)
        values = sorted(models, key=lambda value: (type(value).__name__, value))
        if self.baseline is None:
            return values
        first = [value for value in values if self.baseline in (value, str(value))]
        if not first:
            raise not_found("model", self.baseline, values)
        return [*first, *(value for value in values if value not in first)]

    def _check_names(self, names: Sequence[str], *, ignores_case: bool) -> None:
        """Raise if there are not two models, too many, or two columns of one name."""
        if not 2 <= len(names) <= _MAX_MODELS:
            raise InvalidInputError(
                "column {!r} names {} models, but compare needs 2 to {}.",
                self.model,
                len(names),
                _MAX_MODELS,
            )
        columns: dict[str, list[str]] = {}
        for name in (*dict.fromkeys(map(str, (*self.keys, *self.others))), *names):
            columns.setdefault(name.lower() if ignores_case else name, []).append(name)
        same = [both for both in columns.values() if len(both) > 1]
        if same:
            raise InvalidInputError(
                "each model becomes a column, and two would be named {}; rename a model in {!r}, "
                "or a column.",
                listed(map(repr, same[0])),
                self.model,
            )

    def _joined(self, rows: Any, names: Mapping[Any, str]) -> Any:  # noqa: ANN401
        keys, others = [*map(str, self.keys)], [*map(str, self.others)]
        joined = None
        for value, name in names.items():
            own = rows.filter(nw.col(str(self.model)) == value)
            result = nw.col(str(self.value)).alias(name)
            if joined is None:
                joined = own.select(*keys, *others, result)
            else:
                joined = joined.join(own.select(*keys, result), on=keys, how="inner")
        return joined


def _collected(frame: Any) -> Mapping[str, Sequence[Any]]:  # noqa: ANN401
    """Return the columns of a small frame as lists."""
    eager = frame.collect("polars") if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager[name].to_list() for name in eager.columns}
