"""Charts of the verbs: `bf.plot.report(df, "y", "yhat", by="group")`.

Each is also a method, `df.bal.plot.report("y", "yhat", by="group")`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from balframe.display.chart_of_confusion import confusion
    from balframe.display.chart_of_curve import curve
    from balframe.display.chart_of_gaps import gaps
    from balframe.display.chart_of_report import report
    from balframe.display.chart_of_roc import roc

__all__ = ["confusion", "curve", "gaps", "report", "roc"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a function that draws)
    """Load a chart, and with it Altair, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from balframe.frames.engines.supported import check_installed  # and with it what reads frames

    check_installed("altair", "plot", "charts")
    return getattr(import_module(f"balframe.display.chart_of_{name}"), name)


def __dir__() -> list[str]:
    return list(__all__)
