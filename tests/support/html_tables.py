"""Tables of results as a browser reads them, and results to make tables of."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import polars as pl

import balframe as bf

Y, P = "y", "p"


MINUS = "\N{MINUS SIGN}"


GROUPS = {
    "g": ["a", "a", "a", "a", "b", "b", "b", None],
    Y: [1, 1, 0, 0, 1, 0, 0, 0],
    P: [1, 0, 0, 0, 1, 1, 0, 0],
}  # accuracy 3/4, 2/3 and 1; recall 1/2, 1 and, without a positive row, undefined


@dataclass
class Cell:
    """A cell of the table as a browser reads it: its text, and what its bar is made of."""

    text: str = ""
    style: str = ""
    shapes: list = field(default_factory=list)

    def at(self, shape, coordinate):
        """Where a shape of the bar is drawn, as a share of the bar's width."""
        (track, *_), shapes = self.drawn("line"), self.drawn(shape)
        low, high = float(track["x1"]), float(track["x2"])
        return [(float(attributes[coordinate]) - low) / (high - low) for attributes in shapes]

    def drawn(self, shape):
        return [attributes for tag, attributes in self.shapes if tag == shape]


class Page(HTMLParser):
    """The cells of a page, row by row, and the names of all tags in it."""

    def __init__(self, table):
        super().__init__()
        self.lines, self.tags, self.in_cell = [], set(), False
        self.feed(table.as_raw_html())
        self.rows = [line for line in self.lines if len(line) > 1]

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        values = dict(attributes)
        if tag == "tr":
            self.lines.append([])
        elif tag in ("td", "th"):
            self.in_cell = True
            self.lines[-1].append(Cell(style=values.get("style") or ""))
        elif tag in ("line", "circle", "rect"):
            self.lines[-1][-1].shapes.append((tag, values))

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.in_cell:
            self.lines[-1][-1].text += data

    @property
    def texts(self):
        return [[cell.text.strip() for cell in row] for row in self.rows]

    @property
    def alone(self):
        """Titles, headings and notes: the rows of one cell."""
        return [line[0].text for line in self.lines if len(line) == 1]

    def column(self, label):
        index = self.texts[0].index(label)
        return [row[index] for row in self.rows[1:]]

    def text_of(self, label):
        return [cell.text for cell in self.column(label)]


def page(result, *, min_support=0, **options):
    """Most frames here are small; what is asked of the size of segments has tests of its own."""
    return Page(bf.table(result, min_support=min_support, **options))


def segments(scores, **more):
    """A result of `report` with these accuracies."""
    names = [f"s{number:03d}" for number in range(len(scores))]
    n = range(1000, 1000 + len(scores))
    return pl.DataFrame({"g": names, "n": n, "accuracy": scores, **more})


NASTY = [
    "<script>alert(1)</script>",
    "a & \"b\" 'c'",
    "<img src=x onerror=alert(1)>",
    "*bold* _i_ `code` {{m^2}} $x$",
    "two\nlines\x1b[31m",
    "שלום",
    "&lt;",
    "",
]
