"""
Quadratic optimal transport
===========================

The same solver moves one distribution onto another. With quadratic regularisation the plan is
sparse, unlike Sinkhorn's, and the result has a duality gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from dssc import quadratic_transport

# %%
# Two histograms
# --------------
#
# The cost of moving mass is the square of the distance. The solver maximises a similarity, so it
# is given the negative cost.


def bumps(grid, shapes):
    """Return a positive histogram made of bumps: (centre, width, height)."""
    total = sum(h * np.exp(-(((grid - c) / w) ** 2)) for c, w, h in shapes)
    total = total + 1e-3
    return total / total.sum()


x, y = np.linspace(0, 1, 200), np.linspace(0, 1, 300)
a = bumps(x, [(0.25, 0.08, 1.0), (0.6, 0.05, 0.7)])
b = bumps(y, [(0.4, 0.05, 0.6), (0.8, 0.07, 1.0)])
cost = (x[:, None] - y[None, :]) ** 2

# %%
# Less and less regularisation
# ----------------------------
#
# With a small ``reg`` the plan is nearly a curve, that of plain transport. The potentials of one
# problem are a good start for the next.

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
potentials = None
for ax, reg in zip(axes, (100.0, 10.0, 0.3), strict=True):
    result = quadratic_transport(-cost, reg, a, b, potentials=potentials)
    potentials = result.potentials
    plan = result.plan.toarray() if sparse.issparse(result.plan) else result.plan
    print(
        f"reg {reg:5g}: cost {np.vdot(cost, plan):.5f}, {(plan > 0).mean():6.1%} of the plan "
        f"is positive\n  {result.status}"
    )
    ax.imshow(plan, cmap="Blues", vmax=np.quantile(plan[plan > 0], 0.98), aspect="auto")
    ax.set(title=f"reg = {reg:g}", xlabel="target", ylabel="source")
