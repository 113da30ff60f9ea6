"""Which rows are marked as the worst, and which are shown of many."""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.html_tables import GROUPS, P, Page, Y, page, segments

pytest.importorskip("great_tables")


def gaps(scores, verdicts=None, **more):
    """A result of `gaps` in accuracy; by default all scores are significantly lower."""
    n = len(scores)
    return pl.DataFrame(
        {
            "g": [f"s{number}" for number in range(n)],
            "metric": ["accuracy"] * n,
            "estimate": scores,
            "difference": [-0.1] * n,
            "p_adjusted": [0.01] * n,
            "verdict": verdicts or ["worse"] * n,
            "n": [1000] * n,
        }
        | more
    )


def marked(result, **options):
    """The estimates of a table, with the signs of those that are marked."""
    return page(result, **options).text_of("Accuracy")


def test_the_worst_of_the_significantly_worse_are_marked_with_ties():
    scores = [0.5, 0.25, 0.25, 1.0]

    assert marked(gaps(scores), worst=1) == ["0.500", "▼ 0.250", "▼ 0.250", "1.000"]
    assert marked(gaps(scores), worst=3) == ["▼ 0.500", "▼ 0.250", "▼ 0.250", "1.000"]
    assert marked(gaps(scores), worst=0) == ["0.500", "0.250", "0.250", "1.000"]
    assert marked(gaps([0.5]), worst=1) == ["▼ 0.500"]


def test_scores_are_marked_only_if_their_verdict_is_worse():
    result = gaps([0.1, 0.2, 0.3, 0.4], ["not decided", None, "better", "worse"])

    parsed = page(result)

    assert parsed.text_of("Accuracy") == ["0.100", "0.200", "0.300", "▼ 0.400"]
    assert parsed.alone[0] == (
        "Worst (▼ lowest) of the segments that are significantly worse than the reference, among "
        "segments."
    )
    undecided = gaps([0.1, 0.2], ["not decided"] * 2)
    assert marked(undecided) == ["0.100", "0.200"]
    assert page(undecided).alone[0] == "None is significantly worse than the reference."


def test_a_metric_whose_lower_values_are_better_has_its_highest_marked():
    result = gaps([0.6, 0.7, 0.8], ["worse", "worse", "better"]).with_columns(
        metric=pl.lit("false_positive_rate")
    )

    parsed = page(result)

    assert parsed.text_of("False positive rate") == ["0.600", "▲ 0.700", "0.800"]


def test_marks_agree_with_the_result_of_gaps():
    rows = {"g": ["a"] * 100 + ["b"] * 100 + ["c"] * 100, Y: [1] * 300}
    right = [1] * 50 + [0] * 50 + [1] * 90 + [0] * 10 + [1] * 85 + [0] * 15
    df = pl.DataFrame(rows | {P: right})

    table = Page(bf.table.gaps(df, Y, P, by="g", metrics="accuracy"))

    out = bf.gaps(df, Y, P, by="g", metrics="accuracy")
    assert out["p_adjusted"][0] < 0.05
    assert table.text_of("Accuracy") == ["▼ 0.500", "0.900", "0.850"]


@pytest.mark.parametrize("method", ["report", "classes", "compare"])
def test_results_without_a_test_of_each_segment_have_no_marks(method):
    df = pl.DataFrame(GROUPS).with_columns(q=1 - pl.col(P))
    models = [P, "q"] if method == "compare" else P

    text = getattr(bf.table, method)(df, Y, models, by="g", min_support=0).as_raw_html()

    assert "▼" not in text
    assert "▲" not in text
    assert "Worst" not in text


def of_rows(result, least=10):
    """The rows whose accuracy or so is marked, in a table of the default, or of another least."""
    parsed = Page(bf.table(result, min_support=least))
    return [row[0] for row in parsed.texts[1:] if any("▼" in text or "▲" in text for text in row)]


def test_a_segment_with_few_rows_is_not_the_worst():
    out = gaps([0.0, 0.0, 0.5, 0.9], n=[2, 9, 10, 10])

    parsed = Page(bf.table(out))

    assert parsed.text_of("Accuracy") == ["0.000", "0.000", "▼ 0.500", "0.900"]
    assert parsed.alone[0].endswith(
        "among segments whose smallest denominator has at least 10 rows."
    )
    assert of_rows(out, 9) == ["s1"]
    assert of_rows(out, 2) == of_rows(out, 0) == ["s0", "s1"]
    assert of_rows(out, 11) == []
    assert Page(bf.table(out, min_support=11)).alone[0] == (
        "The worst is marked only among segments whose smallest denominator has at least 11 rows."
    )


@pytest.mark.parametrize(
    ("metric", "phrase"),
    [
        ("recall", "whose smallest denominator has at least 10 rows"),
        ("precision", "whose rarest label has at least 10 rows"),
    ],
)
def test_min_support_applies_to_the_denominator_of_the_metric(metric, phrase):
    result = gaps([0.1, 0.2, 0.3], metric=[metric] * 3, min_support=[9, 10, 10])

    parsed = Page(bf.table(result))

    assert [row[0] for row in parsed.texts[1:] if "▼" in row[1]] == ["s1"]
    assert parsed.alone[0].endswith(f"among segments {phrase}.")
    assert "among segments with at least 10" in Page(bf.table(result.drop("min_support"))).alone[0]
    assert of_rows(result.drop("n", "min_support")) == []


@cases("least", [-1, 1.5, True, None, "1"])
def test_an_invalid_min_support_is_refused(least):
    with pytest.raises(
        bf.InvalidInputError, match=r"min_support=.* is not a number of rows; give a whole"
    ):
        bf.table(segments([0.5]), min_support=least)


def test_a_metric_without_a_better_direction_has_no_worst():
    parsed = page(gaps([0.0, 1.0], ["lower", "higher"], metric=["selection_rate"] * 2))

    assert parsed.text_of("Selection rate") == ["0.000", "1.000"]


def test_each_model_has_its_own_worst_and_roll_ups_have_none():
    result = gaps([0.5, 0.6, 0.1, 0.7, 0.4, 0.2]).select(
        "metric", "estimate", "difference", "p_adjusted", "verdict", "n"
    )
    keys = {
        "g": ["a", "b", None] * 2,
        "grouped_by": ["g", "g", "overall"] * 2,
        "model": ["m"] * 3 + ["k"] * 3,
    }
    result = pl.concat([pl.DataFrame(keys), result], how="horizontal")

    parsed = page(result)

    assert [text for text in parsed.text_of("Accuracy") if "▼" in text] == ["▼ 0.500", "▼ 0.400"]


def test_models_are_headings():
    df = pl.DataFrame(GROUPS).with_columns(q=pl.Series([0, 0, 0, 0, 1, 0, 0, 0]))  # 1/2, 1, 1

    parsed = page(bf.report(df, Y, [P, "q"], by="g", metrics="accuracy", margins="overall"))

    assert parsed.alone[:2] == ["p", "q"]
    assert [row[:2] + row[-1:] for row in parsed.texts[1:]] == [
        ["a", "4", "0.750"],
        ["b", "3", "0.667"],
        ["(missing)", "1", "1.000"],
        ["(all)", "8", "0.750"],
        ["a", "4", "0.500"],
        ["b", "3", "1.000"],
        ["(missing)", "1", "1.000"],
        ["(all)", "8", "0.750"],
    ]


def test_margins_come_last_and_are_shaded():
    df = pd.DataFrame({"g": ["a", "a", "b", None], "h": [1, 2, 1, 1], Y: [1] * 4, P: [1, 0, 0, 1]})
    out = bf.report(df, Y, P, by=["g", "h"], metrics="accuracy", margins="all")

    parsed = page(out.sort_values("n", ascending=False))

    finest, rolled = parsed.rows[1:5], parsed.rows[5:]
    assert sorted([row[0].text, row[1].text, row[-1].text] for row in finest) == [
        ["(missing)", "1", "1.000"],
        ["a", "1", "1.000"],
        ["a", "2", "0.000"],
        ["b", "1", "0.000"],
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


def test_max_rows_keeps_the_worst_and_the_best_rows():
    scores = [((7 * number) % 100) / 100 for number in range(100)]  # 0.00 to 0.99, mixed

    parsed = page(segments([*scores, None]), max_rows=5)

    assert parsed.text_of("Accuracy") == ["0.000", "0.010", "0.020", "0.980", "0.990"]
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
