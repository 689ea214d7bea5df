"""New points expressed by the samples of a fit, by least squares and without an n x n matrix."""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._threads import block_threads
from dssc._typing import Array
from dssc.expression import regularised_gram
from dssc.expression.gram import BLOCK
from dssc.expression.substitution import Substitution
from dssc.subspaces import unit_rows

# From this many samples on the vectors are kept in float32.
SINGLE_FROM = 4000


class NewPointExpression:
    r"""Coefficients of new points, as products of short vectors.

    A new point x is expressed by the samples, (minC) with :math:`\eta_3 = 0` for one more row,

    .. math:: c = \arg\min_c \tfrac12 \|x - c X\|^2 + \tfrac{\eta_1}{2} \|c\|^2 , \quad
              c_j = h_j = x^\top (X^\top X + \eta_1 I)^{-1} x_j = \langle u, f_j \rangle .

    No diagonal is left out, since x is not among the samples. If it were, its row of the
    self-expression would be this c, and its column, by an update of rank one,

    .. math:: C_{jx} = h_j / \bigl((1 + h_{xx})(1 - h_{jj}) + h_j^2\bigr) .

    If samples have weights w of mean one, they are the diagonal of W in ``X'WX + eta1 I``, x has
    weight one, and C_jx has ``w_j h_jj`` and ``w_j h_j^2``.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The samples, none of them zero; they are scaled to unit norm here.
    eta1 : float
        Weight of the penalty, positive. If it is infinite, the vectors are the samples, products
        are cosines, and both h_jj and h_xx count as zero.
    weights : ndarray of shape (n_samples,), optional
        The w above.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        A fixed shuffle of the samples, so that the first ones are typical.
    vectors : ndarray of shape (n_samples, min(n_samples, n_features))
        Row r is the f of sample ``order[r]``; in float32 from 4,000 samples on.
    leverages : ndarray of shape (n_samples,)
        The h_jj, or ``w_j h_jj``, in that order.
    """

    def __init__(self, X: Any, eta1: float, weights: Array | None = None):
        n, d = X.shape
        self.eta1, self._weights = eta1, weights
        self.order = np.random.default_rng(0).permutation(n)
        dtype = np.float32 if n >= SINGLE_FROM else np.float64
        self.vectors = np.empty((n, min(n, d)), dtype=dtype)
        self.leverages = np.zeros(n)
        self._samples: Array | None = None
        if np.isinf(eta1):
            self.vectors = unit_rows(X)[self.order].astype(dtype, copy=False)
        elif n <= d:
            self._fill_from_samples(X)
        else:
            self._fill_from_features(X)

    def __call__(self, X: Any) -> tuple[Array, Array]:
        """Return the vectors u of new points, in the dtype of `vectors`, and their h_xx."""
        rows = unit_rows(X)
        if np.isinf(self.eta1):
            return rows.astype(self.vectors.dtype, copy=False), np.zeros(len(rows))
        if self._samples is None:
            u = self._substitute(rows)
            own = _squares(u)
        else:
            u = self._substitute(rows @ self._samples.T)
            own = (1.0 - _squares(u)) / self.eta1
        return u.astype(self.vectors.dtype, copy=False), np.maximum(own, 0.0)

    def _fill_from_samples(self, X: Any) -> None:
        """With ``XX' + eta1 I = M M'``: u = M^-1 X x, and f_j is column j of M^-1.

        With weights, X stands for ``W^1/2 X``, and f_j is divided by the root of w_j.
        """
        n = X.shape[0]
        samples = unit_rows(X)[self.order]
        roots = np.ones((n, 1))
        if self._weights is not None:
            roots = np.sqrt(self._weights[self.order, None])
            samples = roots * samples
        self._samples = samples
        gram = samples @ samples.T + self.eta1 * np.eye(n)
        self._substitute = Substitution(linalg.cholesky(gram, lower=True))
        f = self._substitute(np.eye(n))
        self.vectors[:] = f / roots
        self.leverages[:] = 1.0 - self.eta1 * _squares(f)

    def _fill_from_features(self, X: Any) -> None:
        """With ``X'X + eta1 I = L L'``: u = L^-1 x and f_j = L^-1 x_j."""
        n = X.shape[0]
        place = np.argsort(self.order)
        gram = regularised_gram(X, self.eta1, unit_rows, weights=self._weights)

        def fill(batch: slice) -> None:
            f = self._substitute(unit_rows(X[batch]))
            self.vectors[place[batch]] = f
            self.leverages[place[batch]] = _squares(f)

        with block_threads(kernels.n_threads()) as in_threads:
            self._substitute = Substitution(linalg.cholesky(gram, lower=True, overwrite_a=True))
            list(in_threads(fill, gen_batches(n, BLOCK)))
        if self._weights is not None:
            self.leverages *= self._weights[self.order]


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)
