"""Small counts are withheld, and so is what would reveal them."""

import re
from itertools import pairwise

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.disclosure import small_count, withheld_crossings, withheld_parts
from balframe.audit_page.document import SideBySide, Table
from balframe.errors import InvalidInputError
from tests.support.audits.figures import plain, texts
from tests.support.audits.random_frames import random_frame
from tests.support.audits.suppressed_pages import LEAST, matrices

pytestmark = pytest.mark.any_version


@pytest.mark.parametrize(
    ("counts", "withheld"),
    [
        ([[9], [8]], set()),
        ([[3, 50], [40, 60], [30, 20]], {0, 2}),  # 3 and 30 rows remain unknown: 2 of 50 is smaller
        ([[1, 9], [2, 9], [50, 50]], {0, 1, 2}),  # 1 + 2 is under 5
        ([[1, 9], [4, 9], [50, 50]], {0, 1}),  # 1 + 4 is not
        ([[0, 9], [60, 60], [50, 50]], {0, 2}),
        ([[2]], {0}),
        ([[5], [5]], set()),
    ],
)
def test_withheld_parts_equal_those_by_hand(counts, withheld):
    assert withheld_parts(counts, LEAST) == withheld


def test_crossings_are_withheld_by_four_in_a_table_of_two_by_two():
    """One small crossing follows from its row, its column, or both, so all four are withheld."""
    counts = [[3], [40], [30], [50]]
    lines = [[0, 1], [2, 3], [0, 2], [1, 3]]
    assert withheld_crossings(counts, lines, LEAST) == {0, 1, 2, 3}


def test_crossings_of_a_larger_table_are_withheld_in_pairs_on_each_line():
    counts = [[n] for n in (2, 20, 30, 21, 40, 50, 31, 60, 70)]  # three by three
    rows = [list(range(i, i + 3)) for i in (0, 3, 6)]
    columns = [list(range(i, 9, 3)) for i in range(3)]
    withheld = withheld_crossings(counts, rows + columns, LEAST)
    assert withheld == {0, 1, 3, 4}
    for line in rows + columns:
        own = withheld.intersection(line)
        assert not own or (len(own) > 1 and sum(counts[i][0] for i in own) >= LEAST)


def test_small_counts_are_written_as_less():
    assert [small_count(n, LEAST) for n in (0, 4, 5, 400)] == ["<5", "<5", "withheld", "withheld"]


def tables(document):
    for section in document.sections:
        for block in section.blocks:
            for inner in block.blocks if isinstance(block, SideBySide) else [block]:
                if isinstance(inner, Table):
                    yield section.key, inner


def test_groups_with_small_counts_have_no_figures_and_are_not_the_only_ones(suppressed_pages):
    for frame, options, page in suppressed_pages:
        for column in options["by"]:
            counts = matrices(frame, column)
            small = {group for group, matrix in counts.items() if min(matrix) < LEAST}
            withheld = set()
            for key, table in tables(page.document):
                for part in table.groups:
                    if plain(part.heading).lower() != column or key == "selections":
                        continue
                    for row in part.rows:
                        name = plain(row.heading)
                        cells = list(row.cells)
                        if any(cell.text == "withheld" for cell in cells):
                            withheld.add(name)
                            after = cells[1:] if key == "examined" else cells
                            assert not re.search(r"\d", "".join(c.text + c.limits for c in after))
                        else:
                            assert name.partition(" less ")[0] not in small
            assert small <= withheld
            if small and len(counts) > 1:
                assert len(withheld) > 1
                sums = [sum(cells) for cells in zip(*(counts[g] for g in withheld), strict=True)]
                assert min(sums) >= LEAST or withheld == set(counts)


def test_withheld_groups_are_named_in_no_sentence(suppressed_pages):
    for frame, options, page in suppressed_pages:
        for column in options["by"]:
            small = {g for g, matrix in matrices(frame, column).items() if min(matrix) < LEAST}
            for section in page.document.sections:
                paragraphs = [block for block in section.blocks if hasattr(block, "is_note")]
                for text in [*texts(paragraphs), *map(plain, section.brief)]:
                    assert not [name for name in small if re.search(rf"\b{name}\b", text)], text


def test_thresholds_of_a_table_have_enough_rows_between_them():
    frame, _ = random_frame(3)
    generator = pl.DataFrame({"s": pl.Series(range(frame.height)) % 97 / 97})
    frame = pl.concat([frame.select("y", "g"), generator], how="horizontal")
    frame = frame.with_columns(p=(pl.col("s") >= 0.5).cast(int))
    page = bf.audit(frame, "y", "p", by="g", y_score="s", suppress=LEAST)
    (table,) = [table for key, table in tables(page.document) if key == "threshold"]
    starts = [plain(row.heading).split(" ")[0] for row in table.groups[0].rows]
    thresholds = [float(start) for start in starts if start != "never"]
    assert len(thresholds) > 2
    for low, high in pairwise(thresholds[1:]):
        between = frame.filter(pl.col("s") >= low, pl.col("s") < high)
        assert min((between["y"] == label).sum() for label in (0, 1)) >= LEAST
    assert not [block for section in page.document.sections for block in section.blocks
                if isinstance(block, SideBySide) and section.key == "threshold"]  # fmt: skip


def test_fingerprint_is_withheld_since_counts_could_be_guessed():
    people = bf.datasets.compas_by_age_and_sex()
    page = bf.audit(people, "reoffended", "high_risk", by="race", counts="n", suppress=LEAST)
    assert re.search(r"[0-9a-f]{12}", page.markdown()) is None


def test_data_with_a_small_count_of_all_rows_are_refused():
    frame = pl.DataFrame({"y": [0] * 20 + [1] * 20, "p": [0] * 17 + [1] * 23})
    with pytest.raises(InvalidInputError, match=r"suppress.*each combination of outcome"):
        bf.audit(frame, "y", "p", suppress=LEAST)


@pytest.mark.parametrize("suppress", [1, 0, -3, 2.5, "5", True])
def test_suppress_is_a_whole_number_of_two_or_more(suppress):
    frame = pl.DataFrame({"y": [0, 1], "p": [0, 1]})
    with pytest.raises(InvalidInputError, match="give a whole number of at least 2"):
        bf.audit(frame, "y", "p", suppress=suppress)
