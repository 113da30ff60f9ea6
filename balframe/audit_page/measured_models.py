"""What `compare` answers: how the calls of several models differ on the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.groups import Difference
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import quietly
from balframe.audit_page.rates import BALANCED
from balframe.audit_page.request import Asked
from balframe.methods.comparisons.compare import compare

METRICS = ("accuracy", BALANCED)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models on the same rows: the difference of the first less the second, by metric."""

    first: str
    second: str
    differences: Sequence[Difference]


def pairs_of(frame: Any, asked: Asked) -> list[Pair]:  # noqa: ANN401 (a frame of any kind)
    """Compare the models with each other; cells of single models cannot be paired."""
    if len(asked.models) < 2 or asked.options["cells"]:
        return []
    options = {name: one for name, one in asked.options.items() if name != "cells"}
    rows = quietly(
        compare,
        frame,
        asked.y_true,
        [model.y_pred for model in asked.models],
        metrics=list(METRICS),
        adjust=None,
        level=asked.level,
        backend="polars",
        **options,
    )
    pairs: dict[tuple[str, str], list[Difference]] = {}
    for row in rows:
        difference = Estimate(row["difference"], row["lower"], row["upper"], row["n"])
        pairs.setdefault((row["model"], row["reference"]), []).append(
            Difference(difference, row["p_value"])
        )
    return [Pair(*names, differences) for names, differences in pairs.items()]
