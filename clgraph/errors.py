"""Exceptions raised by clgraph; every error derives from :class:`ClgraphError`.

Each message names the offending value, where it stands, and what is allowed, so that
the reader can act without opening the source.
"""

from __future__ import annotations


class ClgraphError(Exception):
    """Base class of all errors raised on purpose by clgraph."""


class InputError(ClgraphError, ValueError):
    """An argument or an input file is not acceptable."""


class GraphError(InputError):
    """The arrays do not describe a valid graph (indices, offsets, weights, symmetry)."""


class MeshError(InputError):
    """The arrays do not describe a valid triangulation, or lines of the plane that can be triangulated."""


class SourceError(InputError, IndexError):
    """A source is not among the vertices of the graph."""


class DistanceOverflowError(ClgraphError, OverflowError):
    """A shortest path is longer than 64 bits can tell."""


class GraphFileError(InputError):
    """A graph file cannot be read; names the file, the line, its text and the expected form."""


class HostMemoryError(ClgraphError, MemoryError):
    """What is asked for does not fit into the memory of this machine."""


class UnsupportedStrategyError(InputError):
    """The requested strategy is unknown, or this device cannot run it, or it does not solve this problem."""


class DeviceError(ClgraphError, RuntimeError):
    """The OpenCL runtime reported an error."""


class NoDeviceError(DeviceError):
    """No usable OpenCL device matches the request."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The data does not fit on the device; says how much is needed and available."""


class CapacityError(DeviceError):
    """A kernel ran out of room in a buffer that was not sized for this input."""


class DeviceTimeoutError(DeviceError):
    """A bounded wait on the device (lock, grid barrier) ran out."""


class WorkerLostError(DeviceError):
    """A worker of a Dask cluster is lost, or has not answered in time."""


class NoProgressError(DeviceTimeoutError):
    """A loop whose every round must make progress made none: a fault of clgraph or of a driver, to be reported."""


class KernelSourceError(ClgraphError):
    """A kernel source file is missing, or does not declare what the host asks of it."""


class KernelBuildError(DeviceError):
    """The OpenCL compiler rejected a program; carries the build log."""


class ForkError(ClgraphError, RuntimeError):
    """The process was forked after OpenCL was used; no OpenCL runtime survives that."""


class ClusterError(ClgraphError, RuntimeError):
    """A Dask cluster cannot do what is asked: it has no workers, or they do not fit each other."""


class VerificationError(ClgraphError, AssertionError):
    """A result does not satisfy the definition of the problem."""


class MissingExtraError(ClgraphError, ImportError):
    """A package that is not installed is needed here; the message names it."""


class MissingEdgesError(ClgraphError, AttributeError):
    """The graph of an unpickled result is asked for its edges, which pickles of results leave out."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it reached what was asked for."""


class GraphWarning(UserWarning):
    """A graph was taken, but it may not be the one that was meant."""


class GraphFileWarning(UserWarning):
    """A graph file was read, but something in it was taken for granted or passed over."""


class DeviceMatchWarning(UserWarning):
    """A CPU was found by its processor's maker or model, which any OpenCL runtime of this machine shares."""


class DeviceDroppedWarning(UserWarning):
    """A device has failed, and others have taken over what it was to compute."""
