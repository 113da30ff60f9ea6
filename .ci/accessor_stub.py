"""Writes `balframe/accessor.pyi`: the namespace `.bal` as type checkers and editors read it.

python .ci/accessor_stub.py

The signatures are those of the public functions, the rest is that of `accessor.py`.
"""

import ast
import inspect
import subprocess
import sys
import types
import typing
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import balframe as bf
from balframe.accessor import Bal, Plots, groups
from balframe.api.method import function_parameters
from balframe.frames.adapter import FrameT

SOURCE = Path(bf.__file__).with_name("accessor.py")
STUB = SOURCE.with_suffix(".pyi")
HEADER = "# Written by .ci/accessor_stub.py: run it again after a change of a signature.\n"
FRAME = FrameT.__name__
_PLAIN = (type(None), bool, int, float, str)


def stub() -> str:
    """Return the text of the stub."""
    module = ast.parse(SOURCE.read_text("utf-8"))
    used: set[tuple[str, str]] = set()
    statements = [text for node in module.body if (text := _statement(node, used))]
    imports = [ast.unparse(node) for node in module.body if isinstance(node, ast.ImportFrom)]
    imports += [f"from {name} import {imported}" for name, imported in sorted(used)]
    body = "\n".join([*imports, *statements])
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--quiet", "--select", "I,F401", "--fix-only"], ["format"]):
        body = subprocess.run(
            [*ruff, *command, "--stdin-filename", str(STUB), "-"],
            input=body,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return HEADER + body


def _statement(node: ast.stmt, used: set[tuple[str, str]]) -> str:
    """Return what the stub has in place of a top-level statement."""
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        if node.name == "bal":
            node.args.args[0].annotation = ast.Name(FRAME)
            node.returns = ast.parse(f"Bal[{FRAME}]", mode="eval").body
        return _without_body(node)
    if isinstance(node, ast.ClassDef) and node.name in (Bal.__name__, Plots.__name__):
        namespace, functions = (Bal, bf) if node.name == Bal.__name__ else (Plots, bf.plot)
        used |= {("typing", "Generic"), (FrameT.__module__, FRAME)}
        lines = [f"class {node.name}(Generic[{FRAME}]):", f'    """{_summary(node)}"""']
        lines.append(f"    def __init__(self, frame: {FRAME}) -> None: ...")
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                member.returns = ast.parse(f"Plots[{FRAME}]", mode="eval").body
                lines.append(_indented(_without_body(member)))
        for name in (name for names in groups(namespace).values() for name in names):
            lines.append(_indented(_method(getattr(functions, name), used)))
        return "\n".join(lines)
    return ""


def _method(function: Callable[..., Any], used: set[tuple[str, str]]) -> str:
    """Return the signature of a function without its frame, as a method."""
    _, *parameters = function_parameters(function).values()
    texts = ["self"]
    for parameter in parameters:
        if not parameter.is_positional and "*" not in texts:
            texts.append("*")
        given = "" if parameter.is_required else f" = {_default(parameter.default)}"
        texts.append(f"{parameter.name}: {_type(parameter.type, used)}{given}")
    returned = _type(typing.get_type_hints(function)["return"], used)
    summary = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    return f'def {function.__name__}({", ".join(texts)}) -> {returned}:\n    """{summary}"""'


def _default(value: object) -> str:
    is_plain = isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all(isinstance(item, _PLAIN) for item in value)
    )
    return repr(value) if is_plain else "..."


def _type(annotation: Any, used: set[tuple[str, str]]) -> str:  # noqa: ANN401
    """Write a type out, and note what has to be imported for it."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (None, types.NoneType):
        return "None"
    if annotation is ...:
        return "..."
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_type(argument, used) for argument in arguments)
    if origin is typing.Literal:
        used.add(("typing", "Literal"))
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if isinstance(annotation, list):
        return f"[{', '.join(_type(item, used) for item in annotation)}]"
    named = annotation if origin is None else origin
    if named.__module__ != "builtins":
        package = named.__module__.partition(".")[0]  # may have the name of a private module too
        is_public = getattr(import_module(package), named.__name__, None) is named
        used.add((package if is_public else named.__module__, named.__name__))
    listed = f"[{', '.join(_type(argument, used) for argument in arguments)}]" if arguments else ""
    return f"{named.__name__}{listed}"


def _without_body(node: ast.FunctionDef) -> str:
    doc = _summary(node)
    node.body = [ast.Expr(ast.Constant(doc)) if doc else ast.Expr(ast.Constant(...))]
    return ast.unparse(node)


def _summary(node: ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n\n")[0]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
