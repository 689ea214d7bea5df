"""The report of a real run in a real browser."""

import base64
import csv
import time

import numpy as np
import pytest

from dssc.cli.main import main
from dssc.report import html_report
from tests.browser import chromium
from tests.cli.conftest import write_images
from tests.report.models import large_model

COLOURS = """
const canvas = document.getElementById(arguments[0]);
const copy = document.createElement("canvas");
[copy.width, copy.height] = [canvas.width, canvas.height];
const context = copy.getContext("2d", {willReadFrequently: true});
context.drawImage(canvas, 0, 0);
const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
const colours = new Set();
for (let i = 0; i < pixels.length; i += 4) {
  if (pixels[i + 3]) colours.add(pixels.slice(i, i + 3).join());
}
return colours.size;
"""
MIDDLE = """
const element = document.querySelector(arguments[0]);
element.scrollIntoView({block: "center"});
const box = element.getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2];
"""
TIP = 'const tip = document.getElementById("tip"); return tip.hidden ? null : tip.innerText;'
PAPER = "return getComputedStyle(document.body).backgroundColor"
COUNT = "return document.querySelectorAll(arguments[0]).length"
TEXT = "return document.querySelector(arguments[0]).innerText"
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)"
CONTRAST = """
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => c.slice(0, 3).map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function paper(element) {
  if (!element) return [255, 255, 255];
  const colour = numbers(getComputedStyle(element).backgroundColor);
  const alpha = colour.length === 3 ? 1 : colour[3];
  if (alpha === 1) return colour;
  const below = paper(element.parentElement);
  return below.map((v, i) => alpha * colour[i] + (1 - alpha) * v);
}
let worst = [99, ""];
const texts = "h1, h2, h3, h4, p, th, td, li, a, button:enabled, summary, small, code, .tag, " +
  ".name, .value, .text, .soft, figcaption, footer, label";
for (const e of document.querySelectorAll(texts)) {
  if (!e.innerText.trim()) continue;
  const [a, b] = [light(numbers(getComputedStyle(e).color)), light(paper(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
}
return worst;
"""
# Elements whose content is wider than themselves, but for those that scroll.
TRUNCATED = """
return [...document.querySelectorAll("header *, main *")]
  .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1)
  .filter((e) => getComputedStyle(e).overflowX === "hidden" || !e.closest(".scroll, svg"))
  .map((e) => e.outerHTML.slice(0, 120));
"""
# Pairs of sections, tiles and headings that cover each other.
OVERLAPS = """
const boxes = [...document.querySelectorAll("nav, main > section, .tile, h2, .card, figure")]
  .filter((e) => e.offsetHeight)
  .map((e) => [e, e.getBoundingClientRect()]);
const found = [];
boxes.forEach(([e, a], i) => boxes.slice(i + 1).forEach(([f, b]) => {
  if (e.contains(f) || f.contains(e)) return;
  const covers = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  if (covers) found.push([e.outerHTML.slice(0, 60), f.outerHTML.slice(0, 60)]);
}));
return found;
"""
ARROW_RIGHT, ESCAPE, ENTER = "\ue014", "\ue00c", "\ue007"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report that the command makes of a folder of images in three classes."""
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(0)
    patterns = rng.uniform(0, 120, (3, 2, 12, 12))
    weights = rng.uniform(0.2, 1, (90, 2))
    images = [np.tensordot(w, patterns[i % 3], 1) for i, w in enumerate(weights)]
    names = [f"<b>kind, {i % 3}</b>/{i}.png" for i in range(90)]
    write_images(folder / "pictures", images, names)
    path = folder / "report.html"
    arguments = [
        "cluster", folder / "pictures", "-k", 3, "--features", "raw", "--labels", "folders",
        "-o", folder / "labels.csv", "--report", path, "-q",
    ]  # fmt: skip
    assert main([str(argument) for argument in arguments]) == 0
    return path


@pytest.fixture(scope="module")
def hundred(tmp_path_factory):
    """A report with a hundred clusters and long names."""
    path = tmp_path_factory.mktemp("hundred") / "report.html"
    model = large_model(3000, 100)
    names = [f"a/rather/long/folder/name-without-a-space/{i:05}.dat" for i in range(3000)]
    X = np.random.default_rng(0).normal(size=(3000, 6))
    columns = [f"a_long_name_of_a_feature_without_spaces_{j}" for j in range(6)]
    page = html_report(
        model, names=names, X=X, feature_names=columns, labels_true=(model.labels_ + 1) % 90
    )
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def open_page(browser, path, width=1200, scheme="light"):
    browser.resize(width, 900)
    browser.prefer(scheme)
    browser.open(path)
    deadline = time.monotonic() + 20
    while browser.run("return document.documentElement.dataset.drawn") != "true":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def press(browser, key):
    """Press a key, wherever the focus is."""
    strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
    browser.call("POST", "actions", actions=[{"type": "key", "id": "keys", "actions": strokes}])


def assert_nothing_was_asked(browser, path):
    assert browser.log("browser") == []
    asked = browser.requests()
    assert asked[0] == path.resolve().as_uri()
    away = [a for a in asked[1:] if not a.startswith(("data:", "blob:", asked[0]))]
    assert away == []


def test_a_reader_can_look_hover_and_switch(browser, report):
    open_page(browser, report)
    assert browser.run(COLOURS, "embedding") > 3
    assert browser.run(COLOURS, "affinity") > 3
    assert browser.run(COLOURS, "contacts") > 1
    assert browser.run(COUNT, "#spectrum circle") == 9
    assert browser.run(COUNT, ".card[open]") == 3
    assert browser.run(COUNT, ".card .thumb") >= 3 * 16

    browser.type("#embedding", ARROW_RIGHT)
    tip = browser.run(TIP)
    assert "<b>kind" in tip  # as text
    assert "confidence " in tip
    assert browser.run(COUNT, "#tip .thumb") == 1
    browser.hover(5, 5)
    browser.hover(*browser.run(MIDDLE, "#affinity"))
    assert "cluster" in browser.run(TIP)
    browser.hover(*browser.run(MIDDLE, "#contacts"))
    assert "inside cluster 1" in browser.run(TIP)
    browser.hover(5, 5)
    assert browser.run(TIP) is None

    before = browser.run(PAPER)
    browser.click("#theme")
    assert browser.run(PAPER) != before
    browser.click("#theme")
    assert browser.run(PAPER) == before
    colours = browser.run(COLOURS, "embedding")
    browser.run(
        "const s = document.getElementById('highlight'); s.value = '1';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert browser.run(COLOURS, "embedding") != colours
    assert_nothing_was_asked(browser, report)


def test_every_member_can_be_reached(browser, report):
    open_page(browser, report)
    browser.click("#cluster-0 .body > details > summary")
    time.sleep(0.2)
    n_members = int(browser.run(TEXT, "#cluster-0 summary").split()[2])
    assert browser.run(COUNT, "#cluster-0 .paged .member") == n_members == 30


def test_long_lists_have_pages(browser, tmp_path):
    path = tmp_path / "two.html"
    path.write_text(html_report(large_model(400, 2)), encoding="utf-8")
    open_page(browser, path)
    browser.click("#cluster-1 .body > details > summary")
    time.sleep(0.2)
    seen = set()
    while True:
        seen |= set(browser.run(TEXTS, "#cluster-1 .paged .tag"))
        last = "return document.querySelector('#cluster-1 .paged button:last-of-type').disabled"
        if browser.run(last):
            break
        browser.click("#cluster-1 .paged button:last-of-type")
    assert len(seen) == np.sum(large_model(400, 2).labels_ == 1)


def test_images_can_be_enlarged(browser, report):
    open_page(browser, report)
    browser.click("#cluster-1 .member:nth-child(2)")
    assert browser.run("return document.getElementById('viewer').open")
    first = browser.run(TEXT, "#viewer .words")
    assert "cluster 1" in first
    width = "return document.querySelector(arguments[0]).clientWidth"
    assert browser.run(width, "#viewer .thumb") > 4 * browser.run(width, ".member .thumb")
    press(browser, ARROW_RIGHT)
    second = browser.run(TEXT, "#viewer .words")
    press(browser, ARROW_RIGHT)
    assert len({first, second, browser.run(TEXT, "#viewer .words")}) == 3
    press(browser, ESCAPE)
    assert not browser.run("return document.getElementById('viewer').open")


def test_confused_points_are_shown(browser, report):
    open_page(browser, report)
    cells = "[...document.querySelectorAll('.cell')].map((e) => Number(e.innerText))"
    assert sum(browser.run(f"return {cells}")) == 90
    browser.click(".cell")
    assert browser.run(COUNT, "#confused .member") == browser.run(f"return {cells}")[0]
    title = browser.run(TEXT, "#confused h3")
    assert title.startswith("Class <b>kind, 0< in cluster")


def test_labels_can_be_downloaded(browser, report, tmp_path):
    open_page(browser, report)
    browser.devtools("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click("#download")
    path, deadline = tmp_path / "labels.csv", time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with report.with_name("labels.csv").open(newline="") as file:
        expected = list(csv.DictReader(file))
    assert [r["name"] for r in rows] == [r["file"] for r in expected]
    assert [r["cluster"] for r in rows] == [r["cluster"] for r in expected]
    assert [r["index"] for r in rows] == [str(i) for i in range(90)]
    for row, other in zip(rows, expected, strict=True):
        assert float(row["confidence"]) == pytest.approx(float(other["confidence"]), abs=0.0051)
        assert row["class"] in row["name"]
    assert_nothing_was_asked(browser, report)


def test_a_hundred_clusters_are_sorted_folded_and_linked(browser, hundred):
    open_page(browser, hundred)
    visible = (
        "return [...document.querySelectorAll('.sortable tbody tr')]"
        ".filter((r) => r.offsetHeight).map((r) => Number(r.cells[1].dataset.v))"
    )
    assert len(browser.run(visible)) == 25
    browser.click(".sortable th:nth-of-type(2) .sort")
    rising = browser.run(visible)
    assert rising == sorted(rising)
    browser.click(".sortable th:nth-of-type(2) .sort")
    falling = browser.run(visible)
    assert falling == sorted(falling, reverse=True)
    assert falling[0] == np.bincount(large_model(3000, 100).labels_).max()
    browser.click("#clusters > .tools button")
    assert len(browser.run(visible)) == 100

    assert browser.run(COUNT, ".card[open]") == 0
    assert browser.run("return document.documentElement.scrollHeight") < 15_000
    browser.run("location.hash = '#cluster-64'")
    time.sleep(0.3)
    assert browser.run("return document.getElementById('cluster-64').open")
    assert (
        abs(browser.run("return document.getElementById('cluster-64').getBoundingClientRect().top"))
        < 100
    )
    browser.click("#unfold")
    time.sleep(0.3)
    assert browser.run(COUNT, ".card[open] .features") == 100
    browser.click("#fold")
    assert browser.run(COUNT, ".card[open]") == 0


def test_the_keyboard_is_enough(browser, report):
    open_page(browser, report)
    browser.type("#cluster-2 > summary", ENTER)
    assert not browser.run("return document.getElementById('cluster-2').open")
    browser.type(".sort", ENTER)
    assert browser.run(COUNT, "th[aria-sort=ascending]") == 1
    reachable = """
    const wanted = [...document.querySelectorAll("main [tabindex], canvas#embedding")];
    return wanted.every((e) => e.tabIndex === 0);
    """
    assert browser.run(reachable)
    unfocused = "return [...document.querySelectorAll('[onclick]')].length"
    assert browser.run(unfocused) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 800, 360])
@pytest.mark.parametrize("page", ["report", "hundred"])
def test_it_fits_and_can_be_read(browser, request, page, scheme, width):
    open_page(browser, request.getfixturevalue(page), width, scheme)
    browser.run("document.getElementById('cluster-3')?.querySelector('summary').click()")
    time.sleep(0.2)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    ratio, element = browser.run(CONTRAST)
    assert ratio >= 4.5, element
    assert browser.run(TRUNCATED) == []
    assert browser.run(OVERLAPS) == []


def test_paper_is_light_and_complete(browser, report):
    open_page(browser, report, scheme="dark")
    dark = browser.run(PAPER)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(PAPER) != dark
    assert browser.run("return document.querySelector('#verdict details').open")
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(PAPER) == dark
    assert not browser.run("return document.querySelector('#verdict details').open")
    printed = base64.b64decode(browser.call("POST", "print"))
    assert printed.startswith(b"%PDF")
    assert browser.log("browser") == []


def test_every_picture_has_a_text(browser, report):
    open_page(browser, report)
    unnamed = ", ".join(f"{picture}:not([aria-label])" for picture in ("canvas", "svg", ".member"))
    assert browser.run(COUNT, unnamed) == 0
