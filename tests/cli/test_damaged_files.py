"""Damaged files of every format: labels, or an error in one line; never a traceback or a crash."""

from pathlib import Path

import numpy as np
import pytest

from dssc.cli.reading.formats import FORMATS
from tests.cli.mutations import mutated, originals

ORIGINALS = originals()
# Some files are read in a process of their own, which takes longer.
SLOW_ENDINGS = (".mat", ".h5", ".h5ad", ".feather")
FEW, SOME = 1, 12
NAMES = [f"{number}{ending}" for number, (ending, _) in enumerate(ORIGINALS)]


def check_outcome(run, number, content):
    """Cluster a damaged file, or a folder with a damaged image."""
    ending, original = ORIGINALS[number]
    source = Path(f"data{ending}")
    source.write_bytes(content)
    if ending not in FORMATS:
        Path("images").mkdir(exist_ok=True)
        source.replace(f"images/a{ending}")
        for name in "bc":
            Path(f"images/{name}{ending}").write_bytes(original)
        source = Path("images")
    code, out, err = run(
        "cluster", source, "-k2", "--method", "tsc", "--features", "raw", "--force", "-q"
    )
    if code == 2:
        assert out == ""
        assert err.startswith("dssc: error: ")
        assert len(err.splitlines()) == 1
    else:
        assert code in (0, 3)
    return code


@pytest.mark.parametrize("number", range(len(ORIGINALS)), ids=NAMES)
def test_the_original_is_read(run, folder, number):
    assert check_outcome(run, number, ORIGINALS[number][1]) == 0


@pytest.mark.parametrize("number", range(len(ORIGINALS)), ids=NAMES)
def test_a_few_damaged_files(run, folder, number):
    ending, original = ORIGINALS[number]
    for seed in range(FEW if ending in SLOW_ENDINGS else SOME):
        check_outcome(run, number, mutated(original, np.random.default_rng([number, seed])))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(ORIGINALS)), ids=NAMES)
def test_many_damaged_files(run, folder, number):
    for seed in range(SOME, 50 if ORIGINALS[number][0] in SLOW_ENDINGS else 200):
        content = mutated(ORIGINALS[number][1], np.random.default_rng([number, seed]))
        check_outcome(run, number, content)
