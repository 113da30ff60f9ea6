import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.cases import cases
from tests.support.constructors import each_constructor

pytest.importorskip("great_tables")

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


@each_constructor
def test_a_report_reads_the_same_from_every_library(constructor):
    out = bf.report(constructor(GROUPS), Y, P, by="g", metrics=["accuracy", "recall"])

    parsed = page(out)

    assert parsed.texts == [
        ["g", "n", "Labels", "Smallest support", "Accuracy", "Recall"],
        ["a", "4", "2", "2", "0.750", "▼ 0.500"],
        ["b", "3", "2", "1", "▼ 0.667", "1.000"],
        ["(missing)", "1", "1", "1", "1.000", "—"],
    ]
    assert parsed.alone == [
        "Worst (▼ lowest) among segments.",
        "Bars run from 0 to 1.",
        "—: undefined.",
    ]


def test_a_bar_is_as_long_as_the_score_in_the_range_of_its_metric():
    rows = {"accuracy": 0.25, "matthews_corrcoef": -0.5, "positive_likelihood_ratio": 3.0}

    parsed = page(
        pl.DataFrame({"g": ["a"], "n": [8]} | {name: [one] for name, one in rows.items()})
    )

    (share,), (coefficient,), (ratio,) = map(
        parsed.column, ("Accuracy", "Matthews correlation", "Positive likelihood ratio")
    )
    assert share.at("circle", "cx") == pytest.approx([0.25], abs=0.01)
    assert share.at("rect", "x") == pytest.approx([0], abs=0.01)
    assert coefficient.at("circle", "cx") == pytest.approx([0.25], abs=0.01)  # of -1 to 1
    assert coefficient.at("rect", "x") == pytest.approx([0.25], abs=0.01)
    assert coefficient.text == f"{MINUS}0.500"
    assert (ratio.text, ratio.shapes) == ("3.000", [])
    assert parsed.alone == [
        f"Bars run from 0 to 1 (Accuracy), from {MINUS}1 to 1 (Matthews correlation)."
    ]


def test_names_of_metrics_are_in_words():
    names = ["f1", "npv", "f1_macro", "no_information_rate", "tpr"]

    parsed = page(pl.DataFrame({"n": [1]} | {name: [0.5] for name in names}))
    ranking = page(pl.DataFrame({"n": [1], "roc_auc": [0.5], "ks_statistic": [0.5]}))

    assert parsed.texts[0] == ["n", "F1", "NPV", "F1 macro", "No information rate", "TPR"]
    assert ranking.texts[0] == ["n", "ROC AUC", "KS statistic"]


def test_limits_are_in_the_cell_and_on_the_bar():
    result = segments([0.5, 0.75], accuracy_lower=[0.25, None], accuracy_upper=[0.875, None])

    parsed = page(result, decimals=2)

    with_limits, without = parsed.column("Accuracy")
    assert parsed.texts[0] == ["g", "n", "Accuracy"]
    assert (with_limits.text, without.text) == ("▼ 0.50 [0.25, 0.88]", "0.75")
    _, whisker, *ends = zip(with_limits.at("line", "x1"), with_limits.at("line", "x2"), strict=True)
    assert whisker == pytest.approx((0.25, 0.875), abs=0.01)
    assert [x for x, _ in ends] == pytest.approx([0.25, 0.875], abs=0.01)
    assert len(without.drawn("line")) == 1
    assert page(result, bars=False).column("Accuracy")[0].shapes == []


def test_limits_of_metrics_with_new_names_are_in_the_cell():
    scores = {"hits": [0.5, 0.75], "hits_lower": [0.25, None], "hits_upper": [0.875, None]}
    result = segments([0.5, 0.75], **scores).drop("accuracy")

    parsed = page(result.with_columns(n_labels=2, min_support=9).select(
        "g", "n", "n_labels", "min_support", *scores
    ), decimals=2)  # fmt: skip

    assert parsed.text_of("Hits") == ["0.50 [0.25, 0.88]", "0.75"]
    assert parsed.texts[0][-1] == "Hits"


def test_notes_of_disparity_are_a_column_where_there_are_some():
    compas = bf.datasets.compas()
    options = {"by": "race", "counts": "n"}

    with_note, without = (
        page(bf.disparity(compas, "reoffended", "high_risk", metrics=metrics, **options))
        for metrics in (["accuracy", "f1"], "accuracy")
    )

    assert with_note.text_of("Note") == ["", "there is no test for this metric"]
    assert "Note" not in without.texts[0]


def test_the_long_layout_has_a_heading_for_each_metric():
    names = ["accuracy", "false_positive_rate"]
    out = bf.report(
        pl.DataFrame(GROUPS), Y, P, by="g", metrics=names, layout="long", interval="exact"
    )

    parsed = page(out.select("g", "n", "metric", "estimate", "method"))

    assert parsed.texts == [
        ["g", "n", "Estimate"],
        ["a", "4", "0.750"],
        ["b", "3", "▼ 0.667"],
        ["(missing)", "1", "1.000"],
        ["a", "4", "0.000"],
        ["b", "3", "▲ 0.500"],
        ["(missing)", "1", "0.000"],
    ]
    assert parsed.alone[:2] == ["Accuracy", "False positive rate"]
    assert "Brackets: confidence interval, method exact." in page(out).alone


def test_the_worst_are_marked_with_their_ties_and_not_if_all_are_alike():
    def marked(worst, scores):
        return page(segments(scores), worst=worst).text_of("Accuracy")

    assert marked(1, [0.5, 0.25, 0.25, None]) == ["0.500", "▼ 0.250", "▼ 0.250", "—"]
    assert marked(2, [0.5, 0.25, 0.25, 1.0]) == ["0.500", "▼ 0.250", "▼ 0.250", "1.000"]
    assert marked(3, [0.5, 0.25, 0.25, 1.0]) == ["▼ 0.500", "▼ 0.250", "▼ 0.250", "1.000"]
    assert marked(0, [0.5, 0.25]) == ["0.500", "0.250"]
    assert marked(1, [0.5, 0.5]) == ["0.500", "0.500"]
    assert marked(1, [0.5]) == ["0.500"]


def of_rows(result, least=10):
    """The rows whose accuracy or so is marked, in a table of the default, or of another least."""
    parsed = Page(bf.table(result, min_support=least))
    return [row[0] for row in parsed.texts[1:] if any("▼" in text or "▲" in text for text in row)]


def test_a_segment_with_few_rows_is_not_the_worst():
    # accuracy is 0 of 2 in a, 0 of 9 in b, 5 of 10 in c and 9 of 10 in d
    right = {"a": (0, 2), "b": (0, 9), "c": (5, 10), "d": (9, 10)}
    rows = [(g, 1, int(i < x)) for g, (x, n) in right.items() for i in range(n)]
    out = bf.report(pl.DataFrame(rows, [*"gyp"], orient="row"), Y, P, by="g", metrics="accuracy")

    parsed = Page(bf.table(out))

    assert parsed.text_of("Accuracy") == ["0.000", "0.000", "▼ 0.500", "0.900"]
    assert parsed.alone[0] == (
        "Worst (▼ lowest) among segments whose smallest denominator has at least 10 rows."
    )
    assert of_rows(out, 9) == ["b"]
    assert of_rows(out, 2) == of_rows(out, 0) == ["a", "b"]
    assert of_rows(out, 11) == []
    assert Page(bf.table(out, min_support=11)).alone[0] == (
        "The worst is marked only among segments whose smallest denominator has at least 11 rows."
    )


def test_the_denominator_is_that_of_the_metric():
    result = segments(
        [0.5, 0.6, 0.7],  # n is 1000 and more
        min_support=[9, 10, 10],
        recall=[0.1, 0.2, 0.3],
        precision=[0.1, 0.2, 0.3],
    ).select("g", "n", "min_support", "accuracy", "recall", "precision")

    parsed = Page(bf.table(result))

    assert parsed.text_of("Accuracy") == ["▼ 0.500", "0.600", "0.700"]  # over all rows
    assert parsed.text_of("Recall") == ["0.100", "▼ 0.200", "0.300"]
    assert parsed.text_of("Precision") == ["0.100", "▼ 0.200", "0.300"]
    assert parsed.alone[0] == (
        "Worst (▼ lowest) among segments whose smallest denominator has at least 10 rows "
        "(Precision: whose rarest label has at least 10 rows)."
    )
    assert (
        "(Recall, Precision: with at least 10"
        in Page(bf.table(result.drop("min_support"))).alone[0]
    )
    assert of_rows(result.drop("n", "min_support")) == []


def test_classes_count_the_rows_of_each_score():
    # support, predicted and correct of x and z in three segments
    result = pl.DataFrame(
        {
            "g": ["a", "a", "b", "b", "c", "c"],
            "label": ["x", "z"] * 3,
            "support": [9, 90, 10, 90, 10, 90],
            "predicted": [50, 49, 50, 50, 9, 91],
            "recall": [0.1, 0.1, 0.2, 0.2, 0.3, 0.3],
            "precision": [0.3, 0.1, 0.2, 0.2, 0.1, 0.3],
            "specificity": [0.1, 0.1, 0.2, 0.2, 0.3, 0.3],
            "npv": [0.3, 0.3, 0.2, 0.2, 0.1, 0.1],
        }
    )

    parsed = Page(bf.table(result))

    marked = {
        name: [place for place, text in enumerate(parsed.text_of(name)) if "▼" in text]
        for name in ("Recall", "Precision", "Specificity", "NPV")
    }
    assert marked == {
        "Recall": [1, 2],  # x has 9 rows in a
        "Precision": [1, 2],  # x is predicted 9 times in c
        "Specificity": [0, 3],  # that of z is over the 9 rows of x in a
        "NPV": [3, 4],  # that of z is over the 9 rows predicted x in c
    }


@cases("least", [-1, 1.5, True, None, "1"])
def test_a_least_support_is_a_count_of_rows(least):
    with pytest.raises(
        bf.InvalidInputError, match=r"min_support=.* is not a number of rows; give a whole"
    ):
        bf.table(segments([0.5]), min_support=least)


def test_texts_that_look_like_placeholders_are_quoted():
    df = pl.DataFrame({"g": ["(missing)", "(all)", None], Y: [1] * 3, P: [1] * 3})

    parsed = page(bf.report(df, Y, P, by="g", margins="overall", metrics="accuracy"))
    extremes = page(bf.disparity(df.with_columns(p=pl.Series([1, 1, 0])), Y, P, by="g"))

    assert [row[0] for row in parsed.texts[1:]] == ['"(all)"', '"(missing)"', "(missing)", "(all)"]
    assert extremes.text_of("Lowest g")[0] == "(missing)"


def test_a_metric_of_which_no_direction_is_better_has_no_worst():
    parsed = page(pl.DataFrame({"g": ["a", "b"], "n": [1, 1], "selection_rate": [0.0, 1.0]}))

    assert parsed.text_of("Selection rate") == ["0.000", "1.000"]


def test_models_are_headings_and_looked_at_one_by_one():
    df = pl.DataFrame(GROUPS).with_columns(q=pl.Series([0, 0, 0, 0, 1, 0, 0, 0]))  # 1/2, 1, 1

    parsed = page(bf.report(df, Y, [P, "q"], by="g", metrics="accuracy", margins="overall"))

    assert parsed.alone[:2] == ["p", "q"]
    assert [row[:2] + row[-1:] for row in parsed.texts[1:]] == [
        ["a", "4", "0.750"],
        ["b", "3", "▼ 0.667"],
        ["(missing)", "1", "1.000"],
        ["(all)", "8", "0.750"],
        ["a", "4", "▼ 0.500"],
        ["b", "3", "1.000"],
        ["(missing)", "1", "1.000"],
        ["(all)", "8", "0.750"],
    ]


def test_roll_ups_come_last_are_set_apart_and_never_the_worst():
    df = pd.DataFrame({"g": ["a", "a", "b", None], "h": [1, 2, 1, 1], Y: [1] * 4, P: [1, 0, 0, 1]})
    out = bf.report(df, Y, P, by=["g", "h"], metrics="accuracy", margins="all")

    parsed = page(out.sort_values("n", ascending=False))

    finest, rolled = parsed.rows[1:5], parsed.rows[5:]
    assert sorted([row[0].text, row[1].text, row[-1].text] for row in finest) == [
        ["(missing)", "1", "1.000"],
        ["a", "1", "1.000"],
        ["a", "2", "▼ 0.000"],
        ["b", "1", "▼ 0.000"],
    ]
    assert sorted([row[0].text, row[1].text, row[-1].text] for row in rolled) == [
        ["(all)", "(all)", "0.500"],
        ["(all)", "1", "0.667"],
        ["(all)", "2", "0.000"],
        ["(missing)", "(all)", "1.000"],
        ["a", "(all)", "0.500"],
        ["b", "(all)", "0.000"],
    ]
    assert not any("background-color" in cell.style for row in finest for cell in row)
    assert all("background-color" in cell.style for row in rolled for cell in row)
    assert all("border-top" in cell.style for cell in rolled[0])


def test_classes_are_compared_label_by_label():
    df = pl.DataFrame(
        {"g": ["a"] * 4 + ["b"] * 4, Y: ["x", "x", "z", "z"] * 2, P: list("xxzxxzzz")}
    )

    parsed = page(bf.classes(df, Y, P, by="g").select("g", "label", "support", "recall"))
    alone = page(bf.classes(df, Y, P).select("label", "support", "recall"))

    assert parsed.texts == [
        ["g", "Label", "Support", "Recall"],
        ["a", "x", "2", "1.000"],
        ["a", "z", "2", "▼ 0.500"],
        ["b", "x", "2", "▼ 0.500"],
        ["b", "z", "2", "1.000"],
    ]
    assert alone.texts[1:] == [["x", "4", "0.750"], ["z", "4", "0.750"]]


COUNTS = {
    "g": ["a"] * 3 + [None],
    Y: ["x", "x", "z", "z"],
    P: ["x", "z", "z", "x"],
    "rows": [30, 10, 1205, 4],
}


@each_constructor
def test_confusion_is_a_table_for_each_segment(constructor):
    out = bf.confusion(
        constructor(COUNTS), Y, P, by="g", counts="rows", normalize="true", margins="overall"
    )

    parsed = page(out, decimals=2)

    assert parsed.texts == [
        ["Actual: y", "Predicted: p", "Total"],
        ["x", "z"],
        ["x", "30 0.75", "10 0.25", "40"],
        ["z", "0", "1,205 1.00", "1,205"],
        ["Total", "30", "1,215", "1,245"],
        ["x", "0", "0", "0"],
        ["z", "4 1.00", "0", "4"],
        ["Total", "4", "0", "4"],
        ["x", "30 0.75", "10 0.25", "40"],
        ["z", "4 0.00", "1,205 1.00", "1,209"],
        ["Total", "34", "1,215", "1,249"],
    ]
    assert parsed.alone == [
        "g: a",
        "g: (missing)",
        "g: (all)",
        "Numbers of rows; bold: correct predictions.",
        "In grey: share of the rows of the actual label.",
    ]


@pytest.mark.parametrize(
    ("normalize", "of"), [("pred", " of the predicted label"), ("all", " of the segment")]
)
def test_the_note_of_a_confusion_table_says_what_shares_are_of(normalize, of):
    df = pl.DataFrame(COUNTS).with_columns(w=pl.lit(0.5))

    rows = bf.confusion(df, Y, P, counts="rows", normalize=normalize)
    weight = bf.confusion(df, Y, P, counts="rows", sample_weight="w", normalize=normalize)

    assert page(rows).alone[-1] == f"In grey: share of the rows{of}."
    assert page(weight).alone[-1] == f"In grey: share of the weight{of}."
    assert page(rows.head(2)).alone[-1] == "In grey: share of the rows."
    assert page(weight.drop("share")).alone[-1] == "Weights are not shown."


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_models_and_segments_head_confusion_tables_and_the_first_are_shown():
    df = pl.DataFrame(COUNTS).with_columns(q=pl.lit("x"), h=pl.Series([1, 1, 2, 2]))

    parsed = page(bf.confusion(df, Y, [P, "q"], by=["g", "h"], counts="rows"), max_rows=4)
    alone = page(bf.confusion(df, Y, P, counts="rows"))

    assert parsed.texts[0] == ["Actual: y", "Predicted", "Total"]
    assert parsed.alone[:3] == [
        "g: a · h: 1 · p",
        "g: a · h: 1 · q",
        "4 of 6 segments are not shown. Shown: the first.",
    ]
    assert len(parsed.rows) == 2 + 2 * 3
    assert alone.texts[2:] == [
        ["x", "30", "10", "40"],
        ["z", "4", "1,205", "1,209"],
        ["Total", "34", "1,215", "1,249"],
    ]


def test_labels_of_confusion_tables_are_in_the_order_of_the_result():
    df = pl.DataFrame({"g": ["a", "a", "b"], Y: [0, 10, 9], P: [0, 10, 9]})

    by_value = page(bf.confusion(df, Y, P, by="g"))
    as_given = page(bf.confusion(df, Y, P, labels=[9, 10, 0], complete=True))

    assert by_value.texts[1] == ["0", "9", "10"]
    assert as_given.texts[1] == ["9", "10", "0"]


def test_confusion_falls_back_to_rows_of_pairs():
    many = pl.DataFrame({Y: range(13), P: range(13)})
    out = bf.confusion(many, Y, P)

    assert page(out).texts[0] == page(out.head(3).with_columns(mine=1)).texts[0][:3] == [Y, P, "n"]
    assert page(pl.concat([out.head(2)] * 2)).text_of("n") == ["1"] * 4
    assert len(page(out.head(12)).texts[1]) == 12


def test_the_numbers_of_confusion_tables_serve_to_restyle():
    from great_tables import loc, style

    table = bf.table(bf.confusion(pl.DataFrame(COUNTS), Y, P, counts="rows"))
    rows = pl.col("x_value") > 32

    parsed = Page(table.tab_style(style.fill("lightyellow"), loc.body(columns="z", rows=rows)))

    assert ["lightyellow" in row[2].style for row in parsed.rows[2:]] == [False, False, True]


def luminance(colour):
    """The relative luminance of WCAG 2.1 of a colour such as #0b4a7d."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_table_has_its_own_background_and_every_text_is_readable_on_it():
    df = pl.DataFrame(GROUPS)
    report = bf.report(df, Y, P, by="g", metrics="accuracy", interval=True, margins="overall")
    check = bf.check(df, Y, P, by="g", rules=["n >= 3", "recall >= 0.9"], decide="estimate")

    for out in (report, check, bf.confusion(df, Y, P, by="g", normalize="all")):
        html = bf.table(out, min_support=0).as_raw_html()
        (name,) = re.findall(r'<div id="([\w-]+)"', html)
        texts = re.findall(r'style="[^"]*?(?<![\w-])color: ?(#\w{6})', html)
        assert f"#{name} tr {{ background: transparent; }}" in html
        assert "color: #333333" in html
        assert texts
        for background in ("#ffffff", "#f5f6f8"):  # of the table, and of roll-ups
            for text in {"#333333", *texts}:
                light, dark = luminance(background), luminance(text)
                assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_gaps_have_an_axis_around_0_and_small_p_values_are_not_0():
    result = pl.DataFrame(
        {
            "g": ["a", "b"],
            "n": [1000, 20],
            "metric": ["recall"] * 2,
            "estimate": [0.5, 0.75],
            "difference": [-0.25, 0.25],
            "lower": [-0.4, None],
            "upper": [-0.1, None],
            "p_value": [0.00001, 0.5],
            "n_tests": [2, 2],
        }
    )

    parsed = page(result)

    assert parsed.texts == [
        ["g", "n", "Recall", "Difference", "p", "Tests"],
        ["a", "1,000", "▼ 0.500", f"{MINUS}0.250 [{MINUS}0.400, {MINUS}0.100]", "<0.001", "2"],
        ["b", "20", "0.750", "0.250", "0.500", "2"],
    ]
    below, above = parsed.column("Difference")
    place = (0.4 - 0.25) / 0.8  # on the axis from -0.4 to 0.4, the furthest limit
    assert below.at("circle", "cx") == pytest.approx([place], abs=0.01)
    assert above.at("circle", "cx") == pytest.approx([1 - place], abs=0.01)
    spans = f"Bars run from 0 to 1 (Recall), from {MINUS}0.4 to 0.4 (Difference)."
    assert spans in parsed.alone


def test_verdicts_have_signs_and_rules_their_bounds_on_the_bar():
    df = pl.DataFrame({"g": ["a"] * 300 + ["b"] * 100, Y: [1] * 400, P: [1] * 300 + [0, 1] * 50})
    rules = ["n >= 200", "recall >= 0.75", "difference(recall) <= 0.5"]

    parsed = page(bf.check(df, Y, P, by="g", rules=rules, decide="estimate"))

    assert parsed.texts == [
        ["g", "Estimate", "Bound", "Status"],
        ["a", "300", "200", "✓ pass"],
        ["b", "100", "200", "✗ fail"],
        ["a", "1.000", "0.75", "✓ pass"],
        ["b", "0.500", "0.75", "✗ fail"],
        ["(all)", "0.500", "0.5", "✓ pass"],
    ]
    assert parsed.alone[:3] == rules
    estimates = parsed.column("Estimate")
    assert estimates[0].shapes == []
    assert estimates[3].at("line", "x1")[1] == pytest.approx(0.75, abs=0.01)
    assert estimates[3].at("circle", "cx") == pytest.approx([0.5], abs=0.01)
    assert parsed.alone[-1].endswith("The vertical line is the bound.")


def test_without_segments_the_metrics_or_rules_are_the_rows():
    df = pl.DataFrame(GROUPS)  # 6 of 8 right, 2 of 3 positives found

    long = page(bf.report(df, Y, P, layout="long", metrics=["accuracy", "recall"]))
    wide = page(bf.report(df, Y, P, metrics="accuracy"))
    check = page(bf.check(df, Y, P, rules="n >= 3"))

    assert [[row[0], row[-1]] for row in long.texts] == [
        ["Metric", "Estimate"],
        ["Accuracy", "0.750"],
        ["Recall", "0.667"],
    ]
    assert wide.texts[1:] == [["8", "2", "3", "0.750"]]
    assert [[row[0], row[-1]] for row in check.texts[1:]] == [["n >= 3", "✓ pass"]]


def test_an_infinite_threshold_is_shown():
    df = pl.DataFrame({"y": [0, 1], "s": [0.25, 0.5]})

    parsed = page(bf.curve(df, "y", "s", metrics="accuracy"))

    assert parsed.text_of("Accuracy") == ["0.500", "1.000", "0.500"]
    assert [row[0] for row in parsed.texts[1:]] == ["0.25", "0.5", "∞"]


METHODS = ("compare", "disparity", "fairness", "ranking", "best_threshold", "posterior")


@cases("method", METHODS)
@each_constructor
def test_every_row_of_the_other_results_is_there(method, constructor):
    data = {key: values * 3 for key, values in GROUPS.items()}
    data |= {"g": ["a", "b", None] * 8, "q": [0, 1] * 12}
    predicted = {"compare": [P, "q"]}.get(method, P)
    out = getattr(bf, method)(constructor(data), Y, predicted, by="g", backend="polars")
    same = getattr(bf, method)(constructor(data), Y, predicted, by="g")

    parsed = page(same)

    assert len(parsed.rows) - 1 == out.height > 0
    assert parsed.texts == page(out).texts
    assert "nan" not in " ".join(text for row in parsed.texts for text in row).lower()


@cases("name", ["label", "metric", "threshold", "rule", "margin", "reference"])
def test_by_columns_may_have_the_names_of_other_columns_of_results(name):
    df = pl.DataFrame(GROUPS).rename({"g": name})

    parsed = page(bf.report(df, Y, P, by=name, metrics="accuracy"))

    assert [[row[0], row[-1]] for row in parsed.texts] == [
        [name, "Accuracy"],
        ["a", "0.750"],
        ["b", "▼ 0.667"],
        ["(missing)", "1.000"],
    ]


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


@cases("library", [pd.DataFrame, pl.DataFrame])
@cases("column", [*NASTY[:4], "^y.*$", "accuracy_value", "group_heading", ""])
def test_names_and_values_of_the_data_are_text(library, column):
    data = {column: NASTY, Y: [1] * 8, NASTY[0] + "m": [1] * 7 + [0], NASTY[3] + "m": [1] * 8}
    models = list(data)[2:]
    out = bf.report(library(data), Y, models, by=column, metrics="accuracy")

    parsed = page(out, title=NASTY[2], subtitle=NASTY[3])

    as_shown = [text.replace("\n", "\\n").replace("\x1b", "\\x1b") for text in NASTY]
    assert sorted(row[0] for row in parsed.texts[1:]) == sorted(as_shown * 2)
    assert parsed.texts[0][0] == column
    assert parsed.alone[:4] == [NASTY[2], NASTY[3], *models]
    assert {"script", "img", "em", "b", "code", "sup"}.isdisjoint(parsed.tags)


def test_names_in_the_columns_of_disparity_and_labels_are_text():
    df = pl.DataFrame({"<b>g": NASTY[:2] * 2, Y: ["<i>", "z"] * 2, P: ["<i>", "z", "z", "<i>"]})

    parsed = page(bf.disparity(df, Y, P, by="<b>g"))
    classes = page(bf.classes(df, Y, P, by="<b>g"))

    assert parsed.texts[0][1:3] == ["Lowest <b>g", "Highest <b>g"]
    assert {row[1] for row in classes.texts[1:]} == {"<i>", "z"}
    assert {"b", "i", "script"}.isdisjoint(parsed.tags | classes.tags)


def test_of_many_rows_the_worst_and_the_best_are_shown():
    scores = [((7 * number) % 100) / 100 for number in range(100)]  # 0.00 to 0.99, mixed

    parsed = page(segments([*scores, None]), max_rows=5)

    assert parsed.text_of("Accuracy") == ["▼ 0.000", "0.010", "0.020", "0.980", "0.990"]
    assert ["dashed" in row[0].style for row in parsed.rows[1:]] == [False] * 3 + [True, False]
    assert (
        "96 of 101 rows are not shown. Shown: the worst and the best by accuracy, worst first."
        in parsed.alone
    )
    assert len(page(segments(scores), max_rows=None).rows) == 101
    assert len(page(segments(scores)).rows) == 61
    assert page(segments(scores[:60])).text_of("Accuracy")[1] == "0.070"


def test_the_limit_of_rows_keeps_roll_ups_and_shares_them_among_models():
    data = {"g": list(range(20)) * 2, Y: [1] * 40, P: [0] * 20 + [1] * 20, "q": [1] * 40}
    out = bf.report(pl.DataFrame(data), Y, [P, "q"], by="g", margins="overall", metrics="accuracy")

    parsed = page(out, max_rows=8)

    assert [row[0] == "(all)" for row in parsed.texts[1:]] == ([False] * 4 + [True]) * 2
    assert "32 of 42 rows are not shown" in parsed.alone[2]


def test_of_many_verdicts_the_failures_come_first():
    result = pl.DataFrame(
        {
            "g": ["a", "b", "c", "d", "e"],
            "rule": ["false_positive_rate <= 0.5"] * 5,
            "estimate": [0.1, 0.6, 0.9, 0.2, None],
            "status": ["pass", "inconclusive", "fail", "pass", "inconclusive"],
        }
    )

    parsed = page(result, max_rows=3)

    assert [row[0] for row in parsed.texts[1:]] == ["c", "b", "a"]


def test_an_result_without_rows_has_a_header():
    parsed = page(bf.report(pl.DataFrame(GROUPS).clear(), Y, P, by="g", metrics="accuracy"))

    assert parsed.texts == [["g", "n", "Labels", "Smallest support", "Accuracy"]]


def test_numbers_behind_the_cells_serve_to_restyle():
    from great_tables import loc, style

    table = bf.table(segments([0.25, 0.5], recall=[0.5, 0.25]))
    rows = pl.col("accuracy_value") > 0.4

    parsed = Page(table.tab_style(style.fill("lightyellow"), loc.body(columns="n", rows=rows)))

    assert ["lightyellow" in cell.style for cell in parsed.column("n")] == [False, True]


def test_without_great_tables_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)

    with pytest.raises(bf.MissingExtraError, match=r"pip install 'balframe\[table\]'"):
        bf.table(segments([0.5]))


@cases(
    ("given", "error", "message"),
    [
        (pl.DataFrame(GROUPS), bf.InvalidInputError, "cannot display a frame with the col"),
        (
            pl.DataFrame({"n": [1], "recall": ["x"]}),
            bf.InvalidInputError,
            "'recall' must hold num",
        ),
        (pl.DataFrame(), bf.InvalidInputError, "bf.table cannot display a frame"),
        ([0.5], bf.UnsupportedTypeError, "got builtins.list, which is not a frame"),
    ],
)
def test_what_is_no_result_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        bf.table(given)


@cases("by", [["rule", "status"], ["metric", "threshold"], ["label", "n_tests"]])
@cases("layout", ["wide", "long"])
def test_by_columns_with_the_names_of_another_methods_columns_stay_by_columns(by, layout):
    df = pl.DataFrame(GROUPS).with_columns(h=pl.col("g")).rename(dict(zip("gh", by, strict=True)))
    if layout == "long" and "metric" in by:
        df = df.rename({"metric": "criterion"})
        by = ["criterion", "threshold"]
    out = bf.report(df, Y, P, by=by, metrics="accuracy", layout=layout)

    parsed = page(out, max_rows=2)

    assert parsed.texts[0][:2] == by
    assert [row[:2] + row[-1:] for row in parsed.texts[1:]] == [
        ["b", "b", "▼ 0.667"],
        ["(missing)", "(missing)", "1.000"],
    ]


def test_gaps_of_models_keep_their_reference_and_its_rows():
    data = {"g": ["a", "b"] * 20, Y: [1] * 40, P: [0, 1] * 20, "q": [1, 1] * 20}
    out = bf.gaps(pl.DataFrame(data), Y, [P, "q"], by="g", metrics="recall", reference="best")

    parsed = page(out)

    assert parsed.alone[:2] == ["p", "q"]
    assert parsed.text_of("Reference") == out.sort("model")["reference"].to_list()


def test_columns_of_the_user_stand_behind():
    out = segments([0.5, 0.25], mine=["x", None], visits=[1200, 3], cost=[0.25, 0.5])

    parsed = page(out)

    assert parsed.texts == [
        ["g", "n", "Accuracy", "Mine", "Visits", "Cost"],
        ["s000", "1,000", "0.500", "x", "1,200", "0.250"],
        ["s001", "1,001", "▼ 0.250", "", "3", "0.500"],
    ]


def test_the_method_may_be_named():
    out = segments([0.5, 0.25], roc_auc=[0.75, 0.5])

    with pytest.raises(bf.InvalidInputError, match="for a result of report, give verb='report'"):
        bf.table(out)
    assert page(out, method="report").text_of("ROC AUC") == ["0.750", "0.500"]
    with pytest.raises(
        bf.UnknownNameError, match=r"verb 'reprot' not found; did you mean 'report'"
    ):
        bf.table(out, method="reprot")
    with pytest.raises(
        bf.InvalidInputError,
        match=r"give a result of check\. .* also has 'rule' and 'estimate' and",
    ):
        bf.table(out, method="check")


def test_segments_of_extreme_scores_are_shown_as_they_are():
    df = pl.DataFrame({"year": [2019, 2020] * 20, Y: [1] * 40, P: [0, 1] * 20})

    parsed = page(bf.disparity(df, Y, P, by="year", metrics="recall"))

    assert parsed.text_of("Lowest year") == ["2019"]


def test_the_result_of_a_method_that_is_new_is_laid_out(toy_method):
    df = pl.DataFrame({"g": ["a", "b", None], Y: [1, 1, 1], P: [1, 0, 0]})
    out = toy_method.function(df, Y, [P, Y], by="g", margins="overall")

    parsed = page(out)

    assert parsed.alone[:2] == ["p", "y"]
    assert parsed.texts == [
        ["g", "n", "Errors"],
        ["a", "1", "0"],
        ["b", "1", "1"],
        ["(missing)", "1", "1"],
        ["(all)", "3", "2"],
        ["a", "1", "0"],
        ["b", "1", "0"],
        ["(missing)", "1", "0"],
        ["(all)", "3", "0"],
    ]


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame([[1, 0.5, 0.5]], columns=["n", "recall", "recall"])

    with pytest.raises(bf.InvalidInputError, match="several columns of the same name: 'recall'"):
        bf.table(twice)


@cases(
    ("options", "message"),
    [
        ({"worst": -1}, "worst=-1 must be a whole number of at least 0"),
        ({"decimals": True}, "decimals=True must be a whole number of at least 0"),
        ({"decimals": 1.5}, "decimals=1.5 must be a whole number of at least 0"),
        ({"max_rows": 1}, "max_rows=1 must be a whole number of at least 2"),
        ({"bars": None}, "bars=None is not one of the options"),
        ({"title": 3}, "title=3 must be a str"),
        ({"subtitle": "x"}, "give title= too"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(bf.BalframeError, match=message):
        bf.table(segments([0.5]), **options)
