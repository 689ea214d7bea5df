"""A headless Chromium, controlled by the WebDriver protocol."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
]
START_SECONDS = 30


class Browser:
    """A tab: the actions of a user, and the logs of the browser."""

    def __init__(self, address, session):
        self.root = f"{address}/session/{session}"

    def call(self, method, path, **body):
        return _request(method, f"{self.root}/{path}", None if method == "GET" else body)

    def open(self, path: Path):
        """Open a page, and forget earlier requests: the first tab makes requests of its own."""
        self.call("POST", "url", url="about:blank")
        self.requests()
        self.call("POST", "url", url=path.resolve().as_uri())

    def run(self, script, *arguments):
        return self.call("POST", "execute/sync", script=script, args=list(arguments))

    def resize(self, width, height):
        """Set the size of the page itself, which may be smaller than a window can be."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def devtools(self, command, **parameters):
        return self.call("POST", "goog/cdp/execute", cmd=command, params=parameters)

    def find(self, selector):
        element = self.call("POST", "element", using="css selector", value=selector)
        return next(iter(element.values()))

    def click(self, selector):
        self.call("POST", f"element/{self.find(selector)}/click")

    def type(self, selector, keys):
        self.call("POST", f"element/{self.find(selector)}/value", text=keys)

    def hover(self, x, y):
        """Move the pointer to a position in the visible part of the page."""
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        pointer = {"type": "pointer", "id": "mouse", "actions": [move]}
        self.call("POST", "actions", actions=[pointer])

    def log(self, kind):
        return self.call("POST", "se/log", type=kind)

    def requests(self):
        """Return the addresses requested since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self, path: Path):
        """Save a picture of the whole page."""
        size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        taken = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def chromium():
    """Yield a browser; skip the test if none is installed."""
    names = ("chromium", "google-chrome")
    programs = [shutil.which("chromedriver"), next(filter(None, map(shutil.which, names)), None)]
    if None in programs:
        pytest.skip("needs Debian's chromium and chromium-driver")
    driver = subprocess.Popen(
        [programs[0], "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        address = f"http://127.0.0.1:{_port(driver)}"
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            options = {
                "binary": programs[1],
                "args": [*FLAGS, f"--user-data-dir={profile}"],
            }
            wanted = {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            asked = {"capabilities": {"alwaysMatch": wanted}}
            session = _request("POST", f"{address}/session", asked)["sessionId"]
            browser = Browser(address, session)
            try:
                yield browser
            finally:
                _request("DELETE", browser.root, None)
    finally:
        driver.terminate()
        driver.wait()
        driver.stdout.close()


def _port(driver):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        line = driver.stdout.readline()
        if "started successfully on port" in line:
            return int(line.split("port")[-1].strip(" .\n"))
        if not line:
            break
    raise RuntimeError("chromedriver did not start")


def _request(method, address, body):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        address, data, {"Content-Type": "application/json"}, method=method
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return json.load(answer)["value"]
