"""The torch engine: the whole way from features to labels on one device.

It follows the steps of the CPU engine. The search keeps no lists: products are cheap on a GPU, so
all pairs are filtered against thresholds, first rough ones and then the potentials themselves
(:mod:`.projection_problem`). The projection is the same semismooth Newton method over
:class:`.dual.TorchDual`. Eigenvectors come from filtered subspace iteration (:mod:`.spectral`), and
all restarts of k-means run at once (:mod:`.kmeans`). Everything runs on torch's CPU device too,
which is how it is tested.
"""
