"""Frames of arize-phoenix-evals, as `evaluate_dataframe` returns them, or saved as a file."""

import ast
import json
from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_DETAILS, _SCORE = "_execution_details", "_score"
_COMPLETED = "COMPLETED"
_IDS = ("context.span_id", "span_id", "example_id", "id", "index", "", "__index_level_0__")
_TARGETS = ("expected", "reference")


def _recognizes(file: EvalFile) -> bool:
    if file.is_document:
        return False
    return any(
        name.endswith(_DETAILS) and "status" in str(cell) and "exceptions" in str(cell)
        for name, cell in file.head.items()
        if isinstance(name, str)
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read a frame. An evaluator may give several scores, under names that are not its own.

    A column `model` names the model. A score that is to be low passes at 0, and fails at 1.
    """
    evaluators, scores = _evaluators(file), _scores(file)
    others = [name for name in evaluators if name not in scores]
    metrics = scores if {*scores} - {*evaluators} else [*scores, *others]
    results = [name + _SCORE for name in scores] + [name + _DETAILS for name in evaluators]
    for position, row in enumerate(file.records()):
        columns = {name: cell for name, cell in row.items() if name not in results}
        errors = {name: _error(row[name + _DETAILS]) for name in evaluators}
        for metric in metrics:
            score = _structure(row.get(metric + _SCORE)) or {}
            value = number(score.get("score"))
            sources = [metric] if metric in errors else others
            failures = [errors[name] for name in sources if errors[name]]
            passes_low = score.get("direction") == "minimize" and value in (0, 1)
            yield EvalResult(
                item=_item(file, row, position),
                metric=metric,
                model=text(row.get("model")),
                score=value,
                passed=value == 0 if passes_low else None,
                metadata={"label": score.get("label"), **columns},
                target=next((row[name] for name in _TARGETS if name in row), None),
                answer=row.get("output"),
                error=None if score or not failures else "; ".join(map(str, failures)),
            )


def _evaluators(file: EvalFile) -> list[str]:
    return [name.removesuffix(_DETAILS) for name in file.head if name.endswith(_DETAILS)]


def _scores(file: EvalFile) -> list[str]:
    """Return the names of scores; a column of the user may end like theirs."""
    names: dict[str, None] = {}
    for row in file.records():
        for name, cell in row.items():
            is_candidate = name.endswith(_SCORE) and name.removesuffix(_SCORE) not in names
            if is_candidate and "'direction'" in str(cell).replace('"', "'"):
                names[name.removesuffix(_SCORE)] = None
    return list(names)


def _item(file: EvalFile, row: Document, position: int) -> str:
    """Return the index of a pandas frame, an id of a span or example, or else the position."""
    if type(file.source).__module__.startswith("pandas"):
        return str(next(iter(row.values())))
    return str(next((row[name] for name in _IDS if row.get(name) is not None), position))


def _error(cell: object) -> str | None:
    """Return why an evaluator gave no score: its last exception, or that it did not run."""
    details = _structure(cell) or {}
    status = details.get("status")
    if status is None or status == _COMPLETED:
        return None
    exceptions = list(details.get("exceptions") or [])
    return str(exceptions[-1] if exceptions else status)


def _structure(cell: object) -> Document | None:
    """Return the fields of a cell; csv has them as Python or JSON writes them."""
    if not isinstance(cell, str) or not cell:
        return cell if isinstance(cell, dict) else None
    try:
        fields: Document = json.loads(cell)
    except ValueError:
        try:
            fields = ast.literal_eval(cell.replace("'score': nan", "'score': None"))
        except (SyntaxError, ValueError) as error:
            raise UnreadableLogError(f"has a cell that is not a dict: {cell!r}") from error
    return fields


READER = EvalReader("arize-phoenix-evals", "3.9.4", _recognizes, _read)
