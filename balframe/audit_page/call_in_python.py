"""The call of an audit in Python, as a reader can repeat it."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from balframe.api.method import Parameter
from balframe.errors import clipped
from balframe.methods.gates.rules import Rule, read_rules

_MOST = 1_000  # characters of a text


def call_in_python(given: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> str:
    """Write a call: all that differs from the defaults, in the order of the signature."""
    parts = [f"{_shown(given['y_true'])}, {_shown(given['y_pred'])}"]
    for name, one in parameters.items():
        if not one.is_positional and not _is_same(given[name], one.default):
            value = _of_rules(given[name]) if name == "rules" else given[name]
            parts.append(f"{name}={_shown(value)}")
    inside = "".join(f"    {part},\n" for part in ("frame", *parts))
    return f"import balframe as bf\n\npage = bf.audit(\n{inside})"


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


def _shown(value: Any) -> str:  # noqa: ANN401 (of any option)
    """Write a value as Python reads it; a very long text is shortened."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_shown, value))
        return f"({inside})" if isinstance(value, tuple) and len(value) > 1 else f"[{inside}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_shown(key)}: {_shown(one)}' for key, one in value.items())}}}"
    return clipped(repr(value), _MOST)


def _of_rules(given: object) -> object:
    """Give rules in a form that can be written: a path as it is, others as texts and mappings."""
    if isinstance(given, (str, PathLike)):
        return fspath(given)
    rules = [_of_rule(rule) for rule in read_rules(given)]
    return rules[0] if len(rules) == 1 and isinstance(rules[0], str) else rules


def _of_rule(rule: Rule) -> str | Mapping[str, Any]:
    if not rule.where and rule.reason is None:
        return rule.text
    where = {name: _one_or_list(values) for name, values in rule.where.items()}
    reason = {} if rule.reason is None else {"reason": rule.reason}
    return {"rule": rule.text, **({"where": where} if where else {}), **reason}


def _one_or_list(values: Sequence[Any]) -> Any:  # noqa: ANN401
    return values[0] if len(values) == 1 else list(values)
