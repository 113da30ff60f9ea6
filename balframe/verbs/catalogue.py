"""All verbs: those of every file beside this one that declares one."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from balframe import verbs as room
from balframe.verbs.declaration import DECLARED, Verb


def verbs() -> Mapping[str, Verb]:
    """Load every verb, and give them by their names."""
    for found in iter_modules(room.__path__):
        import_module(f"{room.__name__}.{found.name}")
    return DECLARED
