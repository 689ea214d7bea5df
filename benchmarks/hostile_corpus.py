"""A frozen corpus of hostile projection and transport problems.

    python -m benchmarks.hostile_corpus

prints the number of problems of each family and the checksum of them all. Numbers come from a
seeded generator by additions, multiplications, divisions, square roots and powers of two only,
which round the same on every machine. So the corpus is the same everywhere, and `CHECKSUM` notices
if it is not. Whoever changes a problem raises `VERSION` and states the new checksum.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

VERSION = 1
CHECKSUM = "dea1f1a41546db91f55ac7fada3cf6be6ae5687ff60db70c48487ef75c90590d"

# What may be expected of a solver in float64: a certificate, an honest "not converged" because
# float64 does not resolve the plan to 1e-8, or a refusal because no plan exists.
SOLVABLE, BEYOND, INFEASIBLE = "solvable", "beyond float64", "infeasible"
# A plan is solvable if the range of K is at most this many units of eta2. Rounding of K alone
# changes entries of A by eps times that.
MOST_UNITS = 1e7
# ... and its largest entry at most this many: potentials of that size round the gap by 1e-10.
LARGEST_UNITS = 1e11


@dataclass(frozen=True)
class Problem:
    """Similarities to be projected, or transported between marginals, perhaps on a pattern."""

    family: str
    name: str
    K: np.ndarray | sparse.csr_array
    eta2: float
    a: np.ndarray | None = None
    b: np.ndarray | None = None
    support: sparse.csr_array | None = None
    expected: str = SOLVABLE

    @property
    def is_transport(self) -> bool:
        """Whether the marginals are given, not ones."""
        return self.a is not None

    def content(self) -> bytes:
        """Return everything that defines the problem."""
        parts = [self.K, self.a, self.b, self.support]
        arrays = [np.ascontiguousarray(_dense(part)) for part in parts if part is not None]
        head = f"{self.family}|{self.name}|{self.eta2.hex()}|{self.expected}".encode()
        return head + b"".join(
            f"{x.dtype.str}{x.shape}".encode() + x.astype(x.dtype.newbyteorder("<")).tobytes()
            for x in arrays
        )


def _dense(part):
    return part.toarray() if sparse.issparse(part) else part


def checksum(problems) -> str:
    """Return the SHA-256 sum of all problems, in their order."""
    digest = hashlib.sha256()
    for problem in problems:
        digest.update(problem.content())
    return digest.hexdigest()


# --- Kinds of matrices, with entries of at most about one ---------------------------------------


def _unit(K):
    return K / (np.abs(K).max() or 1.0)


def _symmetric(K):
    square = K[: min(K.shape), : min(K.shape)]
    K = K.copy()
    K[: len(square), : len(square)] = (square + square.T) / 2
    return K


def _rank(rng, n, m, rank):
    return _unit(sum(np.outer(rng.uniform(-1, 1, n), rng.uniform(-1, 1, m)) for _ in range(rank)))


def _blocks(rng, n, m):
    rows, columns = np.arange(n) * 4 // n, np.arange(m) * 4 // m
    return np.where(rows[:, None] == columns, rng.random((n, m)), 0.0)


def _hub(rng, n, m):
    K = np.zeros((n, m))
    K[:, : max(1, m // 10)] = rng.random((n, max(1, m // 10)))
    return K


def _distance(n, m):
    return np.abs(np.arange(n)[:, None] / n - np.arange(m) / m)


def _outlier(rng, n, m):
    K = 1e-6 * rng.random((n, m))
    K[n // 2, m // 3] = 1.0
    return K


def _duplicates(rng, n, m):
    few = rng.random((n // 8 + 1, m // 8 + 1))
    return few[np.arange(n)[:, None] % few.shape[0], np.arange(m) % few.shape[1]]


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "symmetric": lambda rng, n, m: _symmetric(rng.random((n, m))),
    "signed": lambda rng, n, m: rng.uniform(-1, 1, (n, m)),
    "heavy tails": lambda rng, n, m: _unit((1 / (1 - rng.random((n, m)))) ** 2),
    "forty octaves": lambda rng, n, m: np.ldexp(rng.random((n, m)), rng.integers(-40, 0, (n, m))),
    "integers": lambda rng, n, m: rng.integers(0, 3, (n, m)) / 2.0,
    "symmetric integers": lambda rng, n, m: _symmetric(rng.integers(0, 3, (n, m)) / 2.0),
    "two values": lambda rng, n, m: np.where(rng.random((n, m)) < 0.2, 1.0, 0.25),
    "constant": lambda rng, n, m: np.full((n, m), 0.7),
    "zero": lambda rng, n, m: np.zeros((n, m)),
    "equal rows": lambda rng, n, m: np.tile(rng.random(m), (n, 1)),
    "equal but one": lambda rng, n, m: np.vstack([np.tile(rng.random(m), (n - 1, 1)), np.ones(m)]),
    "duplicates": _duplicates,
    "rank one": lambda rng, n, m: _rank(rng, n, m, 1),
    "rank three": lambda rng, n, m: _rank(rng, n, m, 3),
    "near the diagonal": lambda rng, n, m: np.where(
        _distance(n, m) * n <= 1, rng.random((n, m)), 0.0
    ),
    "diagonal and noise": lambda rng, n, m: np.eye(n, m) + 1e-6 * rng.random((n, m)),
    "blocks": _blocks,
    "weakly joined blocks": lambda rng, n, m: _blocks(rng, n, m) + 1e-9 * rng.random((n, m)),
    "hub and spokes": _hub,
    "one large entry": _outlier,
    "Hilbert": lambda rng, n, m: 1 / (1.0 + np.arange(n)[:, None] + np.arange(m)),
    "distance": lambda rng, n, m: -_distance(n, m),
    "squared distance": lambda rng, n, m: -(_distance(n, m) ** 2),
}


def _rng(family, *numbers):
    return np.random.default_rng([VERSION, *family.encode(), *numbers])


def _expected(K, eta2):
    K = _dense(K).astype(np.longdouble)
    is_wide = (K.max() - K.min()) / eta2 > MOST_UNITS
    is_large = np.abs(K).max() / eta2 > LARGEST_UNITS
    is_tiny = eta2 < 2.0**-1045  # a multiple of the smallest number, by less than 1e-8
    return BEYOND if is_wide or is_large or is_tiny else SOLVABLE


# --- Families ------------------------------------------------------------------------------------

SIZES = (1, 2, 3, 7, 16, 33, 60)


def _each_kind(family):
    for number, (kind, make) in enumerate(KINDS.items()):
        yield number, kind, make, _rng(family, number)


def _plain(family):
    for number, kind, make, rng in _each_kind(family):
        for index, eta2 in enumerate((10.0, 0.3, 1e-2, 1e-3, 1e-4, 1e-6)):
            n = SIZES[(number + index) % len(SIZES)]
            yield Problem(family, f"{kind}, n={n}, eta2={eta2:g}", make(rng, n, n), eta2)


def _scaled(family):
    for number, kind, make, rng in _each_kind(family):
        for index, scale in enumerate((2.0**-960, 1e-300, 2.0**-300, 1e-9, 1e9, 2.0**300, 1e300)):
            n = SIZES[2 + (number + index) % 4]
            K = _unit(make(rng, n, n))
            yield Problem(family, f"{kind} * {scale:g}, n={n}", K * scale, 1e-2 * scale)


def _shifted(family):
    for _, kind, make, rng in _each_kind(family):
        for shift in (1e3, -1e6, 1e9, -1e12):
            K = make(rng, 20, 20) + shift
            yield Problem(family, f"{kind} + {shift:g}", K, 0.05, expected=_expected(K, 0.05))
        for size in (1e2, 1e5):
            K = make(rng, 20, 20) + size * rng.random(20)[:, None]
            yield Problem(family, f"{kind} + rows * {size:g}", K, 0.05, expected=_expected(K, 0.05))


def _regularised(family):
    for number, kind, make, rng in _each_kind(family):
        for index, eta2 in enumerate((1e200, 1e12, 1e5, 1e-7, 1e-9, 1e-12, 1e-15, 1e-200)):
            n = SIZES[1 + (number + index) % 5]
            K = make(rng, n, n)
            yield Problem(family, f"{kind}, eta2={eta2:g}", K, eta2, expected=_expected(K, eta2))


def _subnormal(family):
    for _, kind, make, rng in _each_kind(family):
        for power in (-1030, -1060):
            K = np.ldexp(_unit(make(rng, 12, 12)), power)
            eta2 = float(np.ldexp(0.1, power))
            yield Problem(family, f"{kind} * 2**{power}", K, eta2, expected=_expected(K, eta2))


def _marginals(rng, n, m):
    """Yield kinds of marginals, with sums that are equal up to rounding."""

    def pair(a, b):
        return a, b * (a.sum() / b.sum())

    spread = [np.ldexp(1.0, rng.integers(-20, 0, length)) for length in (n, m)]
    one = np.full(n, 1e-6)
    one[n // 2] = 1.0
    yield "uniform", (np.full(n, 1.0 / n), np.full(m, 1.0 / m))
    yield "random", pair(rng.random(n) + 0.01, rng.random(m) + 0.01)
    yield "six decades", pair(*spread)
    yield "one row has all", pair(one, np.ones(m))
    yield "counts", pair(1.0 + rng.integers(0, 9, n), 1.0 + rng.integers(0, 9, m))
    yield "random * 1e100", pair(1e100 * (rng.random(n) + 0.1), 1e100 * (rng.random(m) + 0.1))
    yield "random * 1e-100", pair(1e-100 * (rng.random(n) + 0.1), 1e-100 * (rng.random(m) + 0.1))


def _transport(family):
    shapes = ((1, 5), (6, 1), (4, 30), (30, 11), (25, 25))
    for number, kind, make, rng in _each_kind(family):
        n, m = shapes[number % len(shapes)]
        for marginals, (a, b) in _marginals(rng, n, m):
            eta2 = 0.02 / a.mean()  # with it the plan is between a permutation and a product
            name = f"{kind}, {n} x {m}, marginals {marginals}"
            yield Problem(family, name, make(rng, n, m), eta2, a, b)


def _patterns(rng, n):
    """Yield patterns that carry a doubly stochastic matrix, or do not."""
    permutation = np.eye(n)[rng.permutation(n)]
    band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    yield "one permutation", permutation, SOLVABLE
    yield "band", band, SOLVABLE
    yield "triangle", np.tri(n), SOLVABLE  # only its diagonal can be positive
    yield "random", permutation + (rng.random((n, n)) < 0.1), SOLVABLE
    yield "two blocks", np.kron(np.eye(2), np.ones((n // 2, n // 2))), SOLVABLE
    lacking = np.tri(n)
    lacking[n // 2, n // 2] = 0.0
    yield "triangle less one", lacking, INFEASIBLE
    narrow = np.ones((n, n))
    narrow[: n // 2 + 1, n // 2 :] = 0.0
    yield "too few columns", narrow, INFEASIBLE


def _restricted(family):
    for _, kind, make, rng in _each_kind(family):
        for name, pattern, expected in _patterns(rng, 14):
            support = sparse.csr_array(pattern.astype(float))
            K = make(rng, 14, 14)
            yield Problem(family, f"{kind}, {name}", K, 0.05, support=support, expected=expected)


def _restricted_transport(family):
    """Two pieces whose marginals agree, exactly or less a little."""
    for number, kind, make, rng in _each_kind(family):
        a = np.ones(10)
        for missing in (0.0, 1e-6):
            b = np.ones(10)
            b[:5] += missing
            b[5:] -= missing
            support = sparse.csr_array(np.kron(np.eye(2), np.ones((5, 5))))
            expected = INFEASIBLE if missing else SOLVABLE
            name = f"{kind}, {number}, two pieces less {missing:g}"
            K = make(rng, 10, 10)
            yield Problem(family, name, K, 0.05, a, b, support, expected)


def _sparse(family):
    for number, kind, make, rng in _each_kind(family):
        for density in (0.02, 0.2):
            n = SIZES[3 + number % 4]
            K = sparse.csr_array(make(rng, n, n) * (rng.random((n, n)) < density))
            yield Problem(family, f"{kind}, density {density}", K, 1e-2)


def _typed(family):
    for _, kind, make, rng in _each_kind(family):
        yield Problem(family, f"{kind}, float32", make(rng, 15, 15).astype(np.float32), 1e-2)
        K = np.floor(100 * make(rng, 15, 15)).astype(np.int64)
        yield Problem(family, f"{kind}, int64", K, 1.0)


def _large(family):
    for _, kind, make, rng in _each_kind(family):
        for n, eta2 in ((150, 1e-1), (250, 1e-3), (400, 1e-2), (400, 1e-5)):
            yield Problem(family, f"{kind}, n={n}, eta2={eta2:g}", make(rng, n, n), eta2)


FAMILIES = {
    "plain": _plain,
    "scaled": _scaled,
    "shifted": _shifted,
    "regularised": _regularised,
    "subnormal": _subnormal,
    "transport": _transport,
    "restricted": _restricted,
    "restricted transport": _restricted_transport,
    "sparse": _sparse,
    "typed": _typed,
    "large": _large,
}


def problems() -> Iterator[Problem]:
    """Yield the frozen problems."""
    for family, make in FAMILIES.items():
        yield from make(family)


if __name__ == "__main__":
    corpus = list(problems())
    for family, count in Counter(problem.family for problem in corpus).items():
        print(f"{family}: {count}")
    print(f"{len(corpus)} problems, {dict(Counter(problem.expected for problem in corpus))}")
    print(f"version {VERSION}, checksum {checksum(corpus)}")
