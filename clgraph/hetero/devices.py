"""What policies know of the devices that share a load."""

from __future__ import annotations

from clgraph.hetero.policies import Member
from clgraph.runtime.devices import speed_of
from clgraph.runtime.session import Session

_LANES_OF_A_GPU_UNIT = 128


def member(session: Session) -> Member:
    """Return what policies know of a device."""
    facts = session.facts
    lanes = facts.compute_units * (1 if facts.is_cpu else _LANES_OF_A_GPU_UNIT)
    return Member(speed_of(session), lanes, facts.is_cpu)
