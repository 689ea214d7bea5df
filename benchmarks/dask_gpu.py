"""Whether Dask workers that share a GPU give the bits of one worker, and how fast they search.

    python benchmarks/dask_gpu.py [n] [--features 500] [--device cuda]

Points are a noisy union of subspaces in a .npy file that the workers read. One worker of one thread
fits them, then two workers that share the card, each after a small fit that loads the kernels.
The last fit is that of one process by the CPU engine, with the same eta2. The certificate of each
says whether the affinity is proved.
"""

import argparse
import os
import tempfile

import numpy as np
from dask_scaling import N_CLUSTERS, from_npy, report, write_points
from distributed import Client, LocalCluster
from sklearn.metrics import adjusted_rand_score

import dssc


def device_name(device):
    """Return the number of this process and the name of its device; runs on a worker."""
    import torch

    return os.getpid(), torch.cuda.get_device_name() if device == "cuda" else "processor"


def fit(X, device, **parameters):
    """Return a fitted model, after printing its time by stage and its certificate."""
    model = dssc.ADSSC(N_CLUSTERS, eta1=10.0, random_state=0, device=device, **parameters).fit(X)
    report(f"{X.shape[0]:,} points", model, sum(model.timings_.values()))
    print(f"  {model.projection_.status}; work {model.work_}", flush=True)
    return model


def fit_by_workers(n_workers, folder, n, device):
    """Return a model that some workers on this machine have fitted."""
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        print(f"{n_workers} worker(s): {client.run(device_name, device)}", flush=True)
        fit(from_npy(os.path.join(folder, "small.npy")), device, n_neighbors=12)
        return fit(from_npy(os.path.join(folder, "points.npy")), device, n_neighbors=12)


def same(one, other):
    """Return in words whether two models agree, and how far their affinities are apart."""
    bits = [
        np.array_equal(getattr(one.affinity_matrix_, name), getattr(other.affinity_matrix_, name))
        for name in ("indptr", "indices", "data")
    ]
    bits.append(np.array_equal(one.embedding_, other.embedding_))
    labels = adjusted_rand_score(one.labels_, other.labels_)
    distance = abs(one.affinity_matrix_ - other.affinity_matrix_).max()
    return f"same bits: {all(bits)}, ARI {labels:.4f}, affinities differ by {distance:.1e} at most"


def main():
    """Fit with one worker, with two, and by the CPU engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="?", default=20_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--device", default="cuda", help="or torch, to try this without a GPU")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_points(os.path.join(folder, "small.npy"), 5000, options.features)
        write_points(os.path.join(folder, "points.npy"), options.n, options.features)
        one, two = (fit_by_workers(n, folder, options.n, options.device) for n in (1, 2))
        print(f"one worker and two: {same(one, two)}", flush=True)
        X = np.load(os.path.join(folder, "points.npy"))
        here = fit(X, "cpu", eta2=one.eta2_)
        print(f"one worker and the CPU engine at the same eta2: {same(one, here)}", flush=True)


if __name__ == "__main__":
    main()
