"""Standard output, of which nothing is lost in silence."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from balframe.errors import InvalidInputError


def open_closed() -> None:
    """Replace streams that whoever started this has closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


@contextmanager
def buffered() -> Iterator[None]:
    """Give standard output a buffer where it has none, as with PYTHONUNBUFFERED.

    Without one, Python leaves out what the system does not take at once.
    """
    given = sys.stdout
    raw = getattr(given, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        yield
        return
    ours = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=given.encoding,
        errors=given.errors,
        line_buffering=given.isatty(),
    )
    sys.stdout = ours
    try:
        yield
    finally:
        sys.stdout = given
        with suppress(OSError):  # which has been told
            ours.detach().detach()


def drop() -> None:
    """Send what is still to be written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def lost(error: OSError) -> InvalidInputError:
    """Say why it cannot be written; what is left of it would be tried again at the end."""
    drop()
    return InvalidInputError(f"standard output cannot be written: {error.strerror}.")
