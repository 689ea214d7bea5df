"""How the Fourier transforms of the scattering transform are divided into passes."""

from functools import lru_cache

import numpy as np

from dssc.kernels.fourier import Plan


@lru_cache(maxsize=32)
def fourier_plan(n: int) -> Plan:
    """Return the plan for lines of n places."""
    factors = _radices(n)
    places, rest = np.zeros(n, dtype=np.int64), np.arange(n)
    for radix in factors:
        places, rest = places * radix + rest % radix, rest // radix
    angles = -2.0 * np.pi * np.arange(n) / n
    return Plan(
        np.array(factors, dtype=np.int64),
        np.cos(angles).astype(np.float32),
        np.sin(angles).astype(np.float32),
        places,
    )


def _radices(n: int) -> list[int]:
    """Return factors of n, as few as possible: eight, four and three, which are fast, or primes."""
    twos = (n & -n).bit_length() - 1
    fours = (-twos) % 3 if twos > 1 else 0
    radices = [8] * ((twos - 2 * fours) // 3) + [4] * fours + [2] * (twos == 1)
    rest, radix = n >> twos, 3
    while rest > 1:
        while rest % radix == 0:
            radices.append(radix)
            rest //= radix
        radix += 2
    return radices
