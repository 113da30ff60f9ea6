"""Whether scores are probabilities: each sentence with all of its outcomes."""

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.scores import ScoreWords
from balframe.audit_page.sections import calibration
from balframe.audit_page.sections.probabilities import definition, level_sentence, slope_sentence
from tests.support.audits.scored_audits import audit_of_compas, audit_scores, probabilities
from tests.support.cases import cases

WORDS = ScoreWords("decile", "re-arrested", "called high risk", "people")
MINUS = "\N{MINUS SIGN}"
RANDOM = probabilities(2000, decimals=2)


def measured(audited):
    """Return the figures on scores as probabilities."""
    (figures,) = audited.of(calibration)
    return figures.probabilities


def calibrated(*ratio):
    """Make a row of `calibration`."""
    row = dict(zip(("oe_ratio", "oe_ratio_lower", "oe_ratio_upper"), ratio, strict=True))
    return {**row, "n": 100, "mean_score": 0.4, "observed": 0.48}


ON_AVERAGE = "On average the scores are 40%, and 48% were re-arrested, "
TOO_LOW = "established to be too low on average."
ADD_UP = " times as many as the scores add up to: as probabilities, the scores are "


@cases(
    ("ratio", "said"),
    [
        ((1.2, 1.1, 1.3), f"1.20 (1.10 to 1.30){ADD_UP}{TOO_LOW}"),
        ((0.8, 0.7, 0.9), f"0.80 (0.70 to 0.90){ADD_UP}established to be too high on average."),
        (
            (0.97, 0.93, 1.01),
            f"0.97 (0.93 to 1.01){ADD_UP}not established to be too high or too low on average; "
            "there may be 7% fewer, or 1% more, than they add up to.",
        ),
        (
            (1.0, 0.999, 1.0004),
            f"1.00 (0.999 to 1.0004){ADD_UP}not established to be too high or too low on "
            "average; there may be 0.1% fewer, or 0.04% more, than they add up to.",
        ),
        (
            (1.003, 1.001, 1.1),
            f"1.003 (1.001 to 1.10){ADD_UP}{TOO_LOW}",
        ),
        (
            (1.0, None, None),
            f"1.00 (no limits){ADD_UP}not established to be too high or too low on average.",
        ),
    ],
)
def test_level_sentence_states_whether_scores_are_too_high_or_low(ratio, said):
    assert level_sentence(calibrated(*ratio), WORDS) == f"{ON_AVERAGE}{said}"


def test_level_sentence_is_empty_if_the_ratio_is_undefined():
    assert level_sentence(calibrated(None, None, None), WORDS) == ""


def test_definition_explains_scores_as_probabilities():
    assert definition(WORDS) == (
        "All scores lie between 0 and 1. If they are probabilities, then of the people with a "
        "score of 0.3, 30% are re-arrested, apart from chance."
    )


@cases(
    ("slope", "said"),
    [
        (
            (0.9, 0.8, 0.97),
            "The calibration slope is 0.90 (0.80 to 0.97), where 1 is right: the scores are "
            "established to be too far apart, so that differences between them promise more than "
            "comes true.",
        ),
        (
            (1.5, 1.2, 1.8),
            "The calibration slope is 1.50 (1.20 to 1.80), where 1 is right: the scores are "
            "established to be too close, so that differences between them promise less than "
            "comes true.",
        ),
        (
            (1.0, 0.9, 1.1),
            "The calibration slope is 1.00 (0.90 to 1.10), where 1 is right: the scores are not "
            "established to be too far apart or too close.",
        ),
        (
            (-0.5, -0.7, -0.3),
            f"The calibration slope is {MINUS}0.50 ({MINUS}0.70 to {MINUS}0.30), where 1 is right: "
            "higher scores are established to go with fewer, and not with more.",
        ),
        (
            (-0.1, -0.4, 0.2),
            f"The calibration slope is {MINUS}0.10 ({MINUS}0.40 to 0.20), where 1 is right: the "
            "scores are established to be too far apart, so that differences between them promise "
            "more than comes true.",
        ),
        (
            (None, None, None),
            "Whether the scores are too far apart cannot be computed. That needs scores that "
            "differ, that do not separate the outcomes without error, and none that is 0 or 1 "
            "and wrong.",
        ),
    ],
)
def test_slope_sentence_states_whether_scores_are_too_far_apart(slope, said):
    assert slope_sentence(Estimate(*slope)) == said


def test_figures_equal_the_result_of_calibration_on_rows():
    found = measured(audit_scores(RANDOM))
    both = {"level": 0.975, "detail": True}  # for the ratio and for the slope
    everyone = bf.calibration(RANDOM, "y", "score", **both).to_dicts()[0]
    by_group = bf.calibration(RANDOM, "y", "score", by="g", adjust=None, detail=True).to_dicts()
    pairs = [(found.overall, everyone)]
    pairs += [(found.columns[0][row["g"]], row) for row in by_group]
    for one, row in pairs:
        names = [name for name in row if name != "g"]
        assert [one[name] for name in names] == pytest.approx([row[name] for name in names])
    total = RANDOM["y"].sum() / RANDOM["score"].sum()
    assert found.overall["oe_ratio"] == pytest.approx(total)


def test_rounded_scores_keep_their_mean():
    """Scores are rounded down by half a step on average, and moved up by it again."""
    rows = probabilities(3000)
    audited = audit_scores(rows)
    cells = audited.model.cells
    assert cells.step == pytest.approx(0.001)
    found = measured(audited).overall
    # The mean of 3,000 rounding errors within half a step: 5 standard errors are 0.00003.
    assert found["mean_score"] == pytest.approx(rows["score"].mean(), abs=0.00003)
    scores, n = cells.frame["score"], cells.frame["n"]
    cut = (scores * n).sum() / n.sum()
    assert found["mean_score"] == pytest.approx(cut + 0.0005)


def test_scores_of_1_are_not_shifted_by_rounding():
    rows = probabilities(3000)
    one = pl.lit(1, pl.Int64)
    sure = rows.head(300).with_columns(score=pl.lit(1.0), y=one, p=one)
    audited = audit_scores(pl.concat([rows, sure]))
    assert audited.model.cells.step is not None
    mean = (rows["score"].sum() + 300) / 3300
    assert measured(audited).overall["mean_score"] == pytest.approx(mean, abs=0.00003)


def test_deciles_are_not_measured_as_probabilities():
    assert measured(audit_of_compas()) is None
