"""Documents of verdicts: the rows of `check` or `monitor`, and what they were computed from."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from importlib import import_module
from importlib.resources import files
from math import isfinite
from os import PathLike, fspath
from typing import Any

import numpy as np

from balframe._file_identity import base_name, sha256_of_file
from balframe._validate import is_list, is_whole_number
from balframe.api.checked_arguments import checked_arguments
from balframe.api.columns import NOTE, Kind, Statuses
from balframe.api.method import Method, flat_options
from balframe.errors import (
    NAME,
    OPTION,
    InvalidInputError,
    UnsupportedTypeError,
    clipped,
    not_found,
)
from balframe.frames.concat import column_names
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.counted_frame import is_null
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import find_engine, is_frame
from balframe.frames.query import GROUPED_BY, margin_name
from balframe.methods import declarations
from balframe.methods.gates.rules import is_rule_file, read_rules
from balframe.methods.gates.verdicts import UNEXPECTED, is_warning
from balframe.tables.recognize import RecognizedResult, recognize_result

SCHEMA = "balframe.verdicts/1"  # the name and the version, which every document has
_FILE = "verdicts-1.schema.json"


@checked_arguments
def verdicts_schema() -> dict[str, Any]:
    """Return the JSON Schema of the documents of `bf.verdicts_document`.

    It is in draft 2020-12. The number in "balframe.verdicts/1" changes if a field is removed,
    renamed or changes its meaning. So a program that reads documents should check `schema` first.
    Later versions with the same number may add fields inside `summary`, `options` and `verdicts`.

    Returns
    -------
    dict
        The schema that the package ships as `balframe/verdicts/verdicts-1.schema.json`.
        `jsonschema.validate(document, bf.verdicts_schema())` checks a document.

    Examples
    --------
    >>> import balframe as bf
    >>> sorted(bf.verdicts_schema()["properties"])  # doctest: +NORMALIZE_WHITESPACE
    ['command', 'inputs', 'method', 'options', 'schema', 'summary', 'verdicts', 'version']
    """
    text = files("balframe.verdicts").joinpath(_FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


JsonScalar = str | int | float | bool | None


def json_scalar(value: Any) -> JsonScalar:  # noqa: ANN401 (of any library)
    """Return a value of a frame: dates in ISO 8601, null as None, and what JSON lacks as text."""
    if is_null(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(float(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def json_day(value: Any) -> JsonScalar:  # noqa: ANN401 (of any library)
    """Return a day, for which pandas has a time at midnight."""
    return json_scalar(value.date() if isinstance(value, datetime) else value)


def json_option(value: Any, is_path: Callable[[Any], bool] | None = None) -> Any:  # noqa: ANN401
    """Return the value of an option, with files by their names, and frames by their library.

    `is_path` is whether a text in it is a path.
    """
    if isinstance(value, PathLike) or (is_path is not None and is_path(value)):
        return base_name(value)
    if isinstance(value, Mapping):
        return {str(name): json_option(item, is_path) for name, item in value.items()}
    native, _ = unwrap(value)
    if is_frame(native):
        return f"a frame of {find_engine(native).name}"
    return [json_option(item, is_path) for item in value] if is_list(value) else json_scalar(value)


_NO_JUDGEMENT = ("frame", "backend", "detail")  # parameters that change no verdict

Inputs = Sequence[str | PathLike[str]] | Mapping[str | PathLike[str], int]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that verdicts were computed from.

    `option` is the parameter that read it, and None for the rows that are judged.
    """

    path: str
    sha256: str | None
    rows: int | None = None
    option: str | None = None


@checked_arguments
def verdicts_document(
    verdicts: object,
    *,
    options: Mapping[str, Any] | None = None,
    inputs: Inputs | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Return the verdicts of `check` or `monitor` as a document for programs and archives.

    It is what `balframe check --format json` writes, and `bf.verdicts_schema` describes it. It has
    no time of day: the same verdicts give the same document.

    Parameters
    ----------
    verdicts : frame
        The result of `check` or `monitor`, on any library or engine. A lazy frame is collected.
    options : mapping, optional
        The arguments of the call by their names, such as `{"by": "race", "level": 0.99}`. Options
        of the method that it leaves out are added with their defaults. The document has the parts
        of a value such as that of `bf.expected` as options of their own, as the command line has
        them. A frame is named by its library, and a file of rules without its folders. By default,
        `options` is None in the document: a result does not record how it was computed.
    inputs : list of paths, or mapping of paths to numbers of rows, optional
        The files that the rows were read from. Each is read again for its SHA-256.
    command : str, optional
        The command that computed the verdicts, if there was one.

    Returns
    -------
    dict
        What `json.dumps` can write:

        - `schema`: "balframe.verdicts/1"; `version`: that of balframe; `method`: "check" or
          "monitor"
        - `command`, `options`: as given, or None
        - `inputs`: for each file `path`, its name without folders; `sha256`; `rows`, the number of
          rows, or None; and `option`, which is None
        - `summary`: the number of verdicts of each status, and `expected_segments`, the number of
          expected segments that have a verdict, or None without `expect`. Verdicts of rules that
          only warn are counted separately, in `warnings`, if there are any. For `monitor` also
          `last_period`: the last `period` and the number of verdicts of each status in it.
        - `verdicts`: a dict for each row, with all its columns. Dates are text, and null is None.

    Raises
    ------
    BalframeError
        If the frame is not a result of `check` or `monitor`, an option is not one of the method, or
        a file cannot be read.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> options = {"counts": "n", "rules": ["n >= 100", "recall >= 0.6"]}
    >>> verdicts = bf.check(compas, "reoffended", "high_risk", **options)
    >>> document = bf.verdicts_document(verdicts, options=options)
    >>> document["summary"]
    {'pass': 2, 'fail': 0, 'inconclusive': 0, 'expected_segments': None}
    >>> document["options"]["level"]
    0.95
    >>> document["verdicts"][0]["rule"]
    'n >= 100'
    """
    result = collect_result(verdicts)
    recognized = recognize_result(
        column_names(result), refusal="bf.verdicts_document cannot describe"
    )
    method = declarations()[recognized.method]
    if command is not None and not isinstance(command, str):
        raise UnsupportedTypeError(
            "{command} has the type {}; give a text.", type(command).__qualname__, command=NAME
        )
    files = [] if inputs is None else _read_inputs(inputs)
    written = None if options is None else complete_options(method, options)
    return build_document(result, recognized, files, written, command)


def build_document(
    result: object,
    recognized: RecognizedResult,
    inputs: Sequence[InputFile],
    options: Mapping[str, Any] | None,
    command: str | None,
) -> dict[str, Any]:
    """Return the document of a result whose method and columns are known."""
    method = declarations()[recognized.method]
    statuses = method.statuses
    if statuses is None:
        with_statuses = [name for name, other in declarations().items() if other.statuses]
        raise InvalidInputError(
            f"the frame is a result of {recognized.method}, which has no verdicts; give a result "
            f"of {' or '.join(with_statuses)}."
        )
    days = {
        name for name, column in recognized.columns.items() if column.kind is Kind.DATE_OR_NULL
    } | {statuses.last_key}
    rows = [
        {
            str(name): json_day(value) if name in days else json_scalar(value)
            for name, value in row.items()
        }
        for row in row_dicts(result)
    ]
    return {
        "schema": SCHEMA,
        "version": import_module("balframe").__version__,
        "method": recognized.method,
        "command": command,
        "inputs": [asdict(file) for file in inputs],
        "options": None if options is None else dict(options),
        "summary": _summary(rows, recognized, statuses),
        "verdicts": rows,
    }


# The summary.


def _summary(
    rows: Sequence[Mapping[str, JsonScalar]], recognized: RecognizedResult, statuses: Statuses
) -> dict[str, Any]:
    deciding = [row for row in rows if not is_warning(row)]
    summary: dict[str, Any] = _status_counts(deciding, statuses)
    if len(deciding) < len(rows):
        summary["warnings"] = _status_counts([row for row in rows if is_warning(row)], statuses)
    summary["expected_segments"] = _n_expected(rows, recognized)
    key = statuses.last_key
    if key is not None:
        last = max((str(row[key]) for row in rows), default=None)
        of_last = [row for row in rows if row[key] == last]
        counts = {key: last, **_status_counts(of_last, statuses)}
        summary[f"last_{key}"] = None if last is None else counts
    return summary


def _status_counts(
    rows: Sequence[Mapping[str, JsonScalar]], statuses: Statuses
) -> dict[str, JsonScalar]:
    texts = [row["status"] for row in rows]
    return {text: texts.count(text) for text in statuses.texts}


def _n_expected(
    rows: Sequence[Mapping[str, JsonScalar]], recognized: RecognizedResult
) -> int | None:
    """Count the segments with a verdict that are expected; None if the result does not say it."""
    if NOTE not in recognized.columns:
        return None
    by = [str(name) for name in recognized.by]
    has_margins, finest = GROUPED_BY in recognized.columns, margin_name(by)
    over_segments = {
        text: read_rules([text])[0].is_over_segments for text in {str(row["rule"]) for row in rows}
    }
    segments = {
        tuple(row[name] for name in by)
        for row in rows
        if row[NOTE] != UNEXPECTED
        and not over_segments[str(row["rule"])]
        and (not has_margins or row[GROUPED_BY] == finest)
    }
    return len(segments)


# The options and files.


def complete_options(method: Method, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call that can change verdicts, with the defaults of the others."""
    if not isinstance(options, Mapping):
        raise UnsupportedTypeError(
            "{options} has the type {}; give a mapping of names to values, such as {}.",
            type(options).__qualname__,
            {"level": 0.99},
            options=OPTION,
        )
    for name in options:
        if name not in method.parameters:
            public = [each.name for each in method.parameters.values() if each.is_public]
            raise not_found("option", name, public, listing=f"help(bf.{method.name})")
    flat = flat_options(options, method.parameters)
    if flat.get("level", ...) is None and "decide" in method.parameters:
        flat |= {"level": method.parameters["level"].default, "decide": "estimate"}
    values = {
        name: flat.get(name, parameter.default)
        for name, parameter in method.parameters.items()
        if name not in _NO_JUDGEMENT and (name in flat or not parameter.is_required)
    }
    return {
        name: json_option(value, is_rule_file if name == "rules" else None)
        for name, value in values.items()
    }


def _read_inputs(inputs: Inputs) -> list[InputFile]:
    """Return the names of files with what identifies them."""
    paths: list[Any] = list(inputs) if is_list(inputs) or isinstance(inputs, Mapping) else [inputs]
    if not all(isinstance(path, (str, PathLike)) and fspath(path) for path in paths):
        raise InvalidInputError(
            "{inputs} is {}; give a list of paths, or a mapping of paths to numbers of rows.",
            clipped(repr(inputs)),
            inputs=OPTION,
        )
    n_rows: Mapping[Any, Any] = inputs if isinstance(inputs, Mapping) else dict.fromkeys(paths)
    for n in n_rows.values():
        if n is not None and not is_whole_number(n, 0):
            raise InvalidInputError(
                "{inputs} has {!r} as a number of rows; give a whole number, or a list of paths.",
                n,
                inputs=OPTION,
            )
    return [
        InputFile(base_name(path), sha256_of_file(path), None if n is None else int(n))
        for path, n in n_rows.items()
    ]
