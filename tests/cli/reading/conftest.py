from importlib import import_module

import pytest

from dssc.cli.reading import annotated_data, arrays, arrow_tables
from dssc.cli.reading.expansion import largest_expansion


@pytest.fixture
def in_this_process(monkeypatch):
    """Read all files in the process of the test, which is quicker."""

    def read(path, kind, loader, **arguments):
        module = import_module(f"dssc.cli.reading.{loader}")
        return module.load(path, largest_expansion(path), **arguments)

    for module in (annotated_data, arrays, arrow_tables):
        monkeypatch.setattr(module, "read_separately", read)
