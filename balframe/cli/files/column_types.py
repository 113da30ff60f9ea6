"""The types of columns of text: what a column is for decides, never what its values look like.

A column that names things keeps its texts: 1.1 and 1.10 are two versions, 02134 is no number. It
holds whole numbers only where each is written as Python writes it, so that no text is lost. Labels
may also be true and false. Scores, weights and counts are numbers. `--type` decides otherwise.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import product

import polars as pl

from balframe.api.columns import PREDICTED_OF_MODELS
from balframe.cli.files.csv_dialect import literal_column
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


@dataclass(frozen=True, slots=True)
class Roles:
    """What columns are for: `labels` are compared with the first of them, `groups` name segments.

    Other columns that a command names have names too, except for `numbers`, of which `texts_too`
    may be texts: outcomes, and scores for --threshold. Ranges of numbers are `searched` for, in all
    other columns if `searches_all`. `types` are those of --type.
    """

    labels: Sequence[str] = ()
    groups: Collection[str] = ()
    numbers: Collection[str] = ()
    searched: Collection[str] = ()
    searches_all: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    texts_too: Collection[str] = ()

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
        texts = dict.fromkeys([*self.name_columns(columns), *typed, *others])
        return tuple(name for name in texts if name in header)


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
        is_time = dtype.is_temporal()  # a number is no count of days
        return column.cast(pl.Date) if is_time else text.str.to_date("%Y-%m-%d", strict=False)
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
    values: dict[tuple[str, str], pl.Expr] = {}
    fits: list[pl.Expr] = []
    for name, kind in product(columns, ("int", "float", "bool")):
        text, value = literal_column(name), _converted(name, kind, pl.String())
        is_fit = value.null_count() == text.null_count()
        if stay_distinct:
            is_fit &= (value.n_unique() == text.n_unique()) & ~text.str.contains(_ZERO_FIRST).any()
        values[name, kind] = value
        fits.append(is_fit.alias(f"{len(fits)}"))
    facts = rows.select(fits).collect(engine="streaming").row(0) if fits else ()
    fitting = [key for key, is_fit in zip(values, facts, strict=True) if is_fit]
    first = dict(reversed(fitting))  # the kind of each column
    return rows.with_columns(**{name: values[name, kind] for name, kind in first.items()})


@dataclass(frozen=True, slots=True)
class Writing:
    """How the texts of a column are written, and one that is not a whole number of Python.

    `texts` are the distinct ones of labels.
    """

    n: int
    n_whole: int
    n_truth: int
    n_numbers: int
    has_fraction: bool
    other: str | None
    texts: Collection[str]

    def dtype(self, *, are_labels: bool) -> pl.DataType:
        """Return the type that all of the texts are written as."""
        if self.n and self.n_whole == self.n:
            return pl.Int64()
        is_truth = are_labels and self.n and self.n_truth == self.n
        return pl.Boolean() if is_truth else pl.String()


def read_writing(
    rows: pl.LazyFrame, columns: Iterable[str], labels: Iterable[str]
) -> dict[str, Writing]:
    """Read how columns of texts are written, and labels among the texts."""
    schema, labels = rows.collect_schema(), dict.fromkeys(labels)
    names = [name for name in {**dict.fromkeys(columns), **labels} if schema.get(name) == pl.String]
    facts = []
    for i, name in enumerate(names):
        text = literal_column(name).drop_nulls()
        is_whole = text.cast(pl.Int64, strict=False).cast(pl.String).eq_missing(text)
        number = text.str.strip_chars().cast(pl.Float64, strict=False)
        facts += [
            pl.struct(
                n=text.len(),
                n_whole=is_whole.sum(),
                n_truth=pl.max_horizontal(text.is_in(words).sum() for words in _TRUTH),
                n_numbers=number.is_finite().sum(),
                has_fraction=(number.abs() % 1).is_between(0, 1, closed="none").any(),
                other=text.filter(~is_whole).min(),
                texts=(text if name in labels else text.head(0)).unique().implode(),
            ).alias(f"{i}")
        ]
    row = rows.select(facts).collect(engine="streaming").row(0) if facts else ()
    return {name: Writing(**fact) for name, fact in zip(names, row, strict=True)}


def read_names(
    rows: pl.LazyFrame,
    columns: Sequence[str],
    labels: Iterable[str],
    searched: Iterable[str] = (),
) -> pl.LazyFrame:
    """Give columns of texts the types that all of their values are written as.

    Labels that share texts get one type. Raise where labels differ in writing alone. Warn of
    columns that are searched as texts, although numbers would have ranges.
    """
    writing = read_writing(rows, columns, labels)
    named = [name for name in writing if name in columns]
    labels = [name for name in dict.fromkeys(labels) if name in writing]
    for name in searched:
        if name in named and writing[name].n_numbers == writing[name].n > writing[name].n_whole:
            warn(
                f"column {name!r} holds texts such as {writing[name].other!r}, of which each is a "
                f"value of its own. Give {_type_option([name], 'float')} to search ranges of "
                f"numbers, or {_type_option([name], 'str')} to keep the texts."
            )
    scores = [name for name in labels if name in named and writing[name].has_fraction]
    if scores[:1] != labels[:1]:  # the truth has none, so that they are refused as labels
        rows = read_numbers(rows, scores)
        named, labels = ([n for n in names if n not in scores] for names in (named, labels))
    types = {name: writing[name].dtype(are_labels=name in labels) for name in named}
    texts = {name: {*writing[name].texts} for name in labels}
    numbers = [name for name in labels if types.get(name, pl.String) != pl.String]
    if len(numbers) < len(labels):
        if {*named} >= {*labels}:  # no type is given
            check_writing({f"column {name!r}": texts[name] for name in labels}, labels)
        shared = set().union(*(texts[name] for name in labels if name not in numbers))
        if any(shared & texts[name] for name in numbers):
            types |= dict.fromkeys(numbers, pl.String())
    return rows.with_columns(
        literal_column(name).str.to_lowercase() == "true"
        if dtype == pl.Boolean
        else literal_column(name).cast(dtype)
        for name, dtype in types.items()
    )


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
