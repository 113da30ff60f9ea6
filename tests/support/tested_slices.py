"""All slices that a search tests, not only those that it lists."""

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

import balframe as bf


@dataclass
class Seen:
    """What one call of the method found, before it listed anything."""

    population: Any = None
    tested: Any = None

    def slices(self):
        """List the conditions of each slice tested, as `{column: level}` with None for null."""
        reading = self.population.features.counted_frame
        names, out = reading.query.by, []
        for one in range(len(self.tested.depth)):
            pairs = zip(*self.tested.slice_conditions(one), strict=True)
            found = {}
            for column, level in pairs:
                code, levels = int(self.population.levels[column][level]), reading.by[names[column]]
                found[names[column]] = None if code == len(levels) else levels[code]
            out.append(found)
        return out

    def counts(self):
        """Count rows and wrong rows of each, one column for each stratum."""
        rows, strata = (
            self.tested.slice_counts(np.arange(len(self.tested.depth))),
            self.population.strata,
        )
        return strata.count_rows(rows), strata.count_wrong(rows)


@contextmanager
def seen():
    """Keep what the calls of the method within see."""
    method, kept = import_module("balframe.methods.slices.slices"), Seen()
    of = method.find_and_score_slices

    def kept_too(population, *arguments, **options):
        kept.population = population
        kept.tested = of(population, *arguments, **options)
        return kept.tested

    with patch.object(method, "find_and_score_slices", kept_too):
        yield kept


def search(frame, y_true="y", y_pred="yhat", **options):
    """Ask for slices: the result, and what was seen on the way."""
    with seen() as kept:
        return bf.slices(frame, y_true, y_pred, detail=True, **options), kept
