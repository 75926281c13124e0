"""Files compressed by zstd, and zip archives of one file."""

from __future__ import annotations

import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from clgraph.errors import GraphFileError, MissingExtraError

ZIP = b"PK\x03\x04"
_ENCRYPTED = 1  # a bit of the flags of a file in an archive


def zstd_open(raw: IO[bytes], mode: str) -> Any:
    """Return a stream that reads (*mode* "rb") or writes ("wb") the zstd file *raw*.

    Raises
    ------
    MissingExtraError
        Neither Python 3.14's own module nor the package zstandard is there.
    """
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(raw, mode)
    try:
        import zstandard
    except ImportError as error:
        text = "files compressed by zstd need Python 3.14, or zstandard: pip install zstandard"
        raise MissingExtraError(text) from error
    if mode == "wb":
        return zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False))


def read_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that unreadable and damaged files raise, compressed ones, too."""
    plain = OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError
    loaded = (sys.modules.get(name) for name in ("zstandard", "compression.zstd"))
    return (*plain, *(module.ZstdError for module in loaded if module is not None))


def zip_opener(path: Path) -> Callable[[IO[bytes], str], IO[bytes]] | None:
    """Return a function that opens the only file in a zip archive, or ``None`` for an archive of numpy.

    A damaged archive counts as one of numpy, unless its suffix is ``.zip``.

    Raises
    ------
    GraphFileError
        The archive holds no file or several, or the file is encrypted.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
    except Exception as error:  # A damaged archive makes zipfile raise errors of many kinds.
        if path.suffix.lower() == ".zip":
            raise GraphFileError(f"{path}: cannot be read: {error}") from error
        return None
    # A damaged archive may have a file without a name, for which is_dir() raises an IndexError.
    files = (info for info in found if info.filename and not info.is_dir())
    infos = [info for info in files if not info.filename.startswith("__MACOSX/")]
    names = [info.filename for info in infos]
    if names and all(name.endswith(".npy") for name in names):
        return None
    if len(names) != 1:
        raise GraphFileError(f"{path}: an archive of {len(names)} files ({', '.join(names[:9])}); expected one file")
    if infos[0].flag_bits & _ENCRYPTED:
        raise GraphFileError(f"{path}: {names[0]} is encrypted")
    return lambda raw, mode: zipfile.ZipFile(raw).open(names[0])
