"""Algorithms: each module has a public function, ``STRATEGIES`` and their plans."""
