"""Ties read as probabilities: sums of segments, kept segments and blocks."""

import numpy as np

from balframe.core.probability_scores import ProbabilityScores
from tests.support.cases import cases
from tests.support.oracles.calibration import one, probabilities

SEGMENT = [0, 0, 0, 2, 2, 3]
SCORE = [0.5, 0.25, 0.5, 1.0, 0.0, 0.75]
Y = [1, 0, 0, 1, 0, 1]


def drawn(n_segments, rows, seed=1):
    """Draw segments of which some have no row."""
    rng = np.random.default_rng(seed)
    segment = np.sort(rng.integers(0, n_segments, rows))
    score = rng.integers(0, 9, rows) / 8
    return probabilities(segment, score, rng.integers(0, 2, rows), n_segments=n_segments)


def test_sums_of_segments_of_which_one_has_no_row():
    p = probabilities(SEGMENT, SCORE, Y, n_segments=5)

    assert p.n.tolist() == [1, 2, 1, 1, 1]
    assert p.k.tolist() == [0, 1, 0, 1, 1]
    assert p.n_rows.tolist() == [3, 0, 2, 1, 0]
    assert p.n_positive.tolist() == [1, 0, 1, 1, 0]
    assert p.expected.tolist() == [1.25, 0, 1, 0.75, 0]
    assert p.variance.tolist() == [0.6875, 0, 0, 0.1875, 0]
    assert p.spread(np.arange(5.0)).tolist() == [0, 0, 2, 2, 3]


def test_ties_that_stand_for_no_row_are_left_out():
    p = one((0.2, 1), (0.4, 0), (0.2, 0), n=[3, 0, 2])

    assert (p.score.tolist(), p.n.tolist(), p.k.tolist()) == ([0.2], [5], [3])


def test_counts_past_the_digits_of_a_float_stay_whole():
    many = 2**53
    p = one((0.25, 1), (0.5, 0), n=[many, 1])

    assert p.n_rows.tolist() == [many + 1]


@cases(
    ("rows", "is_outside", "is_refuted"),
    [
        ([(0.0, 0), (1.0, 1)], False, False),
        ([(0.0, 1)], False, True),
        ([(1.0, 0), (0.5, 1)], False, True),
        ([(-1e-300, 0)], True, False),
        ([(1 + 1e-15, 1)], True, False),
    ],
)
def test_scores_at_and_past_the_ends(rows, is_outside, is_refuted):
    p = one(*rows)

    assert p.is_outside.tolist() == [is_outside]
    assert p.is_refuted.tolist() == [is_refuted]
    assert p.uncertain.score.tolist() == [score for score, _ in rows if 0 < score < 1]


def test_segments_that_are_kept_are_numbered_anew():
    p = probabilities(SEGMENT, SCORE, Y, n_segments=5)

    kept = p.of_segments(np.array([False, True, True, True, False]))

    assert kept.n_segments == 3
    assert kept.segment.tolist() == [1, 1, 2]
    assert kept.score.tolist() == [0, 1, 0.75]


@cases("size", [1, 7, 50, 10_000])
def test_blocks_are_cut_between_segments(size):
    p = drawn(200, 900)

    blocks = p.blocks(size)

    assert sum(block.n_segments for block in blocks) == 200
    assert np.concatenate([block.n_rows for block in blocks]).tolist() == p.n_rows.tolist()
    assert np.concatenate([block.score for block in blocks]).tolist() == p.score.tolist()
    longest = np.diff(p.bounds).max()
    assert max(len(block.n) for block in blocks) < size + longest


def test_work_by_blocks_is_that_of_the_whole(monkeypatch):
    p = drawn(300, 2_000)

    monkeypatch.setattr(ProbabilityScores.blocks, "__defaults__", (16,))

    found = p.by_blocks(lambda block: (block.expected, block.variance))
    assert [values.tolist() for values in found] == [p.expected.tolist(), p.variance.tolist()]
