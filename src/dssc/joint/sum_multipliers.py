"""The copy Y of A in the paper's linearised ADMM, with the multipliers of its constraints."""

from typing import Generic

from dssc.joint.array_types import ArrayT


class SumMultipliers(Generic[ArrayT]):
    """Y, and the multipliers of its sums and of ``Y = A``, computed from the sums of A alone.

    Attributes
    ----------
    rows, columns : vectors
        ``Lambda_1 = rows 1' + 1 columns'``, the multiplier of ``Y = A``.
    change : tuple of two vectors
        The row part and the column part of ``rho (Y - A)``.
    push : tuple of two vectors
        The row part and the column part of ``Lambda_1 + rho (Y - A)``.
    errors : tuple of two vectors
        Row sums and column sums of Y, less one.
    """

    def __init__(self, zeros: ArrayT, rho: float):
        self.rho = rho
        self.lambda_rows = self.lambda_columns = zeros
        self.rows = self.columns = zeros
        self.push = self.change = self.errors = (zeros, zeros)

    def update(self, row_sums: ArrayT, column_sums: ArrayT) -> None:
        """Minimise over Y and take the ascent step in its multipliers."""
        n, rho = len(row_sums), self.rho
        base_rows = 2 * rho - self.lambda_rows - self.rows
        base_columns = -self.lambda_columns - self.columns
        v = rho * row_sums + n * base_rows + base_columns.sum()
        u = rho * column_sums + n * base_columns + base_rows.sum()
        v_P = (v - v.sum() / (2 * n + 1)) / (n + 1)
        u_P = (u - u.sum() / (2 * n + 1)) / (n + 1)
        self.errors = ((v - n * v_P - u_P.sum()) / rho - 1.0, (u - n * u_P - v_P.sum()) / rho - 1.0)
        rows = 2 * rho - self.lambda_rows - v_P
        columns = -self.lambda_columns - u_P
        self.change = (rows - self.rows, columns - self.columns)
        self.push = (rows + self.change[0], columns + self.change[1])
        self.rows, self.columns = rows, columns
        self.lambda_rows = self.lambda_rows + rho * self.errors[0]
        self.lambda_columns = self.lambda_columns + rho * self.errors[1]

    def violation(self) -> float:
        """Return the largest violation of ``Y = A`` and of the sums of Y."""
        f, g = self.change
        off = max(float(abs(f.max() + g.max())), float(abs(f.min() + g.min()))) / self.rho
        return max(off, *(float(abs(error).max()) for error in self.errors))
