"""The random numbers of simulations: numpy's PCG64, bit for bit, as compiled code can run and seed it.

A kernel draws with the methods of numpy's Generator. In compiled code these are numba's, on the bits of a `Stream`; in
plain Python it is a Generator of numpy.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import is_compiling
from mfbai.kernels.machine import load_text

CALLS = ("next_uint64", "next_uint32", "next_double")
WORDS = 6  # state, high and low; increment, high and low; whether half of a draw is left, and that half
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
MASK = (1 << 128) - 1


class Stream(NamedTuple):
    """A stream of random bits."""

    words: np.ndarray  # (WORDS,) uint64
    calls: np.ndarray  # (len(CALLS),) the addresses of the functions that draw from it


def make_rng() -> Any:
    """What kernels draw from, to be seeded first."""
    if not is_compiling():
        return np.random.default_rng(0)
    return Stream(np.zeros(WORDS, dtype=np.uint64), np.array([_addresses()[name] for name in CALLS]))


def stream_of(rng: np.random.Generator) -> Stream:
    """The bits of a Generator of numpy, as compiled code takes them. It must outlive the stream."""
    known = rng.bit_generator.ctypes
    words = np.ctypeslib.as_array((ctypes.c_uint64 * 1).from_address(known.state_address))
    calls = [ctypes.cast(getattr(known, name), ctypes.c_void_p).value for name in CALLS]
    return Stream(words, np.array(calls, dtype=np.int64))


def reseed(rng: Any, words: NDArray[np.uint64]) -> None:
    """Start again, with a row of `first_words`."""
    if isinstance(rng, Stream):
        rng.words[:] = words
        return
    high, low, step_high, step_low = (int(word) for word in words[:4])
    state = {"state": high << 64 | low, "inc": step_high << 64 | step_low}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}


def first_words(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(n, WORDS) how PCG64 begins if it is seeded with SeedSequence(seed, spawn_key=(number,)), for each number."""
    drawn = _seed_words(seed, numbers)
    found = np.zeros((len(numbers), WORDS), dtype=np.uint64)
    for row, (high, low, step_high, step_low) in zip(found, drawn.tolist(), strict=True):
        step = (step_high << 65 | step_low << 1 | 1) & MASK
        state = ((step + (high << 64 | low)) * MULTIPLIER + step) & MASK
        row[:4] = state >> 64, state & (MASK >> 64), step >> 64, step & (MASK >> 64)
    return found


def _seed_words(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(n, 4) what these seed sequences generate: numpy's hash, for all numbers at once."""
    entropy = [np.full(len(numbers), word, dtype=np.uint32) for word in _halves(seed, least=4)]
    if int(numbers.max(initial=0)) >= 1 << 32:
        raise ValueError("the number of a run has 32 bits at most")
    entropy.append(numbers.astype(np.uint32))
    with np.errstate(over="ignore"):
        return _generate(_mix_all(entropy))


def _halves(seed: int, least: int) -> list[int]:
    """The 32-bit words of a number, the lowest first."""
    words = [seed >> 32 * n & 0xFFFFFFFF for n in range(max(-(-seed.bit_length() // 32), 1))]
    return words + [0] * (least - len(words))


def _mix_all(entropy: list[NDArray[np.uint32]]) -> list[NDArray[np.uint32]]:
    """The pool of four words that all entropy goes into."""
    factor = 0x43B0D7E5

    def hashed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        nonlocal factor
        words = words ^ np.uint32(factor)
        factor = factor * 0x931E8875 & 0xFFFFFFFF
        words = words * np.uint32(factor)
        return words ^ words >> np.uint32(16)

    def mixed(words: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.uint32]:
        words = words * np.uint32(0xCA01F9DD) - others * np.uint32(0x4973F715)
        return words ^ words >> np.uint32(16)

    pool = [hashed(words) for words in entropy[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    for words in entropy[4:]:
        for target in range(4):
            pool[target] = mixed(pool[target], hashed(words))
    return pool


def _generate(pool: list[NDArray[np.uint32]]) -> NDArray[np.uint64]:
    factor, drawn = 0x8B51F9DD, np.empty((len(pool[0]), 8), dtype=np.uint32)
    for n in range(8):
        words = pool[n % 4] ^ np.uint32(factor)
        factor = factor * 0x58F38DED & 0xFFFFFFFF
        words = words * np.uint32(factor)
        drawn[:, n] = words ^ words >> np.uint32(16)
    low, high = drawn[:, 0::2].astype(np.uint64), drawn[:, 1::2].astype(np.uint64)
    return high << np.uint64(32) | low


# PCG64: a linear congruential generator of 128 bits, whose halves are combined and rotated by its highest six bits.
STEP = f"""
define i64 @next_uint64(ptr %words) {{
  %step_at = getelementptr i64, ptr %words, i64 2
  %halves = load <2 x i64>, ptr %words, align 8
  %steps = load <2 x i64>, ptr %step_at, align 8
  %high64 = extractelement <2 x i64> %halves, i64 0
  %low64 = extractelement <2 x i64> %halves, i64 1
  %step_high64 = extractelement <2 x i64> %steps, i64 0
  %step_low64 = extractelement <2 x i64> %steps, i64 1
  %high = zext i64 %high64 to i128
  %low = zext i64 %low64 to i128
  %step_high = zext i64 %step_high64 to i128
  %step_low = zext i64 %step_low64 to i128
  %high_up = shl i128 %high, 64
  %step_up = shl i128 %step_high, 64
  %state = or i128 %high_up, %low
  %step = or i128 %step_up, %step_low
  %product = mul i128 %state, {MULTIPLIER}
  %next = add i128 %product, %step
  %next_up = lshr i128 %next, 64
  %above = trunc i128 %next_up to i64
  %below = trunc i128 %next to i64
  %low_at = getelementptr i64, ptr %words, i64 1
  store i64 %above, ptr %words, align 8
  store i64 %below, ptr %low_at, align 8
  %mixed = xor i64 %above, %below
  %turn = lshr i64 %above, 58
  %drawn = call i64 @llvm.fshr.i64(i64 %mixed, i64 %mixed, i64 %turn)
  ret i64 %drawn
}}
define double @next_double(ptr %words) {{
  %drawn = call i64 @next_uint64(ptr %words)
  %upper = lshr i64 %drawn, 11
  %whole = uitofp i64 %upper to double
  %part = fmul double %whole, 0x3CA0000000000000
  ret double %part
}}
define i32 @next_uint32(ptr %words) {{
  %left_at = getelementptr i64, ptr %words, i64 4
  %half_at = getelementptr i64, ptr %words, i64 5
  %left = load i64, ptr %left_at, align 8
  %is_left = icmp ne i64 %left, 0
  br i1 %is_left, label %old, label %new
old:
  store i64 0, ptr %left_at, align 8
  %half = load i64, ptr %half_at, align 8
  %old_drawn = trunc i64 %half to i32
  ret i32 %old_drawn
new:
  %drawn = call i64 @next_uint64(ptr %words)
  %upper = lshr i64 %drawn, 32
  store i64 1, ptr %left_at, align 8
  store i64 %upper, ptr %half_at, align 8
  %new_drawn = trunc i64 %drawn to i32
  ret i32 %new_drawn
}}
declare i64 @llvm.fshr.i64(i64, i64, i64)
"""


@cache
def _addresses() -> dict[str, int]:
    return load_text(STEP, CALLS)
