"""The chart of `monitor`: what is drawn is what the method returns, a panel for each segment."""

import re
from datetime import date, timedelta

import pandas as pd
import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    every_layer,
    layers_of,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.frames.weekly_stream import ASKED, GAP, STREAM, WORSE

DRAWN = ("n", "estimate", "lower", "upper", "baseline_estimate", "control_limit", "status")
WEEKS_AFTER = 20


JUNE = {"until": "2025-06-30"}


def drawn(frame=STREAM, **options):
    defaults = ASKED | {"by": "site", "dispersion": None}
    return bf.plot.monitor(frame, "y", "yhat", **(defaults | options))


@pytest.fixture(scope="module")
def chart():
    return drawn()


@pytest.fixture(scope="module")
def result():
    return bf.monitor(STREAM, "y", "yhat", by="site", dispersion=None, detail=True, **ASKED)


def encodings(chart, mark, name):
    return [one["encoding"].get(name) for one in layers_of(chart, mark)]


def test_each_segment_has_a_panel_with_the_numbers_of_the_method(chart, result):
    rows = rows_of(chart)

    assert [row["segment"] for row in rows] == ["north"] * WEEKS_AFTER + ["south"] * WEEKS_AFTER
    for name in DRAWN:
        assert [row[name] for row in rows] == result[name].to_list()
    assert [row["period"] for row in rows] == result["period"].cast(pl.String).to_list()
    facet = specification(chart)["facet"]
    assert (facet["field"], facet["title"], facet["sort"]) == (
        "segment",
        "site",
        ["north", "south"],
    )


@pytest.mark.parametrize("library", [pl.LazyFrame, lambda rows: pd.DataFrame(rows)])
def test_every_library_draws_the_same(library, chart):
    assert rows_of(drawn(library(STREAM.to_dict(as_series=False)))) == rows_of(chart)


def test_a_single_segment_is_drawn_without_a_facet():
    one = drawn(STREAM.filter(pl.col("site") == "north"), by=None)

    assert "facet" not in specification(one)
    assert specification(one)["title"]["text"] == "Balanced accuracy every week"


def test_a_period_without_rows_breaks_the_lines(chart):
    empty = [row for row in rows_of(chart) if row["period"] == str(GAP)]

    assert [row["n"] for row in empty] == [0, 0]
    for name in ("estimate", "lower", "upper", "baseline_estimate", "control_limit"):
        assert [row[name] for row in empty] == [None, None]
    points, rules = layers_of(chart, "point"), layers_of(chart, "rule")
    assert [one["transform"] for one in points] == [[{"filter": "isValid(datum.estimate)"}]]
    assert [one["transform"] for one in rules] == [
        [{"filter": "isValid(datum.lower) && isValid(datum.upper)"}]
    ]
    assert all("filter" not in str(one.get("transform")) for one in layers_of(chart, "line"))


def test_alarms_are_marked_by_colour_and_shape(chart):
    (color,), (shape,) = (encodings(chart, "point", name) for name in ("color", "shape"))
    (rule,) = encodings(chart, "rule", "color")

    assert color["scale"]["domain"] == shape["scale"]["domain"] == ["alarm", "ok", "inconclusive"]
    assert len(set(color["scale"]["range"])) == len(set(shape["scale"]["range"])) == 3
    assert rule == color
    alarms = {(row["segment"], row["period"]) for row in rows_of(chart, status="alarm")}
    assert alarms == {("north", str(WORSE + timedelta(weeks=week))) for week in range(4)}


def test_the_baseline_is_solid_and_the_control_limit_is_dashed_steps(chart):
    steps = [one for one in layers_of(chart, "line") if one["mark"].get("interpolate") == "step"]

    assert [one["encoding"]["y"]["field"] for one in steps] == [
        "baseline_estimate",
        "control_limit",
    ]
    scale = steps[0]["encoding"]["strokeDash"]["scale"]
    assert scale["domain"] == ["baseline", "control limit of one period"]
    (_, gap), dash = scale["range"]
    assert gap == 0
    assert min(dash) > 0


def test_days_are_drawn_on_a_utc_scale(chart):
    for encoding in encodings(chart, "point", "x") + encodings(chart, "line", "x"):
        assert (encoding["type"], encoding["scale"]["type"]) == ("temporal", "utc")


def test_the_tooltip_has_all_fields_of_a_period(chart):
    titles = shown(chart, "point")

    assert {"segment": "site", "period": "period", "status": "status", "n": "rows"}.items() <= (
        titles.items()
    )
    assert {row["since"] for row in rows_of(chart, status="alarm")} == {str(WORSE)}
    assert {row["since"] for row in rows_of(chart) if not row["n"]} == {None}
    assert titles["since"] == "most likely worse since"
    assert set(titles) <= set(rows_of(chart)[0])


@cases(
    ("options", "title", "promise"),
    [
        (
            {},
            "Balanced accuracy every week by site",
            "104 periods: 5%, shared by 2 segments",
        ),
        (
            {
                "by": None,
                "metrics": "recall",
                "time": bf.period("when", "2w"),
                "level": 0.9,
                "looks": 52,
            },
            "Recall every 2 weeks",
            "52 periods: 10%",
        ),
        (
            {
                "metrics": ["recall", "specificity"],
                "time": bf.period("when", "1mo"),
                "baseline": JUNE,
            },
            "Scores every month by site",
            "104 periods: 5%, shared by 2 segments and 2 metrics",
        ),
        (
            {"adjust": None, "time": bf.period("when", "1q"), "baseline": JUNE},
            "Balanced accuracy every quarter by site",
            "104 periods: 5%, for each of 2 segments alone",
        ),
    ],
)
def test_titles_state_metric_period_and_probability_of_a_false_alarm(options, title, promise):
    found = drawn(**options)

    assert specification(found)["title"]["text"] == title
    assert subtitle(found) == [
        f"{100 * options.get('level', 0.95):g}% confidence intervals of single periods",
        f"Designed probability of any false alarm in {promise}",
    ]


def test_each_metric_has_separate_panels():
    found = drawn(metrics={"hits": "recall", "fpr": "fpr"})

    parts = specification(found)["concat"]
    assert [part["title"]["text"] for part in parts] == ["hits", "fpr"]
    datasets = specification(found)["datasets"]
    scores = [
        {row["segment"]: row["baseline_estimate"] for row in datasets[part["data"]["name"]]}
        for part in parts
    ]
    assert scores[0] == pytest.approx({"north": 0.9, "south": 0.9})
    assert scores[1] == pytest.approx({"north": 0.1, "south": 0.1})


def test_each_model_has_a_panel():
    two = STREAM.with_columns(other=1 - pl.col("yhat"))

    found = bf.plot.monitor(two, "y", ["yhat", "other"], **ASKED)

    n = {row["segment"]: row["baseline_estimate"] for row in rows_of(found) if row["n"]}
    assert n == pytest.approx({"yhat": 0.9, "other": 0.1})


def test_segments_with_the_latest_alarms_are_drawn_before_the_largest():
    south = STREAM.filter(pl.col("site") == "south")
    larger = [south.with_columns(site=pl.lit(f"s{i}"), n=pl.col("n") * (i + 1)) for i in range(4)]

    found = drawn(pl.concat([STREAM.filter(pl.col("site") == "north"), *larger]), most=3)

    assert list(dict.fromkeys(row["segment"] for row in rows_of(found))) == ["north", "s2", "s3"]
    assert subtitle(found)[-1] == "3 of 5 segments: those with the latest alarms, then the largest"


def test_charts_of_datetimes_and_cells_equal_those_of_dates_and_rows():
    at_noon = STREAM.with_columns(pl.col("when").cast(pl.Datetime) + pl.duration(hours=12))
    cells = bf.confusion(STREAM, "y", "yhat", by=["site", "when"], counts="n")
    of_cells = {name: one for name, one in ASKED.items() if name != "counts"}

    expected = rows_of(drawn())
    assert rows_of(drawn(at_noon)) == expected
    found = bf.plot.monitor(cells, "y", "yhat", by="site", dispersion=None, **of_cells)
    assert rows_of(found) == expected


@pytest.mark.thorough
@cases("n", [1, 3, 7, 12])
def test_charts_of_1_to_12_panels_are_rendered(n):
    south = STREAM.filter(pl.col("site") == "south")
    many = pl.concat([south.with_columns(site=pl.lit(f"s{i}")) for i in range(n)])

    svg = vl_convert.vegalite_to_svg(drawn(many).to_dict())

    (width,) = re.findall(r'<svg[^>]* width="([\d.]+)', svg)
    assert float(width) < 850
    assert all(f">s{i}<" in svg for i in range(n)) or n == 1
    assert "NaN" not in svg


def test_a_stream_of_one_period_is_drawn():
    first = STREAM.filter(pl.col("when") < date(2025, 7, 14))

    svg = vl_convert.vegalite_to_svg(drawn(first).to_dict())

    assert "NaN" not in svg


def test_every_layer_uses_the_data_of_the_chart(chart):
    assert all("data" not in layer for layer in every_layer(specification(chart)))
