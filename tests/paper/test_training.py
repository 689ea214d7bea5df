import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dssc.paper import training  # noqa: E402

OPTIONS = {
    "kernels": [3, 3],
    "channels": [4, 4],
    "expression_weight": 0.2,
    "coefficient_weight": 1.0,
    "start": 0.0,
    "steps": 30,
}


@pytest.fixture(autouse=True)
def short_pretraining(monkeypatch):
    monkeypatch.setattr(training, "WINDOW", 20)
    monkeypatch.setattr(training, "MOST_STEPS", 200)


@pytest.fixture(scope="module")
def images():
    """Images of two classes, one bright on the left and one on top."""
    rng = np.random.default_rng(0)
    base = np.zeros((2, 8, 8))
    base[0, :, :4] = base[1, :4] = 200.0
    return np.repeat(base, 6, axis=0) + rng.uniform(0, 40, (12, 8, 8))


def test_a_seed_determines_the_network(images):
    state = torch.random.get_rng_state()
    first, second, other = (training.train(images, **OPTIONS, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.representation, second.representation)
    assert first.loss == second.loss
    assert not np.array_equal(first.representation, other.representation)
    assert torch.equal(state, torch.random.get_rng_state())  # the global generator is left alone


def test_classes_express_themselves(images):
    result = training.train(images, **{**OPTIONS, "steps": 150}, seed=0)
    assert 0 < result.explained < 1
    C = np.abs(result.representation)
    within = C[:6, :6].sum() + C[6:, 6:].sum()
    assert within > 0.7 * C.sum()


def test_pretraining_stops_when_the_loss_hardly_falls(images, monkeypatch):
    monkeypatch.setattr(training, "WINDOW", 150)
    monkeypatch.setattr(training, "MOST_STEPS", 450)
    for least, expected in ((-1.0, 450), (0.999, 300)):
        monkeypatch.setattr(training, "LEAST_IMPROVEMENT", least)
        result = training.train(images, **{**OPTIONS, "steps": 1}, seed=0)
        assert result.pretraining_steps == expected


def test_pretraining_takes_the_given_steps(images):
    model, X = training.new_network(images, [3, 3], [4, 4], 0, "cpu")
    taken, _ = training.pretrain(model, X, training.adam(model), 210)
    assert taken == 210  # more than MOST_STEPS, and no multiple of WINDOW


def test_pretraining_in_parts_is_the_same(images):
    errors = []
    for parts in ((120,), (50, 70)):
        model, X = training.new_network(images, [3, 3], [4, 4], 0, "cpu")
        optimizer = training.adam(model)
        with training.reproducible():
            *_, (_, explained) = (training.pretrain(model, X, optimizer, n) for n in parts)
        errors.append(explained)
    assert errors[0] == errors[1]


def test_a_network_that_learns_nothing_is_refused(images, monkeypatch):
    monkeypatch.setattr(training, "WINDOW", 1)
    monkeypatch.setattr(training, "MOST_STEPS", 1)
    with pytest.raises(ValueError, match=r"no better than the mean image .* take another seed"):
        training.train(images, **OPTIONS, seed=0)
