"""A terminal that programs write to, for pages that show what it shows. Not on Windows."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from typing import IO

SECONDS = 60  # after which no more is read
_STYLING = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI", "GITHUB_ACTIONS")


def run(
    command: Sequence[str],
    *,
    columns: int = 80,
    stdin: int | None = None,
    stdout: int | IO[bytes] | None = None,
    **variables: str,
) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and what the terminal got.

    `stdin` and `stdout` take the place of the terminal. Variables of the environment that style
    the output are left out, unless they are given.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in _STYLING}
    process = subprocess.Popen(
        command,
        stdin=theirs if stdin is None else stdin,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=environment | variables,
        start_new_session=True,
    )
    os.close(theirs)
    text = b""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 1)[0]:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not part:
                break
            text += part
    os.close(ours)
    return process.wait(10), text.decode().replace("\r\n", "\n")
