"""What identifies a file in a record: its name without folders, and the SHA-256 of its bytes."""

import os
from hashlib import file_digest
from os import PathLike, fspath

from balframe.errors import InvalidInputError


def base_name(path: str | PathLike[str]) -> str:
    """Return the name of a file or folder without those that it is in."""
    return os.path.basename(os.path.normpath(path)) or fspath(path)


def sha256_of_file(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of the bytes of a file, which are read in blocks."""
    try:
        with open(path, "rb") as stream:
            return file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            "the file {!r} cannot be read: {}. Give the path of a file that exists.",
            fspath(path),
            getattr(error, "strerror", None) or error,
        ) from error
