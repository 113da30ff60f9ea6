"""What a caller asks of confidence intervals: the method, the level and the prior."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from balframe.errors import InvalidInputError, check_choice, parameter
from balframe.stats.mean_recall_posterior import PRIORS

Method = Literal["score", "wilson", "scas", "jeffreys", "exact", "mover", "posterior"]
IntervalOption = bool | Method | None
Prior = Literal["uniform", "jeffreys"]

_OF_ROWS = ("jeffreys", "exact", "mover", "posterior")  # methods without limits of clusters
GATE = "gate"  # the method of limits that decide, which differs from kind to kind


@dataclass(frozen=True, slots=True)
class Request:
    """The method asked for (None: each metric's default), the level and the prior.

    `n_together` limits have to hold at once, which the level already allows for.
    """

    method: str | None
    level: float
    prior: str = "uniform"
    n_together: int = 1

    @classmethod
    def of(
        cls, interval: object, level: object, prior: object, cluster: object = None
    ) -> "Request | None":
        """Check what a caller asked for; None where no limits are asked for."""
        check_choice("interval", interval, (None, False, True, *get_args(Method)))
        check_choice("prior", prior, PRIORS)
        check_level(level)
        if interval is None or interval is False:
            return None
        check_suits_clusters(interval, cluster)
        return cls(None if interval is True else str(interval), float(level), str(prior))  # type: ignore[arg-type]

    def together(self, n: int) -> "Request":
        """Raise the level of each of n limits so that all hold at once at this one (Bonferroni)."""
        return replace(self, level=1 - (1 - self.level) / max(n, 1), n_together=n)


def check_suits_clusters(interval: object, cluster: object) -> None:
    """Raise if a method has no limits for rows in clusters."""
    if cluster is not None and interval in _OF_ROWS:
        raise InvalidInputError(
            f"{parameter('interval', interval)} needs independent rows and cannot be combined with "
            f"{parameter('cluster', cluster)}; give 'wilson', 'score' or 'scas', or omit one of "
            "the two."
        )


def check_level(level: object) -> None:
    """Raise unless the level is a probability."""
    is_number = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not is_number or not 0 < level < 1:  # type: ignore[operator]
        raise InvalidInputError(
            f"{parameter('level', level)} is not a confidence level; give a number between 0 and "
            "1, such as 0.95."
        )
