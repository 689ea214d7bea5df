import os
import pickle
import sys

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import dssc
from dssc import ADSSC, make_union_of_subspaces
from dssc.engines.torch import engine


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(150, n_subspaces=4, noise=0.1, random_state=0)


@pytest.mark.parametrize("spectral_from", [0, 10_000])
def test_both_engines_give_the_same(spectral_from, device, data, monkeypatch):
    monkeypatch.setattr(engine, "SPECTRAL_ON_DEVICE_FROM", spectral_from)
    X, _ = data
    chosen = ADSSC(4, random_state=0).fit(X)
    given = {"eta1": chosen.eta1_, "eta2": chosen.eta2_, "signed": chosen.signed_}
    cpu = ADSSC(4, **given, random_state=0).fit(X)
    other = ADSSC(4, **given, device=device, random_state=0).fit(X)
    assert abs(cpu.affinity_matrix_ - other.affinity_matrix_).max() < 1e-8
    assert adjusted_rand_score(cpu.labels_, other.labels_) == 1.0
    assert other.embedding_.shape == cpu.embedding_.shape
    assert other.projection_.converged


def test_eta2_is_chosen_by_neighbors(device, data):
    model = ADSSC(4, n_neighbors=9, device=device, random_state=0).fit(data[0])
    count = (model.affinity_matrix_ > 1e-9).sum() / len(data[0])
    assert count == pytest.approx(9, rel=0.05)
    # The last eta2 tried need not be the one taken; C belongs to the A of the one taken.
    positive = model.affinity_matrix_.toarray() > 0
    np.fill_diagonal(positive, False)
    assert np.array_equal(model.representation_matrix_.toarray() != 0, positive)


def test_tensors_are_accepted(device, where, data):
    X = torch.as_tensor(data[0], dtype=torch.float32, device=where)
    model = ADSSC(4, eta2=0.02, device=None if device == "cuda" else device, random_state=0)
    labels = model.fit(X).labels_
    assert isinstance(labels, np.ndarray)
    assert model.n_features_in_ == X.shape[1]
    assert model.representation_matrix_.dtype == np.float32
    on_cpu = ADSSC(4, eta2=0.02, random_state=0).fit(X.cpu())
    assert adjusted_rand_score(labels, on_cpu.labels_) == 1.0


def test_sparse_data_are_accepted(device, data):
    X = sparse.csr_array(data[0])
    model = ADSSC(4, eta2=0.02, device=device, random_state=0).fit(X)
    assert model.projection_.converged


def test_a_second_eta2_uses_the_first_search(device, data):
    X = data[0]
    model = ADSSC(4, eta2=0.02, warm_start=True, device=device, random_state=0).fit(X)
    kept = model._reusable.expression
    model.set_params(eta2=0.03).fit(X)
    assert model._reusable.expression is kept
    fresh = ADSSC(4, eta2=0.03, device=device, random_state=0).fit(X)
    assert abs(fresh.affinity_matrix_ - model.affinity_matrix_).max() < 1e-8
    model.fit(X + 1.0)
    assert model._reusable.expression is not kept


def test_fitted_estimators_are_pickled_without_the_device(device, data):
    model = ADSSC(4, eta2=0.02, warm_start=True, device=device, random_state=0).fit(data[0])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert b"torch" not in pickle.dumps(model).replace(b"'torch'", b"").replace(
        b"\x8c\x05torch", b""
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "tpu"}, "device='tpu' must be 'cpu', 'cuda'"),
    ],
)
def test_devices_that_do_not_exist_are_refused(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        ADSSC(4, **parameters).fit(data[0])


def test_weights_are_refused(data):
    with pytest.raises(ValueError, match="sample_weight runs on the CPU only"):
        ADSSC(4, device="torch").fit(data[0], sample_weight=np.ones(len(data[0])))


@pytest.mark.parametrize("spectral_from", [0, 10_000])
@pytest.mark.parametrize(
    "parameters",
    [
        {"eta1": 1.0, "symmetric": False},
        {"eta1": 1.0, "symmetric": False, "signed": True},
        {"eta1": 0.1, "eta3": 0.02},
        {"eta1": 0.1, "eta3": 0.02, "symmetric": False},
    ],
)
def test_other_models_are_those_of_the_cpu(parameters, spectral_from, device, data, monkeypatch):
    monkeypatch.setattr(engine, "SPECTRAL_ON_DEVICE_FROM", spectral_from)
    cpu = ADSSC(4, n_neighbors=9, random_state=0, **parameters).fit(data[0])
    given = {**parameters, "eta2": cpu.eta2_, "random_state": 0}
    cpu = ADSSC(4, **given).fit(data[0])
    other = ADSSC(4, **given, device=device).fit(data[0])
    assert other.projection_.converged, other.projection_.status
    assert abs(cpu.affinity_matrix_ - other.affinity_matrix_).max() < 1e-8
    places = other.representation_matrix_.nonzero()
    ours, theirs = (m.representation_matrix_[places] for m in (other, cpu))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert adjusted_rand_score(cpu.labels_, other.labels_) == 1.0
    chosen = ADSSC(4, n_neighbors=9, random_state=0, device=device, **parameters).fit(data[0])
    assert chosen.n_neighbors_ == pytest.approx(9, rel=0.05)


@pytest.mark.filterwarnings("ignore:the affinity has:UserWarning")
def test_points_without_an_embedding_are_placed_by_a_sparse_expression(device, data, monkeypatch):
    monkeypatch.setattr(engine, "SPECTRAL_ON_DEVICE_FROM", 0)
    parameters = {"eta1": 0.1, "eta3": 0.02, "n_components": 2, "n_neighbors": 2}
    fits = [ADSSC(2, random_state=0, device=where, **parameters) for where in ("cpu", device)]
    cpu, other = (model.fit(data[0]) for model in fits)
    strays = ~other.embedding_.any(axis=1)
    assert strays.any()
    np.testing.assert_array_equal(cpu.embedding_.any(axis=1), ~strays)
    assert adjusted_rand_score(cpu.labels_, other.labels_) > 0.9


def test_a_missing_gpu_is_named(data, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"needs a CUDA GPU, and torch .* sees none"):
        ADSSC(4, device="cuda").fit(data[0])


def test_missing_torch_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'dssc\[gpu\]'"):
        ADSSC(4, device="cuda").fit(data[0])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda X: X.index_fill(0, torch.tensor([3]), 0.0), "1 zero rows, .*: 3"),
        (lambda X: X.index_fill(0, torch.tensor([3]), torch.nan), "NaN or infinite values"),
        (lambda X: X[:, 0], "must be a matrix"),
        (lambda X: X[:1], "minimum of 2 is required"),
    ],
)
def test_bad_tensors_are_refused(damage, message, data):
    with pytest.raises(ValueError, match=message):
        ADSSC(2, device="torch").fit(damage(torch.as_tensor(data[0])))


def test_scattered_features_are_those_of_the_cpu(device, rng):
    images = rng.integers(0, 256, (60, 28, 28)).astype(np.uint8)
    ours = dssc.scattered_features(images, 20, device=device).cpu().numpy()
    theirs = dssc.scattered_features(images, 20, cache=False)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=2e-5)


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("fetch", "parameters"),
    [
        ("fetch_orl", {"n_clusters": 40, "eta1": 0.5, "eta2": 0.05}),
        ("fetch_umist", {"n_clusters": 20, "eta1": 0.5, "eta2": 0.05}),
        ("fetch_yaleb", {"n_clusters": 38, "eta1": 0.5, "eta2": 0.05}),
        ("fetch_coil", {"n_clusters": 100, "eta1": 25.0, "eta2": 0.01}),
    ],
)
def test_real_data_agree_on_a_gpu(fetch, parameters):
    if not torch.cuda.is_available() or "DSSC_DATA" not in os.environ:
        pytest.skip("needs a GPU and DSSC_DATA")
    data = getattr(dssc, fetch)()
    X = data.images.reshape(len(data.images), -1).astype(np.float32)
    cpu = ADSSC(random_state=0, **parameters).fit(X)
    gpu = ADSSC(random_state=0, device="cuda", **parameters).fit(X)
    assert abs(cpu.affinity_matrix_ - gpu.affinity_matrix_).max() < 1e-5
    assert adjusted_rand_score(cpu.labels_, gpu.labels_) >= 0.999
