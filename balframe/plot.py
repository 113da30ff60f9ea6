"""Charts of results: `bf.plot.report(df, "y", "yhat", by="group")`.

Each is also a method, `df.bal.plot.report("y", "yhat", by="group")`.
"""

from typing import TYPE_CHECKING, Any

from balframe._traceback import short_traceback
from balframe.methods import CHARTS, load_chart, names_in_groups

if TYPE_CHECKING:
    from balframe.methods.calibration.charts import calibration as calibration
    from balframe.methods.comparisons.charts import gaps as gaps
    from balframe.methods.gates.charts import power as power
    from balframe.methods.impact.charts import impact as impact
    from balframe.methods.monitoring.charts import monitor as monitor
    from balframe.methods.scores.charts import confusion as confusion
    from balframe.methods.scores.charts import report as report
    from balframe.methods.slices.charts import slices as slices
    from balframe.methods.thresholds.charts import curve as curve
    from balframe.methods.thresholds.charts import roc as roc

__all__ = sorted(names_in_groups(CHARTS))


@short_traceback
def __getattr__(name: str) -> Any:  # noqa: ANN401 (a function that draws)
    """Load a chart, and with it Altair, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from balframe.frames.engines.registry import check_installed  # and with it what reads frames

    check_installed("altair", "plot", "charts")
    return load_chart(name)


def __dir__() -> list[str]:
    return list(__all__)
