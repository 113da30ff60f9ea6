"""Signatures that `help` shows are short, in words that callers write, and true."""

import inspect
import pydoc
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.accessor import public_functions
from balframe.api.checked_arguments import type_text
from balframe.api.method import function_parameters
from balframe.core.label_set import Label
from balframe.frames.adapter import FrameT
from tests.support.cases import cases

FUNCTIONS = [(bf, name) for name in public_functions()] + [(bf.plot, name) for name in dir(bf.plot)]
NO_METHODS = [
    *("combine", "from_matrix", "list_metrics", "long", "passed", "slice_filter", "table"),
    *("verdicts_document", "verdicts_schema", "correct", "design", "expected", "label_set"),
]
NOISE = ["Annotated", "Option(", "Unpack", "typing.", "collections.", "balframe.", "datetime.", "~"]
LONGEST = 120  # of a parameter; that of `rules` may be a list of mappings of rules, or a file


def help_of(function):
    return pydoc.plain(pydoc.render_doc(function))


def without_blanks(text):
    return "".join(text.split())  # as newer versions of Python write one parameter a line


@cases(
    ("type_", "text"),
    [
        (Hashable | Sequence[Hashable] | None, "str | list[str] | None"),
        (
            str | Mapping[Label, float] | Literal["x"] | None,
            "str | dict[Label, float] | Literal['x'] | None",
        ),
        (Label | None, "Label | None"),
        (Hashable | str, "str"),
        (int | tuple[Literal["quantiles"], int], "int | tuple[Literal['quantiles'], int]"),
        (Callable[[int, Any], None], "Callable[[int, Any], None]"),
        (FrameT, "Frame"),
        (object, "Frame"),
    ],
)
def test_types_are_written_with_builtins_and_without_modules(type_, text):
    assert type_text(type_) == repr(type_text(type_)) == text


def test_the_signature_of_classes_reads_as_a_call():
    assert str(inspect.signature(bf.classes)) == (
        "(frame: Frame, y_true: str, y_pred: str | list[str] | None, *, "
        "by: str | list[str] | None = None, interval: bool | str | None = None, "
        "level: float = 0.95, cluster: str | None = None, sample_weight: str | None = None, "
        "counts: str | None = None, pos_label: Label | None = None, "
        "labels: list[Label] | LabelSetting | None = None, "
        "missing: Literal['raise', 'drop', 'correct', 'bounds'] | Correction = 'raise', "
        "margins: Literal[False, 'overall', 'all'] = False) "
        "-> Frame"
    )


@cases(("module", "name"), [*FUNCTIONS, *((bf, name) for name in NO_METHODS)])
def test_help_shows_short_types_and_no_machinery(module, name):
    function = getattr(module, name)
    signature = inspect.signature(function)
    shown = f"{name}{signature}"

    assert [word for word in NOISE if word in shown] == []
    if inspect.isfunction(function):  # the help of an object, `bf.table`, has no signature
        assert without_blanks(shown) in without_blanks(help_of(function))
    for parameter in signature.parameters.values():
        is_a_file = parameter.name == "rules"
        assert len(str(parameter)) <= LONGEST + 30 * is_a_file, str(parameter)


@cases(("module", "name"), FUNCTIONS)
def test_the_defaults_of_signatures_are_those_of_the_declaration(module, name):
    function = getattr(module, name)
    signature = inspect.signature(function)

    assert {each.name: each.default for each in signature.parameters.values()} == {
        each.name: each.default for each in function_parameters(function).values() if each.is_public
    }


@cases(("module", "name"), FUNCTIONS)
def test_annotations_keep_the_types_for_programs(module, name):
    function = getattr(module, name)
    hints = typing.get_type_hints(function, include_extras=True)
    own = [each for each in hints if each in inspect.signature(function).parameters]

    assert own[:1] == ["frame"]
    assert [each for each in own if isinstance(hints[each], str)] == []


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_help_of_the_namespace_leaves_out_the_frame(library):
    shown = without_blanks(help_of(library().bal.report))
    expected = "report(y_true: str = None, y_pred: str | list[str] | None = None, *, by:"

    assert without_blanks(expected) in shown
