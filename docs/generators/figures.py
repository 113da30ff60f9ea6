"""Figures of the explanations: each function returns a chart."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from . import figure_data, growth
from .figure_data import BALANCED, LOWER, UPPER

BLUE, VERMILLION, BLACK = "#0072B2", "#D55E00", "#000000"
GREEN, PURPLE, SKY = "#009E73", "#AA4499", "#56B4E9"
WIDTH, HEIGHT, PANEL = 500, 270, 215

SOLID, DASHED, DOTTED = [1, 0], [6, 3], [1.5, 3]
WAYS = {  # one colour for each library that counts, dashes without balframe
    "balframe, polars": (BLUE, SOLID),
    "balframe, polars, with limits": (BLUE, DOTTED),
    "polars by hand": (BLUE, DASHED),
    "balframe, DuckDB": (GREEN, SOLID),
    "DuckDB by hand": (GREEN, DASHED),
    "balframe, pandas": (VERMILLION, SOLID),
    "scikit-learn, a loop": (VERMILLION, DASHED),
    "balframe, Spark": (PURPLE, SOLID),
    "balframe, Dask": (SKY, SOLID),
}

AnyChart = alt.Chart | alt.LayerChart | alt.HConcatChart


def two_means() -> AnyChart:
    """Show balanced accuracy and geometric mean side by side over both recalls."""
    n = 25
    data = figure_data.means(n)
    bands = alt.Scale(type="threshold", domain=[i / 10 for i in range(1, 10)], scheme="viridis")
    ticks = alt.Axis(values=[i / 5 for i in range(6)], format=".1f", labelAngle=0, grid=False)
    upwards = {"title": "recall of negatives", "sort": "descending", "axis": ticks}
    panels = [
        alt.Chart(data, title=title, width=7 * (n + 1), height=7 * (n + 1))
        .mark_rect()
        .encode(
            x=alt.X("recall:O", title="recall of positives", axis=ticks),
            y=alt.Y("specificity:O", **upwards),
            color=alt.Color(f"{metric}:Q", title="score", scale=bands),
            stroke=alt.Stroke(f"{metric}:Q", title="score", scale=bands),
        )
        for metric, title in {
            BALANCED: "balanced accuracy",
            "geometric_mean": "geometric mean",
        }.items()
    ]
    return _styled(alt.hconcat(*panels))


def coenen() -> AnyChart:
    """Show Coenen's accuracies against the number of labels, as they are and normalised."""
    legend = alt.Legend(orient="top", symbolType="circle")
    colours = alt.Scale(range=[BLACK, BLUE])
    data = figure_data.accuracies_of_coenen()
    base = alt.Chart(data, width=WIDTH, height=HEIGHT).encode(
        x=alt.X("labels:O", title="number of labels", axis=alt.Axis(labelAngle=0)),
        y=_vertical("value:Q", "score", highest=1.05),
        color=alt.Color("score:N", title=None, scale=colours, legend=legend),
    )
    places = {
        "datum.score == 'accuracy'": (0, -12),
        "datum.score != 'accuracy' && datum.labels == 1": (24, -2),
        "datum.score != 'accuracy' && datum.labels == 2": (17, 15),
        "datum.score != 'accuracy' && datum.labels > 2": (0, 15),
    }
    values = [
        base.transform_filter(which)
        .mark_text(fontSize=11, dx=dx, dy=dy)
        .encode(text=alt.Text("value:Q", format=".3f"))
        for which, (dx, dy) in places.items()
    ]
    return _styled(alt.layer(base.mark_line(point=alt.OverlayMarkDef(size=45)), *values))


def over_thresholds() -> AnyChart:
    """Show both accuracies over thresholds, of a score that knows the label and of a random one."""
    base = alt.Chart(figure_data.curves(), width=PANEL, height=PANEL).mark_line(strokeWidth=2.5)
    accuracy, balanced = (
        base.encode(
            x=alt.X("threshold:Q", title="threshold of the score"),
            y=_vertical(f"{metric}:Q", metric.replace("_", " ")),
            **_two_lines("model", ["informative", "uninformative"], "score"),
        )
        for metric in ("accuracy", BALANCED)
    )
    return _styled(accuracy | (_level_line(0.5) + balanced))


def majority() -> AnyChart:
    """Show what always answering the more frequent label scores, against the prevalence."""
    shares = alt.Scale(domain=[0, 1])
    lines = alt.Chart(figure_data.majority_answers(), width=WIDTH, height=HEIGHT).mark_line(
        strokeWidth=2.5
    )
    chart = lines.encode(
        x=alt.X("prevalence:Q", title="prevalence (share of positive rows)", scale=shares),
        y=_vertical("value:Q", "score of always predicting the majority"),
        **_two_lines("score", ["balanced accuracy", "accuracy"], None),
    )
    return _styled(chart)


def repetitions() -> AnyChart:
    """Show the limits from a hundred samples of one classifier, and which miss the truth."""
    names = ["contains the true score", "misses it"]
    legend = alt.Legend(orient="top", symbolType="circle")
    colours = alt.Scale(domain=names, range=[BLUE, VERMILLION])
    base = alt.Chart(figure_data.samples(), width=WIDTH, height=HEIGHT).encode(
        x=alt.X("sample:Q", title="sample", scale=alt.Scale(domain=[0, 101], nice=False)),
        color=alt.Color("limits:N", title="95% interval", scale=colours, legend=legend),
    )
    is_miss = alt.datum.limits == names[1]
    intervals = base.mark_rule().encode(
        y=_vertical(f"{LOWER}:Q", "balanced accuracy", lowest=0.5),
        y2=f"{UPPER}:Q",
        strokeWidth=alt.condition(is_miss, alt.value(3.5), alt.value(1.3)),
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        y=_vertical(f"{BALANCED}:Q", "balanced accuracy", lowest=0.5),
        size=alt.condition(is_miss, alt.value(55), alt.value(20)),
    )
    return _styled(_level_line(0.8, lowest=0.5) + intervals + points)


def coverage_by_support() -> AnyChart:
    """Show how often the limits of two methods hold the truth, against the rows of each label."""
    lines = alt.Chart(figure_data.coverage(), width=WIDTH, height=HEIGHT).mark_line(strokeWidth=2)
    chart = lines.encode(
        x=alt.X("support:Q", title="rows of each of the two labels"),
        y=_vertical("coverage:Q", "coverage (share of samples)"),
        **_two_lines("limits", ["score", "Wald"], "95% interval"),
    )
    return _styled(_level_line(0.95) + chart)


def extremes() -> AnyChart:
    """Show how far apart equal segments look, and how often limits say that they differ."""
    spread, claims = figure_data.extremes()
    ticks = alt.Axis(values=[2, 5, 10, 20, 50, 100], grid=False)
    logarithmic = alt.Scale(type="log", domain=[1.8, 110], nice=False)
    x = alt.X("segments:Q", title="number of equal segments", scale=logarithmic, axis=ticks)
    base = alt.Chart(spread, width=PANEL, height=PANEL).encode(x=x)
    title = "highest - lowest balanced accuracy"
    band = base.mark_area(color=BLACK, opacity=0.15).encode(
        y=_vertical("low:Q", title, highest=0.3), y2="high:Q"
    )
    middle = base.mark_line(color=BLACK, strokeWidth=2.5, point={"color": BLACK}).encode(
        y=_vertical("median:Q", title, highest=0.3)
    )
    lines = alt.Chart(claims, width=PANEL, height=PANEL).mark_line(strokeWidth=2.5, point=True)
    shares = lines.encode(
        x=x,
        y=_vertical("share:Q", "share of samples that exclude 0"),
        **_two_lines("limits", ["of disparity", "of the pair alone"], "95% interval"),
    )
    return _styled((band + middle) | (_level_line(0.05) + shares))


def base_rates() -> AnyChart:
    """Show the false positive rate that equal precision and equal misses demand of a prevalence."""
    groups, line = figure_data.base_rates()
    title = "false positive rate"
    axis, shares = alt.Axis(tickCount=6, format=".2f"), alt.Scale(domain=[0.3, 0.6], nice=False)
    x = alt.X("prevalence:Q", title="prevalence (share re-arrested)", scale=shares, axis=axis)
    curve = alt.Chart(line, width=WIDTH, height=HEIGHT).encode(x=x)
    demanded = _vertical("demanded:Q", title, highest=0.6)
    base = alt.Chart(groups).encode(x=x)
    actual = base.encode(y=_vertical("false_positive_rate:Q", title, highest=0.6))
    layers = [
        curve.mark_line(color=BLUE, strokeWidth=2).encode(y=demanded),
        base.mark_point(size=90, stroke=BLUE, fill="white", opacity=1).encode(y=demanded),
        actual.mark_point(filled=True, size=90, color=VERMILLION, opacity=1),
    ]
    for race, dy in {"African-American": -16, "Caucasian": 18}.items():
        named = actual.transform_filter(alt.datum.race == race)
        layers.append(named.mark_text(fontSize=12, dx=-8, dy=dy).encode(text="race:N"))
    return _styled(alt.layer(*layers))


def growth_with_rows() -> AnyChart:
    """Show time and memory against the number of rows."""
    return _growth("rows", "rows")


def growth_with_segments() -> AnyChart:
    """Show time and memory against the number of segments."""
    return _growth("segments", "segments")


def growth_with_labels() -> AnyChart:
    """Show time and memory against the number of class labels."""
    return _growth("labels", "class labels")


def growth_with_columns() -> AnyChart:
    """Show time and memory against the number of by-columns."""
    return _growth("columns", "by-columns")


def _growth(axis: str, title: str) -> AnyChart:
    """Draw a line for each way on logarithmic scales, time on the left and memory on the right."""
    data = growth.along(axis)
    names = [name for name in WAYS if name in data["way"]]
    colours, dashes = zip(*(WAYS[name] for name in names), strict=True)
    legend = alt.Legend(
        orient="bottom", columns=3, symbolType="stroke", symbolSize=400, labelLimit=0
    )
    logarithmic = alt.Scale(type="log", nice=False)
    steps = alt.Axis(values=sorted(set(data[axis])), format="~s", labelOverlap=True)
    lines = (
        alt.Chart(data, width=PANEL, height=PANEL)
        .mark_line(strokeWidth=2, point={"size": 18})
        .encode(
            x=alt.X(f"{axis}:Q", title=title, axis=steps, scale=logarithmic),
            color=alt.Color("way:N", title=None, scale=_named(names, colours), legend=legend),
            strokeDash=alt.StrokeDash("way:N", title=None, scale=_named(names, dashes)),
        )
    )
    powers = alt.Axis(values=[10**power for power in range(-4, 6)], format="~")
    panels = [
        lines.transform_filter(alt.FieldValidPredicate(field=column, valid=True)).encode(
            y=alt.Y(f"{column}:Q", title=title, axis=powers, scale=alt.Scale(type="log"))
        )
        for column, title in {"seconds": "time, s", "megabytes": "peak memory, MB"}.items()
    ]
    return _styled(alt.hconcat(*panels))


def _named(names: Sequence[str], values: Sequence[object]) -> alt.Scale:
    return alt.Scale(domain=names, range=list(values))


def _styled(chart: AnyChart) -> AnyChart:
    """Give a chart what all figures share: white ground, large type, a faint grid."""
    axis = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    return (
        chart.configure(background="white", font="sans-serif")
        .configure_axis(**axis, gridColor="#e5e5e5", domainColor="#888888", labelFlush=False)
        .configure_view(stroke=None)
        .configure_title(fontSize=13, fontWeight="normal", anchor="start")
        .configure_legend(labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_concat(spacing=24)
    )


def _vertical(column: str, title: str, lowest: float = 0, highest: float = 1) -> alt.Y:
    """Make a vertical axis, of shares from 0 to 1 unless told otherwise."""
    scale = alt.Scale(domain=[lowest, highest], nice=False, zero=False)
    return alt.Y(column, title=title, scale=scale)


def _two_lines(column: str, names: Sequence[str], title: str | None) -> dict[str, object]:
    """Tell two lines apart by colour and, for those who see none, by dashes."""
    legend = alt.Legend(orient="top", symbolSize=500, symbolStrokeWidth=3, symbolType="stroke")
    colours = alt.Scale(domain=names, range=[BLUE, VERMILLION])
    dashes = alt.Scale(domain=names, range=[[1, 0], [6, 4]])
    return {
        "color": alt.Color(f"{column}:N", title=title, scale=colours, legend=legend),
        "strokeDash": alt.StrokeDash(f"{column}:N", title=title, scale=dashes, legend=legend),
    }


def _level_line(value: float, lowest: float = 0) -> alt.Chart:
    """Draw a thin line across the figure at the value to compare with."""
    scale = alt.Scale(domain=[lowest, 1], nice=False, zero=False)
    level = alt.Chart(pl.DataFrame({"level": [value]})).mark_rule(color=BLACK)
    return level.encode(y=alt.Y("level:Q", scale=scale))
