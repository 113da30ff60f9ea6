"""Long names stand in full at the end of a page."""

import polars as pl

from balframe.audit_page.document import Terms
from balframe.audit_page.page import Page
from balframe.audit_page.text import isolate
from tests.support.audits.small_audits import audit_of

LONG = "a name of a group that is far longer than the sixty characters of a table"
SHORT = f"{LONG[:40]}\N{HORIZONTAL ELLIPSIS}{LONG[-19:]}"


def audited(groups, labels=(0, 1)):
    """Audit forty rows of each group."""
    n = 40 * len(groups)
    columns = {
        "y": [*labels] * (n // 2),
        "p": [labels[0], labels[1], labels[1], labels[1]] * (n // 4),
        "g": [group for group in groups for _ in range(40)],
    }
    options = {"pos_label": labels[1]}
    return audit_of(pl.DataFrame(columns), options=options).document


def names_in_full(document):
    """Return the shortened and the full names of the section."""
    (section,) = (section for section in document.sections if section.key == "names")
    (names,) = (block for block in section.blocks if isinstance(block, Terms))
    return names.items


def test_shortened_names_of_groups_are_listed_in_full_before_the_terms():
    document = audited(["b", LONG])

    assert len(SHORT) == 60
    assert names_in_full(document) == [(isolate(SHORT), isolate(LONG))]
    assert [section.key for section in document.sections[-3:]] == ["computed", "names", "terms"]
    assert f"- **{SHORT}**: {LONG}" in Page(document).markdown()


def test_names_that_are_shortened_alike_are_all_listed():
    names = [f"{'x' * 40}{middle}{'y' * 40}" for middle in "ab"]
    short = f"{'x' * 40}\N{HORIZONTAL ELLIPSIS}{'y' * 19}"

    listed = names_in_full(audited(names))

    assert listed == [(isolate(short), isolate(name)) for name in names]


def test_page_without_shortened_names_has_no_list():
    keys = [section.key for section in audited(["x" * 60, None]).sections]

    assert "names" not in keys


def test_shortened_class_labels_are_listed():
    labels = ("no", f"yes, {LONG}")

    ((_, full),) = names_in_full(audited(["a", "b"], labels))

    assert full == isolate(labels[1])


def test_full_name_has_at_most_500_characters():
    ((_, full),) = names_in_full(audited(["x" * 100_000, "b"]))

    assert len(full) == 500 + len(isolate(""))


def test_groups_that_the_page_does_not_name_are_not_listed():
    shared = "x" * 70
    document = audited([f"{shared}{n:03}" for n in range(200)])

    listed = {short for short, _ in names_in_full(document)}
    page = Page(document).markdown()
    assert 1 <= len(listed) < 200
    assert all(short.strip("\u2068\u2069") in page for short in listed)
