"""The overall metrics of a page as the block `model-index` of a model card, in YAML."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from balframe._text import capitalize_first, metric_title

_DATA = "audited rows"
_KINDS = ("rate", "area")  # of figures that are metrics of a model


def model_index_text(
    evidence: Mapping[str, Any],
    *,
    name: str | None,
    dataset_name: str | None,
    dataset_type: str | None,
    task_type: str,
) -> str:
    """Return the block of all models of a page."""
    cover = evidence["cover"]
    name = name or cover.get("system") or evidence["title"]
    data = dataset_name or cover.get("source") or evidence["subtitle"] or _DATA
    data_text = data if isinstance(data, str) else ", ".join(data)
    models = [model["y_pred"] for model in evidence["options"]["columns"]["models"]]
    blocks = [
        {
            "name": str(name) if len(models) == 1 else f"{name} ({model})",
            "results": [
                {
                    "task": {"type": task_type},
                    "dataset": {"type": dataset_type or data_text, "name": data_text},
                    "metrics": [*_metrics(evidence, model)],
                }
            ],
        }
        for model in models
    ]
    return "\n".join(_yaml({"model-index": blocks})) + "\n"


def _metrics(evidence: Mapping[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """Return the figures of all rows that are defined."""
    for figure in evidence["figures"]:
        is_overall = figure["model"] == model and figure["group"] is None
        if not is_overall or figure["kind"] not in _KINDS or figure["estimate"] is None:
            continue
        label = figure["pos_label"]
        positive = {} if label is None else {"pos_label": label}
        yield {
            "type": figure["metric"],
            "value": figure["estimate"],
            "name": capitalize_first(metric_title(figure["metric"])),
            "args": {
                "lower": figure["lower"],
                "upper": figure["upper"],
                "confidence_level": figure["interval_level"],
                "n": figure["n"],
                **positive,
            },
        }


# YAML


def _yaml(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Write a mapping as lines of YAML: mappings and lists as blocks, others as JSON has them."""
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield f"{indent}{key}:"
            yield from _yaml(item, f"{indent}  ")
        elif isinstance(item, Sequence) and not isinstance(item, str):
            yield f"{indent}{key}:"
            for entry in item:
                first, *others = _yaml(entry, f"{indent}  ")
                yield f"{indent}- {first.removeprefix(f'{indent}  ')}"
                yield from others
        else:
            yield f"{indent}{key}: {_scalar(item)}"


def _scalar(value: str | float | bool | None) -> str:
    """Write a value as JSON, which YAML is too, but for characters that YAML has to escape."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return _with_point(text)
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def _with_point(text: str) -> str:
    """Write a number so that YAML 1.1 reads an exponent too: 1.0e-07."""
    start, mark, exponent = text.partition("e")
    return f"{start}.0e{exponent}" if mark and "." not in start else text


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
