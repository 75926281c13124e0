"""Exceptions raised by clgraph; every error derives from :class:`ClgraphError`.

Each message names the wrong value, its position and the allowed values, so that it can be
understood without the source.
"""

from __future__ import annotations


class ClgraphError(Exception):
    """Base class of all errors that clgraph raises deliberately."""


class InputError(ClgraphError, ValueError):
    """An argument or an input file is not acceptable."""


class GraphError(InputError):
    """The arrays do not describe a valid graph (indices, offsets, weights, symmetry)."""


class MeshError(InputError):
    """The arrays describe neither a valid triangulation nor a planar graph that can be triangulated."""


class SourceError(InputError, IndexError):
    """A source is not a vertex of the graph."""


class DistanceOverflowError(ClgraphError, OverflowError):
    """The length of a shortest path does not fit into 64 bits."""


class GraphFileError(InputError):
    """A graph file cannot be read; the message names the file, the line, its text and the expected form."""


class HostMemoryError(ClgraphError, MemoryError):
    """The data or the result does not fit into the memory of this machine."""


class UnsupportedStrategyError(InputError):
    """The requested strategy is unknown, or this device cannot run it, or it does not solve this problem."""


class DeviceError(ClgraphError, RuntimeError):
    """The OpenCL runtime reported an error."""


class NoDeviceError(DeviceError):
    """No usable OpenCL device matches the request."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The data does not fit on the device; the message says how much memory is needed and available."""


class CapacityError(DeviceError):
    """A kernel ran out of room in a buffer, because the buffer is too small for this input."""


class DeviceTimeoutError(DeviceError):
    """A wait on the device (for a lock or a grid barrier) reached its limit."""


class WorkerLostError(DeviceError):
    """A worker of a Dask cluster is lost, or did not answer in time."""


class NoProgressError(DeviceTimeoutError):
    """A round of a loop made no progress, though every round must; please report this fault of clgraph or a driver."""


class KernelSourceError(ClgraphError):
    """A kernel source file is missing, or does not declare a name that the host code asks for."""


class KernelBuildError(DeviceError):
    """The OpenCL compiler rejected a program; the message contains the build log."""


class ForkError(ClgraphError, RuntimeError):
    """The process was forked after it had used OpenCL, and OpenCL runtimes do not work in the child process."""


class ClusterError(ClgraphError, RuntimeError):
    """A Dask cluster cannot run the call: it has no workers, or their packages differ."""


class VerificationError(ClgraphError, AssertionError):
    """A result does not satisfy the definition of the problem."""


class MissingExtraError(ClgraphError, ImportError):
    """An optional package that this call needs is not installed; the message names it."""


class MissingEdgesError(ClgraphError, AttributeError):
    """The edges of an unpickled result's graph were read, but pickles of results do not store edges."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it reached its goal, such as the least angle of a mesh."""


class GraphWarning(UserWarning):
    """A graph was accepted, but it may not be the intended one."""


class GraphFileWarning(UserWarning):
    """A graph file was read, but a part of it was assumed or ignored."""


class DeviceMatchWarning(UserWarning):
    """A CPU was selected by its processor's maker or model, which does not say which OpenCL runtime is meant."""


class DeviceDroppedWarning(UserWarning):
    """A device failed, and other devices took over its work."""
