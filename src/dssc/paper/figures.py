"""The appendix's figures; they need matplotlib, the extra ``dssc[plot]``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.paper.experiments import Job
from dssc.paper.loading import MissingData, fetch
from dssc.paper.published import paper_data, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Images per data set in the picture of samples.
SAMPLES_SHOWN = 10


def draw_sparsity(A: Matrix, y: Array, eta2: float, folder: Path) -> Path:
    """Draw the nonzeros of an affinity with points sorted by class, and lines between classes."""
    figure, ax = _new_figure(3.2, 3.4)
    A = sparse.coo_array(A)
    rank = np.argsort(np.argsort(y, kind="stable"))
    kept = A.data > 1e-9
    ax.plot(rank[A.col[kept]], rank[A.row[kept]], ",", color="darkblue")
    for boundary in np.cumsum(np.bincount(y))[:-1] - 0.5:
        ax.axhline(boundary, color="red", linestyle="--", linewidth=0.8)
        ax.axvline(boundary, color="red", linestyle="--", linewidth=0.8)
    ax.set(xlim=(-0.5, len(y) - 0.5), ylim=(len(y) - 0.5, -0.5), aspect="equal")
    per_point = f"{kept.sum() / len(y):.1f} per point"
    ax.set(xticks=[], yticks=[], title=f"$\\eta_2$ = {eta2:g}, {per_point}")
    return _save(figure, folder / f"sparsity-{eta2:g}.png")


def draw_alternating(steps_done: list[tuple[int, Job, float]], folder: Path) -> Path:
    """Draw the relative error of the objective, and the accuracy, against the number of steps.

    Parameters
    ----------
    steps_done : list of (int, dict, float)
        Number of steps, line of results, and relative error of the objective.
    folder : Path
        Folder for the picture.
    """
    figure, (left, right) = _new_figure(8, 3, columns=2)
    steps = [step for step, _, _ in steps_done]
    left.plot(steps, [error for _, _, error in steps_done], "o-")
    left.set(xlabel="alternating steps", ylabel="relative error of the objective", yscale="log")
    left.set_xticks(steps)
    right.plot(steps, [line["ACC"] for _, line, _ in steps_done], "o-", label="from A")
    right.plot(steps, [line["ACC_of_C"] for _, line, _ in steps_done], "s--", label="from C")
    right.set(xlabel="alternating steps", ylabel="accuracy", ylim=(0, 1))
    right.set_xticks(steps)
    right.legend()
    return _save(figure, folder / "alternating.png")


def draw_samples(folder: Path) -> Path | None:
    """Draw a row of images of each available data set, every image from another class."""
    shown = {}
    for name in paper_data("figures")["samples"]["data"]:
        try:
            bunch = fetch(name)
        except MissingData:
            continue
        firsts = np.unique(bunch.target, return_index=True)[1]
        chosen = firsts[np.linspace(0, len(firsts) - 1, SAMPLES_SHOWN).astype(int)]
        shown[title("datasets", name).split(",")[0]] = bunch.images[chosen]
    if not shown:
        return None
    figure, axes = _new_figure(8, 0.9 * len(shown), rows=len(shown))
    for ax, (name, images) in zip(np.atleast_1d(axes), shown.items(), strict=True):
        ax.imshow(np.concatenate(list(images), axis=1), cmap="gray")
        ax.set(xticks=[], yticks=[])
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
    return _save(figure, folder / "samples.png")


def _new_figure(
    width: float, height: float, columns: int = 1, rows: int = 1
) -> tuple["Figure", Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'dssc[plot]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def _save(figure: "Figure", path: Path) -> Path:
    figure.savefig(path, dpi=110)
    return path
