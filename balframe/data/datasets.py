"""Data sets for examples: published counts, and one table of invented ones."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from balframe._traceback import short_traceback
from balframe._validate import check_choice
from balframe.core.array_types import Int64Array
from balframe.frames.adapter import Name
from balframe.frames.convert_result import backend_adapter

# The counts behind the data sets.
#
# COMPAS and COMPAS_DECILES are numbers of people, counted in data that ProPublica published in 2016
# with "How we analyzed the COMPAS recidivism algorithm", by J. Larson, S. Mattu, L. Kirchner and
# J. Angwin (https://github.com/propublica/compas-analysis). The records of persons are not here.
#
# - COMPAS was counted by race, sex and age in the example data of the package aequitas, which are
#   ProPublica's 7,214 people. The totals equal the tables that ProPublica printed.
# - COMPAS_DECILES was counted in ProPublica's file compas-scores-two-years.csv, with the filters of
#   its analysis, which leave 6,172 people.
#
# Terms: we know of no licence for these data. The repository above names none that we found. The
# terms of ProPublica's data store (https://www.propublica.org/datastore/terms/), which hold "in
# general", ask those who publish to cite ProPublica. They forbid republishing all of the raw data,
# distributing data on their own, changing them, and licensing them to others. The licence of
# aequitas
# is permissive and is about its software. Counts are facts. The licence of balframe is for its
# code,
# and claims and gives no rights in these numbers or their source. Name ProPublica if you publish
# them.
#
# APPLICANTS was invented for balframe: no employer, test or person is behind it. The licence of
# balframe holds for it.


COMPAS = {  # by sex and age: true positives, false positives, true negatives, false negatives
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

COMPAS_DECILES = {  # by race: people of each decile who did not reoffend, and who did
    "African-American": (
        (280, 241, 173, 179, 165, 131, 134, 86, 88, 37),
        (85, 105, 125, 158, 158, 187, 209, 215, 229, 190),
    ),
    "Asian": ((14, 4, 3, 0, 0, 1, 0, 1, 0, 0), (1, 0, 2, 0, 1, 1, 1, 1, 0, 1)),
    "Caucasian": (
        (477, 221, 156, 145, 109, 67, 45, 24, 22, 15),
        (128, 100, 82, 98, 91, 93, 68, 72, 55, 35),
    ),
    "Hispanic": (
        (121, 55, 50, 32, 19, 9, 14, 7, 8, 5),
        (38, 34, 23, 15, 20, 18, 14, 7, 9, 11),
    ),
    "Native American": ((0, 2, 1, 0, 0, 1, 1, 0, 1, 0), (0, 0, 0, 0, 0, 1, 1, 0, 1, 2)),
    "Other": ((117, 35, 20, 19, 9, 12, 4, 0, 1, 2), (25, 25, 12, 20, 10, 8, 5, 7, 6, 6)),
}

# by sex and race, unknown last: people of each score who are not selected, and who are
APPLICANTS = (
    (  # Female
        ((0, 1, 1, 2, 2, 1, 4, 1, 0, 0), (0, 0, 0, 0, 0, 0, 0, 2, 1, 0)),
        ((3, 1, 11, 14, 28, 16, 11, 6, 1, 0), (0, 0, 0, 1, 2, 2, 13, 11, 5, 0)),
        ((13, 21, 50, 61, 62, 44, 19, 11, 3, 0), (0, 0, 0, 1, 11, 10, 18, 4, 2, 0)),
        ((4, 15, 27, 32, 34, 27, 16, 3, 0, 0), (0, 0, 0, 1, 10, 5, 9, 11, 2, 0)),
        ((0, 1, 0, 2, 1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1, 1, 0, 0, 0)),
        ((0, 0, 5, 5, 6, 6, 0, 0, 0, 0), (0, 0, 0, 1, 1, 0, 4, 1, 1, 0)),
        ((9, 21, 56, 73, 101, 70, 38, 15, 2, 0), (0, 0, 2, 2, 16, 34, 33, 35, 11, 2)),
        ((2, 4, 16, 8, 7, 11, 8, 2, 0, 0), (0, 0, 0, 2, 4, 5, 2, 6, 0, 1)),
    ),
    (  # Male
        ((0, 1, 1, 1, 2, 5, 1, 0, 0, 0), (0, 0, 0, 0, 0, 2, 0, 1, 0, 0)),
        ((0, 7, 17, 17, 18, 23, 12, 5, 1, 0), (0, 0, 0, 1, 5, 9, 13, 12, 5, 0)),
        ((7, 10, 29, 47, 53, 43, 31, 11, 1, 0), (0, 0, 1, 4, 10, 9, 17, 5, 5, 2)),
        ((4, 11, 17, 38, 28, 32, 14, 9, 1, 0), (0, 0, 0, 4, 7, 11, 13, 9, 3, 3)),
        ((0, 0, 0, 0, 3, 2, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 1, 0, 1, 1)),
        ((2, 0, 4, 1, 5, 3, 2, 1, 0, 0), (0, 0, 0, 0, 0, 3, 3, 0, 0, 2)),
        ((13, 23, 49, 77, 120, 81, 64, 16, 5, 1), (0, 0, 0, 7, 18, 30, 46, 48, 28, 14)),
        ((1, 5, 14, 9, 21, 14, 12, 2, 4, 1), (0, 0, 0, 0, 3, 4, 6, 8, 1, 1)),
    ),
    (  # unknown sex
        ((0, 0, 0, 0, 0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((0, 0, 0, 2, 2, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 0, 1, 0, 0, 1)),
        ((0, 0, 2, 1, 3, 2, 2, 0, 0, 0), (0, 0, 0, 0, 1, 1, 0, 0, 0, 0)),
        ((0, 0, 0, 1, 1, 2, 0, 2, 0, 0), (0, 0, 0, 0, 0, 0, 1, 1, 0, 0)),
        ((0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((0, 0, 1, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((1, 2, 0, 3, 1, 7, 0, 1, 0, 0), (0, 0, 0, 0, 1, 1, 2, 2, 1, 0)),
        ((0, 1, 1, 2, 3, 2, 1, 0, 0, 0), (0, 0, 0, 0, 0, 0, 2, 1, 0, 1)),
    ),
)


__all__ = ["applicants", "compas", "compas_by_age_and_sex", "compas_deciles"]

_SEXES = ("Female", "Male")
_AGES = ("under 25", "25 to 45", "over 45")
_OUTCOMES = {"reoffended": np.array([1, 0, 0, 1]), "high_risk": np.array([1, 1, 0, 0])}
_RACES = (
    "American Indian or Alaska Native",
    "Asian",
    "Black or African American",
    "Hispanic or Latino",
    "Native Hawaiian or Pacific Islander",
    "Two or More Races",
    "White",
)
_SCORES = range(10, 101, 10)


@short_traceback
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

    Notes
    -----
    Source: data that ProPublica published in 2016, of which these are counts, without records of
    persons. The totals are those of ProPublica's tables. Some counts are of one person.

    We know of no explicit licence for these data. ProPublica asks to be named where they are
    published. The licence of balframe gives no rights in them.

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
    n = np.array(list(COMPAS.values())).sum(axis=(1, 2))
    return _build_frame({"race": tuple(COMPAS)}, _OUTCOMES, n, backend, expand)


@short_traceback
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

    Notes
    -----
    The source and its terms are those of `compas`. Some counts are of one person.

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
    return _build_frame(
        {"race": tuple(COMPAS), "sex": _SEXES, "age": _AGES},
        _OUTCOMES,
        np.array(list(COMPAS.values())),
        backend,
        expand,
    )


@short_traceback
def compas_deciles(*, backend: Literal["polars", "pandas"] = "polars", expand: bool = False) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return the deciles of the COMPAS scores and two-year recidivism by race, as counts.

    These are the 6,172 people of ProPublica's own analysis. It left out others of `compas`, most of
    them because the dates of their screening and their arrest are unknown or more than 30 days
    apart. Nothing is downloaded.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        Library of the returned frame.
    expand : bool, default False
        Return one row for each person instead of counts.

    Returns
    -------
    frame of the backend
        `race`, `decile` (1 to 10, the highest risk), `reoffended` (0 or 1) and, unless expanded,
        `n`. Combinations without people have no row.

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    Notes
    -----
    The source and its terms are those of `compas`. Some counts are of one person.

    References
    ----------
    J. Larson, S. Mattu, L. Kirchner and J. Angwin, "How we analyzed the COMPAS recidivism
    algorithm", ProPublica, 2016. The rows were counted in ProPublica's file of two-year recidivism,
    with ProPublica's filters.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.datasets.compas_deciles(backend="pandas").head(2)
                   race  decile  reoffended    n
    0  African-American       1           0  280
    1  African-American       2           0  241
    """
    outcomes = {"decile": np.tile(np.arange(1, 11), 2), "reoffended": np.repeat([0, 1], 10)}
    n = np.array(list(COMPAS_DECILES.values())).reshape(len(COMPAS_DECILES), -1)
    return _build_frame({"race": tuple(COMPAS_DECILES)}, outcomes, n, backend, expand)


@short_traceback
def applicants(*, backend: Literal["polars", "pandas"] = "polars", expand: bool = False) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return an invented table of job applicants, with a test score and whether each was selected.

    The figures are synthetic: no employer, test or person is behind them. There are 2,793
    applicants, of whom 679 were selected. The sex of 65 and the race of 198 are unknown.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        Library of the returned frame.
    expand : bool, default False
        Return one row for each applicant instead of counts.

    Returns
    -------
    frame of the backend
        `sex` ("Female" or "Male"), `race` (seven categories of the EEO-1 report), `score` (10 to
        100 in steps of 10), `selected` (0 or 1) and, unless expanded, `n`. An unknown sex or race
        is null. Combinations without people have no row.

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    Notes
    -----
    Source: invented for balframe, and under its licence.

    Examples
    --------
    >>> import balframe as bf
    >>> people = bf.datasets.applicants(backend="pandas")
    >>> people.groupby(["sex", "selected"], dropna=False)["n"].sum()
    sex     selected
    Female  0           1014
            1            286
    Male    0           1052
            1            376
    NaN     0             48
            1             17
    Name: n, dtype: int64
    """
    outcomes = {"score": np.tile(_SCORES, 2), "selected": np.repeat([0, 1], len(_SCORES))}
    n = np.array(APPLICANTS).reshape(3, 8, -1)
    return _build_frame({"sex": _SEXES, "race": _RACES}, outcomes, n, backend, expand)


def _build_frame(
    levels: Mapping[str, Sequence[str]],
    outcomes: Mapping[str, Int64Array],
    n: Int64Array,
    backend: str,
    expand: bool,
) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return a frame of counts, whose axes are the levels of each column and the outcomes.

    An axis that is longer than its levels ends with the people whose level is unknown.
    """
    adapter = backend_adapter(backend)
    check_choice("expand", expand, (False, True))
    cells = np.repeat(np.arange(n.size), n.ravel()) if expand else np.flatnonzero(n)
    *codes, outcome = np.unravel_index(cells, n.shape)
    columns: dict[Name, Any] = {
        name: adapter.take(adapter.text_series(values), code, nullable=True)
        for (name, values), code in zip(levels.items(), codes, strict=True)
    }
    columns |= {name: values[outcome] for name, values in outcomes.items()}
    return adapter.build_frame(columns if expand else columns | {"n": n.ravel()[cells]})


def __dir__() -> list[str]:
    return list(__all__)
