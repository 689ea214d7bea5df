"""A clustering from samples to scores, with its warnings and timings kept."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dssc._progress import Progress
from dssc.cli.exits import CommandError
from dssc.cli.preparing import Prepared
from dssc.cli.reading import Samples


@dataclass
class Clustering:
    """A fitted model with what is known about it.

    Parameters
    ----------
    samples : Samples
        What was clustered.
    prepared : Prepared
        Its features.
    model : estimator
        Fitted.
    classes : ndarray or None
        Known classes.
    converged : bool
        Whether every solver reached its tolerance.
    warnings : list of str
        What the solvers had to say.
    """

    samples: Samples
    prepared: Prepared
    model: Any
    classes: np.ndarray | None
    converged: bool = True
    warnings: list[str] = field(default_factory=list)


def cluster(model, samples: Samples, prepared: Prepared, classes, progress: Progress):
    """Fit a model; what is wrong with its parameters or the data becomes the user's error."""
    clustering = Clustering(samples, prepared, model, classes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if "verbose" in model.get_params():  # it shows its own stages
                model.fit(prepared.X)
            else:
                with progress.stage(f"clustering by {type(model).__name__}"):
                    model.fit(prepared.X)
        except ValueError as error:
            raise CommandError(str(error)) from error
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            continue  # meant for those who write code
        clustering.converged &= not issubclass(warning.category, ConvergenceWarning)
        clustering.warnings.append(str(warning.message))
    return clustering
