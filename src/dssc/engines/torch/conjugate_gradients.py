"""Conjugate gradients on a device."""

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

from dssc.stochastic.dual import LinearSolution

# Steps between two looks at the residual, each of which waits for the device.
CHECKED_EVERY = 4


class ConjugateGradients:
    """Solves systems with a positive definite matrix, given as a function and its diagonal.

    The diagonal preconditions. With `recorded`, steps are recorded once on a GPU and replayed from
    then on: where kernels are short, launching them one by one takes longer than running them.
    Between two solves the tensors of the matrix may then be overwritten, but not replaced.
    """

    def __init__(
        self, multiply: Callable[[Tensor], Tensor], diagonal: Tensor, *, recorded: bool = False
    ):
        self.multiply, self.diagonal = multiply, diagonal
        self.x, self.residual, self.direction = (torch.empty_like(diagonal) for _ in range(3))
        self.rho = diagonal.new_empty(())
        self.recorded = recorded and diagonal.device.type == "cuda"
        self.record: torch.cuda.CUDAGraph | None = None

    def solve(self, rhs: Tensor, tol: float, max_steps: int) -> LinearSolution:
        """Return the solution, its relative residual and the number of products.

        The iteration ends when the residual's norm has fallen to `tol` times the first one, or when
        the steps are used up.
        """
        self.x.zero_()
        self.residual.copy_(rhs)
        torch.div(rhs, self.diagonal, out=self.direction)
        self.rho.copy_(rhs @ self.direction)
        first = rho = float(self.rho)
        n_steps = 0
        while n_steps < max_steps and rho > tol * tol * first:
            self._advance(warm=n_steps > 0)
            n_steps += CHECKED_EVERY
            rho = float(self.rho)
        return LinearSolution(
            self.x.clone(), math.sqrt(rho / first) if first > 0.0 else 0.0, n_steps
        )

    def _advance(self, warm: bool) -> None:
        """Take the steps up to the next look; the very first ones compile what they need."""
        if self.record is None and self.recorded and warm:
            self._make_record()
        if self.record is None:
            self._take_steps()
        else:
            self.record.replay()

    def _make_record(self) -> None:
        stream = _recording_stream(self.x.device)
        stream.wait_stream(torch.cuda.current_stream(self.x.device))
        record = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream), _no_garbage_collection():
            record.capture_begin(capture_error_mode="thread_local")
            self._take_steps()
            record.capture_end()
        torch.cuda.current_stream(self.x.device).wait_stream(stream)
        self.record = record

    def _take_steps(self) -> None:
        for _ in range(CHECKED_EVERY):
            product = self.multiply(self.direction)
            curvature = self.direction @ product
            length = _ratio(self.rho, curvature)
            self.x.addcmul_(self.direction, length)
            self.residual.addcmul_(product, length, value=-1.0)
            z = self.residual / self.diagonal
            rho = self.residual @ z
            torch.addcmul(z, self.direction, _ratio(rho, self.rho), out=self.direction)
            self.rho.copy_(rho)


@cache
def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the one stream for all records, as cuBLAS keeps memory for each stream it meets."""
    return torch.cuda.Stream(device)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the garbage collector from freeing another record, which would spoil this one."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _ratio(x: Tensor, y: Tensor) -> Tensor:
    """Return x / y, or zero where y is zero: once the residual is zero, so is every step."""
    return torch.nan_to_num_(x / y, nan=0.0, posinf=0.0, neginf=0.0)
