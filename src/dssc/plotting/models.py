"""What the plots share: values of a fitted model, axes and colours."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dssc._typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def is_model(value: Any) -> bool:
    """Return whether a value is an estimator."""
    return hasattr(value, "fit") and hasattr(value, "get_params")


def fitted_attribute(model: Any, name: str) -> Any:
    """Return a fitted attribute of a model."""
    check_is_fitted(model)
    if not hasattr(model, name):
        raise ValueError(f"{type(model).__name__} has no {name}: pass an array instead of a model")
    return getattr(model, name)


def call_of_model(model: Any, name: str) -> Any:
    """Return what a method of a fitted model returns."""
    check_is_fitted(model)
    if not hasattr(model, name):
        raise ValueError(f"{type(model).__name__} has no {name}(), which this plot needs")
    return getattr(model, name)()


def cluster_colours(count: int) -> Array:
    """Return a colour for each cluster."""
    from matplotlib import colormaps

    if count <= 10:
        return colormaps["tab10"](np.arange(count))
    return colormaps["hsv"](np.arange(count) / count)


def number_ticks(*axes: Any) -> None:
    """Write integers along an axis, which are numbers of clusters."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(integer=True))


def axes_or_current(ax: "Axes | None") -> "Axes":
    """Return the axes to draw on."""
    plt = pyplot()
    return plt.gca() if ax is None else ax


def pyplot() -> Any:
    """Return matplotlib's pyplot, which is loaded when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'dssc[plot]'") from error
    return plt
