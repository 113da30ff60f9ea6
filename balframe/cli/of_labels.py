"""The commands on predicted labels: each reads files, calls a verb and shows the frame."""

from typing import Annotated, Literal

from balframe.cli import inputs
from balframe.cli import parameters as options
from balframe.cli.app import app
from balframe.cli.running import running
from balframe.frames.query import MAX_CELLS
from balframe.verbs.classes import classes as classes_of
from balframe.verbs.confusion import confusion as confusion_of
from balframe.verbs.disparity import disparity as disparity_of
from balframe.verbs.gaps import gaps as gaps_of
from balframe.verbs.report import report as report_of


@app.command()
def report(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.By = None,
    metric: options.Metric = None,
    interval: options.Interval = False,
    interval_method: options.IntervalMethod = None,
    level: options.Level = 0.95,
    class_weight: options.ClassWeights = None,
    absent: Annotated[
        Literal["skip", "null", "zero"],
        options.option(
            "A label without rows in a segment: skip it in averages, make them null, or count 0."
        ),
    ] = "skip",
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    cells: options.Cells = False,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Score every segment: accuracy, balanced accuracy, any other metric."""
    with running(files, format, out, sort) as (rows, show):
        show(
            report_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                metrics=options.metrics(metric),
                interval=options.interval(interval, interval_method),
                level=level,
                class_weight=inputs.class_weights(class_weight, rows, y_true),
                absent=absent,
                sample_weight=sample_weight,
                counts=counts,
                cells=cells,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )


@app.command()
def classes(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.By = None,
    interval: options.Interval = False,
    interval_method: options.IntervalMethod = None,
    level: options.Level = 0.95,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    cells: options.Cells = False,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Score every label of every segment against the others."""
    with running(files, format, out, sort) as (rows, show):
        show(
            classes_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                interval=options.interval(interval, interval_method),
                level=level,
                sample_weight=sample_weight,
                counts=counts,
                cells=cells,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )


@app.command()
def confusion(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.By = None,
    complete: Annotated[
        bool, options.option("Show pairs of labels without rows too.", "--complete")
    ] = False,
    normalize: Annotated[
        Literal["true", "pred", "all"] | None,
        options.option("Add shares: of a true label, of a predicted label, of all rows."),
    ] = None,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    cells: options.Cells = False,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Count rows by segment, true label and predicted label."""
    with running(files, format, out, sort) as (rows, show):
        show(
            confusion_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                complete=complete,
                normalize=normalize,
                sample_weight=sample_weight,
                counts=counts,
                cells=cells,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )


@app.command()
def gaps(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.NeededBy,
    metric: options.Metric = None,
    reference: Annotated[
        str,
        options.option(
            "rest, overall, largest, best, worst, or the value of a segment.", kind="SEGMENT"
        ),
    ] = "rest",
    adjust: Annotated[
        Literal["bh", "holm", "none"], options.option("How p-values are adjusted for their number.")
    ] = "bh",
    class_weight: options.ClassWeights = None,
    level: options.Level = 0.95,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    cells: options.Cells = False,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Compare every segment with the rest, or with another reference."""
    with running(files, format, out, sort) as (rows, show):
        show(
            gaps_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                metrics=options.metrics(metric),
                reference=options.reference(reference, rows, by),
                adjust=None if adjust == "none" else adjust,
                class_weight=inputs.class_weights(class_weight, rows, y_true),
                level=level,
                sample_weight=sample_weight,
                counts=counts,
                cells=cells,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )


@app.command()
def disparity(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.NeededBy,
    metric: options.Metric = None,
    min_support: options.MinSupport = 1,
    class_weight: options.ClassWeights = None,
    level: options.Level = 0.95,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    cells: options.Cells = False,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Find the segments furthest apart, and whether all are alike."""
    with running(files, format, out, sort) as (rows, show):
        show(
            disparity_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                metrics=options.metrics(metric),
                min_support=min_support,
                class_weight=inputs.class_weights(class_weight, rows, y_true),
                level=level,
                sample_weight=sample_weight,
                counts=counts,
                cells=cells,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )
