"""The files that hold the rules of a gate, in TOML or YAML."""

from pathlib import Path
from typing import Any

from balframe.errors import InvalidInputError, MissingExtraError


def load_rule_file(path: Path) -> object:
    """Return the content of a .toml or .yaml file; raise if it cannot be read."""
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix.lower() == ".toml":
            import tomllib

            return tomllib.loads(text)
        return _load_yaml(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"the rules cannot be read: {reason}.") from error


def _load_yaml(text: str) -> object:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "rules in YAML need pyyaml, which is not installed: "
            "python -m pip install 'balframe[yaml]'"
        ) from error
    try:
        _check_duplicate_keys(yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check_duplicate_keys(root: Any) -> None:  # noqa: ANN401 (the library may be missing)
    """Raise if a mapping has a key twice, of which YAML would drop the first silently."""
    nodes, seen = [root], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))
        keys = [item[0] for item in node.value if isinstance(item, tuple)]
        names = [key.value for key in keys if isinstance(key.value, str)]
        for key in keys:
            if names.count(key.value) > 1:
                line = key.start_mark.line + 1
                raise ValueError(f"duplicate key {key.value!r}, first in line {line}")
        nodes += [item[1] if isinstance(item, tuple) else item for item in node.value]
