"""From a frame to the document of an audit: count, compute the figures, and write the sections."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from balframe.audit_page.baseline import count_baselines
from balframe.audit_page.bins import cut_into_bins
from balframe.audit_page.cover import cover_lines
from balframe.audit_page.document import Block, Document, Paragraph, Section, Terms, document_texts
from balframe.audit_page.evidence import decisions, examined, rates, scores, selections
from balframe.audit_page.evidence.gather import gather_evidence
from balframe.audit_page.evidence.records import Record
from balframe.audit_page.glossary import add_terms
from balframe.audit_page.groups import MAX_COLUMNS, Difference, measure_groups, measure_overall
from balframe.audit_page.numbers import count
from balframe.audit_page.queries import ModelCells, count_model
from balframe.audit_page.rates import page_rates
from balframe.audit_page.request import Request
from balframe.audit_page.results import Adjustment, Audit, LeftOut, ModelFigures, adjust_differences
from balframe.audit_page.scores import ScoreCounts
from balframe.audit_page.sections import (
    accuracy_by_group,
    calibration,
    changes,
    errors_by_group,
    fairness_criteria,
    impact_figures,
    limitations,
    methods,
    models,
    outcomes_examined,
    overall_accuracy,
    pass_rate,
    pass_rate_by_group,
    periods,
    rules,
    selection_rates,
    significance,
    threshold_figures,
    thresholds,
    what_was_examined,
    worst_slices,
)
from balframe.audit_page.text import (
    MAX_LENGTH,
    caller_text,
    capitalize,
    isolate,
    isolated_texts,
    join_words,
    label,
    plural,
    quote,
    value_text,
)
from balframe.audit_page.unlabelled_rows import labelled_share
from balframe.frames.adapter import Name
from balframe.frames.fingerprint import fingerprint
from balframe.frames.pandas_polars import write_values

# The sections whose methods take no weights, no clusters or no corrections, and why not.


Write = Callable[..., Section | LeftOut]

_SUMS = "cells were given with sums of weights, and a threshold needs the weight of each {singular}"


class _Refusal(NamedTuple):
    """Why a section is left out with weights, with sums of them, and with clusters.

    `suppressed` is why it is with weights where small counts are withheld, and `unlabelled` if rows
    without a true label are corrected for.
    """

    question: Callable[[Request], str]
    weights: str = ""
    sums_of_weights: str = ""
    suppressed: str = ""
    clusters: str = ""
    unlabelled: str = ""


_OF_COMBINATIONS: Mapping[Write, _Refusal] = {  # sections that need two by-columns
    worst_slices.section: _Refusal(
        worst_slices.question,
        weights="the search for combinations has no tests of weighted {plural}",
        clusters="the search for combinations needs independent {plural}",
        unlabelled="the search for combinations needs an outcome of each {singular}",
    ),
}
_OF_GROUPS: Mapping[Write, _Refusal] = {  # those that need one
    selection_rates.section: _Refusal(
        lambda _: selection_rates.QUESTION,
        weights="ratios to the highest have no confidence intervals for weighted {plural}",
        clusters="the confidence intervals of the ratios need independent {plural}",
    ),
}
_OF_MODELS: Mapping[Write, _Refusal] = {  # those that need two models
    models.section: _Refusal(
        lambda _: models.QUESTION,
        unlabelled="the comparison of models needs an outcome of each {singular}",
    ),
}
_OF_SCORES: Mapping[Write, _Refusal] = {  # those that need scores
    thresholds.section: _Refusal(
        lambda _: thresholds.QUESTION,
        sums_of_weights=_SUMS,
        suppressed="weighted rates do not show between which thresholds counts are small",
        clusters="confidence intervals at all thresholds need independent {plural}",
    ),
    calibration.section: _Refusal(
        lambda _: calibration.QUESTION,
        weights="the tests of what scores mean have no known error rates with weights",
        clusters="the tests of what scores mean need independent {plural}",
    ),
}


def refused_sections(cells: ModelCells) -> dict[Write, LeftOut]:
    """Return the sections that are left out for their methods, as far as others have them."""
    request = cells.request
    candidates = [
        *(_OF_COMBINATIONS.items() if len(request.by) > 1 else ()),
        *(_OF_GROUPS.items() if request.by and not request.is_of_outcomes else ()),
        *(_OF_MODELS.items() if len(request.models) > 1 else ()),
        *(_OF_SCORES.items() if cells.has_scores else ()),
    ]
    refused = {}
    for write, refusal in candidates:
        if reason := _reason(refusal, cells):
            refused[write] = LeftOut(refusal.question(request), _in_words(reason, request))
    return refused


def _reason(refusal: _Refusal, cells: ModelCells) -> str:
    if cells.request.is_corrected:
        return refusal.unlabelled
    if cells.has_clusters:
        return refusal.clusters
    if not cells.is_weighted:
        return ""
    if refusal.weights:
        return refusal.weights
    if cells.weighted_scores is None:
        return refusal.sums_of_weights
    return "" if cells.request.suppress is None else refusal.suppressed


def _in_words(reason: str, request: Request) -> str:
    words: dict[str, Any] = {"singular": request.words.singular, "plural": request.words.plural}
    return reason.format(**words)


# The names of the data that stand shortened on a page, each in full.


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


_FOOTER = (
    "Made by balframe from the data named above; the same data and options give this file again, "
    "byte for byte. It holds no script and loads nothing."
)


class _SectionPart(NamedTuple):
    """A section: how it is written, its own figures, and those of them with p-values to adjust.

    `write` takes the audit, and the own figures if there are any, and so does `evidence`, which
    returns the same figures as records. Figures with p-values are measured at the level of the
    limits of differences, others once; `compared` names what these differences are between.
    """

    write: Callable[..., Section | LeftOut]
    evidence: Callable[..., Iterator[Record]]
    figures: Callable[[Audit], Any] | None = None
    measure: Callable[[Audit, float], Any] | None = None
    differences: Callable[[Any], Iterator[Difference]] | None = None
    compared: str = ""


_SIGNIFICANCE = _SectionPart(significance.section, rates.significance)
_WORST_SLICES = _SectionPart(worst_slices.section, decisions.worst_slices, worst_slices.figures)
_SHARED = (  # of predictions and of outcomes, after what only one of them has
    _SectionPart(rules.section, decisions.rules, rules.figures),
    _SectionPart(
        models.section,
        decisions.models,
        measure=models.measure,
        differences=models.differences,
        compared="models",
    ),
    _SectionPart(
        periods.section,
        decisions.periods,
        measure=periods.measure,
        differences=periods.differences,
        compared="periods",
    ),
    _SectionPart(
        changes.section,
        decisions.changes,
        measure=changes.measure,
        differences=changes.differences,
        compared="changes since the baseline",
    ),
)
_OF_PREDICTIONS = (  # in the order of the page
    _SectionPart(what_was_examined.section, examined.what_was_examined),
    _SectionPart(overall_accuracy.section, rates.overall_accuracy),
    _SectionPart(accuracy_by_group.section, rates.accuracy_by_group),
    _SectionPart(errors_by_group.section, rates.errors_by_group),
    _SIGNIFICANCE,
    _WORST_SLICES,
    _SectionPart(thresholds.section, scores.thresholds, threshold_figures.figures),
    _SectionPart(
        calibration.section,
        scores.calibration,
        measure=calibration.measure,
        differences=calibration.differences,
        compared="outcomes at the same scores",
    ),
    _SectionPart(fairness_criteria.section, rates.fairness_criteria),
    _SectionPart(
        selection_rates.section,
        selections.selection_rates,
        measure=impact_figures.measure,
        differences=impact_figures.differences,
        compared="impact ratios",
    ),
    *_SHARED,
)
_OF_OUTCOMES = (
    _SectionPart(outcomes_examined.section, examined.what_was_examined),
    _SectionPart(pass_rate.section, rates.pass_rate),
    _SectionPart(pass_rate_by_group.section, rates.pass_rate_by_group),
    _SIGNIFICANCE,
    _WORST_SLICES,
    *_SHARED,
)


def _section_parts(request: Request) -> Sequence[_SectionPart]:
    """Return the sections that a page may have, in their order."""
    return _OF_OUTCOMES if request.is_of_outcomes else _OF_PREDICTIONS


def build_page(frame: Any, request: Request) -> tuple[Document, dict[str, Any]]:  # noqa: ANN401
    """Audit a frame of any kind: return the document, and the evidence of it."""
    audit, figures = compute_figures(frame, request)
    document = write_document(audit, figures)
    return document, write_evidence(audit, figures, document)


def compute_figures(
    frame: Any,  # noqa: ANN401
    request: Request,
) -> tuple[Audit, Mapping[Callable[..., Any], Any]]:
    """Return the figures that sections share, and the own figures of sections by their writer.

    Differences are measured twice: first for their p-values, and then at the level at which their
    limits agree with the adjusted p-values. A section that weights or clusters leave out has that
    in the place of its figures.
    """
    frame, request = _write_groups(frame, request)
    cells = _count_models(frame, request)
    model_figures = [measure_model(model_cells) for model_cells in cells]
    digest = fingerprint([table for model_cells in cells for table in model_cells.tables])
    if request.suppress is not None:  # from which small counts could be guessed
        digest = ""
    audit = Audit(request, frame, model_figures, digest, Adjustment({}, 0, request.alpha))
    refused = refused_sections(cells[0])
    parts = [part for part in _section_parts(request) if part.write not in refused]
    audit, figures = _measure_differences(audit, request.level, parts)
    audit, figures = _measure_differences(audit, audit.adjustment.level, parts)
    figures |= {part.write: part.figures(audit) for part in parts if part.figures is not None}
    figures |= refused
    return audit, figures


def _write_groups(frame: Any, request: Request) -> tuple[Any, Request]:  # noqa: ANN401 (frames)
    """Replace values of by-columns that only pandas has by their texts, in rules too."""
    (frame, baseline), texts = write_values([frame, request.baseline], request.by)

    def written(values_of: Mapping[Name, Sequence[Any]]) -> dict[Name, list[Any]]:
        return {
            name: [texts.get(name, {}).get(value, value) for value in values]
            for name, values in values_of.items()
        }

    rules = [replace(rule, where=written(rule.where)) for rule in request.rules]
    expected = [written(part) for part in request.expected]
    return frame, replace(request, baseline=baseline, rules=rules, expected=expected)


def _count_models(frame: Any, request: Request) -> list[ModelCells]:  # noqa: ANN401
    """Count the rows of every model, and of the baseline."""
    models = [count_model(frame, request, model) for model in request.models]
    cells = cut_into_bins(models)
    if request.baseline is None:
        return cells
    baselines = count_baselines(request.baseline, request, cells)
    return [
        replace(cells_of_model, baseline=own)
        for cells_of_model, own in zip(cells, baselines, strict=True)
    ]


def _measure_differences(
    audit: Audit, level: float, parts: Sequence[_SectionPart]
) -> tuple[Audit, dict[Callable[..., Any], Any]]:
    """Measure all differences of a page with limits at a level, and adjust their p-values."""
    audit = replace(audit, models=[model.compare(level) for model in audit.models])
    figures: dict[Callable[..., Any], Any] = {}
    tests = {"rates of groups": [test for model in audit.models for test in model.tests]}
    for part in parts:
        if part.measure is not None and part.differences is not None:
            figures[part.write] = part.measure(audit, level)
            tests[part.compared] = [*part.differences(figures[part.write])]
    return replace(audit, adjustment=adjust_differences(tests, audit.request.alpha)), figures


def measure_model(cells: ModelCells) -> ModelFigures:
    """Compute the figures of a model that several sections share, without comparisons."""
    request, rates = cells.request, page_rates(cells)
    return ModelFigures(
        label(cells.model.y_pred) if len(request.models) > 1 else "",
        cells,
        rates,
        measure_overall(cells, rates),
        [measure_groups(cells, rates, column) for column in range(len(request.by))],
        ScoreCounts.from_cells(cells) if cells.has_scores else None,
    )


def write_document(audit: Audit, figures: Mapping[Callable[..., Any], Any]) -> Document:
    """Write the sections."""
    request = audit.request
    written = [_write(part, audit, figures) for part in _section_parts(request)]
    sections = [section for section in written if isinstance(section, Section)]
    left_out = [part for part in written if isinstance(part, LeftOut) and part.is_listed]
    searches = figures[worst_slices.section]
    n_searches = 0 if isinstance(searches, LeftOut) else worst_slices.count_searches(searches)
    sections.append(limitations.section(audit, left_out, n_searches))
    sections.append(methods.section(audit, {section.key for section in sections}))
    document = Document(
        _title(request),
        caller_text(request.subtitle) if request.subtitle else "",
        _facts(audit),
        sections,
        limitations.caution(audit, n_searches),
        _FOOTER,
        cover_lines(request.cover),
    )
    return add_terms(add_full_names(document, audit), audit)


def _write(
    part: _SectionPart, audit: Audit, figures: Mapping[Callable[..., Any], Any]
) -> Section | LeftOut:
    if part.write not in figures:
        return part.write(audit)
    own = figures[part.write]
    return own if isinstance(own, LeftOut) else part.write(audit, own)


def write_evidence(
    audit: Audit, figures: Mapping[Callable[..., Any], Any], document: Document
) -> dict[str, Any]:
    """Return the evidence of a page, from the figures that its sections were written from."""
    records: list[Record] = []
    for part in _section_parts(audit.request):
        if part.write not in figures:
            records += part.evidence(audit)
        elif not isinstance(own := figures[part.write], LeftOut):
            records += part.evidence(audit, own)
    return gather_evidence(audit, document, records)


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
    if request.is_corrected:
        overall = audit.models[0].overall
        facts.append(("Outcome known", f"{count(overall.n_labelled)} ({labelled_share(overall)})"))
    if request.by:
        names = [*map(caller_text, request.by[:MAX_COLUMNS])]
        if n_more := len(request.by) - len(names):
            names.append(plural(n_more, "more column", "more columns"))
        facts.append(("Groups", join_words(names)))
    if len(request.models) > 1:
        names = [caller_text(model.y_pred) for model in request.models]
        facts.append(("Models", join_words(names)))
    if (baseline := audit.models[0].cells.baseline) is not None:
        facts.append(("Baseline", request.words.rows(sum(baseline.n_true.values()))))
    scores = [model.y_score for model in request.models if model.y_score is not None]
    if scores:
        facts.append(("Score", join_words(list(dict.fromkeys(map(caller_text, scores))))))
    if audit.fingerprint:
        facts.append(("Fingerprint", audit.fingerprint[:12]))
    return facts
