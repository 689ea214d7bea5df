"""The clustering methods by name, and the parameters of their estimators as options."""

import argparse
import inspect
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from dssc.cli.exits import CommandError


def number_or_word(text: str) -> float | str:
    """Return a number, or the text if it is none."""
    try:
        return float(text)
    except ValueError:
        return text


# The methods on the command line, and their estimators.
METHODS = {
    "adssc": "ADSSC",
    "jdssc": "JDSSC",
    "ssc": "SSC",
    "ensc": "EnSC",
    "lsr": "LSR",
    "lrsc": "LRSC",
    "tsc": "TSC",
    "sscomp": "SSCOMP",
    "s3comp": "S3COMP",
    "graph": "GraphClustering",
}

# The parameters of the estimators: type and meaning. Defaults, choices and the methods that have a
# parameter come from the estimators.
PARAMETERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "eta1": (
        float,
        "ridge penalty; small for subspaces, large for directions, inf for cosines; adssc selects "
        "it if it is not set",
    ),
    "eta2": (
        number_or_word,
        "regularisation of the affinity; larger values give more neighbours; 'components' takes "
        "the smallest that leaves as many components as clusters (adssc); if it is not set, "
        "--n-neighbors determines it",
    ),
    "eta3": (float, "l1 penalty of the coefficients"),
    "n_neighbors": (int, "mean number of neighbours per point; adssc selects it if it is not set"),
    "affinity": (
        str,
        "how coefficients become an affinity; for graph: precomputed if DATA is a square matrix of "
        "similarities, nearest_neighbors if it has features",
    ),
    "self_loops": (bool, "whether the diagonal of similarities counts"),
    "signed": (
        bool,
        "whether a negative coefficient is no similarity; adssc selects it if it is not set",
    ),
    "symmetric": (bool, "whether A must be symmetric"),
    "affine": (bool, "whether subspaces may miss the origin"),
    "gamma": (float, "weight of the fit (ssc, ensc), or of the ridge penalty (lsr)"),
    "l1_ratio": (float, "share of the l1 penalty"),
    "tau": (float, "weight of the self-expression"),
    "alpha": (float, "weight of the fit; tau / 2 if it is not set"),
    "n_nonzero_coefs": (int, "number of points that express a point"),
    "n_subproblems": (int, "number of subproblems"),
    "dropout": (float, "share of points left out of each subproblem"),
    "damping": (float, "weight of the consensus"),
    "n_rounds": (int, "number of rounds of consensus"),
    "solver": (str, "how the optimum, or the paper's iterate (linearized-admm), is computed"),
    "alternating_steps": (int, "number of updates of C and A in turn, instead of a solver"),
    "n_components": (
        int,
        "number of eigenvectors; if it is not set, as many as clusters (adssc: more, with "
        "decreasing weights)",
    ),
    "assign_labels": (str, "how eigenvectors give labels"),
    "n_init": (int, "number of starts of k-means"),
    "merge_copies": (bool, "whether equal rows are clustered as one point"),
    "contamination": (float, "share of samples that get the label -1, the most unusual ones"),
    "device": (
        str,
        "where to compute: cpu, cuda, cuda:NUMBER, or torch for PyTorch on the CPU; the CPU if it "
        "is not set",
    ),
    "tol": (float, "tolerance of the certificate"),
    "max_iter": (int, "largest number of iterations; if it is not set, it depends on the solver"),
}

# How argparse reads the parameters of each type. A parameter that is not given is None.
OPTIONS_BY_TYPE: dict[Callable[[str], Any], dict[str, Any]] = {
    bool: {"action": argparse.BooleanOptionalAction},
    int: {"type": int, "metavar": "N"},
    float: {"type": float, "metavar": "X"},
    number_or_word: {"type": number_or_word, "metavar": "X"},
    str: {"type": str, "metavar": "NAME"},
}


class MethodHelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Completes the help of parameters by what the estimators define.

    The estimators are imported when help is formatted, not when the parser is built.
    """

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = super()._get_help_string(action)
        return f"{text} [{parameter_details(action.dest)}]" if action.dest in PARAMETERS else text


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for the method, and one for every parameter."""
    group = parser.add_argument_group(
        "method",
        "Parameters have the names of the Python estimators. In brackets: the methods that have\n"
        "the parameter, if not all do, its choices, and its default.",
    )
    group.add_argument(
        "-m",
        "--method",
        choices=tuple(METHODS),
        default="adssc",
        metavar="NAME",
        help=f"{', '.join(METHODS)}; default: %(default)s",
    )
    for name, (kind, meaning) in PARAMETERS.items():
        group.add_argument(_flag(name), dest=name, help=meaning, **OPTIONS_BY_TYPE[kind])
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random_state; default: %(default)s"
    )


def build_estimator(args: argparse.Namespace, verbose: int) -> Any:
    """Return the estimator that the options describe."""
    estimator = _estimators()[args.method]
    known = inspect.signature(estimator).parameters
    given = {name: getattr(args, name) for name in PARAMETERS if getattr(args, name) is not None}
    for name, value in given.items():
        if name not in known:
            offered = ", ".join(_flag(name) for name in PARAMETERS if name in known)
            raise CommandError(
                f"{_flag(name)} is not a parameter of --method {args.method}, which has {offered}"
            )
        choices = estimator.choices.get(name)
        if choices is not None and value not in choices:
            raise CommandError(f"{_flag(name)} {value} must be {' or '.join(choices)}")
    if "verbose" in known:
        given["verbose"] = verbose
    return estimator(n_clusters=args.n_clusters, random_state=args.seed, **given)


def check_device(device: str) -> None:
    """Refuse a device that is not available, before anything is read."""
    from dssc._devices import torch_device

    try:
        torch_device(device, None)
    except (ValueError, ImportError, RuntimeError) as error:
        raise CommandError(f"--device: {error}") from error


def parameter_details(name: str) -> str:
    """Return the methods that have a parameter, if not all do, its choices and its defaults."""
    estimators = {
        method: estimator
        for method, estimator in _estimators().items()
        if name in inspect.signature(estimator).parameters
    }
    parts = []
    if len(estimators) <= len(METHODS) // 2:
        parts.append(", ".join(estimators))
    elif len(estimators) < len(METHODS):
        others = ", ".join(method for method in METHODS if method not in estimators)
        parts.append(f"all but {others}")
    choices = next(iter(estimators.values())).choices.get(name)
    if choices is not None:
        parts.append(" or ".join(choices))
    parts.append(_defaults_text(name, estimators))
    return "; ".join(parts)


def _defaults_text(name: str, estimators: dict[str, Any]) -> str:
    """Return the most common default of a parameter, and the methods with another one."""
    defaults = {
        method: _value_text(inspect.signature(estimator).parameters[name].default)
        for method, estimator in estimators.items()
    }
    usual = Counter(defaults.values()).most_common(1)[0][0]
    others = [f"{method}: {value}" for method, value in defaults.items() if value != usual]
    return ", ".join([f"default: {usual}", *others])


def _value_text(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


@cache
def _estimators() -> dict[str, Any]:
    """Return the estimator of each method."""
    import dssc

    return {method: getattr(dssc, name) for method, name in METHODS.items()}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
