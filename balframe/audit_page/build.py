"""From a frame to the document of an audit: count, compute the figures, and write the sections."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from balframe.audit_page.document import Document, Section
from balframe.audit_page.groups import MAX_COLUMNS, Difference, measure_column, measure_overall
from balframe.audit_page.numbers import count
from balframe.audit_page.queries import ModelCells, count_model
from balframe.audit_page.rates import page_rates
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures, adjust_differences
from balframe.audit_page.scores import ScoreCounts
from balframe.audit_page.sections import (
    accuracy_by_group,
    calibration,
    errors_by_group,
    fairness_criteria,
    limitations,
    methods,
    models,
    overall_accuracy,
    rules,
    selection_rates,
    significance,
    threshold_figures,
    thresholds,
    what_was_examined,
    worst_slices,
)
from balframe.audit_page.text import caller_text, capitalize, join_words, label, plural, quote
from balframe.frames.fingerprint import fingerprint

_FOOTER = (
    "Made by balframe from the data named above; the same data and options give this file again, "
    "byte for byte. It holds no script and loads nothing."
)


class _SectionPart(NamedTuple):
    """A section: how it is written, its own figures, and those of them with p-values to adjust.

    `write` takes the audit, and the own figures if there are any.
    """

    write: Callable[..., Section | LeftOut]
    figures: Callable[[Audit], Any] | None = None
    differences: Callable[[Any], Iterator[Difference]] | None = None


_SECTIONS = (  # in the order of the page
    _SectionPart(what_was_examined.section),
    _SectionPart(overall_accuracy.section),
    _SectionPart(accuracy_by_group.section),
    _SectionPart(errors_by_group.section),
    _SectionPart(significance.section),
    _SectionPart(worst_slices.section, worst_slices.figures),
    _SectionPart(thresholds.section, threshold_figures.figures),
    _SectionPart(calibration.section, calibration.figures, calibration.differences),
    _SectionPart(fairness_criteria.section, fairness_criteria.figures),
    _SectionPart(selection_rates.section, selection_rates.figures, selection_rates.differences),
    _SectionPart(rules.section, rules.figures),
    _SectionPart(models.section, models.figures, models.differences),
)


def build_document(frame: Any, request: Request) -> Document:  # noqa: ANN401 (a frame of any kind)
    """Audit a frame."""
    return write_document(*compute_figures(frame, request))


def compute_figures(
    frame: Any,  # noqa: ANN401
    request: Request,
) -> tuple[Audit, Mapping[Callable[..., Any], Any]]:
    """Return the figures that sections share, and the own figures of sections by their writer."""
    cells = [count_model(frame, request, model) for model in request.models]
    model_figures = [measure_model(model_cells) for model_cells in cells]
    tables = [table for one in cells for table in (one.frame, one.selections) if table is not None]
    digest = fingerprint(tables)
    audit = Audit(request, frame, model_figures, digest)
    figures = {part.write: part.figures(audit) for part in _SECTIONS if part.figures is not None}
    differences = [difference for model in audit.models for difference in model.differences]
    for part in _SECTIONS:
        if part.differences is not None:
            differences += part.differences(figures[part.write])
    adjust_differences(differences, request.alpha)
    return audit, figures


def measure_model(cells: ModelCells) -> ModelFigures:
    """Compute the figures of a model that several sections share."""
    request, rates = cells.request, page_rates(cells)
    return ModelFigures(
        label(cells.model.y_pred) if len(request.models) > 1 else "",
        cells,
        rates,
        measure_overall(cells, rates),
        [measure_column(cells, rates, column) for column in range(len(request.by))],
        ScoreCounts.from_cells(cells) if cells.has_scores else None,
    )


def write_document(audit: Audit, figures: Mapping[Callable[..., Any], Any]) -> Document:
    """Write the sections."""
    request = audit.request
    written = [
        part.write(audit, figures[part.write]) if part.figures else part.write(audit)
        for part in _SECTIONS
    ]
    sections = [section for section in written if isinstance(section, Section)]
    left_out = [part for part in written if isinstance(part, LeftOut) and part.is_listed]
    sections.append(limitations.section(audit, left_out))
    sections.append(methods.section(audit, {section.key for section in sections}))
    return Document(
        _title(request),
        caller_text(request.subtitle) if request.subtitle else "",
        _facts(audit),
        sections,
        limitations.caution(audit),
        _FOOTER,
    )


def _title(request: Request) -> str:
    """Return the title, by default one that names the columns of predictions."""
    if request.title:
        return caller_text(request.title)
    names = [quote(model.y_pred) for model in request.models]
    more = [f"{len(names) - MAX_COLUMNS} more"] if len(names) > MAX_COLUMNS else []
    return f"Audit of {join_words([*names[:MAX_COLUMNS], *more])}"


def _facts(audit: Audit) -> Sequence[tuple[str, str]]:
    """Return the facts below the title."""
    request = audit.request
    facts = [(capitalize(request.words.plural), count(audit.models[0].overall.n))]
    if request.by:
        names = [*map(caller_text, request.by[:MAX_COLUMNS])]
        if n_more := len(request.by) - len(names):
            names.append(plural(n_more, "more column", "more columns"))
        facts.append(("Groups", join_words(names)))
    if len(request.models) > 1:
        names = [caller_text(model.y_pred) for model in request.models]
        facts.append(("Models", join_words(names)))
    scores = [model.y_score for model in request.models if model.y_score is not None]
    if scores:
        facts.append(("Score", join_words(list(dict.fromkeys(map(caller_text, scores))))))
    return [*facts, ("Fingerprint", audit.fingerprint[:12])]
