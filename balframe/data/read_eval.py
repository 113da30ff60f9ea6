"""The function `read_eval`."""

from collections.abc import Iterator, Sequence
from glob import glob
from itertools import chain
from pathlib import Path
from typing import Any

from balframe._validate import is_list
from balframe.api.checked_arguments import checked_arguments
from balframe.errors import NAME, InvalidInputError, UnsupportedTypeError
from balframe.frames.convert_result import convert_result
from balframe.frames.eval_logs.read import ENDINGS, TOOLS, read_if_log, read_log
from balframe.frames.eval_logs.results import Result, to_frame
from balframe.frames.register_accessor import only_library_of_caller


@checked_arguments
def read_eval(
    path: str | Path | Sequence[str | Path],
    *,
    category: str | None = None,
    backend: str | None = None,
) -> Any:  # noqa: ANN401 (a frame of a library)
    """Read logs of tools that evaluate language models: a row for each item, trial and metric.

    The tools are inspect_ai (`.eval` and `.json`), lm-evaluation-harness (`samples_*.jsonl`),
    promptfoo (`results.json`), OpenAI evals (records in `.jsonl`) and DeepEval (test runs in
    `.json`). None of them has to be installed.

    Parameters
    ----------
    path : path, or list of paths
        Files, folders of such files, or patterns such as "logs/*.eval". Files of a folder that are
        not logs are left out.
    category : str, optional
        The field that is the category of an item: of the metadata of a sample (inspect_ai,
        DeepEval), of a document (lm-evaluation-harness), of the variables or metadata of a test
        case (promptfoo), or of an event (OpenAI evals). By default `category`, or else the name of
        the task.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the result. By default pandas if you have imported pandas and not polars, and
        otherwise polars.

    Returns
    -------
    frame of the library
        One row for each item, trial, model and metric, with the columns

        - `item`: the item, such as the id of a sample
        - `trial`: the number of the trial, from 1
        - `model`, `category`, `metric`: texts; `category` may be null
        - `passed`: true at a score of 1, false at 0, and null at other scores or without one
        - `score`: a number; grades of inspect_ai are 1 (correct), 0.5 (partly) and 0

    Raises
    ------
    InvalidInputError
        If there is no such file, or none of a known tool and version, or one is damaged.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import balframe as bf
    >>> cases = [{"input": "1 + 1", "success": True}, {"input": "1 + 2", "success": False}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "run.json")
    ...     _ = log.write_text(json.dumps({"testCases": cases}))
    ...     runs = bf.read_eval(log, backend="polars")
    >>> runs.select("item", "trial", "metric", "passed").rows()
    [('1 + 1', 1, 'success', True), ('1 + 2', 1, 'success', False)]
    """
    paths = list(path) if is_list(path) else [path]
    places = list(chain.from_iterable(map(_places, paths)))
    frame = to_frame(chain.from_iterable(_results(place, category) for place in places))
    return convert_result(frame, backend or only_library_of_caller() or "polars")


def _places(path: object) -> list[Path]:
    """Return the files and folders of a path; raise if there are none."""
    if not isinstance(path, (str, Path)):
        raise UnsupportedTypeError(
            "{path} has the type {}; give a path, or a list of paths.",
            type(path).__qualname__,
            path=NAME,
        )
    places = [Path(path)] if Path(path).exists() else sorted(map(Path, glob(str(path))))
    if not places:
        raise InvalidInputError("{path} is no file, folder or pattern of files.", path=path)
    return places


def _results(place: Path, category: str | None) -> Iterator[Result]:
    """Return the results of a file, or of the logs in a folder; raise if it has none."""
    if not place.is_dir():
        yield from read_log(place, category)
        return
    has_logs = False
    for file in sorted(file for file in place.rglob("*") if file.suffix in ENDINGS):
        results = read_if_log(file, category)
        if results is not None:
            has_logs = True
            yield from results
    if not has_logs:
        raise InvalidInputError(
            f"the folder '{place}' has no log of a known tool. Known are {TOOLS}."
        )
