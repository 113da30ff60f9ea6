"""Parts of a chart's specification, which Altair validates as it writes it."""

import json

_latest = {}


def specification(chart):
    """Write the specification as a browser reads it; the latest is kept, for writing takes time."""
    if chart is not _latest.get("chart"):
        written = json.loads(json.dumps(chart.to_dict(), allow_nan=False))
        _latest.update(chart=chart, written=written)
    return _latest["written"]


def rows_of(chart, **values):
    """List the rows that are drawn, those with certain values."""
    given = specification(chart)
    rows = given["datasets"][given["data"]["name"]]
    return [row for row in rows if all(row.get(name) == one for name, one in values.items())]


def layers_of(chart, mark):
    """List the layers with a mark."""
    given = specification(chart)
    layers = given.get("spec", given)["layer"]
    return [layer for layer in layers if layer["mark"]["type"] == mark]


def channel(chart, mark, name):
    """Take one encoding of the only layer with a mark."""
    (layer,) = layers_of(chart, mark)
    return layer["encoding"][name]


def shown(chart, mark):
    """List the titles of a tooltip, by the fields that they show."""
    return {one["field"]: one.get("title") for one in channel(chart, mark, "tooltip")}


def subtitle(chart):
    """List the lines below the title."""
    return specification(chart)["title"]["subtitle"]
