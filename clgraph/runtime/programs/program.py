"""The classes Program, a compiled kernel file, and Launch, a kernel with its arguments set."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clgraph.errors import KernelBuildError, KernelSourceError
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import as_device_error, typed_errors
from clgraph.runtime.driver.quirks import assembled, compiles_at_launch
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.cache import COMPILING, announced, build_lock, program_cache
from clgraph.runtime.programs.declarations import Parameter, read_declarations
from clgraph.runtime.programs.source import build_input, name_places

logger = logging.getLogger(__name__)

_KEPT_SECONDS = 0.25  # A program that was built in less than 0.25 s came from the driver's cache.
# pyopencl's cache of kernel callers crashed when two threads used it at once, so threads take a lock.
_creating = threading.Lock()


class Program:
    """A kernel file compiled for one device with some definitions.

    If compiling fails, the error has the build log.
    """

    def __init__(self, commands: Commands, source: str, defines: Mapping[str, int | str]) -> None:
        values = {**commands.facts.defines(), **defines}
        text = build_input(source, values)
        logger.debug("building %s with %s", source, dict(defines))
        self._commands = commands
        self._compiles_at_launch = compiles_at_launch(commands.device)
        with build_lock(into_cache=self._compiles_at_launch), announced(COMPILING):
            started = time.perf_counter()
            try:
                try:
                    self._program = _built(commands, text)
                except cl.Error:
                    # The build is tried again once, since some drivers' caches are not safe against several processes.
                    self._program = _built(commands, text)
            except cl.Error as error:
                log = name_places(str(error), text)
                raise KernelBuildError(f"{source} on {commands.facts.name}:\n{log}") from error
            self._was_kept = time.perf_counter() - started < _KEPT_SECONDS
        self._declarations = read_declarations(text)
        self._launched: set[str] = set()
        # Kernel objects that deleted launches left for reuse, by kernel name.
        self.idle: dict[str, list[cl.Kernel]] = defaultdict(list)
        self.source = source
        self.work_group_size = int(values["WG_SIZE"])

    def constant(self, expression: str) -> int:
        """Return the integer value of *expression*: a macro of the kernel source, or a sum or product of macros."""
        return self._declarations.constant(expression)

    def parameters(self, kernel: str) -> tuple[str, ...]:
        """Return the names of the parameters of *kernel*, in order."""
        return tuple(parameter.name for parameter in self.declared(kernel))

    def declared(self, kernel: str) -> tuple[Parameter, ...]:
        """Return the parameters of *kernel*, in order."""
        try:
            return self._declarations.kernels[kernel]
        except KeyError:
            raise KernelSourceError(f"{self.source} has no kernel {kernel!r}") from None

    def bind(
        self,
        kernel: str,
        n_items: int,
        scope: Mapping[str, Any] | None = None,
        /,
        *,
        max_groups: int | None = None,
        **arguments: Any,
    ) -> Launch:
        """Return a launch of *kernel* over at least *n_items* work-items, with its arguments set.

        Parameters
        ----------
        kernel : str
            The kernel's name in the source.
        n_items : int
            Rounded up to whole work-groups, at least one. Kernels must have grid-stride loops or guards.
        scope : mapping of str to value, optional
            Values that several kernels share; only the values of this kernel's parameters are used.
        max_groups : int, optional
            Maximum number of work-groups, for kernels with grid-stride loops.
        **arguments
            Values of this kernel's other parameters: a :class:`DeviceArray` for a buffer, a number for a value (it is
            converted to the declared type), a mapping of all members for a structure, or ``cl.LocalMemory``.

        Raises
        ------
        KernelSourceError
            The source has no such kernel, or an argument is missing, unknown or of a wrong type.
        """
        parameters = self.declared(kernel)
        values = {**scope, **arguments} if scope else arguments
        names = {parameter.name for parameter in parameters}
        if wrong := (names - values.keys()) | (arguments.keys() - names):
            raise KernelSourceError(
                f"{self.source}: {', '.join(sorted(wrong))} missing or unknown; kernel {kernel} takes "
                f"{', '.join(self.parameters(kernel))}"
            )
        handle = self._handle(kernel)
        groups = max(1, -(-n_items // self.work_group_size))
        if max_groups is not None:
            groups = min(groups, max_groups)
        bound = [values[parameter.name] for parameter in parameters]
        with typed_errors(f"setting the arguments of {kernel}"):
            for index, (parameter, value) in enumerate(zip(parameters, bound, strict=True)):
                _set_argument(handle, index, parameter, _as_argument(kernel, parameter, value))
        return Launch(self, kernel, handle, groups, parameters, bound)

    def _handle(self, kernel: str) -> cl.Kernel:
        """Return an unused OpenCL object of *kernel*.

        Making a new one takes 0.3 ms, mostly for pyopencl's invoker.
        """
        with contextlib.suppress(IndexError):
            return self.idle[kernel].pop()
        with typed_errors(f"creating kernel {kernel}"), _creating:
            return cl.Kernel(self._program, kernel)

    def enqueue(self, name: str, handle: cl.Kernel, groups: int) -> cl.Event:
        size = self.work_group_size
        try:
            with self._commands.driver:
                return cl.enqueue_nd_range_kernel(self._commands.queue, handle, (groups * size,), (size,))
        except cl.Error as error:  # typed_errors would do the same, but it is slower.
            raise as_device_error(f"launching {name}", error) from error

    def launch(self, name: str, handle: cl.Kernel, groups: int) -> cl.Event:
        if self._compiles_at_launch and name not in self._launched:
            # If the program came from a cache, a long first launch is not due to compiling, so there is no notice.
            notice = contextlib.nullcontext() if self._was_kept else announced(COMPILING)
            with build_lock(into_cache=True), notice:
                event = self.enqueue(name, handle, groups)
                self._commands.finish()
            self._launched.add(name)
        else:
            event = self.enqueue(name, handle, groups)
        self._commands.record_kernel(name, event)
        return event


def _built(commands: Commands, text: str) -> cl.Program:
    # Without -w, compilers print the number of warnings on stderr, which helps only authors of kernels.
    options = [f"-cl-std={commands.facts.dialect.standard}", "-w"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Compilers warn, and so does pyopencl if its cache cannot be written.
        program = cl.Program(commands.context, text).build(options, [commands.device], program_cache())
        return assembled(program, commands.context, commands.device, options)


def _set_argument(handle: cl.Kernel, index: int, parameter: Parameter, argument: Any) -> None:
    # For a number, set_arg first tries other types, which takes 6 µs. So pyopencl's own callers use _set_arg_buf.
    is_number = parameter.space == "value" and parameter.dtype is not None
    set_argument = getattr(handle, "_set_arg_buf", handle.set_arg) if is_number else handle.set_arg
    set_argument(index, argument)


def _as_argument(kernel: str, parameter: Parameter, value: Any) -> Any:
    """Return *value* as an OpenCL argument of the type that the kernel source declares for *parameter*."""
    is_array, dtype = isinstance(value, DeviceArray), parameter.dtype
    fits = is_array == (parameter.space in ("global", "constant"))
    if fits and is_array and (dtype is None or dtype.itemsize == value.dtype.itemsize):
        return value.buffer
    if fits and not is_array:
        try:
            if dtype is not None and dtype.names:
                return _as_structure(dtype, value)
            return dtype.type(value) if parameter.space == "value" and dtype is not None else value
        except (TypeError, ValueError, OverflowError):
            pass
    what = f"an array of {value.dtype}" if is_array else repr(value)
    raise KernelSourceError(f"{parameter.name}={what} does not fit {parameter.space} {dtype} of kernel {kernel}")


def _as_structure(dtype: np.dtype[Any], value: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping) or {*value} != {*(dtype.names or ())}:
        raise TypeError("a structure needs a value for each member")
    return np.array(tuple(value[name] for name in dtype.names or ()), dtype)[()]


class Launch:
    """A kernel with its arguments set.

    Calling a launch enqueues the kernel. Threads must not share a launch.
    """

    __slots__ = ("_arguments", "_handle", "_places", "_program", "kernel", "n_groups")

    def __init__(
        self,
        program: Program,
        kernel: str,
        handle: cl.Kernel,
        groups: int,
        parameters: Sequence[Parameter],
        arguments: list[Any],
    ) -> None:
        self._program = program
        self._handle = handle
        self._places = {parameter.name: (i, parameter) for i, parameter in enumerate(parameters)}
        self._arguments = arguments  # These references keep the buffers alive, because a cl.Kernel does not.
        self.kernel = kernel
        self.n_groups = groups

    def __del__(self) -> None:
        self._program.idle[self.kernel].append(self._handle)

    def __call__(self, n_groups: int | None = None) -> cl.Event:
        """Enqueue the kernel, over *n_groups* work-groups if this number is given, and return its event."""
        return self._program.launch(self.kernel, self._handle, n_groups or self.n_groups)

    def set(self, **values: Any) -> None:
        """Change the values of the kernel's named parameters.

        To change arrays, call :meth:`lend` or :meth:`replace`.
        """
        for name, value in values.items():
            index, parameter = self._places[name]
            argument = _as_argument(self.kernel, parameter, value)
            try:
                _set_argument(self._handle, index, parameter, argument)
            except cl.Error as error:  # typed_errors would do the same, but it is slower.
                raise as_device_error(f"setting {name} of {self.kernel}", error) from error

    def lend(self, arrays: Mapping[str, DeviceArray]) -> None:
        """Set the kernel's parameters that *arrays* names.

        Names that are not parameters of the kernel are ignored.
        """
        for name, array in arrays.items():
            if name in self._places:
                index, _ = self._places[name]
                self._handle.set_arg(index, array.buffer)
                self._arguments[index] = array

    def give_back(self, names: Iterable[str]) -> None:
        """Drop the references to the arrays of the parameters *names*.

        Call :meth:`lend` before the next launch.
        """
        for name in names:
            if name in self._places:
                self._arguments[self._places[name][0]] = None

    def takes(self, name: str) -> bool:
        """Return whether the kernel has a parameter called *name*."""
        return name in self._places

    def replace(self, old: DeviceArray, new: DeviceArray) -> None:
        """Replace the array *old* by *new* in all arguments of the kernel."""
        for index, argument in enumerate(self._arguments):
            if argument is old:
                with typed_errors(f"setting an array of {self.kernel}"):
                    self._handle.set_arg(index, new.buffer)
                self._arguments[index] = new
