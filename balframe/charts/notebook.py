"""Charts in notebooks: Altair's, with a picture for where Vega does not load.

Altair's HTML loads Vega from the network, and is an error message without it. The picture stands
beside it until Vega has drawn the chart, and needs no script.
"""

import io
import struct
import zlib
from base64 import b64encode
from html import escape
from typing import Any, TypeVar

import altair as alt

C = TypeVar("C", bound=alt.LayerChart | alt.FacetChart | alt.ConcatChart)

_HTML, _SCALE = "text/html", 2  # pixels for each of the chart, as on a dense screen
# Vega gives its element the class when its scripts are loaded; before that, `error` is that of
# loading them. These are siblings, because Altair's script looks for its element before it.
_STYLE = (
    "<style>.balframe-chart > .vega-embed ~ img, "
    ".balframe-chart > :not(.vega-embed) > .error { display: none; }</style>"
)


class _WithPicture:
    """What displays a chart in a notebook, in place of Altair's; other renderers stay."""

    def _repr_mimebundle_(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (of Altair)
        bundle = super()._repr_mimebundle_(*arguments, **options)  # type: ignore[misc]
        if not isinstance(bundle, dict) or _HTML not in bundle:
            return bundle
        try:
            picture = _picture(self)
        except (ImportError, RuntimeError, ValueError):  # no vl-convert, or it cannot draw this
            return bundle
        html = f'{_STYLE}<div class="balframe-chart">{bundle[_HTML]}{picture}</div>'
        return {**bundle, _HTML: html}


class LayerChart(_WithPicture, alt.LayerChart):
    """A chart of one panel."""


class FacetChart(_WithPicture, alt.FacetChart):
    """A chart of a panel for each segment."""


class ConcatChart(_WithPicture, alt.ConcatChart):
    """Several charts below a title."""


def with_picture(chart: C) -> C:
    """Return the chart itself, which notebooks show with a picture."""
    (class_,) = (own for own in _WithPicture.__subclasses__() if type(chart) in own.__bases__)
    object.__setattr__(chart, "__class__", class_)  # Altair's own would set an item of the chart
    return chart


def _picture(chart: Any) -> str:  # noqa: ANN401 (of Altair)
    """Return the chart in pixels: an SVG would be cut where fonts are wider."""
    file = io.BytesIO()
    chart.save(file, format="png", scale_factor=_SCALE)
    png = file.getvalue()
    (width,) = struct.unpack(">I", png[16:20])
    title = chart.title if isinstance(chart.title, str) else getattr(chart.title, "text", "chart")
    source = b64encode(_compressed(png)).decode()
    size = f'width="{width // _SCALE}" style="max-width: 100%; height: auto;"'
    return f'<img alt="{escape(str(title))}" {size} src="data:image/png;base64,{source}">'


def _compressed(png: bytes) -> bytes:
    """Return a PNG of about a third of the size; vl-convert compresses for speed."""
    parts, pixels, at = [png[:8]], b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, end = png[at + 4 : at + 8], at + 12 + length
        if kind == b"IDAT":
            pixels += png[at + 8 : end - 4]
        else:
            parts.append(png[at:end])
        at = end
    data = b"IDAT" + zlib.compress(zlib.decompress(pixels), 9)
    parts.insert(-1, struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)))
    return b"".join(parts)
