"""Data sets for examples: published counts, and one table of invented ones."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from balframe._traceback import short_traceback
from balframe._validate import check_choice
from balframe.core.array_types import Int64Array
from balframe.data._dataset_counts import APPLICANTS, COMPAS, COMPAS_DECILES
from balframe.frames.adapter import Name
from balframe.frames.convert_result import backend_adapter

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
