"""Parts of a chart's specification, which Altair validates as it writes it."""

import json

import polars as pl

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
    """List the layers with a mark, but for those that lie in grey behind every panel."""
    layers = every_layer(specification(chart))
    return [one for one in layers if one["mark"]["type"] == mark and not is_behind(one)]


def behind(chart):
    """Take the layer that lies in grey behind every panel, and its rows."""
    given = specification(chart)
    (layer,) = [one for one in every_layer(given) if is_behind(one)]
    return layer, given["datasets"][layer["data"]["name"]]


def is_behind(layer):
    """Tell whether a layer is of lines that have rows of their own."""
    return layer["mark"]["type"] == "line" and "data" in layer


def every_layer(given):
    """List all layers of a specification, those of its parts too."""
    parts = given.get("concat", [given])
    return [layer for part in parts for layer in part.get("spec", part)["layer"]]


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


def many(n, n_undefined=0):
    """One segment each of the recalls 1/n, 2/n, ..., then segments without a positive."""
    rows = [(f"s{i:03d}", 1, int(j < i), 1) for i in range(1, n + 1) for j in range(n)] + [
        (f"u{i:03d}", 0, 0, 1) for i in range(n_undefined)
    ]
    return pl.DataFrame(rows, schema=["g", "y", "p", "k"], orient="row")
