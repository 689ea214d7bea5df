"""Open the built pages in Chromium: links, errors, requests, search, versions; and take pictures.

python tools/check_site.py site --pictures FOLDER

Needs Debian's chromium and chromium-driver. Every page is opened as a file, as a reader without a
network would. What is wrong is printed, and the exit code is then 1.
"""

import argparse
import re
import shutil
import sys
import tempfile
import threading
import time
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import chromium

PHONE, SCREEN = (390, 844), (1280, 800)
PICTURES = {
    "front": "index.html",
    "tutorial": "gallery/faces.html",
    "tutorials": "gallery/index.html",
    "reference": "generated/dssc.ADSSC.html",
    "comparison": "comparison.html",
}
# The addresses that a search has found, once it has shown all of them.
RESULTS = """
    const summary = document.querySelector("#search-results .search-summary");
    const links = [...document.querySelectorAll("#search-results li a")];
    return /finished/.test(summary?.textContent) ? links.map(link => link.href) : [];
"""
# The report is a page of its own kind and has tests of its own.
OTHERS = {"example_report.html"}


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        """Collect what a tag links to, and its name."""
        values = dict(attributes)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        self.links.update(filter(None, (values.get("href"), values.get("src"))))


def broken_links(site):
    """Return the links between the pages that lead nowhere, and external parts of pages."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    problems = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            known = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            if not target.exists() or unquote(parts.fragment) not in known:
                problems.append(f"{path.relative_to(site.resolve())}: {link} leads nowhere")
    return problems


def page_problems(browser, site):
    """Return console errors, requests to elsewhere, and pages wider than a phone or a screen."""
    problems = []
    for path in sorted(site.rglob("*.html")):
        if path.name in OTHERS:
            continue
        name = path.relative_to(site)
        browser.resize(*PHONE)
        console_errors(browser)
        browser.open(path)
        problems += [f"{name}: {error}" for error in console_errors(browser)]
        away = [url for url in browser.requests() if not re.match(r"(file|data|about|blob):", url)]
        problems += [f"{name}: asks for {url}" for url in away]
        for size in (PHONE, SCREEN):
            browser.resize(*size)
            width = browser.run("return document.documentElement.scrollWidth")
            if width > size[0]:
                problems.append(f"{name}: {width} pixels wide on a screen of {size[0]}")
    return problems


def console_errors(browser):
    """Return the errors in the console since the last call."""
    return [entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"]


def search_problems(browser, site):
    """Search for words that must be found, by the search box of the front page."""
    problems = []
    for words, wanted in (("predict_proba", "ADSSC"), ("doubly stochastic", "index.html")):
        browser.resize(*SCREEN)
        browser.open(site / "index.html")
        browser.type("input.sidebar-search", words + "\n")
        found = wait_for(browser, RESULTS)
        if not any(wanted in address for address in found):
            problems.append(f"search for {words!r} finds {found[:5]}")
    return problems + [f"search: {error}" for error in console_errors(browser)]


def version_problems(browser, site):
    """Serve the pages as two versions, and look for the list of versions on them."""
    with tempfile.TemporaryDirectory() as folder:
        for version in ("dev", "stable"):
            shutil.copytree(site, Path(folder) / version)
        handler = partial(QuietHandler, directory=folder)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser.call(
                "POST", "url", url=f"http://127.0.0.1:{server.server_port}/stable/faq.html"
            )
            options = "[...document.querySelectorAll('.versions option')]"
            listed = wait_for(browser, f"return {options}.map(o => o.value + o.selected)")
            server.shutdown()
    return [] if {"stabletrue", "devfalse"} <= set(listed) else [f"versions: {listed} listed"]


class QuietHandler(SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *arguments):
        """Print nothing."""


def wait_for(browser, script, seconds=10):
    """Return what a script finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = browser.run(script)
        if found:
            return found
        time.sleep(0.1)
    return []


def take_pictures(browser, site, folder):
    """Save pictures of some pages in light and dark, on a screen and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PICTURES.items():
        for scheme in ("light", "dark"):
            for device, size in {"screen": SCREEN, "phone": PHONE}.items():
                browser.prefer(scheme)
                browser.resize(*size)
                browser.open(site / page)
                browser.screenshot(folder / f"{name}-{scheme}-{device}.png")


def main():
    """Check a site, and take pictures of it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of some pages")
    arguments = parser.parse_args()
    problems = broken_links(arguments.site)
    with chromium() as browser:
        if arguments.pictures:  # before a search, which marks its words on the pages
            take_pictures(browser, arguments.site, arguments.pictures)
        for check in (page_problems, search_problems, version_problems):
            problems += check(browser, arguments.site)
    print("\n".join(problems) or "nothing is wrong")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
