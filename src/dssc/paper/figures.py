"""The appendix's figures; they need matplotlib, the extra ``dssc[plot]``."""

from pathlib import Path

import numpy as np
from scipy import sparse

from dssc.paper.loading import Missing, fetch
from dssc.paper.published import read, title

SAMPLES = 10


def draw_sparsity(A, y, eta2: float, folder: Path) -> Path:
    """Draw where an affinity is not zero, points sorted by class, with lines between classes."""
    figure, ax = _new(3.2, 3.4)
    A = sparse.coo_array(A)
    rank = np.argsort(np.argsort(y, kind="stable"))
    kept = A.data > 1e-9
    ax.plot(rank[A.col[kept]], rank[A.row[kept]], ",", color="darkblue")
    for boundary in np.cumsum(np.bincount(y))[:-1] - 0.5:
        ax.axhline(boundary, color="red", linestyle="--", linewidth=0.8)
        ax.axvline(boundary, color="red", linestyle="--", linewidth=0.8)
    ax.set(xlim=(-0.5, len(y) - 0.5), ylim=(len(y) - 0.5, -0.5), aspect="equal")
    ax.set(xticks=[], yticks=[], title=f"$\\eta_2$ = {eta2:g}, {kept.sum() / len(y):.1f} a point")
    return _save(figure, folder / f"sparsity-{eta2:g}.png")


def draw_alternating(done, folder: Path) -> Path:
    """Draw the objective's relative error, and accuracy, against the number of steps.

    Parameters
    ----------
    done : list of (int, dict, float)
        Steps, the line of results, and the objective's relative error.
    folder : Path
        Where the picture goes.
    """
    figure, (left, right) = _new(8, 3, columns=2)
    steps = [step for step, _, _ in done]
    left.plot(steps, [error for _, _, error in done], "o-")
    left.set(xlabel="alternating steps", ylabel="relative error of the objective", yscale="log")
    right.plot(steps, [line["ACC"] for _, line, _ in done], "o-", label="from A")
    right.plot(steps, [line["ACC_of_C"] for _, line, _ in done], "s--", label="from C")
    right.set(xlabel="alternating steps", ylabel="accuracy", ylim=(0, 1))
    right.legend()
    for ax in (left, right):
        ax.set_xticks(steps)
    return _save(figure, folder / "alternating.png")


def draw_samples(folder: Path) -> Path | None:
    """Draw a row of images of every data set at hand, each of another class."""
    shown = {}
    for name in read("figures")["samples"]["data"]:
        try:
            bunch = fetch(name)
        except Missing:
            continue
        firsts = np.unique(bunch.target, return_index=True)[1]
        some = firsts[np.linspace(0, len(firsts) - 1, SAMPLES).astype(int)]
        shown[title("datasets", name).split(",")[0]] = bunch.images[some]
    if not shown:
        return None
    figure, axes = _new(8, 0.9 * len(shown), rows=len(shown))
    for ax, (name, images) in zip(np.atleast_1d(axes), shown.items(), strict=True):
        ax.imshow(np.concatenate(list(images), axis=1), cmap="gray")
        ax.set(xticks=[], yticks=[])
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
    return _save(figure, folder / "samples.png")


def _new(width, height, columns=1, rows=1):
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'dssc[plot]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def _save(figure, path):
    figure.savefig(path, dpi=110)
    return path
