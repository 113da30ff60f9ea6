"""How often each group is selected: each sentence, with and without a favourable side."""

import re
from dataclasses import replace

import polars as pl

from balframe.audit_page.document import Heading, Paragraph, Table
from balframe.audit_page.request import Model
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import selection_rates
from balframe.audit_page.sections.impact_figures import ImpactFigures, ScoringRates
from balframe.audit_page.sections.selection_rates import (
    FOUR_FIFTHS,
    bound_comparison,
    bound_counts,
    estimates_below,
    neutral_comparison,
    section,
    summary,
)
from tests.support.audits.figures import plain, texts
from tests.support.audits.impact_tables import (
    ABOVE,
    FEW,
    LOW,
    OPEN,
    SMALL,
    TOP,
    audit_of_models,
    category,
    model_of,
    table,
    tables,
)
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

NOTHING = ImpactFigures([], [], None)
JUST = category("Just", (0.75, 0.7, 0.8), 0.01)
AT = category("At", (0.9, 0.8, 1.0))
LOWER = category("low one", (0.2, 0.1, 0.3), 0.0001)


NEUTRAL, SELECTED, NOT_SELECTED = (
    model_of(favourable=side) for side in (None, "selected", "not selected")
)


# In brief


def test_summary_without_a_side_names_the_lowest_ratio():
    (said,) = summary(NEUTRAL, tables(TOP, OPEN, LOW, SMALL))

    assert plain(said) == (
        "The lowest ratio: Low (race) had been called high risk 0.36 (0.29 to 0.45) times as often "
        "as Top."
    )


def test_summary_without_a_side_states_that_no_difference_is_established():
    (said,) = summary(NEUTRAL, tables(TOP, OPEN))

    assert plain(said) == (
        "The lowest ratio: Open (race) had been called high risk 0.85 (0.70 to 1.02) times as "
        "often as Top; no difference is established."
    )


def test_summary_with_a_side_names_the_groups_on_each_side_of_the_four_fifths_line():
    (said,) = summary(NOT_SELECTED, tables(TOP, LOW, OPEN, JUST, ABOVE, ABOVE, SMALL))

    assert plain(said) == (
        "By the four-fifths rule, on how often groups had not been called high risk: By race, "
        "compared with Top, below 0.8: Low 0.36 (0.29 to 0.45); not decided: Just 0.75 (0.70 to "
        "0.80), Open 0.85 (0.70 to 1.02); above 0.8: Above 0.90 (0.83 to 0.97), Above 0.90 (0.83 "
        "to 0.97)."
    )


def test_summary_counts_combinations_after_the_groups_of_columns():
    joint = [category((name, "F"), *rest) for name, *rest in [
        ("Top", (1.0, 1.0, 1.0)), ("Low", (0.3, 0.2, 0.4), 0.001), ("Next", (0.4, 0.3, 0.5), 0.001),
    ]]  # fmt: skip
    own = ImpactFigures([table(TOP, ABOVE, OPEN), table(*joint, columns=(0, 1))], [], None)

    (said,) = summary(SELECTED, own)

    assert plain(said) == (
        "By the four-fifths rule, on how often groups had been called high risk: By race, compared "
        "with Top, not decided: Open 0.85 (0.70 to 1.02); above 0.8: Above 0.90 (0.83 to 0.97). Of "
        "2 combinations of groups, 2 below 0.8, 0 not decided, 0 above 0.8; the lowest: Low, F "
        "0.30 (0.20 to 0.40) times as often as Top, F."
    )


def test_summary_compares_the_groups_of_each_column_with_the_highest_of_their_own():
    best = category("Best", (1.0, 1.0, 1.0))
    own = ImpactFigures([table(TOP, LOW, LOWER), table(best, JUST, LOW, columns=(1,))], [], None)

    (said,) = summary(SELECTED, own)

    assert plain(said).endswith(
        ": By race, compared with Top, below 0.8: “low one” 0.20 (0.10 to 0.30), Low 0.36 (0.29 to "
        "0.45). By sex, compared with Best, below 0.8: Low 0.36 (0.29 to 0.45); not decided: Just "
        "0.75 (0.70 to 0.80)."
    )


def test_summary_has_a_sentence_of_its_own_on_scoring_rates():
    scoring = ScoringRates([table(TOP, LOW), table(TOP, OPEN, columns=(1,))], 5.0, 40, 100)

    _, said = summary(SELECTED, ImpactFigures([table(TOP, ABOVE)], [], scoring))

    assert plain(said) == (
        "By the four-fifths rule, on scores relative to the median: of 2 groups and "
        "combinations, 1 below 0.8, 1 not decided, 0 above 0.8; the lowest: Low 0.36 (0.29 to "
        "0.45) times as often as Top."
    )


def test_summary_is_empty_without_a_ratio_to_name():
    for one in (NEUTRAL, SELECTED):
        assert summary(one, tables(TOP, FEW, SMALL)) == []
        assert summary(one, NOTHING) == []


# Beside the line


@cases(
    ("categories", "said"),
    [
        (
            [TOP, LOW],
            "compared with Top, below 0.8: Low 0.36 (0.29 to 0.45).",
        ),
        (
            [TOP, ABOVE],
            "compared with Top, above 0.8: Above 0.90 (0.83 to 0.97).",
        ),
        (
            [TOP, OPEN, SMALL, FEW],
            "compared with Top, not decided: Open 0.85 (0.70 to 1.02).",
        ),
        (
            [TOP, LOW, LOWER],
            "compared with Top, below 0.8: “low one” 0.20 (0.10 to 0.30), Low 0.36 (0.29 to 0.45).",
        ),
        (
            [TOP, JUST, OPEN],  # an upper limit of 0.8 does not lie below it
            "compared with Top, not decided: Just 0.75 (0.70 to 0.80), Open 0.85 (0.70 to 1.02).",
        ),
        (
            [TOP, ABOVE, AT],  # nor a lower limit above it
            "compared with Top, not decided: At 0.90 (0.80 to 1.00); above 0.8: Above 0.90 (0.83 "
            "to 0.97).",
        ),
        (
            [TOP, *[LOW] * 8],
            f"compared with Top, below 0.8: {', '.join(['Low 0.36 (0.29 to 0.45)'] * 6)}, 2 more.",
        ),
        (
            [category("Few", (1.0, 1.0, 1.0), n=29), LOW],
            "compared with the highest, below 0.8: Low 0.36 (0.29 to 0.45).",
        ),
        ([TOP, SMALL, FEW], ""),
    ],
)
def test_ratios_are_named_below_above_and_across_the_bound(categories, said):
    assert plain(bound_comparison(SELECTED, table(*categories))) == said


@cases(
    ("categories", "sentences"),
    [
        (
            [TOP, LOW, JUST, OPEN],
            ["Without their confidence intervals, 2 of 3 ratios are below 0.8."],
        ),
        ([TOP, JUST, OPEN], ["Without their confidence intervals, 1 of 2 ratios is below 0.8."]),
        ([TOP, JUST], ["Without its confidence interval, the ratio is below 0.8."]),
        ([TOP, LOW, OPEN], []),
        ([TOP, SMALL], []),
    ],
)
def test_estimates_below_the_bound_are_counted_where_intervals_leave_some_open(
    categories, sentences
):
    assert estimates_below(SELECTED, table(*categories)) == sentences


@cases(
    ("categories", "said"),
    [
        ([TOP, LOW], "Low 0.36 (0.29 to 0.45) times as often as Top, which is below 0.8."),
        ([TOP, OPEN, FEW], "Open 0.85 (0.70 to 1.02) times as often as Top, which is not decided."),
        ([TOP, ABOVE], "Above 0.90 (0.83 to 0.97) times as often as Top, which is above 0.8."),
        (
            [TOP, ABOVE, JUST, AT, LOW],
            "of 4 groups, 1 below 0.8, 2 not decided, 1 above 0.8; the lowest: Low 0.36 (0.29 to "
            "0.45) times as often as Top.",
        ),
        ([TOP, SMALL, FEW], ""),
    ],
)
def test_ratios_are_counted_below_above_and_across_the_bound(categories, said):
    assert plain(bound_counts(SELECTED, [table(*categories)], "groups")) == said


def test_counted_ratios_are_those_of_all_tables():
    some = [table(TOP, LOW, ABOVE), table(TOP, OPEN, LOWER, columns=(1,))]

    assert plain(bound_counts(SELECTED, some, "groups")) == (
        "of 4 groups, 2 below 0.8, 1 not decided, 1 above 0.8; the lowest: “low one” 0.20 (0.10 to "
        "0.30) times as often as Top."
    )


@cases(
    ("categories", "said"),
    [
        ([TOP, LOW], "Low: 0.36 (0.29 to 0.45) times as often."),
        ([TOP, OPEN], "Open: 0.85 (0.70 to 1.02) times as often; no difference is established."),
        (
            [TOP, ABOVE, LOW, OPEN, FEW],
            "2 of 3 other groups had been called high risk less often (ratios: Low 0.36 (0.29 to "
            "0.45), Above 0.90 (0.83 to 0.97)); for 1 no difference is established.",
        ),
        (
            [TOP, LOW, ABOVE],
            "2 of 2 other groups had been called high risk less often (ratios: Low 0.36 (0.29 to "
            "0.45), Above 0.90 (0.83 to 0.97)).",
        ),
        ([TOP, OPEN, OPEN], "of 2 other groups, none is established to have a lower rate."),
        ([TOP, SMALL, FEW], ""),
    ],
)
def test_without_a_side_groups_that_differ_are_named(categories, said):
    assert plain(neutral_comparison(NEUTRAL, table(*categories))) == said


# The section


def written(own, *figures):
    """Write the section of models that share a request."""
    return section(audit_of_models(*[own] * len(figures)), figures)


def paragraphs(made):
    return [plain(block.text) for block in made.blocks if isinstance(block, Paragraph)]


def test_section_without_a_side_never_evaluates():
    made = written(NEUTRAL, tables(TOP, LOW, OPEN, SMALL, n_unknown=3))
    everything = " ".join(texts(made))

    assert not re.search(r"\b0\.8\b|worse|better|Dashed|29 CFR", everything)
    assert [text for text in paragraphs(made) if "favourable" in text] == [
        "Whether to be called high risk is good or bad for a person is not stated (`favourable`). "
        "If it were, ratios would be those of the good side, and would be compared with the "
        "four-fifths rule."
    ]


@cases("own", [SELECTED, NOT_SELECTED])
def test_section_with_a_side_explains_the_four_fifths_rule(own):
    made = written(own, tables(TOP, LOW, OPEN, SMALL))

    assert FOUR_FIFTHS in paragraphs(made)
    assert "Dashed line: 0.8." in paragraphs(made)[3]
    assert not re.search(r"compl(y|ian)|passe?s?\b|\bworse", " ".join(texts(made)), re.I)


def test_rates_are_those_of_the_favourable_side():
    *_, first = written(SELECTED, tables(TOP, LOW)).blocks
    *_, second = written(NOT_SELECTED, tables(TOP, LOW)).blocks

    assert [plain(head.text) for head in first.heads[2:4]] == [
        "Called high risk",
        "Selection rate (95% interval)",
    ]
    assert plain(second.caption) == "Not called high risk: rates and impact ratios by race"
    assert [plain(head.text) for head in second.heads[2:4]] == [
        "Not called high risk",
        "Rate (95% interval)",
    ]
    assert plain(second.note).startswith(
        "Rate: share of the people of a group that had not been called high risk, which is 1 minus "
        "the selection rate."
    )


def test_each_table_has_a_paragraph_with_the_highest_rate_and_the_unknown():
    joint = category(("x", "y"), (1.0, 1.0, 1.0), n=29)
    own = ImpactFigures(
        [
            table(TOP, OPEN, n_unknown=1_234),
            table(joint, category(("x", "z"), (0.5, 0.4, 0.6), 0.01), columns=(0, 1), n_unknown=1),
            table(TOP, FEW, columns=(1,)),
        ],
        [(1, 0)],
        None,
    )

    made = written(SELECTED, own)

    assert paragraphs(made)[2:6] == [
        "By race, the highest rate is that of Top, 30% (20 to 40). Compared with Top, not decided: "
        "Open 0.85 (0.70 to 1.02). The race of 1,234 people is unknown, so no group "
        "includes them.",
        "By race and sex, the highest rate is that of a group too small to name. Compared with "
        "the highest, below 0.8: x, z 0.50 (0.40 to 0.60). The race or sex of 1 person is "
        "unknown, so no group includes them.",
        "By sex, the highest rate is that of Top, 30% (20 to 40). No other group is large enough "
        "to name.",
        "By sex and race no two groups could be compared.",
    ]
    assert [type(block) for block in made.blocks[-3:]] == [Table] * 3
    (brief,) = made.brief
    assert plain(brief).endswith(
        " x, z 0.50 (0.40 to 0.60) times as often as the highest, which is below 0.8."
    )


@cases(
    ("value", "is_stated"),
    [(0.31, True), (0.3, False), (0.1, False)],
)
def test_higher_rate_of_a_group_under_two_percent_is_stated(value, is_stated):
    excluded = replace(SMALL, rate=SMALL.rate._replace(value=value))

    made = written(SELECTED, tables(TOP, LOW, excluded))

    stated = " Groups under 2% are not compared. Some of them have a higher rate, relative to"
    assert (stated in paragraphs(made)[2]) == is_stated


def test_section_is_left_out_without_groups_two_outcomes_or_ratios():
    assert isinstance(written(model_of(by=[]), NOTHING), LeftOut)
    assert isinstance(written(model_of(labels=("a", "b", "c")), NOTHING), LeftOut)
    for own, whom in ((NEUTRAL, "nobody"), (SELECTED, "nobody"), (NOT_SELECTED, "everybody")):
        left_out = written(own, NOTHING)
        assert isinstance(left_out, LeftOut)
        assert plain(left_out.reason) == (
            f"no two groups could be compared: {whom} had been called high risk, or all are of one "
            "group"
        )


def test_model_without_predicted_positives_has_a_notice():
    made = written(NEUTRAL, tables(TOP, LOW), NOTHING)

    assert plain(made.blocks[-1].text) == (
        "No two groups could be compared: nobody had been called high risk, or all are of one "
        "group."
    )
    assert len(made.brief) == 1


# Scoring rates

ROWS = pl.DataFrame(
    {
        "g": ["a"] * 60 + ["b"] * 60,
        "s": [*range(1, 7)] * 10 + [1, 2, 2, 3, 3, 4] * 10,
        "y": [0, 1] * 60,
        "p": [0, 0, 0, 0, 1, 1] * 10 + [0, 0, 0, 0, 0, 1] * 10,
    }
)


def scored_section(**changes):
    """Write the section on rows with scores; of 120, the 60th and the 61st score are 3."""
    made = audit_of(ROWS.with_columns(**changes), y_score="s", favourable="selected")
    return made.section(selection_rates)


def after_heading(made):
    (at,) = [i for i, block in enumerate(made.blocks) if isinstance(block, Heading)]
    return made.blocks[at:]


def test_scoring_rates_have_their_own_sentences_and_table():
    heading, definition, comparison, made_table = after_heading(scored_section())

    assert heading.text == "Scoring rates"
    assert plain(definition.text) == (
        "The scoring rate of a group is the share of its rows whose s is above the median of all "
        "rows, 3 (6 RCNY 5-300). Of all rows, 33% are above it."
    )
    assert plain(comparison.text).startswith("By the four-fifths rule, b 0.33 (")
    assert plain(comparison.text).endswith(") times as often as a, which is below 0.8.")
    first, second = made_table.groups[0].rows
    assert [cell.text for cell in first.cells[:4]] == ["60", "30", "50%", "1.00"]
    assert [cell.text for cell in second.cells[:4]] == ["60", "10", "17%", "0.33"]
    assert made_table.heads[2].text == "Above the median"


def test_other_side_of_scoring_rates_is_stated():
    made = audit_of(ROWS, y_score="s", favourable="not selected").section(selection_rates)
    _, definition, _, made_table = after_heading(made)

    assert plain(definition.text).endswith(
        "Since it is favourable not to be predicted 1, the tables have the others: the share at or "
        "below the median, which is 1 minus the scoring rate."
    )
    assert made_table.heads[2].text == "At or below the median"
    assert [row.cells[1].text for row in made_table.groups[0].rows] == ["30", "50"]


def test_scores_of_rows_without_an_outcome_are_not_counted_and_the_page_says_so():
    made = audit_of(
        ROWS.with_columns(y=pl.Series([None, 1, 0] * 40)),
        y_score="s",
        favourable="selected",
        options={"missing": "drop"},
    ).section(selection_rates)
    _, definition, *_ = after_heading(made)

    assert plain(definition.text).endswith(
        "Counted are the 80 rows that have an outcome, a prediction and a score."
    )
    assert plain(made.blocks[0].text).endswith(
        "40 rows without outcome or score are counted here too."
    )


def test_scores_of_which_none_is_above_the_median_have_only_a_sentence():
    _, definition = after_heading(scored_section(s=pl.Series([1, 2, 2] * 40)))

    assert plain(definition.text).endswith(
        "0% are above it. So no two groups can be compared in it."
    )


def test_only_a_favourable_side_has_scoring_rates():
    neutral = audit_of(ROWS, y_score="s").section(selection_rates)

    assert not [block for block in neutral.blocks if isinstance(block, Heading)]


def test_combinations_are_counted_among_scoring_rates():
    scoring = ScoringRates([table(TOP, ABOVE), table(TOP, ABOVE, columns=(0, 1))], 5.0, 40, 100)
    own = ImpactFigures([table(TOP, ABOVE)], [], scoring)
    made = written(model_of(favourable="selected", models=[Model("p", "s")]), own)

    assert paragraphs(made)[-1] == (
        "By the four-fifths rule, of 2 groups and combinations, 0 below 0.8, 0 not decided, 2 "
        "above 0.8; the lowest: Above 0.90 (0.83 to 0.97) times as often as Top."
    )


# Of COMPAS


def test_compas_ratios_refer_to_the_highest_selection_rate(compas_audit):
    (own,) = compas_audit.of(selection_rates)
    by_race = next(one for one in own.tables if one.columns == (1,))

    assert by_race.highest.values == ("African-American",)
    by_value = {one.values[0]: one for one in by_race.categories}
    assert abs(by_value["Other"].ratio.value - (79 / 377) / (2174 / 3696)) < 1e-12
    assert by_value["Other"].n_measured == 79
    assert {one.values[0] for one in by_race.excluded} == {"Asian", "Native American"}
    assert by_value["Native American"].ratio.value is None


def test_nothing_is_added_where_all_rows_have_an_outcome():
    data = ROWS.drop("s")
    dropped = audit_of(data, options={"missing": "drop"})

    assert dropped.document == audit_of(data).document
    assert dropped.model.cells.n_only_selected == 0
