"""Whether this process was forked from the one that loaded balframe.

A fork has no threads of polars, and a polars query may wait for them forever.
"""

import os

_LOADED_IN = os.getpid()


def is_fork() -> bool:
    """Return whether this process is not the one that loaded balframe."""
    return os.getpid() != _LOADED_IN
