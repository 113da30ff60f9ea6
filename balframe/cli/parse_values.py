"""Text of the command line to the values of parameters."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl

from balframe.errors import InvalidInputError


def label(text: str, rows: pl.LazyFrame, name: str | None) -> Any:  # noqa: ANN401
    """Read a label as a value of a column; left as text where that cannot be."""
    dtype = None if name is None else rows.collect_schema().get(name)
    if dtype == pl.Boolean and text.lower() in ("true", "false"):
        return text.lower() == "true"
    readers: list[Callable[[str], Any]] = []
    if dtype is not None and dtype.is_numeric():
        readers = [int, float]
    elif dtype == pl.Date:
        readers = [date.fromisoformat]
    elif isinstance(dtype, pl.Datetime):
        readers = [datetime.fromisoformat]
    for read in readers:
        try:
            return read(text)
        except ValueError:
            continue
    return text


def class_weights(
    texts: Sequence[str], rows: pl.LazyFrame, y_true: str
) -> Mapping[Any, float] | Literal["balanced", "prevalence"]:
    """Read "yes=0.8" for every label, or one of the names of weightings."""
    if len(texts) == 1 and texts[0] in ("balanced", "prevalence"):
        return texts[0]  # type: ignore[return-value]
    weights = {}
    for text in texts:
        name, mark, weight = text.rpartition("=")
        read = label(name, rows, y_true)
        if read in weights:
            raise InvalidInputError(
                f"--class-weight gives {name!r} more than one weight; give one."
            )
        try:
            weights[read] = float(weight)
        except ValueError:
            mark = ""
        if not mark:
            raise InvalidInputError(
                f"--class-weight {text!r} is not valid; give a label and its weight, as in "
                "yes=0.8, or give balanced or prevalence."
            )
    return weights


def one_or_more(names: Sequence[str]) -> str | list[str]:
    """Give one name alone, and several as a list."""
    return list(names) if len(names) > 1 else names[0]


def metrics(texts: Sequence[str]) -> Any:  # noqa: ANN401
    """Read names, or new names with names, as in acc=accuracy."""
    if not any("=" in text for text in texts):
        return one_or_more(texts)
    unclear = next((text for text in texts if text.count("=") > 1), None)
    if unclear is not None:
        raise InvalidInputError(
            f"--metric {unclear!r} has more than one =; give a metric, or a new name and a metric, "
            "as in acc=accuracy."
        )
    pairs = [(text.partition("=")[0], text.rpartition("=")[2]) for text in texts]
    if len(dict(pairs)) < len(pairs):
        raise InvalidInputError("--metric gives two metrics the same name; give each its own.")
    return dict(pairs)


def rules(texts: list[str] | None, file: Path | None) -> list[str] | Path:
    """Take rules from the command line or from a file."""
    if (not texts) == (file is None):
        raise InvalidInputError(
            "give rules either one by one with --rule 'recall >= 0.7', or in a file with --rules "
            "gate.toml."
        )
    return file if file is not None else list(texts or [])


def pair(text: str) -> tuple[str, ...]:
    """Read two words with a comma between them."""
    words = tuple(word.strip() for word in text.split(","))
    if len(words) != 2 or not all(words):
        raise InvalidInputError(
            f"--unit {text!r} is no pair of words; give the singular and the plural, separated by "
            "a comma, as in person,people."
        )
    return words


def thresholds(text: str) -> Any:  # noqa: ANN401
    """Read a number of thresholds, a list "0.2,0.5", or "quantiles,10"."""
    kind, _, size = text.partition(",")
    try:
        if kind.strip() == "quantiles":
            return "quantiles", int(size)
        return [float(one) for one in text.split(",")] if "," in text else _number(text)
    except ValueError as error:
        raise InvalidInputError(
            f"--thresholds {text!r} is not valid; give a number of thresholds, as in 101, a list, "
            "as in 0.2,0.5, or quantiles,10 for 10 quantiles of the scores."
        ) from error


def _number(text: str) -> int | list[float]:
    return int(text) if text.strip().isdigit() else [float(text)]


def bins(texts: Sequence[str]) -> Any:  # noqa: ANN401
    """Read a number of bins for all columns, or bins or edges for each: age=18,25,45."""
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return _bins(texts[0])
        of_columns = {}
        for text in texts:
            name, mark, asked = text.rpartition("=")
            if not (mark and name) or name in of_columns:
                raise ValueError(text)
            of_columns[name] = _bins(asked)
    except ValueError as error:
        raise InvalidInputError(
            f"--bins {' '.join(texts)!r} is not valid; give a number of bins, as in 4, none, or "
            "one of them or the edges for each column, as in age=18,25,45."
        ) from error
    return of_columns


def _bins(text: str) -> int | list[float] | None:
    if text == "none":
        return None
    if "," in text:  # after a single edge, too
        return [_as_number(one) for one in text.removesuffix(",").split(",")]
    return int(text)


def _as_number(text: str) -> float:
    return int(text) if text.strip().lstrip("-").isdigit() else float(text)
