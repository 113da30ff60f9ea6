"""Recognition of the verb that a result comes from, by the names of its columns."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from balframe.api.columns import BY, COUNTED, METRIC, SEGMENTS, Column
from balframe.errors import InvalidInputError, listed, not_found, parameter
from balframe.frames.adapter import Name
from balframe.methods import declarations as verbs
from balframe.metrics.lookup import families, registered

Declared = Sequence[Column]
Layout = tuple[str, str, Declared]  # of a verb, by its name
Metrics = Set[str]  # names and aliases


@dataclass(frozen=True, slots=True)
class Recognized:
    """The verb and layout of an answer, its by-columns, and its declared columns as they are."""

    verb: str
    layout: str
    by: tuple[Name, ...]
    columns: Mapping[Name, Column]


def recognized(names: Sequence[Name], verb: str | None = None) -> Recognized:
    """Recognize an answer, some of whose columns may be gone, or columns of the user's added.

    First come by-columns of any names, then declared columns in their order, with all that tell
    the layout; columns that are not declared stand behind.
    """
    layouts = _layouts(verb)
    best = _best(names, layouts, _names_of_metrics(names)) or _best(
        names, layouts, _names_of_metrics(names) | _behind_counts(names)
    )
    if len(best) == 1:
        return best[0]
    if best:
        candidates = list(dict.fromkeys(one.verb for one in best))
        raise InvalidInputError(
            f"a frame with the columns {listed(map(repr, names))} may be the result of "
            f"{' or of '.join(candidates)}; name one, as in {parameter('verb', candidates[0])}."
        )
    raise _not_recognized(names, verb, layouts)


def _best(names: Sequence[Name], layouts: Sequence[Layout], metrics: Metrics) -> list[Recognized]:
    """List the layouts that an answer may have."""
    known = [declared for _, _, declared in layouts]
    found = [
        Recognized(of, layout, *fitted)
        for of, layout, declared in layouts
        if not _lacking(names, declared, metrics)
        if (fitted := _fitted(names, declared, known, metrics)) is not None
    ]
    # one layout may have columns that another takes for by-columns
    return [
        one
        for one in found
        if not any(one.columns.keys() < other.columns.keys() for other in found)
    ]


def _layouts(verb: str | None) -> list[Layout]:
    """List the layouts of all verbs that return a new frame, or of one verb."""
    known = {name: one for name, one in sorted(verbs().items()) if one.layouts}
    if verb is not None and verb not in list(known):
        raise not_found("verb", verb, known)
    return [
        (name, layout, declared)
        for name, one in known.items()
        if verb in (None, name)
        for layout, declared in one.layouts.items()
    ]


def _names_of_metrics(names: Sequence[Name]) -> Metrics:
    """Name the metrics that are known, and those in an answer that a caller gave new names.

    The latter are found by their limits.
    """
    limited = {
        one
        for one in names
        if isinstance(one, str) and {f"{one}_lower", f"{one}_upper"} <= {*names}
    }
    return limited - _declared() | {
        name for one in registered() for name in (one.name, *one.aliases)
    }


def _behind_counts(names: Sequence[Name]) -> Metrics:
    """Name what stands behind the counts of `report`, which may be metrics with new names."""
    last = COUNTED[-1].name
    behind = list(names)[names.index(last) + 1 :] if last in names else []
    return {one for one in behind if isinstance(one, str)} - _declared()


def _declared() -> Set[Name]:
    return {one.name for _, _, columns in _layouts(None) for one in columns}


def _lacking(names: Sequence[Name], declared: Declared, metrics: Metrics) -> list[str]:
    """Name the columns that identify a layout and are missing."""
    return [
        str(one.name)
        for one in declared
        if one.tells and not any(_as_named(one, name, metrics) for name in names)
    ]


def _fitted(
    names: Sequence[Name], declared: Declared, known: Sequence[Declared], metrics: Metrics
) -> tuple[tuple[Name, ...], dict[Name, Column]] | None:
    """Take as few by-columns as possible; None if the other columns are not as declared."""
    behind = [one for one in declared if one != SEGMENTS[0]]
    has_by = len(behind) < len(declared)
    tells = {one.name for one in behind if one.tells}
    for n_by in range(len(names) if has_by else 1):
        by, others = names[:n_by], names[n_by:]
        found = _in_order(others, behind, metrics)
        added = others[len(found) :]
        if (
            tells <= {one.name for one, _ in found}
            and not any(_is_there(name, behind, found) for name in by)
            and not any(_is_declared(name, columns, metrics) for name in added for columns in known)
        ):
            return tuple(by), {filled.name: filled for _, filled in found}
    return None


def _in_order(
    names: Sequence[Name], declared: Declared, metrics: Metrics
) -> list[tuple[Column, Column]]:
    """Pair the first names with the columns declared, whose places they fill, in their order."""
    groups = [(place, list(columns)) for place, columns in groupby(declared, lambda one: one.place)]
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
            pairs = ((one, _as_named(one, name, metrics)) for one in blocks[number])
            pair = next(((one, filled) for one, filled in pairs if filled is not None), None)
            if pair is not None:
                found.append(pair)
                at = number + (pair[0].place not in (BY, METRIC))  # which repeat
                break
        else:
            break
    return found


def _as_named(column: Column, name: Name, metrics: Metrics) -> Column | None:
    """Fill the place in the name of a column so that it has this name; None where it cannot."""
    if column.place is None:
        return column if name == column.name else None
    if _is_free(column):
        return column.filled(name)
    before, _, after = str(column.name).partition(column.place)
    if not (isinstance(name, str) and name.startswith(before) and name.endswith(after)):
        return None
    value = name[len(before) : len(name) - len(after)]
    is_metric = value in metrics or value.partition("(")[0] in families
    return column.filled(value) if column.place == BY or is_metric else None


def _is_free(column: Column) -> bool:
    """Tell whether a column may have any name."""
    return column.name == column.place != METRIC


def _is_declared(name: Name, declared: Declared, metrics: Metrics) -> bool:
    return any(not _is_free(one) and _as_named(one, name, metrics) is not None for one in declared)


def _is_there(name: Name, declared: Declared, found: Sequence[tuple[Column, Column]]) -> bool:
    """Tell whether an answer has a column of this name behind its by-columns."""
    options = {one.under for one, _ in found} | {None}
    return any(one.name == name and one.under in options for one in declared)


def _not_recognized(
    names: Sequence[Name], verb: str | None, layouts: Sequence[Layout]
) -> InvalidInputError:
    """Say what an answer has to have, and what one that is near to it lacks."""
    lacks, metrics = [], _names_of_metrics(names)
    for of, _, declared in layouts:
        tells = [one for one in declared if one.tells]
        gone = _lacking(names, declared, metrics)
        if verb is not None or (len(gone) < len(tells) and not any(map(_is_free, tells))):
            lacks.append((len(gone), of, gone))
    nearest = min(lacks, default=None)
    if nearest is None:
        why = ""
    elif nearest[2]:
        missing = " and ".join(repr(one).replace(f"'{METRIC}'", "a metric") for one in nearest[2])
        why = f" A result of {nearest[1]} also has {missing}."
    elif verb is None and (meant := _if_named(names, [of for _, of, gone in lacks if not gone])):
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


def _if_named(names: Sequence[Name], candidates: Sequence[str]) -> str | None:
    """Find the first verb that recognizes the result when it is named."""
    for verb in candidates:
        try:
            return recognized(names, verb).verb
        except InvalidInputError:
            continue
    return None
