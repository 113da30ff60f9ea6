"""Colours of charts: each is readable on white and on the dark backgrounds of themes.

A theme may make the background of a chart dark. So each colour of a mark has a contrast of at least
3 to white, to #333333 and to #1e1e1e. Texts, which need more, are dark or light as the background
is, which Vega knows by the signal `background`.
"""

import altair as alt

BLUE, VERMILLION, OLIVE, PINK = "#2490d8", "#d86000", "#909060", "#c0789c"
LINES = (BLUE, VERMILLION, OLIVE, PINK)  # told apart under every kind of colour blindness
GREY, RULE = "#8c8c8c", "#858585"
DARK_INK, LIGHT_INK, ANY_INK = "#222222", "#f0f0f0", "#808080"  # the last where nothing is known
_LUMINANCE = "luminance(background)"  # not a number where the background is transparent
INK = alt.ExprRef(
    f"{_LUMINANCE} < 0.18 ? '{LIGHT_INK}' : {_LUMINANCE} >= 0.18 ? '{DARK_INK}' : '{ANY_INK}'"
)
FAINT = 0.5  # opacity of the grid, which a dark theme draws as grey as rules

LIGHTEST, DARKEST = "#eff6fc", "#08519c"  # the shares 0 and 1 in a heat map
NO_SHARE = "#d9d9d9"
BLACK, WHITE = "#000000", "#ffffff"
SHADE, PALE = 0.2, 0.35  # opacity of intervals, and of the lines of the other segments
