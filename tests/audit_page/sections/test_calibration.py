"""What scores mean: each sentence with all of its outcomes."""

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.document import Paragraph, Table
from balframe.audit_page.request import Model
from balframe.audit_page.results import LeftOut
from balframe.audit_page.scores import ScoreWords
from balframe.audit_page.sections import calibration
from balframe.audit_page.sections.calibration import (
    ONE_OUTCOME,
    ScoreComparison,
    column_sentence,
    errors_sentence,
    meaning,
    section,
    summary,
)
from tests.support.audits.figures import audit, difference, model, plain, texts
from tests.support.audits.scored_audits import audit_of_compas, audit_scores, compas, probabilities
from tests.support.cases import cases

WORDS = ScoreWords("decile", "re-arrested", "called high risk", "people")
MINUS = "\N{MINUS SIGN}"
QUESTION = "Does the same score mean the same for everyone?"


SMALL_GROUPS = ["Asian", "Native American"]
PEOPLE, RANDOM = compas(), probabilities(2000, decimals=2)


@pytest.fixture(scope="module")
def audit_compas():
    return audit_of_compas()


@pytest.fixture(scope="module")
def of_compas(audit_compas):
    return audit_compas.section(calibration)


@pytest.fixture(scope="module")
def deciles(audit_compas):
    (figures,) = audit_compas.of(calibration)
    return figures


def write(rows, **request):
    return audit_scores(rows, **request).section(calibration)


def compared(value, difference):
    return ScoreComparison("race", value, difference, {})


MORE = compared("A", difference(3, 0.4, 5, 0.02))
MOST = compared("B", difference(9, 6, 12, 0.001))
LESS = compared("C", difference(-2, -4, -0.3, 0.03))
OPEN = compared("D", difference(-2, -6, 2, 0.4))
UNKNOWN = compared("G", difference(None))
SAME, CROSSING = difference(None, p_adjusted=0.3), difference(None, p_adjusted=0.01)
OTHERS = " For the others no difference is established; it may be up to 6 points."


@pytest.mark.parametrize(
    ("n_scores", "alike"),
    [
        (30, "the same score"),
        (31, "about the same score, since there are 31 different ones"),
    ],
)
def test_more_than_30_scores_are_compared_at_about_the_same_score(n_scores, alike):
    assert meaning(n_scores, WORDS) == (
        "If a score means the same for everyone, then of two people with the same score, whatever "
        "their groups, one is as likely to be re-arrested as the other. Here the people of each "
        f"group are compared with all others with {alike}."
    )


@cases(
    ("groups", "crossing", "said"),
    [
        ([MORE, OPEN], SAME, f"By race, more often for A, +3 points (0.4 to 5).{OTHERS}"),
        (
            [LESS, MORE, MOST],
            CROSSING,
            "By race, more often for B, +9 points (6 to 12) and A, +3 points (0.4 to 5); and less "
            f"often for C, {MINUS}2 points ({MINUS}4 to {MINUS}0.3).",
        ),
        ([OPEN, UNKNOWN], SAME, "By race, no difference is established; it may be up to 6 points."),
        (
            [OPEN],
            CROSSING,
            "By race, no difference over all scores together is established; it may be up to 6 "
            "points. That differences change with the score is established.",
        ),
        ([UNKNOWN, UNKNOWN], SAME, "By race, no groups with the same scores could be compared."),
        ([], None, "By race, no groups with the same scores could be compared."),
    ],
)
def test_column_sentence_states_differences_at_the_same_score(groups, crossing, said):
    assert plain(column_sentence("race", groups, crossing)) == said


def test_column_sentence_names_twelve_groups_and_counts_the_rest():
    many = [MORE._replace(value=f"g{i}") for i in range(15)]
    said = plain(column_sentence("race", many, SAME))
    assert said.endswith("g11, +3 points (0.4 to 5) and 3 more groups.")


def test_only_p_values_below_alpha_are_significant():
    at = compared("A", difference(3, 0.4, 5, 0.05))
    assert "no difference is established" in column_sentence("race", [at], SAME)
    below = compared("A", difference(3, 0.4, 5, 0.0499999))
    assert "more often for" in column_sentence("race", [below], SAME)


@cases(
    ("groups", "said"),
    [
        (
            [OPEN, UNKNOWN],
            "At the same score, no difference between groups in the share re-arrested is "
            "established; it may be up to 6 points.",
        ),
        (
            [LESS, MOST, OPEN],
            "At the same score, these were re-arrested more often (+) or less often than the other "
            "groups: "
            f"B (race) by +9 points (6 to 12) and C (race) by {MINUS}2 points ({MINUS}4 to "
            f"{MINUS}0.3).",
        ),
        ([UNKNOWN], "At the same score, no groups could be compared."),
        ([], "At the same score, no groups could be compared."),
    ],
)
def test_summary_states_which_groups_differ_at_the_same_score(groups, said):
    assert plain(summary(groups, WORDS)) == said


def test_summary_names_the_four_largest_differences():
    many = [compared(f"g{i}", difference(i, 0.4, 20, 0.01)) for i in range(1, 8)]
    said = plain(summary(many, WORDS))
    named = [f"g{i} (race) by +{i} points (0.4 to 20)" for i in (7, 6, 5, 4)]
    assert said.endswith(f": {', '.join(named)} and 3 more groups.")


def test_errors_sentence_names_columns_whose_prevalence_differs():
    assert errors_sentence(["sex", "race"], WORDS) == (
        "Scores that mean the same for everyone do not make errors equal: where the share "
        "re-arrested differs between groups, as is established by sex and race, error rates differ "
        "at most thresholds."
    )


def test_compas_section_states_the_difference_at_the_same_score(of_compas):
    """The p-value of African-Americans is 0.0298, where 0.03 is significant: just established."""
    assert of_compas.question == QUESTION
    (brief,) = map(plain, of_compas.brief)
    assert brief.startswith(
        "At the same score, these were re-arrested within two years more often (+) or less often "
        "than the other groups: African-American (race) by +3 points (0.0"
    )
    assert brief.endswith(" to 5).")
    said = [plain(one.text) for one in of_compas.blocks if isinstance(one, Paragraph)]
    assert said[1].startswith(
        "How many points more or less often were people re-arrested within two years than others "
        "with the same score? By race, more often for African-American, +3 points (0.0"
    )
    assert said[1].endswith(
        " to 5). For the others no difference is established; it may be up to 7 points."
    )
    assert said[2].endswith("by race, error rates differ at most thresholds.")
    assert len(said) == 3  # deciles are no probabilities


def test_table_marks_small_groups_and_has_a_symmetric_axis(of_compas):
    (table,) = [one for one in of_compas.blocks if isinstance(one, Table)]
    rows = table.groups[0].rows
    assert [plain(one.heading) for one in rows if one.is_small] == SMALL_GROUPS
    assert [row.cells[4].text for row in rows if row.is_small] == ["", ""]
    assert [row.cells[3].text for row in rows if row.is_small] == ["not compared"] * 2
    (plot,) = [one for one in table.heads if one.kind == "plot"]
    assert plot.axis.line == pytest.approx(0.5)
    assert [at for at, _ in plot.axis.ticks] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    # 1,661 of 3,175.
    assert [rows[0].cells[at].text for at in (0, 1, 3)] == ["3,175", "52%", "+3"]


def test_a_group_that_differs_is_marked_and_named():
    rows = probabilities(4000, decimals=2)
    # Half of the negatives of b become positives.
    turned = (rows["g"] == "b") & (pl.Series([i % 2 for i in range(4000)]) == 1)
    rows = rows.with_columns(y=rows["y"].zip_with(~turned, pl.Series([1] * 4000)))
    found = write(rows)
    assert plain(found.brief[0]).startswith(
        "At the same score, these were labelled 1 more often (+) or less often than the other "
        "groups: b (g) by "
        "+"
    )
    table = next(one for one in found.blocks if isinstance(one, Table))
    assert "b" in [plain(one.heading) for one in table.groups[0].rows if one.differs]


def test_probabilities_have_a_table_by_group():
    found = write(probabilities(900, decimals=2))
    first, second = [one for one in found.blocks if isinstance(one, Table)]
    assert first.caption == "Groups compared with others with the same scores"
    assert second.caption == "Scores as probabilities, by group"
    assert plain(second.total.heading) == "All rows"
    assert len(found.brief) == 1
    said = [plain(one.text) for one in found.blocks if isinstance(one, Paragraph)]
    assert any(one.startswith("Are the scores the probabilities that they may") for one in said)


def test_without_groups_the_section_is_on_probabilities():
    found = write(probabilities(900, decimals=2), by=())
    assert found.question == "Are the scores the probabilities that they may be taken for?"
    assert [type(one) for one in found.blocks] == [Paragraph, Paragraph]
    assert found.brief[0].startswith("On average the scores are ")


def test_section_states_how_scores_were_rounded():
    said = [*texts(write(probabilities(1500)))]
    assert (
        "There are very many different values of score. They were rounded down to multiples of "
        "0.001. For the means, half a step was added to each." in said
    )


def test_section_with_a_single_outcome_has_only_a_notice():
    rows = probabilities(300, decimals=1).filter(pl.col("y") == 1)
    found = write(rows)
    assert found.blocks == [Paragraph(ONE_OUTCOME)]
    assert found.brief == []


def test_section_is_left_out_without_score_two_outcomes_or_groups():
    without = section(audit(model()), [None])
    assert without == LeftOut(QUESTION, "no column of scores was named")
    several = audit(model(), models=[Model("p", "s")])
    assert section(several, [None]) == LeftOut(
        QUESTION, "a score is of one of two outcomes, and there are more"
    )
    rows = probabilities(300, decimals=1)
    ranks = rows.with_columns(score=(rows["score"] * 10).cast(pl.Int64))
    assert write(ranks, by=()) == LeftOut(QUESTION, "no columns of groups were given")


def test_table_has_six_columns_and_counts_the_rest():
    names = [f"g{i}" for i in range(8)]
    rows = probabilities(300, decimals=1)
    rows = rows.with_columns([pl.col("g").alias(name) for name in names])
    found = write(rows, by=names)
    table = next(one for one in found.blocks if isinstance(one, Table))
    assert len(table.groups) == 6


def test_groups_equal_the_result_of_calibration_gaps_on_rows(deciles, audit_compas):
    """Small groups are left out, and limits have the level at which they agree with p-values."""
    level = audit_compas.audit.adjustment.level
    assert level > 0.95
    (race,) = deciles.columns
    kept = PEOPLE.filter(~pl.col("race").is_in(SMALL_GROUPS))
    options = {"by": "race", "adjust": None, "detail": True, "level": level}
    rows = bf.calibration_gaps(kept, "reoffended", "decile", **options)
    assert [*race.groups] == rows["race"].to_list()
    for row in rows.to_dicts():
        one = race.groups[row["race"]]
        for name in ("observed", "expected_at_same_scores"):
            assert one.row[name] == pytest.approx(row[name])
        assert one.estimate == pytest.approx(
            (row["difference"], row["lower"], row["upper"], row["n"])
        )
        assert one.difference.p == pytest.approx(row["p_value"])
    assert race.crossing.p == pytest.approx(rows["p_value_crossing"][0])


def test_expected_share_equals_the_mean_of_the_shares_per_decile(deciles):
    (race,) = deciles.columns
    large = PEOPLE.filter(~pl.col("race").is_in(SMALL_GROUPS))
    share = dict(large.group_by("decile").agg(pl.col("reoffended").mean()).rows())
    black = PEOPLE.filter(pl.col("race") == "African-American")
    expected = sum(share[one] for one in black["decile"]) / black.height
    assert race.groups["African-American"].row["expected_at_same_scores"] == pytest.approx(expected)


def test_all_p_values_are_adjusted_with_those_of_the_page(deciles):
    own = list(calibration.differences([deciles]))
    assert len(own) == 4 + 1
    assert all(one.p_adjusted is not None and one.p_adjusted >= one.p for one in own)


def test_only_the_first_six_columns_are_compared():
    names = [f"g{i}" for i in range(8)]
    rows = RANDOM.with_columns([pl.col("g").alias(name) for name in names])
    (figures,) = audit_scores(rows, by=names).of(calibration)
    assert [plain(one.name) for one in figures.columns] == names[:6]


def test_of_two_groups_the_difference_of_one_is_tested():
    """Groups differ from each other by the same, so that one row and one test name them."""
    rows = probabilities(1000, decimals=1).filter(pl.col("g") != "c")
    audited = audit_scores(rows)
    (figures,) = audited.of(calibration)
    (column,) = figures.columns
    ((value, comparison),) = column.groups.items()
    by_value = {
        row["g"]: row["difference"]
        for row in bf.calibration_gaps(rows, "y", "score", by="g").to_dicts()
    }
    assert comparison.estimate.value == pytest.approx(max(by_value.values()))
    assert value == max(by_value, key=by_value.get)
    assert len(list(calibration.differences([figures]))) == 2  # and that it changes with the score
    table = next(x for x in audited.section(calibration).blocks if isinstance(x, Table))
    other = "a" if value == "b" else "b"
    assert [plain(row.heading) for row in table.groups[0].rows] == [f"{value} less {other}"]
