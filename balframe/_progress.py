"""What a terminal or a notebook shows while work goes on."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Protocol

_AFTER = 0.5  # seconds
_OFTEN = 0.1

Say = Callable[[str], None]

_shown_by: ContextVar[Say | None] = ContextVar("shown_by", default=None)


@contextmanager
def busy(what: Callable[[], str]) -> Iterator[None]:
    """Show what is done and for how long, once it takes a while.

    Until then it is not asked `what` is done, for that may look at files.
    """
    with display_for(what):
        yield


@contextmanager
def copying() -> Iterator[Callable[[int], None]]:
    """Show how many bytes of a stream, whose size is not known, have been read."""
    from rich.filesize import decimal

    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        say(f"reading, {decimal(done)} so far")

    with display_for(lambda: "reading") as say:
        yield advance


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[], None]]:
    """Show how many of so many things are done."""
    done, last = 0, 0.0

    def advance() -> None:
        nonlocal done, last
        done += 1
        if time.monotonic() - last > _OFTEN:
            last = time.monotonic()
            say(f"{done:,} of {total:,} {what}")

    with display_for(lambda: f"{done:,} of {total:,} {what}") as say:
        yield advance


@contextmanager
def display_for(what: Callable[[], str]) -> Iterator[Say]:
    """Show words that change, in the place of those of the work that this is a part of."""
    outer = _shown_by.get()
    screen = _screen() if outer is None else None
    if screen is None:
        yield outer or (lambda words: None)
        return
    is_told = False

    def say(words: str) -> None:
        nonlocal is_told
        is_told = True
        screen.say(words)

    def start() -> None:
        if not is_told:
            say(what())
        screen.start()

    begin = threading.Timer(_AFTER, start)
    begin.start()
    token = _shown_by.set(say)
    try:
        yield say
    finally:
        _shown_by.reset(token)
        begin.cancel()
        begin.join()
        screen.stop()


class _Screen(Protocol):
    """What shows words from its start to its end."""

    def say(self, words: str) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


def _screen() -> _Screen | None:
    """Find a notebook, or a terminal if Rich is installed."""
    if "ipykernel" in sys.modules:
        return _Notebook()
    may_show = "rich" in sys.modules or (sys.stderr.isatty() and find_spec("rich") is not None)
    return _terminal() if may_show else None


def _terminal() -> _Screen | None:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task("")

    class Terminal:
        start, stop = progress.start, progress.stop

        def say(self, words: str) -> None:
            progress.update(task, description=words)

    return Terminal()


class _Notebook:
    """Words below a cell, which go when the work is done."""

    def __init__(self) -> None:
        self._words = ""
        self._handle: Any = None

    def say(self, words: str) -> None:
        """Change the words."""
        self._words = words
        if self._handle is not None:
            self._handle.update({"text/plain": words}, raw=True)

    def start(self) -> None:
        """Show them."""
        from IPython.display import display

        self._handle = display(  # type: ignore[no-untyped-call]
            {"text/plain": self._words}, raw=True, display_id=True
        )

    def stop(self) -> None:
        """Remove them."""
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)
