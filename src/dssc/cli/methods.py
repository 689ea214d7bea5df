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

AFFINITIES = ("symmetric", "doubly_stochastic")
SOLVERS = ("auto", "splitting", "newton", "linearized-admm")

# Parameters of the estimators under their own names. A default is the estimator's own.
PARAMETERS: dict[str, dict[str, Any]] = {
    "eta1": {
        "type": float,
        "help": "ridge penalty, larger spreads a point's coefficients; chosen (adssc), 1 (jdssc)",
    },
    "eta2": {
        "type": float,
        "help": "regularisation of the affinity, larger gives more neighbours; by default found "
        "by --n-neighbors (jdssc: 0.5)",
    },
    "eta3": {"type": float, "help": "l1 penalty of the coefficients; 0 (adssc, jdssc)"},
    "n_neighbors": {
        "type": int,
        "help": "mean number of neighbours a point should have; chosen (adssc), 12 (tsc: 5)",
    },
    "affinity": {
        "choices": AFFINITIES,
        "help": "what methods other than adssc and jdssc make of coefficients; symmetric",
    },
    "symmetric": {
        "action": argparse.BooleanOptionalAction,
        "help": "whether A must be symmetric; yes (adssc)",
    },
    "affine": {
        "action": argparse.BooleanOptionalAction,
        "help": "whether subspaces may miss the origin; no (adssc)",
    },
    "gamma": {
        "type": float,
        "help": "weight of the fit, 50 (ssc, ensc), or of the ridge penalty, 1 (lsr)",
    },
    "l1_ratio": {"type": float, "help": "share of the l1 penalty; 0.9 (ensc)"},
    "tau": {"type": float, "help": "weight of the self-expression; 100 (lrsc)"},
    "alpha": {"type": float, "help": "weight of the fit; tau / 2 (lrsc)"},
    "n_nonzero_coefs": {"type": int, "help": "points one is expressed by; 5 (sscomp, s3comp)"},
    "n_subproblems": {"type": int, "help": "number of subproblems; 15 (s3comp)"},
    "dropout": {"type": float, "help": "share of points left out of a subproblem; 0.7 (s3comp)"},
    "damping": {"type": float, "help": "weight of the consensus; 0.1 (s3comp)"},
    "n_rounds": {"type": int, "help": "rounds of consensus; 1 (s3comp)"},
    "solver": {
        "choices": SOLVERS,
        "help": "the optimum or the paper's iterates; auto (jdssc)",
    },
    "alternating_steps": {"type": int, "help": "turns of C and A instead of a solver (jdssc)"},
    "n_components": {
        "type": int,
        "help": "number of eigenvectors; as many as clusters (adssc: more, fading)",
    },
    "assign_labels": {
        "choices": ("kmeans", "cluster_qr"),
        "help": "how eigenvectors give labels; kmeans",
    },
    "n_init": {"type": int, "help": "restarts of k-means; 10"},
    "device": {"type": str, "help": "engine: cpu, cuda, or torch on the cpu; cpu (adssc)"},
    "tol": {"type": float, "help": "tolerance of the certificate; 1e-8 (jdssc: 1e-6)"},
    "max_iter": {"type": int, "help": "most iterations of a solver; 1000 (jdssc: 50 or 2000)"},
}


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a method and an option for every parameter."""
    group = parser.add_argument_group(
        "method",
        "Parameters have the names of the Python estimators. Each help text ends with the\n"
        "default and, unless all have the parameter, the methods.",
    )
    group.add_argument(
        "-m",
        "--method",
        choices=tuple(METHODS),
        default="adssc",
        metavar="NAME",
        help=f"{', '.join(METHODS)}; default: %(default)s",
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
