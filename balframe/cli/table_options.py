"""Options that a command needs not be given, because the table of runs that it reads has them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from balframe.errors import BalframeError
from balframe.frames.history.run_table import DATE, CellColumns, is_table, scan_table


def table_options(
    values: Mapping[str, Any], options: Collection[str], required: Collection[str]
) -> list[str]:
    """Return words to add to a command line that reads a single table of runs.

    They are the columns of labels, --cells, and the column of days where --every is given or --time
    is required. `values` are those that the command line has, `options` the names of all options,
    and `required` those of some.
    """
    files: Sequence[str] = values.get("files") or []
    if "cells" not in options or len(files) != 1 or not is_table(files[0]):
        return []
    try:
        columns = CellColumns.of(scan_table(files[0]).collect_schema().names(), files[0])
    except BalframeError:  # which reading the table reports
        return []
    words: list[str] = []
    for name, column in (("y_true", columns.y_true), ("y_pred", columns.y_pred)):
        if name in options and not values.get(name):
            words += [f"--{name.replace('_', '-')}", column]
    if not values.get("cells") and values.get("counts") is None:
        words.append("--cells")
    has_periods = values.get("every") is not None or "time" in required
    if has_periods and values.get("time") is None:
        words += ["--time", DATE]
    return words
