"""Which counts a page withholds so that nobody can be recognised: small ones, and their revealers.

A count is revealed where it is the only one that is withheld in a table whose total is known: the
total less all others is the count. So a second one is withheld, and more until those withheld sum
up to at least the least count that may be shown.
"""

from collections.abc import Collection, Sequence

WITHHELD = "withheld"


def withheld_parts(
    counts: Sequence[Sequence[int]], least: int, also: Collection[int] = ()
) -> set[int]:
    """Return the positions of the parts of a whole that are withheld.

    `counts` are those of each part, such as the cells of the confusion matrix of each group. A part
    is withheld with all its counts: where one of them is under `least`, and the next smallest parts
    until the sums of the withheld ones, which the whole reveals, are at least `least` and are those
    of two parts or more. Parts in `also` are withheld whatever their counts.
    """
    withheld = {i for i, part in enumerate(counts) if min(part) < least or i in also}
    others = sorted(
        (i for i in range(len(counts)) if i not in withheld), key=lambda i: sum(counts[i])
    )
    while withheld and others and _is_revealed(counts, withheld, least):
        withheld.add(others.pop(0))
    return withheld


def _is_revealed(counts: Sequence[Sequence[int]], withheld: set[int], least: int) -> bool:
    sums = [sum(column) for column in zip(*(counts[i] for i in withheld), strict=True)]
    return len(withheld) == 1 or min(sums) < least


def withheld_crossings(
    counts: Sequence[Sequence[int]],
    lines: Sequence[Sequence[int]],
    least: int,
    also: Collection[int] = (),
) -> set[int]:
    """Return the positions of the crossings of two columns that are withheld.

    `lines` are the positions of the crossings whose sums other tables show: those of one group of
    either column. In each line the withheld ones may not reveal each other. Those in `also` are
    withheld whatever their counts.
    """
    withheld = {i for i, part in enumerate(counts) if min(part) < least} | {*also}
    is_changed = True
    while is_changed:
        is_changed = False
        for line in lines:
            own = withheld.intersection(line)
            others = [i for i in line if i not in withheld]
            if own and others and _is_revealed(counts, own, least):
                withheld.add(min(others, key=lambda i: (sum(counts[i]), i)))
                is_changed = True
    return withheld


def small_count(n: int, least: int) -> str:
    """Write a count that is withheld: `<5` where it is small, and otherwise that it is withheld."""
    return f"<{least}" if n < least else WITHHELD
