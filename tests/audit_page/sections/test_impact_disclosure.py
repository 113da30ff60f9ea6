"""Tables of impact ratios withhold small counts, and what would reveal them."""

from collections import defaultdict

import numpy as np
import polars as pl

from balframe.audit_page.document import Heading, Table
from balframe.audit_page.sections import selection_rates
from balframe.audit_page.sections.impact_figures import withheld_categories
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

LEAST = 5


def rows(counts):
    """Make the rows of categories, written as {values: (measured, others)}."""
    return [
        {**{f"by{i}": value for i, value in enumerate(values)}, "m": is_measured, "n": n}
        for values, pair in counts.items()
        for is_measured, n in zip((True, False), pair, strict=True)
    ]


def withheld(counts, tables, groups=None):
    return withheld_categories(rows(counts), "m", tables, LEAST, groups or {})


def test_a_small_count_and_the_next_smallest_category_are_withheld():
    counts = {("a",): (40, 60), ("b",): (3, 50), ("c",): (20, 30), (None,): (70, 70)}

    assert withheld(counts, [(0,)]) == {(0,): {("b",), ("c",)}}


def test_the_unknown_are_withheld_like_a_category():
    counts = {("a",): (40, 60), ("b",): (30, 50), (None,): (2, 70)}

    assert withheld(counts, [(0,)]) == {(0,): {(), ("b",)}}


def test_groups_that_are_withheld_elsewhere_are_withheld_here():
    counts = {("a",): (40, 60), ("b",): (30, 50), ("c",): (20, 30), (None,): (9, 9)}

    assert withheld(counts, [(0,)], {0: ["a", None]}) == {(0,): {("a",), ()}}


CROSSED = {
    (sex, race): (20 + 3 * i, 40 + 5 * i)
    for i, (sex, race) in enumerate((s, r) for s in "FM" for r in "abc")
}


def test_a_small_crossing_takes_one_more_from_each_of_its_lines():
    counts = {**CROSSED, ("F", "a"): (1, 40)}

    own = withheld(counts, [(0,), (1,), (0, 1)])

    assert own[0,] == own[1,] == set()
    assert own[0, 1] == {("F", "a"), ("F", "b"), ("M", "a"), ("M", "b")}


def test_crossings_of_a_withheld_group_are_withheld():
    own = withheld(CROSSED, [(0, 1), (0,), (1,)], {1: ["a", "b"]})

    assert {race for _, race in own[0, 1]} == {"a", "b"}
    assert len(own[0, 1]) == 4


def test_crossings_of_three_columns_follow_those_of_two():
    counts = {(*values, age): pair for values, pair in CROSSED.items() for age in ("young", "old")}
    counts["F", "a", "young"] = counts["F", "a", "old"] = (2, 40)

    own = withheld(counts, [(0,), (1,), (2,), (0, 1), (0, 1, 2)])

    small = {("F", "a", "young"), ("F", "a", "old")}
    assert ("F", "a") in own[0, 1]
    assert small < own[0, 1, 2]
    assert {values[:2] for values in own[0, 1, 2]} >= own[0, 1]


def frame(seed):
    """Make people, some of whose combinations are rare."""
    made = np.random.default_rng(seed)
    n = 1_500
    data = {
        "g": made.choice(["a", "b", "c", "rare"], n, p=[0.5, 0.3, 0.18, 0.02]),
        "h": made.choice(["x", "y", "z"], n, p=[0.6, 0.37, 0.03]),
        "y": made.integers(0, 2, n),
        "s": made.integers(1, 30, n),
    }
    people = pl.DataFrame(data).with_columns(p=(pl.col("s") > 14).cast(pl.Int64))
    holes = pl.Series(made.random(n) < 0.02)
    return people.with_columns(g=pl.when(holes).then(None).otherwise(pl.col("g")))


def tables_of(section):
    is_scoring = False
    for block in section.blocks:
        is_scoring = is_scoring or isinstance(block, Heading)
        if isinstance(block, Table):
            yield is_scoring, plain(block.caption).rpartition(" by ")[2].split(" and "), block


@cases("seed", range(6))
@cases("favourable", ["selected", "not selected"])
def test_no_small_count_is_shown_or_is_a_difference_of_counts_shown(seed, favourable):
    people = frame(seed)
    audited = audit_of(
        people,
        by=("g", "h"),
        intersections=[(0, 1)],
        y_score="s",
        favourable=favourable,
        suppress=LEAST,
    )
    section = audited.section(selection_rates)
    measures = {
        False: pl.col("p") == (favourable == "selected"),
        True: (pl.col("s") > people["s"].median()) == (favourable == "selected"),
    }

    n_withheld = 0
    for is_scoring, columns, table in tables_of(section):
        counts = defaultdict(lambda: [0, 0])
        marked = people.with_columns(m=measures[is_scoring])
        for *values, is_measured in marked.select(*columns, "m").iter_rows():
            name = "(missing)" if None in values else ", ".join(values)
            counts[name][not is_measured] += 1
        hidden = set()
        for row in table.groups[0].rows:
            name, shown = plain(row.heading), [cell.text for cell in row.cells]
            if "withheld" in shown:
                hidden.add(name)
                assert not any(map(str.isdigit, "".join(shown)))
            else:
                k, other = counts[name]
                assert min(k, other) >= LEAST
                assert shown[:2] == [f"{k + other:,}", f"{k:,}"]
        assert {name for name, pair in counts.items() if min(pair) < LEAST} <= hidden
        lines = [set(counts)]
        if len(columns) > 1:
            lines += [
                {name for name in counts if value in name.split(", ")}
                for name in counts
                for value in name.split(", ")
            ]
        for line in lines:
            own = hidden & line
            sums = [sum(counts[name][side] for name in own) for side in (0, 1)]
            assert not own or (len(own) > 1 and min(sums) >= LEAST) or own == line
        n_withheld += len(hidden)
        sentences = " ".join(map(plain, texts([b for b in section.blocks if b is not table])))
        assert not [name for name in hidden if f"{name}: 0" in sentences]
    assert n_withheld > 3


def test_scoring_rates_are_withheld_where_few_are_above_the_median():
    people = frame(0).with_columns(s=pl.when(pl.int_range(pl.len()) < 3).then(2).otherwise(1))
    section = audit_of(people, y_score="s", favourable="selected", suppress=LEAST).section(
        selection_rates
    )

    assert not any(isinstance(block, Heading) for block in section.blocks)


def test_few_rows_without_an_outcome_are_not_counted_out():
    people = frame(0).with_columns(y=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("y"))
    options = {"options": {"missing": "drop"}}

    open_page = audit_of(people, **options).section(selection_rates)
    withheld_page = audit_of(people, suppress=LEAST, **options).section(selection_rates)

    assert plain(open_page.blocks[0].text).endswith("3 rows without outcome are counted here too.")
    assert plain(withheld_page.blocks[0].text).endswith(
        "Fewer than 5 rows without outcome are counted here too."
    )
