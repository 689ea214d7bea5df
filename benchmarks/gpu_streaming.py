"""Points streamed to a GPU: the same bits as with all vectors on it, and what moves how fast.

    python benchmarks/gpu_streaming.py [n] [--eta2 ETA2] [--device cuda]

The points of gpu_largest.py are fitted with X on the device and its vectors there; and then, with
so little of the device's memory left that the vectors do not fit, from an array in main memory and
from a memory map of a file. The last lines are rates for docs/scaling.md.
"""

import argparse
import os
import tempfile
import time

import numpy as np
import torch
from gpu_largest import ETA1, N_FEATURES, filled, fit, place_of, stages, subspaces

from dssc.engines.torch import exact_rows
from dssc.engines.torch.factor import BYTES_PER_POINT, TorchFactor
from dssc.engines.torch.sample_blocks import SampleBlocks

# The share of the memory for vectors in float64 and everything else that is left for streaming, and
# what blocks of samples need besides.
SHARE_LEFT, BLOCKS = 0.7, 3 << 30


class LittleMemory:
    """Takes memory of a GPU until vectors in float64 do not fit; without one, says so."""

    def __init__(self, n, device):
        self.left = int(SHARE_LEFT * n * (11 * N_FEATURES + BYTES_PER_POINT)) + BLOCKS
        self.place = place_of(device)

    def __enter__(self):
        self.rule = TorchFactor._is_short_of_memory
        if self.place.type == "cuda":
            torch.cuda.empty_cache()
            free = exact_rows.free_bytes(self.place)
            self.taken = torch.empty(max(0, free - self.left), dtype=torch.uint8, device=self.place)
            print(f"{exact_rows.free_bytes(self.place) / 2**30:.1f} GiB of the device are free")
        else:
            TorchFactor._is_short_of_memory = staticmethod(lambda *_: True)

    def __exit__(self, *_):
        self.taken = None
        TorchFactor._is_short_of_memory = staticmethod(self.rule)


def differences(one, other):
    """Return what differs between two models in any bit, in words."""
    A, B = one.affinity_matrix_, other.affinity_matrix_
    pairs = {name: (getattr(A, name), getattr(B, name)) for name in ("indptr", "indices", "data")}
    pairs |= {
        name: (getattr(one, name), getattr(other, name)) for name in ("embedding_", "labels_")
    }
    pairs["potentials"] = one.projection_.potentials[0], other.projection_.potentials[0]
    different = [name for name, pair in pairs.items() if not np.array_equal(*pair)]
    return f"no: {' '.join(different)}, A by {abs(A - B).max():.1e}" if different else "yes"


def report(source, vectors, model, seconds, on_device, in_memory, same):
    """Print a row of the table."""
    print(
        f"| {source} | {vectors} | {seconds:.1f} | {stages(model, seconds)} | {on_device:.1f} "
        f"| {in_memory:.1f} | {same} | {model.projection_.status} |",
        flush=True,
    )


def seconds_of(work, device):
    """Return how long some work takes on a device."""
    wait = torch.cuda.synchronize if place_of(device).type == "cuda" else lambda: None
    wait()
    start = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - start


def print_rates(X, mapped, device):
    """Print how fast samples are read, and vectors and exact products are computed."""
    n = len(X)
    place = place_of(device)
    gigabytes = X.nbytes / 1e9

    def read(source, staged):
        for _, rows in SampleBlocks(source, place, staged).read(range(-(-n >> 16))):
            rows[0, 0].item()

    for name, source, staged in (
        ("an array, page-locked", X, True),
        ("an array", X, False),
        ("a memory map, page-locked", mapped, True),
    ):
        seconds = seconds_of(lambda s=source, t=staged: read(s, t), device)
        print(f"read {name}: {gigabytes / seconds:.1f} GB/s")
    factor = TorchFactor(X, ETA1, False, place)
    seconds = seconds_of(lambda: [None for _ in factor.exact.parts()], device)
    print(f"vectors, {type(factor.exact).__name__}: {n / seconds / 1e6:.1f} million per second")
    pairs = torch.randint(n, (2, 8 * n), device=place)
    factor.products(*pairs[:, :1000])
    seconds = seconds_of(lambda: factor.products(*pairs), device)
    print(f"exact products: {8 * n / seconds / 1e6:.0f} million per second")


def main():
    """Fit in three ways and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=lambda text: int(text.replace("_", "")), nargs="?")
    parser.add_argument("--eta2", type=float)
    parser.add_argument("--device", default="cuda", help="or torch, to try this without a GPU")
    options = parser.parse_args()
    n, device = options.n or 1_000_000, options.device
    print(f"{n:,} points of {N_FEATURES} features\n")
    print(
        "| X in | vectors | fit s | stages s | GiB on the device "
        "| GiB in main memory without files | same bits | status |\n" + "|---" * 8 + "|"
    )
    X, _ = subspaces(n, False, device)
    eta2 = options.eta2 or fit(X, None, device)[0].eta2_
    held, *numbers = fit(X, eta2, device)
    report("device", "held", held, *numbers, "")
    del X
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        shape = n, N_FEATURES
        filled(np.lib.format.open_memmap(path, "w+", np.float32, shape), device).flush()
        mapped = np.load(path, mmap_mode="r")
        with LittleMemory(n, device):
            model, *numbers = fit(mapped, eta2, device)
            report("file", "streamed", model, *numbers, differences(model, held))
            X = np.array(mapped)
            model, *numbers = fit(X, eta2, device)
            report("main memory", "streamed", model, *numbers, differences(model, held))
        model, *numbers = fit(X, eta2, device)
        report("main memory", "held", model, *numbers, differences(model, held))
        print(f"\neta2 {eta2!r}")
        print_rates(X, mapped, device)


if __name__ == "__main__":
    main()
