"""The commands: each reads a file, calls a verb and prints the frame."""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer

from balframe import __version__, datasets
from balframe.errors import BalframeError, InvalidInputError
from balframe.verbs.report import report as report_of

app = typer.Typer(
    name="balframe",
    help="How good is this classifier, for whom? Accuracy and balanced accuracy per segment.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_READERS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".csv": pl.scan_csv,
    ".parquet": pl.scan_parquet,
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"balframe {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    pass


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="A csv or parquet file.")],
    y_true: Annotated[str, typer.Option(help="Column of the true labels.")],
    y_pred: Annotated[list[str], typer.Option(help="Column of predictions; again for more.")],
    by: Annotated[
        list[str] | None, typer.Option(help="Column of segments; again for more.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help='Metric, or "all"; again for more.')
    ] = None,
    interval: Annotated[bool, typer.Option(help="Add 95% limits.")] = False,
    pos_label: Annotated[str | None, typer.Option(help="The positive label.")] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column of weights.")] = None,
    counts: Annotated[str | None, typer.Option(help="Column of row counts.")] = None,
    missing: Annotated[
        Literal["raise", "drop"], typer.Option(help="What to do about nulls.")
    ] = "raise",
    margins: Annotated[
        Literal["overall", "all"] | None, typer.Option(help="Roll-ups to add.")
    ] = None,
) -> None:
    """Score every segment of a file of predictions."""

    def compute() -> pl.DataFrame:
        rows = _read(file)
        return report_of(
            rows,
            y_true,
            y_pred if len(y_pred) > 1 else y_pred[0],
            by=by,
            metrics="all" if metric == ["all"] else metric,
            interval=True if interval else None,
            pos_label=None if pos_label is None else _label(pos_label, rows, y_true),
            sample_weight=sample_weight,
            counts=counts,
            missing=missing,
            margins=False if margins is None else margins,
        ).collect(engine="streaming")

    _print(compute, file)


@app.command()
def demo() -> None:
    """Score a published table: the COMPAS recidivism scores, by race."""
    typer.echo('COMPAS two-year recidivism, "high risk" = medium or high (ProPublica 2016)\n')
    metrics = ["accuracy", "balanced_accuracy", "false_positive_rate", "false_negative_rate"]
    _print(
        lambda: report_of(
            datasets.compas(),
            "reoffended",
            "high_risk",
            by="race",
            counts="n",
            metrics=metrics,
            margins="overall",
        ),
        None,
    )


def _read(file: Path) -> pl.LazyFrame:
    if not file.is_file():
        raise InvalidInputError(
            f"{str(file)!r} is not a file; give the path of a csv or parquet file."
        )
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise InvalidInputError(
            f"{file.name!r} ends in {file.suffix!r}; the files that can be read end in "
            f"{' or '.join(_READERS)}."
        )
    return reader(file)


def _label(text: str, rows: pl.LazyFrame, y_true: str) -> object:
    """Read a label as a value of the column of true labels."""
    dtype = rows.collect_schema().get(y_true)
    if dtype == pl.Boolean and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if dtype is not None and (dtype.is_integer() or dtype.is_float()):
        try:
            return float(text)
        except ValueError:
            return text
    return date.fromisoformat(text) if dtype == pl.Date else text


def _print(compute: Callable[[], pl.DataFrame], file: Path | None) -> None:
    """Print a frame in full, or one line about what is wrong with the input."""
    try:
        frame = compute()
    except (BalframeError, pl.exceptions.PolarsError, OSError, ValueError) as error:
        first_line = str(error).strip().splitlines()[0]
        where = "" if isinstance(error, BalframeError) or file is None else f"{file}: "
        typer.echo(f"balframe: {where}{first_line}", err=True)
        raise typer.Exit(2) from error
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=10_000,
        fmt_str_lengths=1_000,
        float_precision=3,
        tbl_cell_numeric_alignment="RIGHT",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="UTF8_FULL_CONDENSED" if _is_unicode() else "ASCII_FULL_CONDENSED",
    ):
        typer.echo(str(frame))


def _is_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
