import json

import numpy as np
import pytest
from scipy import sparse

import dssc


def test_project_writes_a_certified_plan(run, folder, rng):
    K = rng.uniform(size=(30, 30))
    np.save("K.npy", K)
    code, out, _ = run("project", "K.npy", "--eta2", 0.2, "--symmetrize", "--json", "-q")
    plan = sparse.load_npz("plan.npz").toarray()
    summary = json.loads(out)
    assert code == 0
    assert summary["converged"]
    np.testing.assert_allclose(plan.sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_allclose(plan, plan.T)
    expected = dssc.project_doubly_stochastic((K + K.T) / 2, 0.2).plan
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_allclose(plan, expected, atol=1e-12)


def test_project_finds_eta2_for_a_number_of_neighbours(run, folder, rng):
    X = rng.standard_normal((60, 5))
    sparse.save_npz("K.npz", sparse.csr_array(np.abs(X @ X.T)))
    code, out, _ = run("project", "K.npz", "--n-neighbors", 6, "-o", "plan.npy", "-q")
    assert code == 0
    plan = np.load("plan.npy")
    off = plan - np.diag(np.diag(plan))
    assert abs((off > 1e-9).sum(axis=1).mean() - 6) < 0.5
    assert "60 x 60, projected with eta2 = " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["K.npy", "--eta2", "0"], "eta2=0.0 must be a positive finite number"),
        (["K.npy", "--n-neighbors", "9"], "n_neighbors=9 must be below n=4"),
        (["wide.npy", "--eta2", "1"], "has shape (2, 3); a similarity must be square"),
        (["nan.npy", "--eta2", "1"], "NaN"),
        (["K.csv", "--eta2", "1"], "must end in .npy or .npz or .mat"),
        (["K.npy"], "one of the arguments --eta2 --n-neighbors is required"),
    ],
)
def test_project_refuses(run, folder, arguments, message):
    np.save("K.npy", np.eye(4))
    np.save("wide.npy", np.ones((2, 3)))
    np.save("nan.npy", np.full((2, 2), np.nan))
    (folder / "K.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    code, _, err = run("project", *arguments, "-q")
    assert code == 2
    assert message in err
    assert not (folder / "plan.npz").exists()
