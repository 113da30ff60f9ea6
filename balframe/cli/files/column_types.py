"""The types of columns of text: what a column is for decides, never what its values look like.

A column that names things keeps its texts: 1.1 and 1.10 are two versions, 02134 is no number. It
holds whole numbers only where each is written as Python writes it, so that no text is lost. Labels
may also be true and false. Scores, weights and counts are numbers. `--type` decides otherwise.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

import polars as pl

from balframe.api.columns import PREDICTED_OF_MODELS
from balframe.cli.files.csv_dialect import N_ROWS_INFERRED, literal_column
from balframe.errors import InvalidInputError, listed, warn
from balframe.frames.query import MODEL

NAMED_TYPES: Mapping[str, pl.DataType] = {  # as --type has them
    "str": pl.String(),
    "int": pl.Int64(),
    "float": pl.Float64(),
    "bool": pl.Boolean(),
    "date": pl.Date(),
}
_TYPE_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "date": "a date as in 2026-03-31",
}
_TRUTH = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})  # one writing of all values
_ZERO_FIRST = r"^[+-]?0\d"  # of codes such as 02134
_MAX_OTHERS = 20  # texts of a column that are looked at


@dataclass(frozen=True, slots=True)
class Roles:
    """What columns are for: `labels` are compared with the first of them, `groups` name segments.

    Other columns that a command names have names too, except for `numbers`. Ranges of numbers are
    `searched` for, in all other columns if `searches_all`. `types` are those of --type.
    """

    labels: Sequence[str] = ()
    groups: Collection[str] = ()
    numbers: Collection[str] = ()
    searched: Collection[str] = ()
    searches_all: bool = False
    types: Mapping[str, str] = field(default_factory=dict)

    def name_columns(self, columns: Iterable[str]) -> list[str]:
        """List those of `columns` whose values are names, and whose type is not given."""
        names = dict.fromkeys([*columns, *self.labels, *self.groups])
        return [name for name in names if name not in self.numbers and name not in self.types]

    def of_cells(self) -> "Roles":
        """Return the roles that columns have in cells, too, which may have those of models."""
        labels, groups = (*self.labels, PREDICTED_OF_MODELS), (*self.groups, MODEL)
        return replace(self, labels=labels, groups=groups)

    def text_columns(self, columns: Iterable[str], header: Sequence[str]) -> tuple[str, ...]:
        """List the columns that are read as texts first."""
        typed = (name for name, kind in self.types.items() if kind != "float")
        numbers = {*self.numbers, *self.types}
        others = (name for name in header if self.searches_all and name not in numbers)
        return (*self.name_columns(columns), *typed, *others)


NO_ROLES = Roles()


def read_types(texts: Iterable[str]) -> dict[str, str]:
    """Read "version=str" for every column."""
    types: dict[str, str] = {}
    for text in texts:
        name, _, kind = text.rpartition("=")
        if not name or kind not in NAMED_TYPES:
            raise InvalidInputError(
                f"--type {text!r} is not valid; give a column and one of {listed(NAMED_TYPES)}, as "
                "in version=str."
            )
        if name in types:
            raise InvalidInputError(f"--type gives column {name!r} more than one type; give one.")
        types[name] = kind
    return types


def with_given_types(rows: pl.LazyFrame, types: Mapping[str, str]) -> pl.LazyFrame:
    """Give columns the types of --type; raise for a value that is none of its type."""
    schema = rows.collect_schema()
    values = {name: _converted(name, kind, schema[name]) for name, kind in types.items()}
    if not values:
        return rows
    invalid = [
        literal_column(name).filter(value.is_null() & literal_column(name).is_not_null()).first()
        for name, value in values.items()
    ]
    (first,) = rows.select(invalid).collect(engine="streaming").to_dicts()
    for name, value in first.items():
        if value is not None:
            raise InvalidInputError(
                f"column {name!r} holds {value!r}, which is not {_TYPE_WORDS[types[name]]}, the "
                f"type of --type {name}={types[name]}. Correct the value, or give another type."
            )
    return rows.with_columns(**values)


def _converted(name: str, kind: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as values of a type, null where they are none of it."""
    column, is_text = literal_column(name), dtype in (pl.String, pl.Categorical, pl.Enum)
    text = column.cast(pl.String).str.strip_chars()
    if kind == "str":
        return column.cast(pl.String)
    if kind == "bool" and dtype != pl.Boolean:
        lower = text.str.to_lowercase()
        is_true, is_false = lower.is_in(["true", "1", "1.0"]), lower.is_in(["false", "0", "0.0"])
        return pl.when(is_true).then(True).when(is_false).then(False).alias(name)
    if kind == "date":
        return text.str.to_date("%Y-%m-%d", strict=False) if is_text else column.cast(pl.Date)
    value = text if is_text else column
    if kind == "int":
        as_float = value.cast(pl.Float64, strict=False)
        whole = pl.when(as_float.round() == as_float).then(as_float)  # 1.0 is whole, 1.5 is not
        return pl.coalesce(
            *([] if dtype.is_float() else [value.cast(pl.Int64, strict=False)]),
            whole.cast(pl.Int64, strict=False),
        )
    return value.cast(NAMED_TYPES[kind], strict=False)


# Texts as the types that they are written as.


def without_null_words(
    rows: pl.LazyFrame, columns: Iterable[str], words: Sequence[str]
) -> tuple[pl.LazyFrame, list[str]]:
    """Read words as nulls in columns of text; and list the columns in which any occurs."""
    schema = rows.collect_schema()
    names = [name for name in dict.fromkeys(columns) if schema.get(name) == pl.String]
    if not words or not names:
        return rows, []
    has_words = rows.select(literal_column(name).is_in(words).any() for name in names).collect(
        engine="streaming"
    )
    changed = [name for name in names if has_words.item(0, name)]
    values = [
        pl.when(~literal_column(name).is_in(words)).then(literal_column(name)) for name in changed
    ]
    return rows.with_columns(values), changed


def read_numbers(
    rows: pl.LazyFrame, columns: Sequence[str], *, stay_distinct: bool = False
) -> pl.LazyFrame:
    """Read columns of texts as numbers, if all of the texts are, and stay distinct if required."""
    if not columns:
        return rows
    values = {
        (name, kind): _converted(name, kind, pl.String())
        for name in columns
        for kind in ("int", "float", "bool")
    }
    fit = [
        value.null_count() == literal_column(name).null_count()
        for (name, _), value in values.items()
    ]
    if stay_distinct:
        fit = [
            is_all & (value.n_unique() == text.n_unique()) & ~text.str.contains(_ZERO_FIRST).any()
            for is_all, ((name, _), value) in zip(fit, values.items(), strict=True)
            for text in [literal_column(name)]
        ]
    facts = rows.select(fact.alias(f"{i}") for i, fact in enumerate(fit))
    fits = dict(zip(values, facts.collect(engine="streaming").row(0), strict=True))
    kinds = dict(reversed([key for key in fits if fits[key]]))  # the first that fits
    return rows.with_columns(**{name: values[name, kind] for name, kind in kinds.items()})


@dataclass(frozen=True, slots=True)
class _Texts:
    """What a column of texts has: whole numbers as Python writes them, and some of the others."""

    others: Sequence[str]
    n_whole: int

    def dtype(self, *, are_labels: bool) -> pl.DataType:
        """Return the type that all of the texts are written as."""
        if self.n_whole and not self.others:
            return pl.Int64()
        is_truth = self.others and not self.n_whole and any(map({*self.others}.issubset, _TRUTH))
        return pl.Boolean() if is_truth and are_labels else pl.String()


def read_names(rows: pl.LazyFrame, columns: Sequence[str], labels: Sequence[str]) -> pl.LazyFrame:
    """Give columns of texts the types that all of their values are written as.

    Labels that share texts get one type. Raise where labels differ in writing alone.
    """
    schema = rows.collect_schema()
    columns = [name for name in columns if schema.get(name) == pl.String]
    labels = [name for name in dict.fromkeys(labels) if schema.get(name) == pl.String]
    if not columns:
        return rows
    texts = _texts(
        rows.select(map(literal_column, columns)).head(N_ROWS_INFERRED).collect().lazy(), columns
    )
    types = {name: texts[name].dtype(are_labels=name in labels) for name in columns}
    typed = [name for name in columns if types[name] != pl.String]
    if typed:  # by the first rows
        texts |= _texts(rows, typed)
        types |= {name: texts[name].dtype(are_labels=name in labels) for name in typed}
    scores = _scores(texts, labels)
    rows = read_numbers(rows, scores)  # which are refused as labels
    of_labels = {name: types.get(name, pl.String()) for name in labels if name not in scores}
    types |= _types_of_labels(rows, of_labels, texts)
    return rows.with_columns(
        literal_column(name).str.to_lowercase() == "true"
        if dtype == pl.Boolean
        else literal_column(name).cast(dtype)
        for name, dtype in types.items()
        if dtype != pl.String
    )


def warn_of_decimals(rows: pl.LazyFrame, columns: Sequence[str]) -> None:
    """Warn of columns that are searched as texts, although numbers would have ranges."""
    schema = rows.collect_schema()
    columns = [name for name in columns if schema.get(name) == pl.String]
    texts = _texts(
        rows.select(map(literal_column, columns)).head(N_ROWS_INFERRED).collect().lazy(), columns
    )
    for name, of_column in texts.items():
        if of_column.others and None not in map(_number, of_column.others):
            warn(
                f"column {name!r} holds texts such as {of_column.others[0]!r}, of which each is a "
                f"value of its own. Give {_type_option([name], 'float')} to search ranges of "
                f"numbers, or {_type_option([name], 'str')} to keep the texts."
            )


def first_types(rows: pl.LazyFrame, labels: Sequence[str]) -> dict[str, pl.DataType]:
    """Return the types of labels in the first rows, but of those that have numbers and others."""
    schema = rows.collect_schema()
    labels = [name for name in labels if schema.get(name) == pl.String]
    texts = _texts(
        rows.select(map(literal_column, labels)).head(N_ROWS_INFERRED).collect().lazy(), labels
    )
    return {
        name: of_label.dtype(are_labels=True)
        for name, of_label in texts.items()
        if bool(of_label.others) != bool(of_label.n_whole)
    }


def _texts(rows: pl.LazyFrame, columns: Sequence[str]) -> dict[str, _Texts]:
    facts = []
    for i, name in enumerate(columns):
        text = literal_column(name)
        is_whole = text.cast(pl.Int64, strict=False).cast(pl.String) == text  # null for null
        others = text.filter(~is_whole.fill_null(False) & text.is_not_null()).unique().sort()
        facts += [others.head(_MAX_OTHERS).implode().alias(f"others{i}")]
        facts += [is_whole.sum().alias(f"n{i}")]
    (row,) = rows.select(facts).collect(engine="streaming").to_dicts() if facts else ({},)
    return {name: _Texts(row[f"others{i}"], row[f"n{i}"]) for i, name in enumerate(columns)}


def _scores(texts: Mapping[str, _Texts], labels: Sequence[str]) -> list[str]:
    """List predictions that are numbers with a fraction, where the truth has none."""
    fractional = [
        name
        for name in labels
        if name in texts
        and any(number % 1 for number in map(_number, texts[name].others) if number)
    ]
    return fractional if labels and labels[0] not in fractional else []


def _types_of_labels(
    rows: pl.LazyFrame, types: Mapping[str, pl.DataType], texts: Mapping[str, _Texts]
) -> dict[str, pl.DataType]:
    """Return the types of labels: texts, if some are and others share a text with them."""
    written = [name for name, dtype in types.items() if dtype == pl.String]
    numbers = [name for name in types if name not in written]
    others = [text for name in types for text in (texts[name].others if name in texts else ())]
    if len(types) < 2 or not written or not (numbers or any(map(_number, others))):
        return {}
    distinct = {
        name: {
            *rows.select(literal_column(name).drop_nulls().unique()).collect(engine="streaming")[
                name
            ]
        }
        for name in types
    }
    if {*texts} >= {*types}:  # no type is given
        check_writing({f"column {name!r}": values for name, values in distinct.items()}, [*types])
    shared = set().union(*(distinct[name] for name in written))
    is_shared = any(shared & distinct[name] for name in numbers)
    return dict.fromkeys(numbers, pl.String()) if is_shared else {}


def check_writing(texts: Mapping[str, Collection[str]], columns: Sequence[str]) -> None:
    """Raise where texts of the first holder and of another are one number in two writings."""
    (first, own), *others = texts.items()
    for holder, values in others:
        by_number = [_by_number(side) for side in (own, values)]
        for number in sorted(by_number[0].keys() & by_number[1].keys()):
            here, there = (side[number] for side in by_number)
            if not here & there:
                raise InvalidInputError(
                    f"{first} holds {min(here)!r}, and {holder} holds {min(there)!r}, which are "
                    "two names, although one number. Give "
                    f"{_type_option(columns, 'int')} if they are numbers, or "
                    f"{_type_option(columns, 'str')} if they are names."
                )


def _type_option(columns: Iterable[str], kind: str) -> str:
    """Return what to type for columns to have a type."""
    return " ".join(f"--type {shlex.quote(f'{name}={kind}')}" for name in columns)


def _by_number(texts: Iterable[str]) -> dict[Decimal, set[str]]:
    """Group texts that are numbers by their number."""
    groups: dict[Decimal, set[str]] = {}
    for text in texts:
        number = _number(text)
        if number is not None:
            groups.setdefault(number, set()).add(text)
    return groups


def _number(text: str) -> Decimal | None:
    """Read a text as a number, exactly, if it is a finite one."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def with_common_types(
    rows: pl.LazyFrame, others: Mapping[str, pl.DataFrame], columns: Collection[str], roles: Roles
) -> tuple[pl.LazyFrame, dict[str, pl.DataFrame]]:
    """Return rows and those of other files, with one type for a column of names in all of them.

    Labels that share no text keep their types, which the method refuses.
    """
    frames = [rows, *(frame.lazy() for frame in others.values())]
    names = roles.name_columns(columns)
    labels = [name for name in names if name in roles.labels]
    for group in [labels, *([name] for name in names if name not in roles.labels)]:
        frames = _with_common_type(frames, group, are_labels=group is labels)
    collected = [frame.collect(engine="streaming") for frame in frames[1:]]
    return frames[0], dict(zip(others, collected, strict=True))


def _with_common_type(
    frames: list[pl.LazyFrame], group: Sequence[str], *, are_labels: bool
) -> list[pl.LazyFrame]:
    """Write values as texts where others are texts, or read texts that all are true or false."""
    schemas = [frame.collect_schema() for frame in frames]
    kinds = [{name: _kind(schema[name]) for name in group if name in schema} for schema in schemas]
    texts: dict[str, set[str]] = {"text": set(), "truth": set(), "value": set(), "other": set()}
    if len({kind for of_frame in kinds for kind in of_frame.values()} - {"other"}) < 2:
        return frames
    for frame, of_frame in zip(frames, kinds, strict=True):
        for name in (name for name in of_frame if of_frame[name] != "other"):
            distinct = frame.select(_written(frame, name).drop_nulls().unique())
            texts[of_frame[name]] |= {*distinct.collect(engine="streaming").to_series()}
    if texts["text"] and texts["value"]:
        if are_labels and not texts["text"] & texts["value"]:
            return frames
        sides = {f"column {group[0]!r}": texts["value"], "one of other files": texts["text"]}
        check_writing(sides, group[:1])
        changed, convert = "value", _written
    elif {text.lower() for text in texts["text"]} <= {"true", "false"}:
        changed, convert = "text", _truth
    else:
        return frames
    return [
        frame.with_columns(convert(frame, name) for name in of_frame if of_frame[name] == changed)
        for frame, of_frame in zip(frames, kinds, strict=True)
    ]


def _kind(dtype: pl.DataType) -> str:
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype == pl.Boolean:
        return "truth"
    return "value" if dtype.is_numeric() or dtype.is_temporal() else "other"


def _written(rows: pl.LazyFrame, name: str) -> pl.Expr:
    """Return the texts of values; whole numbers have no point."""
    text = literal_column(name).cast(pl.String)
    return text.str.strip_suffix(".0") if rows.collect_schema()[name].is_float() else text


def _truth(rows: pl.LazyFrame, name: str) -> pl.Expr:
    """Return texts as true and false."""
    return _converted(name, "bool", rows.collect_schema()[name])
