"""A first-order solver of the joint model: Douglas and Rachford's splitting, accelerated."""

import time

import numpy as np

from dssc import kernels
from dssc._devices import as_array
from dssc.joint import transport
from dssc.joint.acceleration import Anderson
from dssc.joint.entries import Entries
from dssc.joint.model import JointModel
from dssc.joint.outcome import finish
from dssc.joint.pace import Pace
from dssc.joint.result import JointResult
from dssc.joint.transport import CLINGING, Candidates, Cost
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.support import Support

# The proximal weight rho, as a share of the ratio of slopes to coefficients where A is positive:
# with it the entries that hold the slowest part of the error move about as fast as they can. While
# A still changes a lot a larger one keeps it calmer. It is looked at in these iterations, and
# changed if it is off by more than a factor of ROUGHLY.
SHARE, LATE_SHARE = 0.8, 0.3
LATE = 3e-4  # the gap from which on the latter counts
ROUGHLY = 1.5
ADAPTED = (5, 10, 15, 20, 30)
# From then on what is slow depends on the data: rho follows how fast the gap falls.
PACED_FROM, PACED_EVERY = 40, 20
CHECKED_EVERY = 10
# Entries of A that would be above minus this are candidates of the next step.
MARGIN = 0.2
# At first z is so flat that A would be nearly dense: let it have the largest entries only.
FIRST_NEIGHBORS = 16  # of each row and column
FIRST_ITERATIONS = 10
NEWTON_STEPS = 15  # in the potentials, an iteration
INEXACT = 1e-2  # error of the sums of A, in units of the gap
STALLED = 200  # iterations without a better gap
# Sums of A that are off by LOST make it cling to the last one, with a weight between these two.
LOST = 0.5
LEAST_HOLD, MOST_HOLD = 30.0, 300.0


def solve(model: JointModel, engine, *, tol: float, max_iter: int) -> JointResult:
    r"""Minimise the joint model to a relative duality gap of `tol`, by products and projections.

    The model is ``f(C) + g(C)``: the fit ``f = 1/2 |X - C X|^2``, and the coupling g, in which W
    and A are minimised out. Both have exact proximal steps: that of f is a product with a matrix
    known beforehand, that of g a transport problem (:mod:`dssc.joint.transport`), whose potentials
    are kept from one iteration to the next. From z the iteration goes on to

    .. math:: z + 1.6 \, (C - Y), \quad Y = \mathrm{prox}_g(z), \; C = \mathrm{prox}_f(2 Y - z),

    with Anderson acceleration (:mod:`dssc.joint.acceleration`). With ``rho = eta1`` an entry
    without affinity has the same curvature in g as in the proximal term, so whatever f does to it,
    its error is halved. Entries with affinity are slower; rho is chosen for them.

    Parameters
    ----------
    model : JointModel
        The problem.
    engine : DenseEngine
        Does what touches every entry of a matrix, where the matrices are.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Most iterations.
    """
    clock = time.perf_counter()
    search, pace = _Search(model, engine), Pace()
    history, seconds = [], []
    n_iter, since, best = 0, 0, np.inf
    while True:
        n_iter += 1
        search.step()
        if n_iter % CHECKED_EVERY == 0 or n_iter == max_iter:
            search.bound()
            history.append(search.value)
            seconds.append(time.perf_counter() - clock)
            since = 0 if search.gap < best else since + CHECKED_EVERY
            best = min(best, search.gap)
            if search.gap <= tol or since >= STALLED or n_iter == max_iter:
                break  # before anything moves on: what was judged is what is returned
        search.advance()
        if n_iter in ADAPTED:
            search.adapt()
        if n_iter >= PACED_FROM and n_iter % PACED_EVERY == 0:
            search.weigh(search.cost.rho * pace.factor(search.gap))
    return finish(
        model,
        search.release(),
        search.A.matrix(model.n),
        search.projection_potentials(),
        search.dual,
        tol=tol,
        n_iter=n_iter,
        records=(history, seconds),
        steps="iterations",
    )


class _Search:
    """The point z, the potentials, A, and the best bounds found."""

    def __init__(self, model: JointModel, engine):
        self.model, self.engine = model, engine
        self.n_steps = 0
        C = engine.start()
        sizes = engine.sizes(C, engine.largest(C, 1))
        size = (float((sizes**2).sum()) / (len(sizes) - model.n)) ** 0.5  # the diagonal's are zero
        self.cost = Cost(model, SHARE * (model.eta1 + model.eta3 / size))
        engine.weigh(self.cost.rho)
        self.z = C
        self.z *= 1.0 + model.eta1 / self.cost.rho
        self.acceleration = Anderson(engine.store(), engine.blocks)
        self.potentials = self._first_potentials()
        empty = engine.array(np.zeros(0, dtype=np.int64)), engine.array(np.zeros(0))
        self.A = self.centre = Entries(*empty)
        # Of each pair of the acceleration: A after the step and before.
        self.changes = [(self.A, self.A)] * engine.n_pairs
        self.value, self.dual, self.gap = np.inf, -np.inf, np.inf

    def _first_potentials(self):
        """Project the largest entries alone, roughly."""
        m, engine = self.model, self.engine
        keys = engine.largest(self.z, FIRST_NEIGHBORS)
        sizes = as_array(engine.sizes(self.z, keys))
        i, j = np.divmod(as_array(keys), m.n)
        support = Support.of(i, j, sizes, (m.n, m.n), symmetric=False)
        targets = np.ones(2 * m.n)
        w = solve_dual(support.graph, targets, m.eta2, None, 0.01, 200, kernels.select("cpu"))
        shift = m.eta3 / (2 * self.cost.rho)
        unit = self.cost.unit
        return tuple(engine.array(unit * (shift - part)) for part in support.split(w.potentials))

    def step(self):
        """Take both proximal steps from z."""
        candidates = self._candidates()
        newton = self.engine.newton(self.cost, candidates)
        tol = INEXACT * min(1.0, self.gap)
        values, self.potentials, error = transport.solve(newton, self.potentials, tol, NEWTON_STEPS)
        self._hold(error)
        self._measure(candidates, values)
        A = Entries(candidates.keys, values).positive()
        self.changes[self.acceleration.slot] = A, self.A
        self.A = A
        self.F = self.engine.step(self.z, A)

    def _candidates(self) -> Candidates:
        engine = self.engine
        self.n_steps += 1
        if self.n_steps <= FIRST_ITERATIONS:
            keys = engine.largest(self.z, FIRST_NEIGHBORS)
        else:
            scaled = tuple(part / self.cost.unit for part in self.potentials)
            keys = engine.candidates(self.z, *scaled, self.cost.limit(MARGIN))
        sizes = engine.sizes(self.z, keys)
        if self.cost.clinging == 0.0:
            return Candidates(keys, sizes, 0.0 * sizes)
        keys, last = engine.combined([(0.0, Entries(keys, sizes)), (1.0, self.centre)])
        return Candidates(keys, engine.sizes(self.z, keys), last)

    def _hold(self, error):
        """Let A cling to the last one where the dead zone leaves it open, or where it is lost."""
        if self.n_steps <= FIRST_ITERATIONS:
            return
        a, b = self.potentials
        clinging = self.cost.clinging
        if float(a.max() + b.max()) > self.model.eta2 * self.model.eta3:
            clinging = max(clinging, CLINGING)
        if error > LOST:
            clinging = min(max(10.0 * clinging, LEAST_HOLD), MOST_HOLD)
        if clinging != self.cost.clinging:
            self.cost = Cost(self.model, self.cost.rho, clinging)

    def _measure(self, candidates, values):
        """Find the ratio of slopes to coefficients where A is positive."""
        on = (values > 0.0) & (candidates.keys % (self.model.n + 1) != 0)  # off the diagonal
        sizes = candidates.sizes[on]
        C = self.cost.coefficients(sizes, values[on])
        slopes, coefficients = (float((x**2).sum()) ** 0.5 for x in (sizes - C, C))
        self.ratio = self.cost.rho * slopes / max(coefficients, 1e-3 * slopes, 1e-300)

    def adapt(self):
        """Change rho where it is far from what the ratio of slopes to coefficients asks for."""
        self.weigh((SHARE if self.gap > LATE else LATE_SHARE) * self.ratio)

    def weigh(self, new):
        """Change rho, unless it is about right."""
        old = self.cost.rho
        if old / ROUGHLY <= new <= old * ROUGHLY or new == 0.0:
            return
        new = min(max(new, old / 10), old * 10)
        for rows in self.engine.blocks:  # rho (z - Y) stays as it is
            self.z[rows] -= self.engine.Y[rows]
            self.z[rows] *= old / new
            self.z[rows] += self.engine.Y[rows]
        self.cost = Cost(self.model, new, self.cost.clinging)
        del self.F  # what is made anew needs its place
        self.engine.weigh(new)
        self.acceleration.forget()

    def bound(self):
        """Bound the optimum from both sides, by Y and A and by C and the potentials."""
        m, engine = self.model, self.engine
        value = m.upper_bound(engine.Y, self.A.matrix(m.n))
        potentials = tuple(map(as_array, self.potentials))
        dual, (_, a, b) = engine.lower_bound(self.z, potentials)
        self.value = value
        if dual >= self.dual:
            self.dual, self.best = dual, (a, b)
        self.gap = (self.value - self.dual) / max(1.0, abs(self.dual))

    def advance(self):
        """Go on to the next z."""
        self.acceleration.advance(self.z, self.F)
        if self.cost.clinging > 0.0:
            parts = [(1.0, self.A)]
            for k, weight in self.acceleration.weights:
                after, before = self.changes[k]
                parts += [(-weight, after), (weight, before)]
            self.centre = self.engine.combined(parts)

    def release(self):
        """Return Y, and let go of all other matrices."""
        Y = self.engine.Y
        self.engine.release()
        del self.z, self.F, self.acceleration
        return Y

    def projection_potentials(self):
        """Return the best potentials in the projection's units and sign."""
        factor = -self.model.eta1 * self.model.eta2
        return tuple(part / factor for part in self.best)
