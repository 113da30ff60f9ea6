"""The command `metrics`, which reads no files."""

from balframe.cli.run import Output, one_line_errors, show_answer
from balframe.cli.streams import Format, Out, Sort
from balframe.data.list_metrics import list_metrics


def metrics_command(format: Format = None, out: Out = None, sort: Sort = None) -> None:
    """List the metrics: name, aliases, formula, range, which direction is better, and source."""
    with one_line_errors():
        show_answer(list_metrics(), Output(format, out, sort))
