import re
import struct
from html import unescape

import numpy as np
import polars as pl
import pytest
import vl_convert

import balframe as bf

pytestmark = pytest.mark.browser

CHARTS = {
    "report": ("y", "p"),
    "gaps": ("y", "p"),
    "confusion": ("y", "p"),
    "curve": ("y", "s"),
    "roc": ("y", "s"),
}


def people(n_segments):
    """Segments of thirty rows with scores that tell more and more."""
    rng = np.random.default_rng(5)
    segment = np.repeat(np.arange(n_segments), 30)
    y = rng.integers(0, 2, segment.size)
    s = rng.normal(size=segment.size) + y * (1 + segment / n_segments)
    names = [f"site {one:02d}" for one in segment]
    return pl.DataFrame({"g": names, "y": y, "p": (s > 0.7).astype(int), "s": s})


@pytest.mark.any_version
@pytest.mark.parametrize("n_segments", [3, 60])
@pytest.mark.parametrize("name", CHARTS)
def test_a_picture_has_every_segment_and_fits_a_page(name, n_segments, tmp_path):
    path = tmp_path / "chart.png"
    df = people(n_segments)

    chart = getattr(bf.plot, name)(df, *CHARTS[name], by="g")
    chart.save(path)
    svg = vl_convert.vegalite_to_svg(chart.to_dict())

    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert 400 < width < 1000
    assert 100 < height < 1800
    for segment in df["g"].unique():
        assert f">{segment}" in svg


@pytest.mark.parametrize("name", CHARTS)
def test_a_picture_of_control_characters_shows_them_written_out(name):
    named = pl.col("g").replace("site 00", "\0\x1b\n\ufffe")
    df = people(3).with_columns(named).rename({"g": "group\0\n\ufffe"})

    chart = getattr(bf.plot, name)(df, *CHARTS[name], by="group\0\n\ufffe")

    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert "\\x00\\x1b\\n\ufffd" in svg
    assert not {*"\0\x1b\ufffe"} & {*svg}


@pytest.mark.parametrize("name", CHARTS)
def test_backslashes_in_names_are_shown_and_no_code(name):
    text = '\\u\\"\\x00\0\\'
    title, predicted = f"group{text}", f"predicted{text}"
    df = people(3).rename({"g": title, "p": predicted})
    columns = [predicted if column == "p" else column for column in CHARTS[name]]
    renamed = {} if name in ("confusion", "roc") else {"metrics": {f"hits{text}": "recall"}}

    chart = getattr(bf.plot, name)(df, *columns, by=title, **renamed).to_dict()

    shown = text.replace("\0", r"\x00")
    svg = vl_convert.vegalite_to_svg(chart)
    tooltips = re.findall(' aria-label="([^"]*)"', svg)
    assert any(f"group{shown}: site 00" in unescape(tooltip) for tooltip in tooltips)
    texts = {unescape(one) for one in re.findall("<text[^>]*>([^<]*)</text>", svg)}
    expected = {"confusion": f"predicted{shown}", "roc": f"group{shown}"}.get(name, f"hits{shown}")
    assert any(one.endswith(expected) for one in texts)


@pytest.mark.parametrize("name", ["report", "roc"])
def test_inline_html_loads_nothing_from_the_network(name, tmp_path):
    path = tmp_path / "chart.html"
    chart = getattr(bf.plot, name)(people(3), *CHARTS[name], by="g")

    chart.save(path, inline=True)

    page = path.read_text("utf-8")
    assert "site 02" in page
    assert 'src="http' not in page
    assert 'href="http' not in page.split("<script")[0]


def test_a_picture_of_many_labels_fits_a_page(tmp_path):
    path = tmp_path / "chart.png"
    labels = [f"label {one:02d}" for one in range(30)]
    df = pl.DataFrame({"g": [f"g{one:02d}" for one in range(30)] * 30, "y": labels * 30})

    bf.plot.confusion(df.with_columns(p=pl.col("y")), "y", "p", by="g").save(path)

    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert 400 < width < 1200
    assert 400 < height < 3000


@pytest.mark.parametrize("metric", ["recall", "balanced_accuracy"])
def test_undefined_scores_are_labelled_in_the_chart(metric):
    df = people(9).filter((pl.col("g") != "site 04") | (pl.col("y") == 0))
    chart = bf.plot.report if metric == "recall" else bf.plot.curve

    column = "p" if metric == "recall" else "s"
    svg = vl_convert.vegalite_to_svg(chart(df, "y", column, by="g", metrics=metric).to_dict())

    assert svg.count(">undefined<" if metric == "recall" else ">no best threshold<") == 1
