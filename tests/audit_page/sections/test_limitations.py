"""What cannot be said: each sentence with both outcomes."""

import pytest

from balframe.audit_page.request import Words
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.limitations import (
    caution,
    section,
    small_groups,
    small_groups_sentence,
)
from tests.support.audits.figures import THREE, audit, column, group, make_request, model, plain

LARGE, SMALL = group("A"), group("C", 3, 2)
MISSED = LeftOut("Are the agreed rules met?", "no rules were given")


def items(made, left_out=(), **changes):
    (bullets,) = section(audit(made, **changes), left_out).blocks
    return {plain(start): plain(text) for start, text in bullets.items}


def test_small_groups_are_named_with_their_rows():
    found = items(model([column([LARGE, SMALL])]))
    assert found["Much about small groups."] == (
        "C (race), 5 people. Their limits are wide, and nothing here says that all is well."
    )
    assert "Much about small groups." not in items(model([column([LARGE])]))


def test_name_at_the_start_of_a_sentence_is_not_capitalised():
    members = small_groups(model([column([group("female", 1, 1)])]))
    assert plain(small_groups_sentence(members, make_request())).startswith(
        "female (race), 2 people. "
    )


@pytest.mark.parametrize(
    ("n", "last"), [(8, "C (race), 5 people"), (9, "; one more group"), (10, "; two more groups")]
)
def test_at_most_eight_small_groups_are_named(n, last):
    made = model([column([SMALL] * n)])
    said = plain(small_groups_sentence(small_groups(made), make_request()))
    assert said.split(". Their")[0].endswith(last)


def test_group_with_29_rows_of_an_outcome_is_small():
    assert small_groups(model([column([group("A", 30, 30)])])) == []
    assert len(small_groups(model([column([group("A", 29, 30)])]))) == 1


def test_equality_of_groups_is_a_limitation_only_with_groups():
    assert "That groups are equal." in items(model([column([LARGE])]))
    assert "That groups are equal." not in items(model(), by=[])


def test_sections_left_out_are_listed_with_their_reasons():
    assert items(model(), [MISSED, MISSED])["What is left out."] == (
        "Left out of this page: “Are the agreed rules met?” (no rules were given); “Are the agreed "
        "rules met?” (no rules were given)."
    )
    assert "What is left out." not in items(model())


def test_limitation_on_the_outcome_names_the_outcome():
    assert "Whether “re-arrested” is what it is taken for." in items(model())
    assert "Whether “the outcome” is what it is taken for." in items(model(cells=THREE))


def test_limitation_on_repeated_rows_names_the_unit():
    assert (
        "several rows are about the same person, or" in items(model())["More than the rows carry."]
    )
    rows = Words(None, None, "row", "rows")
    found = items(model(), words=rows)
    assert "about the same person or thing, or" in found["More than the rows carry."]
    assert "about these 100 rows," in found["Anything about those who are not in the data."]


def test_the_caution_names_small_groups():
    assert plain(caution(audit(model([column([LARGE, SMALL])])))) == (
        "In brackets: the 95% confidence interval, what the data leave open. Of C (race) too few "
        "were examined to rank them. These numbers show whether rates differ. They do not show "
        "why, nor whether that is lawful or fair."
    )
    assert " too few " not in caution(audit(model([column([LARGE])])))
    assert caution(audit(model(), level=0.995)).startswith(
        "In brackets: the 99.5% confidence interval,"
    )
    nine = plain(caution(audit(model([column([SMALL] * 9)]))))
    assert "C (race) and one more group too few were examined" in nine
