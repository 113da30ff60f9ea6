"""Which verb an answer is of, by the names of its columns."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from balframe.errors import InvalidInputError, listed, not_found, parameter
from balframe.frames.library import Name
from balframe.metrics.catalogue import families, registered
from balframe.verbs.columns import BY, METRIC, SEGMENTS, Column
from balframe.verbs.contents import verbs

Declared = Sequence[Column]
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
    layouts, metrics = _layouts(verb), _names_of_metrics()
    known = [declared for _, _, declared in layouts]
    found = [
        Recognized(of, layout, *fitted)
        for of, layout, declared in layouts
        if not _lacking(names, declared, metrics)
        if (fitted := _fitted(names, declared, known, metrics)) is not None
    ]
    # one layout may have columns that another takes for by-columns
    best = [
        one
        for one in found
        if not any(one.columns.keys() < other.columns.keys() for other in found)
    ]
    if len(best) == 1:
        return best[0]
    if best:
        candidates = list(dict.fromkeys(one.verb for one in best))
        raise InvalidInputError(
            f"a frame with the columns {listed(map(repr, names))} may be the answer of "
            f"{' or of '.join(candidates)}; say of which, as in {parameter('verb', candidates[0])}."
        )
    raise _not_recognized(names, verb, layouts)


def _layouts(verb: str | None) -> list[tuple[str, str, Declared]]:
    """List the layouts of all verbs that answer by a frame, or of one."""
    known = {name: one for name, one in sorted(verbs().items()) if one.layouts}
    if verb is not None and verb not in list(known):
        raise not_found("verb", verb, known)
    return [
        (name, layout, declared)
        for name, one in known.items()
        if verb in (None, name)
        for layout, declared in one.layouts.items()
    ]


def _names_of_metrics() -> Metrics:
    return {name for one in registered() for name in (one.name, *one.aliases)}


def _lacking(names: Sequence[Name], declared: Declared, metrics: Metrics) -> list[str]:
    """Name the columns that tell a layout and that are not there."""
    return [
        str(one.name)
        for one in declared
        if one.tells and not any(_as_named(one, name, metrics) for name in names)
    ]


def _fitted(
    names: Sequence[Name], declared: Declared, known: Sequence[Declared], metrics: Metrics
) -> tuple[tuple[Name, ...], dict[Name, Column]] | None:
    """Take as few columns as can be for by-columns; None where the others are not as declared."""
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
        for number in range(at, len(blocks)):
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
    names: Sequence[Name], verb: str | None, layouts: Sequence[tuple[str, str, Declared]]
) -> InvalidInputError:
    """Say what an answer has to have, and what one that is near to it lacks."""
    lacks, metrics = [], _names_of_metrics()
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
        why = f" To be of {nearest[1]} it lacks {missing}."
    elif verb is None and (meant := _if_named(names, [of for _, of, gone in lacks if not gone])):
        given = parameter("verb", meant)
        why = f" It has columns of several verbs: if it is of {meant}, give {given}."
    else:
        why = f" To be of {nearest[1]} its columns are not in the order in which that gives them."
    of_verbs = list(dict.fromkeys(of for of, _, _ in layouts))
    given = " or ".join(filter(None, [", ".join(of_verbs[:-1]), of_verbs[-1]]))
    return InvalidInputError(
        f"a frame with the columns {listed(map(repr, names))} is no answer that bf.table knows; "
        f"give the result of {given}: all its columns or some, in their order, and columns of your "
        f"own behind.{why}"
    )


def _if_named(names: Sequence[Name], candidates: Sequence[str]) -> str | None:
    """Give the first verb that the answer is of if the caller says so."""
    for verb in candidates:
        try:
            return recognized(names, verb).verb
        except InvalidInputError:
            continue
    return None
