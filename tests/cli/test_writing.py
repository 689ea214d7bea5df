import errno
import os
from pathlib import Path

import pytest

from dssc.cli.exits import OutputError
from dssc.cli.writing import write_all


def in_use(self, target):
    raise PermissionError(errno.EACCES, "used by another process", str(self), None, str(target))


def full(descriptor):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name", "fault"), [(Path, "replace", in_use), (os, "fsync", full)]
)
def test_an_error_names_the_output_and_leaves_nothing(owner, name, fault, tmp_path, monkeypatch):
    """The system names the temporary file, or none."""
    monkeypatch.setattr(owner, name, fault)
    output = tmp_path / "labels.csv"
    output.write_text("old", encoding="utf-8")
    with pytest.raises(OutputError, match=f"cannot write {output}: (used|No space)"):
        write_all({output: b"new"}, force=True)
    assert output.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [output]
