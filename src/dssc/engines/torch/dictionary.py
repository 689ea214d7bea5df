"""The samples as a dictionary whose searches run on a device."""

import numpy as np
import torch
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.engines.torch.graph import csr_on_device
from dssc.engines.torch.sparse_sums import kernels_for
from dssc.expression.dictionary import Dictionary, product_error


class TorchDictionary(Dictionary):
    """All samples, in main memory for small solves and on a device for searching.

    See :class:`dssc.expression.dictionary.Dictionary`. The bound on rounding is the same: it holds
    for any order of summation.
    """

    def __init__(self, X: Matrix, device: torch.device):
        super().__init__(X)
        self.device = device
        self.held = torch.as_tensor(self.X, device=device)
        # Products that are allowed to round their factors would break the bound.
        is_exact = torch.get_float32_matmul_precision() == "highest"
        self.held_single = self.held.float() if is_exact else self.held

    def search(
        self,
        residuals: Array,
        own: Array,
        n_places: int,
        *,
        stored: tuple[Array, Array] | None = None,
        precise: bool = False,
    ) -> tuple[Array, Array]:
        """Find the samples that correlate most with each residual, except its own and stored ones.

        Parameters and results are those of the search in main memory.
        """
        samples = self.held if precise else self.held_single
        rows = torch.as_tensor(residuals, device=self.device).to(samples.dtype)
        sizes = (rows @ samples.T).abs_()
        for left_out in self._places(own, stored):
            sizes[left_out] = -1.0
        top = torch.topk(sizes, min(n_places, len(self)), dim=1, sorted=False)
        values = np.full((len(own), n_places), -1.0)
        places = np.full((len(own), n_places), -1, dtype=np.int32)
        values[:, : len(self)] = top.values.cpu().numpy()
        places[:, : len(self)] = top.indices.cpu().numpy()
        places[values < 0] = -1
        smallest = values.min(axis=1)
        unit = torch.finfo(samples.dtype).eps
        error = product_error(unit, residuals, self.largest_norm)
        return places, np.where(smallest < 0, -np.inf, smallest + error)

    def relative_residuals(self, C: sparse.csr_array) -> Array:
        """Return ``|x_i - C_i X| / |x_i|`` for every sample, zero for a zero sample."""
        csr = csr_on_device(C.astype(np.float64), self.device)
        made = kernels_for(self.device).combination(csr, self.held, 1.0, 0.0)
        errors = torch.linalg.vector_norm(self.held - made, dim=1)
        norms = torch.linalg.vector_norm(self.held, dim=1)
        return torch.where(norms > 0, errors / norms, 0.0).cpu().numpy()

    def _places(
        self, own: Array, stored: tuple[Array, Array] | None
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the places that a search leaves out."""
        parts = [(np.arange(len(own)), own)]
        if stored is not None:
            indptr, indices = stored
            parts.append((np.repeat(np.arange(len(own)), np.diff(indptr)), indices))
        return [
            (torch.as_tensor(i, device=self.device), torch.as_tensor(j, device=self.device).long())
            for i, j in parts
        ]
