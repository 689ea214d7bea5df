import io
import json
import sys

import pytest

from dssc.cli.console import print_json, show_any_text

DOCUMENT = {"name": "Gödel łódź 😀", "file": "a\udcffb"}


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_json_can_be_read_whatever_the_output_can_hold(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    show_any_text()
    print_json(DOCUMENT)
    stream.flush()
    assert json.loads(stream.buffer.getvalue().decode(encoding)) == DOCUMENT
