"""Published data sets for examples."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from balframe.core.arrays import Int64Array
from balframe.errors import check_choice
from balframe.frames.deliver import library_named
from balframe.frames.library import Name

_SEXES = ("Female", "Male")
_AGES = ("under 25", "25 to 45", "over 45")
_REOFFENDED, _HIGH_RISK = np.array([[1, 0, 0, 1], [1, 1, 0, 0]])
_COMPAS = {  # by sex and age: true positives, false positives, true negatives, false negatives
    "African-American": (
        ((61, 59, 34, 15), (99, 89, 155, 52), (13, 16, 52, 7)),
        ((370, 156, 110, 115), (704, 389, 451, 255), (122, 96, 188, 88)),
    ),
    "Asian": (
        ((0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
        ((3, 0, 4, 0), (1, 2, 9, 1), (2, 0, 7, 1)),
    ),
    "Caucasian": (
        ((26, 42, 18, 1), (77, 52, 126, 54), (10, 17, 113, 31)),
        ((114, 55, 84, 50), (223, 148, 420, 212), (55, 35, 378, 113)),
    ),
    "Hispanic": (
        ((5, 2, 8, 2), (4, 3, 39, 17), (0, 2, 16, 5)),
        ((37, 27, 24, 22), (51, 40, 150, 63), (6, 13, 81, 20)),
    ),
    "Native American": (
        ((0, 0, 0, 0), (2, 0, 0, 0), (1, 0, 1, 0)),
        ((2, 0, 0, 1), (3, 3, 4, 0), (1, 0, 0, 0)),
    ),
    "Other": (
        ((1, 5, 7, 2), (4, 1, 27, 5), (0, 0, 12, 3)),
        ((20, 14, 16, 17), (15, 14, 97, 47), (3, 2, 49, 16)),
    ),
}


def compas(*, backend: Literal["polars", "pandas"] = "polars", expand: bool = False) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return the COMPAS scores and two-year recidivism in Broward County, as published counts.

    "High risk" means a medium or high score. The data are the counts of six groups, with 7,214
    people in total. Nothing is downloaded.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        Library of the returned frame.
    expand : bool, default False
        Return one row for each person instead of counts.

    Returns
    -------
    frame of the backend
        `race`, `reoffended` (0 or 1), `high_risk` (0 or 1) and, unless expanded, `n`.

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    References
    ----------
    J. Larson, S. Mattu, L. Kirchner and J. Angwin, "How we analyzed the COMPAS recidivism
    algorithm", ProPublica, 2016. The example data of the aequitas package (Saleiro et al. 2018)
    have the same counts for all six groups.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.datasets.compas(backend="pandas").head(2)
                   race  reoffended  high_risk     n
    0  African-American           1          1  1369
    1  African-American           0          1   805
    """
    n = np.array(list(_COMPAS.values())).sum(axis=(1, 2))
    return _frame({"race": tuple(_COMPAS)}, n, backend, expand)


def compas_by_age_and_sex(
    *, backend: Literal["polars", "pandas"] = "polars", expand: bool = False
) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return the COMPAS scores and two-year recidivism by race, sex and age, as counts.

    These are the 7,214 people of `compas`, with two more columns. Nothing is downloaded.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        Library of the returned frame.
    expand : bool, default False
        Return one row for each person instead of counts.

    Returns
    -------
    frame of the backend
        `race`, `sex`, `age` ("under 25", "25 to 45" or "over 45"), `reoffended` (0 or 1),
        `high_risk` (0 or 1) and, unless expanded, `n`. Combinations without people have no row.

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    References
    ----------
    J. Larson, S. Mattu, L. Kirchner and J. Angwin, "How we analyzed the COMPAS recidivism
    algorithm", ProPublica, 2016. The rows were counted in the example data of the aequitas package:
    P. Saleiro and others, "Aequitas: a bias and fairness audit toolkit", 2018.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.datasets.compas_by_age_and_sex(backend="pandas").head(2)
                   race     sex       age  reoffended  high_risk   n
    0  African-American  Female  under 25           1          1  61
    1  African-American  Female  under 25           0          1  59
    """
    return _frame(
        {"race": tuple(_COMPAS), "sex": _SEXES, "age": _AGES},
        np.array(list(_COMPAS.values())),
        backend,
        expand,
    )


def _frame(levels: Mapping[Name, Sequence[str]], n: Int64Array, backend: str, expand: bool) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Make rows of counts, whose axes are the levels of each column and the kinds of outcome."""
    library = library_named(backend)
    check_choice("expand", expand, (False, True))
    cells = np.repeat(np.arange(n.size), n.ravel()) if expand else np.flatnonzero(n)
    *codes, kind = np.unravel_index(cells, n.shape)
    columns: dict[Name, Any] = {
        name: library.take(library.text(values), code, nullable=False)
        for (name, values), code in zip(levels.items(), codes, strict=True)
    }
    columns |= {"reoffended": _REOFFENDED[kind], "high_risk": _HIGH_RISK[kind]}
    return library.build(columns if expand else columns | {"n": n.ravel()[cells]})
