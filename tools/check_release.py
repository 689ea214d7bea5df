"""Check that everything names the version of a tag, and write the notes of its release.

python tools/check_release.py v0.2.0 --notes notes.md
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where the version is written. The first is the source; hatchling reads it from there.
VERSIONS = {
    "src/dssc/__init__.py": r'^__version__ = "(.*)"$',
    "CITATION.cff": r"^version: (.*)$",
    "tools/conda/recipe.yaml": r'^  version: "(.*)"$',
}


def main() -> None:
    """Read the arguments, check the version and write the notes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tag")
    parser.add_argument("--notes", type=Path, help="a file for the notes of this version")
    arguments = parser.parse_args()
    version = arguments.tag.removeprefix("v")
    problems = [problem for path in VERSIONS if (problem := wrong_version(path, version))]
    notes = release_notes(version)
    if not notes:
        problems.append(f"CHANGELOG.md has no heading '## {version} (year-month-day)' with text")
    if problems:
        sys.exit("\n".join(problems))
    if arguments.notes:
        arguments.notes.write_text(notes, encoding="utf-8")


def wrong_version(path: str, version: str) -> str | None:
    """Return what is wrong with the version that a file names, if anything."""
    found = re.findall(VERSIONS[path], (ROOT / path).read_text(encoding="utf-8"), re.M)
    return None if found == [version] else f"{path} names version {found}, the tag {version!r}"


def release_notes(version: str) -> str:
    """Return the part of the changelog about a version that has a date."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)"
    match = re.search(heading, text, re.S | re.M)
    return match[1].strip() if match else ""


if __name__ == "__main__":
    main()
