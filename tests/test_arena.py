"""One allocation for many arrays: where they stand, what is given back, and what is said when there is no room."""

import gc

import numpy as np
import pytest

from clgraph.errors import DeviceError, DeviceMemoryError, InputError
from clgraph.primitives.fill import iota
from clgraph.primitives.scan import Scan
from clgraph.runtime.arena import Arena, Room

TAKES = [(1000, np.int32), (1, np.uint8), (0, np.int64), (77, np.float64), (3, np.uint32)]


@pytest.mark.parametrize("takes", [TAKES, [(0, np.float64)]])
def test_arrays_stand_apart_and_in_the_arena(session, takes):
    arena = Arena(session, Arena.size_of(session, takes))
    arrays = [arena.take(*each) for each in takes]
    assert arena.used_bytes == arena.peak_bytes == arena.n_bytes
    for k, array in enumerate(arrays):
        array.fill(k)
    for k, array in enumerate(arrays):
        assert array.get().tolist() == [k] * takes[k][0] and array.dtype == takes[k][1]
    assert not any(a.overlaps(b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_what_is_given_back_is_taken_again(session):
    arena = Arena(session, 1 << 16)
    labels = arena.take(100, np.int32)
    iota(session, labels)
    mark = arena.mark()
    first = arena.take(1000, np.int32)
    first.fill(-1)
    arena.release(mark)
    second, sums = arena.take(1000, np.int32), arena.take(1001, np.int32)
    assert first.overlaps(second)
    iota(session, second)
    Scan(session, second, sums).run_checked()
    assert labels.get().tolist() == list(range(100)) and sums.item(1000) == 1000 * 999 // 2
    del arena, second
    gc.collect()
    assert sums.item(1000) == 1000 * 999 // 2, "an array keeps the memory of its arena"


def test_a_rehearsal_tells_what_a_multilevel_run_needs(session):
    """Each level keeps its vertices and gives back its scratch; the way up keeps nothing."""

    def levels(room, take):
        kept, n = [], 10_000
        while n > 10:
            kept.append(take(n, np.int32))
            mark = room.mark()
            take(3 * n, np.uint64)
            room.release(mark)
            n //= 2
        room.release(0)
        return kept

    rehearsal = Room(session)
    levels(rehearsal, rehearsal.place)
    assert rehearsal.used_bytes == 0 and rehearsal.peak_bytes >= 10_000 * (4 + 24)
    arena = Arena(session, rehearsal.peak_bytes)
    levels(arena, arena.take)
    assert arena.peak_bytes == rehearsal.peak_bytes
    tight = Arena(session, rehearsal.peak_bytes - 1)
    with pytest.raises(DeviceMemoryError):
        levels(tight, tight.take)


def test_no_room_names_request_room_and_peak(session):
    step = session.alignment
    arena = Arena(session, 10 * step)
    mark = arena.mark()
    arena.take(8 * step, np.uint8)
    arena.release(mark)
    arena.take(step, np.uint8)
    message = f"{3 * step:,} items of int32 need {12 * step:,} bytes .* has {9 * step:,} of {10 * step:,} left"
    with pytest.raises(DeviceMemoryError, match=f"{message}; at most {8 * step:,} were taken"):
        arena.take(3 * step, np.int32)
    assert arena.take(9 * step, np.uint8).size == 9 * step, "a request that was refused takes nothing"


def test_wrong_marks_and_sizes(session):
    arena = Arena(session, 1 << 16)
    arena.take(1, np.int32)
    mark = arena.mark()
    arena.release(0)
    for wrong in (mark, -session.alignment, 1):
        with pytest.raises(DeviceError, match=f"mark {wrong} is no mark"):
            arena.release(wrong)
    with pytest.raises(InputError, match="size = -1"):
        arena.take(-1, np.int32)
