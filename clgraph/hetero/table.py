"""All policies by their names."""

from __future__ import annotations

from clgraph.hetero.learning import HASS, Qilin
from clgraph.hetero.policies import Greedy, Guided, MinMin, Policy, Static

POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in (HASS, Greedy, MinMin, Qilin, Static, Guided)}
