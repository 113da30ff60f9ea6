"""What commands read and write: the files, and the options of the output."""

from collections.abc import Collection
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from balframe.cli.files.formats import InputFormat
from balframe.cli.files.open_files import Input


def _output(text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(help=text, rich_help_panel="Output", metavar=metavar)


Files = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, JSON or XLSX files, folders of such files, patterns such "
        "as 'day=*/*.parquet', or - for standard input.",
        metavar="FILES...",
        show_default=False,
    ),
]
Read = Annotated[
    InputFormat | None,
    typer.Option(
        "--input-format",
        help="One of csv, tsv, parquet, arrow, ndjson, json or xlsx. By default it follows from "
        "the file extension or, for standard input, from the first bytes.",
        metavar="FORMAT",
        rich_help_panel="Input",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Character that separates the fields of csv, such as ';' or tab. By default it is "
        "detected.",
        rich_help_panel="Input",
        metavar="CHARACTER",
    ),
]
Format = Annotated[
    Literal["table", "csv", "json", "ndjson", "markdown", "parquet", "junit"] | None,
    _output(
        "One of table, csv, json, ndjson, markdown, parquet or junit. By default it follows from "
        "the file extension of --out; without --out, it is table on a terminal and csv otherwise.",
        "FORMAT",
    ),
]
PageFormat = Annotated[
    Literal["html", "markdown"] | None,
    _output(
        "One of html or markdown. By default it follows from the file extension of --out; without "
        "--out, it is html.",
        "FORMAT",
    ),
]
Out = Annotated[Path | None, _output("Write to this file instead of standard output.", "FILE")]
Sort = Annotated[
    list[str] | None,
    _output(
        "Sort by this column of the table; -COLUMN sorts in descending order. Repeat for several.",
        "COLUMN",
    ),
]


def _options(**annotations: Any) -> list[Parameter]:  # noqa: ANN401
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in annotations.items()
    ]


INPUT = _options(input_format=Read, separator=Separator)
OUTPUT = _options(format=Format, out=Out, sort=Sort)
PAGE = _options(format=PageFormat, out=Out)


def input_of(files: Collection[str], typed: dict[str, Any], columns: Collection[str]) -> Input:
    """Take the options of the input from those of a verb, which names columns."""
    kind, separator = (typed.pop(one.name) for one in INPUT)
    return Input(list(files), kind, separator, columns)
