"""Rows that are left out are counted by group, and the page says who they are."""

import random

import polars as pl
import pytest

import balframe as bf
from balframe.api.settings import settings_of_call
from balframe.audit_page.queries import count_model
from balframe.audit_page.sections import what_was_examined
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of, make_request

REASONS = ("outcome", "prediction", "score", "count", "weight", "cluster")


def random_rows(seed):
    """Make 300 rows with nulls in every column."""
    made = random.Random(seed)

    def column(values, share):
        return [None if made.random() < share else made.choice(values) for _ in range(300)]

    return pl.DataFrame(
        {
            "g": column(["a", "b", "c d"], 0.1),
            "h": column([3, -1, 20], 0.2),
            "y": column([0, 1], 0.3),
            "p": column([0, 1], 0.15),
            "s": column([0.25, 0.5, 0.75], 0.2),
            "k": column([0, 1, 1, 2, 5], 0.05),
            "weight": column([0.5, 1.0, 2.0], 0.1),
            "cluster": column(["c", "d", "e"], 0.1),
        },
        schema_overrides={"h": pl.Int64, "k": pl.Int64},
    )


def count_by_hand(data, by, counts=None, score=None, design=None):
    """Count the rows of each group, and those left out by the value that they lack.

    The design of rows is their weight, their cluster, or both.
    """
    has_weight, has_cluster = (
        pl.col(name).is_not_null() if design in (name, "both") else pl.lit(True)
        for name in ("weight", "cluster")
    )
    has_score = pl.lit(True) if score is None else pl.col(score).is_not_null()
    n = pl.lit(1) if counts is None else pl.col(counts)
    reason = (
        pl.when(n.is_null())
        .then(pl.lit("count"))
        .when(pl.col("p").is_null())
        .then(pl.lit("prediction"))
        .when(pl.col("y").is_null())
        .then(pl.lit("outcome"))
        .when(~has_weight)
        .then(pl.lit("weight"))
        .when(~has_cluster)
        .then(pl.lit("cluster"))
        .when(~has_score)
        .then(pl.lit("score"))
        .otherwise(pl.lit("examined"))
    )
    rows = data.with_columns(reason=reason, n=n.fill_null(1))
    groups = {}
    for group, why, n_rows in rows.select(by, "reason", "n").rows():
        of_group = groups.setdefault(group, dict.fromkeys((*REASONS, "examined"), 0))
        of_group[why] += n_rows
    return {group: of_group for group, of_group in groups.items() if sum(of_group.values())}


def count(frame, **request):
    request = make_request(**request)
    with settings_of_call():
        return count_model(frame, request, request.models[0])


def counts_of(cells, by):
    """Return the counts of each group in the form of those by hand."""
    return {
        group.value: {**group.missing, "examined": group.n_examined}
        for group in cells.row_counts.by_group(by)
    }


@pytest.mark.any_version
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("convert", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_left_out_rows_of_random_tables_equal_those_counted_by_hand(seed, convert):
    data = random_rows(seed)
    counts, score = [None, "k"][seed % 2], [None, "s"][seed // 2 % 2]
    design = [None, "weight", "cluster", "both"][seed // 2]
    designs = {"weight": {"sample_weight": "weight"}, "cluster": {"cluster": "cluster"}}
    designs["both"] = designs["weight"] | designs["cluster"]

    cells = count(
        convert(data),
        by=("g", "h"),
        y_score=score,
        options={"missing": "drop", "counts": counts, **designs.get(design, {})},
    )

    assert counts_of(cells, "by0") == count_by_hand(data, "g", counts, score, design)
    assert counts_of(cells, "by1") == count_by_hand(data, "h", counts, score, design)
    assert [group.value for group in cells.row_counts.by_group("by1")] == [-1, 3, 20, None]
    everything = data.with_columns(all=1)
    (total,) = count_by_hand(everything, "all", counts, score, design).values()
    assert {**cells.row_counts.total.missing, "examined": cells.row_counts.total.n_examined} == (
        total
    )
    assert cells.n_missing == cells.row_counts.total.n_left_out
    assert cells.frame["n"].sum() == cells.row_counts.total.n_examined


def test_nothing_is_left_out_of_complete_rows_and_of_cells():
    data = random_rows(0)
    cells = bf.confusion(data, "y", "p", by=["g", "h"], missing="drop")

    options = {"missing": "drop"}
    from_cells = count(cells, by=("g", "h"), options={**options, "cells": True})
    complete = count(data.drop_nulls(), by=("g", "h"), options=options)

    assert (from_cells.row_counts, from_cells.n_missing) == (None, 0)
    assert (complete.row_counts, complete.n_missing) == (None, 0)


def test_rows_without_columns_of_groups_are_counted_too():
    data = pl.DataFrame({"y": [0, 1, None, None], "p": [0, 1, 1, None]})

    total = count(data, by=(), options={"missing": "drop"}).row_counts.total

    assert (total.n, total.n_examined) == (4, 2)
    assert total.missing == dict.fromkeys(REASONS, 0) | {"outcome": 1, "prediction": 1}


def people(*groups):
    """Make rows of groups: the value, complete rows, rows without outcome, and without prediction.

    Outcomes and predictions of the complete rows are 0 and 1 in turn.
    """
    parts = []
    for value, complete, no_outcome, no_prediction in groups:
        turns = [i % 2 for i in range(complete)]
        y = [*turns, *[None] * no_outcome, *[0] * no_prediction]
        p = [*turns, *[1] * no_outcome, *[None] * no_prediction]
        parts.append(
            pl.DataFrame(
                {"g": [value] * len(y), "y": y, "p": p, "q": [1] * len(y)},
                schema={"g": pl.String, "y": pl.Int64, "p": pl.Int64, "q": pl.Int64},
            )
        )
    return pl.concat(parts)


def audit(data, **request):
    return audit_of(data, **{"min_support": 10, "options": {"missing": "drop"}, **request})


def brief(audited):
    return [plain(text) for text in what_was_examined.section(audited.audit).brief[1:]]


def tables(audited, section):
    blocks = section.section(audited.audit).blocks
    return {
        plain(block.caption): block
        for block in blocks
        if plain(getattr(block, "caption", "")).startswith("Left out")
    }


def test_the_brief_names_the_groups_left_out_most_and_least_often():
    data = people(("a", 30, 10, 0), ("b", 57, 3, 0), ("c", 79, 21, 0))

    assert brief(audit(data)) == [
        "34 of 200 rows (17%) were left out, because their outcome is missing; by g, most often "
        "for a (25%), least often for b (5%)."
    ]


def test_groups_below_min_support_are_not_named_and_in_italics():
    data = people(("a", 30, 10, 0), ("b", 57, 3, 0), ("small", 1, 8, 0))
    audited = audit(data)

    (sentence,) = brief(audited)
    assert sentence.endswith("most often for a (25%), least often for b (5%).")
    (table,) = tables(audited, what_was_examined).values()
    rows = {plain(row.heading): row.is_small for row in table.groups[0].rows}
    assert rows == {"a": False, "b": False, "small": True}
    assert brief(audit(people(("a", 30, 10, 0), ("small", 1, 8, 0))))[0].endswith(
        "their outcome is missing."
    )


def test_reasons_are_counted_where_there_are_several():
    data = people(("a", 30, 10, 10), ("b", 30, 10, 10))
    assert brief(audit(data)) == [
        "40 of 100 rows (40%) were left out, because their outcome (20) or prediction (20) is "
        "missing."
    ]


def test_a_single_row_left_out_is_in_the_singular():
    assert brief(audit(people(("a", 19, 1, 0)))) == [
        "1 of 20 rows (5%) was left out, because the outcome is missing."
    ]


def test_the_table_has_every_group_even_one_that_is_left_out_entirely():
    data = people(("a", 30, 10, 0), ("b", 50, 0, 5), ("gone", 0, 20, 0), (None, 10, 5, 0))
    audited = audit(data)

    (table,) = tables(audited, what_was_examined).values()

    assert [plain(head.text) for head in table.heads] == [
        "Group",
        "In the data",
        "Examined",
        "Without outcome",
        "Without prediction",
        "Left out",
    ]
    rows = {
        plain(row.heading): [cell.text for cell in row.cells]
        for row in [*table.groups[0].rows, table.total]
    }
    assert rows == {
        "a": ["40", "30", "10", "0", "25%"],
        "b": ["55", "50", "0", "5", "9%"],
        "gone": ["20", "0", "20", "0", "100%"],
        "(missing)": ["15", "10", "5", "0", "33%"],
        "All rows": ["130", "90", "35", "5", "31%"],
    }
    assert brief(audited) == [
        "40 of 130 rows (31%) were left out, because their outcome (35) or prediction (5) is "
        "missing; by g, most often for gone (100%), least often for b (9%).",
        "10 rows have no value of g; they are a group of their own.",
    ]


def test_groups_that_no_table_shows_are_summed():
    data = people(*((f"g{i:02}", 100 - i, 1, 0) for i in range(25)))

    (table,) = tables(audit(data), what_was_examined).values()

    rows = table.groups[0].rows
    assert len(rows) == 21
    assert [plain(rows[-1].heading), *(cell.text for cell in rows[-1].cells)] == [
        "5 more groups",
        "395",  # 81 + 80 + 79 + 78 + 77
        "390",
        "5",
        "1%",
    ]


def test_those_without_a_value_of_the_group_may_be_left_out_most_often():
    data = people(("a", 36, 4, 0), (None, 20, 20, 0))
    assert brief(audit(data))[0].endswith(
        "by g, most often for those without a value (50%), least often for a (10%)."
    )


def test_without_columns_of_groups_there_is_a_sentence_and_no_table():
    audited = audit(people(("a", 30, 10, 0)), by=())
    assert brief(audited) == [
        "10 of 40 rows (25%) were left out, because their outcome is missing."
    ]
    assert not tables(audited, what_was_examined)


def test_each_model_has_its_own_rows_unless_they_are_the_same():
    data = people(("a", 30, 10, 10), ("b", 20, 0, 0))
    different = audit(data, y_pred=("p", "q"))
    same = audit(data.with_columns(q=1 - pl.col("p")), y_pred=("p", "q"))

    assert brief(different)[1:] == [
        "p: 20 of 70 rows (29%) were left out, because their outcome (10) or prediction (10) is "
        "missing; by g, most often for a (40%), least often for b (0%).",
        "q: 10 of 70 rows (14%) were left out, because their outcome is missing; by g, most often "
        "for a (20%), least often for b (0%).",
    ]
    assert list(tables(different, what_was_examined)) == [
        "Left out, by group (p)",
        "Left out, by group (q)",
    ]
    assert [text.startswith("20 of 70 rows (29%)") for text in brief(same)[1:]] == [True]
    assert list(tables(same, what_was_examined)) == ["Left out, by group"]


def limits_of(audited):
    (section,) = [one for one in audited.document.sections if one.key == "limits"]
    (bullets,) = section.blocks
    return {plain(start): plain(text) for start, text in bullets.items}


def test_the_limitations_say_that_nothing_is_known_of_those_left_out():
    some = limits_of(audit(people(("a", 30, 10, 0))))
    none = limits_of(audit(people(("a", 30, 0, 0))))

    assert some["Anything about those who were left out."] == (
        "10 of 40 rows are in no error rate. Where values are not missing by chance, the rates of "
        "those examined may differ from the rates of all, and in some groups by more than in "
        "others."
    )
    assert "Anything about those who were left out." not in none


def test_nothing_is_said_where_nothing_is_missing():
    audited = audit(people(("a", 30, 0, 0)))

    assert brief(audited) == []
    examined = what_was_examined.section(audited.audit)
    assert "No value of g, of the outcome or of the prediction is missing." in " ".join(
        texts(examined.blocks)
    )
    assert not tables(audited, what_was_examined)


def test_fingerprint_depends_on_rows_left_out_for_want_of_a_prediction():
    few, many = (audit(people(("a", 30, 5, n))).audit.fingerprint for n in (1, 2))
    assert few != many


def test_selection_rates_count_everybody_with_a_prediction():
    data = people(("a", 30, 10, 7), ("b", 30, 20, 0))

    page = bf.audit(data, "y", "p", by="g", missing="drop").markdown()

    assert "| a | 40 | 25 |" in page  # 15 of the 30 complete rows, and 10 without outcome
    assert "| b | 50 | 35 |" in page


def suppressed(data, **options):
    page = bf.audit(data, "y", "p", by="g", missing="drop", suppress=5, **options)
    (examined,) = [one for one in page.document.sections if one.key == "examined"]
    (limits,) = [one for one in page.document.sections if one.key == "limits"]
    return examined, " ".join(texts(limits))


def left_out_rows_of(section):
    (table,) = [
        block for block in section.blocks if getattr(block, "caption", "") == "Left out, by group"
    ]
    return {
        plain(row.heading): [cell.text for cell in row.cells] for row in table.groups[0].rows
    } | {"all": [cell.text for cell in table.total.cells]}


def in_turns(value, n, no_outcome):
    """Make n rows with each of the four pairs of labels in turn, and some without an outcome."""
    y = [*(i % 2 for i in range(n)), *[None] * no_outcome]
    p = [*(i // 2 % 2 for i in range(n)), *[1] * no_outcome]
    return pl.DataFrame(
        {"g": [value] * len(y), "y": y, "p": p},
        schema={"g": pl.String, "y": pl.Int64, "p": pl.Int64},
    )


def test_small_counts_and_those_that_reveal_them_are_withheld():
    data = pl.concat(
        [in_turns("a", 80, 3), in_turns("b", 60, 9), in_turns("c", 100, 20), in_turns("d", 40, 0)]
    )

    section, limits = suppressed(data)

    # a and d have 3 and 0 rows without outcome, which are under 5 together as well
    assert left_out_rows_of(section) == {
        "a": ["withheld", "", "", ""],
        "b": ["withheld", "", "", ""],
        "c": ["120", "100", "20", "17%"],
        "d": ["withheld", "", "", ""],
        "all": ["312", "280", "32", "10%"],
    }
    assert plain(section.brief[1]) == (
        "32 of 312 rows (10%) were left out, because their outcome is missing."
    )
    assert "32 of 312 rows are in no error rate." in limits


def test_groups_withheld_elsewhere_are_withheld_here():
    # of d, 4 rows have each pair of labels: fewer than 5
    data = pl.concat([in_turns("a", 80, 10), in_turns("c", 100, 20), in_turns("d", 16, 30)])

    section, _ = suppressed(data)

    rows = left_out_rows_of(section)
    assert rows["d"] == ["withheld", "", "", ""]
    assert rows["a"] == ["withheld", "", "", ""]  # which would reveal d
    assert rows["c"] == ["120", "100", "20", "17%"]


def test_a_small_total_is_withheld_with_its_table():
    data = pl.concat([in_turns("a", 80, 3), in_turns("b", 60, 0), in_turns(None, 60, 0)])

    section, limits = suppressed(data)

    assert [plain(text) for text in section.brief[1:]] == [
        "Some rows were left out, because their outcome is missing; how many is withheld.",
        "60 rows have no value of g; they are a group of their own.",
    ]
    assert not [block for block in section.blocks if "Left out" in getattr(block, "caption", "")]
    assert "Some rows are in no error rate." in limits


def test_a_small_number_of_rows_without_a_group_is_withheld():
    data = pl.concat([in_turns("a", 80, 0), in_turns("b", 60, 0), in_turns(None, 4, 0)])

    section, _ = suppressed(data)

    assert plain(section.brief[1]) == (
        "Some rows have no value of g; they are a group of their own."
    )
