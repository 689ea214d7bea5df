"""The summary of a clustering: as JSON for scripts, and as a few lines of text."""

from typing import Any

import numpy as np

import dssc
from dssc.cli.fitting import Clustering
from dssc.graph import count_components
from dssc.metrics import nonzeros_per_point
from dssc.report import HIDDEN_PARAMETERS, certificate_of, class_scores

# Cluster sizes that the text shows; of further clusters it gives the smallest and the largest.
SIZES_SHOWN = 24
# The certificate line of a clustering without one.
NO_CERTIFICATE = "none for a symmetric affinity; --affinity doubly_stochastic has one"


def summarise(
    clustering: Clustering, seconds: dict[str, float], outputs: dict[str, str]
) -> dict[str, Any]:
    """Return the summary of a clustering, in JSON types."""
    model, prepared, classes = clustering.model, clustering.prepared, clustering.classes
    labels = np.asarray(model.labels_)
    parameters = {
        name: _json_number(value)
        for name, value in model.get_params().items()
        if name not in HIDDEN_PARAMETERS
    }
    return {
        "dssc": dssc.__version__,
        "data": clustering.samples.source,
        "n_samples": int(prepared.X.shape[0]),
        "n_features": int(prepared.X.shape[1]),
        "preparation": prepared.steps,
        "method": type(model).__name__,
        "parameters": parameters,
        "explanation": getattr(model, "explanation_", ""),
        "eta1": _json_number(getattr(model, "eta1_", None)),
        "eta2": getattr(model, "eta2_", None),
        "sizes": np.bincount(labels[labels >= 0], minlength=model.n_clusters_).tolist(),
        "without_cluster": int(np.sum(labels < 0)) + len(clustering.samples.skipped),
        "components": count_components(model.affinity_matrix_),
        "nonzeros_per_point": nonzeros_per_point(model.affinity_matrix_),
        "verdict": _verdict(clustering),
        "certificate": _certificate(model),
        "converged": clustering.converged,
        "scores": None if classes is None else class_scores(model, classes),
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "warnings": clustering.warnings,
        "outputs": outputs,
    }


def as_text(summary: dict[str, Any]) -> str:
    """Return a summary as a few lines of text."""
    n, k = summary["n_samples"], len(summary["sizes"])
    steps = f" ({', '.join(summary['preparation'])})" if summary["preparation"] else ""
    is_graph = summary["parameters"].get("affinity") == "precomputed"
    features = "with their similarities" if is_graph else f"{summary['n_features']:,} features"
    n_components, outside = summary["components"], summary["without_cluster"]
    certificate = summary["certificate"]
    parameters = "".join(
        f", {name} = {float(summary[name]):.4g}"
        for name in ("eta1", "eta2")
        if summary[name] is not None
    )
    scores = summary["scores"] or {}
    verdict = summary["verdict"]
    rows = {
        "verdict": f"{verdict['kind']}: {verdict['headline']}" if verdict else "",
        "next": "; ".join(verdict["next_steps"]) if verdict else "",
        "choice": summary["explanation"],
        "sizes": _sizes(summary["sizes"]),
        "no cluster": f"{outside:,} (label -1)" if outside else "",
        "graph": f"{n_components:,} connected component{'s' if n_components != 1 else ''}, "
        f"{summary['nonzeros_per_point']:.1f} nonzeros per point{parameters}",
        "certificate": certificate["status"] if certificate else NO_CERTIFICATE,
        "scores": "  ".join(f"{name} {value:.3f}" for name, value in scores.items()),
        "seconds": ", ".join(f"{name} {value:.2f}" for name, value in summary["seconds"].items()),
        "wrote": ", ".join(summary["outputs"].values()),
    }
    return "\n".join(
        [
            f"{summary['data']}: {n:,} samples, {features}{steps}",
            f"{summary['method']}: {k} clusters in {sum(summary['seconds'].values()):.1f} s",
            *(f"  {name:12} {text}" for name, text in rows.items() if text),
        ]
    )


def _json_number(value: Any) -> Any:
    """Return a value with infinity as text: JSON has no number for it."""
    return str(value) if isinstance(value, float) and np.isinf(value) else value


def _sizes(sizes: list[int]) -> str:
    shown = ", ".join(map(str, sizes[:SIZES_SHOWN]))
    if len(sizes) <= SIZES_SHOWN:
        return shown
    return f"{shown}, ... (smallest {min(sizes)}, largest {max(sizes)})"


def _verdict(clustering: Clustering) -> dict[str, Any] | None:
    verdict = clustering.verdict
    if verdict is None:
        return None
    stability = verdict.evidence.stability
    separation = verdict.evidence.separation
    return {
        "kind": verdict.kind,
        "headline": verdict.headline,
        "reasons": verdict.reasons,
        "next_steps": verdict.next_steps,
        "stability": {
            "mean": stability.mean,
            "without_clusters": stability.chance,
            "clusters": [None if np.isnan(x) else float(x) for x in stability.clusters],
        },
        "proved_separate": None if separation is None else separation.n_proved,
    }


def _certificate(model: Any) -> dict[str, Any] | None:
    result = certificate_of(model)
    if result is None:
        return None
    if hasattr(result, "violations"):
        return {
            "converged": bool(result.converged),
            "largest_violation": float(result.violations.max()),
            "status": result.status,
        }
    return {
        "converged": bool(result.converged),
        "marginal_error": float(result.marginal_error),
        "gap": float(result.gap),
        "n_iter": int(result.n_iter),
        "status": result.status,
    }
