"""Charts in notebooks: a picture, with the chart of Vega in its place where Vega loads."""

import io
import struct
import zlib

import altair as alt
import polars as pl
import pytest
import vl_convert

import balframe as bf
from balframe.charts import facets

HTML = "text/html"
SIZE = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return box.width"
FOUND = "return document.querySelector(arguments[0]) !== null"
TABLE = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 0, 0, 0], "g": ["a", "a", "b", "b"]})
WAIT = 10  # seconds


def drawn(metrics="recall"):
    return bf.plot.report(TABLE, "y", "p", by="g", metrics=metrics)


def saved(html, path, head=""):
    """Save the output of a cell as a page, and return its address."""
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{head}<body><div>{html}</div>", "utf-8")
    return path.as_uri()


def chunks(png):
    """Return the parts of a PNG by their kinds, and its pixels as they are filtered."""
    parts, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body, end = png[at + 4 : at + 8 + length], at + 12 + length
        assert struct.unpack(">I", png[end - 4 : end]) == (zlib.crc32(body),)
        parts[body[:4]] = parts.get(body[:4], b"") + body[4:]
        at = end
    return {**parts, b"IDAT": zlib.decompress(parts[b"IDAT"])}


@pytest.mark.browser
def test_a_notebook_shows_a_picture_without_a_network(browser, tmp_path):
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(saved(drawn()._repr_mimebundle_()[HTML], tmp_path / "chart.html"))

    WebDriverWait(browser, WAIT).until(lambda _: browser.execute_script(FOUND, ".error"))
    assert browser.execute_script(SIZE, ".balframe-chart > img") > 300
    assert browser.execute_script(SIZE, ".balframe-chart .error") == 0
    assert browser.execute_script("return document.querySelector('img').naturalHeight") > 100


@pytest.mark.browser
def test_the_chart_of_vega_takes_the_place_of_the_picture(browser, tmp_path):
    from selenium.webdriver.support.wait import WebDriverWait

    loaded = {"vega_version": alt.VEGA_VERSION, "vegalite_version": alt.VEGALITE_VERSION}
    loaded["vegaembed_version"] = alt.VEGAEMBED_VERSION
    scripts = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    head = f"<script>{scripts}</script><script>VEGA_DEBUG = {loaded}</script>"

    browser.get(saved(drawn()._repr_mimebundle_()[HTML], tmp_path / "chart.html", head))

    WebDriverWait(browser, WAIT).until(
        lambda _: browser.execute_script(FOUND, ".vega-embed .marks")
    )
    assert browser.execute_script(SIZE, ".vega-embed .marks") > 300
    assert browser.execute_script(SIZE, ".balframe-chart > img") == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda chart: chart,
        lambda chart: chart.properties(title='A "title"'),
        lambda chart: chart.configure_axis(grid=False),
        lambda chart: drawn(["recall", "precision"]),
        lambda chart: bf.plot.confusion(TABLE, "y", "p", by="g"),
    ],
)
def test_charts_have_a_picture_of_less_than_100_kilobytes(change):
    html = change(drawn())._repr_mimebundle_()[HTML]

    assert html.count("data:image/png;base64,") == 1
    assert len(html) < 150_000


def test_the_picture_has_the_pixels_that_altair_draws():
    chart, file = drawn(), io.BytesIO()
    chart.save(file, format="png")
    png = file.getvalue()

    compressed = facets._compressed(png)

    assert len(compressed) < len(png)
    assert chunks(compressed) == chunks(png)


def test_other_renderers_show_charts_as_altair_does():
    with alt.renderers.enable("mimetype"):
        bundle = drawn()._repr_mimebundle_()

    assert HTML not in str(bundle)


def test_without_vl_convert_charts_are_those_of_altair(monkeypatch):
    monkeypatch.setitem(facets.__dict__, "_picture", raising)

    assert "balframe-chart" not in drawn()._repr_mimebundle_()[HTML]


def raising(chart):
    raise ImportError("vl_convert")
