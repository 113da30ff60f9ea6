"""Whether rules are met: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import asked, audited, model, plain
from balframe.audit_page.measured_rules import Verdict
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.rules import AGREED, outcome, rules, where
from balframe.methods.gates.rules import read_rules

MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"


def verdict(rule, status, of=(0.7, 0.6, 0.8), at=((0, "A"),), bound=0.65, **changes):
    given = {"reason": None, "is_of_groups": False, **changes}
    return Verdict(rule, where=at, found=Estimate(*of), bound=bound, status=status, **given)


def verdicts(*of_rules):
    return [verdict(f"rule {at}", status) for at, some in enumerate(of_rules) for status in some]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[MET, MET]], "The one rule is met everywhere."),
        ([[MET, NOT_MET, UNDECIDED]], "The one rule is not met somewhere."),
        ([[MET, UNDECIDED]], "The one rule cannot be decided everywhere."),
        ([[MET], [MET, MET]], "All 2 rules are met everywhere."),
        (
            [[MET], [NOT_MET]],
            "Of 2 rules, one is met everywhere; one is not met somewhere.",
        ),
        (
            [[UNDECIDED], [NOT_MET, MET], [NOT_MET]],
            "Of 3 rules, none is met everywhere; two are not met somewhere and one cannot be "
            "decided everywhere.",
        ),
        (
            [[MET], [MET], [UNDECIDED], [UNDECIDED]],
            "Of 4 rules, two are met everywhere; two cannot be decided everywhere.",
        ),
    ],
)
def test_rules_are_counted(given, said):
    assert outcome(verdicts(*given)) == said


def test_a_verdict_says_where():
    assert plain(where(verdict("r", MET, at=()), asked())) == "All people"
    assert plain(where(verdict("r", MET), asked())) == "Race: A"
    assert plain(where(verdict("r", MET, is_of_groups=True), asked())) == "Race"
    both = verdict("r", MET, at=((0, "A"), (1, None)))
    assert plain(where(both, asked(by=["race", "sex"]))) == "Race: A, Sex: (missing)"


RULE = "recall >= 0.65"


def rows(*found, rule=RULE):
    made = model(verdicts=list(found))
    return rules(audited(made, rules=read_rules([rule]))).blocks[1].groups[0].rows


@pytest.mark.parametrize(
    ("of", "text", "limits"),
    [
        ((0.7, 0.6, 0.8), "0.70", "0.60 to 0.80"),
        ((0.7, 0.6504, 0.8), "0.70", "0.6504 to 0.80"),
        ((0.6496, 0.6, 0.8), "0.65", "0.60 to 0.80"),
        ((0.6496, 0.6, 0.6498), "0.6496", "0.60 to 0.6498"),
        ((1.0, 0.9996, 1.0), "1.00", "0.9996 to 1.00"),
        ((None, None, None), "undefined", ""),
        ((0.7, None, None), "0.70", "too few"),
        ((120.0, 120.0, 120.0), "120", ""),
    ],
)
def test_what_is_found_is_not_rounded_onto_the_bound(of, text, limits):
    (row,) = rows(verdict(RULE, UNDECIDED, of))
    assert (row.cells[0].text, row.cells[0].limits) == (text, limits)
    assert row.cells[1].verdict == UNDECIDED


def test_what_is_not_met_comes_first():
    found = rows(verdict(RULE, MET), verdict(RULE, UNDECIDED), verdict(RULE, NOT_MET))
    assert [row.cells[1].verdict for row in found] == [NOT_MET, UNDECIDED, MET]


def test_at_most_40_rows_are_shown_and_the_others_counted():
    assert len(rows(*[verdict(RULE, MET)] * 40)) == 40
    *_, more = rows(*[verdict(RULE, MET)] * 41, verdict(RULE, UNDECIDED))
    assert (more.heading, more.cells[0].text) == ("2 more", "2 met")


def test_a_reason_follows_the_rule():
    made = model(verdicts=[verdict(RULE, MET, reason="as agreed in May")])
    with_reason = rules(audited(made, rules=read_rules([RULE]))).blocks[1]
    assert plain(with_reason.groups[0].heading) == "recall >= 0.65 (as agreed in May)"
    assert with_reason.caption == "1 rule, judged in each column of groups"
    made = model(verdicts=[verdict(RULE, MET), verdict("n >= 100", MET)])
    two = rules(audited(made, rules=read_rules([RULE, "n >= 100"]))).blocks[1]
    assert plain(two.groups[0].heading) == RULE
    assert two.caption == "2 rules, judged in each column of groups"


def test_the_section_says_what_a_verdict_means():
    made = model(verdicts=[verdict(RULE, MET)])
    section = rules(audited(made, rules=read_rules([RULE])))
    assert section.brief == ["The one rule is met everywhere."]
    assert section.blocks[0].text == (
        "A rule counts as met, or as not met, only where the limits say so and not just the "
        "estimate; otherwise it is undecided, for want of data. The one rule is met everywhere. "
        f"{AGREED}"
    )
    assert isinstance(rules(audited(made)), LeftOut)
