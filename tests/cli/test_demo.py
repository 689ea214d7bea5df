def test_the_demo_offers_files_to_try(run, folder):
    code, out, _ = run("demo", "--files", "try")
    assert code == 0
    assert len((folder / "try" / "digits.csv").read_text(encoding="utf-8").splitlines()) == 1798
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
