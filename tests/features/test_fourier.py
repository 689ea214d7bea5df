import numpy as np
import pytest

from dssc.features.fourier import fourier_plan


@pytest.mark.parametrize(
    ("n", "factors"), [(48, [4, 4, 3]), (24, [8, 3]), (12, [4, 3]), (64, [8, 8]), (14, [2, 7])]
)
def test_few_fast_passes_are_planned(n, factors):
    assert fourier_plan(n).factors.tolist() == factors


@pytest.mark.parametrize("n", [2, 3, 8, 30, 48, 49, 96, 128, 143])
def test_factors_multiply_to_the_size_and_places_are_a_permutation(n):
    plan = fourier_plan(n)
    assert np.prod(plan.factors) == n
    assert sorted(plan.places) == list(range(n))
