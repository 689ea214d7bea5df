"""Fitting of an estimator, with its warnings recorded."""

import warnings
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dssc._progress import Progress
from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.preparing import Prepared
from dssc.cli.reading.samples import Samples
from dssc.estimators.compiling import compiling_note
from dssc.verdict import Verdict


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
        Warnings about the data, and of the fit.
    verdict : Verdict or None
        What the clusters are worth, where it was asked for and can be said.
    """

    samples: Samples
    prepared: Prepared
    model: Any
    classes: Array | None
    converged: bool
    warnings: list[str]
    verdict: Verdict | None = None


def fit_model(
    model: Any, samples: Samples, prepared: Prepared, classes: Array | None, progress: Progress
) -> Clustering:
    """Fit a model; invalid parameters or data raise a CommandError."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with ExitStack() as shown_here:
                if "verbose" not in model.get_params():  # such a model shows nothing itself
                    shown_here.enter_context(compiling_note(progress))
                    stage = progress.stage(f"clustering by {type(model).__name__}")
                    shown_here.enter_context(stage)
                if samples.weights is None:
                    model.fit(prepared.X)
                else:
                    model.fit(prepared.X, sample_weight=samples.weights)
        except (ValueError, OverflowError) as error:
            raise CommandError(str(error)) from error
    # Deprecations and the like are for programmers.
    shown = [warning for warning in caught if issubclass(warning.category, UserWarning)]
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in shown)
    messages = [*samples.warnings, *(str(warning.message) for warning in shown)]
    return Clustering(samples, prepared, model, classes, converged, messages)


def add_verdict(clustering: Clustering) -> None:
    """Judge a clustering, if its method can be judged and there are enough points."""
    model = clustering.model
    if hasattr(model, "summary"):
        # Without enough points there is nothing to say, and the clustering is as good as before.
        with suppress(ValueError):
            clustering.verdict = model.summary()
