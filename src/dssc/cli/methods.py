"""The methods by name, and their parameters as options."""

import argparse
import inspect
from typing import Any

from dssc.cli.exits import CommandError

# Names on the command line and of the estimators.
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
}

AFFINITIES, SOLVERS = ("symmetric", "doubly_stochastic"), ("newton", "linearized-admm")

# Parameters of the estimators under their own names. A default is the estimator's own.
PARAMETERS: dict[str, dict[str, Any]] = {
    "eta1": {"type": float, "help": "ridge penalty: larger spreads a point's coefficients"},
    "eta2": {
        "type": float,
        "help": "regularisation of the affinity: larger gives more neighbours; by default chosen "
        "so that a point has --n-neighbors",
    },
    "eta3": {"type": float, "help": "l1 penalty of the coefficients"},
    "n_neighbors": {"type": int, "help": "mean number of neighbours a point should have"},
    "affinity": {"choices": AFFINITIES, "help": "what baselines make of their coefficients"},
    "symmetric": {"action": argparse.BooleanOptionalAction, "help": "ask for a symmetric affinity"},
    "gamma": {"type": float, "help": "data weight (ssc, ensc) or ridge penalty (lsr)"},
    "l1_ratio": {"type": float, "help": "share of the l1 penalty (ensc)"},
    "tau": {"type": float, "help": "data weight (lrsc)"},
    "alpha": {"type": float, "help": "noise weight (lrsc)"},
    "n_nonzero_coefs": {"type": int, "help": "neighbours a point is expressed by (sscomp, s3comp)"},
    "n_subproblems": {"type": int, "help": "dropouts a point is expressed under (s3comp)"},
    "dropout": {"type": float, "help": "share of points left out (s3comp)"},
    "damping": {"type": float, "help": "damping of the consensus (s3comp)"},
    "n_rounds": {"type": int, "help": "rounds of consensus (s3comp)"},
    "solver": {"choices": SOLVERS, "help": "the optimum, or the paper's iterates (jdssc)"},
    "alternating_steps": {"type": int, "help": "turns of C and A instead of a solver (jdssc)"},
    "n_components": {"type": int, "help": "number of eigenvectors; default: number of clusters"},
    "assign_labels": {"choices": ("kmeans", "cluster_qr"), "help": "labels from eigenvectors"},
    "n_init": {"type": int, "help": "restarts of k-means"},
    "tol": {"type": float, "help": "tolerance of the certificate"},
    "max_iter": {"type": int, "help": "most iterations of a solver"},
}


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a method and an option for every parameter."""
    group = parser.add_argument_group(
        "method", "Parameters have the names and defaults of the Python estimators."
    )
    group.add_argument(
        "-m",
        "--method",
        choices=tuple(METHODS),
        default="adssc",
        help="how to cluster; default: adssc, doubly stochastic subspace clustering",
    )
    for name, options in PARAMETERS.items():
        plain = "action" in options or "choices" in options
        if not plain:
            options = {**options, "metavar": "N" if options["type"] is int else "X"}
        group.add_argument(_flag(name), dest=name, default=None, **options)
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random_state; default: %(default)s"
    )


def build_estimator(args: argparse.Namespace, verbose: int):
    """Return the estimator that the options describe."""
    import dssc

    estimator = getattr(dssc, METHODS[args.method])
    known = inspect.signature(estimator).parameters
    given = {name: getattr(args, name) for name in PARAMETERS if getattr(args, name) is not None}
    unknown = [name for name in given if name not in known]
    if unknown:
        offered = ", ".join(_flag(name) for name in PARAMETERS if name in known)
        raise CommandError(
            f"{_flag(unknown[0])} is no parameter of --method {args.method}, which has {offered}"
        )
    if "verbose" in known:
        given["verbose"] = verbose
    return estimator(n_clusters=args.n_clusters, random_state=args.seed, **given)


def _flag(name):
    return f"--{name.replace('_', '-')}"
