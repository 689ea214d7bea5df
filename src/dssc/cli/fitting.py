"""Fitting of an estimator, with its warnings recorded."""

import warnings
from dataclasses import dataclass, field
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dssc._progress import Progress
from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.preparing import Prepared
from dssc.cli.reading.samples import Samples


@dataclass
class Clustering:
    """A fitted model with its data and warnings.

    Parameters
    ----------
    samples : Samples
        The samples that were clustered.
    prepared : Prepared
        Their features.
    model : estimator
        The estimator, fitted.
    classes : ndarray or None
        Known classes of the samples.
    converged : bool
        Whether every solver reached its tolerance.
    warnings : list of str
        Warnings of the fit.
    """

    samples: Samples
    prepared: Prepared
    model: Any
    classes: Array | None
    converged: bool = True
    warnings: list[str] = field(default_factory=list)


def fit_model(
    model: Any, samples: Samples, prepared: Prepared, classes: Array | None, progress: Progress
) -> Clustering:
    """Fit a model; invalid parameters or data raise a CommandError."""
    clustering = Clustering(samples, prepared, model, classes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if "verbose" in model.get_params():  # the model shows its own stages
                model.fit(prepared.X)
            else:
                with progress.stage(f"clustering by {type(model).__name__}"):
                    model.fit(prepared.X)
        except ValueError as error:
            raise CommandError(str(error)) from error
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            continue  # deprecations and the like are for programmers
        clustering.converged &= not issubclass(warning.category, ConvergenceWarning)
        clustering.warnings.append(str(warning.message))
    return clustering
