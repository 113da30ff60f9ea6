"""Which rows are marked as the worst, and which are shown of many."""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.html_tables import GROUPS, P, Page, Y, page, segments

pytest.importorskip("great_tables")


def test_the_worst_are_marked_with_ties_unless_all_are_equal():
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


def test_min_support_applies_to_the_denominator_of_each_metric():
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


def test_min_support_in_classes_applies_to_the_rows_of_each_metric():
    # support, predicted and correct of x and z in three segments
    result = pl.DataFrame(
        {
            "g": ["a", "a", "b", "b", "c", "c"],
            "label": ["x", "z"] * 3,
            "recall": [0.1, 0.1, 0.2, 0.2, 0.3, 0.3],
            "precision": [0.3, 0.1, 0.2, 0.2, 0.1, 0.3],
            "support": [9, 90, 10, 90, 10, 90],
            "predicted": [50, 49, 50, 50, 9, 91],
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
def test_an_invalid_min_support_is_refused(least):
    with pytest.raises(
        bf.InvalidInputError, match=r"min_support=.* is not a number of rows; give a whole"
    ):
        bf.table(segments([0.5]), min_support=least)


def test_a_metric_without_a_better_direction_has_no_worst():
    parsed = page(pl.DataFrame({"g": ["a", "b"], "n": [1, 1], "selection_rate": [0.0, 1.0]}))

    assert parsed.text_of("Selection rate") == ["0.000", "1.000"]


def test_models_are_headings_and_each_has_its_own_worst():
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


def test_margins_come_last_are_shaded_and_never_marked_as_worst():
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


def test_the_worst_of_classes_is_marked_within_each_label():
    df = pl.DataFrame(
        {"g": ["a"] * 4 + ["b"] * 4, Y: ["x", "x", "z", "z"] * 2, P: list("xxzxxzzz")}
    )

    parsed = page(bf.classes(df, Y, P, by="g").select("g", "label", "recall", "support"))
    alone = page(bf.classes(df, Y, P).select("label", "recall", "support"))

    assert parsed.texts == [
        ["g", "Label", "Recall", "Support"],
        ["a", "x", "1.000", "2"],
        ["a", "z", "▼ 0.500", "2"],
        ["b", "x", "▼ 0.500", "2"],
        ["b", "z", "1.000", "2"],
    ]
    assert alone.texts[1:] == [["x", "0.750", "4"], ["z", "0.750", "4"]]


def test_max_rows_keeps_the_worst_and_the_best_rows():
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


def test_max_rows_keeps_margins_and_is_shared_among_models():
    data = {"g": list(range(20)) * 2, Y: [1] * 40, P: [0] * 20 + [1] * 20, "q": [1] * 40}
    out = bf.report(pl.DataFrame(data), Y, [P, "q"], by="g", margins="overall", metrics="accuracy")

    parsed = page(out, max_rows=8)

    assert [row[0] == "(all)" for row in parsed.texts[1:]] == ([False] * 4 + [True]) * 2
    assert "32 of 42 rows are not shown" in parsed.alone[2]


def test_max_rows_keeps_failures_of_check_first():
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
