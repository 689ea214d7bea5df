"""Install a built wheel and sdist, each in an empty environment, and run what the README shows.

    python tools/smoke_test.py dist

Nothing of the checkout is importable there: the programs run in a temporary folder.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The wheel holds about 1 MB of source, the sdist also tests, documents and their pictures.
LARGEST_BYTES = {".whl": 1_500_000, ".gz": 5_000_000}
NEEDED = {".whl": ["dssc/py.typed", "dssc/report/assets/report.css"], ".gz": ["/tests/judge.py"]}


def main(folder: Path) -> None:
    """Try every distribution in a folder."""
    distributions = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    if [path.suffix for path in distributions] != [".whl", ".gz"]:
        names = [path.name for path in distributions]
        sys.exit(f"{folder} should hold one wheel and one sdist, not {names}; run `make dist`")
    example = re.search(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.S | re.M
    )
    assert example, "the README has no example in Python"
    for path in distributions:
        check_content(path)
        try_out(path.resolve(), example[1])
        print(f"{path.name}: {path.stat().st_size:,} bytes, installs and runs")


def check_content(path: Path) -> None:
    """Check the size of a distribution, its README and files that are easily forgotten."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
            readme = wheel.read(metadata).decode("utf-8")
        relative = re.findall(r"\]\((?!\w+:)[^)]*\)|pip install '?\..*", readme)
        assert not relative, f"an index page cannot follow {relative}"
    else:
        with tarfile.open(path) as sdist:
            names = sdist.getnames()
    for needed in NEEDED[path.suffix]:
        assert any(name.endswith(needed) for name in names), f"{path.name} lacks {needed}"
    assert path.stat().st_size < LARGEST_BYTES[path.suffix], f"{path.name} is too large"


def try_out(distribution: Path, example: str) -> None:
    """Install a distribution in an empty environment and run the first example and the demo."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        commands = [
            [programs / "python", "-m", "pip", "install", "--quiet", distribution],
            [programs / "python", "-c", example],
            [programs / "dssc", "--version"],
            [programs / "dssc", "demo", "--quiet"],
        ]
        environment = {**os.environ, "DSSC_CACHE": str(folder / "cache")}
        environment.pop("PYTHONPATH", None)
        for command in commands:
            subprocess.run(command, cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
