"""Cluster a Zarr array on Kubernetes, by the Dask operator.

Not run in this project's tests: it needs a Kubernetes cluster with the Dask operator,
`pip install 'dssc[dask]' dask-kubernetes zarr s3fs`, and an image with dssc on all workers.
"""

import dask.array as da
import numpy as np
from dask_kubernetes.operator import KubeCluster
from distributed import Client

from dssc import ADSSC

if __name__ == "__main__":
    cluster = KubeCluster(
        name="dssc",
        image="registry.example.org/dssc:latest",
        n_workers=32,
        resources={"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "4Gi"}},
    )
    with Client(cluster) as client:
        client.wait_for_workers(16)
        X = da.from_zarr("s3://bucket/vectors.zarr")
        model = ADSSC(n_clusters=100, random_state=0, verbose=1, checkpoint="parts")
        np.save("labels.npy", model.fit(X).labels_)
