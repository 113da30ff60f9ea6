"""The commands on scores."""

from typing import Annotated

from balframe.cli import inputs
from balframe.cli import parameters as options
from balframe.cli.app import app
from balframe.cli.running import running
from balframe.frames.query import MAX_CELLS
from balframe.verbs.best_threshold import best_threshold as best_threshold_of
from balframe.verbs.curve import curve as curve_of


@app.command()
def curve(
    files: options.Files,
    y_true: options.YTrue,
    y_score: options.YScore,
    by: options.By = None,
    thresholds: options.Thresholds = None,
    metric: options.Metric = None,
    interval: options.Interval = False,
    interval_method: options.IntervalMethod = None,
    level: options.Level = 0.95,
    class_weight: options.ClassWeights = None,
    band: Annotated[bool, options.option("Add a band for all of them at once.", "--band")] = False,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Score every segment at every threshold of a score."""
    with running(files, format, out, sort) as (rows, show):
        show(
            curve_of(
                rows,
                y_true,
                options.one_or_more(y_score),
                by=by,
                thresholds=inputs.thresholds(thresholds),
                metrics=options.metrics(metric),
                interval=options.interval(interval, interval_method),
                level=level,
                class_weight=inputs.class_weights(class_weight, rows, y_true),
                band=band,
                sample_weight=sample_weight,
                counts=counts,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )


@app.command(name="best-threshold")
def best_threshold(
    files: options.Files,
    y_true: options.YTrue,
    y_score: options.YScore,
    by: options.By = None,
    metric: Annotated[str, options.option("Metric to maximise.")] = "balanced_accuracy",
    thresholds: options.Thresholds = None,
    class_weight: options.ClassWeights = None,
    sample_weight: options.Weight = None,
    counts: options.Counts = None,
    label: options.Labels = None,
    pos_label: options.PosLabel = None,
    missing: options.Missing = "raise",
    margins: options.Margins = None,
    max_cells: options.MaxCells = MAX_CELLS,
    format: options.Format = None,
    out: options.Out = None,
    sort: options.Sort = None,
) -> None:
    """Find the threshold at which each segment scores best."""
    with running(files, format, out, sort) as (rows, show):
        show(
            best_threshold_of(
                rows,
                y_true,
                options.one_or_more(y_score),
                by=by,
                metric=metric,
                thresholds=inputs.thresholds(thresholds),
                class_weight=inputs.class_weights(class_weight, rows, y_true),
                sample_weight=sample_weight,
                counts=counts,
                labels=options.labels(label, rows, y_true),
                pos_label=options.pos_label(pos_label, rows, y_true),
                missing=missing,
                margins=margins or False,
                max_cells=max_cells,
            )
        )
