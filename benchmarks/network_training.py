"""How DSC-Net depends on the steps of its autoencoder alone, and of the whole network.

    DSSC_DATA=folder python benchmarks/network_training.py yaleb --device cuda \
        --pretraining 1000 3000 10000 --steps 500 1000 --seeds 0 1 2

One autoencoder per seed is trained on and on. After each number of steps a copy of it is trained
with the self-expression, and each C is clustered in several ways while the training continues. Each
line of JSON has the losses, SPE and NNZ of C before and after the post-processing, and the mean ACC
and NMI of ten runs on the spectral embedding of several affinities.
"""

import argparse
import copy
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

import dssc
from dssc.paper.loading import fetch, load
from dssc.paper.postprocessing import keep_largest, low_rank_affinity
from dssc.paper.protocol import DISCRETISED, label_runs
from dssc.paper.published import paper_data

# Runs of each kind on each embedding.
N_RUNS = 10
# Runs of the best of ten starts.
N_BEST = 2


def affinities(C, k, postprocessing):
    """Yield affinities of a self-expression by name, each with the matrix that is judged."""
    sizes = np.abs(C)
    yield "C", symmetric(sizes), C
    hollow = sizes - np.diag(np.diag(sizes))
    yield "C without diagonal", symmetric(hollow), C
    yield "C positive", symmetric(np.maximum(C, 0)), C
    yield "C, columns by largest", symmetric(sizes / sizes.max(axis=0)), C
    yield "C, rows by largest", symmetric(sizes / sizes.max(axis=1, keepdims=True)), C
    for power in sorted({1, 3.5, 8, postprocessing["power"]}):
        kept = keep_largest(C.T, postprocessing["share"])
        A = low_rank_affinity(kept, k, postprocessing["dimension"], power)
        yield f"PP {power}", A, kept


def symmetric(W):
    """Return the symmetric part."""
    return (W + W.T) / 2


def score(C, y, postprocessing, line, threads):
    """Return a line with the numbers of a self-expression added."""
    k = len(np.unique(y))
    C = C.astype(np.float64)
    with threadpool_limits(threads):
        for name, A, judged in affinities(C, k, postprocessing):
            U = dssc.spectral_embedding(A, k, random_state=0)
            numbers = {
                "SPE": float(dssc.subspace_preserving_error(judged, y)),
                "NNZ": float(dssc.nonzeros_per_point(judged)),
            }
            for kind in ("plain", "best of ten", DISCRETISED):
                runs = label_runs(U, k, A, N_BEST if kind == "best of ten" else N_RUNS, kind)
                numbers[kind] = [
                    round(float(np.mean([dssc.clustering_accuracy(y, run) for run in runs])), 4),
                    round(
                        float(np.mean([normalized_mutual_info_score(y, run) for run in runs])), 4
                    ),
                ]
            line[name] = numbers
    return line


def trainings(name, seed, arguments):
    """Yield C and what is known of its training, for all numbers of steps."""
    from dssc.paper import training

    options = dict(paper_data("networks")[name])
    del options["postprocessing"]
    usual = options.pop("steps")
    kernels, channels = options.pop("kernels"), options.pop("channels")
    bunch = fetch(name)
    images = bunch.data.reshape(len(bunch.data), *bunch.images.shape[1:3])
    model, X = training.new_network(images, kernels, channels, seed, arguments.device)
    optimizer, done = training.adam(model), 0
    with training.reproducible():
        for wanted in arguments.pretraining:
            start = time.perf_counter()
            _, explained = training.pretrain(model, X, optimizer, wanted - done)
            done = wanted
            for steps in arguments.steps or [usual]:
                C, loss = training.fine_tune(copy.deepcopy(model), X, **options, steps=steps)
                yield (
                    C.cpu().numpy(),
                    {
                        "data": name,
                        "seed": seed,
                        "pretraining": wanted,
                        "steps": steps,
                        "explained": round(explained, 5),
                        "loss": loss,
                        "seconds": round(time.perf_counter() - start, 1),
                    },
                )


def main():
    """Print a line of JSON for every training."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=paper_data("networks"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--pretraining", nargs="+", type=int, default=[1000, 3000, 10_000])
    parser.add_argument("--steps", nargs="+", type=int, help="by default, those of the network")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    _, y = load(arguments.data)
    to_line = partial(
        score, y=y, postprocessing=paper_data("networks")[arguments.data]["postprocessing"]
    )
    with ProcessPoolExecutor(arguments.processes, get_context("spawn")) as pool:
        for seed in arguments.seeds:
            for C, line in trainings(arguments.data, seed, arguments):
                print(json.dumps(line), file=sys.stderr, flush=True)
                pool.submit(to_line, C, line=line, threads=1).add_done_callback(print_line)


def print_line(job):
    """Print the line of a finished job."""
    print(json.dumps(job.result()), flush=True)


if __name__ == "__main__":
    main()
