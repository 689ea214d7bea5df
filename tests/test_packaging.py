"""What packaging files repeat must agree."""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import dssc

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The extras that `make test-oldest` installs. The oldest PyTorch brings gigabytes of CUDA packages.
TESTED_EXTRAS = ("anndata", "dask", "hdf5", "images", "plot", "tables")


@pytest.fixture
def check_release(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import check_release

    yield check_release
    del sys.modules["check_release"]


def test_every_file_names_the_version(check_release):
    for path in check_release.VERSIONS:
        assert check_release.wrong_version(path, dssc.__version__) is None
        assert path in check_release.wrong_version(path, "0.0.1")


def test_a_release_needs_dated_notes(check_release, tmp_path, monkeypatch):
    text = "# Changelog\n\n## 2.0 (2027-01-31)\n\n- New.\n\n## 1.0 (unreleased)\n\n- Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(check_release, "ROOT", tmp_path)
    assert check_release.release_notes("2.0") == "- New."
    assert check_release.release_notes("1.0") == ""
    assert check_release.release_notes("20") == ""


def test_the_oldest_versions_tested_are_those_declared():
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if "==" in line)
    extras = [PROJECT["optional-dependencies"][name] for name in TESTED_EXTRAS]
    declared = "\n".join([*PROJECT["dependencies"], *chain(*extras)])
    for name, version in re.findall(r"^([\w-]+)(?:\[\w+\])?>=([\d.]+)$", declared, re.M):
        same = (version, f"{version}.0", f"{version}.0.0")
        assert tested.get(name) in same, f"put {name}=={version} into constraints-oldest.txt"


def test_the_conda_recipe_has_the_same_dependencies():
    recipe = (ROOT / "tools" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    needed = re.findall(r"^    - ([\w-]+) >=([\d.]+)", recipe.split("  run:\n")[1], re.M)
    declared = re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join(PROJECT["dependencies"]), re.M)
    # A noarch package has one list, so the bounds of all systems hold: the later ones replace.
    assert dict(needed) == dict(declared)
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe


def test_a_commit_is_checked_by_what_make_lint_runs():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    rule = re.search(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.M)[1]
    linted = re.findall(r"\$\(BIN\)/(.*?)(?: \.)?$", rule, re.M)
    entries = re.findall(r"entry: \.venv/bin/(.*?)(?: --force-exclude)?$", hooks, re.M)
    assert linted == entries


def test_every_file_names_the_same_address():
    source = PROJECT["urls"]["Source"]
    owner, name = source.split("/")[-2:]
    tools = [path for path in (ROOT / "tools").rglob("*.*") if path.suffix != ".pyc"]
    files = [ROOT / "CITATION.cff", *ROOT.glob("*.md"), *tools]
    addresses = [PROJECT["urls"].values()]
    addresses += [re.findall(r"https://[^\s)\"]+", path.read_text("utf-8")) for path in files]
    own = [address for found in addresses for address in found if f"/{name}" in address]
    assert len(own) > len(PROJECT["urls"]) - 1
    for address in own:
        assert address.startswith((source, f"https://{owner}.github.io/{name}")), address
