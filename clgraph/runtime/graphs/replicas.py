"""Graphs on a device that are several disjoint copies of a graph, made by kernels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.arguments import checked_count
from clgraph.data.graphs.csr import MAX_VERTICES, offset_dtype
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


def replicated(
    session: Session,
    rows: Mapping[str, DeviceArray],
    weights: DeviceArray | None,
    defines: Mapping[str, int | str],
    k: int,
    first: int = 0,
) -> tuple[DeviceArray, DeviceArray, DeviceArray | None]:
    """Return the row offsets, columns and weights of *k* disjoint copies of the graph that has the arrays *rows*.

    The copies are numbered one after the other. If *first* is given, they are copies *first* … *first* + *k* − 1 in a
    larger graph, and the columns are vertex numbers of the larger graph.
    """
    n, m = rows["row_offsets"].size - 1, rows["column_indices"].size
    k = checked_count("k", k, MAX_VERTICES // max(n, 1), least=0)
    offsets = np.dtype(offset_dtype(k * m))
    weight_bytes = 0 if weights is None else weights.dtype.itemsize
    session.check_memory(
        {"row offsets": (k * n + 1) * offsets.itemsize, "column indices": 4 * k * m, "weights": weight_bytes * k * m}
    )
    made = {"out_offsets": session.empty(k * n + 1, offsets), "out_columns": session.empty(k * m, np.int32)}
    is_cpu = session.facts.is_cpu
    program = session.program(
        "generators/replicas.cl",
        {
            **defines,
            "OUT_OFFSET_T": "long" if offsets.itemsize == 8 else "int",
            "WEIGHT_T": "ulong" if weight_bytes == 8 else "uint",
        },
        work_group_size=session.facts.group_size(None),
    )
    groups = (4 if is_cpu else 32) * session.facts.compute_units
    scope = {"n": n, "m": m, "k": k, "first": first, **rows, **made}
    program.bind("replicate_rows", k * max(n, m), scope, max_groups=groups)()
    replicas = None
    if weights is not None:
        replicas = session.empty(k * m, weights.dtype)
        program.bind("replicate_weights", k * m, m=m, k=k, weights=weights, out_weights=replicas, max_groups=groups)()
    return made["out_offsets"], made["out_columns"], replicas
