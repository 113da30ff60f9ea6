"""Values as TOML writes them."""

import json
import math
import re
from collections.abc import Mapping
from datetime import date, time
from pathlib import PurePath
from typing import Any

from balframe.cli.toml.forms import InlineRules
from balframe.cli.toml.variables import escape_references


def toml_value(value: Any) -> str:  # noqa: ANN401 (of an option)
    """Return a value of an option in one line of TOML."""
    if isinstance(value, InlineRules):
        return toml_value(value.rules)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (str, PurePath)):
        return _toml_text(escape_references(str(value)))
    if isinstance(value, Mapping):
        pairs = (f"{_toml_key(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join(map(toml_value, value))}]"


def _toml_key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml_text(text)


def _toml_text(text: str) -> str:
    """Return a text in quotes, in which all that does not print is written out."""
    return "".join(
        character if character.isprintable() else _escape(character)
        for character in json.dumps(text, ensure_ascii=False)
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
