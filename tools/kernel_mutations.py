"""The places at which tools/mutate_kernels.py breaks kernels, and the text that stands there then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mutants import Mutation, numbered

ROOT = Path(__file__).resolve().parent.parent

# Words of vendors, which the vocabulary's tests check on devices, and the test of devices itself.
OTHER_CHECKS = (
    "common/atomic_updates.h", "common/racy_loads.h", "common/subgroup.h", "common/bits.h", "common/half.h",
    "probe/self_test.cl",
)  # fmt: skip
_BARRIERS = ("barrier", "local_barrier", "group_barrier", "team_sync", "sg_sync", "fence_device", "fence_locks")
_DELETED = (*_BARRIERS, "unlock", "drop_lock", "unlock_both", "report_status")
# Calls that wait; without them, they have waited.
_WAITS = ("grid_barrier", "wait_until_at_least", "wait_for")
# The value that an atomic of two steps stores, from old_ and the arguments x_ and y_.
_STEPS = {
    "fetch_add": "old_ + x_",
    "fetch_min": "x_ < old_ ? x_ : old_",
    "fetch_max": "x_ > old_ ? x_ : old_",
    "fetch_and": "old_ & x_",
    "fetch_or": "old_ | x_",
    "exchange": "x_",
    "compare_exchange": "old_ == x_ ? y_ : old_",
    "lower_to": "x_ < old_ ? x_ : old_",
    "float_add": "old_ + x_",
}
_CALL = re.compile(
    rf"\b(?P<word>{'|'.join((*_DELETED, *_STEPS, *_WAITS))})(?P<wanted>_if)?"
    r"\((?P<inside>(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)"
)
_FUNCTION = r"^(?:KERNEL|(?:ALWAYS_)?INLINE\b.*?|#define) \**(\w+)(?=\()"
_DEFINITION = re.compile(r"#define (\w+(\(\w*\))? *)?$|(?:ALWAYS_)?INLINE \w+ $")
# A condition after which a kernel ends, waits or leaves something out; group 1 is the value that it tests.
_CHECK = re.compile(
    r"(!(?:grid_barrier|await_others|next_turn|wait_for|color_by_all|wait_until_at_least)"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"|!passed\b|!turn\.told\b|(?<=if \()slot >= next\.room|(?<=if \()overflow(?=\))"
    r"|load_relaxed\(versions \+ low\) != low_version|(?<=&& )gave_up\([^()]*\)|(?<=if \()gave_up\([^()]*\))"
)
_LIMIT = re.compile(r"slot < next\.room|size \+ SUB_GROUP_SIZE <= queue\.room|slot < capacity")


def _in_steps(word: str, inside: str, *, is_conditional: bool) -> str:
    """Return a call of an atomic as an expression of two steps; if conditional, its first argument is the condition."""
    arguments, depth, start = [], 0, 0
    for i, letter in enumerate(inside + ","):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            arguments.append(inside[start:i].strip())
            start = i + 1
    wanted = arguments.pop(0) if is_conditional else "1"
    p, *values = arguments
    kept = "".join(
        f" __typeof__(LOAD_STEP_(p_)) {name} = {value};" for name, value in zip(("x_", "y_"), values, strict=False)
    )
    result = {"lower_to": "old_ > x_", "float_add": "(void)0"}.get(word, "old_")
    steps = (
        f"({{ __typeof__(({p}) + 0) p_ = ({p});{kept} __typeof__(LOAD_STEP_(p_)) old_ = LOAD_STEP_(p_), "
        f"new_ = {_STEPS[word]}; STORE_STEP_(p_, new_); {result}; }})"
    )
    return f"(({wanted}) ? {steps} : 0)" if is_conditional else steps


def places(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield (begin, end, kind, replacement, switch) of every mutation of a file.

    A switch is what stands there in C++: K is the mutation's number, WAS the text without it.
    """
    code = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)
    for found in _CALL.finditer(code):
        begin, end, word = *found.span(), found["word"]
        if _DEFINITION.search(code[code.rfind("\n", 0, begin) + 1 : begin]):
            continue
        if word in _DELETED:
            yield begin, end, f"no {word}", "(void)0", "do { if (!mutant_is_(K)) { WAS; } } while (0)"
        elif word in _WAITS:
            yield begin, end, f"no {word}", "1", "(mutant_is_(K) || WAS)"
        else:
            new = _in_steps(
                word, text[found.start("inside") : found.end("inside")], is_conditional=found["wanted"] is not None
            )
            yield begin, end, f"{word} in steps", new, f"(mutant_is_(K) ? {new} : WAS)"
    for found in _CHECK.finditer(code):
        yield *found.span(), "check ignored", f"({found[0]}, 0)", "((WAS) && !mutant_is_(K))"
    for found in _LIMIT.finditer(code):
        yield *found.span(), "limit ignored", "1", "(mutant_is_(K) || WAS)"


def mutations() -> list[Mutation]:
    """Return every mutation of every kernel file."""
    result = list[Mutation]()
    for path in sorted((*(ROOT / "cl").rglob("*.h"), *(ROOT / "cl").rglob("*.cl"))):
        file, text = str(path.relative_to(ROOT / "cl")), path.read_text()
        if file not in OTHER_CHECKS:
            result += numbered(file, text, places(text), _FUNCTION)
    return [
        replace(each, switch=each.switch.replace("mutant_is_(K)", f"mutant_is_({k})")) for k, each in enumerate(result)
    ]


def with_all(text: str, changes: Sequence[Mutation], begin: int = 0, end: int | None = None) -> str:
    """Return the text of one file from *begin* to *end* with the switches of all its mutations."""
    parts, at, end = [], begin, len(text) if end is None else end
    for k, change in enumerate(changes):
        if change.begin >= at and change.end <= end:  # else it is within one before
            inner = with_all(text, changes[k + 1 :], change.begin, change.end)
            parts += [text[at : change.begin], change.switch.replace("WAS", inner)]
            at = change.end
    return "".join((*parts, text[at:end]))
