"""Time and size of reports: digits that are clustered, and large blocks without the time of a fit.

    python -m benchmarks.report

Seconds are those of the processor, on one thread.
"""

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from dssc import ADSSC
from dssc.report import html_report
from tests.report.models import large_model
from tests.report.reading import data_of

# Points and clusters of the blocks.
BLOCKS = ((20_000, 10), (70_000, 10))


def main() -> None:
    """Print a table."""
    print("| data | points | k | images shown | seconds | megabytes |\n|---|---|---|---|---|---|")
    digits = load_digits()
    model = ADSSC(10, eta1=1.0, n_neighbors=12, random_state=0).fit(digits.data)
    measure(
        "digits",
        model,
        images=digits.images,
        labels_true=digits.target,
        verdict=model.summary(),
        exploration=model.explore(),
    )
    for n, k in BLOCKS:
        images = np.resize(digits.images, (n, 8, 8)).repeat(3, axis=1).repeat(3, axis=2)
        names = [f"folder{i % 77}/image-{i:06}.png" for i in range(n)]
        blocks = large_model(n, k)
        classes = (blocks.labels_ + (np.arange(n) % 10 == 0)) % k
        measure("blocks", blocks, images=images, labels_true=classes, names=names)


def measure(name: str, model: Any, **content: Any) -> None:
    """Print a row of the table."""
    start = time.process_time()
    page = html_report(model, **content)
    seconds = time.process_time() - start
    shown = len(data_of(page, "sheet")["samples"])
    size = len(page.encode()) / 1e6
    n, k = len(model.labels_), model.n_clusters_
    print(f"| {name} | {n:,} | {k} | {shown:,} | {seconds:.1f} | {size:.2f} |", flush=True)


if __name__ == "__main__":
    main()
