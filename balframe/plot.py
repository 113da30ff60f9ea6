"""Charts of results: `bf.plot.report(df, "y", "yhat", by="group")`.

Each is also a method, `df.bal.plot.report("y", "yhat", by="group")`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from balframe import display

if TYPE_CHECKING:
    from balframe.display.chart_of_calibration import calibration as calibration
    from balframe.display.chart_of_confusion import confusion as confusion
    from balframe.display.chart_of_curve import curve as curve
    from balframe.display.chart_of_gaps import gaps as gaps
    from balframe.display.chart_of_impact import impact as impact
    from balframe.display.chart_of_monitor import monitor as monitor
    from balframe.display.chart_of_power import power as power
    from balframe.display.chart_of_report import report as report
    from balframe.display.chart_of_roc import roc as roc
    from balframe.display.chart_of_slices import slices as slices

_FILES = "chart_of_"

__all__ = sorted(
    found.name.removeprefix(_FILES)
    for found in iter_modules(display.__path__)
    if found.name.startswith(_FILES)
)


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a function that draws)
    """Load a chart, and with it Altair, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from balframe.frames.engines.supported import check_installed  # and with it what reads frames

    check_installed("altair", "plot", "charts")
    return getattr(import_module(f"{display.__name__}.{_FILES}{name}"), name)


def __dir__() -> list[str]:
    return list(__all__)
