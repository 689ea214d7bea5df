import json

from dssc.cli.datasets import DATA_SETS


def test_datasets_lists_what_is_available(run, folder):
    (folder / "orl.npz").write_bytes(b"")
    code, out, _ = run("datasets", "--data-home", folder, "--json")
    files = {entry["name"]: entry["file"] for entry in json.loads(out)["datasets"]}
    assert code == 0
    assert set(files) == set(DATA_SETS)
    assert files["orl"] == "orl.npz"
    assert files["yaleb"] is None
    code, out, _ = run("datasets", "--data-home", folder)
    assert "no; dssc datasets --fetch yaleb" in out


def test_fetching_what_cannot_be_downloaded_says_how_to_get_it(run, folder):
    code, _, err = run("datasets", "--data-home", folder, "--fetch", "yaleb")
    assert code == 2
    assert "get CroppedYale.zip from http://vision.ucsd.edu" in err
