"""
Reading the report
==================

Every clusterer returns labels, also for noise. The report is there to tell three situations apart:
clusters that are real, a wrong number of clusters, and no clusters at all. We make one clustering
of each kind and learn where to look. The numbers and figures of the report are also available in
Python, which is what this page shows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from dssc import ADSSC
from dssc.plotting import plot_affinity, plot_clusters, plot_embedding, plot_spectrum
from dssc.report import html_report

# %%
# Three fits
# ----------
#
# 400 images of the digits 0 to 4 of scikit-learn, first with five clusters, then with three, and
# then pixels that were shuffled between images: every pixel keeps its values, but nothing
# connects them any more.

pixels, digits = load_digits(n_class=5, return_X_y=True)
pixels, digits = pixels[:400], digits[:400]
rng = np.random.default_rng(0)
shuffled = np.stack([rng.permutation(column) for column in pixels.T], axis=1)

models = {
    "right": ADSSC(5, random_state=0).fit(pixels),
    "too few": ADSSC(3, random_state=0).fit(pixels),
}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    models["noise"] = ADSSC(5, random_state=0).fit(shuffled)
print(f"noise: {caught[0].message}")
verdicts = {name: model.summary() for name, model in models.items()}

# %%
# A report is one file that needs no network. Write it with
# ``Path("report.html").write_text(page)``, or on the command line with ``--report report.html``.

page = html_report(
    models["right"],
    images=pixels.reshape(-1, 8, 8),
    labels_true=digits,
    verdict=verdicts["right"],
)
print(f"{len(page) / 1e6:.1f} MB of HTML")

# %%
# First the verdict
# -----------------
#
# The page begins with it. Stop here if it says *chance*: everything below describes labels that
# mean nothing. A coarse clustering, on the other hand, can be found again as reliably as a fine
# one. Whether there should be more clusters is a question for the next sections.

for name, verdict in verdicts.items():
    print(f"--- {name}\n{str(verdict).split('cluster   ')[0].strip()}\n")

# %%
# Then the spectrum
# -----------------
#
# Eigenvalues near one are groups that hardly touch. With the right number the gap comes after
# the last coloured one. With too few, more eigenvalues are near one than there are clusters:
# some clusters are two groups. Noise has one eigenvalue of one, as every graph does, and no gap
# after it.

figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_spectrum(model, ax=ax)
    ax.set_title(name)

# %%
# Affinity: where are the connections?
# ------------------------------------
#
# Blocks on the diagonal are connections inside clusters. A block that falls into visible parts
# is two clusters. For noise much of the affinity lies outside of the blocks.

# sphinx_gallery_thumbnail_number = 2
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_affinity(model, ax=ax, title=f"{name}: {np.mean(model.confidence_):.0%} inside")

# %%
# Embedding: which clusters touch?
# --------------------------------

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_embedding(model, ax=ax, title=name)

# %%
# Members: do they make sense?
# ----------------------------
#
# On the left of each row are central members, on the right doubtful ones. This is the part that
# no number replaces: with too few clusters, one row shows two digits.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
for ax, name in zip(axes, ("right", "too few"), strict=True):
    plot_clusters(pixels.reshape(-1, 8, 8), models[name], ax=ax, title=name)

# %%
# :doc:`/report` goes through the page section by section, with what each tile means and when it
# is red.
