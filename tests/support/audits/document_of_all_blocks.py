"""A document with every kind of block, in which a name of the data stands wherever one can."""

from balframe.audit_page.document import (
    Axis,
    Bar,
    Bullets,
    Cell,
    Code,
    CoverLine,
    Definition,
    Document,
    Fact,
    Facts,
    Glossary,
    Head,
    Heading,
    Line,
    Matrix,
    MatrixCell,
    Paragraph,
    RowGroup,
    Section,
    SideBySide,
    StepChart,
    Table,
    TableRow,
    Terms,
)
from balframe.audit_page.text import caller_text, isolate, quote, value_text

AXIS = Axis([(0, "40%"), (1 / 3, "60%"), (2 / 3, "80%"), (1, "100%")], 0.4, 0.17)


def forest(group, text="Score"):
    """Make a table with marks that are hollow, shown to differ, cut, and without limits."""
    rows = [
        TableRow(
            "Female", [Cell("1,395"), Cell("64%", "62 to 67"), Cell(bar=Bar(0.4, 0.36, 0.45))]
        ),
        TableRow(
            isolate(group),
            [Cell("32"), Cell("79%", "61 to 91"), Cell(bar=Bar(0.65, -0.2, 1.3))],
            is_small=True,
            differs=True,
        ),
        TableRow("Beyond", [Cell("9"), Cell("140%", "no limits"), Cell(bar=Bar(1.66, None, None))]),
        TableRow("2 more groups", [Cell(), Cell(), Cell()], is_small=True),
    ]
    heads = [
        Head("Group", "text"),
        Head("People"),
        Head(f"{text} (95% limits)", "estimate"),
        Head("Plot of the same numbers", "plot", AXIS),
    ]
    total = TableRow(
        "All people",
        [Cell("7,214"), Cell("65%", "64 to 66"), Cell(bar=Bar(0.42, 0.4, 0.44))],
        is_total=True,
    )
    caption = f"{text} of each group of {caller_text(group)}"
    return Table(caption, heads, [RowGroup(caller_text(group), rows)], "Solid line: all.", total)


def counts(group):
    """Make a table with headings over several columns, and a row that is in use."""
    rows = [
        TableRow(isolate(group), [Cell("7"), Cell("7%"), Cell("1")], note=f"or {quote(group)}"),
        TableRow("Other", [Cell("93"), Cell("93%"), Cell("2")], is_in_use=True),
    ]
    heads = [Head("Group", "text"), Head("Number and share", span=2), Head("Wrong")]
    return Table("People examined", heads, [RowGroup("", rows)])


def verdicts(group):
    """Make a table of verdicts."""
    rows = [
        TableRow(isolate(group), [Cell("0.61", "0.57 to 0.66"), Cell(verdict=verdict)])
        for verdict in ("met", "not met", "undecided")
    ]
    heads = [Head("Where", "text"), Head("Found", "estimate"), Head("Verdict", "text")]
    return Table("Rules", heads, [RowGroup("accuracy >= 0.6", rows)], "Limits hold together.")


def chart(group):
    """Make a chart of two step curves."""
    lines = [
        Line(isolate(group), [(0, 1), (0.5, 0.6), (1, 0)]),
        Line("Other", [(0, 1), (0.5, 0.2), (1, 0)]),
    ]
    ticks = [(0, "0%"), (1, "100%")]
    return StepChart(
        "Rate by threshold", f"At 5: {quote(group)} 60%.", lines, ticks, ticks, "Score", 0.5
    )


def sample(of_data="Less than 25"):
    """Make the document; what stands for a name of the data is passed through as pages do it."""
    group = value_text(of_data)
    said = quote(of_data)
    matrix = Matrix(
        "All predictions",
        "7,214 people.",
        [f"Not called {said}", f"Called {said}"],
        [
            (f"Not {said}", [MatrixCell("2,681", "68%", False), MatrixCell("1,282", "32%", True)]),
            (f"Was {said}", [MatrixCell("1,216", "37%", True), MatrixCell("2,035", "63%", False)]),
        ],
    )
    first = Section(
        "examined",
        f"What was {said}?",
        [
            Paragraph(f"{said} of 7,214 people."),
            Paragraph("In grey italics: few.", is_note=True),
            counts(group),
            Facts([Fact("65%", "64 to 66", f"of {said} are right"), Fact("63%", "", "of all")]),
            matrix,
        ],
        [f"7,214 people; {said} had p <.001.", "65% of the predictions were right (64 to 66)."],
    )
    second = Section(
        "errors",
        "Which errors are made?",
        [
            Heading(f"Of {said}"),
            forest(group),
            SideBySide([forest(group, "Recall"), forest(group, "Recall")]),
            SideBySide([chart(group), chart(group)]),
            verdicts(group),
        ],
        [f"From 15% for Other to 45% for {said}."],
    )
    third = Section(
        "computed",
        "How was it computed?",
        [
            Bullets([("Why.", f"Nothing is known of {said}."), (f"{said}.", "Few.")]),
            Terms([("Recall", "sum_k TP_k / n"), (said, "A term.")]),
            Terms([("Columns", caller_text(group))], is_code=True),
            Code("import balframe as bf\nbf.audit(df, 'y', by=['<b>'])  # ``` *all*\n"),
            Glossary(
                [
                    Definition(
                        "predictions",
                        "Prediction",
                        f"Such as {said}.",
                        ["prediction", "predictions"],
                    )
                ]
            ),
        ],
    )
    cover = [
        CoverLine("Auditor", [(caller_text(group), "")]),
        CoverLine(caller_text(group), [("Two", ""), (caller_text(group), f"SHA-256 {'0f' * 32}")]),
    ]
    return Document(
        caller_text(group),
        f"Of {said}",
        [("People", "7,214"), ("Groups", caller_text(group))],
        [first, second, third],
        f"Of {said} too few were examined.",
        "Made by balframe.",
        cover,
    )
