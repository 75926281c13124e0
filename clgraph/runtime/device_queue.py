"""The queue from which kernels launch kernels."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from clgraph.runtime import opencl as cl
from clgraph.runtime.session import Session

_queues: WeakKeyDictionary[Session, cl.CommandQueue | None] = WeakKeyDictionary()


def has_device_queue(session: Session) -> bool:
    """Return whether kernels of *session* may launch others; the queue they use is created on the first call.

    Only where the device says so in the list of features of OpenCL 3.0: PoCL answers the older queries at random.
    """
    if session not in _queues:
        _queues[session] = _default_queue(session)
    return _queues[session] is not None


def _default_queue(session: Session) -> cl.CommandQueue | None:
    kinds = cl.command_queue_properties
    try:
        features = {feature.name for feature in session.device.opencl_c_features}
        if session.facts.dialect.standard != "CL3.0" or "__opencl_c_device_enqueue" not in features:
            return None
        properties: Any = kinds.ON_DEVICE | kinds.ON_DEVICE_DEFAULT | kinds.OUT_OF_ORDER_EXEC_MODE_ENABLE
        return cl.CommandQueue(session.context, session.device, properties=properties)
    except (cl.Error, AttributeError):
        return None
