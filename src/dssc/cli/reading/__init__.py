"""From a file or folder to samples, in whatever format people have them."""

from dssc.cli.reading.dispatch import check_exists, read_samples
from dssc.cli.reading.labels import read_labels
from dssc.cli.reading.samples import Samples

__all__ = ["Samples", "check_exists", "read_labels", "read_samples"]
