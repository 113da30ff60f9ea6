"""Words of the data inside sentences."""

from datetime import date, datetime

from hypothesis import given
from hypothesis import strategies as st

from balframe.audit_page.text import (
    CLOSE,
    OPEN,
    capitalize,
    clean,
    join_words,
    more_groups,
    plural,
    quote,
    render_isolates,
    spell_number,
    value_text,
)
from tests.support.audits.figures import plain
from tests.support.cases import cases


@cases(
    ("value", "text"),
    [
        ("Other", "Other"),
        ("African-American", "African-American"),
        ("Native American", "Native American"),
        ("under 25", "\N{LEFT DOUBLE QUOTATION MARK}under 25\N{RIGHT DOUBLE QUOTATION MARK}"),
        ("a, b", "\N{LEFT DOUBLE QUOTATION MARK}a, b\N{RIGHT DOUBLE QUOTATION MARK}"),
        (None, "(missing)"),
        (25, "25"),
        (25.0, "25"),
        (2.5, "2.5"),
        (True, "True"),
        ("(missing)", '\N{LEFT DOUBLE QUOTATION MARK}"(missing)"\N{RIGHT DOUBLE QUOTATION MARK}'),
        (date(2024, 3, 1), "2024-03-01"),
    ],
)
def test_a_name_is_quoted_unless_it_is_one_word(value, text):
    assert plain(quote(value)) == text


def test_datetime_is_written_on_one_line():
    assert value_text(datetime(2024, 3, 1, 12, 30)) == "2024-03-01 12:30:00"


@given(st.text(max_size=300))
def test_name_cannot_close_its_isolate_or_break_a_line(value):
    marked = quote(value)
    assert marked.count(OPEN) == marked.count(CLOSE) == 1
    assert render_isolates(marked, lambda _: "", lambda own: own).strip("“”") == ""
    assert "\n" not in marked
    assert "  " not in marked
    assert len(marked) < 200


def test_a_long_text_is_shortened_in_its_middle():
    assert clean("a" * 50 + "b" * 50) == "a" * 40 + "…" + "b" * 19
    assert clean("a" * 60) == "a" * 60


def test_blank_text_is_written_as_an_open_box():
    assert clean("") == clean(" \n") == "\N{OPEN BOX}"


def test_join_words_separates_with_commas_and_a_conjunction():
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b"]) == "a and b"
    assert join_words(["a", "b", "c"], "or") == "a, b or c"


def test_nouns_are_singular_only_for_1():
    assert plural(1, "row", "rows") == "1 row"
    assert plural(1_200, "row", "rows") == "1,200 rows"
    assert more_groups(1) == "one more group"
    assert more_groups(12) == "12 more groups"


def test_numbers_below_ten_are_spelled_out():
    assert [spell_number(n) for n in (0, 1, 9, 10, 1_000)] == ["none", "one", "nine", "10", "1,000"]


def test_capitalize_skips_an_isolate_at_the_start():
    assert capitalize("two groups") == "Two groups"
    assert plain(capitalize(f"{OPEN}re-arrested{CLOSE} or not")) == "Re-arrested or not"
    assert capitalize("") == ""
