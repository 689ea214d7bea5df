from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import dssc
from dssc._validation import as_floats, check_nonnegative, check_positive, check_structure

X = np.arange(1.0, 13.0).reshape(4, 3)


def broken(kind, shape=(6, 6)):
    """Return a sparse matrix with an index out of bounds."""
    matrix = sparse.random_array(shape, density=0.5, random_state=0)
    if kind == "coo":
        matrix.coords[1][2] = 10**7
        return matrix
    matrix = matrix.asformat(kind.split("-")[0])
    if kind.endswith("negative"):
        matrix.indices[2] = -1
    elif kind.endswith("pointers"):
        matrix.indptr[2] = 10**7
    else:
        matrix.indices[2] = 10**7
    return matrix


KINDS = ["csr", "csc", "bsr", "coo", "csr-negative", "csr-pointers"]


@pytest.mark.parametrize("kind", KINDS)
def test_indices_out_of_bounds_are_refused(kind):
    with pytest.raises(ValueError, match=r"K is not a valid sparse matrix: .*; build it again"):
        check_structure("K", broken(kind))


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_valid_matrices_are_returned_unchanged(kind):
    matrix = sparse.csr_array(X).asformat(kind)
    assert check_structure("X", matrix) is matrix
    np.testing.assert_array_equal(matrix.toarray(), X)
    assert check_structure("X", X) is X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "function",
    [
        dssc.unit_norm,
        dssc.ADSSC(2).fit,
        dssc.TSC(2).fit,
        lambda X: dssc.least_squares_representation(X, 1.0),
        lambda X: dssc.low_rank_representation(X, 1.0, 1.0),
        lambda X: dssc.omp_representation(X, 2),
        lambda X: dssc.elastic_net_representation(X, 1.0, 0.1),
        lambda X: dssc.thresholded_similarity(X, 2),
        lambda K: dssc.project_doubly_stochastic(K, 1.0),
        lambda S: dssc.project_doubly_stochastic(np.eye(6), 1.0, support=S),
        lambda K: dssc.quadratic_transport(K, 1.0),
        lambda A: dssc.spectral_embedding(A, 2),
        lambda A: dssc.assign_labels(np.eye(6)[:, :2], 2, similarity=A),
        dssc.estimate_n_clusters,
        dssc.nonzeros_per_point,
        lambda A: dssc.subspace_preserving_error(A, np.zeros(6)),
    ],
)
def test_public_functions_refuse_them(kind, function):
    with pytest.raises(ValueError, match="is not a valid sparse matrix"):
        function(broken(kind))


def test_predict_refuses_them(rng):
    model = dssc.ADSSC(2, eta1=1.0, n_neighbors=3, random_state=0).fit(rng.random((20, 6)))
    with pytest.raises(ValueError, match="X is not a valid sparse matrix"):
        model.predict(broken("csr"))


@pytest.mark.parametrize("check", [check_positive, check_nonnegative])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (10**400, r"^eta2=1e\+400 \(too large for float64\) must be"),
        (-(10**5000), r"^eta2=-1e\+5000 \(too large"),
        (Fraction(10**400, 3), r"^eta2=Fraction\(1000"),
        (float("nan"), "^eta2=nan must be"),
        (True, "^eta2=True must be"),
    ],
    ids=["integer", "integer too long to print", "fraction", "nan", "boolean"],
)
def test_numbers_beyond_float64_are_named(check, value, message):
    with pytest.raises(ValueError, match=message):
        check("eta2", value)


def test_large_integers_within_float64_are_numbers():
    assert check_positive("eta2", 10**300) == 1e300


def test_an_array_with_an_integer_beyond_float64_is_refused():
    np.testing.assert_array_equal(as_floats("K", [1, 2.5]), [1.0, 2.5])
    with pytest.raises(ValueError, match="K holds an integer too large for float64; rescale it"):
        as_floats("K", [[10**400, 1], [1, 1]])


def not_real():
    """Yield matrices that NumPy would turn into floats without a word, and the complaint."""
    yield X + 1j, "Complex data not supported"
    yield (X + 1j).tolist(), "Complex data not supported"
    yield sparse.csr_array(X + 1j), "Complex data not supported"
    yield X.astype("datetime64[s]"), "dates"
    yield X.astype("timedelta64[s]"), "durations"
    yield pd.DataFrame(X.astype("datetime64[s]")), "dates"
    yield np.ma.masked_array(X, mask=X > 3), "masked array"


DOORS = {
    "ADSSC": lambda Z: dssc.ADSSC(2).fit(Z),
    "JDSSC": lambda Z: dssc.JDSSC(2).fit(Z),
    "LSR": lambda Z: dssc.LSR(2).fit(Z),
    "predict": lambda Z: FITTED.predict(Z),
    "unit_norm": dssc.unit_norm,
    "pca_features": lambda Z: dssc.pca_features(Z, 2),
    "assign_labels": lambda Z: dssc.assign_labels(Z, 2),
}
SQUARE_DOORS = {
    "project_doubly_stochastic": lambda K: dssc.project_doubly_stochastic(K, 1.0),
    "quadratic_transport": lambda K: dssc.quadratic_transport(K, 1.0),
    "spectral_embedding": lambda K: dssc.spectral_embedding(K, 2),
    "estimate_n_clusters": dssc.estimate_n_clusters,
    "nonzeros_per_point": dssc.nonzeros_per_point,
}
ARRAY_DOORS = {
    "least_squares": lambda Z: dssc.least_squares_representation(Z, 1.0),
    "elastic_net": lambda Z: dssc.elastic_net_representation(Z, 1.0, 0.1),
    "omp": lambda Z: dssc.omp_representation(Z, 2),
    "low_rank": lambda Z: dssc.low_rank_representation(Z, 1.0, 1.0),
    "thresholded": lambda Z: dssc.thresholded_similarity(Z, 2),
    "s3comp": lambda Z: dssc.s3comp_representation(Z, 2),
}
FITTED = dssc.ADSSC(2, eta1=1.0, n_neighbors=2, random_state=0).fit(X)


@pytest.mark.parametrize("door", [*DOORS, *ARRAY_DOORS])
def test_what_is_not_real_is_refused_as_samples(door):
    for Z, complaint in not_real():
        if door in ARRAY_DOORS and not hasattr(Z, "dtype"):
            continue  # these functions are typed to take arrays and sparse matrices only
        with pytest.raises(ValueError, match=complaint):
            {**DOORS, **ARRAY_DOORS}[door](Z)


@pytest.mark.parametrize("door", SQUARE_DOORS)
def test_what_is_not_real_is_refused_as_a_matrix(door):
    for Z, complaint in not_real():
        square = Z.iloc[:3] if isinstance(Z, pd.DataFrame) else Z[:3]
        with pytest.raises(ValueError, match=complaint):
            SQUARE_DOORS[door](square)


SPARSE_DOORS = {**DOORS, **SQUARE_DOORS, **ARRAY_DOORS}
del SPARSE_DOORS["assign_labels"], SPARSE_DOORS["pca_features"]  # which take arrays only


@pytest.mark.parametrize("door", SPARSE_DOORS)
def test_stored_nan_are_refused(door):
    matrix = sparse.csr_array(X[:3] if door in SQUARE_DOORS else X)
    matrix.data[1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SPARSE_DOORS[door](matrix)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["a", "b"], ["c", "d"]], "X holds text that is not a number; leave"),
        (np.array([["1", "2"], ["3", "x"]], dtype=object), "X holds text"),
        (pd.DataFrame({"f": [1, 2], "name": ["a", "b"]}), "a number in columns 'name'; leave"),
        (pd.DataFrame({"f": [1, 2], "kind": pd.Categorical(["a", "b"])}), "in columns 'kind'"),
        (pl.DataFrame({"f": [1, 2], "name": ["a", "b"]}), "in columns 'name'"),
        ("data.csv", "X is the text 'data.csv', not an array; read the file first"),
        (Path("data.csv"), "X is the text 'data.csv'"),
    ],
)
def test_text_is_refused_by_its_columns(values, message):
    with pytest.raises(ValueError, match=message):
        dssc.ADSSC(2).fit(values)


def test_text_of_numbers_is_read_as_numbers():
    expected = dssc.ADSSC(2, eta1=1.0, n_neighbors=2, random_state=0).fit(X).affinity_matrix_
    for values in (X.astype(str), pd.DataFrame(X.astype(str))):
        model = dssc.ADSSC(2, eta1=1.0, n_neighbors=2, random_state=0).fit(values)
        np.testing.assert_array_equal(model.affinity_matrix_.toarray(), expected.toarray())
