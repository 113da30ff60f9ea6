"""Recognition of the method that a result comes from, by the names of its columns."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from balframe.api.columns import BY, METRIC, SEGMENT_KEYS, TABLES, Column, Kind
from balframe.errors import InvalidInputError, Message, listed, not_found
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.methods import declarations
from balframe.metrics.lookup import metric_families, registered_metrics

_Columns = Sequence[Column]
_MethodLayout = tuple[str, str, _Columns]  # of a method, by its name
_MetricNames = Set[str]  # names and aliases
_MIN_OWN_COLUMNS = 2  # by which a frame looks like a result of a method without what identifies it


@dataclass(frozen=True, slots=True)
class RecognizedResult:
    """The method and layout of a result, its by-columns, and its declared columns, filled in."""

    method: str
    layout: str
    by: tuple[Name, ...]
    columns: Mapping[Name, Column]


def recognize_result(
    names: Sequence[Name], method: str | None = None, refusal: str = "bf.table cannot display"
) -> RecognizedResult:
    """Recognize a result, some of whose columns may be gone, and to which others may be added.

    First come by-columns of any names, then declared columns in their order, with all that identify
    the layout. Columns that are not declared come last.
    """
    layouts = _method_layouts(method)
    metrics = _metric_names(names)
    matches = _matching_layouts(names, layouts, metrics) or _matching_layouts(
        names, layouts, metrics | _names_after_counts(names)
    )
    if len(matches) == 1:
        _check_tables_are_named(*matches)
        return matches[0]
    if matches:
        candidates = list(dict.fromkeys(match.method for match in matches))
        raise InvalidInputError(
            "a frame with the columns {} may be the result of {}; name one, as in {method}.",
            listed(map(repr, names)),
            " or of ".join(candidates),
            method=candidates[0],
        )
    raise _not_recognized_error(names, method, layouts, refusal)


def _check_tables_are_named(result: RecognizedResult) -> None:
    """Raise an error if rows of several tables do not say which they belong to."""
    declared = declarations()[result.method].layouts[result.layout]
    missing = [column.name for column in declared if column.only_with == TABLES]
    if len(result.by) > 1 and missing and not {*missing} <= {*result.columns}:
        raise InvalidInputError(
            f"A result of {result.method} with several by-columns also has {missing[0]!r}; keep it."
        )


def _matching_layouts(
    names: Sequence[Name], layouts: Sequence[_MethodLayout], metrics: _MetricNames
) -> list[RecognizedResult]:
    """Return the layouts that a result may have."""
    all_columns = [declared for _, _, declared in layouts]
    matches = [
        RecognizedResult(method, layout, *matched)
        for method, layout, declared in layouts
        if not _missing_columns(names, declared, metrics)
        if (matched := _match_columns(names, declared, all_columns, metrics)) is not None
    ]
    # one layout may have columns that another takes for by-columns, or for columns of labels
    own = [_own_names(match) for match in matches]
    return [
        match
        for match, names_of_match in zip(matches, own, strict=True)
        if not any(names_of_match < names_of_other for names_of_other in own)
    ]


def _own_names(result: RecognizedResult) -> set[Name]:
    """Return the names of its columns, without those that may have any name."""
    return {
        name
        for name, column in result.columns.items()
        if column.kind is not Kind.LABEL or column.placeholder_value is None
    }


def _method_layouts(method: str | None) -> list[_MethodLayout]:
    """Return the layouts of all methods that return a new frame, or of one method."""
    methods = {
        name: declaration
        for name, declaration in sorted(declarations().items())
        if declaration.layouts
    }
    if method is not None and method not in list(methods):
        raise not_found("method", method, methods, listing="dir(bf)")
    return [
        (name, layout, declared)
        for name, declaration in methods.items()
        if method in (None, name)
        for layout, declared in declaration.layouts.items()
    ]


def _metric_names(names: Sequence[Name]) -> _MetricNames:
    """Return the names of metrics, and those that the caller gave to metrics of the result.

    The latter are recognized by their limits.
    """
    with_limits = {
        name
        for name in names
        if isinstance(name, str) and {f"{name}_lower", f"{name}_upper"} <= {*names}
    }
    return with_limits - _declared_names() | {
        name for metric in registered_metrics() for name in (metric.name, *metric.aliases)
    }


def _names_after_counts(names: Sequence[Name]) -> _MetricNames:
    """Return the names after the rows of `report`, which may be metrics with new names."""
    others = list(names)[names.index(N) + 1 :] if N in names else []
    return {name for name in others if isinstance(name, str)} - _declared_names()


def _declared_names() -> Set[Name]:
    return {column.name for _, _, columns in _method_layouts(None) for column in columns}


def _missing_columns(names: Sequence[Name], declared: _Columns, metrics: _MetricNames) -> list[str]:
    """Return the columns that identify a layout and are missing."""
    return [
        str(column.name)
        for column in declared
        if column.identifies and not any(_match_name(column, name, metrics) for name in names)
    ]


def _match_columns(
    names: Sequence[Name],
    declared: _Columns,
    all_columns: Sequence[_Columns],
    metrics: _MetricNames,
) -> tuple[tuple[Name, ...], dict[Name, Column]] | None:
    """Return as few by-columns as possible, and the others; None if they are not as declared."""
    candidates = [column for column in declared if column != SEGMENT_KEYS[0]]
    has_by = len(candidates) < len(declared)
    identifying = {column.name for column in candidates if column.identifies}
    for n_by in range(len(names) if has_by else 1):
        by, others = names[:n_by], names[n_by:]
        matches = _match_in_order(others, candidates, metrics)
        added = others[len(matches) :]
        if (
            identifying <= {column.name for column, _ in matches}
            and not any(_is_expected(name, candidates, matches) for name in by)
            and not any(
                _matches_any(name, columns, metrics) for name in added for columns in all_columns
            )
        ):
            return tuple(by), {filled.name: filled for _, filled in matches}
    return None


def _match_in_order(
    names: Sequence[Name], declared: _Columns, metrics: _MetricNames
) -> list[tuple[Column, Column]]:
    """Return pairs of a declared column and the column that the next name makes of it."""
    groups = [
        (placeholder, list(columns))
        for placeholder, columns in groupby(declared, lambda column: column.placeholder)
    ]
    blocks = [
        block
        for placeholder, columns in groups
        for block in ([columns] if placeholder in (BY, METRIC) else [[c] for c in columns])
    ]
    matches: list[tuple[Column, Column]] = []
    start = 0
    for name in names:
        is_declared = any(column.name == name for block in blocks[start:] for column in block)
        for index in range(start, len(blocks)):
            if is_declared and blocks[index][0].name == BY:  # which any name fits
                continue
            pairs = ((column, _match_name(column, name, metrics)) for column in blocks[index])
            match = next(((column, filled) for column, filled in pairs if filled is not None), None)
            if match is not None:
                matches.append(match)
                start = index + (match[0].placeholder not in (BY, METRIC))  # which repeat
                break
        else:
            break
    return matches


def _match_name(column: Column, name: Name, metrics: _MetricNames) -> Column | None:
    """Return the column with its placeholder filled so that it has this name, or None."""
    if column.placeholder is None:
        return column if name == column.name else None
    if _accepts_any_name(column):
        return column.fill(name)
    before, _, after = str(column.name).partition(column.placeholder)
    if not (isinstance(name, str) and name.startswith(before) and name.endswith(after)):
        return None
    value = name[len(before) : len(name) - len(after)]
    is_metric = value in metrics or _is_of_family(value)
    return column.fill(value) if column.placeholder == BY or is_metric else None


def _is_of_family(name: str) -> bool:
    """Return whether a metric with numbers has this name, or that of an operating point."""
    family, bracket, _ = name.partition("(")
    is_known = family in metric_families
    return is_known and (bool(bracket) or metric_families[family].is_of_point)


def _accepts_any_name(column: Column) -> bool:
    """Return whether a column may have any name."""
    return column.name == column.placeholder != METRIC


def _matches_any(name: Name, declared: _Columns, metrics: _MetricNames) -> bool:
    return any(
        not _accepts_any_name(column) and _match_name(column, name, metrics) is not None
        for column in declared
    )


def _is_expected(name: Name, declared: _Columns, matches: Sequence[tuple[Column, Column]]) -> bool:
    """Return whether a result has a column of this name after its by-columns."""
    options = {column.only_with for column, _ in matches} | {None}
    return any(column.name == name and column.only_with in options for column in declared)


def _not_recognized_error(
    names: Sequence[Name],
    method: str | None,
    layouts: Sequence[_MethodLayout],
    refusal: str,
) -> InvalidInputError:
    """Return the error that says what a result has, and which columns the nearest lacks."""
    candidates, others, metrics = [], [], _metric_names(names)
    for candidate, _, declared in layouts:
        identifying = [column for column in declared if column.identifies]
        missing = _missing_columns(names, declared, metrics)
        row = (len(missing), -len(identifying), candidate, missing)
        if method is not None or (
            len(missing) < len(identifying) and not any(map(_accepts_any_name, identifying))
        ):
            candidates.append(row)
        elif len({*names} & _own_columns(candidate, layouts)) >= _MIN_OWN_COLUMNS:
            others.append(row)
    candidates = candidates or others
    _, _, nearest, lacks = min(candidates, default=(0, 0, None, []))
    if nearest is None:
        reason: str | Message = ""
    elif lacks:
        listing = " and ".join(repr(name).replace(f"'{METRIC}'", "a metric") for name in lacks)
        reason = f" A result of {nearest} also has {listing}."
    elif method is None and (
        match := _first_match(names, [name for _, _, name, missing in candidates if not missing])
    ):
        reason = Message(
            " It has columns of several methods; for a result of {}, give {method}.",
            match,
            method=match,
        )
    else:
        reason = f" A result of {nearest} has these columns in another order."
    methods = list(dict.fromkeys(name for name, _, _ in layouts))
    choices = " or ".join(filter(None, [", ".join(methods[:-1]), methods[-1]]))
    columns = f"the columns {listed(map(repr, names))}" if names else "no columns"
    return InvalidInputError(
        "{} a frame with {}; give a result of {}. You may drop columns, but keep the others in "
        "order, and put your own columns at the end.{}",
        refusal,
        columns,
        choices,
        reason,
    )


def _own_columns(method: str, layouts: Sequence[_MethodLayout]) -> Set[Name]:
    """Return the columns that no other method declares."""
    of_others = {
        column.name for other, _, declared in layouts if other != method for column in declared
    }
    declared = {
        column.name for other, _, declared in layouts if other == method for column in declared
    }
    return declared - of_others


def _first_match(names: Sequence[Name], candidates: Sequence[str]) -> str | None:
    """Return the first method as whose result the frame is recognized, or None."""
    for method in candidates:
        try:
            return recognize_result(names, method).method
        except InvalidInputError:
            continue
    return None
