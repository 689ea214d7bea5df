"""The torch engine: the whole way from features to labels on one device.

It follows the steps of the CPU's engine, arranged for a machine whose products cost next to nothing
and whose memory is far away: the search keeps no lists but filters all pairs against thresholds,
first rough ones and then the potentials themselves (:mod:`dssc.gpu.similarity`); the projection is
the same semismooth Newton method (:mod:`dssc.gpu.newton`); eigenvectors come from filtered
subspace iteration (:mod:`dssc.gpu.spectral`) and all restarts of k-means run at once
(:mod:`dssc.gpu.kmeans`). Everything runs on torch's CPU device too, which is how it is tested.
"""
