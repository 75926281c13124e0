"""Teams of devices: copies between them, a thread for each, the order of merges, errors with a device's name."""

import threading
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from conftest import session_on

from clgraph.errors import DeviceError, DeviceMemoryError, InputError, NoDeviceError
from clgraph.multi_device.team import _PIECE_BYTES, Team
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.session import Session


@pytest.fixture(scope="module")
def halves(pair: list[Session]) -> list[Session]:
    """The devices of the tests in one context if they have one platform, else two parts of one CPU."""
    parts = [session.device for session in pair]
    if parts[0].platform != parts[1].platform:
        parts = [session.device for session in sub_devices(session_on("pocl").device, [1, 1])]
    context = cl.Context(parts)
    return [Session(cl.CommandQueue(context, part)) for part in parts]


@pytest.mark.parametrize("size", [0, 1, 1000, _PIECE_BYTES // 4 + 17, 3 * _PIECE_BYTES // 4])
def test_an_array_goes_to_another_device(pair: list[Session], size: int) -> None:
    team = Team(pair)
    for own, to in (team.sessions, team.sessions[::-1]):
        array = own.upload(np.arange(size, dtype=np.int32))
        copy = team.send(array, to)
        assert copy.memory is to.memory
        np.testing.assert_array_equal(copy.get(), np.arange(size))
    assert team.sent_bytes == 2 * 4 * size


@pytest.mark.parametrize("over_the_host", [False, True])
def test_an_array_goes_to_a_device_of_the_same_context(
    halves: list[Session], monkeypatch: pytest.MonkeyPatch, over_the_host: bool
) -> None:
    monkeypatch.setattr("clgraph.multi_device.team.copies_faster_over_the_host", lambda _device: over_the_host)
    team = Team(halves)
    array = halves[0].zeros(100_000, np.int32)
    array.fill(7)
    array.fill(5, 10, 20)
    found = team.send(array, halves[1]).get()
    assert found[10:20].tolist() == [5] * 10
    assert (found[20:] == 7).all()


def test_each_device_has_a_thread_and_results_are_in_order(pair: list[Session]) -> None:
    team, meeting = Team(pair), threading.Barrier(2)

    def work(place: int) -> int:
        meeting.wait(300)  # each needs the other
        return 10 * place

    assert team.each(work) == [0, 10]
    assert team.each(lambda place: place, [1]) == [1]
    assert team.each(lambda place: place, []) == []


def test_a_copy_that_fails_ends(pair: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """More pieces are left than there is room for on the host."""

    def write(*_given: object) -> None:
        raise DeviceError("it is full")

    team = Team(pair)
    monkeypatch.setattr(team, "write", write)
    array = pair[0].zeros(6 * _PIECE_BYTES // 4, np.int32)
    with pytest.raises(DeviceError, match="it is full"):
        team.send(array, pair[1])


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (DeviceError("it is broken"), DeviceError, ": it is broken"),
        (DeviceMemoryError("it is full"), DeviceMemoryError, ": it is full"),
        (cl.LogicError("clEnqueueNDRangeKernel", cl.status_code.INVALID_KERNEL_ARGS, ""), DeviceError, ""),
    ],
)
def test_a_device_whose_thread_fails_is_named(
    pair: list[Session], raised: Exception, kind: type[DeviceError], message: str
) -> None:
    ended: list[int] = []

    def work(place: int) -> None:
        if place == 1:
            raise raised
        ended.append(place)

    with pytest.raises(kind, match=rf"devices\[1\], .*{message}"):
        Team(pair).each(work)
    assert ended == [0]


def _placed(*places: tuple[int, int]) -> Team:
    """Return a team of devices that are not there, each of a platform and a context."""
    team = object.__new__(Team)
    team.sessions = tuple(
        SimpleNamespace(
            device=SimpleNamespace(platform=SimpleNamespace(int_ptr=platform)), context=SimpleNamespace(int_ptr=context)
        )
        for platform, context in places
    )  # type: ignore[assignment]
    return team


@pytest.mark.parametrize("n", range(1, 10))
def test_every_device_gives_once_but_the_last(n: int) -> None:
    rounds = _placed(*[(0, 0)] * n).merge_rounds()
    assert len(rounds) == (n - 1).bit_length()
    merged = {place: {place} for place in range(n)}
    for pairs in rounds:
        assert len({place for pair in pairs for place in pair}) == 2 * len(pairs)
        for taker, giver in pairs:
            merged[taker] |= merged.pop(giver)
    assert [*merged.values()] == [{*range(n)}]


def test_devices_of_one_context_merge_first_and_then_those_of_one_platform() -> None:
    team = _placed((1, 10), (2, 20), (1, 11), (1, 10), (2, 20))
    assert team.merge_rounds() == [[(0, 3), (1, 4)], [(0, 2)], [(0, 1)]]
    assert team.merge_rounds([2, 4]) == [[(2, 4)]]


def test_wrong_teams_and_steps_are_refused(pair: list[Session]) -> None:
    with pytest.raises(NoDeviceError, match="no device is given"):
        Team([])
    with pytest.raises(InputError, match=r"devices\[0\] and devices\[1\]"):
        Team([pair[0], pair[0].device])
    with pytest.raises(InputError, match="devices = 'pocl'"):
        Team("pocl")
