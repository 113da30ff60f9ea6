"""Published data sets for examples."""

from typing import Any, Literal

import numpy as np

from balframe.errors import check_choice
from balframe.frames.deliver import library_named
from balframe.frames.library import Name

_COMPAS = {  # true positives, false positives, true negatives, false negatives
    "African-American": (1369, 805, 990, 532),
    "Asian": (6, 2, 21, 3),
    "Caucasian": (505, 349, 1139, 461),
    "Hispanic": (103, 87, 318, 129),
    "Native American": (9, 3, 5, 1),
    "Other": (43, 36, 208, 90),
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
    library = library_named(backend)
    check_choice("expand", expand, (False, True))
    n = np.array(list(_COMPAS.values())).ravel()
    cell = np.repeat(np.arange(len(n)), n) if expand else np.arange(len(n))
    race, kind = np.divmod(cell, 4)
    columns: dict[Name, Any] = {
        "race": library.take(library.text(list(_COMPAS)), race, nullable=False),
        "reoffended": np.array([1, 0, 0, 1])[kind],
        "high_risk": np.array([1, 1, 0, 0])[kind],
    }
    return library.build(columns if expand else columns | {"n": n})
