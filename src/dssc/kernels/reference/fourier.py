"""Discrete Fourier transforms of many lines at once, one per lane."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.fourier import LANES, Plan


def transform(line: Array, plan: Plan, other: Array) -> Array:
    """Transform the lanes of a line; return the one of both arrays that holds the result."""
    spectrum = np.fft.fft(line[:, :LANES] + 1j * line[:, LANES:], axis=0)
    other[plan.places, :LANES] = spectrum.real
    other[plan.places, LANES:] = spectrum.imag
    return other
