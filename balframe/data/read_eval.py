"""The function `read_eval`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balframe.api.checked_arguments import checked_arguments
from balframe.frames.convert_result import convert_result
from balframe.frames.eval_logs.read import EvalOptions, read_logs, say
from balframe.frames.register_accessor import only_library_of_caller


@checked_arguments
def read_eval(
    paths: str | Path | Sequence[Any] | Mapping[str, Any] | object,
    *,
    metric: str | Sequence[str] | None = None,
    category: str | Sequence[str] | None = None,
    errors: str = "null",
    invalid: str = "keep",
    backend: str | None = None,
) -> Any:  # noqa: ANN401 (a frame of a library)
    """Read logs of tools that evaluate language models: a row for each item, trial and metric.

    The tools are those of the [guide](../how-to/evaluate-llms.md#logs); none of them has to be
    installed. A line on the standard error sums up what was read.

    Parameters
    ----------
    paths : path, list of paths, dict or object
        Files, folders of such files, or patterns such as "logs/*.eval"; or what a tool returned in
        Python, such as a frame of results. Files of a folder that are not logs are left out. A
        dict from names of models to such logs names models where the tool does not.
    metric : str or list of str, optional
        The metric, or several, or "all". By default it is the verdict over all metrics in logs that
        have one, as of promptfoo, and otherwise the only metric.
    category : str or list of str, optional
        The field of the metadata, variables or columns of an item that becomes the column
        `category`; of several, each becomes a column of its own. By default `category`.
    errors : {"null", "fail", "drop"}, default "null"
        Whether results that an error left without a score have no outcome, or count as failed, or
        are left out.
    invalid : {"keep", "drop"}, default "keep"
        Whether samples that the tool marks as invalid are kept.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the result. By default pandas if you have imported pandas and not polars, and
        otherwise polars.

    Returns
    -------
    frame of the library
        One row for each item, trial, model and metric, with the columns

        - `tool`, `task`: texts; `task` may be null
        - `item`: the item; with a task, "task/item"
        - `trial`: the number of the trial, from 1; an epoch, a sample or a repeat
        - `model`, `category`, `metric`: texts; `model` and `category` may be null
        - `passed`: the verdict of the tool, or else true at a score of 1, false at 0, and null at
          other scores or without one
        - `score`: a number, null without one; NaN counts as none
        - `target`, `answer`, `error`: texts, where the log has them
        - `invalid`: whether the tool marks the sample as invalid
        - `seed`, `input_tokens`, `output_tokens`, `seconds`: numbers, where the log has them

    Raises
    ------
    InvalidInputError
        If there is no such file, or none of a known tool and version, or one is damaged or has no
        results; or if there are several metrics, and `metric` names none.
    UnknownNameError
        If no log has the metric or the category.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import balframe as bf
    >>> cases = [{"input": "1 + 1", "success": True}, {"input": "1 + 2", "success": False}]
    >>> for case in cases:
    ...     metric = {"name": "Exact", "score": float(case["success"]), "success": case["success"]}
    ...     case["metricsData"] = [metric]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "run.json")
    ...     _ = log.write_text(json.dumps({"testCases": cases}))
    ...     runs = bf.read_eval(log, metric="Exact", backend="polars")
    >>> runs.select("item", "trial", "metric", "passed").rows()
    [('1 + 1', 1, 'Exact', True), ('1 + 2', 1, 'Exact', False)]
    """
    frame, summary = read_logs(paths, EvalOptions(metric, category, errors, invalid))
    say(summary)
    return convert_result(frame, backend or only_library_of_caller() or "polars")
