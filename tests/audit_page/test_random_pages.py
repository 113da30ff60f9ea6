"""What holds of all sentences, whatever the data: of COMPAS and of small random tables."""

import random
import re

import polars as pl
import pytest

from balframe.audit_page.groups import MAX_COLUMNS
from balframe.audit_page.sections.fairness_criteria import INTRODUCTION
from tests.support.audits.figures import plain, texts
from tests.support.audits.scored_audits import audit_of_compas, audit_scores, probabilities
from tests.support.audits.small_audits import audit_of, eight_rows

pytestmark = pytest.mark.any_version

MINUS = "\N{MINUS SIGN}"
ESTIMATE = rf"[+{MINUS}]?\d[\d,]*(\.\d+)?"
VERDICTS = re.compile(
    r"\b(un)?(fair|bias|biased|compliant|discriminat\w*|significant\w*|stars?)\b", re.I
)
LIMITED = re.compile(rf"\({MINUS}?[\d.,]+ to {MINUS}?[\d.,]+\)")


@pytest.fixture(scope="module")
def documents(compas_audit, random_audits):
    scored = [audit_of_compas(), audit_scores(probabilities(800, decimals=2))]
    return [audited.document for audited in (compas_audit, *scored, *random_audits)]


def all_texts(document):
    return [one for one in texts(document) if one]


def brief(document):
    return [plain(one) for section in document.sections for one in section.brief]


def paragraphs_by_section(document):
    """Return the key of a section with each of its paragraphs and sentences in brief."""
    return [
        (section.key, plain(text))
        for section in document.sections
        for text in (
            *(block.text for block in section.blocks if type(block).__name__ == "Paragraph"),
            *section.brief,
        )
    ]


def paragraphs(document):
    return [text for _, text in paragraphs_by_section(document)]


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(nan|None(?! of)|inf)\b",
        r"\(\s*\)",
        r"  ",
        r" [.,;:)]",
        r"[,;:(] *[.;]",
        r"\.\.",
        r"(?<![\d.,])1 (points|groups|rows|labels|people|columns|rules|comparisons|combinations)\b",
        r"\bone (points|more groups|rows)\b",
        r"\d{1,3}\.\d{6,}",  # numbers with decimals that nobody reads
        r"(?<!\d)0 to 0(?!\.?\d)",
        rf"{MINUS}0(?!\.?\d)",
    ],
)
def test_texts_have_no_formatting_mistakes(documents, pattern):
    found = [
        one
        for document in documents
        for one in all_texts(document)
        if not one.startswith("import balframe") and re.search(pattern, one)
    ]
    assert not found


def test_only_limitations_and_terms_use_words_of_fairness_verdicts(documents):
    for document in documents:
        for section in document.sections:
            if section.key in ("limits", "terms"):
                continue
            assert not [one for one in texts(section) if VERDICTS.search(one)]


def test_absence_of_a_difference_is_always_stated_with_its_limit(documents):
    n_said = n_ratios = 0
    for document in documents:
        for section, text in paragraphs_by_section(document):
            if text == INTRODUCTION:  # of criteria, which explains their limits
                continue
            for at in re.finditer("no difference", text, re.I):
                before, rest = text[: at.start()], text[at.end() :]
                if section == "selections":  # of ratios, whose limits stand before or in the table
                    assert re.search(
                        rf"({LIMITED.pattern} times as often[^.;]*|for \d+);? $", before
                    )
                    n_ratios += 1
                    continue
                if re.match(" of a group from all others is established\\.", rest):
                    assert section == "chance"  # whose tables have the limits
                    continue
                assert re.match(r"[^.;]* is established; it may be up to [\d.,]+", rest), text
                n_said += 1
    assert n_said > 30
    assert n_ratios > 5


def test_estimates_in_summaries_are_followed_by_their_limits(documents):
    """The shares of outcomes and of predictions count rows; those of groups are in differences."""
    n_found = 0
    for document in documents:
        for section in document.sections:
            for said in map(plain, section.brief):
                if section.key == "right":
                    (value,) = re.findall(
                        r"(\d[\d.]*)% \([\d.]+ to [\d.]+\) of the predictions", said
                    )
                    assert LIMITED.search(said), said
                    assert 0 <= float(value) <= 100
                    n_found += 1
                for one in re.finditer(r" points?\b(?! \(| apart \()", said):
                    assert re.search(r"it may be up to [^;]*$", said[: one.start()]), said
                if section.key in ("errors", "worst", "selections") and re.search(
                    r"\d% (\([^)]*\) )?of those|times as often|against", said
                ):
                    assert LIMITED.search(said), said
                    n_found += 1
    assert n_found > 100


def test_nothing_is_better_or_worse_where_nobody_says_what_is_favourable(documents):
    for document in documents:
        said = [
            one for one in texts(document) if re.search(r"\b(worse|better|harms?)\b", one, re.I)
        ]
        assert not said


@pytest.mark.parametrize(
    ("favourable", "harm", "worse"),
    [
        ("selected", "“not predicted 1, but labelled 1”", "worse for no (group), +18 points"),
        ("not selected", "“predicted 1, but not labelled 1”", "worse for yes (group), +13 points"),
    ],
)
def test_favourable_decides_what_is_worse_on_the_page(favourable, harm, worse):
    options = {"by": ["group"], "y_pred": ["yhat"], "options": {"counts": "n"}}
    audited = audit_of(eight_rows(), favourable=favourable, **options)
    said = " ".join(texts(audited.document))
    assert f"{harm} as the error that harms: a group fares worse where it is more" in said
    assert (
        f"For whom is it worse? In {harm}, compared with all other groups together: worse for"
        in said
    )
    assert worse in said
    assert said.count("worse for ") == 1


@pytest.fixture(scope="module")
def audits_with_small_groups():
    """Audit rows whose groups are of all sizes, each with a name of its own."""
    audits = []
    for seed in range(12):
        made = random.Random(seed)
        n = made.choice([200, 900, 2000])
        sizes = [made.choice([1, 2, 5, 20, 40]) for _ in range(made.choice([3, 6, 30]))]
        others = [made.choice([1, 3, 30]) for _ in range(4)]
        rows = []
        for _ in range(n):
            first = made.choices(range(len(sizes)), sizes)[0]
            second = made.choices(range(len(others)), others)[0]
            score = round(made.betavariate(2, 3), 1)
            y = int(made.random() < score + 0.25 * (first % 3 == 0))
            wrong = made.random() < (0.5 if first % 2 and second % 2 else 0.1)
            p = 1 - y if wrong else y
            rows.append((f"first{first:02}", f"second{second:02}", y, p, score))
        data = pl.DataFrame(rows, schema=["g", "h", "y", "p", "score"], orient="row")
        options = {"by": ["g", "h"], "favourable": made.choice([None, "selected"])}
        audits.append(audit_scores(data, min_support=made.choice([5, 10, 30]), **options))
    return audits


def sentences(section):
    """Return the paragraphs, sentences in brief, and notes of a section, and texts of charts."""
    blocks, said = list(section.blocks), list(section.brief)
    while blocks:
        block = blocks.pop()
        if type(block).__name__ == "SideBySide":
            blocks += block.blocks
        said += [getattr(block, name) for name in ("text", "note") if hasattr(block, name)]
        if type(block).__name__ == "Bullets":
            said += [text for item in block.items for text in item]
    return [plain(text) for text in said]


def test_no_sentence_names_a_group_that_is_small_or_not_shown(audits_with_small_groups):
    n_unnamed, named = 0, set()
    for audited in audits_with_small_groups:
        (model,) = audited.audit.models
        assert len(model.columns) <= MAX_COLUMNS
        unnamed = {
            group.value
            for column in model.columns
            for group in column.groups
            if group not in column.largest_groups
            or group.n_rarest < audited.audit.request.min_support
        }
        without_ratio = {  # which need no outcome
            group.value
            for column in model.columns
            for group in column.groups
            if group.n < max(audited.audit.request.min_support, 0.02 * model.overall.n)
        }
        n_unnamed += len(unnamed)
        for section in audited.document.sections:
            words = {*re.findall(r"(?:first|second)\d\d", " ".join(sentences(section)))}
            small = without_ratio if section.key == "selections" else unnamed
            assert not words & small, section.key
            if words:
                named.add(section.key)
    assert n_unnamed > 50
    assert {"whom", "errors", "chance", "worst", "threshold", "calibrated"} <= named


def test_summary_sentences_begin_with_a_capital_number_or_name(documents):
    for document in documents:
        for section in document.sections:
            for said in section.brief:
                assert re.match(r"[A-Z0-9“\u2068]", said), said
                assert said.endswith("."), said


def test_estimates_lie_within_their_limits(documents):
    """Read the numbers back from the sentences."""
    n_read = 0
    for document in documents:
        for text in paragraphs(document):
            for match in re.finditer(
                rf"({ESTIMATE})%? \(({MINUS}?[\d.,]+) to ({MINUS}?[\d.,]+)\)", text
            ):
                numbers = [match.group(1), *match.groups()[-2:]]
                value, lower, upper = (
                    float(one.replace(MINUS, "-").replace("+", "").replace(",", ""))
                    for one in numbers
                )
                assert lower <= value <= upper, match.group()
                n_read += 1
    assert n_read > 200


def test_sections_have_unique_keys_and_tables_have_rows(documents):
    for document in documents:
        keys = [section.key for section in document.sections]
        assert len(set(keys)) == len(keys)
        for section in document.sections:
            assert section.question.endswith("?") or section.key == "terms"
            assert section.blocks
            for table in _tables(section.blocks):
                assert all(group.rows for group in table.groups), section.key
                for group in table.groups:
                    widths = {sum(head.span for head in table.heads[1:])}
                    assert {len(row.cells) for row in group.rows} <= widths


def _tables(blocks):
    for block in blocks:
        if type(block).__name__ == "SideBySide":
            yield from _tables(block.blocks)
        elif type(block).__name__ == "Table":
            yield block


def test_axis_ticks_are_sorted_from_0_to_1(documents):
    for document in documents:
        for section in document.sections:
            for table in _tables(section.blocks):
                for head in table.heads:
                    if head.axis is not None:
                        places = [place for place, _ in head.axis.ticks]
                        assert places == sorted(places)
                        assert places[0] == 0
                        assert abs(places[-1] - 1) < 1e-9
                        assert 2 <= len(places) <= 8
                        assert all(len(text) <= 6 for _, text in head.axis.ticks)
