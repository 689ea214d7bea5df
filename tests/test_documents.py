"""What the documents say is checked or run, so that it stays true."""

import ast
import builtins
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_digits

import dssc
from dssc.cli.main import main

ROOT = Path(__file__).parents[1]
EXAMPLES = (
    "cells", "demo", "digits", "faces", "image_embeddings", "motion", "new_points", "normalise",
    "number_of_clusters", "objects", "on_a_gpu", "on_many_machines", "own_graph", "reading_report",
    "text", "transport",
)  # fmt: skip
BUILT = {"gallery", "generated"}  # folders of docs that only a build fills
NOT_SHIPPED = {"site/", "photos/", "results.jsonl"}  # made by the user, or too large for the sdist
BUILT_PAGES = {"example_report.html"} | {
    f"gallery/{name}.rst" for name in (*EXAMPLES, "index") if name != "demo"
}
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if not BUILT & set(path.parts)
)
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
CURRENT = [name for name in NAMES if name != "CHANGELOG.md"]  # it mentions names of the past
NEEDS_ANNDATA = pytest.mark.skipif(find_spec("anndata") is None, reason="needs dssc[anndata]")
PAGES_WITH_OUTPUT = ("index", "quickstart", "command", "other_libraries")
ELSEWHERE = {"KMeans", "SpectralClustering", *dir(builtins)}
# Attributes of other software, on the page that compares with it.
ATTRIBUTES_ELSEWHERE = {"membership_strengths_", "probabilities_", "relative_validity_"}
NEEDS = {"cells": "anndata", "on_a_gpu": "torch", "on_many_machines": "distributed"}


class Block(NamedTuple):
    """A fenced block; `is_output` marks what the block before it prints."""

    language: str
    text: str
    is_output: bool


def blocks(document):
    """Return the fenced blocks of a document. `<!-- output -->` above one marks it as output."""
    pattern = r"^(<!-- output -->\n)?```(\{?[\w-]*\}?)\n(.*?)^```$"
    found = re.findall(pattern, (ROOT / document).read_text(encoding="utf-8"), re.S | re.M)
    return [Block(language, text, bool(mark)) for mark, language, text in found]


def prose(document):
    """Return a document without its fenced blocks."""
    return re.sub(
        r"^```.*?^```$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.S | re.M
    )


def code_spans(document):
    return re.findall(r"`([^`\n]+)`", prose(document))


def normalised(text):
    """Replace what differs between machines: seconds, and numbers at the level of rounding."""
    text = re.sub(r"\d+\.\d+ s\b", "# s", text)
    text = re.sub(r"\b\d\.\de-(?:09|[1-9]\d)\b", "#", text)
    lines = [
        re.sub(r"\d+\.\d+", "#", line) if line.strip().startswith("seconds") else line.rstrip()
        for line in text.strip().splitlines()
    ]
    return "\n".join(lines)


def resolve(name):
    """Return what a dotted name below `dssc` means."""
    value = dssc
    for part in name.split("."):
        if not hasattr(value, part):
            value = import_module(f"{value.__name__}.{part}")
        else:
            value = getattr(value, part)
    return value


# Links, files and names


def slug(heading):
    """Return the anchor of a heading, as the pages and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", NAMES)
def test_links_resolve(document):
    text = prose(document)
    links = [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'href="([^"]+)"', text)]
    for link in links:
        target, _, anchor = link.partition("#")
        if target in BUILT_PAGES or re.match(r"\w+:", link):
            continue
        path = (ROOT / document).parent / target if target else ROOT / document
        assert path.exists(), link
        headings = (
            re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M) if anchor else []
        )
        assert not anchor or anchor in map(slug, headings), link


@pytest.fixture(scope="module")
def repository():
    """Return all paths of the repository that a document may mention, folders with a slash."""
    folders = ("src", "docs", "tests", "benchmarks", "examples", "tools")
    paths = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    return [
        f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
        for path in paths
        if not path.match("*/__pycache__/*")
    ]


@pytest.mark.parametrize("document", CURRENT)
def test_files_exist(document, repository):
    pattern = r"([\w./-]+\.(?:py|toml|jsonl|rst)|[\w.-]+(?:/[\w.-]+)*/)(?::.*)?"
    indented = re.findall(r"^    [ \w].*$", prose(document), re.M)
    for span in [*code_spans(document), *indented]:
        for part in re.split(r"[ ,;()]+", span):
            match = re.fullmatch(pattern, part)
            if match and match[1] not in NOT_SHIPPED:
                assert any(path.endswith(f"/{match[1]}") for path in repository), span


@pytest.mark.parametrize("document", CURRENT)
def test_symbols_of_files_exist(document):
    """Check mentions such as `stochastic/projection.py: project_doubly_stochastic`."""
    for file, symbol in re.findall(r"`([\w/]+\.py): ([\w.]+)`", prose(document)):
        body = ast.parse((ROOT / "src" / "dssc" / file).read_text(encoding="utf-8")).body
        for part in symbol.split("."):
            kinds = (ast.FunctionDef, ast.ClassDef)
            defined = {node.name: node.body for node in body if isinstance(node, kinds)}
            assert part in defined, f"{file}: {symbol}"
            body = defined[part]


@pytest.mark.parametrize("document", CURRENT)
def test_names_exist(document):
    estimators = [getattr(dssc, name) for name in dssc.__all__ if hasattr(resolve(name), "fit")]
    for span in code_spans(document):
        for name in re.findall(r"\bdssc\.([A-Za-z_][\w.]*)", span):
            assert resolve(name) is not None
        called = re.match(r"([A-Za-z_]{3,})\(", span)
        if called and called[1] not in ELSEWHERE:
            known = called[1] in dssc.__all__ or any(hasattr(e, called[1]) for e in estimators)
            assert known, span
        if re.fullmatch(r"[a-z]\w*[a-z0-9]_", span) and span not in ("fetch_", "make_"):
            known = any(hasattr(e, span) or span in e.__doc__ for e in estimators)
            assert known or span in ATTRIBUTES_ELSEWHERE, span


def test_the_reference_lists_every_public_name():
    directives = "".join(b.text for b in blocks("docs/reference.md") if b.language == "{eval-rst}")
    listed = re.findall(r"^   ([A-Za-z][\w.]*)$", directives, re.M)
    assert set(dssc.__all__) <= set(listed)
    for name in listed:
        assert resolve(name).__doc__


def test_the_messages_in_troubleshooting_exist():
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    messages = re.sub(r'"\s*\n\s*f?"', "", sources)  # literals that Python joins
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    headings = re.findall(r"^### (.*)$", page, re.M)
    quoted = [span for heading in headings for span in re.findall(r"`([^`]+)`", heading)]
    assert quoted
    for span in set(quoted) - {"multiprocessing", "import"}:
        assert span in messages, span


def test_the_installation_names_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for document in CURRENT:
        text = (ROOT / document).read_text(encoding="utf-8")
        for names in re.findall(r"(?:dssc|'\.)\[([\w,]+)\]", text):
            assert set(names.split(",")) <= set(extras["optional-dependencies"]), document


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for document in NAMES:
        mentioned = re.findall(
            r"(?:`|^)make ([\w-]+)", (ROOT / document).read_text(encoding="utf-8"), re.M
        )
        assert set(mentioned) <= targets, document


# Commands


def bash_commands(document):
    """Return the `dssc` commands of the bash blocks, each with the output shown for it or None."""
    commands = []
    for block in blocks(document):
        if block.language == "bash":
            lines = [shlex.split(line, comments=True) for line in block.text.splitlines()]
            commands += [[line[1:], None] for line in lines if line[:1] == ["dssc"]]
        elif block.is_output and commands:
            commands[-1][1] = block.text
    return commands


@pytest.fixture
def options(capsys):
    """Return a function that gives the options a subcommand has, read from its help."""

    def options_of(subcommand):
        with pytest.raises(SystemExit):
            main([subcommand, "--help"])
        return set(re.findall(r"(?<!\w)--?[a-z][\w-]*", capsys.readouterr().out))

    return options_of


@pytest.mark.parametrize("document", CURRENT)
def test_options_of_commands_exist(document, options):
    spans = [span for span in code_spans(document) if span.startswith("dssc ")]
    lines = [span.split()[1:] for span in spans] + [line for line, _ in bash_commands(document)]
    for subcommand, *arguments in lines:
        mentioned = {part for part in arguments if part.startswith("-")}
        assert not mentioned or mentioned <= options(subcommand), (subcommand, arguments)


def test_options_in_the_page_of_the_command_exist(options):
    subcommands = ("cluster", "project", "demo", "paper", "datasets", "info")
    known = set().union(*map(options, subcommands))
    mentioned = {span.split()[0] for span in code_spans("docs/command.md") if span[0] == "-"}
    assert mentioned
    assert mentioned <= known


@pytest.mark.slow
@pytest.mark.parametrize("document", ["README.md", "docs/command.md"])
def test_commands_print_what_the_document_shows(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSSC_CACHE", str(tmp_path))
    commands = bash_commands(document)
    assert commands
    for arguments, shown in commands:
        code = main(arguments)
        out, err = capsys.readouterr()
        assert code == 0, err
        if shown is not None:
            assert normalised(out) == normalised(shown)


@pytest.mark.slow
def test_pipelines_of_the_command_run(tmp_path):
    lines = [
        line
        for block in blocks("docs/command.md")
        if block.language == "bash"
        for line in block.text.splitlines()
        if "|" in line
    ]
    assert lines
    shim = tmp_path / "bin" / "dssc"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m dssc "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    for line in ["dssc demo --files try", *lines]:
        command = ["bash", "-o", "pipefail", "-c", line]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "piped.csv").read_text(encoding="utf-8").startswith("index,cluster")


# Examples and pages


def run_python_blocks(document, names):
    """Run the Python blocks of a document and compare what they print with what it shows."""
    printed = None
    for block in blocks(document):
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, document, "exec"), names)
            printed = out.getvalue()
        elif block.is_output and printed is not None:
            assert normalised(printed) == normalised(block.text)
            printed = None


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/index.md",
        pytest.param("docs/other_libraries.md", marks=NEEDS_ANNDATA),
        pytest.param("docs/quickstart.md", marks=pytest.mark.slow),
    ],
)
def test_python_blocks_print_what_the_document_shows(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSSC_CACHE", str(tmp_path))
    run_python_blocks(document, {"images": load_digits().images[:600]})


@pytest.mark.parametrize(
    "document",
    [
        "docs/choosing.md",
        "docs/choosing_k.md",
        "docs/graphs.md",
        "docs/guide.md",
        "docs/outliers.md",
        "docs/report.md",
        "docs/reference.md",
        "docs/when_not.md",
    ],
)
def test_python_blocks_run_on_given_data(document):
    X, y = dssc.make_union_of_subspaces(100, n_subspaces=4, random_state=0)
    model = dssc.ADSSC(4, eta1=1.0, n_neighbors=8, random_state=0).fit(X)
    names = {"ADSSC": dssc.ADSSC, "X": X, "y": y, "model": model, "K": np.abs(X @ X.T)}
    names["images"] = np.random.default_rng(0).uniform(size=(100, 8, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ten clusters are more than there are
        run_python_blocks(document, names)


def test_every_output_follows_what_prints_it():
    for document in NAMES:
        marks = [block.is_output for block in blocks(document)]
        assert sum(marks) == (ROOT / document).read_text(encoding="utf-8").count(
            "<!-- output -->"
        ), document
        checked = ("README.md", *(f"docs/{name}.md" for name in PAGES_WITH_OUTPUT))
        assert not any(marks) or document in checked
    assert any(shown for _, shown in bash_commands("docs/command.md"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
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
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts - pictures == set(EXAMPLES)
