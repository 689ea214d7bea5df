import csv

import numpy as np
import pytest

from dssc import make_union_of_subspaces
from dssc.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def points():
    return make_union_of_subspaces(90, n_subspaces=3, n_features=12, random_state=0)


@pytest.fixture
def table(folder, points):
    """points.csv with feature columns a0, a1, ... and the classes in `kind`."""
    X, y = points
    with (folder / "points.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"a{j}" for j in range(X.shape[1])), "kind"])
        writer.writerows([*row, f"type {label}"] for row, label in zip(X.tolist(), y, strict=True))
    return folder / "points.csv"


@pytest.fixture
def run(capsys):
    """Run the command; return its exit code, standard output and standard error."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # argparse's own
            code = error.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def write_images(folder, images, names):
    from PIL import Image

    for image, name in zip(images, names, strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.asarray(image, dtype=np.uint8)).save(path)
