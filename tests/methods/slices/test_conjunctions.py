"""The search for conjunctions: dense, sparse and by subtraction give what loops give."""

from itertools import combinations

import numpy as np
import pytest

from balframe.core.integer_codes import Codes
from balframe.core.row_sums import RowSums
from balframe.methods.slices import conjunctions
from balframe.methods.slices.conjunctions import ConditionColumn, ConjunctionSearch, SearchRows
from tests.support.cases import cases

LEAST = 15


def drawn(seed, n_rows=1500, sizes=(2, 7, 3, 40, 5, 2)):
    """Draw columns in most of which one level is frequent, and outcomes."""
    random = np.random.default_rng(seed)
    columns = [
        random.choice(n, n_rows, p=np.sort(random.dirichlet(np.full(n, 0.7)))[::-1]) for n in sizes
    ]
    return [np.roll(np.arange(n), 1)[c] for n, c in zip(sizes, columns, strict=True)], random


def found(columns, outcome, measures, depth, n_outcomes=4, least=LEAST):
    """Search, and list `{(column, level), ...}: (rows by outcome, weights by outcome)`."""
    rows = SearchRows(outcome, n_outcomes, measures)

    def suits(counts):
        return counts.sum(axis=1) >= least

    pairs = [ConditionColumn.of(Codes(c, 0, int(c.max()) + 1), rows, suits, least) for c in columns]
    used = [i for i, (_, levels) in enumerate(pairs) if len(levels)]
    told = []
    search = ConjunctionSearch(
        [pairs[i][0] for i in used], rows, suits, least, told.append, lambda: None
    )
    out, order = {}, []
    for part in search.run(depth):
        weights = [None] * len(part) if part.weights is None else part.weights.tolist()
        for on, levels, n, weight in zip(
            part.columns, part.levels, part.counts.tolist(), weights, strict=True
        ):
            names = [used[i] for i in on]
            values = [int(pairs[i][1][level]) for i, level in zip(names, levels, strict=True)]
            key = tuple(zip(names, values, strict=True))
            assert key not in out
            out[key] = n, weight
            order.append((len(key), tuple(names), tuple(values)))
    assert sum(told) == len(out)
    assert order == sorted(order)
    return out


def by_loops(columns, outcome, n, weight, depth, n_outcomes=4, least=LEAST):
    """Count with Python's integers."""
    out = {}
    for size in range(1, depth + 1):
        for names in combinations(range(len(columns)), size):
            groups = {}
            for i, values in enumerate(zip(*(columns[c].tolist() for c in names), strict=True)):
                groups.setdefault(values, []).append(i)
            for values, members in groups.items():
                rows, weights = [0] * n_outcomes, [0.0] * n_outcomes
                for i in members:
                    rows[outcome[i]] += int(n[i])
                    weights[outcome[i]] += float(weight[i])
                if sum(rows) >= least:
                    out[tuple(zip(names, values, strict=True))] = rows, weights
    return out


SPARSE = [(conjunctions, "LARGEST_TABLE", 0)]
WAYS = {
    "as it is": [],
    "sparse": SPARSE,
    "sparse from some size": [(conjunctions, "LARGEST_TABLE", 200)],
    "no columns merged": [(conjunctions, "MERGED", 1)],
    "all columns merged": [(conjunctions, "MERGED", 10**6)],
    "on all cores": [(conjunctions, "should_share", lambda n: True)],
    "sparse, on all cores": [*SPARSE, (conjunctions, "should_share", lambda n: True)],
}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request, monkeypatch):
    for change in request.param:
        monkeypatch.setattr(*change)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.usefixtures("way")
@cases("seed", range(3))
@cases("carried", ["rows", "counts", "weights", "both"])
def test_every_search_strategy_equals_loops_over_rows(seed, carried):
    columns, random = drawn(seed)
    size = len(columns[0])
    outcome = random.integers(0, 4, size)
    n = random.integers(0, 4, size) if carried in ("counts", "both") else np.ones(size, np.int64)
    weight = n * random.integers(0, 9, size) / 4  # whose sums are exact
    measures = RowSums(
        n if carried in ("counts", "both") else None,
        weight=weight if carried in ("weights", "both") else None,
        keeps_squares=False,
    )
    expected = by_loops(columns, outcome, n, weight, 3)

    result = found(columns, outcome.astype(np.uint8), measures, 3)

    assert {key: rows for key, (rows, _) in result.items()} == {
        key: rows for key, (rows, _) in expected.items()
    }
    if measures.weight is not None:
        assert result == expected


@pytest.mark.usefixtures("way")
def test_counts_above_2_to_the_53_are_exact():
    columns, random = drawn(4, n_rows=200, sizes=(2, 3, 4))
    outcome = random.integers(0, 4, 200)
    n = random.integers(2**54, 2**55, 200) | 1
    assert float(n.sum()) > 2**53

    result = found(columns, outcome.astype(np.uint8), RowSums(n), 3)

    expected = by_loops(columns, outcome, n, n * 0.0, 3)
    assert {key: rows for key, (rows, _) in result.items()} == {
        key: rows for key, (rows, _) in expected.items()
    }
    assert any(sum(rows) != int(float(sum(rows))) for rows, _ in result.values())


@pytest.mark.usefixtures("way")
@cases("depth", [1, 2, 3, 4, 9])
def test_conjunctions_of_every_depth_equal_loops_over_rows(depth):
    columns, random = drawn(6, n_rows=400, sizes=(2, 3, 4, 2))
    outcome = random.integers(0, 2, 400)

    result = found(columns, outcome.astype(np.uint8), RowSums(), depth, 2)

    expected = by_loops(columns, outcome, np.ones(400, int), np.zeros(400), min(depth, 4), 2)
    assert {key: rows for key, (rows, _) in result.items()} == {
        key: rows for key, (rows, _) in expected.items()
    }


def test_rare_levels_are_no_condition_even_if_most_frequent_together():
    """Levels of 10 rows are lumped together, and are then the most frequent."""
    column = np.concatenate([np.repeat(np.arange(20), 10), np.full(60, 20)])
    other = np.arange(260) % 2
    outcome = np.zeros(260, np.uint8)

    result = found([column, other], outcome, RowSums(), 2, 1)

    assert {key for key in result if len(key) == 2} == {
        ((0, 20), (1, 0)), ((0, 20), (1, 1))
    }  # fmt: skip
    assert conjunctions.NO_LEVEL == -1
