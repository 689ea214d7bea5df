import numpy as np
import pytest
from scipy import io

from dssc.cli.exits import CommandError
from dssc.cli.reading import expansion
from dssc.cli.reading.dispatch import read_samples

ZEROS = np.zeros((100, 20_000))  # 16 MB, which compress to less than a hundredth


def write_parquet(path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({f"c{j}": row for j, row in enumerate(ZEROS)}), path)


WRITERS = {
    "a.npz": lambda path: np.savez_compressed(path, X=ZEROS),
    "a.mat": lambda path: io.savemat(path, {"X": ZEROS}, do_compression=True),
    "a.parquet": write_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_small_file_must_not_fill_the_memory(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    assert read_samples(tmp_path / name).values.size == ZEROS.size
    monkeypatch.setattr(expansion, "ALWAYS_ALLOWED", 1 << 20)
    with pytest.raises(CommandError, match=r"expands to more than \d+, .* save it uncompressed"):
        read_samples(tmp_path / name)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_must_fit_into_memory(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    monkeypatch.setattr(expansion, "available_bytes", lambda: 1 << 20)
    with pytest.raises(CommandError, match="expands to more than 1048576, the limit"):
        read_samples(tmp_path / name)
