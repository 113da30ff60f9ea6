"""What scores mean: each sentence with all of its outcomes."""

from dataclasses import replace

import polars as pl
import pytest

from audit_page.figures_by_hand import asked, audited, difference, model, plain, texts
from audit_page.scored_frames import audit_of, audit_of_compas, probabilities, with_score
from balframe.audit_page.document import Paragraph, Table
from balframe.audit_page.measured_scores import Probability
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.calibration import ONE_OUTCOME, calibrated
from balframe.audit_page.sections.probabilities_in_text import (
    around_one,
    claimed,
    level_and_slope,
    on_average,
    spread,
)
from balframe.audit_page.sections.same_scores_in_text import (
    Compared,
    Words,
    in_brief,
    meaning,
    of_column,
    of_errors,
)

WORDS = Words("decile", "re-arrested", "called high risk", "people")
MINUS = "\N{MINUS SIGN}"
QUESTION = "Does the same score mean the same for everyone?"


@pytest.fixture(scope="module")
def section():
    return calibrated(audit_of_compas())


def compared(value, found, is_small=False, column="race"):
    return Compared(column, value, found, is_small)


MORE = compared("A", difference(3, 0.4, 5, 0.02))
MOST = compared("B", difference(9, 6, 12, 0.001))
LESS = compared("C", difference(-2, -4, -0.3, 0.03))
OPEN = compared("D", difference(-2, -6, 2, 0.4))
SMALL = compared("E", difference(-13, -38, 14, 0.4), is_small=True)
SMALL_SHOWN = compared("F", difference(-30, -38, -10, 0.01), is_small=True)
UNKNOWN = compared("G", difference(None))
SAME, CROSSING = difference(None, adjusted=0.3), difference(None, adjusted=0.01)
OTHERS = " For the others no difference is shown, which is not to say that there is none."


@pytest.mark.parametrize(
    ("n_scores", "alike"),
    [
        (30, "the same score"),
        (31, "about the same score, since there are 31 different ones"),
    ],
)
def test_what_it_is_for_a_score_to_mean_the_same(n_scores, alike):
    assert meaning(n_scores, WORDS) == (
        "If a score means the same for everyone, then of two people with the same score, whatever "
        "their groups, one is as likely to be re-arrested as the other. Here the people of each "
        f"group are compared with all others with {alike}."
    )


@pytest.mark.parametrize(
    ("groups", "crossing", "said"),
    [
        ([MORE, OPEN], SAME, f"By race more often for A (+3, 0.4 to 5).{OTHERS}"),
        (
            [LESS, MORE, MOST],
            CROSSING,
            f"By race more often for B (+9, 6 to 12) and A (+3, 0.4 to 5); less often for C "
            f"({MINUS}2, {MINUS}4 to {MINUS}0.3).",
        ),
        (
            [SMALL_SHOWN, LESS, OPEN],
            SAME,
            f"By race less often for C ({MINUS}2, {MINUS}4 to {MINUS}0.3) and F ({MINUS}30, "
            f"{MINUS}38 to {MINUS}10).{OTHERS}",
        ),
        (
            [OPEN, SMALL],
            SAME,
            "By race no difference is shown; the data leave room for up to 6 points.",
        ),
        (
            [OPEN, SMALL],
            CROSSING,
            "By race no group is shown to differ over all scores together, but differences that "
            "change with the score are shown; the data leave room for up to 6 points.",
        ),
        (
            [SMALL],
            SAME,
            "By race no difference is shown, and no group is large enough to say how large one may "
            "be.",
        ),
        ([UNKNOWN, UNKNOWN], SAME, "By race no groups with the same scores could be compared."),
    ],
)
def test_groups_of_a_column_beside_others_with_the_same_scores(groups, crossing, said):
    assert plain(of_column("race", groups, crossing, 0.05)) == said


def test_many_groups_are_counted():
    many = [replace(MORE, value=f"g{i}") for i in range(15)]
    said = plain(of_column("race", many, SAME, 0.05))
    assert said.endswith("g11 (+3, 0.4 to 5) and 3 more groups.")


def test_a_difference_is_shown_only_below_the_level():
    at = compared("A", difference(3, 0.4, 5, 0.05))
    assert "no difference is shown" in of_column("race", [at], SAME, 0.05)
    assert "more often for" in of_column("race", [at], SAME, 0.0500001)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (
            [OPEN, SMALL],
            "At the same score, no group is shown to be re-arrested more or less often than others "
            "of its column; the data leave room for up to 6 points.",
        ),
        (
            [LESS, MOST, OPEN],
            "At the same score, re-arrested more or less often than others of the same column: "
            f"B (race) by +9 points (6 to 12) and C (race) by {MINUS}2 points ({MINUS}4 to "
            f"{MINUS}0.3).",
        ),
        (
            [MORE, SMALL_SHOWN],
            "At the same score, re-arrested more or less often than others of the same column: "
            "A (race) by +3 points (0.4 to 5) and 1 more group.",
        ),
        (
            [SMALL_SHOWN, OPEN],
            "At the same score, re-arrested more or less often than others of the same column: "
            "1 group too small to rank.",
        ),
        ([UNKNOWN], "No groups with the same scores could be compared."),
    ],
)
def test_in_brief(groups, said):
    assert plain(in_brief(groups, WORDS, 0.05)) == said


def test_in_brief_the_four_furthest_are_named():
    many = [compared(f"g{i}", difference(i, 0.4, 20, 0.01)) for i in range(1, 8)]
    said = plain(in_brief(many, WORDS, 0.05))
    named = [f"g{i} (race) by +{i} points (0.4 to 20)" for i in (7, 6, 5, 4)]
    assert said.endswith(f": {', '.join(named)} and 3 more groups.")


def test_errors_differ_only_where_shares_are_shown_to():
    assert of_errors([], WORDS) == ""
    assert of_errors(["sex", "race"], WORDS) == (
        "Scores that mean the same for everyone do not make errors equal: where the share "
        "re-arrested differs between groups, as it is shown to do by sex and race, error rates "
        "differ at most thresholds."
    )


def probability(*ratio, mean=0.4, observed=0.48):
    slope = Estimate(1.0, 0.9, 1.1)
    return Probability(100, mean, observed, Estimate(*ratio, 100), slope, 0.5)


ON_AVERAGE = "On average the scores are 40%, and 48% were re-arrested, "
ADD_UP = " times as many as the scores add up to: as probabilities, the scores are "


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        ((1.2, 1.1, 1.3), f"1.20 (1.10 to 1.30){ADD_UP}shown to be too low on average."),
        ((0.8, 0.7, 0.9), f"0.80 (0.70 to 0.90){ADD_UP}shown to be too high on average."),
        (
            (0.97, 0.93, 1.01),
            f"0.97 (0.93 to 1.01){ADD_UP}not shown to be too high or too low on average; the data "
            "leave room for 7% fewer, and for 1% more, than they add up to.",
        ),
        (
            (1.0, 0.999, 1.0004),
            f"1.00 (0.999 to 1.0004){ADD_UP}not shown to be too high or too low on average; the "
            "data leave room for 0.1% fewer, and for 0.04% more, than they add up to.",
        ),
        ((1.003, 1.001, 1.1), f"1.003 (1.001 to 1.10){ADD_UP}shown to be too low on average."),
        (
            (1.0, None, None),
            f"1.00 (no limits){ADD_UP}not shown to be too high or too low on average.",
        ),
    ],
)
def test_scores_on_average(ratio, said):
    assert on_average(probability(*ratio), WORDS) == f"{ON_AVERAGE}{said}"


def test_without_scores_above_0_there_is_no_ratio():
    assert on_average(probability(None, None, None), WORDS) == ""


def test_what_it_is_for_scores_to_be_probabilities():
    assert claimed(WORDS) == (
        "All scores lie between 0 and 1. If they are probabilities, then of the people with a "
        "score of 0.3, 30% are re-arrested, but for chance."
    )


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (
            (0.9, 0.8, 0.97),
            "The calibration slope is 0.90 (0.80 to 0.97), where 1 is right: the scores are shown "
            "to be too far apart, so that differences between them promise more than comes true.",
        ),
        (
            (1.5, 1.2, 1.8),
            "The calibration slope is 1.50 (1.20 to 1.80), where 1 is right: the scores are shown "
            "to be too close, so that differences between them promise less than comes true.",
        ),
        (
            (1.0, 0.9, 1.1),
            "The calibration slope is 1.00 (0.90 to 1.10), where 1 is right: the scores are not "
            "shown to be too far apart or too close.",
        ),
        (
            (-0.5, -0.7, -0.3),
            f"The calibration slope is {MINUS}0.50 ({MINUS}0.70 to {MINUS}0.30), where 1 is right: "
            "higher scores are shown to go with fewer, and not with more.",
        ),
        (
            (-0.1, -0.4, 0.2),
            f"The calibration slope is {MINUS}0.10 ({MINUS}0.40 to 0.20), where 1 is right: the "
            "scores are shown to be too far apart, so that differences between them promise more "
            "than comes true.",
        ),
        (
            (None, None, None),
            "Whether the scores are too far apart cannot be computed: they are all the same, or "
            "tell the outcomes apart without error, or one that is certain is wrong.",
        ),
    ],
)
def test_differences_between_scores(slope, said):
    assert spread(Estimate(*slope)) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (None, ""),
        (
            0.2,
            " Tested together, level and slope are not shown to be off by more than chance "
            "explains (p = .200; this compares no groups and is not among the p-values that are "
            "adjusted).",
        ),
        (
            1e-9,
            " Tested together, level and slope are off by more than chance explains (p < .001; "
            "this compares no groups and is not among the p-values that are adjusted).",
        ),
        (
            0.04996,
            " Tested together, level and slope are off by more than chance explains (p = .04996; "
            "this compares no groups and is not among the p-values that are adjusted).",
        ),
    ],
)
def test_level_and_slope_are_tested_together(p, said):
    assert level_and_slope(p, 0.05) == said


@pytest.mark.parametrize(
    ("ratios", "low", "high"),
    [
        ([Estimate(1.02, 0.95, 1.09)], 0.9, 1.1),
        ([Estimate(1.3, 1.2, 1.45)], 0.5, 1.5),
        ([Estimate(1.3, 1.2, 1.9), Estimate(0.4, 0.1, 0.7)], 0.0, 2.0),
        ([Estimate(1.3, 1.2, 2.6)], 0.0, 3.0),
        ([Estimate(9.0, 7.0, 12.0)], 0.0, 4.0),
        ([Estimate(None, None, None)], 0.9, 1.1),
    ],
)
def test_the_axis_of_ratios_holds_1(ratios, low, high):
    found = around_one(ratios)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.low < 1 < found.high
    assert (1 - found.low) / found.step == pytest.approx(round((1 - found.low) / found.step))


def test_the_section_on_compas(section):
    assert section.question == QUESTION
    assert [plain(one) for one in section.brief] == [
        "At the same score, no group is shown to be re-arrested within two years more or less "
        "often than others of its column; the data leave room for up to 6 points."
    ]
    said = [plain(one.text) for one in section.blocks if isinstance(one, Paragraph)]
    assert said[1] == (
        "How many points more or less often were people re-arrested within two years than others "
        "with the same score (95% limits)? By race no difference is shown; the data leave room for "
        "up to 6 points."
    )
    assert said[2].endswith("by race, error rates differ at most thresholds.")
    assert len(said) == 3  # deciles are no probabilities


def test_the_table_has_hollow_marks_for_small_groups_and_a_symmetric_axis(section):
    (table,) = [one for one in section.blocks if isinstance(one, Table)]
    rows = table.groups[0].rows
    assert [plain(one.heading) for one in rows if one.is_small] == ["Asian", "Native American"]
    (plot,) = [one for one in table.heads if one.kind == "plot"]
    assert plot.axis.line == pytest.approx(0.5)
    assert [at for at, _ in plot.axis.ticks] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    # 1,661 of 3,175.
    assert [rows[0].cells[at].text for at in (0, 1, 3)] == ["3,175", "52%", "+3"]


def test_a_group_that_differs_is_marked_and_named():
    rows = probabilities(4000, decimals=2)
    # Half of the negatives of b become positives.
    turned = (rows["g"] == "b") & (pl.Series([i % 2 for i in range(4000)]) == 1)
    rows = rows.with_columns(y=rows["y"].zip_with(~turned, pl.Series([1] * 4000)))
    found = calibrated(audit_of(rows))
    assert plain(found.brief[0]).startswith(
        "At the same score, labelled 1 more or less often than others of the same column: b (g) by "
        "+"
    )
    table = next(one for one in found.blocks if isinstance(one, Table))
    assert "b" in [plain(one.heading) for one in table.groups[0].rows if one.differs]


def test_probabilities_have_a_table_by_group():
    found = calibrated(audit_of(probabilities(900, decimals=2)))
    first, second = [one for one in found.blocks if isinstance(one, Table)]
    assert first.caption == "Groups beside others with the same scores"
    assert second.caption == "Scores as probabilities, by group"
    assert plain(second.total.heading) == "All rows"
    assert len(found.brief) == 1
    said = [plain(one.text) for one in found.blocks if isinstance(one, Paragraph)]
    assert any(one.startswith("Are the scores the probabilities that they may") for one in said)


def test_without_groups_the_section_is_on_probabilities():
    found = calibrated(audit_of(probabilities(900, decimals=2), by=()))
    assert found.question == "Are the scores the probabilities that they may be taken for?"
    assert [type(one) for one in found.blocks] == [Paragraph, Paragraph]
    assert found.brief[0].startswith("On average the scores are ")


def test_rounding_is_said():
    said = [*texts(calibrated(audit_of(probabilities(1500))))]
    assert (
        "There are very many different values of score. They were rounded down to multiples of "
        "0.001. For the means, half a step was added to each." in said
    )


def test_without_one_of_the_outcomes_nothing_is_said():
    rows = probabilities(300, decimals=1).filter(pl.col("y") == 1)
    found = calibrated(audit_of(rows))
    assert found.blocks == [Paragraph(ONE_OUTCOME)]
    assert found.brief == []


def test_the_section_is_left_out():
    assert calibrated(audited(model())) == LeftOut(QUESTION, "no score was given (`y_score`)")
    several = audited(model(), models=with_score(asked(), "s").models)
    assert calibrated(several) == LeftOut(
        QUESTION, "a score is of one of two outcomes, and there are more"
    )
    rows = probabilities(300, decimals=1)
    ranks = rows.with_columns(score=(rows["score"] * 10).cast(pl.Int64))
    assert calibrated(audit_of(ranks, by=())) == LeftOut(
        QUESTION, "no columns of groups were given"
    )


def test_columns_beyond_the_first_are_counted():
    names = [f"g{i}" for i in range(8)]
    rows = probabilities(300, decimals=1)
    rows = rows.with_columns([pl.col("g").alias(name) for name in names])
    found = calibrated(audit_of(rows, by=names))
    table = next(one for one in found.blocks if isinstance(one, Table))
    assert len(table.groups) == 6
    assert table.under.endswith(" 2 more columns not examined.")
