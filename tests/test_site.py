"""The pages build without a warning, and work in a browser without a network."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser import chromium
from tools.check_site import (
    broken_links,
    page_problems,
    search_problems,
    version_problems,
)

ROOT = Path(__file__).parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("sphinx_gallery") is None, reason="needs dssc[docs]"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder with the built pages: that in DSSC_SITE, or a new one."""
    if "DSSC_SITE" in os.environ:
        return Path(os.environ["DSSC_SITE"])
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-d", folder / "trees", "docs"]
    done = subprocess.run(
        [*command, folder / "site"],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_no_part_of_a_page_comes_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        assert not re.search(
            r'(?:src|<link[^>]*href)="(?:https?:)?//', page.read_text(encoding="utf-8")
        ), page


def test_no_tutorial_was_skipped(site):
    for page in (site / "gallery").glob("*.html"):
        assert "skipped" not in page.read_text(encoding="utf-8").lower(), page


def test_links_between_pages_lead_somewhere(site):
    assert broken_links(site) == []


def test_broken_links_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a> <a href="c.html">c</a>', "utf-8")
    (tmp_path / "b.html").write_text('<p id="here"></p>', "utf-8")
    assert len(broken_links(tmp_path)) == 2


def test_pages_work_in_a_browser(site):
    with chromium() as browser:
        assert page_problems(browser, site) == []
        assert search_problems(browser, site) == []
        assert version_problems(browser, site) == []


def test_problems_of_a_page_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text(
        '<div style="width: 900px">wide</div><img src="http://127.0.0.1:9/none.png">'
        "<script>undefinedName();</script>",
        encoding="utf-8",
    )
    with chromium() as browser:
        found = " ".join(page_problems(browser, tmp_path))
    assert all(text in found for text in ("undefinedName", "asks for", "pixels wide")), found
