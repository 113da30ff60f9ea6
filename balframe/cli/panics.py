"""Keeping what Polars writes as it panics over a damaged file from standard error."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from balframe.errors import BalframeError

_STANDARD_ERROR = 2


@contextmanager
def without_panics() -> Iterator[None]:
    """Hold back what is written below Python, and drop it where an error of one line tells it.

    Python's own standard error, as for warnings and the line of progress, stays where it is.
    """
    try:
        sys.stderr.flush()
        real = os.dup(_STANDARD_ERROR)
    except OSError:  # closed by whoever started this
        yield
        return
    ours = sys.stderr
    with tempfile.TemporaryFile() as held, open(real, "w", errors="backslashreplace") as line:
        os.dup2(held.fileno(), _STANDARD_ERROR)
        if ours is sys.__stderr__:
            sys.stderr = line
        is_told = False
        try:
            yield
        except BalframeError:
            is_told = True
            raise
        finally:
            line.flush()
            os.dup2(real, _STANDARD_ERROR)
            sys.stderr = ours
            if not is_told:
                held.seek(0)
                os.write(_STANDARD_ERROR, held.read())
