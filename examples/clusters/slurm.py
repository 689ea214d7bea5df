"""Cluster a Zarr array on a SLURM cluster, by dask-jobqueue.

Not run in this project's tests: it needs SLURM, `pip install 'dssc[dask]' dask-jobqueue zarr`, and
the names of your queue and files.
"""

import dask.array as da
import numpy as np
from dask_jobqueue import SLURMCluster
from distributed import Client

from dssc import ADSSC

if __name__ == "__main__":
    cluster = SLURMCluster(
        queue="normal", cores=16, processes=16, memory="64GB", walltime="04:00:00"
    )
    cluster.scale(jobs=8)
    with Client(cluster) as client:
        client.wait_for_workers(16)
        X = da.from_zarr("/shared/vectors.zarr")
        model = ADSSC(n_clusters=100, random_state=0, verbose=1, checkpoint="/shared/parts")
        np.save("labels.npy", model.fit(X).labels_)
