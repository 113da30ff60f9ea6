"""From a frame to the document of an audit: count, ask the verbs, and write the sections."""

from collections.abc import Sequence
from typing import Any

from balframe.audit_page.counted import Counted, counted
from balframe.audit_page.document import Document, Section
from balframe.audit_page.groups import column_of, overall_of
from balframe.audit_page.measured_criteria import criteria_of, selections_of
from balframe.audit_page.measured_models import pairs_of
from balframe.audit_page.measured_rules import verdicts_of
from balframe.audit_page.measured_scores import score_of
from balframe.audit_page.measured_slices import search_of
from balframe.audit_page.numbers import count
from balframe.audit_page.queries import Asking
from balframe.audit_page.rates import rates_of
from balframe.audit_page.request import Asked, Model
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, adjust
from balframe.audit_page.sections.accuracy_by_group import whom
from balframe.audit_page.sections.calibration import calibrated
from balframe.audit_page.sections.errors_by_group import errors
from balframe.audit_page.sections.fairness_criteria import criteria
from balframe.audit_page.sections.limitations import caution, limits
from balframe.audit_page.sections.methods import computed
from balframe.audit_page.sections.models import models
from balframe.audit_page.sections.overall_accuracy import right
from balframe.audit_page.sections.rules import rules
from balframe.audit_page.sections.selection_rates import selections
from balframe.audit_page.sections.significance import chance
from balframe.audit_page.sections.thresholds import threshold
from balframe.audit_page.sections.what_was_examined import examined
from balframe.audit_page.sections.worst_slices import worst
from balframe.audit_page.shown_groups import MOST_COLUMNS
from balframe.audit_page.text import given, marked, name, plural, sentence, text_of, together
from balframe.frames.fingerprint import fingerprint

_SECTIONS = (  # in the order of the page
    examined,
    right,
    whom,
    errors,
    chance,
    worst,
    threshold,
    calibrated,
    criteria,
    selections,
    rules,
    models,
)
_FOOTER = (
    "Made by balframe from the data named above; the same data and options give this file again, "
    "byte for byte. It holds no script and loads nothing."
)


def document_of(frame: Any, asked: Asked) -> Document:  # noqa: ANN401 (a frame of any kind)
    """Audit a frame."""
    return document_from(audited_of(frame, asked))


def document_from(audited: Audited) -> Document:
    """Write the sections of answers."""
    asked = audited.asked
    answers: list[Answer] = [section(audited) for section in _SECTIONS]
    left_out = [one for one in answers if isinstance(one, LeftOut) and _matters(one, audited)]
    answers += [limits(audited, left_out), computed(audited, answers)]
    sections = [one for one in answers if isinstance(one, Section)]
    return Document(
        _title(asked),
        given(asked.subtitle) if asked.subtitle else "",
        _facts(audited),
        sections,
        caution(audited),
        _FOOTER,
    )


def _title(asked: Asked) -> str:
    """Give the title, by default one that names the columns of calls."""
    if asked.title:
        return given(asked.title)
    calls = [name(one.y_pred) for one in asked.models]
    more = [f"{len(calls) - MOST_COLUMNS} more"] if len(calls) > MOST_COLUMNS else []
    return f"Audit of {together([*calls[:MOST_COLUMNS], *more])}"


def _matters(one: LeftOut, audited: Audited) -> bool:
    """Tell whether a reader may miss a question; that on several models needs several."""
    return len(audited.models) > 1 or one.question != models(audited).question


def audited_of(frame: Any, asked: Asked) -> Audited:  # noqa: ANN401
    """Ask the verbs all that a page shows."""
    read = [counted(frame, asked, model) for model in asked.models]
    found = [of_model(one, asked) for one in read]
    pairs = pairs_of(frame, asked)
    differences = [one for model in found for one in model.differences]
    adjust([*differences, *(one for pair in pairs for one in pair.differences)])
    return Audited(asked, found, pairs, fingerprint(one.cells for one in read))


def of_model(read: Counted, asked: Asked) -> OfModel:
    """Ask the verbs about one model."""
    asking = Asking(read, asked)
    rates = rates_of(read, asked.words)
    numbers = range(len(asked.by))
    shown, is_binary = numbers[:MOST_COLUMNS], read.positive is not None
    columns = [column_of(asking, rates, number) for number in numbers]
    overall = overall_of(asking, rates)
    known = [rate for rate in rates.errors if overall.rates[rate].is_known]
    return OfModel(
        marked(text_of(read.model.y_pred)) if len(asked.models) > 1 else "",
        read,
        rates,
        overall,
        columns,
        [search_of(asking, rate) for rate in known] if asked.by else [],
        [criteria_of(asking, rates, one) for one in columns[:MOST_COLUMNS]] if is_binary else [],
        [selections_of(asking, number) for number in shown] if is_binary else [],
        verdicts_of(asking),
        score_of(asking, rates, columns) if is_binary and _has_score(read.model) else None,
    )


def _has_score(model: Model) -> bool:
    return model.y_score is not None


def _facts(audited: Audited) -> Sequence[tuple[str, str]]:
    """List the facts below the title."""
    asked = audited.asked
    facts = [(sentence(asked.words.many), count(audited.models[0].overall.n))]
    if asked.by:
        names = [given(str(name)) for name in asked.by[:MOST_COLUMNS]]
        more = len(asked.by) - len(names)
        facts.append(
            (
                "Groups",
                together(
                    [*names, *([plural(more, "more column", "more columns")] if more else [])]
                ),
            )
        )
    if len(asked.models) > 1:
        facts.append(("Models", together([given(str(one.y_pred)) for one in asked.models])))
    scores = [given(str(one.y_score)) for one in asked.models if one.y_score is not None]
    if scores:
        facts.append(("Score", together(list(dict.fromkeys(scores)))))
    return [*facts, ("Fingerprint", audited.fingerprint[:12])]
