"""Members of ZIP archives, also of those that Zstandard compressed.

Python before 3.14 cannot read these.
"""

import struct
from zipfile import ZipFile, ZipInfo

import polars as pl

_ZSTANDARD = 93  # the number of the method in APPNOTE.TXT of PKWARE
_NO_SEPARATOR = "\x01"  # which JSON has escaped only
_LOCAL_HEADER = struct.Struct("<26xHH")  # the lengths of the name and of the extra field


def read_member(archive: ZipFile, name: str) -> bytes:
    """Return the content of a member."""
    info = archive.getinfo(name)
    try:
        return archive.read(info)
    except NotImplementedError:
        if info.compress_type != _ZSTANDARD:
            raise
    return _decompress(_compressed(archive, info))


def _compressed(archive: ZipFile, info: ZipInfo) -> bytes:
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    n_name, n_extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(n_name + n_extra, 1)
    return file.read(info.compress_size)


def _decompress(content: bytes) -> bytes:
    """Decompress a JSON document by polars, which reads it as a table of lines.

    No line is lost that matters, as texts in JSON have no line breaks of their own.
    """
    try:
        lines = pl.read_csv(
            content,
            has_header=False,
            separator=_NO_SEPARATOR,
            quote_char=None,
            infer_schema=False,
            new_columns=["line"],
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    return "\n".join(lines["line"].fill_null("")).encode()
