"""Largest weights: what adds up counts returns the largest weight of the rows that it counts."""

import numpy as np
import pytest

from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts, comparing, segments_at
from balframe.core.label_counts import LabelCounts
from balframe.core.leave_one_out import sum_other_cells, sum_other_segments, sum_segments
from balframe.core.maxima import Maxima, RunningMaxima
from balframe.core.row_sums import RowSums
from balframe.core.two_labels import one_versus_rest_counts

N_SEGMENTS = 6


def draw(n_labels, *, seed=0, n=60):
    """Draw rows: segment, true label, predicted label, weight; some pairs do not occur."""
    rng = np.random.default_rng(seed)
    segment, actual, outcome = (
        rng.integers(size, size=n) for size in (N_SEGMENTS, *2 * [n_labels])
    )
    segment[:N_SEGMENTS] = range(N_SEGMENTS)
    return segment, actual, outcome, rng.permutation(n) + 1.0


def counts_of(rows, n_labels, pos_label=1):
    segment, actual, outcome, weight = rows
    sums = RowSums(np.ones(len(segment), np.int64), weight=weight).with_squares()
    cells = Cells((segment,), actual, outcome, sums).regrouped()
    return ClassCounts.of(LabelCounts.of(cells, n_labels), pos_label=pos_label), cells


def largest(weight, selected):
    return weight[selected].max(initial=0)


def test_sums_are_maxima_and_differences_upper_bounds():
    a, b = Maxima.of(np.array([1.0, 5.0])), Maxima.of(np.array([3.0, 2.0]))
    total = a.copy()
    total += b
    assert (a + b).tolist() == total.tolist() == [3, 5]
    assert isinstance(a + b + a, Maxima)
    assert (a - b).tolist() == [1, 5]
    assert a.sum() == 5
    assert (a > b).tolist() == [False, True]


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_largest_weights_of_labels_equal_those_of_their_rows(n_labels):
    rows = draw(n_labels)
    segment, actual, outcome, weight = rows
    c, _ = counts_of(rows, n_labels)
    k = c.largest
    for entry, (s, label) in enumerate(zip(c.segment, c.label, strict=True)):
        here, true, predicted = segment == s, actual == label, outcome == label
        expected = {
            "correct": here & true & predicted,
            "support": here & true,
            "predicted": here & predicted,
            "true_negatives": here & ~true & ~predicted,
        }
        for name, selected in expected.items():
            assert getattr(k, name)[entry] == largest(weight, selected), name


@pytest.mark.parametrize("n_labels", [2, 4])
def test_denominators_of_the_positive_label_have_their_largest_weight(n_labels):
    rows = draw(n_labels)
    segment, actual, outcome, weight = rows
    k = counts_of(rows, n_labels)[0].largest
    for s in range(N_SEGMENTS):
        here, true, predicted = segment == s, actual == 1, outcome == 1
        assert (k.positive.tn + k.positive.fp)[s] == largest(weight, here & ~true)
        assert (k.positive.tn + k.positive.fn)[s] == largest(weight, here & ~predicted)
        assert (k.positive.tp + k.positive.fp + k.positive.fn)[s] == largest(
            weight, here & (true | predicted)
        )
        assert k.positive.total[s] == k.total[s] == largest(weight, here)
        assert k.sum(k.missed)[s] == largest(weight, here & (actual != outcome))


@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_rest_of_a_segment_has_the_largest_weight_of_the_others(n_labels):
    rows = draw(n_labels, seed=1)
    segment, actual, outcome, weight = rows
    c, cells = counts_of(rows, n_labels)
    left_out = np.array([0, 2, 5])
    rest, everything = sum_other_segments(c, left_out), sum_segments(c)
    rest_cells = sum_other_cells(cells, left_out)
    for entry, (position, label) in enumerate(zip(rest.segment, rest.label, strict=True)):
        selected = (segment != left_out[position]) & (actual == label)
        assert rest.largest.support[entry] == largest(weight, selected)
    for entry, label in enumerate(everything.label):
        assert everything.largest.support[entry] == largest(weight, actual == label)
    of_cells = zip(rest_cells.by[0], rest_cells.actual, rest_cells.outcome, strict=True)
    for cell, (position, true, predicted) in enumerate(of_cells):
        is_here = (segment != left_out[position]) & (actual == true) & (outcome == predicted)
        assert rest_cells.largest[cell] == largest(weight, is_here)


def test_chosen_segments_and_labels_keep_their_largest_weights():
    rows = draw(3)
    c, cells = counts_of(rows, 3)
    chosen = segments_at(c, np.array([4, 1, 4]))
    assert chosen.largest.total.tolist() == c.largest.total[[4, 1, 4]].tolist()
    is_compared = c.label < 2
    assert comparing(c, is_compared).largest.compared is is_compared
    rolled = cells.rolled_up((), (0,))
    _, actual, outcome, weight = rows
    pairs = zip(rolled.actual, rolled.outcome, strict=True)
    expected = [largest(weight, (actual == i) & (outcome == j)) for i, j in pairs]
    assert rolled.largest.tolist() == expected


def test_every_label_against_the_others_has_its_largest_weights():
    rows = draw(3)
    segment, actual, outcome, weight = rows
    k = one_versus_rest_counts(counts_of(rows, 3)[0]).largest.positive
    for s in range(N_SEGMENTS):
        for label in range(3):
            here, true, predicted = segment == s, actual == label, outcome == label
            pair = s * 3 + label
            assert k.tp[pair] == largest(weight, here & true & predicted)
            assert (k.tn + k.fp)[pair] == largest(weight, here & ~true)
            assert (k.tn + k.fn)[pair] == largest(weight, here & ~predicted)


@pytest.mark.parametrize("n_labels", [2, 20])
def test_sums_of_selected_largest_weights_are_the_largest(n_labels):
    rows = draw(n_labels)
    segment, actual, outcome, weight = rows
    k = counts_of(rows, n_labels)[0].largest
    total = k.sum(np.where(k.label > 0, k.support, 0))
    others = k.others(np.where(k.label > 0, k.correct, 0))
    for s in range(N_SEGMENTS):
        assert total[s] == largest(weight, (segment == s) & (actual > 0))
    for entry, (s, label) in enumerate(zip(k.segment, k.label, strict=True)):
        is_other = (segment == s) & (actual == outcome) & (actual > 0) & (actual != label)
        assert others[entry] == largest(weight, is_other)


def test_running_maxima_equal_the_largest_of_every_stretch():
    rng = np.random.default_rng(2)
    segment = np.sort(rng.integers(0, 5, 40))
    values = rng.random(40)
    running = RunningMaxima.of(values, segment)
    for s in np.unique(segment):
        first, last = np.searchsorted(segment, [s, s + 1])
        for at in range(first, last + 1):
            place = np.array([at])
            assert running.below(np.array([first]), place) == values[first:at].max(initial=0)
            assert running.above(place, np.array([last])) == values[at:last].max(initial=0)
