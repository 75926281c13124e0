"""Readers of text files of numbers. A file is read in blocks of whole lines, which two threads parse.

All text formats use this module. Numbers are parsed by ``numpy.fromstring``. The tokens of every line
are counted as well, so a missing or surplus token cannot shift numbers to other lines unnoticed. Memory
is allocated for the bytes in the file, not for the sizes that its header states.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import GraphFileError, InputError
from clgraph.io.compressed import ZIP, read_errors, zip_opener, zstd_open

Progress = Callable[[int], None]

_BLOCK_BYTES = 1 << 19  # Number of bytes that are read from the file at a time.
_THREADS = 2
_SHOWN = 60  # An error message shows at most this number of characters of a line.
_INT64 = np.iinfo(np.int64)  # For a number outside this range, numpy.fromstring returns the range's minimum or maximum.
_BLANKS = b" \t\n\r\v\f"
_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMPRESSED: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": (".gz", partial(gzip.open, compresslevel=6)),
    b"\xfd7zXZ": (".xz", lzma.open),
    b"BZh": (".bz2", bz2.open),
    b"\x28\xb5\x2f\xfd": (".zst", zstd_open),
}
COMPRESSED = (*(suffix for suffix, _ in _COMPRESSED.values()), ".zip")
"""The suffixes of compressed files."""


def file_error(path: Path, expected: str, *, line: int | None = None, text: bytes | None = None) -> GraphFileError:
    """Return an error that names *path*, the *line* number (from 1), the shortened *text* and the *expected* form."""
    place = f"{path}" if line is None else f"{path}, line {line}"
    if text is None:
        return GraphFileError(f"{place}: {expected}")
    shown = text.strip().decode("ascii", "backslashreplace")
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
    return GraphFileError(f"{place}: {shown!r}; expected {expected}")


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open *path* for reading and decompress gzip, xz, bzip2, zstd and zip; errors become GraphFileError.

    A zip archive must hold one file. Archives of numpy (``.npz``) are not decompressed.
    """
    try:
        with open(path, "rb") as raw:
            head = raw.read(6)
            raw.seek(0)
            opener = next((o for magic, (_, o) in _COMPRESSED.items() if head.startswith(magic)), None)
            if opener is None and head.startswith(ZIP):
                opener = zip_opener(path)
            if opener is None:
                yield raw
            else:
                with opener(raw, "rb") as stream:
                    yield stream
    except read_errors() as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise GraphFileError(f"{path}: cannot be read: {reason}") from error


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open *path* for writing as :func:`replacing` does, and compress if the suffix is .gz, .xz, .bz2 or .zst."""
    opener = next((o for suffix, o in _COMPRESSED.values() if path.suffix == suffix), None)
    if path.suffix == ".zip":
        raise InputError(f"{path}: zip archives are only read; allowed: {', '.join(COMPRESSED[:-1])}")
    with replacing(path) as raw:
        if opener is None:
            yield raw
        else:
            with opener(raw, "wb") as stream:
                yield stream


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces *path* at the end of the block. After an error, *path* is unchanged.

    If *path* is a link, its target is replaced, not the link. A path that is not a regular file (a pipe,
    /dev/null) is written in place.
    """
    target, name = os.path.realpath(path), None
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with open(path, "wb") as stream:
                yield stream
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=os.path.dirname(target))
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException as error:
        if name is not None:
            os.unlink(name)
        if isinstance(error, OSError):
            raise GraphFileError(f"{path}: cannot be written: {error.strerror or error}") from error
        raise


def write_rows(stream: IO[bytes], form: str, *columns: NDArray[Any]) -> None:
    """Write one line for each row of *columns*, formatted by *form*. Each step formats 2**16 rows."""
    for start in range(0, columns[0].size, 1 << 16):
        rows = zip(*(c[start : start + (1 << 16)].tolist() for c in columns), strict=True)
        stream.write("".join([form % row for row in rows]).encode())


@dataclass
class Block:
    """A block of whole lines of a file, and the numbers parsed from these lines."""

    path: Path
    text: bytes
    values: NDArray[Any]  # All numbers of the block in order, as int64 or float64.
    counts: NDArray[Any]  # The count of numbers in each line; -1 for a comment line.
    data: bytes  # The text that was parsed, after cleaning and without comments.
    first_line: int = 0  # The number of the block's first line in the file, counted from 1.

    @cached_property
    def words(self) -> list[bytes]:
        """The text of each number in the block, in order."""
        return self.data.split()

    def line_error(self, line: int, expected: str) -> GraphFileError:
        """Return an error that names the line with index *line* in this block."""
        text = self.text.split(b"\n", line + 1)[line]
        return file_error(self.path, expected, line=self.first_line + line, text=text)

    def value_error(self, at: int, expected: str) -> GraphFileError:
        """Return an error that names the line that holds ``values[at]``."""
        ends = np.cumsum(np.maximum(self.counts, 0))
        return self.line_error(int(np.searchsorted(ends, at, "right")), expected)

    def rows(self, width: int, expected: str) -> NDArray[Any]:
        """Return the block's values with shape (n, width).

        Each line must have *width* numbers or no number.
        """
        wrong = self.counts != width
        if wrong.any():
            wrong &= self.counts > 0
            if wrong.any():
                raise self.line_error(int(wrong.argmax()), expected)
        return self.values.reshape(-1, width)


def read_header(stream: IO[bytes], comments: bytes, first_line: int = 1) -> tuple[list[bytes], bytes, int]:
    """Read up to the first line that is no comment and not blank.

    Return the comments, that line and its number.
    """
    header = []
    while line := stream.readline():
        text = line.strip()
        if text and text[0] not in comments:
            break
        header.append(text)
        first_line += 1
    return header, line, first_line


def read_blocks(
    stream: IO[bytes],
    path: Path,
    expected: str,
    *,
    comments: bytes,
    clean: Callable[[bytes], bytes] = bytes,
    head: bytes = b"",
    first_line: int = 1,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Yield the lines of *head* and of the rest of *stream* as blocks of parsed numbers.

    Lines that start with one of the characters *comments* are ignored. *clean* may change the bytes
    of a block before they are parsed, but not the number of lines. *expected* describes a line in
    error messages. *first_line* is the number of the first line.
    """
    pending: deque[Future[Block]] = deque()
    texts = _whole_lines(stream, head, progress)
    with warnings.catch_warnings(), ThreadPoolExecutor(_THREADS) as pool:
        # numpy.fromstring reports text that it cannot parse by this warning, and by a short result, which is checked.
        warnings.filterwarnings("ignore", "string or file could not be read", DeprecationWarning)
        while True:
            for text in islice(texts, 2 * _THREADS - len(pending)):
                pending.append(pool.submit(_parse, path, text, comments, clean))
            if not pending:
                break
            block = pending.popleft().result()
            block.first_line = first_line
            first_line += block.counts.size
            if block.values.size != np.maximum(block.counts, 0).sum():
                raise _explained(block, expected, clean)
            if block.values.dtype.kind == "f" and not (finite := np.isfinite(block.values)).all():
                raise block.value_error(int(finite.argmin()), f"{expected}, each number finite and below 1.8e308")
            yield block


def marked(letter: bytes, number: int) -> Callable[[bytes], bytes]:
    """Return a function that replaces *letter* at the start of lines by *number*, so that lines have only numbers."""

    def clean(text: bytes) -> bytes:
        text = b"\n" + text
        for blank in (b" ", b"\t"):
            text = text.replace(b"\n" + letter + blank, b"\n%d" % number + blank)
        return text[1:]

    return clean


def header_number(word: bytes) -> int:
    """Return *word* of a header as a number, or -1 if it is not a number or may not fit 64 bits."""
    return int(word) if re.fullmatch(rb"\d{1,18}", word) else -1


def _whole_lines(stream: IO[bytes], head: bytes, progress: Progress | None) -> Iterator[bytes]:
    parts, n_bytes = [head], len(head)
    while data := stream.read(_BLOCK_BYTES):
        n_bytes += len(data)
        if progress is not None:
            progress(n_bytes)
        if cut := data.rfind(b"\n") + 1:
            yield b"".join([*parts, data[:cut]])
            parts = []
        parts.append(data[cut:])
    if rest := b"".join(parts):
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _parse(path: Path, text: bytes, comments: bytes, clean: Callable[[bytes], bytes]) -> Block:
    data, comment_starts = clean(text), []
    if any(sign in data for sign in comments):
        pattern = re.compile(rb"^[ \t]*[" + re.escape(comments) + rb"].*", re.MULTILINE)
        comment_starts = [match.start() for match in pattern.finditer(data)]
        data = pattern.sub(lambda match: b" " * len(match[0]), data)
    characters = np.frombuffer(data, np.uint8)
    newline, white = characters == ord("\n"), characters <= ord(" ")
    # The parser stops at a control character and returns too few numbers, which is detected. But a control character
    # after the last number changes no number. Only if it is not taken for a blank, the reader refuses the text.
    if (end := data.rstrip()[-1:]) and end < b" ":
        white = np.isin(characters, np.frombuffer(_BLANKS, np.uint8))
    mark = newline.copy()  # True for each character that is a line end or begins a token.
    mark[0] |= not white[0]
    mark[1:] |= white[:-1] > white[1:]
    counts = np.diff(np.flatnonzero(newline[mark]), prepend=-1) - 1
    values = parse_numbers(data, int(counts.sum()))
    if comment_starts:
        counts[np.searchsorted(np.flatnonzero(newline), comment_starts)] = -1
    return Block(path, text, values, counts, data)


def parse_numbers(data: bytes, n: int) -> NDArray[Any]:
    """Return the *n* numbers in *data* as int64 if all are integers, else float64.

    A wrong count means a malformed one.
    """
    if n == 0:
        return np.zeros(0, np.int64)
    for dtype in (np.int64, np.float64):
        try:
            values = np.fromstring(data, dtype, sep=" ")
        except ValueError:
            continue
        if values.size == n and (dtype is np.float64 or (values.max() < _INT64.max and values.min() > _INT64.min)):
            return values
    return np.zeros(0)


def _explained(block: Block, expected: str, clean: Callable[[bytes], bytes]) -> GraphFileError:
    """Return an error that names the first line of the block with a token that is not a number."""
    for line, text in enumerate(clean(block.text).split(b"\n")[:-1]):
        if block.counts[line] > 0 and not all(map(_NUMBER.fullmatch, text.split())):
            return block.line_error(line, expected)
    return block.line_error(0, f"{expected} on this line and those behind it")
