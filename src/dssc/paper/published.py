"""What the paper reports: data sets, methods with their parameters, and numbers."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

# The metrics of Tables 1 and 2.
METRICS = ("ACC", "NMI", "SPE", "NNZ")


@cache
def paper_data(name: str) -> dict[str, Any]:
    """Return the content of one of the files in `data/`, in the order of the file."""
    return tomllib.loads((files("dssc.paper") / "data" / f"{name}.toml").read_text("utf-8"))


def published_numbers(table: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the numbers of a table by data set, method and metric.

    A number may be "---" or "N/A" instead, as in the paper.
    """
    content = paper_data(table)
    return {
        data: {
            method: {metric: numbers[column] for metric, numbers in metrics.items()}
            for column, method in enumerate(content["methods"])
        }
        for data, metrics in content.items()
        if data != "methods"
    }


def title(kind: str, name: str) -> str:
    """Return the full name of one of the "datasets" or "methods"."""
    return paper_data(kind)[name].get("title", name)
