"""What the paper says: data sets, methods with their parameters, and published numbers."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

METRICS = ("ACC", "NMI", "SPE", "NNZ")


@cache
def read(name: str) -> dict[str, Any]:
    """Return one of the files in `data/`, in the order it is written in."""
    return tomllib.loads((files("dssc.paper") / "data" / f"{name}.toml").read_text("utf-8"))


def published(table: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the numbers of a table by data set, method and metric.

    A number may be "---" or "N/A" instead, as in the paper.
    """
    content = read(table)
    methods = content["methods"]
    return {
        data: {
            method: {metric: numbers[place] for metric, numbers in metrics.items()}
            for place, method in enumerate(methods)
        }
        for data, metrics in content.items()
        if data != "methods"
    }


def title(kind: str, name: str) -> str:
    """Return the name for people of one of the "datasets" or "methods"."""
    return read(kind)[name].get("title", name)
