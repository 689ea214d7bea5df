import numpy as np
import pandas as pd
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.cli.main import main

OPTIONS = ["-k", "3", "--no-verdict", "-q", "--seed", "0", "-o", "labels.csv", "--force"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = make_union_of_subspaces(90, n_features=8, random_state=0)
    weights = np.arange(90) % 4.0
    frame = pd.DataFrame(X).add_prefix("x")
    frame.insert(3, "weight", weights)
    frame.to_csv("data.csv", index=False)
    frame.drop(columns="weight").to_csv("features.csv", index=False)
    np.save("weights.npy", weights)
    return X, weights


def labels():
    return pd.read_csv("labels.csv")["cluster"].to_numpy()


@pytest.mark.parametrize(
    ("data", "name"), [("data.csv", "weight"), ("features.csv", "weights.npy")]
)
def test_weights_are_a_column_or_a_file(data, name, table):
    X, weights = table
    assert main(["cluster", data, "--weights", name, *OPTIONS]) == 0
    expected = ADSSC(3, random_state=0).fit(X, sample_weight=weights).labels_
    np.testing.assert_array_equal(labels(), expected)
    assert np.all(labels()[weights == 0] == -1)


def test_rows_that_are_passed_over_take_their_weights_along(table):
    assert len(table[0]) == 90
    frame = pd.read_csv("data.csv")
    frame.loc[[5, 9], frame.columns != "weight"] = 0.0
    frame.to_csv("data.csv", index=False)
    assert main(["cluster", "data.csv", "--weights", "weight", "--skip-bad", *OPTIONS]) == 0
    assert labels()[5] == labels()[9] == -1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wieght", "no column or array of that name; did you mean 'weight'?"),
        ("x0", "must be a nonnegative finite number"),
        ("short.csv", "3 labels for the 90 samples"),
        ("words.csv", "give one number per sample"),
    ],
)
def test_bad_weights_are_named(name, words, table, capsys):
    pd.Series([1.0, 2.0, 3.0]).to_csv("short.csv", index=False, header=False)
    pd.Series(["heavy"] * 90).to_csv("words.csv", index=False, header=False)
    assert main(["cluster", "data.csv", "--weights", name, *OPTIONS]) == 2
    assert words in capsys.readouterr().err


def test_other_methods_take_no_weights(table, capsys):
    arguments = ["cluster", "data.csv", "--weights", "weight", "--method", "ssc", *OPTIONS]
    assert main(arguments) == 2
    assert "--weights is for --method adssc or graph" in capsys.readouterr().err
