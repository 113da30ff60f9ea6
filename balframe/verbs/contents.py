"""All verbs, which are found in the files of this package.

Custom metrics are registered here, where the column names of the verbs are known.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from balframe import verbs as room
from balframe.metrics.catalogue import metric as metric
from balframe.metrics.registry import reserve
from balframe.verbs.columns import METRIC
from balframe.verbs.declaration import DECLARED, Verb


def verbs() -> Mapping[str, Verb]:
    """Load every verb, and return them by name."""
    for found in iter_modules(room.__path__):
        import_module(f"{room.__name__}.{found.name}")
    return DECLARED


def names_beside_metrics() -> Iterator[str]:
    """List the other columns of verbs that have columns named after metrics."""
    for verb in verbs().values():
        columns = [one for layout in verb.layouts.values() for one in layout]
        if any(one.name == METRIC for one in columns):
            yield from (str(one.name) for one in columns if one.place is None)


reserve(names_beside_metrics())
