"""The CPU engine: compiled loops by numba, matrix products by BLAS."""

from dssc.engines.cpu.engine import CpuEngine
from dssc.engines.cpu.given_similarity import GivenSimilarity
from dssc.engines.cpu.self_expression import MatrixExpression

__all__ = ["CpuEngine", "GivenSimilarity", "MatrixExpression"]
