"""Conjugate gradients on a device."""

import gc
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

CHECKED_EVERY = 4  # steps between two looks at the residual, each of which waits for the device


class ConjugateGradients:
    """Solves systems with a positive definite matrix, which comes as a function and its diagonal.

    The diagonal preconditions. With `recorded` steps are recorded once on a GPU and replayed from
    then on: where kernels are short, launching them one by one takes longer than they do. Between
    two solves tensors of the matrix may be written over then, but not replaced.
    """

    def __init__(self, multiply, diagonal, *, recorded: bool = False):
        self.multiply, self.diagonal = multiply, diagonal
        self.x, self.residual, self.direction = (torch.empty_like(diagonal) for _ in range(3))
        self.rho = diagonal.new_empty(())
        self.recorded = recorded and diagonal.device.type == "cuda"
        self.record: Any = None

    def solve(self, rhs, tol: float, max_steps: int):
        """Return the solution and the number of products.

        The residual's norm falls to `tol` times the first one, or the steps are used up.
        """
        self.x.zero_()
        self.residual.copy_(rhs)
        torch.div(rhs, self.diagonal, out=self.direction)
        self.rho.copy_(rhs @ self.direction)
        target = tol * tol * float(self.rho)
        n_steps = 0
        while n_steps < max_steps and float(self.rho) > target:
            self._advance(warm=n_steps > 0)
            n_steps += CHECKED_EVERY
        return self.x.clone(), n_steps

    def _advance(self, warm: bool):
        """Take the steps up to the next look; the first ones of all compile what they need."""
        if self.record is None and self.recorded and warm:
            self._make_record()
        if self.record is None:
            self._take_steps()
        else:
            self.record.replay()

    def _make_record(self):
        stream = _recording_stream(self.x.device)
        stream.wait_stream(torch.cuda.current_stream(self.x.device))
        record = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream), _no_collection():
            record.capture_begin(capture_error_mode="thread_local")
            self._take_steps()
            record.capture_end()
        torch.cuda.current_stream(self.x.device).wait_stream(stream)
        self.record = record

    def _take_steps(self):
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
def _recording_stream(device):
    """Return the stream that records are made on: one, as cuBLAS keeps memory for each it meets."""
    return torch.cuda.Stream(device)


@contextmanager
def _no_collection():
    """Keep the garbage collector away, as letting go of another record would spoil this one."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _ratio(x, y):
    """Return x / y, or zero where y is: once the residual is zero, so is every step."""
    return torch.nan_to_num_(x / y, nan=0.0, posinf=0.0, neginf=0.0)
