"""Static properties of one OpenCL device, as its driver reports them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from clgraph.tables import table

_Size = TypeVar("_Size", int, None)


@dataclass(frozen=True)
class Dialect:
    """The ways in which the kernels of a device implement sub-groups, atomics, loads and so on.

    Each value selects a branch in ``cl/common/*.h``. :mod:`clgraph.runtime.driver.quirks` chooses the values.
    """

    standard: str = "CL1.2"
    sub_group: str = "SUB_GROUP_SINGLE"  # The header that implements sub-groups in kernels: SINGLE, PTX, KHR or AMDGCN.
    atomics: str = "ATOMICS_CL12"  # CL12, C11
    loads: str = "LOADS_VOLATILE"  # The kind of loads that see other work-items' stores: VOLATILE, C11, PTX or ATOMIC.
    float_add: str = "FLOAT_ADD_CAS"  # The implementation of atomic additions of floats: CAS, PTX, EXT or AMDGCN.
    kernel_attribute: str = ""
    nvidia_sm: int = 0
    spin_pause: str = ""  # Assembly instruction that kernels execute while they wait in a loop.
    # True if all resident work-groups make progress, so that they can wait for each other at a grid barrier.
    has_grid_barrier: bool = False


@dataclass(frozen=True)
class DeviceFacts:
    """Static properties of an OpenCL device, as :func:`clgraph.runtime.discovery.query.query_facts` reads them.

    The names say the units.
    """

    name: str
    vendor: str = ""
    platform: str = ""
    platform_version: str = ""
    driver_version: str = ""
    is_cpu: bool = False
    compute_units: int = 1
    sub_group_size: int = 1
    max_work_group_size: int = 1
    local_mem_bytes: int = 0
    global_mem_bytes: int = 0
    max_alloc_bytes: int = 0
    has_int64_atomics: bool = False
    has_fp64: bool = False
    dialect: Dialect = field(default_factory=Dialect)

    def group_size(self, on_gpu: _Size) -> int | _Size:
        """Return the work-group size of a kernel on this device: *on_gpu* on a GPU, the sub-group size on a CPU.

        Larger groups gain nothing on a CPU, where a core runs the work-items of a group one after the other. In a group
        smaller than a sub-group, kernels whose lanes wait for each other would not end.
        """
        return self.sub_group_size if self.is_cpu else on_gpu

    def defines(self) -> dict[str, int | str]:
        """Return the facts about this device as preprocessor definitions for kernels."""
        return {
            "DEV_IS_CPU": int(self.is_cpu),
            "DEV_COMPUTE_UNITS": self.compute_units,
            "DEV_LOCAL_MEM_BYTES": self.local_mem_bytes,
            "DEV_HAS_INT64_ATOMICS": int(self.has_int64_atomics),
            "DEV_HAS_FP64": int(self.has_fp64),
            "DEV_SUB_GROUP": self.dialect.sub_group,
            "DEV_SUB_GROUP_SIZE": self.sub_group_size,
            "DEV_ATOMICS": self.dialect.atomics,
            "DEV_LOADS": self.dialect.loads,
            "DEV_FLOAT_ADD": self.dialect.float_add,
            "DEV_KERNEL_ATTRIBUTE": self.dialect.kernel_attribute,
            "DEV_NVIDIA_SM": self.dialect.nvidia_sm,
            **({"DEV_SPIN_PAUSE": f'"{self.dialect.spin_pause}"'} if self.dialect.spin_pause else {}),
        }


ANY_DEVICE = DeviceFacts("any device", is_cpu=True)
"""Stands for the device while no driver has been loaded; it has the rates of a generic CPU."""


@dataclass(frozen=True, repr=False)
class DeviceInfo:
    """A device in the list that :func:`clgraph.devices` returns.

    Attributes
    ----------
    id : str
        ``"platform:device"``, accepted by ``Session`` and ``CLGRAPH_DEVICE``.
    facts : DeviceFacts or None
        ``None`` if the device cannot be used.
    reason : str or None
        The reason why it cannot be used.
    """

    id: str
    platform: str
    name: str
    facts: DeviceFacts | None = None
    reason: str | None = None

    def __repr__(self) -> str:
        return f"DeviceInfo({', '.join(filter(None, map(str, self.row())))})"

    def row(self) -> tuple[object, ...]:
        """Return this device's row of the table of devices, with the columns :data:`COLUMNS`."""
        if self.facts is None:
            return self.id, self.platform, self.name, f"unusable: {self.reason}", "", ""
        kind, memory = "CPU" if self.facts.is_cpu else "GPU", f"{self.facts.global_mem_bytes / 2**30:.1f} GiB"
        return self.id, self.platform, self.name, kind, self.facts.compute_units, memory


COLUMNS = "id", "platform", "device", "type", "units", "memory"


class DeviceList(list[DeviceInfo]):
    """The list that :func:`clgraph.devices` returns; ``print`` shows it as a table."""

    def __str__(self) -> str:
        return table(COLUMNS, [device.row() for device in self])

    def _repr_html_(self) -> str:
        return table(COLUMNS, [device.row() for device in self], "html")
