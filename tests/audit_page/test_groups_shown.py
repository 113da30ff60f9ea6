"""Where groups and columns are many, a page shows some and says how many more."""

import pytest

from audit_page.figures_by_hand import asked, column, group, plain
from balframe.audit_page.document import Cell, TableRow
from balframe.audit_page.shown_groups import groups_of, heading_of, not_shown, shown_columns


def rows_of(n, n_columns=1):
    groups = [group(f"g{at:03}", 10 + at, 0) for at in range(n)]
    columns = [column(groups, at) for at in range(n_columns)]
    wanted = asked(by=[f"c{at}" for at in range(n_columns)])
    shown = shown_columns(columns, wanted)
    return groups_of(shown, wanted, lambda _, one: TableRow(heading_of(one), [Cell("x")]))


def test_all_of_20_groups_are_shown():
    (only,) = rows_of(20)
    assert [plain(row.heading) for row in only.rows] == [f"g{at:03}" for at in range(20)]
    assert only.heading.endswith("\u2069")
    assert plain(only.heading) == "C0"


@pytest.mark.parametrize(
    ("n", "said"),
    [(21, "1 more group, 10 people"), (22, "2 more groups, 21 people")],
)
def test_the_largest_20_are_shown_in_their_order_and_the_others_counted(n, said):
    (only,) = rows_of(n)
    assert [plain(row.heading) for row in only.rows[:-1]] == [
        f"g{at:03}" for at in range(n - 20, n)
    ]
    assert only.rows[-1] == TableRow(said, [Cell()], is_small=True)


def test_six_columns_are_shown():
    assert len(rows_of(2, 6)) == len(rows_of(2, 8)) == 6


@pytest.mark.parametrize(
    ("n", "start"),
    [
        (6, ""),
        (7, "1 more column was examined in the same way and is not shown: c6. Their"),
        (8, "2 more columns were examined in the same way and are not shown: c6, c7. Their"),
        (
            14,
            "8 more columns were examined in the same way and are not shown: c6, c7, c8, c9, c10, "
            "c11 and 2 more. Their",
        ),
    ],
)
def test_columns_that_are_not_shown_are_named(n, start):
    columns = [column([group("a")], at) for at in range(n)]
    said = plain(not_shown(columns, asked(by=[f"c{at}" for at in range(n)])))
    assert said.startswith(start)
    assert bool(said) == bool(start)
