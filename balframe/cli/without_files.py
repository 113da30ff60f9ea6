"""The commands that read no files."""

from balframe.cli import outputs
from balframe.cli.running import Output, one_line_errors, show_answer
from balframe.cli.streams import Format, Out, Sort
from balframe.tables import datasets
from balframe.tables.list_metrics import list_metrics
from balframe.verbs.report import report as report_of


def metrics(format: Format = None, out: Out = None, sort: Sort = None) -> None:
    """List the metrics: names, formula, range, which way is better, source."""
    with one_line_errors():
        show_answer(list_metrics(), Output(format, out, sort))


def demo(format: Format = None, out: Out = None, sort: Sort = None) -> None:
    """Score a published table: the COMPAS recidivism scores, by race."""
    with one_line_errors():
        if outputs.format_of(format, out) == "table" and out is None:
            print('COMPAS two-year recidivism, "high risk" = medium or high (ProPublica 2016)\n')
        answer = report_of(
            datasets.compas(),
            "reoffended",
            "high_risk",
            by="race",
            counts="n",
            metrics=["accuracy", "balanced_accuracy", "false_positive_rate", "false_negative_rate"],
            margins="overall",
            interval=True,
        )
        show_answer(answer, Output(format, out, sort))
