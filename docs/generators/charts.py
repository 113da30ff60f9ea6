"""Charts and tables of a page as HTML, and the script that draws charts."""

import json
import re
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import vl_convert
from great_tables import GT

from .running import Shown, charts_of

SCRIPT = "javascripts/charts.js"

_MARKER_IN_HTML = re.compile(r"(?:<p>)?<!-- *(?:chart|figure)\b.*?-->(?:</p>)?", re.DOTALL)
_DRAW = """
for (const figure of document.querySelectorAll("figure.chart")) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const options = {actions: false, renderer: "svg"};
  vegaEmbed(figure.querySelector(".chart-drawing"), spec, options);
}
"""


def script() -> str:
    """Give a classic script with Vega, Vega-Lite and Vega-Embed, which draws a page's charts."""
    return vl_convert.javascript_bundle(snippet=_DRAW)


def put_into(html: str, page: Path) -> str:
    """Put the charts and tables of a page into the places of their markers."""
    if not _MARKER_IN_HTML.search(html):
        return html
    with TemporaryDirectory() as directory:
        charts = charts_of(page, Path(directory))
    figures = iter([_figure(shown) for shown in charts])
    return _MARKER_IN_HTML.sub(lambda _: next(figures), html)


def _figure(shown: Shown) -> str:
    caption = escape(shown.caption)
    if isinstance(
        shown.chart, GT
    ):  # in a tree of its own, which the styles of the site leave alone
        return (
            '<figure class="table"><div class="chart-scroll"><div><template shadowrootmode="open">'
            f"{shown.chart.as_raw_html()}</template></div></div>"
            f"<figcaption>{caption}</figcaption></figure>"
        )
    spec = json.dumps(shown.chart.to_dict(), default=str).replace("</", "<\\/")
    return (
        '<figure class="chart">'
        f'<div class="chart-scroll"><div class="chart-drawing" role="img" aria-label="{caption}">'
        f'</div></div><script type="application/json">{spec}</script>'
        f"<figcaption>{caption}</figcaption></figure>"
    )
