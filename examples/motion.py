"""
Motion: affine subspaces
========================

Points on a rigid body, filmed by a distant camera, have trajectories in an affine subspace of
dimension three, whatever the motion. So the points of a film can be divided into bodies. With
``affine=True`` a constant is appended to every point, which turns affine subspaces into linear
ones. Without it the subspaces of the bodies overlap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from dssc import ADSSC, clustering_accuracy
from dssc.plotting import plot_affinity

# %%
# A film
# ------
#
# Three bodies turn about random axes and drift. Sixty points on each are tracked over fifteen
# frames.


def rotation(axis, angle):
    """Return the rotation about an axis, by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def film(n_bodies, n_points, n_frames, noise, random_state):
    """Return trajectories (points x frames x 2) of turning, drifting bodies, and their labels."""
    rng = np.random.default_rng(random_state)
    tracks = []
    for _ in range(n_bodies):
        points = rng.uniform(-1, 1, (n_points, 3))
        axis, start, drift = rng.standard_normal(3), rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)
        positions = []
        for time in np.linspace(0, 1, n_frames):
            turned = points @ rotation(axis, time).T
            positions.append(turned[:, :2] + start + time * drift)
        tracks.append(np.stack(positions, axis=1))
    tracks = np.concatenate(tracks)
    tracks += noise * rng.standard_normal(tracks.shape)
    return tracks, np.repeat(np.arange(n_bodies), n_points)


FILM = {"n_bodies": 3, "n_points": 60, "n_frames": 15, "noise": 0.01}
tracks, y = film(**FILM, random_state=2)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for body in range(3):
    for track in tracks[y == body]:
        ax.plot(*track.T, color=f"C{body}", linewidth=0.6)
    ax.scatter(*tracks[y == body, -1].T, color=f"C{body}", s=6)
ax.set(title="tracks of 180 points, coloured by body", xticks=[], yticks=[])

# %%
# Which points move together?
# ---------------------------
#
# The tracks cross everywhere, so position says little. We subtract the mean of every frame,
# which removes the motion of the camera.

X = tracks.reshape(len(tracks), -1)
X = X - X.mean(axis=0)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for ax, affine in zip(axes, (False, True), strict=True):
    name = "affine subspaces" if affine else "linear subspaces"
    model = ADSSC(n_clusters=3, affine=affine, random_state=0).fit(X)
    accuracy = clustering_accuracy(y, model.labels_)
    print(f"{name}: accuracy {accuracy:.3f}; {model.projection_.status}")
    plot_affinity(model.affinity_matrix_, y, ax=ax, title=f"{name}: {accuracy:.0%}")

# %%
# Other films
# -----------
#
# One film proves little. Here are five, each with the parameters that were chosen for it.

print("film   linear   affine  k-means")
for seed in range(5):
    tracks, y = film(**FILM, random_state=seed)
    X = tracks.reshape(len(tracks), -1)
    X = X - X.mean(axis=0)
    fitted = [ADSSC(3, affine=affine, random_state=0).fit(X) for affine in (False, True)]
    fitted.append(KMeans(3, n_init=10, random_state=0).fit(X))
    print(f"{seed:4}", *(f"{clustering_accuracy(y, model.labels_):8.3f}" for model in fitted))

# %%
# On 52 sequences of tracked points in real films, the mean error with ``affine=True`` is 2.3 %;
# see :doc:`/choosing`.
