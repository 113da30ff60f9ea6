"""The process of the program: Ctrl-C, the garbage collector, and standard output.

It loads little, because the program begins with it, before what takes long to load. A process that
only imports balframe keeps its signal handlers and its garbage collector.
"""

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from balframe.errors import InvalidInputError

_MIN_ADDRESS_SPACE = 2**30  # bytes

_is_command_running = False


def prepare() -> None:
    """End silently at Ctrl-C, and put off garbage collection, until a command runs.

    The collector would go through all that is loaded, several times. Polars accepts columns in time
    zones that it lacks, such as +05:30, if they are not used. Where polars is loaded already, a
    program calls this one, and all stays as it is.
    """
    if "polars" in sys.modules:
        return
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _handle_interrupt)
    os.environ.setdefault("POLARS_IGNORE_TIMEZONE_PARSE_ERROR", "1")
    gc.disable()


def check_address_space() -> None:
    """Raise where a limit leaves too little memory for the libraries that are loaded next.

    They would end the process in their own ways, one of them with the exit code of a failed rule.
    """
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread reserves memory when it starts
    if limit < _MIN_ADDRESS_SPACE:
        raise MemoryError(
            f"a limit of {limit // 2**20:,} MiB is set (ulimit -v), and loading the program takes "
            f"{_MIN_ADDRESS_SPACE // 2**20:,} MiB"
        )


def _handle_interrupt(number: int, frame: FrameType | None) -> None:
    """End the process, or raise KeyboardInterrupt while a command runs.

    One handler serves from the start to the end. The default of the system, or a second handler
    for commands, would replace that of polars, which is installed after this one and calls it.
    """
    if isinstance(sys.exception(), KeyboardInterrupt):
        return  # polars has raised it already, and files are being removed
    if _is_command_running:
        signal.default_int_handler(number, frame)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def resume_collection() -> None:
    """Collect the garbage of what is made from now on, if collection was put off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Ctrl-C as KeyboardInterrupt while a command runs, which has files to remove."""
    global _is_command_running
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # polars does not ignore it
    elif hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # polars resumes reads, as of standard input
    _is_command_running = True
    try:
        yield
    finally:
        _is_command_running = False


def open_closed_streams() -> None:
    """Replace standard streams that the calling program has closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


@contextmanager
def buffered_output() -> Iterator[None]:
    """Give standard output a buffer if it has none, as with PYTHONUNBUFFERED.

    Without one, Python leaves out what the system does not take at once.
    """
    original = sys.stdout
    raw = getattr(original, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        yield
        return
    replacement = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=original.encoding,
        errors=original.errors,
        line_buffering=original.isatty(),
    )
    sys.stdout = replacement
    try:
        yield
    finally:
        sys.stdout = original
        with suppress(OSError):  # which has been reported
            replacement.detach().detach()


def discard_output() -> None:
    """Send what is still to be written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_error(error: OSError) -> InvalidInputError:
    """Return the error that standard output cannot be written, and discard what is left of it."""
    discard_output()
    return InvalidInputError(f"standard output cannot be written: {error.strerror}.")
