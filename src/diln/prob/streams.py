"""Random numbers inside compiled loops: any number of streams, each a pure function of a key and the stream's number.

A stream is a state of 64 bits (splitmix64). Its owner adds ``GOLD`` to the state before each number and hands the state
over: nothing is remembered anywhere else, so the same key gives the same bits on any number of threads and workers.
The streams of a key are places on one circle of 2^64 states: two of n streams of m numbers meet with chance n^2 m/2^64.

Numbers of 64 bits only: beside a signed integer, numba would turn an unsigned one into a float.
"""

from math import cos, log, pi, sin, sqrt

import numpy as np

from diln.engine.compile import kernel

GOLD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
WORD = 32  # bits of the words that a key is made of


def key_of(*numbers: int) -> np.uint64:
    """A key for what these numbers name, say (seed, epoch, block): not negative, and of any size.

    The numbers are told apart before they are mixed: (1,), (1, 0), (0, 1) and (2**32,) are four different keys.
    """
    words = [len(numbers)]
    for number in numbers:
        if number < 0:
            raise ValueError(f"a key is made of numbers that are not negative, not of {number}")
        words += [max(1, -(-int(number).bit_length() // WORD)), int(number)]
    return np.uint64(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


@kernel
def mix(x):  # type: ignore[no-untyped-def]
    """Scramble 64 bits: one to one, and each bit of the result depends on each of x (the last step of splitmix64)."""
    x = np.uint64(x)
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@kernel
def stream(key, number):  # type: ignore[no-untyped-def]
    """The state at which a stream starts: another one for each number under the same key."""
    return mix(np.uint64(key) ^ mix(np.uint64(number) + GOLD))


@kernel
def uniform32(state):  # type: ignore[no-untyped-def]
    """A number in [0, 1) in single precision: a multiple of 2^-24."""
    return np.float32(mix(state) >> np.uint64(40)) * np.float32(2.0**-24)


@kernel
def uniform64(state):  # type: ignore[no-untyped-def]
    """A number in [0, 1) in double precision: a multiple of 2^-53."""
    return np.float64(mix(state) >> np.uint64(11)) * 2.0**-53


@kernel
def fill_normals(state, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with standard normal numbers, none beyond 8.6, and return the state of the last number used.

    Box and Muller: two uniform numbers are the length and the direction of two normal ones.
    """
    state = np.uint64(state)
    for i in range(0, out.size, 2):
        state += GOLD
        length = sqrt(-2.0 * log(uniform64(state) + 2.0**-53))  # of a number in (0, 1]
        state += GOLD
        direction = 2.0 * pi * uniform64(state)
        out[i] = length * cos(direction)
        if i + 1 < out.size:
            out[i + 1] = length * sin(direction)
    return state
