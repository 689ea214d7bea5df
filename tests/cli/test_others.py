import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import dssc
from dssc.cli.datasets import SETS
from dssc.cli.main import COMMANDS, build_parser


def test_the_help_is_instant_and_says_what_codes_mean():
    heavy = ["numba", "sklearn", "scipy", "matplotlib"]
    code = (
        "import sys\nfrom dssc.cli.main import main\ntry:\n    main(['cluster', '--help'])\n"
        f"except SystemExit:\n    pass\nprint([n for n in {heavy} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "3    done and written, but a solver fell short" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert out.startswith(f"usage: dssc {command}")


def test_version(run):
    assert run("--version") == (0, f"dssc {dssc.__version__}\n", "")
    assert build_parser().prog == "dssc"


def test_no_command_is_an_error(run):
    assert run()[0] == 2


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
        (["K.csv", "--eta2", "1"], "must be one of .npy, .npz, .mat"),
        (["K.npy"], "one of the arguments --eta2 --n-neighbors is required"),
    ],
)
def test_project_refuses(run, folder, arguments, message):
    np.save("K.npy", np.eye(4))
    np.save("wide.npy", np.ones((2, 3)))
    np.save("nan.npy", np.full((2, 2), np.nan))
    (folder / "K.csv").write_text("1,2\n3,4\n")
    code, _, err = run("project", *arguments, "-q")
    assert code == 2
    assert message in err
    assert not (folder / "plan.npz").exists()


def test_info_names_versions_and_threads(run):
    code, out, _ = run("info", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["packages"]["numpy"] == np.__version__
    assert found["threads"]["numba"] >= 1
    assert "numba" in run("info")[1]


def test_datasets_lists_what_is_at_hand(run, folder):
    (folder / "orl.npz").write_bytes(b"")
    code, out, _ = run("datasets", "--data-home", folder, "--json")
    found = {entry["name"]: entry["file"] for entry in json.loads(out)["datasets"]}
    assert code == 0
    assert set(found) == set(SETS)
    assert found["orl"] == "orl.npz"
    assert found["yaleb"] is None
    code, out, _ = run("datasets", "--data-home", folder)
    assert "no; dssc datasets --fetch yaleb" in out


def test_fetching_what_cannot_be_had_says_how_to_get_it(run, folder):
    code, _, err = run("datasets", "--data-home", folder, "--fetch", "yaleb")
    assert code == 2
    assert "get CroppedYale.zip from http://vision.ucsd.edu" in err


def test_the_demo_offers_files_to_try(run, folder):
    code, out, _ = run("demo", "--files", "try")
    assert code == 0
    assert len((folder / "try" / "digits.csv").read_text().splitlines()) == 1798
    assert len(list((folder / "try" / "digits").rglob("*.png"))) == 1797
    assert "dssc cluster" in out
    code, _, err = run("demo", "--files", "try")
    assert code == 4
    assert "cannot write try: File exists" in err


def test_the_demo_beats_k_means(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("DSSC_CACHE", str(tmp_path))
    code, out, _ = run("demo", "-q")
    ours = float(out.split("ACC ")[1].split()[0])
    plain = float(out.split("ACC ")[2].split()[0])
    assert code == 0
    assert ours > plain
