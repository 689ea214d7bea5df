"""The engine for Dask arrays: all pairs are searched by the workers of a cluster."""
