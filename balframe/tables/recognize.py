"""Recognition of the method that a result comes from, by the names of its columns."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from balframe.api.columns import BY, COUNT_COLUMNS, METRIC, SEGMENT_KEYS, Column
from balframe.errors import InvalidInputError, listed, not_found, parameter
from balframe.frames.adapter import Name
from balframe.methods import declarations
from balframe.metrics.lookup import metric_families, registered_metrics

_Columns = Sequence[Column]
_MethodLayout = tuple[str, str, _Columns]  # of a method, by its name
_MetricNames = Set[str]  # names and aliases


@dataclass(frozen=True, slots=True)
class RecognizedResult:
    """The method and layout of an answer, its by-columns, and its declared columns as they are."""

    method: str
    layout: str
    by: tuple[Name, ...]
    columns: Mapping[Name, Column]


def recognize_result(names: Sequence[Name], method: str | None = None) -> RecognizedResult:
    """Recognize an answer, some of whose columns may be gone, or columns of the user's added.

    First come by-columns of any names, then declared columns in their order, with all that tell
    the layout; columns that are not declared stand behind.
    """
    layouts = _method_layouts(method)
    best = _matching_layouts(names, layouts, _metric_names(names)) or _matching_layouts(
        names, layouts, _metric_names(names) | _names_after_counts(names)
    )
    if len(best) == 1:
        return best[0]
    if best:
        candidates = list(dict.fromkeys(one.method for one in best))
        raise InvalidInputError(
            f"a frame with the columns {listed(map(repr, names))} may be the result of "
            f"{' or of '.join(candidates)}; name one, as in {parameter('verb', candidates[0])}."
        )
    raise _not_recognized_error(names, method, layouts)


def _matching_layouts(
    names: Sequence[Name], layouts: Sequence[_MethodLayout], metrics: _MetricNames
) -> list[RecognizedResult]:
    """List the layouts that an answer may have."""
    known = [declared for _, _, declared in layouts]
    found = [
        RecognizedResult(of, layout, *fitted)
        for of, layout, declared in layouts
        if not _missing_columns(names, declared, metrics)
        if (fitted := _match_columns(names, declared, known, metrics)) is not None
    ]
    # one layout may have columns that another takes for by-columns
    return [
        one
        for one in found
        if not any(one.columns.keys() < other.columns.keys() for other in found)
    ]


def _method_layouts(method: str | None) -> list[_MethodLayout]:
    """List the layouts of all methods that return a new frame, or of one method."""
    known = {name: one for name, one in sorted(declarations().items()) if one.layouts}
    if method is not None and method not in list(known):
        raise not_found("verb", method, known)
    return [
        (name, layout, declared)
        for name, one in known.items()
        if method in (None, name)
        for layout, declared in one.layouts.items()
    ]


def _metric_names(names: Sequence[Name]) -> _MetricNames:
    """Name the metrics that are known, and those in an answer that a caller gave new names.

    The latter are found by their limits.
    """
    limited = {
        one
        for one in names
        if isinstance(one, str) and {f"{one}_lower", f"{one}_upper"} <= {*names}
    }
    return limited - _declared_names() | {
        name for one in registered_metrics() for name in (one.name, *one.aliases)
    }


def _names_after_counts(names: Sequence[Name]) -> _MetricNames:
    """Name what stands behind the counts of `report`, which may be metrics with new names."""
    last = COUNT_COLUMNS[-1].name
    behind = list(names)[names.index(last) + 1 :] if last in names else []
    return {one for one in behind if isinstance(one, str)} - _declared_names()


def _declared_names() -> Set[Name]:
    return {one.name for _, _, columns in _method_layouts(None) for one in columns}


def _missing_columns(names: Sequence[Name], declared: _Columns, metrics: _MetricNames) -> list[str]:
    """Name the columns that identify a layout and are missing."""
    return [
        str(one.name)
        for one in declared
        if one.identifies and not any(_match_name(one, name, metrics) for name in names)
    ]


def _match_columns(
    names: Sequence[Name], declared: _Columns, known: Sequence[_Columns], metrics: _MetricNames
) -> tuple[tuple[Name, ...], dict[Name, Column]] | None:
    """Take as few by-columns as possible; None if the other columns are not as declared."""
    behind = [one for one in declared if one != SEGMENT_KEYS[0]]
    has_by = len(behind) < len(declared)
    tells = {one.name for one in behind if one.identifies}
    for n_by in range(len(names) if has_by else 1):
        by, others = names[:n_by], names[n_by:]
        found = _match_in_order(others, behind, metrics)
        added = others[len(found) :]
        if (
            tells <= {one.name for one, _ in found}
            and not any(_is_expected(name, behind, found) for name in by)
            and not any(_matches_any(name, columns, metrics) for name in added for columns in known)
        ):
            return tuple(by), {filled.name: filled for _, filled in found}
    return None


def _match_in_order(
    names: Sequence[Name], declared: _Columns, metrics: _MetricNames
) -> list[tuple[Column, Column]]:
    """Pair the first names with the columns declared, whose places they fill, in their order."""
    groups = [
        (place, list(columns)) for place, columns in groupby(declared, lambda one: one.placeholder)
    ]
    blocks = [
        block
        for place, columns in groups
        for block in ([columns] if place in (BY, METRIC) else [[one] for one in columns])
    ]
    found: list[tuple[Column, Column]] = []
    at = 0
    for name in names:
        is_further = any(one.name == name for block in blocks[at:] for one in block)
        for number in range(at, len(blocks)):
            if is_further and blocks[number][0].name == BY:  # which any name fits
                continue
            pairs = ((one, _match_name(one, name, metrics)) for one in blocks[number])
            pair = next(((one, filled) for one, filled in pairs if filled is not None), None)
            if pair is not None:
                found.append(pair)
                at = number + (pair[0].placeholder not in (BY, METRIC))  # which repeat
                break
        else:
            break
    return found


def _match_name(column: Column, name: Name, metrics: _MetricNames) -> Column | None:
    """Fill the place in the name of a column so that it has this name; None where it cannot."""
    if column.placeholder is None:
        return column if name == column.name else None
    if _accepts_any_name(column):
        return column.fill(name)
    before, _, after = str(column.name).partition(column.placeholder)
    if not (isinstance(name, str) and name.startswith(before) and name.endswith(after)):
        return None
    value = name[len(before) : len(name) - len(after)]
    is_metric = value in metrics or value.partition("(")[0] in metric_families
    return column.fill(value) if column.placeholder == BY or is_metric else None


def _accepts_any_name(column: Column) -> bool:
    """Tell whether a column may have any name."""
    return column.name == column.placeholder != METRIC


def _matches_any(name: Name, declared: _Columns, metrics: _MetricNames) -> bool:
    return any(
        not _accepts_any_name(one) and _match_name(one, name, metrics) is not None
        for one in declared
    )


def _is_expected(name: Name, declared: _Columns, found: Sequence[tuple[Column, Column]]) -> bool:
    """Tell whether an answer has a column of this name behind its by-columns."""
    options = {one.only_with for one, _ in found} | {None}
    return any(one.name == name and one.only_with in options for one in declared)


def _not_recognized_error(
    names: Sequence[Name], method: str | None, layouts: Sequence[_MethodLayout]
) -> InvalidInputError:
    """Say what an answer has to have, and what one that is near to it lacks."""
    lacks, metrics = [], _metric_names(names)
    for of, _, declared in layouts:
        tells = [one for one in declared if one.identifies]
        gone = _missing_columns(names, declared, metrics)
        if method is not None or (
            len(gone) < len(tells) and not any(map(_accepts_any_name, tells))
        ):
            lacks.append((len(gone), of, gone))
    nearest = min(lacks, default=None)
    if nearest is None:
        why = ""
    elif nearest[2]:
        missing = " and ".join(repr(one).replace(f"'{METRIC}'", "a metric") for one in nearest[2])
        why = f" A result of {nearest[1]} also has {missing}."
    elif method is None and (
        meant := _first_match(names, [of for _, of, gone in lacks if not gone])
    ):
        given = parameter("verb", meant)
        why = f" It has columns of several methods; for a result of {meant}, give {given}."
    else:
        why = f" A result of {nearest[1]} has these columns in another order."
    of_verbs = list(dict.fromkeys(of for of, _, _ in layouts))
    given = " or ".join(filter(None, [", ".join(of_verbs[:-1]), of_verbs[-1]]))
    columns = f"the columns {listed(map(repr, names))}" if names else "no columns"
    return InvalidInputError(
        f"bf.table cannot display a frame with {columns}; give a result of {given}. You may drop "
        f"columns, but keep the others in order, and put your own columns at the end.{why}"
    )


def _first_match(names: Sequence[Name], candidates: Sequence[str]) -> str | None:
    """Find the first method that recognizes the result when it is named."""
    for method in candidates:
        try:
            return recognize_result(names, method).method
        except InvalidInputError:
            continue
    return None
