"""What the documents say is run, so that it stays true."""

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from dssc.cli.main import main

ROOT = Path(__file__).parents[1]
EXAMPLES = ("demo", "digits", "faces", "motion", "normalise", "transport")

pytestmark = pytest.mark.slow


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.S | re.M)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name, tmp_path):
    # Showing a figure without a screen is a warning.
    command = [sys.executable, "-W", "ignore", ROOT / "examples" / f"{name}.py"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_example_is_run():
    pictures = {"guide_pictures", "readme_picture"}  # they write into the documents
    found = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert found - pictures == set(EXAMPLES)


@pytest.mark.parametrize("document", ["docs/quickstart.md", "docs/index.md"])
def test_python_blocks_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSSC_CACHE", str(tmp_path))
    images = np.random.default_rng(0).uniform(size=(600, 8, 8))
    names = {"images": images}
    for block in blocks(ROOT / document, "python"):
        exec(compile(block, document, "exec"), names)


@pytest.mark.parametrize("document", ["README.md", "docs/command.md"])
def test_commands_run(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSSC_CACHE", str(tmp_path))
    lines = "".join(blocks(ROOT / document, "bash")).splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("dssc ")]
    assert commands
    for command in commands:
        assert main(command[1:]) == 0, capsys.readouterr().err


@pytest.mark.skipif(find_spec("sphinx_gallery") is None, reason="needs dssc[docs]")
def test_the_pages_build_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-d", tmp_path / "trees", "docs"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [*command, tmp_path / "site"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # The pages work offline: no script, style or picture comes from elsewhere.
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', page.read_text()), page
