import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc.engines.dask import factor
from dssc.engines.dask.factor import AlignedBlocks

N_BLOCKS, CHUNK_ROWS = 12, 4 * 512
VECTORS = np.random.default_rng(0).standard_normal((N_BLOCKS * 512 - 100, 3)).astype(np.float32)


def unaligned(rows):
    """Return a copy that begins one byte off, as what comes from another worker may."""
    shifted = np.ndarray(rows.shape, rows.dtype, np.empty(rows.nbytes + 1, np.uint8), offset=1)
    shifted[:] = rows
    assert not shifted.flags.aligned
    return shifted


@pytest.mark.parametrize("n_copies", [2, 5, 32])
@given(asked=st.lists(st.integers(0, N_BLOCKS - 1), min_size=1, max_size=40))
def test_a_block_stays_as_it_is_until_the_next_but_one(n_copies, asked):
    """The chunk in the middle is aligned, so its blocks are not copied."""
    chunks = {
        number: VECTORS[number * CHUNK_ROWS : (number + 1) * CHUNK_ROWS] for number in range(3)
    }
    chunks |= {number: unaligned(chunks[number]) for number in (0, 2)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor, "COPIED_BYTES", n_copies * 512 * 3 * 4)
        patch.setattr(AlignedBlocks, "memory", type(AlignedBlocks.memory)())
        blocks = AlignedBlocks(chunks, CHUNK_ROWS)
        last, rows_of_last = asked[0], blocks(asked[0])
        for block in asked:
            rows = blocks(block)
            assert rows.flags.aligned
            np.testing.assert_array_equal(rows, VECTORS[block * 512 : (block + 1) * 512])
            np.testing.assert_array_equal(rows_of_last, VECTORS[last * 512 : (last + 1) * 512])
            assert np.shares_memory(rows, VECTORS) == (block // 4 == 1)
            last, rows_of_last = block, rows
