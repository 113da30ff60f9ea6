"""The options of verbs on what scores mean."""

from typing import Annotated

from balframe.api.options import Answers, Counted, Option


class Calibrating(Counted, Answers, total=False):
    """The options of all verbs on what scores mean."""

    resolution: Annotated[
        int | None,
        Option(
            "int, optional",
            "Round scores to multiples of 1 / resolution before they are counted. A distributed "
            "engine then sends at most that many distinct scores per unit and segment: 10000 "
            "rounds to multiples of 0.0001. By default, scores are exact.",
        ),
    ]
