"""What commands read and write: the files, and the options of the output."""

from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def _output(text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(help=text, rich_help_panel="Output", metavar=metavar)


Files = Annotated[
    list[str],
    typer.Argument(
        help="csv, tsv, parquet, ndjson or arrow files, patterns such as 'day=*/*.parquet', or - "
        "for csv on standard input.",
        show_default=False,
    ),
]
Format = Annotated[
    Literal["table", "csv", "json", "ndjson", "markdown", "parquet", "junit"] | None,
    _output("By default a table on a terminal, csv in a pipe, for --out its ending."),
]
Out = Annotated[Path | None, _output("File to write to.")]
Sort = Annotated[
    list[str] | None,
    _output("Column to sort by, with a minus before it descending; again for more.", "COLUMN"),
]
OUTPUT = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    for name, annotation in (("format", Format), ("out", Out), ("sort", Sort))
]
