"""Files that are written as a whole or not at all."""

import os
import tempfile
from pathlib import Path

from balframe.errors import InvalidInputError, Message


def check_place(out: Path, option: str | Message) -> None:
    """Raise if no file can be written there; `option` is what the message calls the path."""
    if out.is_dir():
        raise InvalidInputError("{} is a directory. Give the path of a file.", option)
    if not out.parent.is_dir():
        raise InvalidInputError("{}: the directory {!r} does not exist.", option, str(out.parent))


def replace(out: Path, content: bytes) -> None:
    """Write beside the file and rename, so that no half of it is ever seen."""
    if out.exists() and not out.is_file():  # a device or a named pipe stays what it is
        out.write_bytes(content)
        return
    out = out.resolve()  # a link stays one
    mask = os.umask(0)
    os.umask(mask)
    mode = out.stat().st_mode & 0o777 if out.exists() else 0o666 & ~mask
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as part:
        try:
            part.write(content)
            part.close()
            os.chmod(part.name, mode)
            os.replace(part.name, out)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
