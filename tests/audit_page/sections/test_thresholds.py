"""What other thresholds would do: each sentence with all of its outcomes."""

from math import inf

import polars as pl
import pytest

from balframe.audit_page.document import Paragraph, SideBySide, StepChart, Table
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.request import Model
from balframe.audit_page.results import LeftOut
from balframe.audit_page.scores import ScoreWords, Threshold
from balframe.audit_page.sections import thresholds
from balframe.audit_page.sections.threshold_figures import Best, InUse
from balframe.audit_page.sections.thresholds import (
    OPTIMISTIC,
    area_sentence,
    best_sentence,
    distinct_numbers,
    guessing_comparison,
    in_use_sentence,
    not_drawn,
    place,
    section,
    summary,
    x_ticks,
)
from tests.support.audits.figures import audit, make_request, model, plain, texts
from tests.support.audits.scored_audits import audit_of_compas, audit_scores, probabilities
from tests.support.cases import cases

WORDS = ScoreWords("decile", "re-arrested", "called high risk", "people")
FIVE = Threshold(5.0, 4.91)
NEVER = Threshold(inf, inf)
MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def of_compas():
    return audit_of_compas().section(thresholds)


def write(rows, **request):
    return audit_scores(rows, **request).section(thresholds)


@cases(
    ("in_use", "at", "said"),
    [
        (InUse(5.0, "score"), FIVE, "The predictions are those of decile at 5 or more."),
        (
            InUse(1.0, "everybody"),
            Threshold(1.0, 0.9),
            "All people had been called high risk, as with a threshold below all scores.",
        ),
        (
            InUse(None, "nobody"),
            NEVER,
            "None of the people had been called high risk, as with a threshold above all scores.",
        ),
        (
            InUse(None, "rounded", (0.123, 0.124)),
            None,
            "The predictions may be those of a threshold of decile between 0.123 and 0.124; the "
            "rounding of the scores hides which one.",
        ),
        (
            InUse(None, "no threshold"),
            None,
            "The predictions do not follow from a threshold of decile: some people had been called "
            "high risk, and others with the same score or a higher one had not. What follows is "
            "about predictions that thresholds would give.",
        ),
    ],
)
def test_sentence_states_the_threshold_in_use(in_use, at, said):
    assert in_use_sentence(in_use, at, WORDS) == said


PAIRS = "Of two people, one re-arrested and one not, the score is higher for the first in "
MORE_THAN_GUESSING = "Guessing would give 50%, and the difference is established."
HALVES = (
    ", at whatever threshold (area under the ROC curve; two equal scores count as half a pair). "
)


@cases(
    ("area", "pairs", "beside"),
    [
        (Estimate(0.71, 0.70, 0.72), "71% (70 to 72)", MORE_THAN_GUESSING),
        (
            Estimate(0.504, 0.4997, 0.51),
            "50% (49.97 to 51)",
            "That is not established to differ from the 50% of guessing.",
        ),
        (
            Estimate(0.3, 0.2, 0.4),
            "30% (20 to 40)",
            "That is established to be less than the 50% of guessing: the score runs the other "
            "way.",
        ),
        (Estimate(0.504, 0.5001, 0.51), "50.4% (50.01 to 51)", MORE_THAN_GUESSING),
        (
            Estimate(1.0, None, None),
            "100% (no limits)",
            "That is not established to differ from the 50% of guessing.",
        ),
    ],
)
def test_area_sentence_compares_the_area_with_guessing(area, pairs, beside):
    assert area_sentence(area, WORDS) == f"{PAIRS}{pairs} of pairs{HALVES}{beside}"
    assert summary(area, WORDS) == [f"{PAIRS}{pairs} of pairs. {beside}"]
    assert guessing_comparison(area) == beside


def test_area_sentence_of_a_single_outcome_is_a_notice():
    unknown = Estimate(None, None, None)
    assert summary(unknown, WORDS) == []
    assert area_sentence(unknown, WORDS) == (
        "One of the outcomes does not occur, so nothing can be said of how well the score "
        "separates outcomes."
    )


BEST = Estimate(0.657, 0.64, 0.674)
ACTUAL = Estimate(0.61, 0.60, 0.62)
START = (
    "If both outcomes count equally, however many people each is about, the best threshold in "
    "these data is "
)
WITH = "with a balanced accuracy of 66% (64 to 67, an interval that allows for having picked it)."


@cases(
    ("best", "used", "said"),
    [
        (
            Best(FIVE, BEST, None),
            InUse(5.0, "score"),
            f"{START}5, the one in use, {WITH} {OPTIMISTIC}",
        ),
        (
            Best(FIVE, BEST, None),
            InUse(4.0, "score"),
            f"{START}5, {WITH} The predictions as they are have 61% (60 to 62). {OPTIMISTIC}",
        ),
        (
            Best(NEVER, BEST, None),
            InUse(None, "no threshold"),
            f"{START}one that no score reaches, {WITH} The predictions as they are have 61% (60 to "
            f"62). {OPTIMISTIC}",
        ),
        (
            Best(FIVE, BEST, 0.52),
            InUse(5.0, "score"),
            f"{START}5, the one in use, {WITH} {OPTIMISTIC} With useless scores, the best "
            "threshold would have more than 52% in 5 of 100 such data sets; 66% is more than that.",
        ),
        (
            Best(FIVE, BEST, 0.659),
            InUse(5.0, "score"),
            f"{START}5, the one in use, {WITH} {OPTIMISTIC} With useless scores, the best "
            "threshold would have more than 65.9% in 5 of 100 such data sets; 65.7% is less "
            "than that.",
        ),
    ],
)
def test_best_threshold_is_compared_with_the_threshold_in_use(best, used, said):
    assert best_sentence(best, ACTUAL, used, WORDS) == said


def test_best_threshold_is_stated_to_be_optimistic():
    assert OPTIMISTIC == (
        "In new data, the balanced accuracy at a threshold picked this way is lower on average."
    )


@cases(
    ("one", "other", "texts"),
    [
        (0.5, 0.6, ("50", "60")),
        (0.514, 0.5135, ("51.4", "51.3")),
        (0.5140001, 0.514, ("51.40001", "51.40000")),
        (0.5, 0.5, ("50", "50")),
    ],
)
def test_two_close_shares_are_written_differently(one, other, texts):
    assert distinct_numbers(one, other) == texts


@cases(
    ("n_small", "n_others", "said"),
    [
        (0, 0, ""),
        (1, 0, " Not drawn: 1 group with fewer than 30 people of one of the outcomes."),
        (0, 3, " Not drawn: 3 groups smaller than these."),
        (
            2,
            1,
            " Not drawn: 2 groups with fewer than 30 people of one of the outcomes and 1 group "
            "smaller than these.",
        ),
    ],
)
def test_groups_that_are_not_drawn_are_counted(n_small, n_others, said):
    assert not_drawn(n_small, n_others, make_request()) == said


def test_axis_ends_with_the_threshold_that_is_never_reached():
    assert place(1.0, 1.0, 10.0) == 0
    assert place(5.5, 1.0, 10.0) == pytest.approx(0.44)
    assert place(10.0, 1.0, 10.0) == pytest.approx(0.88)
    assert place(inf, 1.0, 10.0) == 1


@cases(
    ("low", "high", "expected"),
    [
        (1.0, 10.0, [*map(str, range(1, 11))]),
        (0.0, 1.0, ["0", *(f"0.{i}" for i in range(1, 10)), "1"]),
        (0.02, 0.17, ["0.02", "0.04", "0.06", "0.08", "0.1", "0.12", "0.14", "0.16"]),
        (-3.0, 3.0, [f"{MINUS}3", f"{MINUS}2", f"{MINUS}1", "0", "1", "2", "3"]),
        (0.0, 900_000.0, ["0", "200,000", "400,000", "600,000", "800,000"]),
        (1e15, 5e15, ["1e+15", "2e+15", "3e+15", "4e+15", "5e+15"]),
        (300.0, 850.0, ["300", "400", "500", "600", "700", "800"]),
    ],
)
def test_axis_ticks_are_round_numbers_followed_by_never(low, high, expected):
    found = x_ticks(low, high)
    assert [text for _, text in found] == [*expected, "never"]
    assert [at for at, _ in found] == sorted(at for at, _ in found)


def test_compas_section_states_area_and_threshold_in_use(of_compas):
    assert plain(of_compas.brief[0]) == (
        "Of two people, one re-arrested within two years and one not, the score is higher for "
        f"the first in 71% (70 to 72) of pairs. {MORE_THAN_GUESSING}"
    )
    said = [plain(one.text) for one in of_compas.blocks if isinstance(one, Paragraph)]
    assert said[0] == (
        "The predictions are those of decile at 5 or more. A threshold trades one error for the "
        "other: the higher it is, the fewer are selected, and the more are missed."
    )
    assert len(said) == 3


def test_the_table_marks_the_threshold_in_use(of_compas):
    (table,) = [one for one in of_compas.blocks if isinstance(one, Table)]
    rows = table.groups[0].rows
    headings = [f"{i} or more" for i in range(1, 11)]
    headings[4] += " (in use)"
    assert [one.heading for one in rows] == [*headings, "never"]
    assert [one.is_in_use for one in rows] == [one.heading.endswith("(in use)") for one in rows]
    # 1,018 of 3,363 and 1,076 of 2,809, with Wilson's limits.
    five = [(cell.text, cell.limits) for cell in rows[4].cells]
    assert five[:3] == [("2,751", ""), ("30%", "29 to 32"), ("38%", "37 to 40")]
    assert [cell.text for cell in rows[-1].cells] == ["0", "0%", "100%", "50%"]
    assert plain(table.caption) == "Every threshold"


def test_charts_have_a_text_description_of_their_rates(of_compas):
    (beside,) = [one for one in of_compas.blocks if isinstance(one, SideBySide)]
    first, second = beside.blocks
    assert isinstance(first, StepChart)
    assert plain(first.caption) == (
        "Called high risk, but not re-arrested within two years, by race"
    )
    assert plain(first.text) == (
        "Share of those not re-arrested within two years at every threshold. At 5, the one in use: "
        "African-American 42% (40 to 45), Caucasian 22% (20 to 24), Hispanic 19% "
        "(15 to 24) and Other 13% (9 to 18). Not drawn: 2 groups with fewer than 30 people of one "
        "of the outcomes."
    )
    assert first.in_use == second.in_use == pytest.approx(0.88 * (4.5 - 1) / 9)
    for line in first.lines:
        heights = [y for _, y in line.points]
        assert heights == sorted(heights, reverse=True)
        assert (line.points[0], line.points[-1]) == ((0.0, 1.0), (1.0, 0.0))


def test_line_of_the_threshold_in_use_lies_halfway_between_two_scores():
    """Scores are 0 to 9, so that a threshold of 6 lies between 5 and 6; all are at least 0."""
    rows = probabilities(900, decimals=1).with_columns(
        score=(pl.col("score") * 10).round().cast(pl.Int64)
    )
    assert {*rows["score"]} == {*range(10)}
    for threshold, at in ((6, 5.5), (1, 0.5), (9, 8.5), (0, 0)):
        predicted = rows.with_columns(p=(pl.col("score") >= threshold).cast(pl.Int64))
        beside = next(x for x in write(predicted).blocks if isinstance(x, SideBySide))
        places = [chart.in_use for chart in beside.blocks]
        assert places == pytest.approx([0.88 * at / 9] * 2), threshold


def test_chart_text_uses_the_best_threshold_if_none_is_in_use():
    rows = probabilities(900, decimals=2)
    rows = rows.with_columns(p=pl.Series([i % 2 for i in range(900)]))
    audited = audit_scores(rows)
    found = audited.section(thresholds)
    at = audited.of(thresholds)[0].best.threshold.text
    charts = next(one for one in found.blocks if isinstance(one, SideBySide)).blocks
    assert f" At {at}, the best for all together: " in plain(charts[0].text)
    assert all(one.in_use is None for one in charts)
    (table,) = [one for one in found.blocks if isinstance(one, Table)]
    assert not any(one.is_in_use for one in table.groups[0].rows)
    assert table.caption == "Thresholds"
    assert f"Some of {rows['score'].n_unique()} different scores are shown." in table.note


def test_threshold_never_is_in_use_without_predicted_positives():
    rows = probabilities(900, decimals=2).with_columns(p=pl.lit(0, pl.Int64))
    (table,) = [one for one in write(rows).blocks if isinstance(one, Table)]
    assert [one.heading for one in table.groups[0].rows if one.is_in_use] == ["never (in use)"]


def test_section_states_how_scores_were_rounded():
    said = [*texts(write(probabilities(1500)))]
    assert (
        "There are very many different values of score. They were rounded down to multiples of "
        "0.001." in said
    )


def test_the_section_is_left_out_without_scores_or_two_labels():
    request = "What would another threshold do?"
    without = section(audit(model()), [None])
    assert without == LeftOut(request, "no column of scores was named")
    several = audit(model(), models=[Model("p", "s")])
    assert section(several, [None]) == LeftOut(
        request, "a threshold is between two outcomes, and there are more"
    )


def test_without_groups_there_is_a_table_and_no_chart():
    found = write(probabilities(300, decimals=1), by=())
    assert [type(one) for one in found.blocks] == [Paragraph, Paragraph, Paragraph, Table]
