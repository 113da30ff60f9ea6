"""Read ZIP archives that are compressed with Zstandard, which Python before 3.14 cannot."""

import struct
from zipfile import ZipFile, ZipInfo

from balframe.errors import MissingExtraError

_ZSTANDARD = 93  # the number of the method in APPNOTE.TXT of PKWARE
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
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "this log is compressed with Zstandard, which needs Python 3.14 or pyarrow: "
            "python -m pip install 'balframe[arrow]'"
        ) from error
    try:
        with pa.input_stream(pa.py_buffer(content), compression="zstd") as stream:
            return bytes(stream.read())
    except OSError as error:
        raise ValueError(str(error)) from error
