"""What runs have shown of predictions: measured over predicted seconds of strategies, in a file for each device."""
from __future__ import annotations

import json
import logging
import math
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates, user_path
from clgraph.user_cache import write_whole

SCHEMA_VERSION = 1
_USUAL_ERROR = math.log(1.6)  # of a prediction: how far a strategy as a whole is off, before anything was measured
_LEAST_SPREAD = math.log(1.2)  # of the runs of one strategy, however alike the first of them were
_MOST_RUNS = 64.0  # that count in full; what was long ago fades
_MOST_OFF = math.log(100.0)  # of a run that counts; more is a machine that was asleep

logger = logging.getLogger(__name__)


def learns() -> bool:
    """Return whether anything that was measured without being asked for may change picks."""
    return os.environ.get("CLGRAPH_LEARN") != "0"


@dataclass(frozen=True)
class Ratio:
    """Measured over predicted seconds of one strategy, as a mean over inputs of the logarithm.

    Attributes
    ----------
    n : float
        How many inputs count.
    mean, squares : float
        The mean of the logarithms, and the sum of their squared distances from it.
    """

    n: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    def with_one(self, logarithm: float) -> Ratio:
        """Return the ratio with one input more."""
        kept = min(1.0, (_MOST_RUNS - 1.0) / self.n) if self.n else 1.0
        n = kept * self.n + 1.0
        mean = self.mean + (logarithm - self.mean) / n
        return Ratio(n, mean, kept * self.squares + (logarithm - self.mean) * (logarithm - mean))

    @property
    def spread(self) -> float:
        """The standard deviation of the logarithms."""
        return math.sqrt(self.squares / (self.n - 1.0)) if self.n > 1.0 else _USUAL_ERROR

    @property
    def correction(self) -> float:
        """By what to multiply a prediction: few runs, and runs that differ much, move it less."""
        noise = max(_LEAST_SPREAD, self.spread) ** 2
        return math.exp(self.mean * self.n / (self.n + noise / _USUAL_ERROR**2)) if self.n else 1.0


class Learned:
    """The ratios of one device under one set of rates; a file that other rates have made counts as empty.

    Parameters
    ----------
    facts : DeviceFacts
    rates : DeviceRates

    Attributes
    ----------
    path : Path
    ratios : dict of (str, str) to Ratio
        By algorithm and strategy.
    """

    def __init__(self, facts: DeviceFacts, rates: DeviceRates) -> None:
        self.path = learned_path(facts)
        self._rates = zlib.crc32(repr(rates).encode())
        self.ratios = _read(self.path, self._rates)

    def note(self, algorithm: str, strategy: str, measured: float, predicted: float) -> None:
        """Take one input more, of which a run took *measured* seconds."""
        if not (0.0 < measured < math.inf and 0.0 < predicted < math.inf):
            return
        logarithm = math.log(measured / predicted)
        if abs(logarithm) <= _MOST_OFF:
            self.ratios[algorithm, strategy] = self.ratios.get((algorithm, strategy), Ratio()).with_one(logarithm)

    def correction(self, algorithm: str, strategy: str) -> float:
        """By what to multiply a prediction; 1 if nothing is known."""
        ratio = self.ratios.get((algorithm, strategy))
        return 1.0 if ratio is None else ratio.correction

    def save(self) -> None:
        """Write the file; one that cannot be written is no error."""
        document: dict[str, Any] = {"schema": SCHEMA_VERSION, "rates": self._rates, "ratios": {}}
        for (algorithm, strategy), ratio in sorted(self.ratios.items()):
            known = document["ratios"].setdefault(algorithm, {})
            known[strategy] = {"n": ratio.n, "mean": ratio.mean, "squares": ratio.squares}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps(document, indent=1) + "\n")
        except OSError as error:
            logger.debug("%s is not written: %s", self.path, error)


def learned_path(facts: DeviceFacts) -> Path:
    """Return where the ratios of this platform, device and driver are kept, beside its measured profile."""
    path = user_path(facts)
    return path.with_name(f"{path.stem}.learned.json")


def _read(path: Path, rates: int) -> dict[tuple[str, str], Ratio]:
    """Return the ratios in a file; a missing, damaged or foreign one has none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA_VERSION or document["rates"] != rates:
            return {}
        found = {
            (algorithm, strategy): Ratio(*(float(values[name]) for name in ("n", "mean", "squares")))
            for algorithm, known in document["ratios"].items()
            for strategy, values in known.items()
        }
    except OSError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        logger.debug("passing over %s: %s", path, error)
        return {}
    return found if all(map(_is_sound, found.values())) else {}


def _is_sound(ratio: Ratio) -> bool:
    return 0.0 < ratio.n <= 2 * _MOST_RUNS and abs(ratio.mean) <= _MOST_OFF and 0.0 <= ratio.squares < 1e6
