"""Models in rows: one row for each item and model, joined to one row for each item."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np

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
from balframe.frames.query import ADDED, check_are_columns
from balframe.frames.thresholds import float_type

_MAX_MODELS = 50  # each is one more join
_N_ROWS, _N_VALUES, _MOST = (f"{ADDED}{name}" for name in ("rows", "values", "most"))


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
    `others` are columns of the item, and `by` those of them that give its segment. The baseline,
    if it is given, is the first model.
    """

    model: Name
    keys: tuple[Name, ...]
    value: Name
    others: tuple[Name, ...]
    by: tuple[Name, ...] = ()
    baseline: object = None

    def join(self, frame: Any) -> tuple[Any, list[str]]:  # noqa: ANN401 (of any library)
        """Return a frame with one row for each item that all models have, and their names.

        It has a column of results for each model, named after it. `others` are those of the first
        model, in sorted order. Warns of rows of items that a model lacks, and of items that are in
        several segments.
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
            short = float_type(data.adapter.dtype(eager, self.model))
            texts = {value: _model_text(value, short) for value in n_rows}
            names = {value: texts[value] for value in self._in_order(texts)}
            self._check_names([*names.values()], ignores_case=is_lazy and ignores_case(rows))
            joined = self._joined(rows, names)
            n_kept = _collected(joined.select(nw.len().alias("n")))["n"][0]
            n_differing = self._n_differing(rows, len(names))
        left_out = {names[value]: n - n_kept for value, n in n_rows.items() if n > n_kept}
        if left_out:
            warn(
                "rows of items that a model lacks are left out: {}. Rows of each model that are "
                "compared: {}.",
                listed(f"{n} of {name!r}" for name, n in left_out.items()),
                n_kept,
            )
        self._check_same_in_all(n_differing, n_kept, next(iter(names.values())))
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
        per_item = rows.group_by(model, *keys).agg(nw.len().alias(_N_ROWS))
        by_model = per_item.group_by(model).agg(
            nw.col(_N_ROWS).sum().alias(_N_ROWS), nw.col(_N_ROWS).max().alias(_MOST)
        )
        schema = rows.collect_schema()
        floats = [name for name in (model, *keys) if schema[name].is_float()]
        has_null = nw.any_horizontal(
            *(nw.col(name).is_null() for name in (model, *keys)),
            *(nw.col(name).is_nan() for name in floats),
            ignore_nulls=True,
        )
        n_null = _collected(rows.filter(has_null).select(nw.len().alias("n")))["n"][0]
        if n_null:
            raise InvalidInputError(
                "{} rows have no value in {}, so it is unknown which belong together; drop them.",
                n_null,
                listed(map(repr, (model, *keys))),
            )
        models = _collected(by_model)
        repeated = [value for value, n in zip(models[model], models[_MOST], strict=True) if n > 1]
        if repeated:
            raise self._repeated_error(rows, sorted(map(str, repeated))[0])
        return dict(zip(models[model], models[_N_ROWS], strict=True))

    def _n_differing(self, rows: Any, n_models: int) -> Mapping[Name, int]:  # noqa: ANN401
        """Count the items that all models have, and that have several values in a column."""
        counts: dict[Name, int] = {}
        for name in (name for name in self.others if not str(name).startswith(ADDED)):
            per_item = _values_per_group(rows, self.keys, name)
            is_complete, differs = nw.col(_N_ROWS) == n_models, nw.col(_N_VALUES) > 1
            n = per_item.filter(is_complete & differs).select(nw.len().alias(_N_ROWS))
            counts[name] = _collected(n)[_N_ROWS][0]
        return counts

    def _check_same_in_all(self, n_differing: Mapping[Name, int], n: int, first: str) -> None:
        """Raise if items have several values of a column, or warn if these are segments."""
        for name, n_items in n_differing.items():
            if n_items and name not in self.by:
                raise InvalidInputError(
                    "column {!r} differs between models in {} of {} items, but an item has one "
                    "value of it. Give all rows of an item the same value.",
                    name,
                    f"{n_items:,}",
                    f"{n:,}",
                )
            if n_items:
                warn(
                    "column {!r} differs between models in {} of {} items: such an item is counted "
                    "with its value of model {!r}.",
                    name,
                    f"{n_items:,}",
                    f"{n:,}",
                    first,
                )

    def _repeated_error(self, rows: Any, first: str) -> InvalidInputError:  # noqa: ANN401
        """Return the error for a model with several rows of an item, and what may be their use."""
        model, *keys = (str(name) for name in (self.model, *self.keys))
        differing = []
        for name in self.others:
            n_values = _values_per_group(rows, (model, *keys), name)
            if _collected(n_values.select(nw.col(_N_VALUES).max()))[_N_VALUES][0] > 1:
                differing.append(str(name))
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

    def _in_order(self, models: Mapping[Any, str]) -> Sequence[Any]:
        """Return the models in sorted order, the baseline first; raise if it is none of them."""
        for value in models:  # objects of pandas
            if not isinstance(value, (str, Number, date)) or isinstance(value, datetime):
                raise self._unusable_names(type(value).__name__)
        values = sorted(models, key=lambda value: (type(value).__name__, value))
        if self.baseline is None:
            return values
        first = [v for v in values if self.baseline == v or str(self.baseline) == models[v]]
        if not first:
            raise not_found("model", self.baseline, values)
        return [*first, *(value for value in values if value not in first)]

    def _check_names(self, names: Sequence[str], *, ignores_case: bool) -> None:
        """Raise if there are not two models, too many, or two columns of one name."""
        if not 2 <= len(names) <= _MAX_MODELS:
            raise InvalidInputError(
                "column {!r} names {} model{}, but compare needs 2 to {}.",
                self.model,
                len(names),
                "s" * (len(names) != 1),
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


def _model_text(value: object, short: np.dtype[Any]) -> str:
    """Return the name of a model: -0.0 is 0.0, 1.50 is 1.5, and 0.1 of 32 bits is 0.1."""
    if isinstance(value, Decimal):
        text = f"{value or 0:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(short.type(value + 0.0) if isinstance(value, float) else value)


def _values_per_group(rows: Any, keys: Sequence[Name], name: Name) -> Any:  # noqa: ANN401
    """Count the rows of each group, and the values of a column there; null and NaN are one.

    On Dask, narwhals 2 adds up `n_unique` of the partitions, so values are grouped instead.
    """
    column = nw.col(str(name))
    if rows.collect_schema()[str(name)].is_float():
        rows = rows.with_columns(nw.when(~column.is_nan()).then(column).alias(str(name)))
    names = [*map(str, keys)]
    per_value = rows.group_by(*names, str(name)).agg(nw.len().alias(_N_ROWS))
    n_rows = nw.col(_N_ROWS).sum().alias(_N_ROWS)
    return per_value.group_by(*names).agg(n_rows, nw.len().alias(_N_VALUES))


def _collected(frame: Any) -> Mapping[str, Sequence[Any]]:  # noqa: ANN401
    """Return the columns of a small frame as lists."""
    eager = frame.collect("polars") if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager[name].to_list() for name in eager.columns}
