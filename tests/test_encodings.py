"""Text is read and written as UTF-8 by name: the default of Windows is another encoding."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# How many arguments these methods of a path have before the encoding.
ARGUMENTS = {"read_text": 0, "write_text": 1}


def names_no_encoding(call):
    """Return whether a call opens a file as text without naming its encoding."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return False
    if name == "open" and isinstance(call.func, ast.Name):
        mode = call.args[1] if len(call.args) > 1 else ast.Constant("r")
        return "b" not in ast.unparse(mode)
    return name in ARGUMENTS and len(call.args) <= ARGUMENTS[name]


def calls(source):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("folder", ["src", "tests", "tools", "benchmarks", "examples", "docs"])
def test_files_are_opened_with_an_encoding(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    for path in paths:
        found = filter(names_no_encoding, calls(path.read_text(encoding="utf-8")))
        assert [ast.unparse(call) for call in found] == [], path


def test_what_counts_as_an_encoding():
    wrong = ["open(p)", "open(p, 'w')", "p.read_text()", "p.write_text(t)"]
    right = ["open(p, 'rb')", "open(p, encoding='utf-8')", "p.read_text('utf-8')"]
    assert all(names_no_encoding(call) for source in wrong for call in calls(source))
    assert not any(names_no_encoding(call) for source in right for call in calls(source))
