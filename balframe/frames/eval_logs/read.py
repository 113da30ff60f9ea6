"""Find out which tools have written logs, and read them into one frame."""

import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from glob import glob
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import polars as pl

from balframe._validate import check_choice, is_list
from balframe.errors import (
    NAME,
    InvalidInputError,
    Spelled,
    UnsupportedTypeError,
    first_line,
    listed,
    not_found,
    parameter,
    warn,
)
from balframe.frames.eval_logs import readers
from balframe.frames.eval_logs.eval_file import ENDINGS, EvalFile, UnreadableLogError, is_frame
from balframe.frames.eval_logs.schema import CATEGORY, COLUMNS, EvalReader, EvalResult, Rows

ENTRY_POINTS = "balframe.eval_readers"
ALL_METRICS = "all"
_ONE_METRIC = Spelled(
    'Give one as metric=, or metric="all" and name the column in by="metric".',
    "Give one as --eval metric=NAME, or name the column of metrics in --by metric.",
)


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What to read of logs: which metric, which categories, and what errors count as."""

    metric: str | Sequence[str] | None = None
    category: str | Sequence[str] | None = None
    errors: str = "null"
    invalid: str = "keep"

    def __post_init__(self) -> None:
        """Raise for an unknown option."""
        check_choice("errors", self.errors, ("null", "fail", "drop"))
        check_choice("invalid", self.invalid, ("keep", "drop"))
        for name, value in (("metric", self.metric), ("category", self.category)):
            names = _names(value) if isinstance(value, str) or is_list(value) else [value]
            if value is not None and not (names and all(isinstance(n, str) for n in names)):
                raise UnsupportedTypeError(
                    "{} is not a name, or a list of some.", parameter(name, value)
                )

    def metrics(self, default: str | None) -> set[str] | None:
        """Return which metrics are read where a tool has a default; None for all."""
        if self.metric is None:
            return None if default is None else {default}
        return None if self.metric == ALL_METRICS else {*_names(self.metric)}

    def categories(self) -> tuple[list[str], list[str]]:
        """Return the fields that are categories, and the columns that they become."""
        if self.category is None or isinstance(self.category, str):
            return [self.category or CATEGORY], [CATEGORY]
        names = _names(self.category)
        taken = [name for name in names if name in COLUMNS and name != CATEGORY]
        if taken or len({*names}) < len(names):
            raise InvalidInputError(
                "{category} names {!r}, which is a column already. Give other fields, once each.",
                *(taken or names[:1]),
                category=NAME,
            )
        return names, names


def _names(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


@cache
def eval_readers() -> tuple[EvalReader, ...]:
    """Return the readers of this package, and those that other packages offer."""
    modules = sorted(module.name for module in pkgutil.iter_modules(readers.__path__))
    own = [import_module(f"{readers.__name__}.{name}").READER for name in modules]
    others = [point.load() for point in entry_points(group=ENTRY_POINTS)]
    return (*own, *others)


def find_reader(file: EvalFile) -> EvalReader | None:
    """Return the reader that recognises a log; None if no tool is known to write such."""
    with _naming(file):
        return next((reader for reader in eval_readers() if reader.recognizes(file)), None)


def tools() -> str:
    """Return the names of the tools whose logs are read."""
    return listed(dict.fromkeys(reader.tool for reader in eval_readers()))


def read_logs(sources: Any, options: EvalOptions) -> tuple[pl.DataFrame, str]:  # noqa: ANN401
    """Read logs into one frame, and say in a line what was read."""
    n_files = n_skipped = 0
    keys, names = options.categories()
    rows = Rows(keys, names, options.errors, options.invalid)
    for model, of_model in _by_model(sources):
        files, n_others = _files(of_model)
        n_files, n_skipped = n_files + len(files), n_skipped + n_others
        for file, reader in files:
            with _naming(file):
                results = _checked(reader.read(file), model)
                rows.add(results, reader.tool, options.metrics(reader.default_metric))
    if not n_files:
        raise InvalidInputError("{paths} names no logs; give at least one.", paths=sources)
    frame = rows.frame()
    _check_metrics(frame, options)
    _check_categories(keys, options, rows.fields)
    _warn_of_repeats(frame)
    return frame, _summary(frame, n_files, n_skipped)


def _by_model(sources: Any) -> list[tuple[str | None, Any]]:  # noqa: ANN401
    """Return the logs of each model that a mapping names, which itself is not a document."""
    is_named = isinstance(sources, Mapping) and find_reader(EvalFile(sources)) is None
    return [(str(name), logs) for name, logs in sources.items()] if is_named else [(None, sources)]


def _files(sources: Any) -> tuple[list[tuple[EvalFile, EvalReader]], int]:  # noqa: ANN401
    """Return each log with its reader, and how many files of folders are none."""
    files: list[tuple[EvalFile, EvalReader]] = []
    n_skipped = 0
    for source in _sources(sources):
        is_folder = isinstance(source, Path) and source.is_dir()
        candidates = _in_folder(source) if is_folder else [source]
        n_before = len(files)
        for candidate in candidates:
            file = EvalFile(candidate)
            reader = find_reader(file)
            if reader is not None:
                files.append((file, reader))
            elif is_folder:
                n_skipped += 1
            else:
                raise _unknown(file)
        if is_folder and len(files) == n_before:
            raise InvalidInputError(
                f"the folder '{source}' has no log of a known tool. Known are {tools()}."
            )
    return files, n_skipped


def _sources(sources: Any) -> Iterator[Any]:  # noqa: ANN401
    """Iterate over paths, frames and documents; a list of records is one."""
    if isinstance(sources, (str, Path)):
        yield from _places(sources)
    elif _is_list(sources):
        values = list(sources)
        if all(isinstance(value, (str, Path)) or is_frame(value) for value in values):
            for value in values:
                yield from _sources(value)
        else:
            yield values
    elif sources is None or isinstance(sources, (int, float, bytes)):
        raise UnsupportedTypeError(
            "{paths} has the type {}; give a path, a list of paths, or what a tool has returned.",
            type(sources).__qualname__,
            paths=NAME,
        )
    else:
        yield sources


def _is_list(sources: Any) -> bool:  # noqa: ANN401
    """Return whether this is a list, and not a frame or the result of a tool.

    Results of braintrust and ragas have `__getitem__`, and models of pydantic iterate over fields.
    """
    is_result = not isinstance(sources, Iterable) or hasattr(type(sources), "model_fields")
    return is_list(sources) and not is_result and not is_frame(sources)


def _places(path: str | Path) -> list[Path]:
    places = [Path(path)] if Path(path).exists() else sorted(map(Path, glob(str(path))))
    if not places:
        raise InvalidInputError("{paths} is no file, folder or pattern of files.", paths=path)
    return places


def _in_folder(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in ENDINGS and file.is_file())


def _unknown(file: EvalFile) -> InvalidInputError:
    is_table = is_frame(file.source) or file.ending in (".csv", ".parquet")
    advice = (
        " A table of your own needs no reading: give its column of outcomes as outcome=."
        if is_table
        else ""
    )
    return InvalidInputError(
        f"{file.name} is not a log of a known tool. Known tools are {tools()}.{advice}"
    )


@contextmanager
def _naming(file: EvalFile) -> Iterator[None]:
    try:
        yield
    except UnreadableLogError as error:
        raise InvalidInputError(f"{file.name} {error}.") from error
    except (json.JSONDecodeError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise InvalidInputError(f"{file.name} is damaged, or not what its name ends in.") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"{file.name} does not have the form that its tool documents: "
            f"{first_line(repr(error))}."
        ) from error


def _checked(results: Iterable[EvalResult], model: str | None) -> Iterator[EvalResult]:
    """Iterate over the results of a log, of the model if one is named; raise if it has none."""
    is_empty, models = True, set()
    for result in results:
        is_empty = False
        models.add(result.model)
        if model is not None and len(models) > 1:
            raise UnreadableLogError(f"has several models, but is named as of {model!r} alone")
        yield result if model is None else replace(result, model=model)
    if is_empty:
        raise UnreadableLogError("has no results: no sample was scored by any metric")


def _check_metrics(frame: pl.DataFrame, options: EvalOptions) -> None:
    """Raise if metrics would be counted together, or a requested one is in no log."""
    counts = dict(frame["metric"].value_counts(sort=True).rows())
    if options.metric is None and len(counts) > 1:
        raise InvalidInputError(
            "the logs have {} metrics, which are not to be counted together: {}. {}",
            len(counts),
            listed(map(repr, sorted(counts))),
            _ONE_METRIC,
        )
    for name in [] if options.metric in (None, ALL_METRICS) else _names(options.metric or ()):
        if name not in counts:
            raise not_found("metric", name, sorted(counts))


def _check_categories(keys: list[str], options: EvalOptions, fields: set[str]) -> None:
    for key in [] if options.category is None else keys:
        if key not in fields:
            raise not_found("category", key, sorted(fields))


def _warn_of_repeats(frame: pl.DataFrame) -> None:
    n_repeated = frame.height - frame.n_unique(["item", "trial", "model", "metric"])
    if n_repeated:
        warn(
            "{:,} of {:,} results repeat an item, trial, model and metric, as of an evaluation "
            "that was run twice. Read its runs one by one, or renumber their trials.",
            n_repeated,
            frame.height,
        )


def _summary(frame: pl.DataFrame, n_files: int, n_skipped: int) -> str:
    has_error = pl.col("error").is_not_null().any()
    trials = frame.group_by("item", "trial", "model").agg(has_error, pl.col("invalid").any())
    counts = {
        "task": frame["task"].drop_nulls().n_unique(),
        "model": frame["model"].drop_nulls().n_unique(),
        "item": frame["item"].n_unique(),
        "trial": trials.height,
    }
    n_unscored = frame.filter(pl.col("score").is_null() & pl.col("passed").is_null()).height
    parts = [_plural(count, noun) for noun, count in counts.items() if count]
    skipped = f"; {_plural(n_skipped, 'file')} left out" if n_skipped else ""
    return (
        f"read {_plural(n_files, 'log')} of {listed(sorted(frame['tool'].unique()))}: "
        f"{', '.join(parts)}; {trials['error'].sum():,} with an error, "
        f"{trials['invalid'].sum():,} invalid, {n_unscored:,} of {_plural(frame.height, 'result')}"
        f" without a score{skipped}"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def say(summary: str) -> None:
    """Write what was read to the standard error."""
    print(f"balframe: {summary}", file=sys.stderr)
