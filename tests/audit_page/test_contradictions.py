"""No two statements of a page contradict each other, and the reader of pages finds those that do.

The reader knows finished documents only. It is tried on contradictions that are planted in them.
"""

import re
from dataclasses import fields, is_dataclass, replace

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.document import Cell, TableRow
from tests.support.audits.contradictions import find_contradictions
from tests.support.audits.random_frames import random_frame

pytestmark = pytest.mark.any_version

N_PAGES, N_PARTS = 48, 12


def audit_document(seed):
    frame, options = random_frame(seed)
    y_pred = options.pop("y_pred", "p")
    return bf.audit(frame, "y", y_pred, **options).document


@pytest.fixture(scope="module")
def compas_document():
    people = bf.datasets.compas_by_age_and_sex()
    return bf.audit(
        people,
        "reoffended",
        "high_risk",
        by=["sex", "race", "age"],
        counts="n",
        favourable="not selected",
        words={"selected": "called high risk"},
    ).document


@pytest.fixture(scope="module")
def deciles_document():
    people = bf.datasets.compas_deciles()
    people = people.with_columns(high=people["decile"] >= 5)
    people = people.with_columns(reoffended=people["reoffended"] == 1)
    return bf.audit(people, "reoffended", "high", by="race", y_score="decile", counts="n").document


def test_a_page_of_one_true_label_is_read():
    assert find_contradictions(audit_document(seed=4531)) == []


@pytest.mark.simulation
@pytest.mark.parametrize("part", range(N_PARTS))
def test_random_pages_have_no_contradictions(part):
    contradictions = {}
    for seed in range(part, N_PAGES, N_PARTS):
        if problems := find_contradictions(audit_document(seed)):
            contradictions[seed] = problems
    assert not contradictions


def test_some_pages_have_no_contradictions(compas_document, deciles_document):
    documents = [compas_document, deciles_document, *map(audit_document, range(12))]
    assert [find_contradictions(document) for document in documents] == [[]] * len(documents)


@pytest.fixture(scope="module")
def outcomes_document():
    frame = random_frame(15, is_null=False)[0].with_columns(passed=pl.col("p") == pl.col("y"))
    return bf.audit(frame, outcome=["passed", "p"], by=["g", "h"]).document


def test_some_pages_of_outcomes_have_no_contradictions(outcomes_document):
    documents = [outcomes_document]
    for seed in range(12):
        frame, options = random_frame(seed)
        kept = {name: options[name] for name in ("by", "min_support")}
        documents.append(bf.audit(frame, outcome=options.get("y_pred", "p"), **kept).document)
    assert [find_contradictions(document) for document in documents] == [[]] * len(documents)


def change(node, edit):
    """Return a copy of a document, of which `edit` replaces what it returns something for."""
    edited = edit(node)
    if edited is not None:
        return edited
    if isinstance(node, (list, tuple)) and not hasattr(node, "_fields"):
        return type(node)(change(item, edit) for item in node)
    if is_dataclass(node):
        values = {field.name: change(getattr(node, field.name), edit) for field in fields(node)}
        return type(node)(**values)
    return node


def once(edit):
    """Return an edit that is made at the first place where it changes something."""
    is_done = []

    def first(node):
        result = None if is_done else edit(node)
        is_done.extend([True] * (result is not None))
        return result

    return first


def in_text(pattern, replacement):
    """Return an edit of the first text in which a pattern occurs."""

    def edit(node):
        if isinstance(node, str) and re.search(pattern, node):
            return re.sub(pattern, replacement, node, count=1)
        return None

    return once(edit)


def in_row(is_chosen, edit_row):
    """Return an edit of the first row of a table of differences that is chosen."""

    def edit(node):
        is_difference = isinstance(node, TableRow) and node.cells and is_p(node.cells[-1].text)
        return edit_row(node) if is_difference and is_chosen(node) else None

    return once(edit)


def is_p(text):
    return re.fullmatch(r"<?\.\d+|1\.000", text) is not None


def differs(row):
    return row.differs


def with_p(row, text):
    return replace(row, cells=[*row.cells[:-1], Cell(text)])


def with_limits(row, limits):
    at = next(i for i, cell in enumerate(row.cells) if " to " in cell.limits)
    cells = list(row.cells)
    cells[at] = replace(cells[at], limits=limits)
    return replace(row, cells=cells)


def common_edits():
    """Return edits of any page, each of which can be made once."""
    return {
        "a mark is missing": in_row(differs, lambda row: replace(row, differs=False)),
        "a mark too many": in_row(
            lambda row: not differs(row), lambda row: replace(row, differs=True)
        ),
        "a p-value is large": in_row(differs, lambda row: with_p(row, ".400")),
        "a p-value is small": in_row(lambda row: not differs(row), lambda row: with_p(row, ".010")),
        "an interval includes zero": in_row(
            differs, lambda row: with_limits(row, "\N{MINUS SIGN}1 to 9")
        ),
        "an interval leaves out zero": in_row(
            lambda row: not differs(row), lambda row: with_limits(row, "1 to 9")
        ),
        "a number of comparisons": in_text(r"Of \d+ comparisons", "Of 99 comparisons"),
        "another distance": in_text(r"\d+ points apart", "99 points apart"),
        "another rate of a group": in_text(r"from \d+% for", "from 3% for"),
    }


PLANTED = {
    **common_edits(),
    "a number of findings": in_text(r"error rate, \w+ establish", "error rate, four establish"),
    "no difference in brief": in_text(
        r"(Race\u2069): of those.*$",
        r"\1: no difference in these errors is established; it may be up to 20 and 30 points.",
    ),
    "no difference of two": in_text(
        r"(race\u2069), \d+ points \([^)]*\), from[^.]*",
        r"\1, no difference is established; it may be up to 9 points",
    ),
    "a group is not named as worse": in_text(r"worse for [^,]*\), [^)]*\)( and|,)", "worse for"),
    "a group is not named at all": in_text(r"(more often for .*?), [+][^;]*?\)(, | and )", "more "
    "often for "),
    "no group is worse": in_text(
        r"”, compared with all other groups.*", "”, no group is established to fare worse."
    ),
    "equal opportunity is open": once(
        lambda node: with_limits(node, "0 to 90")
        if isinstance(node, TableRow) and node.heading == "Equal opportunity"
        and not node.cells[0].limits.startswith("0 ")
        else None
    ),
    "a new statement": in_text(r"^Even if all", "For Other a harm is established. Even if all"),
    "a number of ratios below 0.8": in_text(r"\d+ below 0\.8, ", "3 below 0.8, "),
    "a number of ratios above 0.8": in_text(r"\d+ above 0\.8; the", "9 above 0.8; the"),
    "a ratio that is not named": in_text(r"not decided: [^;]*; ", ""),
    "a ratio on the other side": in_text(r"below 0\.8: (?=\u2068African)", "above 0.8: "),
    "another interval of a ratio": in_text(
        r"(below 0\.8: [^(]*)\([\d.]+ to [\d.]+\)", r"\1(0.10 to 0.20)"
    ),
    "another distance of the precision": in_text(
        r"(share .*\? By \u2068sex\u2069, )\d+ points \(\d+", r"\g<1>12 points (0"
    ),
    "a combination that is not in brief": in_text(
        r"^Combinations of groups with more errors.*$",
        "Combinations of groups: none is established to have more errors than its groups explain.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_contradictions_are_found(compas_document, planted):
    changed = change(compas_document, PLANTED[planted])
    assert changed != compas_document, "nothing was planted"
    assert find_contradictions(changed)


PLANTED_IN_OUTCOMES = {
    **common_edits(),
    "a number of findings": in_text(r"pass rate, \w+ establish", "pass rate, eight establish"),
    "no difference in brief": in_text(
        r"(G\u2069: )pass rate from.*$",
        r"\1no difference in pass rate is established; it may be up to 20 points.",
    ),
    "a group is not named": in_text(r"(more often for .*?), [+][^;]*?\)(, | and |;)", "more often "
    "for "),
    "another difference of models": in_text(r"(passed less often than [^:]*): .*", "\\1: "
    "\u221299 points (\u221299 to \u221290)."),
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED_IN_OUTCOMES)
def test_contradictions_planted_in_outcomes_are_found(outcomes_document, planted):
    changed = change(outcomes_document, PLANTED_IN_OUTCOMES[planted])
    assert changed != outcomes_document, "nothing was planted"
    assert find_contradictions(changed)


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"^At the same score, .*", "At the same score, no group is established to differ."),
        (r"Guessing would give 50%, and .*", "That is not established to differ from guessing."),
        (
            r"By \u2068race\u2069, (more|less) often.*$",
            "By \u2068race\u2069, no difference is established.",
        ),
    ],
)
def test_planted_contradictions_on_scores_are_found(deciles_document, pattern, replacement):
    changed = change(deciles_document, in_text(pattern, replacement))
    assert changed != deciles_document, "nothing was planted"
    assert find_contradictions(changed)


def test_worse_is_not_read_without_what_is_favourable(compas_document):
    changed = change(compas_document, in_text(r"The favourable result for a row", "The result"))
    assert any("worse" in problem for problem in find_contradictions(changed))
