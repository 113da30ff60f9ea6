"""How methods are asked about the cells of a model."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from balframe.audit_page.counted import CALL, TRUTH, Counted, key_of
from balframe.audit_page.request import Asked
from balframe.core.label_set import Label
from balframe.errors import BalframeWarning
from balframe.frames.convert_result import row_dicts
from balframe.methods.scores.confusion import confusion

Row = Mapping[Any, Any]


@dataclass(frozen=True)
class Asking:
    """The cells of a model, and the options with which methods are asked about them."""

    counted: Counted
    asked: Asked
    cells: Any = field(default=None)

    def rows(
        self,
        method: Callable[..., Any],
        positive: Label | None = None,
        **options: Any,  # noqa: ANN401 (as the method's own)
    ) -> Sequence[Row]:
        """Ask a method on labels."""
        shared = {"labels": list(self.counted.labels), "pos_label": positive}
        given = self.counted.cells if self.cells is None else self.cells
        return quietly(method, given, TRUTH, CALL, cells=True, **shared, **options)

    def of_column(self, column: int) -> "Asking":
        """Keep one by-column."""
        key = key_of(column)
        cells = confusion(
            self.counted.cells, TRUTH, CALL, by=key, cells=True, labels=list(self.counted.labels)
        )
        return Asking(self.counted, self.asked, cells)

    def without(self, column: int, values: Sequence[Any]) -> "Asking":
        """Leave out the rows of some groups, null among them."""
        values_of = self.cells[key_of(column)]
        kept = ~values_of.is_in([one for one in values if one is not None])
        kept = kept.fill_null(None not in values)
        return Asking(self.counted, self.asked, self.cells.filter(kept))


def quietly(method: Callable[..., Any], *given: Any, **options: Any) -> Sequence[Row]:  # noqa: ANN401 (as the method's own)
    """Ask a method; the page says itself what its warnings are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BalframeWarning)
        return row_dicts(method(*given, **options))
