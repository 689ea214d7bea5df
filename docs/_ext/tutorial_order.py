"""The order of the tutorials: kinds of data, questions, machines, and single techniques."""

TUTORIALS = (
    "faces",
    "objects",
    "text",
    "image_embeddings",
    "cells",
    "own_graph",
    "number_of_clusters",
    "new_points",
    "reading_report",
    "on_a_gpu",
    "on_many_machines",
    "digits",
    "motion",
    "normalise",
    "transport",
)


class TutorialOrder:
    """Sort key of sphinx-gallery; an example that is not listed is an error."""

    def __init__(self, source_folder: str):
        self.source_folder = source_folder

    def __call__(self, filename: str) -> int:
        """Return the place of an example."""
        return TUTORIALS.index(filename.removesuffix(".py"))
