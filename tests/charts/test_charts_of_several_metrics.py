"""Charts of several metrics: lists, presets and mappings, and how their panels lie."""

import struct

import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.chart_specifications import rows_of, specification

CHARTS = {"report": ("y", "p"), "gaps": ("y", "p"), "curve": ("y", "s")}
TABLE = {
    "g": ["a", "a", "a", "b", "b", "b"],
    "y": [1, 0, 1, 0, 1, 0],
    "p": [1, 0, 0, 0, 1, 1],
    "q": [0, 0, 1, 1, 1, 0],
    "s": [0.9, 0.2, 0.4, 0.3, 0.8, 0.6],
}
FAIRNESS = [
    "selection_rate",
    "prevalence",
    "recall",
    "false_positive_rate",
    "false_negative_rate",
    "precision",
]


def titles(given):
    return [part["title"]["text"] for part in given["concat"]]


@pytest.mark.parametrize("name", ["report", "gaps", "curve"])
def test_invalid_metrics_are_refused_with_a_suggestion(name):
    chart = getattr(bf.plot, name)
    df = pl.DataFrame(TABLE)

    for metrics in (None, 3, []):
        with pytest.raises(bf.BalframeError, match="metrics="):
            chart(df, *CHARTS[name], by="g", metrics=metrics)
    with pytest.raises(bf.UnknownNameError, match="did you mean 'recall'"):
        chart(df, *CHARTS[name], by="g", metrics=["accuracy", "recal"])
    with pytest.raises(bf.UnsupportedTypeError, match="did you mean 'metrics'"):
        chart(df, *CHARTS[name], by="g", metric="recall")


@pytest.mark.parametrize("name", ["report", "gaps", "curve"])
def test_panels_of_several_metrics_have_the_same_segment_order(name):
    chart = getattr(bf.plot, name)
    df, metrics = pl.DataFrame(TABLE), ["recall", "specificity"]

    given = specification(chart(df, *CHARTS[name], by="g", metrics=metrics))

    assert [part["title"]["text"] for part in given["concat"]] == ["Recall", "Specificity"]
    for part, metric in zip(given["concat"], metrics, strict=True):
        rows = given["datasets"][part["data"]["name"]]
        alone = rows_of(chart(df, *CHARTS[name], by="g", metrics=metric))
        assert [row["estimate"] for row in rows] == [row["estimate"] for row in alone]
    orders = [
        layer["encoding"][channel].get("sort")
        for part in given["concat"]
        for layer in part["layer"]
        for channel in ("y", "color")
        if layer["encoding"].get(channel, {}).get("field") == "segment"
    ]
    assert len(orders) > 2
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize("name", CHARTS)
def test_a_preset_draws_its_metrics(name):
    def drawn(metrics):
        return getattr(bf.plot, name)(pl.DataFrame(TABLE), *CHARTS[name], by="g", metrics=metrics)

    given = specification(drawn("fairness"))

    assert titles(given) == [one.replace("_", " ").capitalize() for one in FAIRNESS]
    assert given == drawn(FAIRNESS).to_dict()


@pytest.mark.parametrize("name", CHARTS)
def test_a_mapping_renames_the_panels(name):
    metrics = {"hit rate": "recall", "false alarms": "fpr"}
    df = pl.DataFrame(TABLE)

    given = specification(getattr(bf.plot, name)(df, *CHARTS[name], by="g", metrics=metrics))

    assert titles(given) == ["Hit rate", "False alarms"]
    for part, metric in zip(given["concat"], metrics.values(), strict=True):
        alone = getattr(bf.plot, name)(df, *CHARTS[name], by="g", metrics=metric)
        estimates = [row["estimate"] for row in given["datasets"][part["data"]["name"]]]
        assert estimates == [row["estimate"] for row in rows_of(alone)]


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize(
    ("segment", "n"), [("African-American {}", 8), ("long name " * 6 + "{}", 2)]
)
@pytest.mark.parametrize(
    ("y_pred", "metrics"),
    [("p", "recall"), (["p", "q"], "recall"), ("p", "fairness"), (["p", "q"], ["recall", "fpr"])],
)
def test_panels_are_as_wide_as_a_page(segment, n, y_pred, metrics):
    df = pl.concat([pl.DataFrame({**TABLE, "g": [segment.format(one)] * 6}) for one in range(n)])

    chart = bf.plot.report(df, "y", y_pred, by="g", metrics=metrics)

    png = vl_convert.vegalite_to_png(chart.to_dict(), ppi=72)
    width, _ = struct.unpack(">II", png[16:24])
    assert 500 < width < 760


@pytest.mark.parametrize(("n", "n_columns"), [(2, 2), (5, 3)])
def test_six_metrics_are_arranged_in_two_or_three_columns(n, n_columns):
    df = pl.concat([pl.DataFrame({**TABLE, "g": [f"g{one}"] * 6}) for one in range(n)])

    given = specification(bf.plot.report(df, "y", "p", by="g", metrics="fairness"))

    assert given["columns"] == n_columns
    for at, part in enumerate(given["concat"]):
        shows_names = {
            layer["encoding"]["y"]["axis"]["labels"]
            for layer in part["layer"]
            if layer["encoding"].get("y", {}).get("field") == "segment"
        }
        assert shows_names == {at % n_columns == 0}
