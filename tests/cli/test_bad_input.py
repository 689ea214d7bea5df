"""Input that cannot be used: a clear message, no traceback, and nothing is written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from tests.cli.conftest import write_images

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the input includes pipes, devices and links"
)

rows = "1,2,3\n4,5,6\n7,8,9\n1,0,1\n"


@pytest.fixture
def sources(folder):
    """A folder of files that are wrong in one way each, and one that is right."""
    Path("good.csv").write_text(rows, encoding="utf-8")
    Path("ragged.csv").write_text("1,2,3\n4,5\n7,8,9\n", encoding="utf-8")
    Path("word.csv").write_text("1,2,3\n4,x,6\n", encoding="utf-8")
    Path("heading.csv").write_text("0,1,kind\n4,5,6\n", encoding="utf-8")
    Path("nan.csv").write_text("a,b\n1,2\n3,\n\nnan,4\n5,6\n", encoding="utf-8")
    Path("pandas.csv").write_text(",a,b\n0,1,2\n1,3,4\n", encoding="utf-8")
    Path("zero.csv").write_text("1,2\n0,0\n3,4\n", encoding="utf-8")
    Path("empty.csv").write_text("", encoding="utf-8")
    Path("latin.csv").write_bytes(b"a\xe9,b\n1,2\n")
    Path("one.csv").write_text("1,2,3\n", encoding="utf-8")
    Path("words.docx").write_text("hello", encoding="utf-8")
    Path("short.txt").write_text("0\n1\n", encoding="utf-8")
    Path("broken.npy").write_bytes(b"\x93NUMPY nonsense")
    Path("broken.npz").write_bytes(b"PK nonsense")
    Path("broken.mat").write_bytes(b"nonsense" * 40)
    Path("broken.parquet").write_bytes(b"nonsense")
    for ending in (".xlsx", ".feather", ".h5", ".h5ad", ".csv.gz"):
        Path(f"broken{ending}").write_bytes(b"nonsense" * 9)
    Path("broken.jsonl").write_text('{"a": 1, "b": 2}\n{"a": 1, "b": }\n', encoding="utf-8")
    Path("clear.csv").write_text("a,b,class\n1,2,x\n3,4,y\n", encoding="utf-8")
    Path("other.csv").write_text("a,c,class\n1,2,x\n3,4,y\n", encoding="utf-8")
    Path("narrow.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    Path("comma.tsv").write_text("a\tb\n1,5\t2\n3\t4\n", encoding="utf-8")
    Path("mixed.csv").write_text("a;b\n1,5;2\n3;2.5\n", encoding="utf-8")
    np.savez("pair.npz", X=np.ones((4, 3)), kind=np.array([0, 1]))
    np.save("infinite.npy", np.array([[1.0, 2], [np.inf, 1], [3, 4]]))
    sparse.save_npz("sparse.npz", sparse.csr_array([[1.0, 2], [0, np.nan], [3, 0], [0, -np.inf]]))
    parts = {"format": "csr", "shape": [3, 3], "data": np.ones(3), "indptr": [0, 1, 2, 3]}
    np.savez("outside.npz", **parts, indices=[0, 1, 99])
    outside = sparse.csc_array(np.eye(3))
    outside.indices[2] = 99
    io.savemat("outside.mat", {"X": outside})
    np.save("objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    np.save("deep.npy", np.ones((2, 3, 4, 5)))
    Path("long.csv").write_text("1," + "2" * 200_000, encoding="utf-8")
    os.mkfifo("pipe.csv")
    Path("null.csv").symlink_to("/dev/null")
    Path("nothing").mkdir()
    write_images(Path("loose"), np.ones((2, 4, 4)), ["a.png", "b.png"])
    write_images(Path("damaged"), np.ones((1, 4, 4)), ["a.png"])
    Path("damaged/b.png").write_bytes(b"no image")
    Path("taken.csv").write_text("precious", encoding="utf-8")
    Path("taken.html").write_text("precious", encoding="utf-8")
    return folder


# From Python 3.14 on, a name that is too long is that of no file.
IS_LONG = sys.version_info < (3, 14)
NO_FILE = ".csv: File name too long" if IS_LONG else "there is no file or folder iii"
NO_COLUMN = "File name too long" if IS_LONG else "good.csv has no column or array of that name"
TABLE = [
    # arguments after `cluster`, exit code, part of the message
    (["missing.csv", "-k2"], 2, "there is no file or folder missing.csv"),
    (["missing.csv", "-k2", "-o", "taken.csv"], 2, "there is no file or folder missing.csv"),
    (["words.docx", "-k2"], 2, "'.docx'; dssc reads .npy, .npz, .mat, .h5"),
    (["ragged.csv", "-k2"], 2, "ragged.csv, line 2: 2 cells where the first line has 3"),
    (["word.csv", "-k2"], 2, "line 2, column '2': 'x' is not a number"),
    (["heading.csv", "-k2"], 2, "line 1, column '3': 'kind' is not a number; correct it, leave"),
    (["heading.csv", "-k2"], 2, "add --header if this line has the names of the columns"),
    (["nan.csv", "-k2"], 2, "2 of 4 samples hold NaN or infinite values: lines 3, 5; fill"),
    (["infinite.npy", "-k2"], 2, "1 of 3 samples hold NaN or infinite values: rows (from 0) 1"),
    (["pandas.csv", "-k2"], 2, "column 1 has no name; if it holds the row numbers that pandas"),
    (["sparse.npz", "-k2"], 2, "2 of 4 samples hold NaN or infinite values: rows (from 0) 1, 3"),
    (["outside.npz", "-k2"], 2, "the array is not a valid sparse matrix: "),
    (["outside.mat", "-k2"], 2, "is not a "),  # found by SciPy's reader, or by ours, by version
    (["long.csv", "-k2"], 2, "long.csv is not a table in text: field larger than field limit"),
    (["pipe.csv", "-k2"], 2, "pipe.csv is a device or a pipe; copy its content to a file"),
    (["null.csv", "-k2"], 2, "null.csv is a device or a pipe; copy its content to a file"),
    (["good.csv", "-k2", "-o", "pipe.csv", "--force"], 4, "pipe.csv: it is a device or a pipe"),
    (["good.csv", "-k2", "-o", "o" * 300 + ".csv"], 4, ".csv: File name too long"),
    (["i" * 300 + ".csv", "-k2"], 2, NO_FILE),
    (["good.csv", "-k2", "--labels", "q" * 300], 2, NO_COLUMN),
    (["good.csv", "-k2", "--device", "tpu"], 2, "--device: device='tpu' must be 'cpu', 'cuda'"),
    (["zero.csv", "-k2"], 2, "1 of 3 samples hold only zeros, which have no direction"),
    (["empty.csv", "-k2"], 2, "empty.csv is empty"),
    (["latin.csv", "-k2"], 2, "latin.csv is not text in UTF-8: 'utf-8' codec"),
    (["one.csv", "-k1"], 2, "one.csv holds 1 samples; clustering needs at least 2"),
    (["broken.npy", "-k2"], 2, "broken.npy is damaged or holds pickled objects"),
    (["broken.npz", "-k2"], 2, "broken.npz is damaged or holds pickled objects"),
    (["objects.npy", "-k2"], 2, "objects.npy is damaged or holds pickled objects"),
    (["broken.mat", "-k2"], 2, "broken.mat is not a readable MATLAB file"),
    (["broken.parquet", "-k2"], 2, "broken.parquet is not a readable parquet file"),
    (["deep.npy", "-k2"], 2, "deep.npy holds an array of shape (2, 3, 4, 5)"),
    (["nothing", "-k2"], 2, "nothing holds no images; dssc reads .bmp"),
    (["damaged", "-k2"], 2, "; mend or remove it, or add --skip-bad"),
    (["loose", "-k2", "--labels", "folders"], 2, "a.png is not in a folder that could be its"),
    (["good.csv", "-k5"], 2, "-k 5 asks for more clusters than the 4 samples of good.csv"),
    (["good.csv", "-k0"], 2, "-k 0 must be at least 1"),
    (["good.csv"], 2, "the following arguments are required: -k/--n-clusters"),
    (["good.csv", "-k2", "--eta1", "-1"], 2, "eta1=-1.0 must be a positive finite number"),
    (["good.csv", "-k2", "--drop", "q"], 2, "--drop q: good.csv has no column or array of that"),
    (["good.csv", "-k2", "--labels", "q"], 2, "it has 1, 2, 3; and there is no such file"),
    (["clear.csv", "-k2", "--labels", "clas"], 2, "did you mean 'class'? it has a, b, class; and"),
    (["clear.csv", "-k2", "--id", "Nam"], 2, "--id Nam: clear.csv has no column or array of that"),
    (["clear.csv", "-k2", "--drop", "A", "--labels", "class"], 2, "did you mean 'a'? it has a, b"),
    (["pair.npz", "-k2", "--labels", "kin"], 2, "did you mean 'kind'? it has X, kind; and there"),
    (["pair.npz", "-k2", "--id", "kind"], 2, "--id kind: 2 names for the 4 samples of pair.npz"),
    (["latin.csv", "-k2"], 2, "try --encoding cp1252 or latin-1"),
    (["good.csv", "-k2", "--encoding", "q"], 2, "--encoding q is not known; examples: utf-8"),
    (["good.csv", "-k2", "--encoding", "rot13"], 2, "--encoding rot13 is not known"),
    (["good.csv", "-k2", "--sep", "ab"], 2, "--sep ab must be one character, or tab or space"),
    (["good.csv", "-k2", "--sep", ",", "--decimal", ","], 2, "--sep and --decimal are both ','"),
    (["good.csv", "-k2", "--decimal", "x"], 2, "--decimal x must be a point or a comma"),
    (["comma.tsv", "-k2"], 2, "'1,5' is not a number; correct it, leave the column out"),
    (["comma.tsv", "-k2"], 2, "if ',' is the decimal point, add --decimal ,"),
    (["mixed.csv", "-k2"], 2, "line 3, column 'b': '2.5' is not a number"),
    (["good.csv", "-", "-k2"], 2, "- is standard input, and cannot be joined with other data"),
    (["good.csv", "-k2", "-o", "-", "--json"], 2, "--json and -o - both write to standard output"),
    (["q*.csv", "-k2"], 2, "no file or folder matches q*.csv"),
    (["good.csv", "narrow.csv", "-k2"], 2, "narrow.csv has samples of shape (2,), good.csv of (3"),
    (["clear.csv", "other.csv", "-k2", "--drop", "class"], 2, "the column 'c' where clear.csv has"),
    (["good.csv", "nan.csv", "-k2", "--no-header"], 2, "nan.csv, line 1, column '1': 'a' is not"),
    (["broken.xlsx", "-k2"], 2, "broken.xlsx is not a readable workbook: File is not a zip file"),
    (["broken.feather", "-k2"], 2, "broken.feather is not a readable feather file"),
    (["broken.h5", "-k2"], 2, "broken.h5 is not a readable HDF5 file"),
    (["broken.h5ad", "-k2"], 2, "broken.h5ad is not a readable h5ad file"),
    (["broken.csv.gz", "-k2"], 2, "broken.csv.gz is not a readable gzip file"),
    (["broken.jsonl", "-k2"], 2, "broken.jsonl, line 2: not JSON: Expecting value"),
    (["good.csv", "-k2", "--labels", "short.txt"], 2, "2 labels for the 4 samples of good.csv"),
    (["good.csv", "-k2", "--pca", "9"], 2, "--pca 9 must be between 1 and 3"),
    (["good.csv", "-k2", "--features", "scattered"], 2, "--features scattered needs images"),
    (["good.csv", "-k2", "--image-shape", "2x2"], 2, "4 pixels per row; good.csv has 3 columns"),
    (["good.csv", "-k2", "--image-shape", "two"], 2, "'two' must have the form 32x32"),
    (["good.csv", "-k2", "--transpose"], 2, "--transpose is for .npy, .npz, .mat, .h5 and .hdf5,"),
    (["good.csv", "-k2", "--key", "X"], 2, "--key is for .npy, .npz, .mat, .h5, .hdf5, .h5ad and"),
    (["good.csv", "-k2", "--size", "4x4"], 2, "--size is for folders of images, not for good.csv"),
    (["good.csv", "-k", "two"], 2, "'two' must be a number or 'auto'"),
    (["loose", "-k2", "--size", "4x4x4"], 2, "--size takes a height and a width, such as 32x32"),
    (["good.csv", "-k2", "--image-shape", "1x1x2"], 2, "--image-shape takes HxW or HxWx3"),
    (["loose", "-k2", "--image-shape", "4x4"], 2, "these samples are images already"),
    (["loose", "-k2", "--drop", "q"], 2, "--drop is for .csv, .tsv, .txt, .csv.gz, .tsv.gz, .t"),
    (["infinite.npy", "-k2", "--no-header"], 2, ".txt.gz and .xlsx, not for infinite.npy"),
    (["good.csv", "-k2", "--labels", "words.docx"], 2, "must end in .npy, .npz, .mat, .h5, .hdf5"),
    (["good.csv", "-k2", "-o", "labels.xlsx"], 2, "labels.xlsx must end in .csv or .npy"),
    (["good.csv", "-k2", "-o", "a.csv", "--report", "a.txt"], 2, "a.txt must end in .html"),
    (["good.csv", "-k2", "-o", "taken.csv"], 4, "taken.csv exists; choose another name, or add"),
    (["good.csv", "-k2", "--report", "taken.html"], 4, "taken.html exists; choose another name"),
    (["good.csv", "-k2", "-o", "no/where.csv"], 4, "there is no folder no"),
    (["good.csv", "-k2", "-o", "good.csv/x.csv"], 4, "there is no folder good.csv"),
    (["good.csv", "-k2", "-o", "/proc/x.csv"], 4, "cannot write /proc/"),
]  # fmt: skip


def state(folder):
    return {
        path: path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(("arguments", "expected", "message"), TABLE)
def test_the_message_the_code_and_nothing_written(run, sources, arguments, expected, message):
    before = state(sources)
    code, out, err = run("cluster", *arguments, "-q")
    assert code == expected
    assert message in err
    assert out == ""
    assert state(sources) == before


def test_force_replaces(run, sources):
    code, _, _ = run("cluster", "good.csv", "-k2", "-o", "taken.csv", "--force", "-q")
    assert code == 0
    assert Path("taken.csv").read_text(encoding="utf-8").startswith("index,cluster")


def test_an_output_that_fails_half_way_leaves_nothing(run, sources, monkeypatch):
    before = state(sources)

    def full(descriptor):
        raise OSError(28, "No space left on device", "labels.csv")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("cluster", "good.csv", "-k2", "-q")
    assert code == 4
    assert "cannot write labels.csv: No space left on device" in err
    assert state(sources) == before


def test_a_name_may_be_as_long_as_the_system_allows(run, sources):
    name = "o" * 251 + ".csv"
    assert run("cluster", "good.csv", "-k2", "-o", name, "-q")[0] == 0
    assert Path(name).exists()


def test_a_file_that_must_not_be_read(run, sources, monkeypatch):
    def refuse(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    for function, data in (("open", "good.csv"), ("exists", "good.csv"), ("open", "sparse.npz")):
        with monkeypatch.context() as patch:
            patch.setattr(Path, function, refuse)
            code, out, err = run("cluster", data, "-k2", "-q")
        assert (code, out) == (2, "")
        assert "Permission denied" in err
        assert len(err.splitlines()) == 1


def test_without_torch_a_device_names_the_extra(run, sources, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run("cluster", "good.csv", "-k2", "--device", "cuda", "-q")
    assert code == 2
    assert "pip install 'dssc[gpu]'" in err


def test_names_that_cannot_be_shown(folder):
    pytest.importorskip("PIL")
    name = os.fsdecode(b"caf\xe9")  # not UTF-8
    images = np.random.default_rng(0).integers(1, 255, (6, 4, 4))
    write_images(Path(name), images, [f"{name}{number}.png" for number in range(6)])
    command = [sys.executable, "-m", "dssc", "cluster", name, "-k2", "--features", "raw", "-q"]
    for option in ([], ["--json", "--force"]):
        done = subprocess.run(
            [*command, "--report", "r.html", *option],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            timeout=100,
        )
        assert done.stderr == b"" or b"Traceback" not in done.stderr
        assert done.returncode in (0, 3)
        assert b"caf\\udce9" in done.stdout
    assert Path("labels.csv").read_bytes().splitlines()[1].startswith(b"caf\xe90.png,")


def heed_interrupts():
    """Undo what a shell does to its background jobs, which these tests may be part of."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_run_leaves_nothing(folder):
    rng = np.random.default_rng(0)
    np.save("data.npy", rng.standard_normal((3000, 500)))
    before = state(folder)
    command = [sys.executable, "-m", "dssc", "cluster", "data.npy", "-k", "3", "--report", "r.html"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stderr.readline().startswith("reading: ")  # now it is at work
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("dssc: interrupted; nothing was written\n")
    assert out == ""
    assert state(folder) == before


def test_a_closed_pipe_is_no_error(folder):
    command = f"{sys.executable} -m dssc info --json | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr


def names_of(path):
    """Return further names of a file: relative ones, links, and a hard link."""
    Path("below").mkdir()
    links = [path.with_name(f"{kind}{path.suffix}") for kind in ("symbolic", "hard", "chain")]
    links[0].symlink_to(path.name)
    links[1].hardlink_to(path)
    links[2].symlink_to(links[0].name)
    return [path, path.absolute(), Path("below/..") / path, *links]


def test_no_output_replaces_an_input(run, folder):
    np.save("data.npy", np.eye(4))
    Path("classes.csv").write_text("0\n0\n1\n1\n", encoding="utf-8")
    Path("page.html").symlink_to("data.npy")
    names = names_of(Path("data.npy"))
    before = state(folder)
    for data in names:
        for output in names:
            for command in (["cluster", data, "-k2"], ["project", data, "--eta2", "1"]):
                code, _, err = run(*command, "-o", output, "--force", "-q")
                assert code == 4
                assert f"{output} is the input {data}; choose another name" in err
        command = ["cluster", data, "-k2", "--report", "page.html", "--force", "-q"]
        code, _, err = run(*command)
        assert code == 4
        assert f"page.html is the input {data}" in err
    command = ["cluster", "data.npy", "-k2", "--labels", "classes.csv", "-o", "classes.csv"]
    code, _, err = run(*command, "--force", "-q")
    assert code == 4
    assert "classes.csv is the input classes.csv" in err
    assert state(folder) == before
