"""The HeteroScheduler class, which computes loads of independent items on several devices at the same time."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count, checked_flag, checked_number, is_array, refusing, shown
from clgraph.errors import DeviceDroppedWarning, InputError, KernelBuildError, NoDeviceError
from clgraph.hetero.learning import POLICIES
from clgraph.hetero.policies import Policy
from clgraph.hetero.process_runner import GPURunner, ProcessDevice, ProcessRunner, devices_of
from clgraph.hetero.report import HeteroReport
from clgraph.hetero.rounds import compute_round
from clgraph.hetero.runner import Runner
from clgraph.hetero.work import Work
from clgraph.runtime.session import Session


class HeteroRun(NamedTuple):
    """The outputs of :meth:`HeteroScheduler.run` and a report on its rounds.

    Attributes
    ----------
    results : list
        One result for each load.
    report : HeteroReport
    """

    results: list[Any]
    report: HeteroReport


class HeteroScheduler:
    """A scheduler that divides loads of items among devices, such that all devices end at the same time.

    Parameters
    ----------
    devices : "all", or a sequence of str, Session or pyopencl.Device
        ``"all"`` takes all GPUs and one runtime of the CPU, less a core for each GPU. Sub-devices are devices; see
        :func:`clgraph.hetero.sub_devices`. If several GPUs are given by name, or by ``"all"``, each of them but the
        first has a process of its own.
    policy : {"hass", "greedy", "min_min", "qilin", "static", "guided"}
        The rule that assigns items to devices; ``docs/hetero.md`` describes the policies. What a policy learns about
        a kernel is used in later calls, too.
    sub_loads : int
        The number of equal sub-loads into which a load is cut. ``greedy`` hands out single sub-loads, and devices
        steal whole sub-loads.
    training : float
        The part of the first load that ``qilin`` computes to learn.
    ratios : sequence of float, optional
        For ``static``: the shares of the devices, instead of the shares that the profiles give.
    skip_failed_builds : bool
        Whether devices on which the kernel does not build are left out with a warning; otherwise this is an error.

    Attributes
    ----------
    sessions : list of Session or ProcessDevice
        The devices that have not failed: a session in this process, or a device in a process of its own.

    Raises
    ------
    NoDeviceError
        There is no device, or none of that name.
    InputError
        A device is named twice, or the policy is unknown.

    Examples
    --------
    >>> from clgraph.hetero import elementwise
    >>> scheduler = cg.HeteroScheduler(["gpu", "cpu"])
    >>> square = elementwise("x * x", inputs={"x": np.float32}, dtype=np.float32)
    >>> (squares,), report = scheduler.run(square, [np.arange(1e6, dtype=np.float32)])
    """

    def __init__(
        self,
        devices: object = "all",
        *,
        policy: str = "hass",
        sub_loads: int = 100,
        training: float = 0.2,
        ratios: Sequence[float] | None = None,
        skip_failed_builds: bool = False,
    ) -> None:
        check_choice("policy", policy, POLICIES)
        self.policy = policy
        self._sub_loads = checked_count("sub_loads", sub_loads, 1 << 20)
        self._training = checked_number("training", training, 0.0, 1.0, above=True)
        self._skips = checked_flag("skip_failed_builds", skip_failed_builds)
        self.sessions = self._sessions_of(devices)
        self._ratios = self._checked_ratios(ratios)
        self._learned: dict[tuple[Any, ...], Policy] = {}
        self._warm: set[tuple[Any, Session]] = set()  # Pairs of a work and a session on which the work has run before.
        # For the first of several GPUs, the keys of works of which it has computed whole loads.
        self._warm_loads = defaultdict[Session, set[Any]](set)
        self._running = threading.Lock()
        self._inside = set[int]()  # The threads that compute the present run.

    def run(self, work: Work, loads: Iterable[Any], *, out: Sequence[NDArray[Any]] | None = None) -> HeteroRun:
        """Compute *work* for each of the *loads*, one after the other.

        Each load is one scheduling round. The functions of the work must not call this scheduler's ``run``.

        Parameters
        ----------
        work : Work
        loads : iterable
            The inputs of the work. Their arrays must not change during the call. A single load goes into a list.
        out : sequence of array, optional
            A C-contiguous array for the output of each load, if the work has one output.

        Returns
        -------
        HeteroRun
            ``results, report``.

        Raises
        ------
        InputError
            A load has no items, *out* does not have the shape and type of the outputs, a function of the work returns
            a value of a wrong type, or a function of the work has made this call.
        KernelBuildError
            The kernel does not build on a device, which the message names.
        DeviceError
            All devices have failed. If only some devices fail, the others take over. A :class:`DeviceDroppedWarning`
            names the failed devices, which are not used again.
        """
        if not isinstance(work, Work):
            raise InputError(f"work = {shown(work)}; allowed: a Work")
        loads, given = _checked_loads(loads), _checked_out(out)
        if given is not None and len(given) != len(loads):
            raise InputError(f"out has {len(given)} arrays for {len(loads)} loads")
        with self._alone() as enter:
            key = work.key
            runners = self._built(work, key)
            policy = self._policy(key, runners)
            rounds, results = [], []
            try:
                with ThreadPoolExecutor(len(runners), "clgraph-hetero", initializer=enter) as threads:
                    for k, load in enumerate(loads):
                        outputs = self._outputs(work, load, k, None if given is None else given[k])
                        rounds.append(compute_round(threads, policy, runners, load, outputs, self._sub_loads))
                        collected = next(iter(outputs.values())) if len(outputs) == 1 else outputs
                        results.append(work.collect(load, outputs) if work.collect is not None else collected)
            finally:
                for runner in runners:
                    runner.close()
                lost = {runner.session for d, runner in enumerate(runners) if d not in policy.living}
                self.sessions = [session for session in self.sessions if session not in lost]
                self._warm |= {(key, runner.session) for runner in runners if runner.is_warm}
        report = HeteroReport(self.policy, tuple(runner.name for runner in runners), tuple(rounds))
        return HeteroRun(results, report)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[Callable[[], None]]:
        """Let one run at a time pass, and yield a function that each thread of the run calls first."""
        if threading.get_ident() in self._inside:
            raise InputError("run() was called by a function of a work that this scheduler computes; use another one")
        with self._running:
            self._inside.add(threading.get_ident())
            try:
                yield lambda: self._inside.add(threading.get_ident())
            finally:
                self._inside.clear()

    def _sessions_of(self, devices: object) -> list[Any]:
        """Return the sessions and the devices in processes, for which the scheduler makes runners."""
        return devices_of(devices)

    def _runner(self, session: Any, work: Work, *, is_warm: bool) -> Any:
        """Return the runner that computes parts of loads with *session*."""
        if isinstance(session, ProcessDevice):
            return ProcessRunner(session, work, is_warm=is_warm)
        if not session.facts.is_cpu and any(isinstance(each, ProcessDevice) for each in self.sessions):
            return GPURunner(session, work, is_warm=is_warm, warm=self._warm_loads[session])
        return Runner(session, work, is_warm=is_warm)

    def _checked_ratios(self, ratios: Sequence[float] | None) -> dict[Session, float] | None:
        if ratios is None:
            return None
        with refusing("ratios", ratios, "a sequence of numbers"):
            # Only the first ratios are read, because the sequence may be huge, such as range(10**12).
            first = islice(ratios, len(self.sessions) + 1)
            shares = [checked_number(f"ratios[{k}]", share) for k, share in enumerate(first)]
        if self.policy != "static" or len(shares) != len(self.sessions) or not sum(shares) > 0:
            raise InputError(
                f"ratios = {shown(ratios)}; allowed: with the policy 'static', a share for each of the "
                f"{len(self.sessions)} devices, of which one is above 0"
            )
        return dict(zip(self.sessions, shares, strict=True))

    def _built(self, work: Work, key: tuple[Any, ...]) -> list[Runner]:
        runners: list[Runner] = []
        failed: list[KernelBuildError] = []
        for session in self.sessions:
            try:
                runners.append(self._runner(session, work, is_warm=(key, session) in self._warm))
            except KernelBuildError as error:
                if not self._skips:
                    raise
                failed.append(error)
                warnings.warn(f"{session.facts.name} is left out: {error}", DeviceDroppedWarning, stacklevel=3)
        if not runners:
            raise failed[0] if failed else NoDeviceError("all devices of this scheduler have failed")
        return runners

    def _policy(self, work_key: tuple[Any, ...], runners: Sequence[Runner]) -> Policy:
        """Return the scheduling policy that has learned from this work on these devices, or a new policy."""
        key = (work_key, *(runner.key for runner in runners))
        if key not in self._learned:
            members = [runner.member for runner in runners]
            if self._ratios is not None:
                members = [replace(m, weight=self._ratios[r.session]) for m, r in zip(members, runners, strict=True)]
            self._learned[key] = POLICIES[self.policy](members, training=self._training)
        return self._learned[key]

    def _outputs(self, work: Work, load: Any, number: int, given: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
        n_items = work.n_items(f"loads[{number}]", load)
        if given is None:
            return work.new_outputs(load, n_items)
        (name, (shape, dtype)), *others = work.output_forms(load, n_items).items()
        if others or not isinstance(given, np.ndarray) or (given.shape, given.dtype) != (shape, dtype):
            what = f"{given.shape} of {given.dtype}" if isinstance(given, np.ndarray) else shown(given)
            allowed = "nothing, for a work of several outputs" if others else f"{shape} of {dtype}"
            raise InputError(f"out[{number}] is {what}; allowed: {allowed}")
        if not given.flags.c_contiguous or not given.flags.writeable:
            raise InputError(f"out[{number}] is not contiguous or cannot be written")
        return {name: given}


def _checked_loads(loads: Any) -> list[Any]:
    if isinstance(loads, str | bytes | Mapping) or (is_array(loads) and np.ndim(loads) < 2):
        raise InputError(f"loads = {shown(loads)}; allowed: a sequence of loads; put a single load into a list")
    with refusing("loads", loads, "a sequence of loads"):
        return list(loads)


def _checked_out(out: Any) -> list[Any] | None:
    if out is None:
        return None
    with refusing("out", out, "None, a sequence of arrays"):
        return list(out)
