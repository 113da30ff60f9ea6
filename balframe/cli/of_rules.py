"""The command on rules."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from balframe.cli import inputs
from balframe.cli import parameters as options
from balframe.cli.app import app
from balframe.cli.running import running
from balframe.frames.query import MAX_CELLS
from balframe.verbs.check import check as check_of


@app.command()
def check(
    files: options.Files,
    y_true: options.YTrue,
    y_pred: options.YPred,
    by: options.By = None,
    rule: Annotated[
        list[str] | None,
        options.option(
            "Rule, as in 'recall >= 0.7' or 'difference(recall) <= 0.1'; again for more.",
            "--rule",
            kind="RULE",
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        options.option("A .toml or .yaml file of rules, reasons, segments.", "--rules"),
    ] = None,
    allow_inconclusive: Annotated[
        bool, options.option("Exit with 0 where too few rows can tell.", "--allow-inconclusive")
    ] = False,
    decide: Annotated[
        Literal["confident", "estimate"],
        options.option("By limits of confidence, or by estimates alone."),
    ] = "confident",
    adjust: Annotated[
        Literal["bonferroni", "none"],
        options.option("Let limits hold in all segments at once."),
    ] = "bonferroni",
    min_support: options.MinSupport = 0,
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
    """Judge every segment by rules. Exit code 0: all pass; 1: one fails; 3: one is inconclusive."""
    with running(files, format, out, sort, of_rules=True, may_be_unknown=allow_inconclusive) as (
        rows,
        show,
    ):
        verdicts = show(
            check_of(
                rows,
                y_true,
                options.one_or_more(y_pred),
                by=by,
                rules=options.rules(rule, rules),
                decide=decide,
                adjust=None if adjust == "none" else adjust,
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
    statuses = verdicts.get_column("status")
    if "fail" in statuses:
        raise typer.Exit(1)
    if statuses.is_empty():
        print("balframe: there is no row to judge, so that no rule can pass.", file=sys.stderr)
    if statuses.is_empty() or (not allow_inconclusive and "inconclusive" in statuses):
        raise typer.Exit(3)
