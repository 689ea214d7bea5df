"""Jobs that cluster the self-expression of DSC-Net, or post-process that of another method."""

import json
import time
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import dssc
from dssc._typing import Array
from dssc.paper.composition import cluster_representation
from dssc.paper.experiments import SEARCH_RUNS, Job
from dssc.paper.loading import fetch, load
from dssc.paper.protocol import DISCRETISED, paper_scores
from dssc.paper.published import paper_data

if TYPE_CHECKING:
    from dssc.paper.training import Training

# More images than this are left to a GPU: a step with 7,200 takes minutes on a CPU.
MOST_IMAGES_ON_CPU = 3000
# The parameters of the post-processing. All others belong to the self-expression.
POSTPROCESSING = ("share", "dimension", "power")
# The parameters of the projection.
PROJECTION = ("n_neighbors",)


class UnsuitableMachine(Exception):
    """A job needs a library or a device that is not available; the message says which."""


def run_composition(job: Job, device: str) -> dict[str, Any]:
    """Return the result of a job whose method has an `affinity`."""
    entry, data = paper_data("methods")[job["method"]], paper_data("datasets")[job["data"]]
    parameters = job["parameters"]
    own = {
        name: value
        for name, value in parameters.items()
        if name not in (*POSTPROCESSING, *PROJECTION)
    }
    result: dict[str, Any] = {}
    _, y = load(job["data"])
    start = time.perf_counter()
    if entry.get("network"):
        training, seconds = trained_network(job["data"], json.dumps(own), job["seed"], device)
        start = time.perf_counter() - seconds  # also if another method trained the network
        C = training.representation.astype(np.float64)
        if entry["affinity"] == "postprocessed":
            C = C.T  # DSC-Net's authors select the largest entries of columns, not of rows
        result |= {
            "pretraining_steps": training.pretraining_steps,
            "explained": training.explained,
            "loss": training.loss,
        }
    else:
        C = _representation(entry["estimator"], job, own)
    model = cluster_representation(
        C, data["clusters"], entry["affinity"], parameters, job["n_init"], job["seed"]
    )
    seconds = time.perf_counter() - start
    result |= paper_scores(model, y, job["runs"], job.get("seeds", "plain"))
    # The paper does not say which of the two it used for DSC-Net.
    result["ACC_by_kind"] = {
        kind: paper_scores(model, y, SEARCH_RUNS, kind)["ACC"] for kind in ("plain", DISCRETISED)
    }
    result["seconds"] = round(seconds, 3)
    if model.projection_ is not None:
        result["status"] = model.projection_.status
    return result


# The methods that share a network follow each other, each with its three trainings.
@lru_cache(maxsize=3)
def trained_network(data: str, parameters: str, seed: int, device: str) -> "tuple[Training, float]":
    """Return the network of a data set, given its parameters as JSON, and the seconds it took."""
    if find_spec("torch") is None:
        raise UnsuitableMachine("DSC-Net needs PyTorch; install it with: pip install 'dssc[gpu]'")
    n_samples = paper_data("datasets")[data]["n"]
    if not device.startswith("cuda") and n_samples > MOST_IMAGES_ON_CPU:
        raise UnsuitableMachine(f"DSC-Net for {n_samples} images needs a GPU; add --device cuda")
    from dssc.paper.training import train

    bunch = fetch(data)
    images = bunch.data.reshape(len(bunch.data), *bunch.images.shape[1:3])  # gray
    start = time.perf_counter()
    torch_device = device if device.startswith("cuda") else "cpu"
    training = train(images, **json.loads(parameters), seed=seed, device=torch_device)
    return training, time.perf_counter() - start


def _representation(estimator: str, job: Job, parameters: dict[str, Any]) -> Array:
    """Return the self-expression of an estimator as a dense matrix."""
    X, _ = load(job["data"])
    k = paper_data("datasets")[job["data"]]["clusters"]
    model = getattr(dssc, estimator)(
        k, n_init=1, merge_copies=False, random_state=job["seed"], **parameters
    )
    C = model.fit(X).representation_matrix_
    return C.toarray() if sparse.issparse(C) else C
