"""Discrete Fourier transforms of many lines at once, one per lane.

A line is a flat array: for every place the real parts of all lanes, then their imaginary parts. A
pass of radix r replaces r pieces of the line by their transform, so that the loop over lanes is
vectorised and reads and writes each number once. All passes read and write at the same places
(Pease, 1968), and leave the frequencies in an order that `Plan.places` tells.
"""

from typing import NamedTuple

import numpy as np

from dssc._typing import Array
from dssc.kernels.compiling import leaf

# Lines that are transformed together: a few vectors of the processor.
LANES = 32
# Numbers per place of a line.
WIDTH = 2 * LANES
# Constants of the transforms of three and eight numbers.
HALF, SINE_60, SINE_45 = np.float32(0.5), np.float32(0.75**0.5), np.float32(0.5**0.5)


class Plan(NamedTuple):
    """How lines of n places are transformed.

    Attributes
    ----------
    factors : ndarray of int64
        Radix of every pass; their product is n.
    cosines, sines : ndarray of shape (n,), float32
        The powers of ``exp(-2 pi i / n)``.
    places : ndarray of shape (n,), int64
        Where the passes leave each frequency.
    """

    factors: Array
    cosines: Array
    sines: Array
    places: Array


@leaf
def transform(line: Array, plan: Plan, other: Array) -> Array:
    """Transform the lanes of a line; return the one of both arrays that holds the result.

    The other one is overwritten.
    """
    factors, cosines, sines, _ = plan
    x, y = line.reshape(-1), other.reshape(-1)
    done, is_swapped = 1, False
    for radix in factors:
        if radix == 3:
            _pass_3(x, cosines, sines, done, y)
        elif radix == 4:
            _pass_4(x, cosines, sines, done, y)
        elif radix == 8:
            _pass_8(x, cosines, sines, done, y)
        else:
            _pass_of_any(x, radix, cosines, sines, done, y)
        x, y = y, x
        done *= radix
        is_swapped = not is_swapped
    return other if is_swapped else line


@leaf
def _pass_3(line: Array, cosines: Array, sines: Array, done: int, out: Array) -> None:
    step = len(line) // 3
    l0, l1, l2 = line[:step], line[step : 2 * step], line[2 * step :]
    for i in range(step // WIDTH):
        turn, at, to = i // done * done, WIDTH * i, 3 * WIDTH * i
        c1, s1, c2, s2 = cosines[turn], sines[turn], cosines[2 * turn], sines[2 * turn]
        for v in range(LANES):
            a, b, c = l0[at + v], l1[at + v], l2[at + v]
            ai, bi, ci = l0[at + LANES + v], l1[at + LANES + v], l2[at + LANES + v]
            t, ti = b + c, bi + ci
            d, di = SINE_60 * (b - c), SINE_60 * (bi - ci)
            m, mi = a - HALF * t, ai - HALF * ti
            out[to + v] = a + t
            out[to + LANES + v] = ai + ti
            x, y = m + di, mi - d
            out[to + 2 * LANES + v] = c1 * x - s1 * y
            out[to + 3 * LANES + v] = c1 * y + s1 * x
            x, y = m - di, mi + d
            out[to + 4 * LANES + v] = c2 * x - s2 * y
            out[to + 5 * LANES + v] = c2 * y + s2 * x


@leaf
def _pass_4(line: Array, cosines: Array, sines: Array, done: int, out: Array) -> None:
    step = len(line) // 4
    l0, l1 = line[:step], line[step : 2 * step]
    l2, l3 = line[2 * step : 3 * step], line[3 * step :]
    for i in range(step // WIDTH):
        turn, at, to = i // done * done, WIDTH * i, 4 * WIDTH * i
        c1, s1, c2, s2 = cosines[turn], sines[turn], cosines[2 * turn], sines[2 * turn]
        c3, s3 = cosines[3 * turn], sines[3 * turn]
        for v in range(LANES):
            a, b, c, d = l0[at + v], l1[at + v], l2[at + v], l3[at + v]
            ai, bi = l0[at + LANES + v], l1[at + LANES + v]
            ci, di = l2[at + LANES + v], l3[at + LANES + v]
            p, q, r, t = a + c, a - c, b + d, b - d
            pi, qi, ri, ti = ai + ci, ai - ci, bi + di, bi - di
            out[to + v] = p + r
            out[to + LANES + v] = pi + ri
            x, y = q + ti, qi - t
            out[to + 2 * LANES + v] = c1 * x - s1 * y
            out[to + 3 * LANES + v] = c1 * y + s1 * x
            x, y = p - r, pi - ri
            out[to + 4 * LANES + v] = c2 * x - s2 * y
            out[to + 5 * LANES + v] = c2 * y + s2 * x
            x, y = q - ti, qi + t
            out[to + 6 * LANES + v] = c3 * x - s3 * y
            out[to + 7 * LANES + v] = c3 * y + s3 * x


@leaf
def _pass_8(line: Array, cosines: Array, sines: Array, done: int, out: Array) -> None:
    step = len(line) // 8
    l0, l1 = line[:step], line[step : 2 * step]
    l2, l3 = line[2 * step : 3 * step], line[3 * step : 4 * step]
    l4, l5 = line[4 * step : 5 * step], line[5 * step : 6 * step]
    l6, l7 = line[6 * step : 7 * step], line[7 * step :]
    for i in range(step // WIDTH):
        turn, at, to = i // done * done, WIDTH * i, 8 * WIDTH * i
        c1, s1, c2, s2 = cosines[turn], sines[turn], cosines[2 * turn], sines[2 * turn]
        c3, s3, c4, s4 = cosines[3 * turn], sines[3 * turn], cosines[4 * turn], sines[4 * turn]
        c5, s5, c6, s6 = cosines[5 * turn], sines[5 * turn], cosines[6 * turn], sines[6 * turn]
        c7, s7 = cosines[7 * turn], sines[7 * turn]
        for v in range(LANES):
            w = at + LANES + v
            # Four numbers at even places, as in `_pass_4`.
            a, b, c, d = l0[at + v], l2[at + v], l4[at + v], l6[at + v]
            ai, bi, ci, di = l0[w], l2[w], l4[w], l6[w]
            p, q, r, t = a + c, a - c, b + d, b - d
            pi, qi, ri, ti = ai + ci, ai - ci, bi + di, bi - di
            e0, e0i, e1, e1i = p + r, pi + ri, q + ti, qi - t
            e2, e2i, e3, e3i = p - r, pi - ri, q - ti, qi + t
            # Four numbers at odd places, turned by multiples of 45 degrees.
            a, b, c, d = l1[at + v], l3[at + v], l5[at + v], l7[at + v]
            ai, bi, ci, di = l1[w], l3[w], l5[w], l7[w]
            p, q, r, t = a + c, a - c, b + d, b - d
            pi, qi, ri, ti = ai + ci, ai - ci, bi + di, bi - di
            o0, o0i, o2, o2i = p + r, pi + ri, pi - ri, r - p
            x, y = q + ti, qi - t
            o1, o1i = SINE_45 * (x + y), SINE_45 * (y - x)
            x, y = q - ti, qi + t
            o3, o3i = SINE_45 * (y - x), -SINE_45 * (x + y)
            out[to + v] = e0 + o0
            out[to + LANES + v] = e0i + o0i
            x, y = e1 + o1, e1i + o1i
            out[to + 2 * LANES + v] = c1 * x - s1 * y
            out[to + 3 * LANES + v] = c1 * y + s1 * x
            x, y = e2 + o2, e2i + o2i
            out[to + 4 * LANES + v] = c2 * x - s2 * y
            out[to + 5 * LANES + v] = c2 * y + s2 * x
            x, y = e3 + o3, e3i + o3i
            out[to + 6 * LANES + v] = c3 * x - s3 * y
            out[to + 7 * LANES + v] = c3 * y + s3 * x
            x, y = e0 - o0, e0i - o0i
            out[to + 8 * LANES + v] = c4 * x - s4 * y
            out[to + 9 * LANES + v] = c4 * y + s4 * x
            x, y = e1 - o1, e1i - o1i
            out[to + 10 * LANES + v] = c5 * x - s5 * y
            out[to + 11 * LANES + v] = c5 * y + s5 * x
            x, y = e2 - o2, e2i - o2i
            out[to + 12 * LANES + v] = c6 * x - s6 * y
            out[to + 13 * LANES + v] = c6 * y + s6 * x
            x, y = e3 - o3, e3i - o3i
            out[to + 14 * LANES + v] = c7 * x - s7 * y
            out[to + 15 * LANES + v] = c7 * y + s7 * x


@leaf
def _pass_of_any(
    line: Array, radix: int, cosines: Array, sines: Array, done: int, out: Array
) -> None:
    """Do a pass from the definition of the transform, for radices that are rare."""
    n_places = len(cosines)
    n_pieces = n_places // radix
    x, y = line.reshape(n_places, WIDTH), out.reshape(n_places, WIDTH)
    for i in range(n_pieces):
        turn = i // done * done
        for k in range(radix):
            to = radix * i + k
            for v in range(WIDTH):
                y[to, v] = x[i, v]
            for j in range(1, radix):
                at, angle = i + n_pieces * j, (j * k * n_pieces) % n_places
                _add_turned(x, at, cosines[angle], sines[angle], to, y)
            _turn(cosines[turn * k % n_places], sines[turn * k % n_places], to, y)


@leaf
def _add_turned(x: Array, at: int, cosine: np.float32, sine: np.float32, to: int, y: Array) -> None:
    for v in range(LANES):
        y[to, v] += cosine * x[at, v] - sine * x[at, LANES + v]
        y[to, LANES + v] += cosine * x[at, LANES + v] + sine * x[at, v]


@leaf
def _turn(cosine: np.float32, sine: np.float32, to: int, y: Array) -> None:
    for v in range(LANES):
        a, b = y[to, v], y[to, LANES + v]
        y[to, v] = cosine * a - sine * b
        y[to, LANES + v] = cosine * b + sine * a
