import hashlib
import http.server
import re
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from dssc.datasets import digits, fetch_mnist, fetch_orl
from dssc.datasets.download import Resource, download
from tests.datasets.originals import mnist_files, write_files, write_gz, write_npz

BODY = bytes(range(256)) * 1000
SHA256 = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path.removeprefix("/truncated").removeprefix("/endless"))
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        if not self.path.startswith("/endless"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:-1000] if self.path.startswith("/truncated") else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.asked = {"/file": BODY}, []
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("checksum", ["", SHA256, f"md5:{hashlib.md5(BODY).hexdigest()}"])
@pytest.mark.parametrize("path", ["/file", "/endless/file"])
def test_a_file_arrives_whole(checksum, path, server, tmp_path, capsys):
    target = download(Resource("name", server.url + path, checksum), tmp_path / "new" / "folder")
    assert target == tmp_path / "new" / "folder" / "name"
    assert target.read_bytes() == BODY
    assert list(target.parent.iterdir()) == [target]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("path", "checksum", "message"),
    [
        ("/truncated/file", SHA256, "closed after 255000 of 256000 bytes"),
        ("/truncated/file", "", "closed after 255000 of 256000 bytes"),
        ("/file", "md5:0123", "its checksum is md5:[0-9a-f]{32}, not md5:0123 as published"),
        ("/missing", "", "HTTP Error 404"),
    ],
)
def test_a_failure_leaves_nothing(path, checksum, message, server, tmp_path):
    url = server.url + path
    with pytest.raises(
        OSError, match=rf"could not download {re.escape(url)} \(.*{message}"
    ) as caught:
        download(Resource("name", url, checksum), tmp_path)
    assert f"put name into {tmp_path} by hand" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_no_server_is_a_failure_too(server, tmp_path):
    server.shutdown()
    server.server_close()
    with pytest.raises(OSError, match="could not download"):
        download(Resource("name", f"{server.url}/file"), tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_old_file_survives_a_failure(server, tmp_path):
    (tmp_path / "name").write_text("old", encoding="utf-8")
    with pytest.raises(OSError, match="404"):
        download(Resource("name", f"{server.url}/missing"), tmp_path)
    assert (tmp_path / "name").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("path", ["/file", "/endless/file"])
def test_a_terminal_shows_progress(path, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    download(Resource("name", server.url + path), tmp_path)
    shown = capsys.readouterr().err
    assert shown.endswith("\n")
    last = shown.strip().split("\r")[-1]
    assert last == ("name 0.3 MB" if "endless" in path else f"name [{'#' * 30}] 0.3 MB of 0.3 MB")


@pytest.fixture
def served_mnist(small, server, tmp_path, monkeypatch):
    """Serve the small MNIST at the addresses that its loader knows."""
    files, images, _ = mnist_files()
    write_gz(tmp_path / "served", files)
    resources = []
    for path in (tmp_path / "served").iterdir():
        server.files[f"/{path.name}"] = path.read_bytes()
        checksum = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        resources.append(Resource(path.name, f"{server.url}/{path.name}", checksum))
    monkeypatch.setattr(digits, "MNIST", replace(digits.MNIST, resources=tuple(resources)))
    return files, images


def test_what_is_missing_is_downloaded_once(served_mnist, server, tmp_path):
    files, images = served_mnist
    home = tmp_path / "home"
    write_files(home, {"train-images-idx3-ubyte": files["train-images-idx3-ubyte"]})
    for _ in range(2):
        np.testing.assert_array_equal(fetch_mnist(data_home=home).images, images)
    assert len(server.asked) == 3
    assert sorted(path.name for path in home.iterdir()) == [
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte.gz",
    ]


def test_nothing_is_downloaded_without_need(served_mnist, server, tmp_path):
    with pytest.raises(FileNotFoundError, match="pass download_if_missing=True"):
        fetch_mnist(data_home=tmp_path / "home", download_if_missing=False)
    write_npz(tmp_path, "mnist")
    fetch_mnist(data_home=tmp_path)
    assert not server.asked
    assert not (tmp_path / "home").exists()


def test_a_failed_download_leaves_the_folder_as_it_was(served_mnist, server, tmp_path):
    server.files = {}
    with pytest.raises(OSError, match=r"could not download .*ubyte\.gz"):
        fetch_mnist(data_home=tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        fetch_orl(data_home=tmp_path / "file")
