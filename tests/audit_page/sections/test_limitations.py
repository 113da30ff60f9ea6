"""What cannot be said, and how numbers were computed: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import WORDS, asked, audited, column, counted, group, model, plain
from balframe.audit_page.document import Section
from balframe.audit_page.request import Words
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.limitations import caution, limits, of_small, small_members
from balframe.audit_page.sections.methods import computed

LARGE, SMALL = group("A"), group("C", 3, 2)
MISSED = LeftOut("Are the agreed rules met?", "no rules were given")


def items(made, left_out=(), **changes):
    section = limits(audited(made, **changes), left_out)
    return {plain(head): plain(text) for head, text in section.blocks[0].items}


def test_small_groups_are_named_with_their_rows():
    found = items(model([column([LARGE, SMALL])]))
    assert found["Much about small groups."] == (
        "C (race), 5 people. Their limits are wide, and nothing here says that all is well."
    )
    assert "Much about small groups." not in items(model([column([LARGE])]))


def test_a_name_keeps_its_letters_where_it_begins_a_sentence():
    members = small_members(model([column([group("female", 1, 1)])]), asked())
    assert plain(of_small(members, asked())).startswith("female (race), 2 people. ")


@pytest.mark.parametrize(
    ("n", "last"), [(8, "C (race), 5 people"), (9, "; one more group"), (10, "; two more groups")]
)
def test_at_most_eight_small_groups_are_named(n, last):
    made = model([column([SMALL] * n)])
    said = plain(of_small(small_members(made, asked()), asked()))
    assert said.split(". Their")[0].endswith(last)


def test_a_group_is_small_at_29_of_an_outcome():
    assert small_members(model([column([group("A", 30, 30)])]), asked()) == []
    assert len(small_members(model([column([group("A", 29, 30)])]), asked())) == 1


def test_that_groups_are_alike_cannot_be_said_where_there_are_groups():
    assert "That groups are alike." in items(model([column([LARGE])]))
    assert "That groups are alike." not in items(model(), by=[])


def test_what_was_not_asked_is_listed():
    assert items(model(), [MISSED, MISSED])["What was not asked."] == (
        "Left out of this page: “Are the agreed rules met?” (no rules were given); “Are the agreed "
        "rules met?” (no rules were given)."
    )
    assert "What was not asked." not in items(model())


def test_the_outcome_is_named():
    assert "Whether “re-arrested” is what it is taken for." in items(model())
    many = counted({(one, one): 5 for one in "abc"}, tuple("abc"), None)
    assert "Whether “the outcome” is what it is taken for." in items(model(read=many))


def test_rows_may_be_about_the_same_thing():
    assert (
        "several rows are about the same person, or" in items(model())["More than the rows carry."]
    )
    rows = Words(None, None, "row", "rows")
    found = items(model(), words=rows)
    assert "about the same person or thing, or" in found["More than the rows carry."]
    assert "about these 100 rows," in found["Anything about those who are not in the data."]


def test_the_caution_names_small_groups():
    assert plain(caution(audited(model([column([LARGE, SMALL])])))) == (
        "In brackets: 95% limits, what the data leave open. Of C (race) too few were examined to "
        "rank them. These numbers show whether rates differ. They do not show why, nor whether "
        "that is lawful or fair."
    )
    assert " too few " not in caution(audited(model([column([LARGE])])))
    assert caution(audited(model(), level=0.995)).startswith("In brackets: 99.5% limits,")
    nine = plain(caution(audited(model([column([SMALL] * 9)]))))
    assert "C (race) and one more group too few were examined" in nine


def terms(keys=(), **changes):
    sections = [Section(key, "", []) for key in keys]
    section = computed(audited(model(), **changes), sections)
    return {term: plain(text) for block in section.blocks for term, text in _terms(block)}


def _terms(block):
    return block.items if hasattr(block, "items") else []


def test_methods_are_those_of_the_sections_shown():
    assert "Rules" in terms(["rules"])
    assert "Rules" not in terms(["chance"])
    assert "Limits of a rate" in terms()


def test_columns_and_options_are_stated():
    found = terms(by=["race", "sex"], min_support=1)
    assert found["Columns used"] == "y, race, sex, p"
    assert found["Smallest group that is ranked"] == "1 row in a denominator"
    assert found["Confidence level"] == "95%"
    assert found["Fingerprint of the counts"] == f"sha256 {'0' * 64}"
    assert found["False positive rate"] == "FP / (FP + TN)"
    with_counts = terms(options={"counts": "n"})
    assert with_counts["Columns used"] == "y, race, p, n"
    assert terms(min_support=30)["Smallest group that is ranked"] == "30 rows in a denominator"
    assert WORDS.counted(1) == "1 person"
