"""Every warning and error has a paragraph in docs/troubleshooting.md, found by a phrase."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from dssc._warnings import DOCUMENTATION, EXPLAINED, explained, help_link, warn_user

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "dssc").rglob("*.py"))
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
HEADINGS = re.findall(r"^### (.*)$", PAGE, re.M)
# Sections whose phrases are too general for messages of other folders.
SECTIONS = {"Errors of the command": ("cli",), "Errors of the data sets": ("datasets", "paper")}
# Messages that no user sees, or that repeat the message of another error.
INTERNAL = ("has no attribute", "are known for", "the checksum does not match")


def phrases(folder):
    """Return the quoted phrases of the headings that apply to messages of a folder."""
    found = []
    for section in re.split(r"^## ", PAGE, flags=re.M):
        folders = [value for title, value in SECTIONS.items() if section.startswith(title)]
        if not folders or folder in folders[0]:
            headings = re.findall(r"^### (.*)$", section, re.M)
            found += [
                phrase for heading in headings for phrase in re.findall(r"`([^`]+)`", heading)
            ]
    return found


def template(node):
    """Return the text of a message with gaps for its values; None if it is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (template(node.left) or "{}") + (template(node.right) or "{}")
    return None


def messages(name):
    """Return messages of calls of a function, or with "raise" of all errors, and their folders.

    Messages with fewer than three words of their own repeat what was said elsewhere.
    """
    found = []
    for path in SOURCES:
        folder = path.relative_to(ROOT / "src" / "dssc").parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and name == "raise":
                calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == name:
                calls = [node]
            else:
                continue
            texts = [template(argument) for call in calls for argument in call.args]
            long = [text for text in texts if text and len(re.findall(r"[a-z]{2,}", text)) > 2]
            found += [
                pytest.param(text, folder, id=f"{path.stem}-{node.lineno}") for text in long[:1]
            ]
    return found


@pytest.mark.parametrize(("message", "folder"), messages("warn_user"))
def test_every_warning_has_a_paragraph_and_links_to_it(message, folder):
    assert any(phrase in message for phrase in phrases(folder)), message
    assert help_link(message), message


@pytest.mark.parametrize(("message", "folder"), messages("raise") + messages("refuse_rows"))
def test_every_error_has_a_paragraph(message, folder):
    if not any(internal in message for internal in INTERNAL):
        assert any(phrase in message for phrase in phrases(folder)), message


def test_the_messages_are_found():
    assert len(messages("warn_user")) > 10
    assert len(messages("raise")) > 200
    assert len(messages("refuse_rows")) > 1


@pytest.mark.parametrize("phrase", EXPLAINED)
def test_links_lead_to_a_heading(phrase):
    matching = [heading for heading in HEADINGS if f"`{phrase}`" in heading]
    assert len(matching) == 1, phrase
    slug = re.sub(r"[^\w\- ]", "", matching[0].strip().lower()).replace(" ", "-")
    assert help_link(f"before {phrase} after").endswith(f"troubleshooting.html#{slug}")


def test_the_link_is_that_of_the_published_pages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Documentation"] + "/stable" == DOCUMENTATION


def test_warnings_and_errors_carry_their_link():
    with pytest.warns(UserWarning, match=r"fell apart\. See .*#connected-components-more-than"):
        warn_user(
            "the graph has 3 connected components, more than n_clusters: it fell apart", UserWarning
        )
    assert help_link(f"not converged. See {DOCUMENTATION}/troubleshooting.html") == ""
    error = explained(ValueError("X has 1 zero rows, which cannot be scaled to unit norm"))
    assert "troubleshooting.html#" in error.__notes__[0]
    assert not hasattr(explained(ValueError("unknown")), "__notes__")
