"""What holds of all sentences, whatever the data: of COMPAS and of small random tables."""

import re

import pytest

from tests.support.audits.figures import plain, texts

pytestmark = pytest.mark.any_version

MINUS = "\N{MINUS SIGN}"
ESTIMATE = rf"[+{MINUS}]?\d[\d,]*(\.\d+)?"
VERDICTS = re.compile(
    r"\b(un)?(fair|bias|biased|compliant|discriminat\w*|significant\w*|stars?)\b", re.I
)
LIMITED = re.compile(rf"\({MINUS}?[\d.,]+ to {MINUS}?[\d.,]+\)")


@pytest.fixture(scope="module")
def documents(compas_audit, random_audits):
    return [audited.document for audited in (compas_audit, *random_audits)]


def all_texts(document):
    return [one for one in texts(document) if one]


def brief(document):
    return [plain(one) for section in document.sections for one in section.brief]


def paragraphs(document):
    blocks = [block for section in document.sections for block in section.blocks]
    return [plain(one.text) for one in blocks if type(one).__name__ == "Paragraph"] + brief(
        document
    )


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(nan|None|inf)\b",
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


def test_only_the_limitations_use_words_of_fairness_verdicts(documents):
    for document in documents:
        for section in document.sections:
            if section.key == "limits":
                continue
            assert not [one for one in texts(section) if VERDICTS.search(one)]


def test_absence_of_a_difference_is_always_stated_with_its_limit(documents):
    n_said = 0
    for document in documents:
        for text in paragraphs(document):
            for at in re.finditer("no difference|no two groups", text, re.I):
                rest = text[at.end() :]
                assert re.match(r"( in accuracy)? is shown| are shown to differ", rest), text
                has_room = re.match(r"[^.]*(room for up to|limits reach up to) [\d.,]+", rest)
                assert has_room is not None, text
                n_said += 1
    assert n_said > 30


def test_estimates_in_summaries_are_followed_by_their_limits(documents):
    """The shares of outcomes and of calls count rows; those of groups stand in a difference."""
    n_found = 0
    for document in documents:
        for section in document.sections:
            for said in map(plain, section.brief):
                if section.key == "right":
                    (value,) = re.findall(r"(\d[\d.]*)% \([\d.]+ to [\d.]+\) of the calls", said)
                    assert LIMITED.search(said), said
                    assert 0 <= float(value) <= 100
                    n_found += 1
                for one in re.finditer(r" points?\b(?! \(| apart \()", said):
                    assert re.search(r"room for up to [^;]*$", said[: one.start()]), said
                if section.key in ("errors", "worst", "selections") and re.search(
                    r"\d% (\([^)]*\) )?of those|times as often|against", said
                ):
                    assert LIMITED.search(said), said
                    n_found += 1
    assert n_found > 100


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
            assert section.question.endswith("?")
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
