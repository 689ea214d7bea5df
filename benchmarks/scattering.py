"""Throughput of the scattering transform beside kymatio's, and the cost of MNIST's features.

    python benchmarks/scattering.py [--kymatio PYTHON] [--mnist] [--busy]

kymatio 0.3.0 does not import with current SciPy; PYTHON is an interpreter of an environment with
torch, kymatio and SciPy < 1.13. Both use two threads, the same 1,000 random images, and turns: the
median of the rounds is printed. --mnist times scattered MNIST from DSSC_DATA, without the cache.
--busy, for a machine with other work, counts the processor's time on one thread.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

BUSY = "--busy" in sys.argv
N_IMAGES, N_THREADS, N_ROUNDS = 1000, 1 if BUSY else 2, 3
CLOCK = "process_time" if BUSY else "perf_counter"
clock = getattr(time, CLOCK)

KYMATIO = f"""
import sys, time, numpy as np, torch
from kymatio.torch import Scattering2D
torch.set_num_threads({N_THREADS})
transform = Scattering2D(J=3, shape=(32, 32), L=8)
images = torch.from_numpy(np.random.default_rng(0).random(({N_IMAGES}, 32, 32)).astype(np.float32))
transform(images[:200])
for line in sys.stdin:
    size = int(line)
    start = time.{CLOCK}()
    for first in range(0, {N_IMAGES}, size):
        transform(images[first : first + size])
    print(time.{CLOCK}() - start, flush=True)
"""


def ours():
    """Return the seconds our transform takes for all images."""
    from dssc import scattering_features

    images = np.random.default_rng(0).random((N_IMAGES, 32, 32)).astype(np.float32)
    start = clock()
    scattering_features(images, normalize=False, n_jobs=N_THREADS)
    return clock() - start


def compare(python):
    """Print images a second of both, taking turns; kymatio with its best batch size."""
    times = {"dssc": []}
    ours()
    if python:
        peer = subprocess.Popen(
            [python, "-c", KYMATIO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    for _ in range(N_ROUNDS):
        times["dssc"].append(ours())
        for size in (100, 200, 500, 1000) if python else ():
            print(size, file=peer.stdin, flush=True)
            times.setdefault(f"kymatio, batches of {size}", []).append(
                float(peer.stdout.readline())
            )
    if python:
        peer.stdin.close()
        peer.wait()
    speeds = {name: N_IMAGES / np.median(seconds) for name, seconds in times.items()}
    for name, speed in speeds.items():
        print(f"{name:28} {speed:8.0f} images/s")
    if python:
        best = max(speed for name, speed in speeds.items() if name != "dssc")
        print(f"ratio to kymatio's best: {speeds['dssc'] / best:.1f}")


def mnist():
    """Print seconds and peak memory of MNIST's 500 scattered features, stage by stage."""
    from dssc import fetch_mnist, pca_features, unit_norm
    from dssc.features.scattered import scatter_in_chunks

    images = fetch_mnist().images
    start = clock()
    F = scatter_in_chunks(images)
    scattered = clock()
    X = unit_norm(pca_features(F, 500))
    done = clock()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"MNIST: {X.shape}, scattering {scattered - start:.1f} s, PCA {done - scattered:.1f} s")
    print(f"peak memory {peak:.2f} GB, of which the coefficients are {F.nbytes / 2**30:.2f} GB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kymatio", help="interpreter of an environment with kymatio")
    parser.add_argument("--mnist", action="store_true")
    parser.add_argument("--busy", action="store_true")
    arguments = parser.parse_args()
    compare(arguments.kymatio)
    if arguments.mnist:
        mnist()
    sys.exit()
