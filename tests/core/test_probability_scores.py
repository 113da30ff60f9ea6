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


def test_sums_of_segments_without_rows_are_zero():
    p = probabilities(SEGMENT, SCORE, Y, n_segments=5)

    assert p.n.tolist() == [1, 2, 1, 1, 1]
    assert p.k.tolist() == [0, 1, 0, 1, 1]
    assert p.n_rows.tolist() == [3, 0, 2, 1, 0]
    assert p.n_positive.tolist() == [1, 0, 1, 1, 0]
    assert p.expected.tolist() == [1.25, 0, 1, 0.75, 0]
    assert p.variance.tolist() == [0.6875, 0, 0, 0.1875, 0]
    assert p.spread(np.arange(5.0)).tolist() == [0, 0, 2, 2, 3]


def test_ties_with_a_count_of_zero_are_left_out():
    p = one((0.2, 1), (0.4, 0), (0.2, 0), n=[3, 0, 2])

    assert (p.score.tolist(), p.n.tolist(), p.k.tolist()) == ([0.2], [5], [3])


def test_counts_beyond_2_to_53_are_exact():
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
def test_scores_outside_or_refuting_0_and_1_are_flagged(rows, is_outside, is_refuted):
    p = one(*rows)

    assert p.is_outside.tolist() == [is_outside]
    assert p.is_refuted.tolist() == [is_refuted]
    assert p.uncertain.score.tolist() == [score for score, _ in rows if 0 < score < 1]


def test_kept_segments_are_renumbered():
    p = probabilities(SEGMENT, SCORE, Y, n_segments=5)

    kept = p.of_segments(np.array([False, True, True, True, False]))

    assert kept.n_segments == 3
    assert kept.segment.tolist() == [1, 1, 2]
    assert kept.score.tolist() == [0, 1, 0.75]


@cases("size", [1, 7, 50, 10_000])
def test_blocks_never_split_a_segment(size):
    p = drawn(200, 900)

    blocks = p.blocks(size)

    assert sum(block.n_segments for block in blocks) == 200
    assert np.concatenate([block.n_rows for block in blocks]).tolist() == p.n_rows.tolist()
    assert np.concatenate([block.score for block in blocks]).tolist() == p.score.tolist()
    longest = np.diff(p.bounds).max()
    assert max(len(block.n) for block in blocks) < size + longest


def test_results_by_blocks_equal_those_of_the_whole(monkeypatch):
    p = drawn(300, 2_000)

    monkeypatch.setattr(ProbabilityScores.blocks, "__defaults__", (16,))

    found = p.by_blocks(lambda block: (block.expected, block.variance))
    assert [values.tolist() for values in found] == [p.expected.tolist(), p.variance.tolist()]
