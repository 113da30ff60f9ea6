"""The cover of an audit on the command line: notes, files of rows, and names without folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balframe._file_identity import base_name
from balframe._progress import busy
from balframe.cli.files.paths import SourceFile, is_url
from balframe.errors import InvalidInputError
from balframe.frames.history.run_table import is_table

if TYPE_CHECKING:
    from balframe.audit_page.cover import Cover

_MAX_FILES = 20  # that a cover names


def read_cover_options(file: Path | None, notes: Sequence[str] | None) -> "Cover":
    """Return the cover of a file with the notes, which win; a repeated key has a list."""
    from balframe.audit_page.cover import read_cover, read_facts
    from balframe.methods.gates.rules import naming_place

    values: dict[str, list[str]] = {}
    for note in notes or ():
        key, mark, value = note.partition("=")
        if not mark or not key.strip():
            raise InvalidInputError(
                f"--note {note!r} is not valid; give a key and its value, as in auditor='Jane Doe'."
            )
        values.setdefault(key.strip(), []).append(value)
    with naming_place("--note"):
        noted = read_facts(
            {key: texts if len(texts) > 1 else texts[0] for key, texts in values.items()}
        )
    return read_cover(file).updated(noted)


def with_input_files(cover: "Cover | None", sources: Sequence[SourceFile]) -> "Cover":
    """Return the cover with the files of the rows.

    Streams and URLs would have to be read twice. A Delta table is not a file, and changes.
    """
    from balframe.audit_page.cover import read_cover, read_file

    paths = [
        Path(source.location)
        for source in sources
        if not (source.is_copy or is_url(source.location) or is_table(source.location))
    ]
    with busy(lambda: "computing SHA-256"):
        files = [read_file(path) for path in paths[:_MAX_FILES]]
    return read_cover(cover).with_files(files, max(0, len(paths) - _MAX_FILES))


def check_not_listed(out: Path | None, cover: "Cover", option: str = "--out") -> None:
    """Raise if what is written would replace a file that its cover names."""
    if out is None or out.name not in [file.name for file in cover.files] or not out.is_file():
        return
    from balframe.audit_page.cover import read_file

    if read_file(out) in cover.files:
        raise InvalidInputError(
            f"{option} {str(out)!r} is a file that the cover names, and would be overwritten. Give "
            "another path."
        )


def name_without_folders(name: str) -> str:
    """Return the name of a file, folder or pattern that a page may have; a URL stays as it is."""
    return name if is_url(name) else base_name(name)


def note_without_folders(note: str) -> str:
    """Return a note as a page may have it, in which a file has its name."""
    key, mark, value = note.partition("=")
    return f"{key}{mark}{name_without_folders(value)}" if key.strip() == "files" else note
