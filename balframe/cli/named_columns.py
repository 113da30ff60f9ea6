"""The names of columns among what was typed."""

from collections.abc import Mapping
from typing import Any

from balframe.api.method import Parameter
from balframe.cli.baseline_files import is_file


def named_columns(parameters: Mapping[str, Parameter], typed: Mapping[str, Any]) -> list[str]:
    """List the columns that options name, each as often as they do."""
    values = [typed[name] for name, one in parameters.items() if "column name" in one.kind]
    lists = (value if isinstance(value, list) else [value] for value in values)
    names = [name for one in lists for name in one if name is not None]
    cells = typed.get("baseline")
    return [name for name in names if name != cells or not is_file(name)]
