"""The kernels that :mod:`.pair_filters_triton` launches: products of tiles, and what passes."""

import triton
import triton.language as tl


@triton.jit
def tile_products(
    left, right, row, column, own_units, units, n_rows, n_columns,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Return the products of a tile; vectors beyond the last count as zero."""
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.int32)
    for start in range(0, WIDTH, DEPTH):
        operands = left.load([row, start]), right.load([column, start]).T
        total = tl.dot(operands[0], operands[1], total, out_dtype=tl.int32)
    rows, columns = row + tl.arange(0, ROWS), column + tl.arange(0, COLUMNS)
    own_unit = tl.load(own_units + rows, mask=rows < n_rows, other=0.0)
    unit = tl.load(units + columns, mask=columns < n_columns, other=0.0)
    return total.to(tl.float32) * own_unit[:, None] * unit[None, :]


@triton.jit(do_not_specialize=["n_rows", "n_columns", "below"])
def words_kernel(
    left, right, own_units, units, own_limits, limits, own_others, others,
    n_rows, n_columns, below, words, flags, n_words, n_flags,
    TEST: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr, SWATH: tl.constexpr, WORD: tl.constexpr,
):  # fmt: skip
    """Set a bit for every pair of a tile that may be above its limits, and flags for their rows."""
    down, across = tl.cdiv(n_rows, ROWS), tl.cdiv(n_columns, COLUMNS)
    number = tl.program_id(0)
    swath = number // (SWATH * across) * SWATH
    height = min(down - swath, SWATH)
    inside = number % (SWATH * across)
    row, column = (swath + inside % height) * ROWS, inside // height * COLUMNS
    if row < column + below:  # else a tile of pairs i > j
        products = tile_products(
            left, right, row, column, own_units, units, n_rows, n_columns,
            WIDTH, ROWS, COLUMNS, DEPTH,
        )  # fmt: skip
        rows, columns = row + tl.arange(0, ROWS), column + tl.arange(0, COLUMNS)
        beyond = float("inf")
        own_limit = tl.load(own_limits + rows, mask=rows < n_rows, other=beyond)
        limit = tl.load(limits + columns, mask=columns < n_columns, other=beyond)
        if TEST >= 1:
            own_other = tl.load(own_others + rows, mask=rows < n_rows, other=beyond)
            other = tl.load(others + columns, mask=columns < n_columns, other=beyond)
        if TEST >= 3:
            sizes = products + (own_other[:, None] + other[None, :])
            sizes = tl.maximum(sizes, 0.0) if TEST == 3 else tl.abs(sizes)
            hits = sizes > tl.minimum(own_limit[:, None], limit[None, :])
        else:
            hits = products > own_limit[:, None] + limit[None, :]
            if TEST == 1:
                hits = hits | (own_other[:, None] + other[None, :] < 0.0)
            elif TEST == 2:
                hits = hits | (-products > own_other[:, None] + other[None, :])
        bits = tl.full((COLUMNS,), 1, dtype=tl.int32) << (tl.arange(0, COLUMNS) % WORD)
        packed = tl.where(hits, bits[None, :], 0)
        per_row: tl.constexpr = COLUMNS // WORD
        word = tl.sum(tl.reshape(packed, (ROWS, per_row, WORD)), axis=2)
        first = rows.to(tl.int64)[:, None] * n_words + column // WORD
        tl.store(words + first + tl.arange(0, per_row)[None, :], word)
        flag = tl.max((word != 0).to(tl.int32), axis=1).to(tl.int8)
        tl.store(flags + rows.to(tl.int64) * n_flags + column // COLUMNS, flag)


@triton.jit(do_not_specialize=["n_flagged", "n_words", "n_flags"])
def count_kernel(
    words, flagged, n_flagged, n_words, n_flags, counts,
    PER_FLAG: tl.constexpr, BLOCK: tl.constexpr, WORD: tl.constexpr,
):  # fmt: skip
    """Count the bits of every flagged row of a tile."""
    numbers = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid = numbers < n_flagged
    flag = tl.load(flagged + numbers, mask=valid, other=0)
    first = flag // n_flags * n_words + flag % n_flags * PER_FLAG
    count = tl.zeros((BLOCK,), dtype=tl.int32)
    for part in range(PER_FLAG):
        word = tl.load(words + first + part, mask=valid, other=0)
        for bit in range(WORD):
            count += (word >> bit) & 1
    tl.store(counts + numbers, count, mask=valid)


@triton.jit(do_not_specialize=["n_flagged", "n_words", "n_flags"])
def places_kernel(
    words, flagged, starts, n_flagged, n_words, n_flags, rows, columns,
    PER_FLAG: tl.constexpr, BLOCK: tl.constexpr, WORD: tl.constexpr,
):  # fmt: skip
    """Write the rows and columns of the bits of every flagged row of a tile."""
    numbers = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid = numbers < n_flagged
    flag = tl.load(flagged + numbers, mask=valid, other=0)
    row, tile = flag // n_flags, flag % n_flags
    place = tl.load(starts + numbers, mask=valid, other=0)
    for part in range(PER_FLAG):
        word = tl.load(words + row * n_words + tile * PER_FLAG + part, mask=valid, other=0)
        for bit in range(WORD):
            hit = (word >> bit) & 1
            tl.store(rows + place, row.to(tl.int32), mask=hit == 1)
            column = (tile * PER_FLAG + part) * WORD + bit
            tl.store(columns + place, column.to(tl.int32), mask=hit == 1)
            place += hit


@triton.jit(do_not_specialize=["n", "n_groups", "tiles_per_group", "first"])
def maxima_kernel(
    vectors, units, offsets, weights, n, n_groups, tiles_per_group, first, out,
    SIGNED: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Find the largest bound of every point in a group of columns."""
    group = tl.program_id(1)
    row = first + tl.program_id(0) * TILE
    rows = row + tl.arange(0, TILE)
    own_offset = tl.load(offsets + rows, mask=rows < n, other=0.0)
    own_weight = tl.load(weights + rows, mask=rows < n, other=0.0)
    largest = tl.full((TILE,), float("-inf"), dtype=tl.float32)
    for tile in range(group * tiles_per_group, (group + 1) * tiles_per_group):
        columns = tile * TILE + tl.arange(0, TILE)
        total = tile_products(
            vectors, vectors, row, tile * TILE, units, units, n, n, WIDTH, TILE, TILE, DEPTH
        )
        offset = tl.load(offsets + columns, mask=columns < n, other=0.0)
        weight = tl.load(weights + columns, mask=columns < n, other=0.0)
        total += own_offset[:, None] + offset[None, :]
        sizes = tl.maximum(total, 0.0) if SIGNED else tl.abs(total)
        sizes *= own_weight[:, None] + weight[None, :]
        counts = (rows[:, None] != columns[None, :]) & (columns[None, :] < n)
        largest = tl.maximum(largest, tl.max(tl.where(counts, sizes, float("-inf")), axis=1))
    tl.store(out + rows.to(tl.int64) * n_groups + group, largest, mask=rows < n)


@triton.jit(do_not_specialize=["n_pairs"])
def dots_kernel(
    vectors, rows, columns, n_pairs, out,
    WIDTH: tl.constexpr, DTYPE: tl.constexpr, PAIRS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Multiply pairs of vectors."""
    pairs = tl.program_id(0).to(tl.int64) * PAIRS + tl.arange(0, PAIRS)
    valid = pairs < n_pairs
    left = tl.load(rows + pairs, mask=valid, other=0).to(tl.int64)[:, None] * WIDTH
    right = tl.load(columns + pairs, mask=valid, other=0).to(tl.int64)[:, None] * WIDTH
    total = tl.zeros((PAIRS, DEPTH), dtype=DTYPE)
    for start in range(0, WIDTH, DEPTH):
        depth = start + tl.arange(0, DEPTH)[None, :]
        inside = valid[:, None] & (depth < WIDTH)
        a = tl.load(vectors + left + depth, mask=inside, other=0.0).to(DTYPE)
        total += a * tl.load(vectors + right + depth, mask=inside, other=0.0).to(DTYPE)
    tl.store(out + pairs, tl.sum(total, axis=1), mask=valid)
