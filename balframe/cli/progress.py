"""What a terminal shows while work goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_AFTER = 0.5  # seconds


@contextmanager
def busy(what: Callable[[], str]) -> Iterator[None]:
    """Show on a terminal what is done and for how long, once it takes a while.

    Until then it is not asked `what` is done, for that may look at files.
    """
    with _shown(what):
        yield


@contextmanager
def copying() -> Iterator[Callable[[int], None]]:
    """Show how many bytes of a stream, whose size is not known, have been read."""
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        say(f"reading, {decimal(done)} so far")

    with _shown(lambda: "reading") as say:
        yield advance


@contextmanager
def _shown(what: Callable[[], str]) -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda words: None
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task("")

    def start() -> None:
        if not progress.tasks[0].description:
            progress.update(task, description=what())
        progress.start()

    begin = threading.Timer(_AFTER, start)
    begin.start()
    try:
        yield lambda words: progress.update(task, description=words)
    finally:
        begin.cancel()
        begin.join()
        progress.stop()
