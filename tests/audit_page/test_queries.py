"""The rows of a model are counted once, and its labels are found."""

import polars as pl
import pytest

from balframe.audit_page.queries import count_model
from balframe.core.binning import weighted_median
from balframe.frames.polars_cells import values_with_counts
from tests.support.audits.small_audits import make_request
from tests.support.cases import cases
from tests.support.constructors import each_constructor

pytestmark = pytest.mark.usefixtures("within_a_call")


def cells_of(frame, **changes):
    request = make_request(**changes)
    return count_model(frame, request, request.models[0])


def test_missing_rows_are_counted():
    data = pl.DataFrame(
        {"g": [*"ab", None, *"abab"], "y": [0, 1, 1, None, 0, 1, 0], "p": [0, 1, 0, 1, None, 1, 1]}
    )
    cells = cells_of(data, options={"missing": "drop"})
    assert cells.n_missing == 2
    assert cells.frame["n"].sum() == 5
    assert cells.n_true == {0: 2, 1: 3}


@cases(
    ("values", "labels", "positive"),
    [
        ([0, 0], (0, 1), 1),
        ([-1, -1], (-1, 1), 1),
        ([True, True], (False, True), True),
        ([False, True], (False, True), True),
        (["a", "b", "c"], ("a", "b", "c"), None),
        (["a", "a"], ("a",), None),
    ],
)
def test_labels_and_positive_label_are_inferred_from_values(values, labels, positive):
    data = pl.DataFrame({"g": ["a"] * len(values), "y": values, "p": values})
    cells = cells_of(data)
    assert [(type(one), one) for one in cells.labels] == [(type(one), one) for one in labels]
    assert cells.positive == positive
    assert type(cells.positive) is type(positive)


@each_constructor
@cases("missing", [False, True])
def test_median_and_scores_above_it_are_exact_where_scores_are_rounded(constructor, missing):
    """Of 1,601 scores, 800 are below .5501 and 800 above; the step is .001, from .550 on."""
    scores = [*(i / 2_000 for i in range(800)), 0.5501, *[0.5502, 0.5507] * 200]
    scores += [0.6 + i / 1_000 for i in range(400)]
    groups = ["ab"[i % 2] for i in range(801)] + [*"aaab"] * 200
    data = {"y": [0, 1] * 800 + [0], "p": [1, 0] * 800 + [1], "g": groups, "s": scores}
    if missing:  # rows of which each would move the median
        data = {name: [*values, *values[:99]] for name, values in data.items()}
        data["y"] = [*data["y"][:1601], *[None] * 99]
    cells = cells_of(
        constructor(data),
        y_score="s",
        favourable="selected",
        options={"missing": "drop" if missing else "raise"},
    )
    assert cells.step == 0.001
    values, n = values_with_counts(cells.scored, "score", "n")
    median = weighted_median(values, n)
    assert median.median == 0.5501
    above = cells.scored.filter(cells.scored["score"] > median.low)
    counts = above.group_by("by0").agg(pl.col("n").sum())
    assert dict(counts.rows()) == {"a": 600, "b": 200}
