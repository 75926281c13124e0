"""Exceptions raised by clgraph; every error derives from :class:`ClgraphError`.

Each message names the wrong value, its position and the allowed values, so that it can be
understood without the source.
"""

from __future__ import annotations


class ClgraphError(Exception):
    """Base class of all errors that clgraph raises deliberately."""


class InputError(ClgraphError, ValueError):
    """An argument or an input file is not acceptable, for the reason in the message."""


class GraphError(InputError):
    """The arrays do not describe a valid graph: an index, offset, weight or the symmetry is wrong."""


class MeshError(InputError):
    """The arrays describe neither a valid triangulation nor a planar graph that can be triangulated."""


class SourceError(InputError, IndexError):
    """A search's source is not a vertex of the graph."""


class DistanceOverflowError(ClgraphError, OverflowError):
    """The length of a shortest path does not fit into 64 bits."""


class GraphFileError(InputError):
    """A graph file cannot be read.

    The message names the file, the line, its text and the expected form.
    """


class HostMemoryError(ClgraphError, MemoryError):
    """The data or the result does not fit into the memory of this machine."""


class UnsupportedStrategyError(InputError):
    """The requested strategy is unknown, or this device cannot run it, or it does not solve this problem."""


class DeviceError(ClgraphError, RuntimeError):
    """The OpenCL runtime reported an error."""


class NoDeviceError(DeviceError):
    """No usable OpenCL device matches the request for a device."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The data does not fit on the device.

    The message says how much memory is needed and available.
    """


class CapacityError(DeviceError):
    """A kernel ran out of room in a buffer, because the buffer is too small for this input."""


class DeviceTimeoutError(DeviceError):
    """A kernel waited too long on the device, for a lock or a grid barrier."""


class WorkerLostError(DeviceError):
    """A worker of a Dask cluster is lost, or did not answer in time."""


class NoProgressError(DeviceTimeoutError):
    """A loop on the device made a round without progress, which is a fault of clgraph or of a driver.

    Please report it.
    """


class KernelSourceError(ClgraphError):
    """A kernel source file is missing, or does not declare a name that the host code asks for."""


class KernelBuildError(DeviceError):
    """The OpenCL compiler rejected a program; the message contains the build log."""


class ForkError(ClgraphError, RuntimeError):
    """The process was forked after it had used OpenCL, and OpenCL runtimes do not work in the child process."""


class ClusterError(ClgraphError, RuntimeError):
    """A Dask cluster cannot run the call: it has no workers, or their package versions differ."""


class VerificationError(ClgraphError, AssertionError):
    """A result does not satisfy the definition of the problem."""


class MissingExtraError(ClgraphError, ImportError):
    """An optional package that this call needs is not installed.

    The message names the package.
    """


class MissingEdgesError(ClgraphError, AttributeError):
    """The edges of an unpickled result's graph were read, but pickles of results do not store edges."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it reached its goal, such as the least angle of a mesh."""


class GraphWarning(UserWarning):
    """A graph was accepted, but it may not be the graph that the caller intended."""


class GraphFileWarning(UserWarning):
    """A graph file was read, but a part of it was assumed or ignored."""


class DeviceMatchWarning(UserWarning):
    """The request named a CPU by its maker or model, which does not say which OpenCL runtime is meant."""


class DeviceDroppedWarning(UserWarning):
    """A device failed, and other devices took over its work."""
