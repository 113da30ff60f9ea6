"""The names of the data that stand shortened on a page, each in full."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from balframe.audit_page.document import Block, Document, Paragraph, Section, Terms, document_texts
from balframe.audit_page.results import Audit
from balframe.audit_page.text import MAX_LENGTH, isolate, isolated_texts, value_text

KEY, QUESTION = "names", "Names in full"
_MAX_FULL_LENGTH = 500  # which keeps a page of many long names small
_EXPLANATION = (
    f"On this page, names of more than {MAX_LENGTH} characters are shortened in the middle. Here "
    f"they are in full, up to {_MAX_FULL_LENGTH} characters."
)


def add_full_names(document: Document, audit: Audit) -> Document:
    """Add a section of the names that are shortened in the other texts, if there are any."""
    on_page = {name for text in document_texts(document) for name in isolated_texts(text)}
    names = {}  # without repetition, in their order
    for value in _values(audit):
        name = short, full = value_text(value), value_text(value, _MAX_FULL_LENGTH)
        if short != full and short in on_page:
            names[name] = isolate(short), isolate(full)
    if not names:
        return document
    blocks: list[Block] = [Paragraph(_EXPLANATION), Terms([*names.values()])]
    return replace(document, sections=[*document.sections, Section(KEY, QUESTION, blocks)])


def _values(audit: Audit) -> Iterator[Any]:
    """Return the values of the data that a page names: models, labels and groups."""
    for model in audit.models:
        yield model.cells.model.y_pred
        yield from model.cells.labels
        yield from (group.value for groups in model.groups_by_column for group in groups)
