"""Scores and the thresholds between them, as numbers and as text."""

from math import inf

import polars as pl
import pytest

from balframe.audit_page.numbers import score_text
from balframe.audit_page.scores import ScoreCounts, Threshold, rounding_note
from tests.support.audits.figures import make_cells, plain
from tests.support.cases import cases

MINUS = "\N{MINUS SIGN}"


def test_threshold_has_a_lower_neighbour_with_the_same_predictions():
    spread = ScoreCounts([0.1, 0.48, 0.503, 0.9], [0, 0, 1, 1], [1, 1, 1, 1], None)
    at = spread.threshold(0.503)
    assert at.value == 0.503
    assert at.above == pytest.approx(0.495)  # a hundredth of the range below
    assert spread.threshold(0.48).above == pytest.approx(0.472)
    close = ScoreCounts([0.1, 0.5029, 0.503, 0.9], [0, 0, 1, 1], [1, 1, 1, 1], None)
    assert close.threshold(0.503).above == 0.5029
    rounded = ScoreCounts([0.1, 0.2], [0, 1], [1, 1], 0.1)
    assert rounded.threshold(0.2).above == 0.2


@cases(
    ("scores", "are"),
    [
        ([0.0, 0.5, 1.0], True),
        ([0.3], True),
        ([0.0, 1.0], False),
        ([1.0], False),
        ([-0.1, 0.5], False),
        ([0.5, 1.1], False),
        ([1.0, 2.0, 10.0], False),
    ],
)
def test_scores_within_0_and_1_may_be_probabilities(scores, are):
    assert ScoreCounts(scores, [], [], None).may_be_probabilities is are


@cases(
    ("at", "text"),
    [
        (Threshold(5.0, 4.91), "5 or more"),
        (Threshold(inf, inf), "never"),
        (Threshold(0.50013, 0.4987), "0.5 or more"),
        (Threshold(0.50013, 0.50012), "0.50013 or more"),
        (Threshold(-2.3, -2.31), f"{MINUS}2.3 or more"),
        (Threshold(0.0, -0.1), "0 or more"),
        (Threshold(12345.6, 12300.0), "12,345 or more"),
        (Threshold(0.3, 0.3), "0.3 or more"),
        (Threshold(1e-9, 0.0), f"1e{MINUS}9 or more"),
    ],
)
def test_threshold_text_is_the_shortest_with_the_same_predictions(at, text):
    assert at.rule == text


@cases("above", [0.0, 0.3, 0.33, 0.333, 0.33333333333])
def test_threshold_text_lies_above_the_lower_neighbour(above):
    value = 1 / 3
    assert above < float(Threshold(value, above).text) <= value


def test_scores_of_32_bits_have_few_digits():
    assert score_text(pl.Series([0.7], dtype=pl.Float32)[0]) == "0.7"
    assert score_text(0.7) == "0.7"
    assert score_text(16777217.0) == "16,777,217"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (None, ""),
        (
            0.001,
            "There are very many different values of None. They were rounded down to multiples of "
            "0.001.",
        ),
    ],
)
def test_section_states_how_scores_were_rounded(step, said):
    assert plain(rounding_note(make_cells({(0, 0): 1, (1, 1): 1}, step=step))) == said
