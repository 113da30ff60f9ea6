"""Whether this process was forked from the one that loaded balframe.

The threads of polars are not there in a fork, and a query of it may wait for them forever.
"""

import os

_LOADED_IN = os.getpid()


def is_fork() -> bool:
    """Tell whether this process is not the one that loaded balframe."""
    return os.getpid() != _LOADED_IN
