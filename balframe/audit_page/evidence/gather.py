"""The evidence of a page: all that it says, as data and as a text of JSON, with its schema."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from balframe.audit_page.document import Bullets, Document
from balframe.audit_page.evidence.records import Record, json_value
from balframe.audit_page.request import Request
from balframe.audit_page.results import Adjustment, Audit
from balframe.audit_page.text import package_version, render_isolates
from balframe.frames.adapter import Name

SCHEMA_ID = "balframe.audit/1"
LISTS = (  # of records, in their order
    "examined",
    "left_out",
    "columns",
    "confusion",
    "figures",
    "comparisons",
    "combinations",
    "searches",
    "scores",
    "thresholds",
    "calibration",
    "selections",
    "rules",
)
_SOFTWARE = ("numpy", "scipy")


def gather_evidence(audit: Audit, document: Document, records: Iterable[Record]) -> dict[str, Any]:
    """Return the evidence of a page from the figures that its sentences were written from."""
    request = audit.request
    lists: dict[str, list[Mapping[str, Any]]] = {name: [] for name in LISTS}
    for record in records:
        lists[record.list_name].append(record.values)
    lists["figures"] = _with_distinct_ids(lists["figures"])
    return {
        "schema": SCHEMA_ID,
        "balframe": package_version("balframe"),
        "software": {name: package_version(name) for name in _SOFTWARE},
        "title": _plain(document.title),
        "subtitle": _plain(document.subtitle),
        "cover": request.cover.as_dict(),
        "call": request.call,
        "fingerprint": audit.fingerprint or None,
        "options": _options(request),
        "adjustment": _adjustment(audit.adjustment),
        **lists,
        "sections": [
            {"key": section.key, "question": _plain(section.question)}
            for section in document.sections
        ],
        "statements": [
            {"section": section.key, "text": _plain(text)}
            for section in document.sections
            for text in section.brief
        ],
        "limitations": _limitations(document),
        "caution": _plain(document.caution),
    }


def _with_distinct_ids(figures: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return figures with ids that differ, also of values that are the same as text."""
    n_seen: Counter[str] = Counter()
    distinct = []
    for figure in figures:
        n_seen[figure["id"]] += 1
        n = n_seen[figure["id"]]
        distinct.append({**figure, "id": f"{figure['id']}#{n}"} if n > 1 else figure)
    return distinct


def _plain(text: str) -> str:
    """Return a text without the marks around names of the data."""
    return render_isolates(text)


def _options(request: Request) -> dict[str, Any]:
    words, options = request.words, request.options
    labels = options.get("labels")
    return {
        "columns": {
            "y_true": None if request.is_of_outcomes else str(request.y_true),
            "by": [str(name) for name in request.by],
            "intersections": [
                [str(request.by[column]) for column in columns] for columns in request.intersections
            ],
            "models": [
                {
                    "y_pred": str(model.y_pred),
                    "y_score": _text(model.y_score),
                }
                for model in request.models
            ],
            "counts": _text(options.get("counts")),
            "sample_weight": _text(request.sample_weight),
            "cluster": _text(request.cluster),
            "time": None if request.period is None else _text(request.period.column),
            "verdict": [str(name) for name in request.verdicts],
            "label_probability": _text(request.label_probability),
        },
        "cells": bool(options.get("cells")),
        "every": None if request.period is None else request.period.every.text,
        "has_baseline": request.baseline is not None,
        "pos_label": json_value(options.get("pos_label")),
        "labels": None if labels is None else [json_value(label) for label in labels],
        "missing": options["missing"],
        "level": request.level,
        "min_support": request.min_support,
        "suppress": request.suppress,
        "favourable": request.favourable,
        "words": {
            "truth": words.truth,
            "selected": words.selected,
            "unit": [words.singular, words.plural],
            "prediction_word": [words.prediction, words.predictions],
        },
    }


def _text(name: Name | None) -> str | None:
    return None if name is None else str(name)


def _adjustment(adjustment: Adjustment) -> dict[str, Any]:
    return {
        "method": "benjamini-hochberg",
        "n_tests": adjustment.n_tests,
        "n_significant": adjustment.n_significant,
        "alpha": adjustment.alpha,
        "interval_level": adjustment.level,
    }


def _limitations(document: Document) -> list[dict[str, str]]:
    """Return what cannot be said from the page."""
    return [
        {"about": _plain(about), "text": _plain(text)}
        for section in document.sections
        if section.key == "limits"
        for block in section.blocks
        if isinstance(block, Bullets)
        for about, text in block.items
    ]


_SCHEMA = "audit-1.schema.json"


def evidence_text(evidence: Mapping[str, Any]) -> str:
    """Return the evidence as JSON, in the same order whatever made it."""
    return json.dumps(evidence, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_schema() -> dict[str, Any]:
    """Return the JSON Schema of the evidence, which the package ships."""
    text = files("balframe.audit_page").joinpath(_SCHEMA).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
