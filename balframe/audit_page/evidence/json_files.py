"""The evidence of a page as a text of JSON, and the schema that describes it."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_SCHEMA = "audit-1.schema.json"


def evidence_text(evidence: Mapping[str, Any]) -> str:
    """Return the evidence as JSON, in the same order whatever made it."""
    return json.dumps(evidence, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_schema() -> dict[str, Any]:
    """Return the JSON Schema of the evidence, which the package ships."""
    text = files("balframe.audit_page").joinpath(_SCHEMA).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
