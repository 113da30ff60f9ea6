"""Writes the stubs of `.bal`, `bf.plot` and `bf.table` as type checkers and editors read them.

python .ci/accessor_stub.py

They are `balframe/accessor.pyi` and `balframe/presentation.pyi`. The signatures are those of the
public functions, the rest is that of `accessor.py` and `presentation.py`.
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
from balframe.accessor import Bal, Plots, Tables, groups
from balframe.api.method import docstring_parameters, function_parameters
from balframe.api.settings import Settings
from balframe.frames.adapter import FrameT
from balframe.presentation import FunctionOfResults

SOURCE, PRESENTATION = (
    Path(bf.__file__).with_name(name) for name in ("accessor.py", "presentation.py")
)
FUNCTIONS_OF = {Bal.__name__: bf, Plots.__name__: bf.plot, Tables.__name__: bf.table}
NAMESPACES = {namespace.__name__: namespace for namespace in (Bal, Plots, Tables)}
FUNCTIONS_OF_RESULTS = ("plot", "table")
HEADER = "# Written by .ci/accessor_stub.py: run it again after a change of a signature.\n"
FRAME = FrameT.__name__
RETURNED_BY_NAME = {  # types that only type checkers import
    "GT": ("great_tables", "GT"),
    "LayerChart | FacetChart | ConcatChart": (
        "altair",
        "LayerChart, FacetChart, ConcatChart",
    ),
}
_PLAIN = (type(None), bool, int, float, str)


def stub() -> str:
    """Return the text of the stub."""
    module = ast.parse(SOURCE.read_text("utf-8"))
    used: set[tuple[str, str]] = set()
    statements = [text for node in module.body if (text := _statement(node, used))]
    imports = [ast.unparse(node) for node in module.body if isinstance(node, ast.ImportFrom)]
    imports += [f"from {name} import {imported}" for name, imported in sorted(used)]
    return _formatted(SOURCE, "\n".join([*imports, *statements]))


def presentation_stub() -> str:
    """Return the text of the stub of `bf.plot` and `bf.table`, with a class for each."""
    used: set[tuple[str, str]] = set()
    statements = []
    for name in FUNCTIONS_OF_RESULTS:
        function: FunctionOfResults = getattr(bf, name)
        class_name = f"_{name.capitalize()}"
        methods = [_method(function, used, "__call__")]
        methods += [_method(getattr(function, one), used, one) for one in dir(function)]
        statements += [f"class {class_name}:", *map(_indented, methods), f"{name}: {class_name}"]
    imports = [f"from {name} import {imported}" for name, imported in sorted(used)]
    return _formatted(PRESENTATION, "\n".join([*imports, *statements]))


def _formatted(source: Path, body: str) -> str:
    """Return the text of a stub as Ruff formats it, without imports that are not used."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--quiet", "--select", "I,F401", "--fix-only"], ["format"]):
        body = subprocess.run(
            [*ruff, *command, "--stdin-filename", str(source.with_suffix(".pyi")), "-"],
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
    if isinstance(node, ast.ClassDef) and node.name in NAMESPACES:
        namespace, functions = NAMESPACES[node.name], FUNCTIONS_OF[node.name]
        used |= {("typing", "Generic"), (FrameT.__module__, FRAME)}
        lines = [f"class {node.name}(Generic[{FRAME}]):", f'    """{_summary(node)}"""']
        lines.append(f"    def __init__(self, frame: {FRAME}) -> None: ...")
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                returned = ast.unparse(member.returns) if member.returns else ""
                member.returns = ast.parse(f"{returned}[{FRAME}]", mode="eval").body
                lines.append(_indented(_without_body(member)))
        for name in (name for names in groups(namespace).values() for name in names):
            function = getattr(functions, name)
            lines.append(_indented(_method(function, used, name, skipped=1)))
        return "\n".join(lines)
    return ""


def _method(
    function: Callable[..., Any], used: set[tuple[str, str]], name: str, skipped: int = 0
) -> str:
    """Return the signature of a function as a method, without so many parameters."""
    is_of_results = isinstance(function, FunctionOfResults)
    declared = docstring_parameters if is_of_results else function_parameters
    parameters = list(declared(function).values())[skipped:]
    has_settings = any(getattr(p, "is_setting", False) for p in parameters)
    parameters = [p for p in parameters if p.is_public]
    texts = ["self"]
    for parameter in parameters:
        if not parameter.is_positional and "*" not in texts:
            texts.append("*")
        given = "" if parameter.has_no_default else f" = {_default(parameter.default)}"
        texts.append(f"{parameter.name}: {_type(parameter.type, used)}{given}")
    if has_settings:
        used |= {("typing", "Unpack"), (Settings.__module__, Settings.__name__)}
        texts.append(f"**settings: Unpack[{Settings.__name__}]")
    returned = function.__annotations__["return"]
    summary = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    return f'def {name}({", ".join(texts)}) -> {_type(returned, used)}:\n    """{summary}"""'


def _default(value: object) -> str:
    is_plain = isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all(isinstance(item, _PLAIN) for item in value)
    )
    return repr(value) if is_plain else "..."


def _type(annotation: Any, used: set[tuple[str, str]]) -> str:  # noqa: ANN401
    """Write a type out, and note what has to be imported for it."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, str):
        used.add(RETURNED_BY_NAME[annotation])
        return str(annotation)
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
    SOURCE.with_suffix(".pyi").write_text(stub(), "utf-8")
    PRESENTATION.with_suffix(".pyi").write_text(presentation_stub(), "utf-8")
