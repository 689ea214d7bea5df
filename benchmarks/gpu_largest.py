"""How many points a GPU clusters in ten minutes: deformed digits made on the device.

    DSSC_DATA=folder python benchmarks/gpu_largest.py [n ...]

The digits are those of make_deformed_digits in kind, made by torch because a processor takes too
long for ten million. The features are their pixels, by PCA reduced to 500 numbers, in main memory.
eta1 and eta2 are the paper's for MNIST, scaled to n.
"""

import resource
import sys
import time

import numpy as np
import torch
from gpu import estimator
from sklearn.metrics import normalized_mutual_info_score

import dssc

CHUNK = 50_000
SMOOTHNESS = 4.0
AFFINE, ELASTIC, SIDE, N_FEATURES = 0.08, 0.6, 28, 500


def deformed(images, generator):
    """Return one random deformation of each image."""
    n, device = len(images), images.device
    noise = torch.randn((n, 6), generator=generator, device=device)
    maps = torch.eye(2, 3, device=device) + AFFINE * noise.view(n, 2, 3)
    maps[:, :, 2] *= 0.5  # a quarter of the side, which is two units long
    grid = torch.nn.functional.affine_grid(maps, (n, 1, SIDE, SIDE), align_corners=True)
    distance = torch.arange(SIDE, device=device)[:, None] - torch.arange(SIDE, device=device)
    smoother = torch.exp(-(distance**2) / (2 * SMOOTHNESS**2))
    smoother /= torch.linalg.vector_norm(smoother, dim=1, keepdim=True)
    field = torch.randn((n, 2, SIDE, SIDE), generator=generator, device=device)
    grid += (2 * ELASTIC / (SIDE - 1)) * (smoother @ field @ smoother.T).movedim(1, 3)
    moved = torch.nn.functional.grid_sample(images[:, None], grid, align_corners=True)
    return moved[:, 0].round().to(torch.uint8)


def features(n):
    """Return pixels of n deformed digits reduced to unit vectors, in main memory, and labels."""
    mnist = dssc.fetch_mnist()
    source = torch.as_tensor(mnist.images, device="cuda").float()
    generator = torch.Generator(device="cuda").manual_seed(0)
    drawn = torch.randint(len(source), (n,), generator=generator, device="cuda")
    parts = [deformed(source[some], generator).view(len(some), -1) for some in drawn.split(CHUNK)]
    gram = sum(part.double().T @ part.double() for part in parts)
    directions = torch.linalg.eigh(gram)[1][:, -N_FEATURES:].flip(1)
    X = np.empty((n, N_FEATURES), dtype=np.float32)
    for i, part in enumerate(parts):
        rows = part.double() @ directions
        rows /= torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        X[i * CHUNK : i * CHUNK + len(part)] = rows.float().cpu().numpy()
    return X, mnist.target[drawn.cpu().numpy()]


def main(arguments):
    """Print one row of a Markdown table for each number of points."""
    print("| n | making s | fit s | stages s | peak GiB on the device | in main memory | ACC | NMI "
          "| NNZ | status |")  # fmt: skip
    print("|---" * 10 + "|")
    for n in [int(argument.replace("_", "")) for argument in arguments or ["1000000"]]:
        start = time.perf_counter()
        X, y = features(n)
        made = time.perf_counter()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        model = estimator(n).set_params(device="cuda", verbose=int(n > 2_000_000)).fit(X)
        seconds = time.perf_counter() - made
        stages = ", ".join(f"{name} {value:.1f}" for name, value in model.timings_.items())
        print(
            f"| {n:,} | {made - start:.1f} | {seconds:.1f} | {stages} "
            f"| {torch.cuda.max_memory_allocated() / 2**30:.1f} "
            f"| {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} "
            f"| {dssc.clustering_accuracy(y, model.labels_):.4f} "
            f"| {normalized_mutual_info_score(y, model.labels_):.4f} "
            f"| {dssc.nonzeros_per_point(model.affinity_matrix_):.2f} "
            f"| {model.projection_.status} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
