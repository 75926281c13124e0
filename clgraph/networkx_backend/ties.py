"""Tests of networkx that expect one of several right answers, and the reason why ours is another."""

from __future__ import annotations

TIES: dict[str, str] = {}
