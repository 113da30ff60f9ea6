"""Charts of rows in clusters: their limits, and how many clusters there are."""

import polars as pl
import pytest

import balframe as bf
from tests.support.chart_specifications import rows_of, shown, subtitle
from tests.support.constructors import plain

FRAME = pl.DataFrame(
    {
        "g": [*"aaaaaabbbbbb"],
        "c": [*"uuvvwwuvwwxx"],
        "y": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
        "p": [1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1],
        "s": [0.9, 0.3, 0.7, 0.6, 0.2, 0.4, 0.8, 0.1, 0.6, 0.5, 0.4, 0.7],
    }
)
ASKED = {"by": "g", "cluster": "c"}
WORDS = "95% confidence intervals; rows in clusters by c"


@pytest.mark.parametrize(
    ("draw", "method", "limits"),
    [
        (bf.plot.report, bf.report, "accuracy_{}"),
        (bf.plot.gaps, bf.gaps, "{}"),
    ],
)
def test_limits_equal_those_of_the_method_with_clusters(draw, method, limits):
    chart = draw(FRAME, "y", "p", metrics="accuracy", **ASKED)

    more = {"interval": True} if method is bf.report else {}
    result = plain(method(FRAME, "y", "p", metrics="accuracy", **ASKED, **more))
    drawn = sorted(rows_of(chart), key=lambda row: row["segment"])
    for end in ("lower", "upper"):
        assert [row[end] for row in drawn] == result[limits.format(end)]
    assert [row["n_clusters"] for row in drawn] == [3, 4]
    assert shown(chart, "point")["n_clusters"] == "clusters"
    assert subtitle(chart)[0].startswith(WORDS)


def test_limits_of_areas_equal_those_of_ranking_with_clusters():
    chart = bf.plot.roc(FRAME, "y", "s", **ASKED)

    expected = bf.ranking(FRAME, "y", "s", **ASKED)
    held = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    for name in ("roc_auc_lower", "roc_auc_upper"):
        drawn = {row["segment"]: row[name] for row in held if row.get(name) is not None}
        assert drawn == dict(zip("ab", expected[name], strict=True))
