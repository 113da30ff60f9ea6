"""How far the cells of a workbook reach, because a reader holds all in between in memory."""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

from balframe.cli.files.paths import Location
from balframe.cli.files.read_errors import ContentError

_MOST_CELLS = 2**27  # of a range that is mostly empty
_LEAST_SHARE = 1 / 16  # of cells with a value in a larger range
_BLOCK_SIZE = 2**22  # bytes
_OVERLAP = 2**10
_MANY_ROWS = b"99999"  # of all rows whose numbers are not late
_LATE_ROW = re.compile(rb'r="[A-Z]{1,3}(\d{6,7})"')
_COLUMN = re.compile(rb'r="([A-Z]{1,3})\d')
_CELL = re.compile(  # with a value, a text or a formula
    rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"[^>/]*>\s*<(?:\w+:)?(?:v|is|f)\b'
)
_DAMAGED = (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, KeyError, EOFError, OSError)
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def check_used_range(location: Location) -> None:
    """Raise where the first sheet of a workbook of xlsx has a few cells far from the others."""
    try:
        if _may_be_too_far(location):
            _check_cells(location)
    except _DAMAGED:
        return  # which reading it reports


def _may_be_too_far(location: Location) -> bool:
    """Return whether the range may be large, counting cells that have only a format."""
    columns, rows = {b"A"}, {_MANY_ROWS}
    for block in _blocks(location):
        columns |= {*_COLUMN.findall(block)}
        rows |= {*_LATE_ROW.findall(block)}
    return max(map(_column_number, columns)) * max(map(int, rows)) > _MOST_CELLS


def _check_cells(location: Location) -> None:
    columns, rows, n_cells = {b"A"}, {b"1"}, 0
    for block in _blocks(location):
        cells = _CELL.findall(block)
        columns |= {column for column, _ in cells}
        rows |= {row for _, row in cells}
        n_cells += len(cells)
    last, n_rows = max(columns, key=_column_number), max(map(int, rows))
    n_in_range = _column_number(last) * n_rows
    if n_in_range > _MOST_CELLS and n_cells < n_in_range * _LEAST_SHARE:
        raise ContentError(
            f"its cells reach to column {last.decode()} and row {n_rows:,}, but only {n_cells:,} "
            f"of these {n_in_range:,} cells have a value. Delete those far from the table, or save "
            "it as csv"
        )


def _first_sheet(archive: zipfile.ZipFile) -> str:
    """Return the name of the first sheet in the archive."""
    sheets = (
        element
        for element in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter()
        if element.tag.endswith("}sheet")
    )
    first = next(sheets, None)
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    target = targets["" if first is None else first.get(_RELATION)]
    return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")


def _blocks(location: Location) -> Iterator[bytes]:
    """Read blocks of the first sheet, which overlap by more than the tags of a cell."""
    rest = b""
    with zipfile.ZipFile(location) as archive, archive.open(_first_sheet(archive)) as sheet:
        while block := sheet.read(_BLOCK_SIZE):
            yield rest + block
            rest = block[-_OVERLAP:]


def _column_number(letters: bytes) -> int:
    """Return the position of a column, from 1: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
