import numpy as np

from dssc import project_doubly_stochastic
from dssc.stochastic import newton
from tests.judge import as_dense


def test_a_stage_that_ends_close_is_continued(rng, monkeypatch):
    """Where rounding ends Newton's steps early, they continue with slacks computed again."""
    stage, tolerances = newton._solve_stage, [1e-5]

    def impatient(dual, eta, base, tol, *rest, **options):
        tol = tolerances.pop() if tolerances else tol
        return stage(dual, eta, base, tol, *rest, **options)

    def not_called(*arguments):
        raise AssertionError("an interior-point method was not needed")

    K = rng.random((60, 60))
    expected = project_doubly_stochastic(K, 2.0).plan  # a large eta2 needs one stage only
    monkeypatch.setattr(newton, "_solve_stage", impatient)
    monkeypatch.setattr(newton, "central_potentials", not_called)
    result = project_doubly_stochastic(K, 2.0)
    assert not tolerances
    assert result.converged, result.status
    np.testing.assert_allclose(as_dense(result.plan), as_dense(expected), atol=1e-8)
