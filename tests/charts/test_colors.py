"""Every colour of a chart against the background on which it lies, by the formulas of WCAG 2."""

import itertools
import json
import re

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert

import balframe as bf
from balframe.charts import style
from tests.support.cases import cases
from tests.support.chart_specifications import specification

BACKGROUNDS = ("#ffffff", "#333333", "#1e1e1e")
HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
MARKS, TEXTS = 3, 4.5  # the least contrasts of WCAG 2.2, criteria 1.4.11 and 1.4.3

# severity 1 of Machado, Oliveira and Fernandes, IEEE TVCG 2009, for linear RGB
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def rgb(color):
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], float)


def linear(values):
    share = np.asarray(values) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def luminance(values):
    return float(linear(values) @ [0.2126, 0.7152, 0.0722])


def contrast(one, another):
    darker, lighter = sorted([luminance(rgb(one)), luminance(rgb(another))])
    return (lighter + 0.05) / (darker + 0.05)


def lab(values):
    of_srgb = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ratio = np.array(of_srgb) @ values / np.array([0.9505, 1, 1.089])
    a, b, c = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * b - 16, 500 * (a - b), 200 * (b - c)])


def people(n_segments):
    rng = np.random.default_rng(5)
    segment = np.repeat(np.arange(n_segments), 30)
    y = rng.integers(0, 2, segment.size)
    s = rng.normal(size=segment.size) + y
    names = [f"site {one:02d}" for one in segment]
    df = pl.DataFrame({"g": names, "y": y, "p": (s > 0.7).astype(int), "s": s})
    small = pl.DataFrame({"g": [None, "one"], "y": [0, 0], "p": [0, 1], "s": [0.5, 0.1]})
    return pl.concat([df, small.cast(df.schema)])


CHARTS = {
    "report": lambda df: bf.plot.report(df, "y", "p", by="g"),
    "several": lambda df: bf.plot.report(df, "y", "p", by="g", metrics=["recall", "accuracy"]),
    "gaps": lambda df: bf.plot.gaps(df, "y", "p", by="g", metrics="accuracy"),
    "curve": lambda df: bf.plot.curve(df, "y", "s", by="g"),
    "roc": lambda df: bf.plot.roc(df, "y", "s", by="g"),
    "monitor": lambda df: bf.plot.monitor(
        df.with_columns(day=pl.date(2026, 1, 5) + pl.duration(days=pl.int_range(pl.len()) % 28)),
        *("y", "p"),
        by="g",
        time=bf.period("day", "1w"),
        baseline="2026-01-11",
        dispersion=None,
    ),
}


def test_contrast_equals_the_ratio_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # WebAIM's example


@pytest.mark.thorough
@cases("n_segments", [2, 6])
@cases("name", CHARTS)
def test_every_mark_has_enough_contrast_on_every_background(name, n_segments):
    given = specification(CHARTS[name](people(n_segments)))
    given.pop("datasets")
    given.pop("config")
    parts = json.dumps(given)

    inks = {style.DARK_INK, style.LIGHT_INK, style.ANY_INK}  # which follow the background
    outlines = {style.WHITE}  # of points that have a colour
    found = set(HEX.findall(parts)) - inks - outlines
    assert found
    for color, background in itertools.product(found, BACKGROUNDS):
        assert contrast(color, background) >= MARKS, (color, background)
    named = re.findall(r'"(?:color|fill|stroke|\w+Color)": "(?!#)(\w+)"', parts)
    assert named == []


@pytest.mark.thorough
@cases("theme", ["default", "dark"])
@cases("name", CHARTS)
def test_texts_have_enough_contrast_under_every_theme(name, theme):
    with alt.theme.enable(theme):
        given = CHARTS[name](people(2)).to_dict()
    embedded = given.get("usermeta", {}).get("embedOptions", {}).get("theme")
    svg = vl_convert.vegalite_to_svg(given, theme=embedded)

    (background,) = re.findall(r'<rect width="[\d.]+" height="[\d.]+" fill="([^"]+)"', svg)[:1]
    background = {"white": "#ffffff", "#333": "#333333"}[background]
    texts = re.findall(r'<text[^>]* fill="([^"]+)"', svg)
    long = {"#000": "#000000", "#fff": "#ffffff"}
    assert len(texts) > 5
    assert min(contrast(long.get(one, one), background) for one in texts) >= TEXTS


@cases(
    ("background", "ink"),
    [("white", "#222222"), ("#1e1e1e", "#f0f0f0"), ("navy", "#f0f0f0"), ("transparent", "#808080")],
)
def test_text_colour_follows_the_background_of_the_chart(background, ink):
    chart = CHARTS["report"](people(2)).properties(background=background)

    svg = vl_convert.vegalite_to_svg(chart.to_dict())

    written = re.search(r'<text[^>]* fill="([^"]+)"[^>]*>rows</text>', svg)
    assert ink in re.findall(r'<text[^>]* fill="([^"]+)"', svg)
    assert written


def test_axis_and_title_colours_can_be_configured():
    chart = CHARTS["report"](people(2)).configure_axis(labelColor="#aa0000", gridColor="#00aa00")

    svg = vl_convert.vegalite_to_svg(chart.configure_title(color="#0000aa").to_dict())

    for color in ("#aa0000", "#00aa00", "#0000aa"):
        assert color in svg


def test_counts_have_enough_contrast_on_every_shade():
    given = specification(bf.plot.confusion(pl.DataFrame({"y": [0, 1], "p": [0, 0]}), "y", "p"))
    counts = next(one["encoding"] for one in given["layer"] if one["mark"]["type"] == "text")
    (dark,) = counts["color"]["condition"]
    limit = float(re.search(r"datum.share > ([\d.]+)", dark["test"])[1])
    (cells,) = [one["encoding"]["color"] for one in given["layer"] if one["mark"]["type"] == "rect"]
    scale = cells["scale"]
    assert scale["interpolate"] == "rgb"
    low, high = map(rgb, scale["range"])

    for share in np.linspace(0, 1, 101):
        cell = "#" + "".join(f"{round(one):02x}" for one in low + (high - low) * share)
        ink = dark["value"] if share > limit else counts["color"]["value"]
        assert contrast(ink, cell) >= TEXTS, share
    assert (
        contrast(counts["color"]["value"], cells["condition"]["value"]) >= TEXTS
    )  # without a share


@cases("kind", BLINDNESS)
def test_line_colours_are_distinct_under_colour_blindness(kind):
    seen = [
        lab(np.clip(np.array(BLINDNESS[kind]) @ linear(rgb(color)), 0, 1))
        for color in style.LINE_COLORS
    ]

    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert len(set(style.LINE_COLORS)) == 4
    assert min(distances) > 25  # a difference of 2.3 is just noticed
