"""Ties of scores, and the points they make: small tables by hand, large ones by a dictionary."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from balframe.core.integer_codes import Codes
from balframe.core.operating_points import OperatingPoints
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import Ties, _sorted, group_ties, split_by_label
from tests.support.cases import cases

INF = float("inf")
EVERY = slice(None)


def tied(by, score, positive, n=None, weight=None, missing=None):
    """Tie rows given by plain lists."""
    n, missing = (None if one is None else np.array(one) for one in (n, missing))
    carried = RowSums(n, weight=None if weight is None else np.array(weight, float))
    return group_ties(
        [Codes.spanning(np.array(codes, np.int64)) for codes in by],
        np.array(score, float),
        *split_by_label(carried, np.array(positive, bool)),
        None if n is None else n > 0,
        missing,
    )


def segments(ties):
    """List the codes of each segment, and the rows left out of it."""
    return list(zip(*(one.tolist() for one in (*ties.by, ties.missing)), strict=True))


def entries(ties):
    """List segment, score, positive and negative rows of each tie."""
    columns = (ties.segment, ties.score, ties.positive.n, ties.negative.n)
    return list(zip(*(one.tolist() for one in columns), strict=True))


def cells(points, measure=0):
    """List segment, threshold, TP, FN, FP and TN of each rule."""
    c = points.counts(measure, EVERY)
    columns = (points.segment, points.threshold, c.tp, c.fn, c.fp, c.tn)
    return list(zip(*(one.tolist() for one in columns), strict=True))


def test_rows_of_equal_score_are_added_up():
    ties = tied([], [0.4, 0.1, 0.4, 0.8], [1, 0, 0, 1])
    assert segments(ties) == [(0,)]
    assert entries(ties) == [(0, 0.1, 0, 1), (0, 0.4, 1, 1), (0, 0.8, 1, 0)]


def test_segments_ascend_by_their_codes():
    by = [[1, 0, 1, 0, 1], [0, 2, 0, 0, 1]]
    ties = tied(by, [3, 2, 1, 5, 4], [1, 1, 0, 0, 1])
    assert segments(ties) == [(0, 0, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0)]
    assert entries(ties) == [(0, 5, 0, 1), (1, 2, 1, 0), (2, 1, 0, 1), (2, 3, 1, 0), (3, 4, 1, 0)]


def test_positive_and_negative_zero_are_the_same_score():
    assert entries(tied([], [0.0, -0.0, 0.0], [1, 0, 1])) == [(0, 0.0, 2, 1)]


def test_ties_sum_counts_weights_and_squared_weights():
    ties = tied([[0, 0, 0]], [1, 1, 2], [1, 1, 0], weight=[0.5, 2, 3])
    assert ties.positive.weight.tolist() == [2.5, 0]
    assert ties.negative.weight.tolist() == [0, 3]
    assert ties.positive.weight_sq.tolist() == [4.25, 0]
    assert ties.negative.weight_sq.tolist() == [0, 9]
    assert ties.positive.weight_max.tolist() == [2, 0]
    assert ties.negative.weight_max.tolist() == [0, 3]
    assert entries(tied([], [1, 1, 2], [1, 1, 0], n=[3, 4, 5])) == [(0, 1, 7, 0), (0, 2, 0, 5)]


def test_rows_left_out_keep_their_segment():
    by, n, missing = [[0, 0, 1, 1, 2]], [1, 0, 0, 0, 0], [0, 2, 3, 1, 0]
    ties = tied(by, [7, 9, 9, 9, 9], [1, 1, 0, 0, 1], n=n, missing=missing)
    assert segments(ties) == [(0, 2), (1, 4)]
    assert entries(ties) == [(0, 7, 1, 0)]


def test_no_rows_make_no_segment():
    ties = tied([[]], [], [])
    assert (segments(ties), entries(ties), len(OperatingPoints.exact(ties))) == ([], [], 0)
    assert len(OperatingPoints.on_grid(ties, np.array([0.5]))) == 0


TABLE = {"by": [[0, 0, 1, 1, 1], [0, 1, 0, 0, 1]], "score": [1, 1, 2, 1, 1]}
TABLE |= {"positive": [1, 0, 1, 0, 1]}


@cases(
    ("kept", "codes", "expected", "of_ties"),
    [
        ((), (5, 7), [(5, 7, 0)], [(0, 1, 2, 2), (0, 2, 1, 0)]),
        ((0,), (5, 7), [(0, 7, 0), (1, 7, 0)], [(0, 1, 1, 1), (1, 1, 1, 1), (1, 2, 1, 0)]),
        ((1,), (5, 7), [(5, 0, 0), (5, 1, 0)], [(0, 1, 1, 1), (0, 2, 1, 0), (1, 1, 1, 1)]),
        ((), (None, 7), [(0, 7, 0), (1, 7, 0)], [(0, 1, 1, 1), (1, 1, 1, 1), (1, 2, 1, 0)]),
    ],
)
def test_roll_ups_equal_the_expected_tables(kept, codes, expected, of_ties):
    rolled = tied(**TABLE).rolled_up(kept, codes)
    assert segments(rolled) == expected
    assert entries(rolled) == of_ties


def test_rolled_up_parts_equal_the_whole():
    rng = np.random.default_rng(3)
    size = 2000
    by = [rng.integers(0, 5, size), rng.integers(0, 7, size)]
    missing = rng.integers(0, 2, size) * rng.integers(0, 3, size)
    by[0][missing == 2], missing[by[0] == 4] = 4, 1  # segment 4 has no row left
    n = np.where(missing > 0, 0, rng.integers(1, 4, size))
    score, positive = rng.integers(0, 20, size), rng.integers(0, 2, size)
    weight = 2.0 ** rng.integers(-3, 4, size) * (n > 0)
    rest = (score, positive, n, weight, missing)
    rolled = tied(by, *rest).rolled_up((0,), (9, 7))
    whole = tied([by[0], np.full(size, 7)], *rest)
    assert segments(rolled) == [(one, 7, lost) for one, _, lost in segments(whole)]
    assert segments(rolled)[-1] == (4, 7, missing[by[0] == 4].sum())
    assert entries(rolled) == entries(whole)
    for side in ("positive", "negative"):
        for sums in ("weight", "weight_sq", "weight_max"):
            found, expected = (getattr(getattr(t, side), sums) for t in (rolled, whole))
            assert found.tolist() == expected.tolist()


def test_concat_sorts_parts_by_their_codes():
    one = tied([[0, 1]], [3, 4], [1, 0]).with_constant_column(1, first=False)
    other = tied([[1, 0, 0]], [6, 5, 2], [1, 1, 0]).with_constant_column(0, first=False)
    both = Ties.concat([one, other])
    assert segments(both) == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert entries(both) == [(0, 2, 0, 1), (0, 5, 1, 0), (1, 3, 1, 0), (2, 6, 1, 0), (3, 4, 0, 1)]
    first = one.with_constant_column(8, first=True)
    assert segments(first) == [(8, 0, 1, 0), (8, 1, 1, 0)]


def test_segments_are_taken_in_the_requested_order():
    ties = tied([[0, 0, 1, 2]], [1, 2, 3, 4], [1, 0, 1, 0]).at(np.array([2, 0]))
    assert segments(ties) == [(2, 0), (0, 0)]
    assert entries(ties) == [(0, 4, 0, 1), (1, 1, 1, 0), (1, 2, 0, 1)]


def test_every_score_and_infinity_are_operating_points():
    points = OperatingPoints.exact(
        tied([[0, 0, 0, 0, 1]], [0.4, 0.1, 0.4, 0.8, 0.3], [1, 0, 0, 1, 1])
    )
    assert cells(points) == [
        (0, 0.1, 2, 0, 2, 0),
        (0, 0.4, 2, 0, 1, 1),
        (0, 0.8, 1, 1, 0, 2),
        (0, INF, 0, 2, 0, 2),
        (1, 0.3, 1, 0, 0, 0),
        (1, INF, 0, 1, 0, 0),
    ]


def test_segment_without_rows_has_only_the_infinite_threshold():
    ties = tied([[0, 1, 2]], [5, 5, 6], [1, 1, 0], n=[1, 0, 1], missing=[0, 1, 0])
    assert cells(OperatingPoints.exact(ties)) == [
        *((0, 5, 1, 0, 0, 0), (0, INF, 0, 1, 0, 0), (1, INF, 0, 0, 0, 0)),
        *((2, 6, 0, 0, 1, 0), (2, INF, 0, 0, 0, 1)),
    ]
    on_grid = replace(ties, score=np.array([1.0, 0.0]))
    grid = cells(OperatingPoints.on_grid(on_grid, np.array([5.5])))
    assert grid == [(0, 5.5, 1, 0, 0, 0), (1, 5.5, 0, 0, 0, 0), (2, 5.5, 0, 0, 0, 1)]


def test_grid_operating_points_count_rows_per_threshold():
    reached = [0, 1, 1, 3, 3]
    points = OperatingPoints.on_grid(
        tied([[0, 0, 0, 0, 1]], reached, [0, 1, 0, 1, 0]), np.array([2, 4, 8])
    )
    assert cells(points) == [
        *((0, 2, 2, 0, 1, 1), (0, 4, 1, 1, 0, 2), (0, 8, 1, 1, 0, 2)),
        *((1, 2, 0, 0, 1, 0), (1, 4, 0, 0, 1, 0), (1, 8, 0, 0, 1, 0)),
    ]


def test_operating_points_have_weighted_class_counts_and_totals():
    points = OperatingPoints.exact(tied([[0, 0, 0]], [1, 2, 2], [0, 1, 0], weight=[0.5, 2, 4]))
    assert cells(points, 1) == [
        *((0, 1, 2, 0, 4.5, 0), (0, 2, 2, 0, 4, 0.5), (0, INF, 0, 2, 0, 4.5)),
    ]
    assert cells(points, 2)[1] == (0, 2, 4, 0, 16, 0.25)
    c = points.class_counts(slice(1, 3), None)
    assert (c.n_correct.tolist(), c.n_missed.tolist()) == ([1, 1, 2, 0], [1, 0, 0, 1])
    assert c.correct.tolist() == [0.5, 2, 4.5, 0]
    assert c.squared.false_alarms.tolist() == [0, 16, 4, 0]
    totals = points.totals()
    assert (totals.n.tolist(), totals.support.tolist()) == ([3], [4.5, 2])


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e6])
def test_small_weights_are_summed_precisely_beside_large_segments(size):
    rng = np.random.default_rng(4)
    by, score = rng.integers(0, 3, 900), rng.integers(0, 9, 900)
    weight, positive = rng.random(900) * np.array([1e6, size, 1e6])[by], rng.integers(0, 2, 900)
    found = cells(OperatingPoints.exact(tied([by], score, positive, weight=weight)), 1)
    assert len(found) == 3 * 10
    for segment, threshold, *of_cells in found:
        is_own, called = by == segment, score >= threshold
        pairs = ((1, True), (1, False), (0, True), (0, False))
        rows = [is_own & (positive == true) & (called == one) for true, one in pairs]
        expected = [math.fsum(weight[at]) for at in rows]
        assert of_cells == pytest.approx(expected, rel=1e-9, abs=0)


def test_more_than_65536_segments_are_counted():
    rng = np.random.default_rng(5)
    size, keys = 300_000, 70_000
    by, score = rng.integers(0, keys, size), rng.integers(0, 3, size)
    positive = rng.integers(0, 2, size)
    total = Counter(zip(by.tolist(), score.tolist(), positive.tolist(), strict=True))
    pairs = sorted({(key, one) for key, one, _ in total})
    number = {key: at for at, key in enumerate(sorted(set(by.tolist())))}
    ties = tied([by], score, positive)
    assert len(number) > 65_536
    assert entries(ties) == [(number[k], s, total[k, s, 1], total[k, s, 0]) for k, s in pairs]
    found = OperatingPoints.exact(ties).totals()
    assert found.n.tolist() == np.bincount(by, minlength=keys)[sorted(number)].tolist()


@pytest.mark.parametrize("n_keys", [1, 2, 3, 300, 70_000])
def test_sorting_in_halves_gives_the_same_order(monkeypatch, n_keys):
    rng = np.random.default_rng(6)
    by, score = rng.integers(0, n_keys, 5_000), rng.integers(0, 40, 5_000) / 8
    positive, counted = rng.integers(0, 2, 5_000), rng.random(5_000) < 0.9
    expected = list(zip(by[counted], score[counted], strict=True))

    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_SHARE", 1)
    order = _sorted(by.astype(np.min_scalar_type(n_keys)), score, counted)
    halved = tied([by], score, positive)

    assert sorted(order) == np.flatnonzero(counted).tolist()
    assert list(zip(by[order], score[order], strict=True)) == sorted(expected)
    assert halved.n.sum() == 5_000
    assert (np.diff(halved.segment.astype(int)) >= 0).all()
