"""How measured times change the next pick: those of the same graph, and ratios that hold for a device.

Nothing here changes what an algorithm returns, only which strategy finds it, so only algorithms whose answers are the
same for all strategies take part. ``CLGRAPH_LEARN=0`` turns it off.
"""
from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary, finalize

from clgraph.device.learned import Learned, learns
from clgraph.model.strategy import Choice, Kind
from clgraph.runtime.session import Session
from clgraph.runtime.timing import Recorder

_BETTER = 0.9  # of what the one in use takes, or is expected to take, another strategy must promise less than this
_TRIAL_SECONDS = 0.02  # to make a plan and compile: a strategy is tried once not to try it has lost as much
_KEPT_SHARE = 0.75  # of what was measured before, when one run more is known
_SAVED_SECONDS = 10.0  # between two writings of the file


@dataclass
class Trials:
    """What was measured of one problem on one graph.

    Attributes
    ----------
    seconds : dict of str to float
        What each strategy takes that has run.
    lost : float
        Seconds that these runs took beyond what another strategy promises.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lost: float = 0.0


class Run:
    """When a plan ran, by the host's clock and by the kernels that *recorder* has seen."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._begin = recorder, len(recorder.kernel_events)
        self._end, self._began, self._ended = self._begin, time.perf_counter(), 0.0

    def stop(self) -> None:
        self._end = len(self._recorder.kernel_events)
        self._ended = time.perf_counter()

    def seconds(self, kind: Kind) -> float:
        """Return what it took, of a strategy of that *kind*, once the recorder has read the times of its events."""
        if kind == "sequential":
            return self._ended - self._began
        return self._recorder.span(self._begin, self._end)


class Learning:
    """What a session has learned, and what it does with it.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self.profile = session.profile
        self.learned = Learned(session.facts, session.profile.rates)
        self._has_run: set[tuple[str, str]] = set()
        self._saved = time.monotonic()
        self._is_new = False
        finalize(session, self._save)  # also when Python ends

    def pick(self, algorithm: str, choice: Choice, trials: Trials) -> Choice:
        """Return *choice*, with another strategy if what was measured speaks clearly for that.

        A strategy that has run on this graph counts as it was measured, another as it is predicted and corrected. So
        each is tried at most once that promises to be better than the best one so far.
        """
        tried = {name: seconds for name, seconds in trials.seconds.items() if name in choice.predicted}
        if not tried and not self.learned.ratios:
            return choice
        expected = {
            name: tried.get(name) or seconds * self.learned.correction(algorithm, name)
            for name, seconds in choice.seconds.items() if name in choice.predicted
        }
        current = min(tried, key=tried.__getitem__) if tried else choice.strategy
        best = min(expected, key=expected.__getitem__)
        if expected[best] >= _BETTER * expected[current]:
            best = current
        elif tried:
            trials.lost += expected[current] - expected[best]
            if trials.lost < _TRIAL_SECONDS:
                best = current
            else:
                trials.lost = 0.0
        return choice if best == choice.strategy else replace(choice, strategy=best)

    def note(self, algorithm: str, choice: Choice, seconds: float, trials: Trials) -> None:
        """Keep what a run took. The first run of a strategy in a session counts for nothing: drivers load its code."""
        name = choice.strategy
        if (algorithm, name) not in self._has_run:
            self._has_run.add((algorithm, name))
            return
        if not seconds > 0.0:  # a queue that takes no times says NaN
            return
        before = trials.seconds.get(name)
        if before is not None:  # searches from other sources take other times
            trials.seconds[name] = before**_KEPT_SHARE * seconds ** (1.0 - _KEPT_SHARE)
            return
        trials.seconds[name] = seconds
        self.learned.note(algorithm, name, seconds, choice.predicted[name].seconds)
        self._is_new = True
        if time.monotonic() - self._saved > _SAVED_SECONDS:
            self._save()

    def _save(self) -> None:
        if self._is_new:
            self._saved, self._is_new = time.monotonic(), False
            self.learned.save()


_OF_SESSIONS: WeakKeyDictionary[Session, Learning] = WeakKeyDictionary()


def learning_of(session: Session) -> Learning | None:
    """Return what *session* has learned under its profile, or ``None`` where learning is turned off."""
    if not learns():
        return None
    known = _OF_SESSIONS.get(session)
    if known is None or known.profile is not session.profile:
        _OF_SESSIONS[session] = known = Learning(session)
    return known


def call_seconds(choice: Choice) -> float:
    """Return what is predicted of a call beside its kernels."""
    return choice.predicted[choice.strategy].parts.get("call", 0.0)
