"""Draw rows of a frame at random: the same ones in any order of the rows, and with any library."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import narwhals as nw

from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import is_null
from balframe.frames.engines.inputs import read_streams, unwrap
from balframe.frames.query import check_are_columns

Stratum = tuple[object, ...]


def draw_unlabelled(
    frame: Any,  # noqa: ANN401 (of any library)
    y_true: Name,
    key: Name,
    columns: Sequence[Name],
    labels_needed: Mapping[Stratum, int],
    seed: int,
) -> Any:  # noqa: ANN401
    """Return the rows to be labelled, so that each stratum has the labels needed.

    Rows of a stratum are in the order of a hash of their key and the seed. The first without a
    true label are drawn.
    """
    native, wrap = unwrap(read_streams(frame))
    rows: Any = nw.from_native(native)
    rows = rows.collect() if isinstance(rows, nw.LazyFrame) else rows
    check_are_columns((key, y_true, *columns), rows.columns)
    keys = [_value(value) for value in rows[str(key)].to_list()]
    _check_keys(keys, key)
    strata = zip(*(map(_value, rows[str(name)].to_list()) for name in columns), strict=True)
    lacks_label = [is_null(value) for value in rows[str(y_true)].to_list()]
    missing = dict(labels_needed)
    candidates: dict[Stratum, list[int]] = {stratum: [] for stratum in missing}
    for position, (stratum, is_open) in enumerate(zip(strata, lacks_label, strict=True)):
        if stratum not in missing:
            continue
        if is_open:
            candidates[stratum].append(position)
        else:
            missing[stratum] -= 1
    is_drawn = [False] * len(keys)
    for stratum, positions in candidates.items():
        positions.sort(
            key=lambda at: blake2b(f"{seed}\0{keys[at]}".encode(), digest_size=16).digest()
        )
        for position in positions[: max(missing[stratum], 0)]:
            is_drawn[position] = True
    return wrap(rows.filter(is_drawn).to_native())


def stratum_of(values: Sequence[object]) -> Stratum:
    """Return the values of a stratum, with None for the null of any library."""
    return tuple(map(_value, values))


def _value(value: object) -> object:
    return None if is_null(value) else value


def _check_keys(keys: Sequence[object], name: Name) -> None:
    """Raise unless each row has a key of its own."""
    if None in keys or len({*keys}) < len(keys):
        problem = "has nulls" if None in keys else "has the same value in several rows"
        raise InvalidInputError(
            "{key} {}, so it does not identify rows. Name a column with a value of its own in "
            "each row.",
            problem,
            key=name,
        )
