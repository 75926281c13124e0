"""Checks of the arguments of public functions.

The rest of the package trusts the values that these functions return. An error names the argument, its value and what
is allowed.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from clgraph.errors import ClgraphError, HostMemoryError, InputError
from clgraph.host_memory import check_host_memory

Seed: TypeAlias = (
    int
    | Sequence[int]
    | NDArray[Any]
    | np.random.SeedSequence
    | np.random.BitGenerator
    | np.random.Generator
    | np.random.RandomState
    | None
)
"""A seed or a generator, as :func:`numpy.random.default_rng` takes it; see :func:`checked_seed`."""

_SEEDS = "None, integers from 0 on and sequences of them, SeedSequence, BitGenerator, Generator, RandomState"
_ITEM_BYTES = 40  # Estimated bytes of a number in a Python list: the Python object of the number and two pointers.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def shown(value: object) -> str:
    """Return a short ``repr`` of *value*, or the name of its type if its ``__repr__`` raises."""
    try:
        return _SHORT.repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


@contextlib.contextmanager
def refusing(name: str, value: object, allowed: str, kind: type[InputError] = InputError) -> Iterator[None]:
    """Turn exceptions that methods of the user's object *value* raise in the block into an error of type *kind*.

    A scipy sparse array is refused at once: its rows need no memory, so a loop over 2³¹ of them would take days.
    """
    if issparse(value):
        raise kind(f"{name} = {shown(value)}; allowed: {allowed}")
    try:
        yield
    except ClgraphError:
        raise
    except MemoryError as error:
        raise HostMemoryError(f"{name} needs more memory than there is: {error}") from error
    except Exception as error:
        raise kind(f"{name} = {shown(value)}; allowed: {allowed} ({type(error).__name__}: {error})") from error


def checked_flag(name: str, value: object) -> bool:
    """Return the argument *value*, which must be a bool of Python or numpy, as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} = {shown(value)}; allowed: True, False")
    return bool(value)


def checked_count(name: str, value: Any, most: int, least: int = 1) -> int:
    """Return the argument *value* as an integer from *least* to *most*."""
    try:
        count = operator.index(value)
    except Exception:  # The __index__ method of the user's object may raise any exception.
        raise InputError(f"{name} = {shown(value)}; allowed: integers from {least} to {most}") from None
    if not least <= count <= most:
        raise InputError(f"{name} = {shown(count)}; allowed: {least} to {most}")
    return count


def checked_number(name: str, value: Any, least: float = 0.0, most: float = math.inf, *, above: bool = False) -> float:
    """Return the argument *value* as a finite float from *least* to *most*.

    With *above*, *least* itself is not allowed.
    """
    number = math.nan
    if isinstance(value, Real | np.bool_):
        with contextlib.suppress(Exception):  # A fraction or an integer may be too large for a float.
            number = float(value)
    if not (least < number if above else least <= number) or not number <= most or math.isinf(number):
        start = f"above {least:g}" if above else f"from {least:g}"
        end = f" to {most:g}" if most < math.inf else "" if above else " on"
        raise InputError(f"{name} = {shown(value)}; allowed: finite numbers {start}{end}")
    return number


def is_among(value: object, names: Iterable[str]) -> bool:
    """Return whether *value* is a str that is one of *names*.

    The ``__eq__`` of a subclass of str is ignored.
    """
    return isinstance(value, str) and str.__str__(value) in tuple(names)


def check_choice(name: str, value: object, allowed: Iterable[str]) -> None:
    """Raise an error unless the argument *value* is one of the *allowed* names."""
    known = tuple(allowed)
    if not is_among(value, known):
        raise InputError(f"{name} = {shown(value)}; allowed: {', '.join(map(repr, known))}")


def check_callback(name: str, value: object) -> None:
    """Raise an error unless the argument *value* is ``None`` or callable."""
    if value is not None and not callable(value):
        raise InputError(f"{name} = {shown(value)}; allowed: None, a function")


def checked_path(name: str, value: object) -> Path:
    """Return the argument *value*, a str or path object, as a path."""
    with refusing(name, value, "a path"):
        text = os.fspath(value)  # type: ignore[call-overload]
        if not isinstance(text, str) or "\0" in text:
            raise InputError(f"{name} = {shown(value)}; allowed: a path that is text without null characters")
        return Path(text)


def checked_seed(seed: Seed) -> int:
    """Return *seed* as an integer of at least 0.

    Each part of a computation derives a random generator from it.

    An integer is returned unchanged. ``None`` gives a new number in each call. A SeedSequence, or a sequence of
    integers, always gives the same number. A Generator, BitGenerator or RandomState draws its next number.
    """
    if type(seed) is int and seed >= 0:
        return seed
    with refusing("seed", seed, _SEEDS):
        if isinstance(seed, np.random.RandomState):
            return int(seed.randint(2**63 - 1, dtype=np.int64))
        if isinstance(seed, np.random.BitGenerator):
            seed = np.random.Generator(seed)
        if isinstance(seed, np.random.Generator):
            return int(seed.integers(2**63))
        if seed is None:
            seed = np.random.SeedSequence()
        elif (isinstance(seed, Sequence) or is_array(seed)) and np.ndim(seed):  # type: ignore[arg-type]
            # The numbers become Python integers first, because numpy recurses without end into a row of np.matrix.
            seed = np.random.SeedSequence([operator.index(number) for number in checked_array("seed", seed).tolist()])
        elif not isinstance(seed, np.random.SeedSequence):
            if (number := operator.index(seed)) < 0:  # type: ignore[arg-type]
                raise InputError(f"seed = {shown(seed)}; allowed: {_SEEDS}")
            return number
        return int.from_bytes(seed.generate_state(4).tobytes(), "little")


def check_length(name: str, values: Any) -> None:
    """Raise an error unless there is memory for a list of ``len(values)`` numbers.

    *values* itself may take little memory, as ``range(10**12)`` does.
    """
    check_host_memory(name, _ITEM_BYTES * len(values))


def is_array(values: object) -> bool:
    """Return whether *values* is an array of numpy or of another package, rather than a list or a scalar."""
    if isinstance(values, np.generic):
        return False
    return hasattr(values, "__array__") or hasattr(values, "__dlpack__") or hasattr(values, "to_numpy")


def refuse_masked(name: str, values: Any, kind: type[InputError] = InputError) -> None:
    """Raise an error of type *kind* if *values* are a masked array with an element that is masked."""
    if isinstance(values, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(values)).any():
        at = np.unravel_index(int(mask.argmax()), mask.shape)
        raise kind(f"{name}[{', '.join(map(str, at))}] is masked; fill or drop what is masked")


def checked_array(name: str, values: Any, kind: type[InputError] = InputError) -> NDArray[Any]:
    """Return *values* as a plain numpy array, which shares the memory of *values* if these are an array.

    An array of another package is converted by its ``__array__``, ``__dlpack__`` or ``to_numpy``. A masked array is
    refused if an element is masked.
    """
    refuse_masked(name, values, kind)
    with refusing(name, values, "an array or a list", kind):
        if not isinstance(values, np.ndarray) and hasattr(values, "__len__"):
            check_length(name, values)
        if not is_array(values) or hasattr(values, "__array__"):
            array = np.asarray(values)
        else:
            array = np.asarray(np.from_dlpack(values) if hasattr(values, "__dlpack__") else values.to_numpy())
    # Callers copy an array that is not contiguous. The copy of a view such as np.broadcast_to(0, 10**12) may not fit.
    if not array.flags.c_contiguous:
        check_host_memory(name, array.nbytes)
    return array
