"""Stand-ins for the arrays of other packages: each tells its elements in one way only."""

from collections.abc import Iterator
from typing import Any

import numpy as np


class Element:
    """A number of a tensor, which equals only itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value, dtype)


class Tensor:
    """A sequence of elements, as torch's tensors are."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Element]:
        return map(Element, self.values)

    def __getitem__(self, at: int) -> Element:
        return Element(self.values[at])


class ArrayTensor(Tensor):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.values, dtype)


class DLPackTensor(Tensor):
    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Column(Tensor):
    def to_numpy(self) -> np.ndarray[Any, Any]:
        return self.values.copy()


WRAPPERS = (ArrayTensor, DLPackTensor, Column)
