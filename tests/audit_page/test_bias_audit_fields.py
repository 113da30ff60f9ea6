"""What 6 RCNY 5-301 and 5-303 require a bias audit to publish, field by field, on a page.

The figures are computed again here, by plain arithmetic on rows.
"""

import html
import random
import re
from datetime import date

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.document import Paragraph, Table
from balframe.audit_page.request import Words
from balframe.audit_page.sections import selection_rates
from tests.support.audits.figures import plain
from tests.support.audits.small_audits import audit_of

SEXES, RACES = ["Female", "Male", None], ["Asian", "Black", "Hispanic", "White", "Rare", None]
RATES = {"Asian": 0.35, "Black": 0.18, "Hispanic": 0.3, "White": 0.36, "Rare": 0.3, None: 0.3}
N = 4_000
SMALL = 0.02
DASH = "\N{EN DASH}"


@pytest.fixture(scope="module")
def applicants():
    """Make applicants, of whom a hundredth is of one race, with unknown sexes and races."""
    made = random.Random(5301)
    races = made.choices(RACES, [12, 25, 15, 40, 1, 7], k=N)
    sexes = made.choices(SEXES, [48, 48, 4], k=N)
    chosen = [
        made.random() < RATES[race] * (1 if sex else 0.8)
        for race, sex in zip(races, sexes, strict=True)
    ]
    return pl.DataFrame(
        {
            "sex": sexes,
            "race": races,
            "selected": [*map(int, chosen)],
            "score": [made.randint(1, 60) + 20 * one for one in chosen],
            "performed": [made.randint(0, 1) for _ in range(N)],
        }
    )


@pytest.fixture(scope="module")
def audited(applicants):
    return audit_of(
        applicants,
        y_true="performed",
        y_pred=("selected",),
        by=("sex", "race"),
        intersections=[(0, 1)],
        y_score="score",
        favourable="selected",
        words=Words("performing", "selected", "applicant", "applicants"),
    )


@pytest.fixture(scope="module")
def section(audited):
    return audited.section(selection_rates)


TABLES = [("sex",), ("race",), ("sex", "race")]
MEASURES = ["selected", "above"]
every_table = pytest.mark.parametrize("columns", TABLES, ids=" and ".join)
every_measure = pytest.mark.parametrize("measure", MEASURES)


def table_of(section, columns, measure):
    start = "Selection" if measure == "selected" else "Scoring"
    caption = f"{start} rates and impact ratios by {' and '.join(columns)}"
    (table,) = [
        block
        for block in section.blocks
        if isinstance(block, Table) and plain(block.caption) == caption
    ]
    return table


def rows_of(table):
    (group,) = table.groups
    return {plain(row.heading): row for row in group.rows}


def recomputed(applicants, columns, measure):
    """Count applicants and those measured of each known category, by its name; and the unknown."""
    median = applicants["score"].median()
    frame = applicants.with_columns(above=(pl.col("score") > median).cast(pl.Int64))
    is_known = pl.all_horizontal(pl.col(columns).is_not_null())
    known = frame.filter(is_known).group_by(columns).agg(n=pl.len(), k=pl.col(measure).sum())
    names = known.select(pl.concat_str(columns, separator=", ")).to_series()
    counts = {name: (n, k) for name, n, k in zip(names, known["n"], known["k"], strict=True)}
    unknown = frame.filter(~is_known)
    return counts, (unknown.height, int(unknown[measure].sum()))


def ratios(counts):
    """Divide the rates of categories of 2% and more by the highest of them."""
    n_known = sum(n for n, _ in counts.values())
    rates = {name: k / n for name, (n, k) in counts.items() if n / n_known >= SMALL}
    return {name: rate / max(rates.values()) for name, rate in rates.items()}


def number(text):
    return int(text.replace(",", ""))


# 5-301 (b), (c): rates of sexes, of races and ethnicities, and of their intersections


@every_table
@every_measure
def test_number_of_applicants_and_rate_of_each_category(section, applicants, columns, measure):
    counts, _ = recomputed(applicants, columns, measure)
    rows = rows_of(table_of(section, columns, measure))

    assert set(rows) == {*counts, "(missing)"}
    for name, (n, k) in counts.items():
        cells = rows[name].cells
        assert (number(cells[0].text), number(cells[1].text)) == (n, k)
        assert cells[2].text == f"{100 * k / n:.0f}%"
        lower, upper = map(float, cells[2].limits.split(" to "))
        assert lower <= 100 * k / n <= upper


# 5-301 (b), (c): impact ratios


@every_table
@every_measure
def test_impact_ratio_of_each_category(section, applicants, columns, measure):
    counts, _ = recomputed(applicants, columns, measure)
    rows, expected = rows_of(table_of(section, columns, measure)), ratios(counts)

    assert max(expected.values()) == 1
    for name, ratio in expected.items():
        assert float(rows[name].cells[3].text) == pytest.approx(ratio, abs=0.005001)
        if ratio < 1:
            lower, upper = map(float, rows[name].cells[3].limits.split(" to "))
            assert lower <= ratio + 0.005
            assert upper >= ratio - 0.005
    assert min(ratios(recomputed(applicants, ("race",), "selected")[0]).values()) < 0.8


# 5-301 (c): the median score


def test_median_score_is_that_of_the_full_sample(section, applicants):
    median = applicants["score"].median()
    above = (applicants["score"] > median).mean()

    assert any(
        isinstance(block, Paragraph)
        and f"median of all applicants, {median:g} (6 RCNY 5-300). Of all applicants, "
        f"{100 * above:.0f}% are above it."
        in plain(block.text)
        for block in section.blocks
    )


# 5-301 (b), (c): who is in an unknown category


@every_table
@every_measure
def test_number_in_unknown_categories(section, applicants, columns, measure):
    _, (n, k) = recomputed(applicants, columns, measure)
    row = rows_of(table_of(section, columns, measure))["(missing)"]

    assert n > 100
    assert row.note == "excluded: unknown"
    assert [cell.text for cell in row.cells[:4]] == [
        f"{n:,}", f"{k:,}", f"{100 * k / n:.0f}%", DASH,
    ]  # fmt: skip
    assert any(
        isinstance(block, Paragraph)
        and f"The {' or '.join(columns)} of {n:,} applicants is unknown" in plain(block.text)
        for block in section.blocks
    )


@pytest.mark.parametrize("column", ["sex", "race"])
def test_lowest_ratio_that_is_possible_if_the_unknown_were_known(section, applicants, column):
    """Count the unknown who are not selected in the category, the others in one of its rivals."""
    counts, (n_unknown, k_unknown) = recomputed(applicants, (column,), "selected")
    expected = ratios(counts)
    rows = rows_of(table_of(section, (column,), "selected"))

    for name in expected:
        n, k = counts[name]
        own = k / (n + n_unknown - k_unknown)
        rivals = [counts[other] for other in expected if other != name]
        highest = max((k2 + k_unknown) / (n2 + k_unknown) for n2, k2 in rivals)
        text = rows[name].cells[-1].text.replace("\N{NO-BREAK SPACE}", " ")
        lower, upper = map(float, text.split(" to "))
        assert lower == pytest.approx(own / max(own, highest), abs=0.005001)
        assert lower < expected[name] < upper + 0.005001


# 5-301 (d): categories under 2%, with the reason


@every_table
@every_measure
def test_categories_under_two_percent_are_excluded_with_count_rate_and_reason(
    section, applicants, columns, measure
):
    counts, _ = recomputed(applicants, columns, measure)
    small = set(counts) - set(ratios(counts))
    table = table_of(section, columns, measure)
    rows = rows_of(table)

    assert small == {name for name in counts if name.endswith("Rare")}
    assert {name for name, row in rows.items() if row.note == "excluded: under 2%"} == small
    for name in small:
        assert rows[name].cells[3].text == DASH
    assert ("have no ratio; 6 RCNY 5-301 (d) allows leaving them out" in table.note) == bool(small)


# 5-303 (a): on the page as it is published

COVER = {
    "source": "All applications of 2025, as the hiring software recorded them.",
    "distribution_date": date(2025, 3, 31),
    "date": date(2026, 5, 4),
    "auditor": "Jane Doe",
    "excluded": "One race has too few applicants for a rate to mean anything.",
}


@pytest.fixture(scope="module")
def page(applicants):
    return bf.audit(
        applicants,
        "performed",
        "selected",
        by=["sex", "race"],
        y_score="score",
        favourable="selected",
        cover=COVER,
        words={"selected": "selected", "unit": ("applicant", "applicants")},
    )


@pytest.fixture(scope="module")
def text_of_html(page):
    """Return the texts of the elements of the page, without their tags."""
    without_tags = re.sub(r"<[^>]*>", " ", page.html().partition("<body")[2])
    return " ".join(html.unescape(without_tags).split())


def test_published_page_has_the_tables_in_html_and_in_markdown(page, text_of_html, applicants):
    markdown = page.markdown()

    for start in ("Selection", "Scoring"):
        for columns in ("sex", "race", "sex and race"):
            caption = f"{start} rates and impact ratios by {columns}"
            assert f"**{caption}**" in markdown
            assert caption.replace(" ", "") in text_of_html.replace(" ", "")
    for columns in TABLES:
        counts, (n, k) = recomputed(applicants, columns, "selected")
        assert f"| *(missing)* (excluded: unknown) | {n:,} | {k:,} |" in markdown
        for name, (n, k) in counts.items():
            star = "" if name in ratios(counts) else "*"
            note = " (excluded: under 2%)" if star else ""
            assert f"| {star}{name}{star}{note} | {n:,} | {k:,} |" in markdown


@pytest.mark.parametrize(
    ("title", "value"),
    [
        ("Date of the audit", "2026-05-04"),
        ("System first used", "2025-03-31"),
        ("Source of the data", COVER["source"]),
        ("Auditor", "Jane Doe"),
    ],
)
def test_published_page_has_the_dates_the_source_and_the_auditor_on_its_cover(
    page, text_of_html, title, value
):
    """`date` and `distribution_date` are the two dates that 5-303 (a) asks for."""
    cover = page.markdown().partition("## In brief")[0]

    assert f"- **{title}**: {value}" in cover
    assert f"{title} {value}" in text_of_html.partition("In brief")[0]


def test_published_page_justifies_below_the_tables_why_categories_are_excluded(page):
    markdown = page.markdown()
    with_rare_race = [columns for columns in TABLES if "race" in columns]

    assert markdown.count(f"reason: {COVER['excluded']}") == len(with_rare_race) * len(MEASURES)
