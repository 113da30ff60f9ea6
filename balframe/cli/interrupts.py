"""Ctrl-C: without a word while the program loads, an exception once a command runs.

Of the standard library alone, for the package begins with it, before what takes long to load.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import basename
from types import FrameType

_is_in_command = False


def is_program() -> bool:
    """Tell whether Python was started to run the program: no other process is changed."""
    words = getattr(sys, "argv", None) or [""]
    if words[0] == "-m":  # as long as Python looks for the module
        return sys.orig_argv[-len(words)].removeprefix("-m") == "balframe"
    return basename(words[0]).lower() in ("balframe", "balframe.exe")


def end_silently() -> None:
    """Have Ctrl-C end the process, unless whoever started it has it ignored.

    One handler serves from here to the end. The default of the system, or a second handler for
    commands, would lose that of Polars, which takes its place before ours and calls it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if isinstance(sys.exception(), KeyboardInterrupt):
        return  # Polars has raised it already, and files are being removed
    if _is_in_command:
        signal.default_int_handler(number, frame)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


@contextmanager
def raised() -> Iterator[None]:
    """Raise Ctrl-C as KeyboardInterrupt while a command runs, which has files to remove."""
    global _is_in_command
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Polars does not ignore it
    elif hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # Polars lets reads go on, as of standard input
    _is_in_command = True
    try:
        yield
    finally:
        _is_in_command = False
