"""Whether rules are met: each sentence with both outcomes."""

import polars as pl
import pytest
from scipy.stats import binomtest

import balframe as bf
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import rules
from balframe.audit_page.sections.rules import AGREED, Judgement, place, section, summary
from balframe.methods.gates.rules import read_rules
from tests.support.audits.figures import audit, make_request, model, plain
from tests.support.audits.small_audits import audit_of, random_rows
from tests.support.cases import cases

MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"


STATUS = {MET: "pass", NOT_MET: "fail", UNDECIDED: "inconclusive"}
RULE = "recall >= 0.65"


def judged(verdict, estimate=(0.7, 0.6, 0.8), rule=RULE, values=("A",)):
    """Make a rule with its row of `check`, judged in as many columns as there are values."""
    (parsed,) = read_rules([rule])
    row = dict(zip(("estimate", "lower", "upper"), estimate, strict=True))
    row |= {"status": STATUS[verdict], "bound": 0.65}
    row |= {f"by{i}": value for i, value in enumerate(values)}
    return Judgement(parsed, row, range(len(values)))


@cases(
    ("verdicts", "said"),
    [
        ([[MET, MET]], "The one rule, “n >= 0”, is met everywhere."),
        ([[MET, NOT_MET, UNDECIDED]], "The one rule, “n >= 0”, is not met somewhere."),
        ([[MET, UNDECIDED]], "The one rule, “n >= 0”, cannot be decided everywhere."),
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
def test_summary_counts_rules_by_verdict(verdicts, said):
    judgements = [
        judged(verdict, rule=f"n >= {i}") for i, some in enumerate(verdicts) for verdict in some
    ]
    assert plain(summary(judgements)) == said


def test_place_of_a_verdict_names_column_and_group():
    request = make_request(by=["race", "sex"])
    assert plain(place(judged(MET, values=()), request)) == "All people"
    assert plain(place(judged(MET), request)) == "Race: A"
    assert plain(place(judged(MET, rule="difference(recall) <= 0.1"), request)) == "Race"
    assert plain(place(judged(MET, values=("A", None)), request)) == "Race: A, Sex: (missing)"


def write(*judgements, texts=(RULE,)):
    return section(audit(model(), rules=read_rules(list(texts))), [judgements])


def rows(*judgements):
    return write(*judgements).blocks[1].groups[0].rows


@cases(
    ("estimate", "text", "limits"),
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
def test_an_estimate_is_not_rounded_onto_the_bound(estimate, text, limits):
    (row,) = rows(judged(UNDECIDED, estimate))
    assert (row.cells[0].text, row.cells[0].limits) == (text, limits)
    assert row.cells[1].verdict == UNDECIDED


def test_verdicts_are_sorted_by_not_met_undecided_met():
    ordered = rows(judged(MET), judged(UNDECIDED), judged(NOT_MET))
    assert [row.cells[1].verdict for row in ordered] == [NOT_MET, UNDECIDED, MET]


def test_table_has_40_rows_and_counts_the_rest():
    assert len(rows(*[judged(MET)] * 40)) == 40
    *_, more = rows(*[judged(MET)] * 41, judged(UNDECIDED))
    assert (more.heading, more.cells[0].text) == ("2 more", "2 met")


def test_a_reason_follows_the_rule():
    (rule,) = read_rules([{"rule": RULE, "reason": "as agreed in May"}])
    judgement = judged(MET)._replace(rule=rule)
    table = write(judgement).blocks[1]
    assert plain(table.groups[0].heading) == "recall >= 0.65 (as agreed in May)"
    assert table.caption == "1 rule, judged in each column of groups"
    two = write(judged(MET), judged(MET, rule="n >= 100"), texts=(RULE, "n >= 100")).blocks[1]
    assert plain(two.groups[0].heading) == RULE
    assert two.caption == "2 rules, judged in each column of groups"


def test_section_explains_verdicts_and_is_left_out_without_rules():
    met = write(judged(MET))
    assert [*map(plain, met.brief)] == ["The one rule, “recall >= 0.65”, is met everywhere."]
    assert plain(met.blocks[0].text) == (
        "A rule counts as met, or as not met, only where the decision limits say so and not just "
        "the estimate; otherwise it is undecided, because there are too few data. The one rule, "
        f"“recall >= 0.65”, is met everywhere. {AGREED}"
    )
    assert isinstance(section(audit(model()), [[]]), LeftOut)


def verdicts(audited, text):
    """Return the verdicts on a rule, by column and value."""
    (judgements,) = audited.of(rules)
    own = [judgement for judgement in judgements if judgement.rule.text == text]
    return {(one.columns, one.row.get(f"by{one.columns[0]}")): one.verdict for one in own}


def test_compas_rules_are_met_not_met_and_undecided(compas_audit):
    n = verdicts(compas_audit, "n >= 20")
    assert n[(1,), "Native American"] == "not met"  # 18 people
    assert n[(1,), "Asian"] == "met"  # 32 people
    assert len(n) == 2 + 6 + 3
    differences = verdicts(compas_audit, "difference(false_positive_rate) <= 0.1")
    assert [*differences.values()] == ["met", "not met", "not met"]
    precision = verdicts(compas_audit, "precision >= 0.6")
    assert precision[(1,), "Native American"] == "undecided"  # 9 of 12


def test_rules_are_judged_by_simultaneous_exact_limits():
    """1,000 of 1,000 in both groups: the lower limit of Clopper and Pearson at 1 - 0.05 / 2."""
    data = pl.DataFrame({"g": ["a", "b"], "y": [1, 1], "p": [1, 1], "n": [1000, 1000]})
    (both,) = audit_of(data, rules=["recall >= 0.99"], options={"counts": "n"}).of(rules)
    lower = binomtest(1000, 1000).proportion_ci(1 - 0.05 / 2).low
    assert [one.row["lower"] for one in both] == pytest.approx([lower, lower])
    assert [one.verdict for one in both] == ["met", "met"]


def test_rule_with_where_is_judged_only_in_that_group():
    rule = {"rule": "recall >= 0.1", "where": {"g": "a"}, "reason": "agreed"}
    (judgements,) = audit_of(random_rows(12), by=["h", "g"], rules=[rule]).of(rules)
    assert {(one.columns, one.row["by1"]) for one in judgements} == {((1,), "a")}
    assert {one.rule.reason for one in judgements} == {"agreed"}


def test_rules_without_columns_are_about_all_rows():
    (judgements,) = audit_of(random_rows(12), by=[], rules=["n >= 1"]).of(rules)
    assert [(one.columns, one.verdict) for one in judgements] == [((), "met")]


GONE = "expected, but without rows"


@cases(
    ("rules_given", "absent", "said"),
    [
        (["recall >= 0.1"], "inconclusive", [(f"Region: west ({GONE})", UNDECIDED)]),
        (["recall >= 0.1"], "fail", [(f"Region: west ({GONE})", NOT_MET)]),
        (
            [{"rule": "recall >= 0.1", "where": {"region": ["west", "east"], "sex": "f"}}],
            "fail",
            [(f"Region: west, Sex: f ({GONE})", NOT_MET)],
        ),
        ([{"rule": "recall >= 0.1", "where": {"region": "east", "sex": "f"}}], "fail", []),
        (
            ["n_segments >= 2"],
            "inconclusive",
            [("Region (an expected segment is without rows)", UNDECIDED)],
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_an_expected_group_without_rows_is_on_the_page_and_not_met(rules_given, absent, said):
    rows = pl.DataFrame(
        {
            "region": ["east", "north"] * 100,
            "sex": ["f", "f", "m", "m"] * 50,
            "y": [1, 1, 0, 0] * 50,
            "p": [1, 1, 0, 0] * 50,
        }
    ).with_columns(y=1, p=1)
    given = {
        "rules": rules_given,
        "expect": {"region": ["east", "north", "west"]},
        "absent_segments": absent,
    }

    page = bf.audit(rows, "y", "p", by=["region", "sex"], rules=given, pos_label=1).markdown()

    lines = [
        line.strip("| ").split(" | ")
        for line in page.splitlines()
        if "expected" in line and line.startswith("|")
    ]
    assert [(line[0], line[-1]) for line in lines] == said


def test_a_group_that_is_not_expected_is_named_on_the_page():
    rows = pl.DataFrame(
        {"region": ["east", "north"] * 50, "y": [1, 1, 0, 0] * 25, "p": [1, 0] * 50}
    )
    given = {"rules": ["recall >= 0.1"], "expect": {"region": ["east"]}}

    page = bf.audit(rows, "y", "p", by="region", rules=given).markdown()

    assert "| Region: north (not expected) |" in page
    assert "| Region: east |" in page
